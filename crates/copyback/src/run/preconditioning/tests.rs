//! What does preconditioning leave behind?

use super::*;

/// Valid pages of the blocks of an aged plane, in the order in which they were filled: mean and variance of the
/// first, the middle and the last third.
fn valid_by_age(spread: &str) -> [(f64, f64); 3] {
    let table = format!(
        "capacity = {{ over_provisioning = 0.25 }}
         timing = {{ read = \"50 us\", program = \"500 us\", erase = \"3 ms\", channel = \"100 MB/s\" }}
         geometry = {{ channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 1, blocks_per_plane = 1000, pages_per_block = 64, page_size = \"4 KiB\" }}
         precondition = {{ mode = \"aged\", used_min = 0.9, used_max = 0.9, valid = 0.6, spread = \"{spread}\" }}"
    );
    let config: RunConfig = crate::config::from_toml(&table).unwrap();
    let ftl = preconditioned(&config, 1).unwrap();
    let valid: Vec<f64> = (0..900).map(|b| f64::from(ftl.blocks()[crate::sim::index::BlockId(b)].valid)).collect();
    [0, 300, 600].map(|from| {
        let third = &valid[from..from + 300];
        let mean = third.iter().sum::<f64>() / 300.0;
        (mean, third.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 299.0)
    })
}

/// 64 pages, each valid with 0.6: mean 38.4, variance 64 × 0.6 × 0.4 = 15.36. The mean of 300 blocks has a standard
/// error of 0.226, their variance one of 1.26; four of each are allowed.
#[test]
fn an_even_spread_makes_the_valid_pages_of_every_block_binomial() {
    for (mean, variance) in valid_by_age("even") {
        assert!((mean - 38.4).abs() < 0.9 && (variance - 15.36).abs() < 5.0, "{mean} {variance}");
    }
}

#[test]
fn preconditioning_leaves_each_plane_at_its_own_watermark() {
    let table = "capacity = { over_provisioning = 0.5 }
        timing = { read = \"50 us\", program = \"500 us\", erase = \"3 ms\", channel = \"100 MB/s\" }
        geometry = { channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 4, blocks_per_plane = 64, pages_per_block = 8, page_size = \"4 KiB\" }
        precondition = { mode = \"random\", overwrites = 3.0 }
        trigger = { policy = \"watermark\", soft = 4, stagger = 3 }";
    let ftl = preconditioned(&crate::config::from_toml(table).unwrap(), 1).unwrap();
    assert_eq!([0, 1, 2, 3].map(|p| ftl.free_blocks_of(PlaneId(p))), [4, 7, 10, 13]);
}

/// Each unit has one write and, on average, 2/3 overwrites, all at random places. A write at the share t of the
/// preconditioning is its unit's last if no overwrite follows (probability e^(-2/3 (1 - t))) and, if it is an overwrite
/// itself, the unit's one write came before (probability t). With 60 % writes and 40 % overwrites, these are
/// (0.6 + 0.4 t) e^(-2/3 (1 - t)) of all, from 31 % at t = 0 to all at t = 1.
#[test]
fn a_spread_by_age_leaves_old_blocks_emptier_than_young_ones() {
    let share = |t: f64| (0.6 + 0.4 * t) * (-(1.0 - t) / 1.5).exp();
    for (third, (mean, _)) in valid_by_age("by-age").into_iter().enumerate() {
        let from = third as f64 / 3.0;
        let expected: f64 = (0..300).map(|b| 64.0 * share(from + (f64::from(b) + 0.5) / 900.0)).sum::<f64>() / 300.0;
        assert!((mean - expected).abs() < 0.9, "third {third}: {mean}, not {expected}");
    }
}

#[test]
fn preconditioning_that_never_becomes_steady_is_refused() {
    let table = "capacity = { over_provisioning = 0.2 }
        timing = { read = \"50 us\", program = \"500 us\", erase = \"3 ms\", channel = \"100 MB/s\" }
        geometry = { channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 1, blocks_per_plane = 250, pages_per_block = 64, page_size = \"4 KiB\" }
        precondition = { mode = \"random\", steady = 1e-6 }";
    let refused =
        preconditioned(&crate::config::from_toml(table).unwrap(), 1).err().expect("no two rounds are so alike");
    assert_eq!(refused.key, "precondition.steady");
}

/// Each plane of an aged drive is filled over the same time, however many blocks it fills: they close one after the
/// other, the first after its share of that time, and none closes in the future.
#[test]
fn aged_planes_are_equally_old() {
    let table = "capacity = { over_provisioning = 0.5 }
        timing = { read = \"50 us\", program = \"500 us\", erase = \"3 ms\", channel = \"100 MB/s\" }
        geometry = { channels = 2, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 64, pages_per_block = 64, page_size = \"4 KiB\" }
        precondition = { mode = \"aged\", used_min = 0.7, used_max = 0.9, valid = 0.6 }";
    let ftl = preconditioned(&crate::config::from_toml(table).unwrap(), 1).unwrap();
    let (now, blocks) = (ftl.counts().host_units, ftl.blocks());
    for plane in 0..4 {
        let closed = |block: u32| blocks[BlockId(plane * 64 + block)].closed_at;
        let full = (0..64).take_while(|&b| closed(b) > 0).count() as u32;
        assert!((44..=57).contains(&full), "70 to 90 % of 64 blocks, not {full}");
        assert!((0..full).all(|b| closed(b) <= now && (b == 0 || closed(b) > closed(b - 1))));
        // 0.7 of 4 planes of 4,096 pages; their first block took a full block's share.
        let first = 4.0 * 4096.0 * 0.7 / f64::from(full + 1);
        assert!((closed(0) as f64 - first).abs() < 0.03 * first, "{} and not {first}", closed(0));
    }
}

/// Units written in sequence share a page, even if dies are chosen as late as possible: a sequential read of the host
/// reads whole pages.
#[test]
fn units_written_in_sequence_share_a_page() {
    let table = "capacity = { over_provisioning = 0.5 }
        timing = { read = \"50 us\", program = \"500 us\", erase = \"3 ms\", channel = \"100 MB/s\" }
        geometry = { channels = 2, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 16, pages_per_block = 8, page_size = \"16 KiB\", mapping_unit = \"4 KiB\" }
        allocation = { policy = \"dynamic\" }
        precondition = { mode = \"sequential\" }";
    let ftl = preconditioned(&crate::config::from_toml(table).unwrap(), 1).unwrap();
    let page = |unit: u32| ftl.geometry.page_of(ftl.lookup(LogicalUnit(unit)));
    let die = |unit: u32| ftl.geometry.die_of(ftl.geometry.plane_of_page(page(unit)));
    for first in (0..256).step_by(4) {
        assert!((1..4).all(|at| page(first + at) == page(first)), "unit {first}");
        assert!(first == 0 || die(first) != die(first - 4), "unit {first}");
    }
}

/// A channel gets parity every fourth page, and its dies may take turns with the same period. Still every plane has as
/// many pages of parity as any other, wherever pages go. Parity is overwritten three times as often as data: a die that
/// had all of it would have the most room for writes, or the most to collect.
#[test]
fn parity_lies_on_all_planes_of_a_channel() {
    let cases = [("dynamic", 4, 1), ("dynamic", 1, 4), ("static", 4, 2), ("static", 3, 1), ("static", 2, 1)];
    for (allocation, chips, planes) in cases {
        let table = format!(
            "capacity = {{ over_provisioning = 1.0 }}
            timing = {{ read = \"50 us\", program = \"500 us\", erase = \"3 ms\", channel = \"100 MB/s\" }}
            geometry = {{ channels = 4, chips_per_channel = {chips}, dies_per_chip = 1, planes_per_die = {planes}, blocks_per_plane = 32, pages_per_block = 16, page_size = \"16 KiB\", mapping_unit = \"4 KiB\" }}
            allocation = {{ policy = \"{allocation}\" }}
            frontier = {{ policy = \"single\", fill_limit = \"1 ms\" }}
            preemption = {{ policy = \"always\" }}
            admit = {{ policy = \"strict\" }}
            redundancy = {{ policy = \"rain\" }}
            precondition = {{ mode = \"sequential\" }}"
        );
        let ftl = preconditioned(&crate::config::from_toml(&table).unwrap(), 1).unwrap();
        let stripes = ftl.geometry.stripes.expect("there is parity");
        let mut units = [vec![0_u32; ftl.geometry.planes as usize], vec![0; ftl.geometry.planes as usize]];
        for unit in (0..stripes.end()).map(LogicalUnit) {
            let plane = ftl.geometry.plane_of_page(ftl.geometry.page_of(ftl.lookup(unit)));
            units[usize::from(stripes.is_parity(unit))][plane.at()] += 1;
        }
        for units in units {
            let (fewest, most) = (units.iter().min().unwrap(), units.iter().max().unwrap());
            assert!(
                most - fewest <= 8,
                "more than two pages, in the last turn: {allocation}, {chips} x {planes}: {units:?}"
            );
        }
    }
}

/// Preconditioning fills a part of the second active block; the other pages go to the first.
#[test]
fn preconditioning_fills_both_active_blocks() {
    let table = "capacity = { over_provisioning = 0.5 }
        timing = { read = \"50 us\", program = \"500 us\", erase = \"3 ms\", channel = \"100 MB/s\" }
        geometry = { channels = 4, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 64, pages_per_block = 64, page_size = \"4 KiB\" }
        frontier = { policy = \"second-active\" }
        precondition = { mode = \"aged\", valid = 0.6 }";
    let ftl = preconditioned(&crate::config::from_toml(table).unwrap(), 1).unwrap();
    for plane in (0..8).map(PlaneId) {
        let written: Vec<u16> = ftl.open_blocks(plane).map(|block| ftl.blocks()[block].written).collect();
        assert!(written.len() == 2 && written.iter().all(|&pages| (1..64).contains(&pages)), "{written:?}");
    }
}

/// The last page of a collection is padded, as in a run: with four units a page, by one and a half on average. If
/// writes of the host fill the rest of it, none is.
#[test]
fn the_last_page_of_a_collection_is_padded() {
    let row = "frontier = { policy = \"row\" }\nbuffer = { policy = \"lru\" }";
    let aligned = |combine| format!("{row}\ngranularity = {{ policy = \"aligned\", combine = {combine} }}");
    let fills = "frontier = { policy = \"single\", fill_limit = \"1 ms\" }".to_owned();
    // A row of two planes holds eight units, and its collection erases two blocks.
    for (more, mean) in [(fills, 1.5), (aligned(false), 3.5 / 2.0), (aligned(true), 0.0)] {
        let table = format!(
            "capacity = {{ over_provisioning = 0.2 }}
             timing = {{ read = \"50 us\", program = \"500 us\", erase = \"3 ms\", channel = \"100 MB/s\" }}
             geometry = {{ channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 64, pages_per_block = 32, page_size = \"16 KiB\", mapping_unit = \"4 KiB\" }}
             trigger = {{ policy = \"watermark\", soft = 2 }}
             {more}"
        );
        let config: RunConfig = crate::config::from_toml(&table).unwrap();
        config.check().unwrap();
        let mut preconditioner = Preconditioner::new(&config, 1);
        let units = preconditioner.ftl.geometry.logical_units;
        preconditioner.fill(units).unwrap();
        let mut stream = rng::stream(1, "test.overwrites");
        preconditioner.overwrite(units, 4 * u64::from(units), &mut stream).unwrap();
        let counts = preconditioner.ftl.counts();
        let padding = counts.padding_units as f64 / counts.erases as f64;
        // Over some thousand collections, each padded by a number from 0 to 3, or 7.
        assert!(counts.erases > 500 && (padding - mean).abs() < 0.3, "{more}: {padding} in {} erases", counts.erases);
    }
}

/// A steady state that is made at once shows all planes at the same moment: for victim policies that compare all planes
/// of a drive, none looks older or more worn than others. On average, the last of 64 planes is drawn four capacities
/// after the first.
#[test]
fn planes_of_a_steady_state_are_equally_old_and_worn() {
    const AT_ONCE: &str = "mode = \"steady-state\"";
    const LONG: &str = "mode = \"random\", overwrites = 8.0";
    for (victim, precondition) in [("cost-benefit", AT_ONCE), ("fifo", AT_ONCE), ("fifo", LONG)] {
        let table = format!(
            "timing = {{ read = \"50 us\", program = \"500 us\", erase = \"3 ms\", channel = \"100 MB/s\" }}
             geometry = {{ channels = 8, chips_per_channel = 8, dies_per_chip = 1, planes_per_die = 1, blocks_per_plane = 64, pages_per_block = 16, page_size = \"4 KiB\" }}
             capacity = {{ over_provisioning = 0.25 }}
             trigger = {{ policy = \"watermark\", soft = 3 }}
             victim = {{ policy = \"{victim}\" }}
             precondition = {{ {precondition} }}"
        );
        let config: RunConfig = crate::config::from_toml(&table).unwrap();
        let ftl = preconditioned(&config, 1).unwrap();
        let capacity = f64::from(ftl.geometry.logical_units);
        let means: Vec<[f64; 2]> = (0..ftl.geometry.planes)
            .map(|plane| {
                let blocks = ftl.blocks().of_plane(PlaneId(plane));
                let closed: Vec<f64> = blocks.iter().filter(|b| b.closed_at > 0).map(|b| b.closed_at as f64).collect();
                let erases: f64 = blocks.iter().map(|b| f64::from(b.erases)).sum();
                [closed.iter().sum::<f64>() / closed.len() as f64 / capacity, erases / blocks.len() as f64]
            })
            .collect();
        for (what, at, most) in [("capacities of age", 0, 0.5), ("erases of a block", 1, 2.0)] {
            let values = || means.iter().map(|mean| mean[at]);
            let spread = values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min);
            // After overwriting for long (`random`), planes differ by 0.06 capacities, and by 1.3 erases.
            assert!(spread < most, "{victim}, {precondition}: planes differ by {spread} {what}");
        }
    }
}
