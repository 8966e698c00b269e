//! Does write amplification under uniform random writes agree with theory, for each victim policy that has one?
//!
//! Expected values are the closed forms and mean-field solutions of `docs/fidelity.md`'s sources (Desnoyers 2014, Van
//! Houdt 2013, Bux and Iliadis 2010), evaluated here with a solver of their own. One plane of 2048 blocks; what a plane
//! holds back, its open block and the free block that collection keeps, is left out of the physical capacity. Tolerance
//! 1 %: of 30 times the capacity's writes the second half is measured, whose sampling error is below 0.2 %; the rest is
//! the distance of 2048 blocks to the infinite plane of the theory.

use copyback::config::RunConfig;
use copyback::ftl::aging::Ager;
use copyback::workload::rng;

const BLOCKS: u32 = 2048;
const HELD_BACK: u32 = 2;

/// A plane with `pages` pages a block whose usable capacity is `alpha` times its logical one.
fn measured(victim: &str, pages: u32, over_provisioning: f64) -> f64 {
    let usable_pages = f64::from(BLOCKS - HELD_BACK) * f64::from(pages);
    let logical_pages = (usable_pages / (1.0 + over_provisioning)).round() as u64;
    let text = format!(
        r#"
        precondition = {{ mode = "empty" }}
        victim = {victim}
        trigger = {{ policy = "watermark", soft = 2 }}
        capacity = {{ logical = "{} KiB" }}
        timing = {{ read = "50 us", program = "500 us", erase = "3 ms", channel = "400 MB/s" }}
        [geometry]
        channels = 1
        chips_per_channel = 1
        dies_per_chip = 1
        planes_per_die = 1
        blocks_per_plane = {BLOCKS}
        pages_per_block = {pages}
        page_size = "4 KiB"
        "#,
        logical_pages * 4
    );
    let config: RunConfig = toml::from_str(&text).expect("the test's configuration parses");
    config.check().expect("the test's configuration is possible");
    let mut ager = Ager::new(&config, 7);
    let units = ager.ftl.geometry.logical_units;
    let mut stream = rng::stream(7, "test.overwrites");
    ager.overwrite(units, 15 * u64::from(units), &mut stream).unwrap();
    let start = ager.ftl.counts();
    ager.overwrite(units, 15 * u64::from(units), &mut stream).unwrap();
    ager.ftl.check_all().unwrap();
    ager.ftl.counts().since(&start).write_amplification().unwrap()
}

fn agrees(victim: &str, pages: u32, over_provisioning: f64, expected: f64) {
    let measured = measured(victim, pages, over_provisioning);
    let deviation = measured / expected - 1.0;
    println!(
        "{victim} b={pages} OP={over_provisioning}: theory {expected:.4}, measured {measured:.4}, {:+.2} %",
        100.0 * deviation
    );
    assert!(
        deviation.abs() < 0.01,
        "{victim}, b={pages}, OP={over_provisioning}: theory {expected}, measured {measured}"
    );
}

/// FIFO: the fixed point A = 1 / (1 - e^(-α/A)).
fn fifo(over_provisioning: f64) -> f64 {
    let alpha = 1.0 + over_provisioning;
    let mut a = 1.0 / (1.0 - 1.0 / alpha);
    for _ in 0..10_000 {
        a = 1.0 / (1.0 - (-alpha / a).exp());
    }
    a
}

/// Greedy with `b` pages a block (exact mean field): α = A·(H_b − H_m + p/m), A = b/(b − m + p), 0 ≤ p ≤ 1.
fn greedy(b: u32, over_provisioning: f64) -> f64 {
    let alpha = 1.0 + over_provisioning;
    let harmonic = |n: u32| (1..=n).map(|i| 1.0 / f64::from(i)).sum::<f64>();
    for m in 1..b {
        let a = |p: f64| f64::from(b) / (f64::from(b - m) + p);
        let error = |p: f64| a(p) * (harmonic(b) - harmonic(m) + p / f64::from(m)) - alpha;
        if error(0.0) * error(1.0) <= 0.0 {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..100 {
                let middle = (low + high) / 2.0;
                if error(low) * error(middle) <= 0.0 { high = middle } else { low = middle }
            }
            return a(low);
        }
    }
    unreachable!("there is a solution for every over-provisioning above 0")
}

#[test]
fn the_solvers_give_the_tabulated_values() {
    for (op, expected) in [(0.07, 7.817), (0.15, 4.016), (0.28, 2.481)] {
        assert!((fifo(op) - expected).abs() < 0.001, "{}", fifo(op));
    }
    for (b, op, expected) in
        [(64, 0.07, 7.010), (64, 0.15, 3.800), (64, 0.28, 2.403), (256, 0.15, 3.960), (256, 0.28, 2.461)]
    {
        assert!((greedy(b, op) - expected).abs() < 0.001, "{}", greedy(b, op));
    }
}

#[test]
fn greedy_agrees_with_the_mean_field() {
    for (b, op) in [(64, 0.07), (64, 0.15), (64, 0.28), (256, 0.15)] {
        agrees(r#"{ policy = "greedy" }"#, b, op, greedy(b, op));
    }
}

#[test]
fn fifo_agrees_with_its_closed_form() {
    for op in [0.07, 0.15, 0.28] {
        agrees(r#"{ policy = "fifo" }"#, 64, op, fifo(op));
    }
}

#[test]
fn random_agrees_with_its_closed_form() {
    for op in [0.07, 0.15, 0.28] {
        agrees(r#"{ policy = "random" }"#, 64, op, (1.0 + op) / op);
    }
}

#[test]
fn d_choices_agree_with_van_houdts_table() {
    for (d, op, expected) in [(2, 0.15, 5.312), (10, 0.07, 7.323), (10, 0.28, 2.471)] {
        agrees(&format!("{{ policy = \"d-choices\", d = {d} }}"), 64, op, expected);
    }
}

#[test]
fn windowed_greedy_agrees_with_the_monte_carlo_value() {
    agrees(r#"{ policy = "windowed-greedy", window = 0.1 }"#, 64, 0.15, 3.867);
}
