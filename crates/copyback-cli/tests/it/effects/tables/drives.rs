//! Keys of drives, of their background tasks and preconditioning, and of arrays.

use super::{BIG, Differs, Notes, PLAIN, Row};

/// Many reads of a few addresses.
const HOT: &str = "requests = 600\nread_share = 0.5\nsize = { kind = 'fixed', mean = '4 KiB' }\n\
                   addresses = { kind = 'zipf', theta = 1.2 }";

const ONLY_READS: &str = "requests = 200\nread_share = 1.0\nsize = { kind = 'fixed', mean = '4 KiB' }";

const RAID_0: [&str; 2] = ["array.level=raid-0", "array.drives=2"];
const RAID_1: [&str; 2] = ["array.level=raid-1", "array.drives=2"];
const RAID_5: [&str; 2] = ["array.level=raid-5", "array.drives=5"];
const ALONE: [&str; 2] = ["array.level=raid-0", "array.drives=1"];
const SCRUB: [&str; 2] = ["tasks.scrub.start=6", "tasks.scrub.first_max=0"];
const DELAYED: [&str; 1] = ["tasks.delays.mode=serial"];
const TASKS: [&str; 3] = ["tasks.scrub.start=5", "tasks.wear.threshold=2", "tasks.delays.mode=serial"];
const MAKING_REQUESTS: [&str; 4] =
    ["tasks.scrub.start=5", "tasks.wear.threshold=2", "tasks.delays.mode=serial", "preemption.policy=always"];
const LONG: &str = "['200 us', '200 us']";

pub(super) const ROWS: &[Row] = &[
    ("geometry.channels", "4", BIG, &[], Differs),
    ("geometry.chips_per_channel", "2", BIG, &[], Differs),
    ("geometry.dies_per_chip", "2", BIG, &[], Differs),
    ("geometry.planes_per_die", "4", BIG, &[], Differs),
    ("geometry.blocks_per_plane", "30", BIG, &[], Differs),
    ("geometry.pages_per_block", "16", BIG, &[], Differs),
    ("geometry.page_size", "32 KiB", BIG, &[], Differs),
    ("geometry.mapping_unit", "16 KiB", PLAIN, &[], Differs),
    ("timing.read", "70 us", BIG, &[], Differs),
    ("timing.program", "500 us", BIG, &[], Differs),
    ("timing.erase", "5 ms", BIG, &[], Differs),
    ("timing.channel", "400 MB/s", BIG, &[], Differs),
    ("timing.command", "1 us", BIG, &[], Differs),
    ("timing.cache_busy", "9 us", BIG, &["compose.builders=['cache']"], Differs),
    ("timing.cache_busy", "9 us", BIG, &[], Notes),
    ("capacity.over_provisioning", "0.8", BIG, &[], Differs),
    ("capacity.reserved", "0.4", BIG, &[], Differs),
    ("capacity.logical", "1 MiB", BIG, &[], Differs),
    ("precondition.mode", "empty", BIG, &[], Differs),
    ("precondition.fill", "0.5", BIG, &[], Differs),
    ("precondition.footprint", "0.5", BIG, &[], Differs),
    ("precondition.footprint", "0.5", BIG, &["precondition.overwrites=0.0"], Notes),
    ("precondition.overwrites", "1.0", BIG, &[], Differs),
    ("precondition.steady", "0.5", BIG, &[], Differs),
    ("precondition.steady", "0.5", BIG, &["precondition.overwrites=1.0"], Notes),
    ("tasks.scrub.start", "3", HOT, &[], Differs),
    ("tasks.scrub.stop", "2", HOT, &SCRUB, Differs),
    ("tasks.scrub.first_max", "5", HOT, &SCRUB, Differs),
    ("tasks.wear.threshold", "2", HOT, &[], Differs),
    ("tasks.wear.free_order", "in-turn", HOT, &["tasks.wear.threshold=2"], Differs),
    ("tasks.delays.mode", "pipelined", BIG, &DELAYED, Differs),
    ("tasks.delays.lookup", LONG, BIG, &DELAYED, Differs),
    ("tasks.delays.host", LONG, BIG, &DELAYED, Differs),
    ("tasks.delays.gc", LONG, BIG, &DELAYED, Notes),
    ("tasks.delays.gc", LONG, BIG, &["tasks.delays.mode=serial", "preemption.policy=always"], Differs),
    ("tasks.delays.scrub", LONG, HOT, &DELAYED, Notes),
    ("tasks.delays.scrub", LONG, HOT, &TASKS, Notes),
    ("tasks.delays.scrub", LONG, HOT, &MAKING_REQUESTS, Differs),
    ("tasks.delays.wear", LONG, HOT, &DELAYED, Notes),
    ("tasks.delays.wear", LONG, HOT, &TASKS, Notes),
    ("tasks.delays.wear", LONG, HOT, &MAKING_REQUESTS, Differs),
    ("array.level", "raid-0", BIG, &RAID_5, Differs),
    ("array.drives", "4", BIG, &RAID_5, Differs),
    ("array.stripe_unit", "64 KiB", BIG, &RAID_5, Differs),
    // The capacity is a whole number of stripe units: 6 MiB, or 20 KiB 307 times.
    ("array.stripe_unit", "20 KiB", BIG, &ALONE, Differs),
    ("array.partial", "reconstruct", BIG, &RAID_5, Differs),
    ("array.partial", "reconstruct", BIG, &RAID_1, Notes),
    ("array.partial", "reconstruct", ONLY_READS, &RAID_5, Notes),
    ("array.partial", "read-modify-write", ONLY_READS, &RAID_5, Notes),
    ("array.write_after", "own", PLAIN, &RAID_5, Differs),
    ("array.write_after", "own", PLAIN, &RAID_0, Notes),
    ("array.delay", "50 us", BIG, &RAID_0, Differs),
    ("array.gc_aware_reads", "true", HOT, &RAID_5, Differs),
    ("array.gc_aware_reads", "true", BIG, &RAID_0, Differs),
    ("array.gc_aware_reads", "true", ONLY_READS, &RAID_5, Notes),
    ("array.seeds", "same", BIG, &RAID_0, Differs),
    ("array.seeds", "same", BIG, &ALONE, Notes),
    ("array.failed", "[0]", BIG, &RAID_5, Differs),
    ("array.rebuild", "50 MB/s", BIG, &["array.level=raid-5", "array.drives=3", "array.failed=[0]"], Differs),
    ("array.override", "[{ drives = [0], seed = 9 }]", BIG, &RAID_0, Differs),
];
