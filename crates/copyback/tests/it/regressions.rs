//! Defects that random tests found stay fixed.
//!
//! Each test is the smallest case that showed a defect; its expected values follow from the meaning of the operation.

use crate::support::{Setting, configuration, request};
use copyback::flash::command::Source;
use copyback::ftl::core::Ftl;
use copyback::ftl::frontier::Stream;
use copyback::observe::report::Outcome;
use copyback::run::preconditioning;
use copyback::run::simulation::{Setup, Simulation};
use copyback::run::{Options, Progress, RunError, precondition, simulate};
use copyback::sim::index::{BlockId, LogicalUnit, PageId, PlaneId};
use copyback::workload::{Op, Request, rng};

const PLANE: &[Setting] = &[
    "geometry.channels = 1\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 1\ngeometry.planes_per_die = 1",
    "timing.read = \"50 us\"\ntiming.program = \"500 us\"\ntiming.erase = \"3 ms\"\ntiming.channel = \"400 MB/s\"",
    "trigger.policy = \"watermark\"\ntrigger.soft = 2\nprecondition.mode = \"empty\"",
];

fn run(lines: &[Setting], requests: &[Request]) -> Outcome {
    run_with_seed(0, lines, requests)
}

fn run_with_seed(seed: u64, lines: &[Setting], requests: &[Request]) -> Outcome {
    let (config, text) = configuration(lines, 0);
    config.check().unwrap_or_else(|e| panic!("{e}\n{text}"));
    let image = precondition(&config, seed).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let options = Options { seed, check: true, keep_requests: true, keep_gc_events: true, ..Options::default() };
    let mut calls = 0;
    let mut progress = |p: Progress| {
        calls += 1;
        assert!(calls < 40, "the run does not come to an end: {p:?}");
    };
    let outcome = simulate(&config, image, Box::new(Vec::from(requests).into_iter()), &options, &mut progress);
    outcome.unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// A page cannot follow units that reach into the last page of their block: it begins the next block.
#[test]
fn a_page_after_units_in_the_last_page_of_a_block() {
    let mut lines = PLANE.to_vec();
    lines.push("geometry.blocks_per_plane = 8\ngeometry.pages_per_block = 2");
    lines.push("geometry.page_size = \"8 KiB\"\ngeometry.mapping_unit = \"4 KiB\"");
    let mut ftl = Ftl::new(&configuration(&lines, 0).0.ftl(), 1);
    let plane = PlaneId(0);
    for unit in 0..3 {
        ftl.append(plane, LogicalUnit(unit), 1);
    }
    ftl.seal_page(plane, Stream::Host, 1);
    let next = ftl.next_block_in(plane, ftl.write_point(plane, Stream::Host)).unwrap();
    assert_eq!((next.0, ftl.next_page_offset(plane, Stream::Host)), (1, 0));
    assert_eq!(ftl.write_page(plane, &[LogicalUnit(0)], 2), PageId(2));
    assert_eq!(ftl.counts().padding_units, 2, "one place is left in each of the two blocks");
    ftl.check_all().unwrap();
}

/// Data that was trimmed in the buffer was written by the host all the same.
#[test]
fn write_amplification_counts_what_the_host_wrote() {
    let mut lines = PLANE.to_vec();
    lines.push("geometry.blocks_per_plane = 8\ngeometry.pages_per_block = 4\ngeometry.page_size = \"4 KiB\"");
    lines.push("buffer.policy = \"lru\"\nbuffer.size = \"4 KiB\"");
    // There is room for one unit: of three, one is trimmed, one evicted and one left.
    let asked = [(Op::Write, 0), (Op::Trim, 0), (Op::Write, 1), (Op::Write, 2)];
    let requests = asked.map(|(op, unit)| request(10_000 * unit, op, unit * 4096, 4096, 0));
    let report = run(&lines, &requests).report;
    assert_eq!((report.flash.host_units, report.buffer_units_left), (1, 1));
    assert_eq!(report.write_amplification.total, Some(1.0 / 3.0));
}

/// A queued read whose first unit is trimmed still reads the other units.
#[test]
fn a_trim_takes_only_its_units_out_of_a_queued_read() {
    let mut lines = PLANE.to_vec();
    lines.push("geometry.blocks_per_plane = 8\ngeometry.pages_per_block = 4");
    lines.push("geometry.page_size = \"16 KiB\"\ngeometry.mapping_unit = \"4 KiB\"");
    let requests = [
        request(0, Op::Write, 0, 16_384, 0),
        // The second write keeps the plane busy, so that the read waits and the trim is earlier.
        request(9_000_000, Op::Write, 16_384, 16_384, 0),
        request(9_000_001, Op::Read, 0, 16_384, 0),
        request(9_000_002, Op::Trim, 0, 4096, 0),
    ];
    let report = run(&lines, &requests).report;
    assert_eq!(report.flash.host_page_reads, 1, "units 1 to 3 still hold data");
}

/// A queue of writes is no reason to collect before the watermark is reached. On one plane, the order of binding does
/// not depend on the speed of the host, so that moves do not, either.
#[test]
fn a_backlog_moves_no_more_than_a_trickle() {
    let mut lines = PLANE.to_vec();
    lines.push("geometry.blocks_per_plane = 32\ngeometry.pages_per_block = 16\ngeometry.page_size = \"4 KiB\"");
    lines.retain(|l| !l.contains("precondition"));
    lines.push("trigger.policy = \"watermark\"\ntrigger.soft = 2\ncapacity.over_provisioning = 0.5");
    lines.push("precondition.mode = \"random\"\nprecondition.overwrites = 2.0");
    let moved = |gap_ns: u64| {
        let write = |i: u64| request(i * gap_ns, Op::Write, rng::splitmix64(i) % 300 * 4096, 4096, 0);
        let requests: Vec<_> = (0..2_000).map(write).collect();
        let report = run(&lines, &requests).report;
        (report.gc.collections, report.flash.gc_units)
    };
    let trickle = moved(1_000_000_000);
    assert!(trickle.0 > 10, "{trickle:?}");
    assert_eq!(moved(0), trickle);
}

/// Pages leave a full buffer side by side: a burst is written as fast as all dies together take it.
#[test]
fn a_full_buffer_empties_onto_all_dies() {
    let lines = [
        "geometry.channels = 4\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 1\ngeometry.planes_per_die = 1",
        "geometry.blocks_per_plane = 32\ngeometry.pages_per_block = 16\ngeometry.page_size = \"4 KiB\"",
        "timing.read = \"50 us\"\ntiming.program = \"1 ms\"\ntiming.erase = \"3 ms\"\ntiming.channel = \"400 MB/s\"",
        "buffer.policy = \"lru\"\nbuffer.size = \"64 KiB\"\nprecondition.mode = \"empty\"\ncapacity.over_provisioning = 0.5",
    ];
    let requests: Vec<_> = (0..416).map(|i| request(0, Op::Write, i * 4096, 4096, 0)).collect();
    let report = run(&lines, &requests).report;
    // 400 pages leave before the last 16 have arrived: 100 on each of four dies, at a millisecond and a transfer each.
    let one_ns = 1_000_000 + 4096 * 1_000_000_000 / 400_000_000;
    assert!(report.simulated_ns < 101 * one_ns, "{} ns", report.simulated_ns);
    assert_eq!(report.buffer_units_left, 16);
}

/// A unit that is trimmed before collection reads its page is not read, even if the page has other data.
#[test]
fn collection_leaves_a_trimmed_unit_of_a_page_behind() {
    let mut lines = PLANE.to_vec();
    lines.push("geometry.blocks_per_plane = 8\ngeometry.pages_per_block = 4");
    lines.push("geometry.page_size = \"8 KiB\"\ngeometry.mapping_unit = \"4 KiB\"");
    let write = |arrival_ns: u64, page: u64| request(arrival_ns, Op::Write, page * 8192, 8192, 0);
    // Five blocks are full, and the first half of block 0 is overwritten. The last write opens a block, and one remains
    // free.
    let written = (0..20).chain([0, 1, 4, 8, 12]);
    let mut requests: Vec<_> = written.zip(0..).map(|(page, i)| write(i * 1_000_000, page)).collect();
    // Pages 2 and 3 are moved as soon as it has ended, after 20,480 ns on the channel and 500 us in the array. While
    // page 2 is being read, the second unit of page 3 is trimmed.
    requests.push(request(24_530_000, Op::Trim, 7 * 4096, 4096, 0));
    let report = run(&lines, &requests).report;
    assert_eq!((report.gc.collections, report.gc.units_moved), (1, 4), "{:?}", report.gc);
    assert_eq!((report.flash.gc_units, report.flash.dropped_moves), (3, 1), "{:?}", report.flash);
}

/// A plane without a logical page cannot be aged: the check of the configuration says so, before anything is built.
#[test]
fn a_plane_without_data_cannot_be_aged() {
    let lines = [
        "geometry.channels = 1\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 1\ngeometry.planes_per_die = 2",
        "geometry.blocks_per_plane = 8\ngeometry.pages_per_block = 1\ngeometry.page_size = \"16 KiB\"",
        "timing.read = \"50 us\"\ntiming.program = \"500 us\"\ntiming.erase = \"3 ms\"\ntiming.channel = \"400 MB/s\"",
        "precondition.mode = \"aged\"\nprecondition.used_max = 0.7\nprecondition.used_min = 0.2",
        "capacity.logical = 16384",
    ];
    let config = configuration(&lines, 0).0;
    let refused = config.check().expect_err("plane 1 holds no logical page");
    assert_eq!(refused.key, "precondition.mode", "{refused:?}");
    let of_run = precondition(&config, 0).err().expect("a run checks, too");
    assert!(matches!(&of_run, RunError::Config(e) if *e == refused), "{of_run}");
}

/// A drive with so much room that it is overwritten twice before its erased blocks are used up is not steady by then.
#[test]
fn steady_preconditioning_has_collected() {
    let mut lines = PLANE[..2].to_vec();
    lines.push("trigger.policy = \"watermark\"\ntrigger.soft = 2\nprecondition.mode = \"random\"\ncapacity.over_provisioning = 6.0");
    lines.push("geometry.blocks_per_plane = 64\ngeometry.pages_per_block = 8\ngeometry.page_size = \"4 KiB\"");
    let (config, text) = configuration(&lines, 0);
    let preconditioning = precondition(&config, 0).unwrap_or_else(|e| panic!("{e}\n{text}")).preconditioning();
    assert!(preconditioning.erases > 0 && preconditioning.host_units > 64 * 8, "{preconditioning:?}");
}

/// A read that arrives when the last data of the previous read has left cannot overlap its cycles with that data: the
/// cycles take the channel.
#[test]
fn a_cached_read_at_the_end_of_the_read_before() {
    let mut lines = PLANE.to_vec();
    lines.push("geometry.blocks_per_plane = 8\ngeometry.pages_per_block = 4\ngeometry.page_size = \"4 KiB\"");
    lines.push("timing.command = \"200 ns\"\ncompose.policy = \"list\"\ncompose.builders = [\"cache\"]");
    lines.retain(|l| !l.contains("precondition"));
    lines.push("trigger.policy = \"watermark\"\ntrigger.soft = 2\nprecondition.mode = \"sequential\"");
    let first_ns = 200 + 50_000 + 4096 * 1_000_000_000 / 400_000_000;
    let requests = [0, first_ns].map(|arrival_ns| request(arrival_ns, Op::Read, 0, 4096, 0));
    let outcome = run(&lines, &requests);
    let took: Vec<u64> = outcome.requests.iter().map(|r| r.response_ns).collect();
    assert_eq!(took, [first_ns, first_ns]);
}

/// Pages that are reserved for moves from other planes are not available to host writes when these arrive, with a
/// shared open block and with separate ones.
#[test]
fn moves_from_other_planes_leave_what_was_reserved() {
    for frontier in ["frontier.policy = \"single\"", "frontier.policy = \"split\""] {
        let lines = [
            frontier,
            "geometry.channels = 2\ngeometry.chips_per_channel = 2\ngeometry.dies_per_chip = 2\ngeometry.planes_per_die = 2",
            "geometry.blocks_per_plane = 17\ngeometry.pages_per_block = 3\ngeometry.page_size = \"4 KiB\"",
            "timing.read = [\"40 us\", \"60 us\", \"90 us\"]\ntiming.program = \"30 us\"\ntiming.erase = \"10 us\"",
            "timing.channel = \"40 MB/s\"\nallocation.policy = \"dynamic\"\nvictim.policy = \"random\"\norder.policy = \"fifo\"",
            "trigger.policy = \"watermark\"\ntrigger.soft = 2\n\
             granularity.policy = \"block\"\ngranularity.destination = \"global\"",
            "admit.policy = \"window\"\nadmit.slots = 4\ncompose.policy = \"list\"\ncompose.builders = []",
            "host.mode = \"closed\"\nhost.queue_depth = 1\nprecondition.mode = \"random\"\nprecondition.steady = 0.2",
        ];
        let place = |i: u64| rng::splitmix64(i) % 600 * 4096;
        let write = |i: u64| request(0, Op::Write, place(i), (1 + rng::splitmix64(i + 7) % 20) * 4096, 0);
        let requests: Vec<_> = (0..4_000).map(write).collect();
        assert!(run(&lines, &requests).report.gc.collections > 0);
    }
}

/// Data leaves a plane for waiting host writes only if other planes take it when it has begun to leave. Otherwise
/// collections that gain nothing would follow each other without end, before the writes that would change anything.
#[test]
fn a_plane_that_nobody_relieves_is_not_collected_again_and_again() {
    let lines = [
        "geometry.channels = 1\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 1\ngeometry.planes_per_die = 3",
        "geometry.blocks_per_plane = 8\ngeometry.pages_per_block = 8",
        "geometry.page_size = \"16 KiB\"\ngeometry.mapping_unit = \"1 KiB\"",
        "timing.read = \"50 us\"\ntiming.program = \"500 us\"\ntiming.erase = \"3 ms\"\ntiming.channel = \"400 MB/s\"",
        "allocation.policy = \"dynamic\"\nfrontier.policy = \"split\"\nbuffer.policy = \"lru\"\nbuffer.size = \"1 MiB\"",
        "trigger.policy = \"watermark\"\ntrigger.soft = 0.1\ntrigger.stop = 0.3",
        "granularity.policy = \"block\"\ngranularity.destination = \"global\"\n\
         victim.policy = \"greedy\"\nvictim.tie_blocks = 1",
        "compose.policy = \"list\"\ncompose.builders = [\"cache\"]\ncommands.cache_program = false",
        "admit.policy = \"window\"\nadmit.slots = 4\nhost.mode = \"closed\"\nhost.queue_depth = 64",
        "host.subpage_writes = \"overwrite\"\nprecondition.mode = \"random\"\nprecondition.steady = 0.2",
        "capacity.logical = 1571840",
    ];
    for seed in 0..40 {
        let draw = |i: u64| rng::splitmix64(1_000 * seed + i);
        let op = |i: u64| if draw(i) % 3 == 0 { Op::Trim } else { Op::Write };
        let len = |i: u64| [1024, 16_384, 17_408, 147_456, 327_680][(draw(i + 500) % 5) as usize];
        let place = |i: u64| draw(i + 700) % (1_571_840 - len(i));
        let requests: Vec<_> = (0..300).map(|i| request(0, op(i), place(i), len(i), 0)).collect();
        run_with_seed(seed, &lines, &requests);
    }
}

/// Host writes that may go to any die go to a die with room. Data is not moved for them, and back again, without end.
#[test]
fn data_does_not_go_round_between_full_planes() {
    let lines = [
        "geometry.channels = 2\ngeometry.chips_per_channel = 2\ngeometry.dies_per_chip = 2\ngeometry.planes_per_die = 3",
        "geometry.blocks_per_plane = 8\ngeometry.pages_per_block = 1\ngeometry.page_size = \"4 KiB\"",
        "timing.read = \"1 ns\"\ntiming.program = \"1 ns\"\ntiming.erase = \"1 s\"\ntiming.channel = \"9 GB/s\"",
        "allocation.policy = \"dynamic\"\nfrontier.policy = \"split\"\nbuffer.policy = \"lru\"\nbuffer.size = \"48 KiB\"",
        "trigger.policy = \"watermark\"\ntrigger.soft = 0.1\ntrigger.stop = 0.3",
        "granularity.policy = \"block\"\ngranularity.destination = \"global\"\n\
         compose.policy = \"list\"\ncompose.builders = []",
        "admit.policy = \"window\"\nadmit.slots = 4\norder.policy = \"fifo\"\nhost.subpage_writes = \"overwrite\"",
        "precondition.mode = \"aged\"\nprecondition.used_min = 0.2\nprecondition.used_max = 0.7\nprecondition.valid = 0.5",
        "capacity.logical = 393216",
    ];
    for seed in 0..40 {
        let draw = |i: u64| rng::splitmix64(1_000 * seed + i);
        let op = |i: u64| if draw(i) % 4 == 0 { Op::Trim } else { Op::Write };
        let len = |i: u64| [1, 512, 4096, 8192, 81_920][(draw(i + 500) % 5) as usize];
        let place = |i: u64| draw(i + 700) % (393_216 - len(i));
        let requests: Vec<_> = (0..300).map(|i| request(i * 1_000, op(i), place(i), len(i), 0)).collect();
        run_with_seed(seed, &lines, &requests);
    }
}

/// A request that arrives while a slot is kept for a job does not take it before requests that wait for one.
#[test]
fn whoever_waits_for_a_slot_goes_before_who_arrives() {
    let lines = [
        "geometry.channels = 1\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 1\ngeometry.planes_per_die = 2",
        "geometry.blocks_per_plane = 8\ngeometry.pages_per_block = 8\ngeometry.page_size = \"16 KiB\"",
        "timing.read = \"50 us\"\ntiming.program = \"500 us\"\ntiming.erase = \"3 ms\"\ntiming.channel = \"400 MB/s\"",
        "capacity.over_provisioning = 1.0\nfrontier.policy = \"split\"\ntrigger.policy = \"watermark\"\ntrigger.soft = 0.2",
        "compose.policy = \"list\"\ncompose.builders = []\nadmit.policy = \"window\"\nadmit.slots = 1",
        "host.mode = \"closed\"\nhost.queue_depth = 4\nhost.subpage_writes = \"overwrite\"",
        "precondition.mode = \"random\"\nprecondition.overwrites = 1.5",
    ];
    // The unit's versions are bound in the order of their arrival, or the run stops.
    let writes = [(4608, 32_768), (0, 16_384), (0, 16_384), (0, 16_384), (0, 16_384)];
    let requests = writes.map(|(offset, len)| request(0, Op::Write, offset, len, 0));
    run_with_seed(2, &lines, &requests);
}

/// Blocks full of valid data are relocated again and again: a scrubber frees nothing, and breaks no rule by it.
#[test]
fn a_scrubber_may_relocate_full_blocks_for_ever() {
    let lines = [
        "geometry.channels = 1\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 1\ngeometry.planes_per_die = 1",
        "geometry.blocks_per_plane = 8\ngeometry.pages_per_block = 2\ngeometry.page_size = \"4 KiB\"",
        "timing.read = \"50 us\"\ntiming.program = \"500 us\"\ntiming.erase = \"3 ms\"\ntiming.channel = \"400 MB/s\"",
        "trigger.policy = \"watermark\"\ntrigger.soft = 2\nprecondition.mode = \"sequential\"\ncapacity.over_provisioning = 1.0",
    ];
    let (config, _) = configuration(&lines, 0);
    config.check().expect("the configuration is possible");
    let ftl = preconditioning::preconditioned(&config, 1).expect("preconditioning works");
    let mut source = vec![request(0, Op::Read, 0, 4096, 0)].into_iter();
    let host = config.host.clone();
    let setup =
        Setup { host, source: &mut source, requests: None, check: true, keep_gc_events: false, keep_requests: false };
    let mut simulation = Simulation::new(vec![(&config, ftl)], setup);
    simulation.start().expect("the request is in order");
    // 64 collections for each block that free nothing would break `collections-reclaim`; relocations do not count.
    for collection in 0..64 * 8 + 8 {
        let found =
            (0..8).any(|i| simulation.relocate(0, BlockId((collection + i) % 8), Source::SCRUB).expect("it goes on"));
        assert!(found, "collection {collection} finds no full block");
        while simulation.step().expect("it goes on") {}
    }
    simulation.check_end();
}

/// Writes that are bound to no plane go round a die's planes. Before the correction they went to the lowest plane that
/// had most room: it was collected, had most room again, and filled up with valid data while the other planes rested.
#[test]
fn dynamic_allocation_uses_all_planes_of_a_die_alike() {
    let lines = [
        "geometry.channels = 1\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 2\ngeometry.planes_per_die = 4",
        "geometry.blocks_per_plane = 24\ngeometry.pages_per_block = 8\ngeometry.page_size = \"4 KiB\"",
        "timing.read = \"50 us\"\ntiming.program = \"500 us\"\ntiming.erase = \"3 ms\"\ntiming.channel = \"400 MB/s\"",
        "capacity.over_provisioning = 0.5\nallocation.policy = \"dynamic\"\ntrigger.policy = \"watermark\"\ntrigger.soft = 2",
        "compose.policy = \"list\"\ncompose.builders = []\nprecondition.mode = \"random\"\nprecondition.overwrites = 2.0",
    ];
    let (config, _) = configuration(&lines, 0);
    let image = precondition(&config, 1).unwrap();
    let pages = u64::from(Ftl::new(&config.ftl(), 1).geometry.logical_units);
    let write = |i: u64| request(i * 5_000_000, Op::Write, rng::splitmix64(i) % pages * 4096, 4096, 0);
    let source = Box::new((0..3_000).map(write).collect::<Vec<Request>>().into_iter());
    let options = Options { keep_gc_events: true, ..Options::default() };
    let outcome = simulate(&config, image, source, &options, &mut |_| {}).unwrap();
    let mut collections = [0u32; 8];
    outcome.gc_events.iter().for_each(|event| collections[event.plane as usize] += 1);
    let (least, most) = (collections.iter().min().unwrap(), collections.iter().max().unwrap());
    // Planes take the same writes in turn; their victims differ by chance.
    assert!(*least > 20 && most * 2 < least * 3, "collections of each plane: {collections:?}");
}

/// A plane full of valid data sends none away because writes wait for another plane of its die. Two such planes once
/// sent data to each other without end, because GC goes first.
#[test]
fn a_plane_keeps_its_data_while_writes_wait_for_its_neighbours() {
    let lines = [
        "geometry.channels = 1\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 2\ngeometry.planes_per_die = 4",
        "geometry.blocks_per_plane = 12\ngeometry.pages_per_block = 2\ngeometry.page_size = \"4 KiB\"",
        "timing.read = \"50 us\"\ntiming.program = \"500 us\"\ntiming.erase = \"3 ms\"\ntiming.channel = \"400 MB/s\"",
        "trigger.policy = \"watermark\"\ntrigger.soft = 0.2\n\
             granularity.policy = \"block\"\ngranularity.destination = \"global\"",
        "victim.policy = \"fifo\"\norder.policy = \"priority\"\norder.first = \"gc-read-write\"",
        "capacity.logical = 524288\nprecondition.mode = \"random\"\nprecondition.overwrites = 1.5",
        "host.mode = \"open\"\nhost.outstanding_max = 7",
    ];
    for seed in 0..40 {
        let draw = |i: u64| rng::splitmix64(1_000 * seed + i);
        let op = |i: u64| if draw(i) % 5 == 0 { Op::Trim } else { Op::Write };
        let len = |i: u64| [1, 1, 5, 9, 20][(draw(i + 400) % 5) as usize] * 4096;
        let place = |i: u64| (draw(i + 700) % 128 * 4096).min(524_288 - len(i));
        let requests: Vec<_> = (0..300).map(|i| request(i * 200_000, op(i), place(i), len(i), 0)).collect();
        run_with_seed(seed, &lines, &requests);
    }
}

/// A write brings a whole page at once: a buffer of exactly a page takes it, and a smaller one would wait for ever.
#[test]
fn a_buffer_holds_a_page_or_is_refused() {
    let sized = |size: Setting| {
        let mut lines = PLANE.to_vec();
        lines.push("geometry.blocks_per_plane = 16\ngeometry.pages_per_block = 8\ngeometry.mapping_unit = \"4 KiB\"");
        lines.extend(["geometry.page_size = \"16 KiB\"\ncapacity.over_provisioning = 1.0", size]);
        lines
    };
    let write = |i: u64| request(i, Op::Write, i % 7 * 16_384, 16_384, 0);
    let requests: Vec<_> = (0..50).map(write).collect();
    let report = run(&sized("buffer.policy = \"lru\"\nbuffer.size = \"16 KiB\""), &requests).report;
    assert_eq!((report.writes, report.buffer_units_left, report.flash.host_units), (50, 4, 4 * 49));
    let small = configuration(&sized("buffer.policy = \"lru\"\nbuffer.size = \"12 KiB\""), 0).0;
    let error = small.check().expect_err("a unit less than a page is too little");
    assert_eq!(error.key, "buffer.size");
    assert!(error.message.contains("12288") && error.message.contains("16384"), "{error}");
    assert!(error.help.expect("there is a remedy").contains("16 KiB"));
}

/// A drive is idle from the end of its last transaction on, even if that ends without a command because its data was
/// trimmed while it waited.
#[test]
fn a_read_of_nothing_leaves_the_drive_idle() {
    let mut lines = PLANE.to_vec();
    lines.push("geometry.blocks_per_plane = 12\ngeometry.pages_per_block = 4\ngeometry.page_size = \"4 KiB\"");
    lines.push("trigger.idle.after = \"7 ms\"\ntrigger.idle.stop = 5");
    // Two blocks hold nothing valid, and fewer than `trigger.idle.stop` blocks are free.
    let write = |at: u64| request(at * 1_000_000, Op::Write, at % 24 * 4096, 4096, 0);
    let mut requests: Vec<Request> = (0..33).map(write).collect();
    let last_ns = 32_000_000;
    requests.push(request(last_ns + 1, Op::Read, 20 * 4096, 4096, 0));
    requests.push(request(last_ns + 2, Op::Trim, 20 * 4096, 4096, 0));
    requests.push(request(1_000_000_000, Op::Read, 0, 4096, 0));
    let outcome = run(&lines, &requests);
    assert_eq!(outcome.gc_events[0].start_ns, last_ns + 510_240 + 7_000_000);
}

/// A task's entry is charged with what its pages take on the channel, and a row is several pages.
#[test]
fn rows_are_charged_to_tasks() {
    let policies: [Setting; 4] = [
        "admit.policy = \"vanilla\"",
        "admit.policy = \"strict\"",
        "admit.policy = \"qosfc\"",
        "admit.policy = \"debit\"",
    ];
    for admit in policies {
        let lines: [Setting; 5] = [
            "geometry = { channels = 1, chips_per_channel = 2, dies_per_chip = 1, planes_per_die = 2, \
             blocks_per_plane = 16, pages_per_block = 4, page_size = \"4 KiB\" }",
            "timing = { read = \"50 us\", program = \"500 us\", erase = \"3 ms\", channel = \"100 MB/s\" }",
            "precondition.mode = \"empty\"\ncapacity.over_provisioning = 1.0\nfrontier.policy = \"row\"",
            "granularity.policy = \"aligned\"\npreemption.policy = \"ideal\"",
            admit,
        ];
        let write = |i: u64| request(i * 1_000, Op::Write, i % 20 * 4096, 4096, 0);
        let report = run(&lines, &(0..200).map(write).collect::<Vec<_>>()).report;
        assert_eq!(report.writes, 200, "{admit}");
    }
}

/// Collections of four dies that no request needs for 292 years: their times together are more than 64 bits hold.
#[test]
fn times_of_collections_add_up_beyond_64_bits() {
    let lines = [
        "geometry.channels = 4\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 1\ngeometry.planes_per_die = 1",
        "geometry.blocks_per_plane = 16\ngeometry.pages_per_block = 4\ngeometry.page_size = \"16 KiB\"",
        "timing.read = \"60 us\"\ntiming.program = \"400 us\"\ntiming.erase = \"2.5 ms\"\ntiming.channel = \"800 MB/s\"",
        "trigger.policy = \"watermark\"\ntrigger.soft = 4\npreemption.policy = \"always\"\npreemption.victims = 4\nprecondition.mode = \"empty\"",
        // Collections have no slot, until a write waits for a page that one of them frees.
        "admit.policy = \"debit\"\nadmit.shares.policy = \"fixed\"\nadmit.shares.gc = 0\ncapacity.over_provisioning = 1.0",
    ];
    const LAST_NS: u64 = 1 << 63;
    let mut random = rng::stream(1, "test.places");
    let mut write = |at: u64| request(1_000_000 * at, Op::Write, rng::below(&mut random, 100) * 16_384, 16_384, 0);
    let mut requests: Vec<Request> = (0..600).map(&mut write).collect();
    requests.push(request(LAST_NS, Op::Read, 0, 16_384, 0));
    let gc = run(&lines, &requests).report.gc;
    let sum_ns = gc.collection_mean_ns.unwrap() * gc.collections as f64;
    assert!((sum_ns / LAST_NS as f64 - 4.0).abs() < 0.01, "{gc:?}");
    assert!(gc.under_way_ns > LAST_NS - 1_000_000_000, "{gc:?}");
}

/// Watermarks that are staggered count from the configured one, also while a drive is preconditioned: here those of
/// four planes are 0 to 3 blocks, the fourth plane has 4 spare ones, and the configuration checks accept that.
#[test]
fn staggered_watermarks_below_the_reserve_fit_a_drive_that_the_checks_accept() {
    let lines = [
        "geometry.channels = 1\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 1\ngeometry.planes_per_die = 4",
        "geometry.blocks_per_plane = 12\ngeometry.pages_per_block = 4\ngeometry.page_size = \"4 KiB\"",
        "timing.read = \"50 us\"\ntiming.program = \"500 us\"\ntiming.erase = \"3 ms\"\ntiming.channel = \"400 MB/s\"",
        "capacity.logical = \"488 KiB\"\nallocation.policy = \"static\"\nprecondition.mode = \"sequential\"",
        "trigger.policy = \"watermark\"\ntrigger.soft = 0\ntrigger.stagger = 1",
    ];
    let (config, text) = configuration(&lines, 0);
    config.check().unwrap_or_else(|e| panic!("{e}\n{text}"));
    precondition(&config, 0).unwrap_or_else(|e| panic!("{e}\n{text}"));
}
