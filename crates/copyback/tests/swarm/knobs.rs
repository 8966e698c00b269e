//! Knobs of the swarm. A new policy is one row in [`KNOBS`]; new schemes are found among the presets.
//!
//! A drive is drawn by taking one setting of every knob. The swarm counts how often each setting ran, and reports
//! settings that never ran.

use crate::support::Setting;
use copyback::config::presets::{Preset, SCHEMES};
use std::sync::OnceLock;

/// Every knob and its settings, the plainest first: a failure shrinks towards it.
pub const KNOBS: &[&[Setting]] = &[
    &[
        "geometry.channels = 1\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 1",
        "geometry.channels = 1\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 2",
        "geometry.channels = 2\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 1",
        "geometry.channels = 1\ngeometry.chips_per_channel = 3\ngeometry.dies_per_chip = 1",
        "geometry.channels = 2\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 2",
        "geometry.channels = 2\ngeometry.chips_per_channel = 2\ngeometry.dies_per_chip = 2",
        "geometry.channels = 4\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 1",
    ],
    &[
        "geometry.planes_per_die = 1",
        "geometry.planes_per_die = 2",
        "geometry.planes_per_die = 3",
        "geometry.planes_per_die = 4",
    ],
    &[
        "geometry.blocks_per_plane = 8",
        "geometry.blocks_per_plane = 9",
        "geometry.blocks_per_plane = 12",
        "geometry.blocks_per_plane = 17",
        "geometry.blocks_per_plane = 24",
        "geometry.blocks_per_plane = 40",
    ],
    &[
        "geometry.pages_per_block = 4",
        "geometry.pages_per_block = 1",
        "geometry.pages_per_block = 2",
        "geometry.pages_per_block = 3",
        "geometry.pages_per_block = 8",
        "geometry.pages_per_block = 13",
    ],
    &[
        "geometry.page_size = \"4 KiB\"",
        "geometry.page_size = \"8 KiB\"\ngeometry.mapping_unit = \"4 KiB\"",
        "geometry.page_size = \"1536 B\"\ngeometry.mapping_unit = \"512 B\"",
        "geometry.page_size = \"16 KiB\"\ngeometry.mapping_unit = \"4 KiB\"",
        "geometry.page_size = \"16 KiB\"",
        "geometry.page_size = \"16 KiB\"\ngeometry.mapping_unit = \"1 KiB\"",
    ],
    &[
        "timing.read = \"50 us\"",
        "timing.read = [\"40 us\", \"60 us\", \"90 us\"]",
        "timing.read = \"1 ns\"",
        "timing.read = \"3 ms\"",
        "timing.read = \"1 s\"",
    ],
    &[
        "timing.program = \"500 us\"",
        "timing.program = [\"400 us\", \"1500 us\"]",
        "timing.program = \"1 ns\"",
        "timing.program = \"30 us\"",
        "timing.program = \"1 s\"",
    ],
    &["timing.erase = \"3 ms\"", "timing.erase = \"1 ns\"", "timing.erase = \"10 us\"", "timing.erase = \"1 s\""],
    &[
        "timing.channel = \"400 MB/s\"",
        "timing.channel = \"40 MB/s\"",
        "timing.channel = \"1 MB/s\"",
        "timing.channel = \"9 GB/s\"",
        "timing.channel = \"2 KB/s\"",
    ],
    &["", "timing.command = \"200 ns\"", "timing.command = \"70 us\""],
    &["", "timing.cache_busy = \"3 us\""],
    &["", "", "", "commands.multi_plane = false"],
    &["", "commands.same_block = true"],
    &["", "commands.plane_pairs = true"],
    &["", "commands.cache_read = false"],
    &["", "commands.cache_program = false"],
    // Without a capacity the drive is as full as it may be.
    &[
        "capacity.over_provisioning = 1.0",
        "# as full as it may be",
        "# as full as it may be",
        "capacity.over_provisioning = 0.5",
        "capacity.over_provisioning = 0.28",
        "capacity.over_provisioning = 3.0",
        "capacity.reserved = 0.4",
    ],
    &[
        "mapping.policy = \"page\"",
        "mapping.policy = \"page\"",
        "mapping.policy = \"page\"",
        "mapping.policy = \"superpage\"",
        "mapping.policy = \"superpage\"",
        "mapping.policy = \"dftl\"",
        "mapping.policy = \"dftl\"\nmapping.cache = \"136 B\"",
        "mapping.policy = \"map-cache\"\nmapping.cache = \"16 KiB\"",
        "mapping.policy = \"fast\"\nmapping.log_share = 1",
        "mapping.policy = \"fast\"\nmapping.log_share = 2\nmapping.sequential_log = false",
        "mapping.policy = \"fast\"\nmapping.log_share = 0.1",
        "mapping.policy = \"dftl\"\nmapping.superpages = true",
        "mapping.policy = \"dftl\"\nmapping.superpages = true\nmapping.cache = \"16 B\"",
        "mapping.policy = \"map-cache\"\nmapping.superpages = true\nmapping.cache = \"16 KiB\"",
        "mapping.policy = \"fast\"\nmapping.superpages = true\nmapping.log_share = 2",
    ],
    &["allocation.policy = \"static\"", "allocation.policy = \"dynamic\"", "allocation.policy = \"static-die\""],
    &[
        "frontier.policy = \"single\"",
        "frontier.policy = \"split\"",
        "frontier.policy = \"second-active\"",
        "frontier.policy = \"second-active\"\nfrontier.unpaired = \"same\"",
        "frontier.policy = \"second-active\"\nfrontier.fill_limit = \"1 ms\"",
        "frontier.policy = \"twin\"",
        "frontier.policy = \"single\"\nfrontier.hot_window = \"5 ms\"",
        "frontier.policy = \"single\"\nfrontier.fill_limit = \"1 ms\"",
        "frontier.policy = \"split\"\nfrontier.fill_limit = \"3 ms\"\nfrontier.fill_ends = \"flash\"\nfrontier.fill_awaited = \"waits\"",
        "frontier.policy = \"single\"\nfrontier.fill_limit = \"100 us\"\nfrontier.fill_pages = 2\nfrontier.hot_window = \"5 ms\"",
        "frontier.policy = \"twin\"\nfrontier.hot_window = \"50 ms\"\nfrontier.hot_updates = 2",
        "frontier.policy = \"row\"",
        "frontier.policy = \"row\"",
        "frontier.policy = \"row\"\nfrontier.hot_window = \"10 ms\"",
        "frontier.policy = \"row\"\nfrontier.hot_window = \"10 ms\"",
    ],
    &[
        "buffer.policy = \"none\"",
        "buffer.policy = \"none\"",
        "buffer.policy = \"lru\"\nbuffer.size = \"16 KiB\"",
        "buffer.policy = \"lru\"\nbuffer.size = \"48 KiB\"\nbuffer.latency = \"0 ns\"",
        "buffer.policy = \"lru\"\nbuffer.size = \"1 MiB\"",
        "buffer.policy = \"lru\"\nbuffer.size = \"128 KiB\"\nbuffer.low_water = 0.3\nbuffer.idle_after = \"1 ms\"",
        "buffer.policy = \"die-writes\"\nbuffer.size = \"96 KiB\"\nbuffer.idle_after = \"200 us\"",
        "buffer.policy = \"die-lists\"\nbuffer.size = \"48 KiB\"",
        "buffer.policy = \"plane-lists\"\nbuffer.size = \"64 KiB\"",
        "buffer.policy = \"die-writes\"\nbuffer.size = \"64 KiB\"",
        "buffer.policy = \"die-writes\"\nbuffer.size = \"512 KiB\"\nbuffer.short_set = \"wait\"",
    ],
    &[
        "trigger.policy = \"watermark\"",
        "trigger.policy = \"watermark\"\ntrigger.scope = \"die\"",
        "trigger.policy = \"watermark\"\ntrigger.count = \"pages\"",
        "trigger.policy = \"watermark\"\ntrigger.count = \"pages\"\ntrigger.scope = \"die\"",
        "trigger.policy = \"watermark\"\ntrigger.scope = \"device\"",
    ],
    &[
        "trigger.soft = 2",
        "trigger.soft = 0",
        "trigger.soft = 1",
        "trigger.soft = 2\ntrigger.stop = 4",
        "trigger.soft = 0.2",
        "trigger.soft = 0.1\ntrigger.stop = 0.3",
    ],
    &[
        "granularity.policy = \"block\"",
        "granularity.policy = \"block\"\ngranularity.destination = \"global\"",
        "granularity.policy = \"block\"",
        "granularity.policy = \"block\"\ngranularity.copyback = true",
        "granularity.policy = \"twin\"",
        "granularity.policy = \"paired\"",
        "granularity.policy = \"paired\"\ngranularity.partner = \"own-greedy\"",
        "granularity.policy = \"paired\"\ngranularity.pairs = \"invalid-pages\"",
        "granularity.policy = \"aligned\"",
        "granularity.policy = \"aligned\"\ngranularity.gather = \"pairs-first\"",
        "granularity.policy = \"aligned\"\ngranularity.combine = true",
    ],
    &[
        "victim.policy = \"greedy\"",
        "victim.policy = \"greedy\"\nvictim.tie_blocks = 1",
        "victim.policy = \"cost-benefit\"",
        "victim.policy = \"d-choices\"\nvictim.d = 3",
        "victim.policy = \"windowed-greedy\"\nvictim.window = 0.3",
        "victim.policy = \"random\"",
        "victim.policy = \"fifo\"",
        "victim.policy = \"read-match\"",
        "victim.policy = \"read-match\"\nvictim.scan = \"0 ns\"\nvictim.candidates = 2",
    ],
    // How a collection shares its die: when it is preempted, and what its commands take along.
    &[
        "preemption.policy = \"none\"",
        "preemption.policy = \"none\"",
        "preemption.policy = \"none\"\ncompose.gc = [\"gc+host\"]",
        "preemption.policy = \"none\"\ncompose.gc = [\"gc+host\"]\ncompose.gc_transfers = \"together\"",
        "preemption.policy = \"none\"\ncompose.gc_scan = \"0 ns\"\ncompose.gc_scan_max = 3\ncompose.gc = [\"gc+host\"]",
        "preemption.policy = \"none\"\ncompose.gc_scan = \"0 ns\"\ncompose.gc = [\"gc+host\", \"merge\"]",
        "preemption.policy = \"none\"\ncompose.gc_scan_max = 2\ncompose.gc = [\"merge\"]",
        "preemption.policy = \"ideal\"",
        "preemption.policy = \"always\"",
        "preemption.policy = \"always\"",
        "preemption.policy = \"always\"\npreemption.victims = 3\npreemption.buffer = 5",
        "preemption.policy = \"always\"\npreemption.buffer = 2",
        "preemption.policy = \"points\"",
        "preemption.policy = \"points\"\npreemption.poll = \"0 ns\"\npreemption.at_hard = \"all\"\n\
         compose.gc = [\"pipeline\"]",
        "preemption.policy = \"points\"\npreemption.at_register = \"plane\"\ncompose.gc = [\"merge\"]",
        "preemption.policy = \"points\"\npreemption.at_register = \"all-reads\"",
        "preemption.policy = \"points\"\npreemption.at_register = \"none\"\npreemption.poll = \"70 us\"\n\
         compose.gc = [\"merge\", \"pipeline\"]",
        "preemption.policy = \"points\"\npreemption.fence = \"writes\"",
        "preemption.policy = \"points\"\npreemption.fence = \"all\"",
        "preemption.policy = \"points\"\npreemption.serves = \"reads\"\npreemption.poll = \"0 ns\"\n\
         preemption.at_register = \"none\"\npreemption.fence = \"none\"",
        "preemption.policy = \"points\"\npreemption.serves = \"reads\"\ncompose.gc = [\"gc+host\"]",
        "preemption.policy = \"points\"\ncompose.gc = [\"gc+host\"]",
        "preemption.policy = \"points\"\npreemption.at_register = \"none\"\n\
         compose.gc = [\"gc+host\", \"merge\", \"pipeline\"]",
        "preemption.policy = \"suspend\"\ncommands.suspend.latency = \"20 us\"",
        "preemption.policy = \"suspend\"\npreemption.poll = \"0 ns\"\npreemption.at_hard = \"all\"\n\
         commands.suspend = { latency = \"0 ns\", resume = \"5 us\", limit = 1 }\ncompose.gc = [\"pipeline\"]",
        "preemption.policy = \"suspend\"\npreemption.fence = \"all\"\npreemption.suspends = \"programs\"\n\
         commands.suspend = { latency = \"3 us\", resume = \"70 us\" }\ncompose.gc = [\"gc+host\", \"merge\"]",
        "preemption.policy = \"suspend\"\npreemption.suspends = \"erases\"\npreemption.min_left = \"1 ms\"\n\
         commands.suspend = { latency = \"50 us\", program = false }",
        "preemption.policy = \"deadline\"",
        "preemption.policy = \"deadline\"\npreemption.fence = \"all\"",
        "preemption.policy = \"deadline\"\npreemption.poll = \"2 ms\"\npreemption.read_deadline = \"10 ms\"\n\
         preemption.chunk = 2",
        "preemption.policy = \"deadline\"\npreemption.chunk = 3\npreemption.read_deadline = \"0 ns\"\n\
         preemption.write_deadline = \"1 s\"\ncompose.gc = [\"gc+host\"]",
    ],
    &["", "trigger.hard = 1.0", "trigger.hard = 0.5", "trigger.hard = 0.0"],
    &["", "", "trigger.when = \"waiting\""],
    &["", "", "trigger.collections = \"one\""],
    &["", "", "", "trigger.stagger = 1"],
    &["", "", "trigger.idle.after = \"1 ms\"", "trigger.idle.after = \"0 ns\"\ntrigger.idle.stop = 0.3"],
    &[
        "compose.policy = \"list\"\ncompose.builders = []",
        "compose.policy = \"list\"",
        "compose.policy = \"list\"\ncompose.builders = [\"cache\"]",
        "compose.policy = \"list\"\ncompose.builders = [\"cache\", \"multi-plane\"]",
        "compose.policy = \"list\"\ncompose.builders = [\"multi-plane\", \"cache\"]\ncompose.scan_max = 1",
    ],
    &["", "", "", "", "", "", "", "", "", "", "", "compose.align = \"greedy\""],
    &[
        "admit.policy = \"all\"",
        "admit.policy = \"all\"",
        "admit.policy = \"window\"\nadmit.slots = 1",
        "admit.policy = \"window\"\nadmit.slots = 2",
        "admit.policy = \"window\"\nadmit.slots = 4",
        "admit.policy = \"vanilla\"",
        "admit.policy = \"vanilla\"\nadmit.slots = 1",
        "admit.policy = \"strict\"\nadmit.slots = 2",
        "admit.policy = \"qosfc\"\nadmit.gc = 5.0",
        "admit.policy = \"debit\"\nadmit.slots = 1",
        "admit.policy = \"debit\"\nadmit.shares.policy = \"fixed\"\nadmit.shares.gc = 0\nadmit.shares.wear = 50",
        "admit.policy = \"debit\"\nadmit.slots = 2\nadmit.shares.policy = \"feedback\"\nadmit.shares.gc_p = 3.0\n\
         admit.shares.period = \"50 ms\"",
    ],
    &[
        "order.policy = \"priority\"",
        "order.policy = \"priority\"\norder.first = \"read-write-gc\"",
        "order.policy = \"priority\"\norder.first = \"read-gc-write\"",
        "order.policy = \"priority\"\norder.first = \"read\"",
        "order.policy = \"priority\"\norder.next_collection = \"after-waiting\"",
        "order.policy = \"fifo\"",
    ],
    &["host.mode = \"open\"", "host.mode = \"closed\""],
    &["host.queue_depth = 1", "host.queue_depth = 4", "host.queue_depth = 64"],
    &["", "host.outstanding_max = 1", "host.outstanding_max = 7"],
    &["host.subpage_writes = \"read-modify-write\"", "host.subpage_writes = \"overwrite\""],
    &[
        "precondition.mode = \"empty\"",
        "precondition.mode = \"sequential\"",
        "precondition.mode = \"sequential\"\nprecondition.fill = 0.7",
        "precondition.mode = \"random\"\nprecondition.overwrites = 1.5",
        "precondition.mode = \"random\"\nprecondition.steady = 0.2",
        "precondition.mode = \"random\"\nprecondition.fill = 0.5\nprecondition.overwrites = 0.3",
        "precondition.mode = \"steady-state\"",
        "precondition.mode = \"aged\"",
        "precondition.mode = \"aged\"\nprecondition.used_min = 0.2\nprecondition.used_max = 0.7\nprecondition.valid = 0.5",
        "precondition.mode = \"aged\"\nprecondition.spread = \"by-age\"\nprecondition.seed = 7",
    ],
    &[
        "",
        "",
        "",
        "tasks.delays.mode = \"pipelined\"",
        "tasks.delays.mode = \"serial\"\ntasks.delays.host = [\"1 us\", \"300 us\"]\ntasks.delays.gc = [\"0 ns\", \"2 ms\"]",
    ],
    &[
        "redundancy.policy = \"none\"",
        "",
        "",
        "redundancy.policy = \"rain\"",
        "redundancy.policy = \"rain\"\nredundancy.rebuild = \"never\"",
        "redundancy.policy = \"ttflash\"",
        "redundancy.policy = \"ttflash\"\nredundancy.group = \"plane\"",
    ],
    &[
        "",
        "",
        "",
        "tasks.scrub.start = 30\ntasks.scrub.stop = 10\ntasks.scrub.first_max = 20",
        "tasks.scrub.start = 5\ntasks.scrub.stop = 5\ntasks.scrub.first_max = 0",
    ],
    &[
        "",
        "",
        "",
        "",
        "",
        "",
        "tasks.wear.threshold = 2",
        "tasks.wear.threshold = 4\ntasks.wear.free_order = \"in-turn\"",
    ],
    &["", "", "", "", "", "", "tasks.plugin.name = \"refresh-2ms\"", "tasks.plugin.name = \"refresh-50ms\""],
];

/// A knob and one of its settings, for the count.
pub type Mark = (&'static str, &'static str);

/// What each knob is called.
pub fn names() -> &'static [&'static str] {
    static NAMES: OnceLock<Vec<&str>> = OnceLock::new();
    NAMES.get_or_init(|| KNOBS.iter().map(|settings| name_of(settings)).collect())
}

/// What a knob is called: the key that its first setting sets.
pub fn name_of(settings: &[Setting]) -> &'static str {
    let first = settings.iter().find(|s| s.contains('.')).expect("a knob does something");
    first.split(' ').next().expect("a setting begins with its key")
}

/// Schemes of drives without coordination: the timing oracle starts a collection below `trigger.soft`, and has no last
/// resort. `arrays` has coordinated drives.
pub fn schemes_of_drives() -> Vec<Preset> {
    SCHEMES.iter().copied().filter(|scheme| !scheme.name.starts_with("ggc-")).collect()
}
