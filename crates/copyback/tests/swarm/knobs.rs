//! Knobs: what a swarm turns. A new policy is one row in [`KNOBS`], a new scheme is found among the presets.
//!
//! A drive is drawn by taking one setting of every knob. Which of them ran, and how often, is counted: a setting that
//! never ran was never asked about.

use crate::support::{self, Setting};
use copyback::config::presets::{Preset, SCHEMES};
use copyback::run::config::RunConfig;
use proptest::prelude::*;
use proptest::sample::select;

/// A drive that is written in rows, and the plainest way to collect one.
const ROW: Setting = "frontier.policy = \"row\"";
const HOT_ROW: Setting = "frontier.policy = \"row\"\nfrontier.hot_window = \"10 ms\"";
const STEADY_STATE: Setting = "precondition.mode = \"steady-state\"";
const SUPERPAGE: Setting = "mapping.policy = \"superpage\"";
/// Log blocks that are merged.
const MERGES: Setting = "mapping.policy = \"fast\"\nmapping.log_share = 0.1";
const MERGES_ONE_LOG: Setting = "mapping.policy = \"fast\"\nmapping.log_share = 1";
const MERGES_RANDOM: Setting = "mapping.policy = \"fast\"\nmapping.log_share = 2\nmapping.sequential_log = false";
/// Pages that gather small writes.
const FILLS: Setting = "frontier.policy = \"single\"\nfrontier.fill_limit = \"1 ms\"";
/// Collections that reserve no die.
const TASKS: Setting = "preemption.policy = \"always\"";
/// What relocates blocks beside collections.
const SCRUB: Setting = "tasks.scrub.start = 30\ntasks.scrub.stop = 10\ntasks.scrub.first_max = 20";
const WEAR: Setting = "tasks.wear.threshold = 2";
const WEAR_IN_TURN: Setting = "tasks.wear.threshold = 4\ntasks.wear.free_order = \"in-turn\"";
/// Parity across channels, and who can tell that a die is at work for another task.
const RAIN: Setting = "redundancy.policy = \"rain\"";
const RAIN_UNUSED: Setting = "redundancy.policy = \"rain\"\nredundancy.rebuild = \"never\"";
const TTFLASH: Setting = "redundancy.policy = \"ttflash\"";
const TTFLASH_BY_PLANE: Setting = "redundancy.policy = \"ttflash\"\nredundancy.group = \"plane\"";
const STATIC: Setting = "allocation.policy = \"static\"";
const DYNAMIC: Setting = "allocation.policy = \"dynamic\"";
const COPYBACK: Setting = "granularity.policy = \"block\"\ngranularity.copyback = true";
const ALIGNED: Setting = "granularity.policy = \"aligned\"";

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
        SUPERPAGE,
        SUPERPAGE,
        "mapping.policy = \"dftl\"",
        "mapping.policy = \"dftl\"\nmapping.cache = \"136 B\"",
        "mapping.policy = \"map-cache\"\nmapping.cache = \"16 KiB\"",
        MERGES_ONE_LOG,
        MERGES_RANDOM,
        MERGES,
    ],
    &["allocation.policy = \"static\"", "allocation.policy = \"dynamic\"", "allocation.policy = \"static-die\""],
    &[
        "frontier.policy = \"single\"",
        "frontier.policy = \"split\"",
        "frontier.policy = \"second-active\"",
        "frontier.policy = \"second-active\"\nfrontier.unpaired = \"same\"",
        "frontier.policy = \"twin\"",
        "frontier.policy = \"single\"\nfrontier.hot_window = \"5 ms\"",
        FILLS,
        "frontier.policy = \"split\"\nfrontier.fill_limit = \"3 ms\"\nfrontier.fill_ends = \"flash\"\nfrontier.fill_awaited = \"waits\"",
        "frontier.policy = \"single\"\nfrontier.fill_limit = \"100 us\"\nfrontier.fill_pages = 2\nfrontier.hot_window = \"5 ms\"",
        "frontier.policy = \"twin\"\nfrontier.hot_window = \"50 ms\"\nfrontier.hot_updates = 2",
        ROW,
        ROW,
        HOT_ROW,
        HOT_ROW,
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
        COPYBACK,
        "granularity.policy = \"twin\"",
        "granularity.policy = \"paired\"",
        "granularity.policy = \"paired\"\ngranularity.partner = \"own-greedy\"",
        ALIGNED,
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
        "preemption.policy = \"none\"\ncompose.gc_scan = \"0 ns\"\ncompose.gc_scan_max = 3\ncompose.gc = [\"gc+host\"]",
        "preemption.policy = \"none\"\ncompose.gc_scan_max = 2\ncompose.gc = [\"merge\"]",
        "preemption.policy = \"ideal\"",
        TASKS,
        TASKS,
        "preemption.policy = \"always\"\npreemption.victims = 3\npreemption.buffer = 5",
        "preemption.policy = \"always\"\npreemption.buffer = 2",
        "preemption.policy = \"points\"",
        "preemption.policy = \"points\"\npreemption.poll = \"0 ns\"\npreemption.at_hard = \"all\"\n\
         compose.gc = [\"pipeline\"]",
        "preemption.policy = \"points\"\npreemption.at_register = \"writes\"\ncompose.gc = [\"merge\"]",
        "preemption.policy = \"points\"\npreemption.at_register = \"all\"\npreemption.poll = \"70 us\"\n\
         compose.gc = [\"merge\", \"pipeline\"]",
        "preemption.policy = \"points\"\npreemption.fence = \"writes\"",
        "preemption.policy = \"points\"\npreemption.fence = \"all\"",
        "preemption.policy = \"points\"\npreemption.serves = \"reads\"\npreemption.poll = \"0 ns\"\n\
         preemption.at_register = \"all\"\npreemption.fence = \"none\"",
        "preemption.policy = \"points\"\npreemption.serves = \"reads\"\ncompose.gc = [\"gc+host\"]",
        "preemption.policy = \"points\"\ncompose.gc = [\"gc+host\"]",
        "preemption.policy = \"points\"\npreemption.at_register = \"all\"\n\
         compose.gc = [\"gc+host\", \"merge\", \"pipeline\"]",
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
        STEADY_STATE,
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
    &["redundancy.policy = \"none\"", "", "", RAIN, RAIN_UNUSED, TTFLASH, TTFLASH_BY_PLANE],
    &["", "", "", SCRUB, "tasks.scrub.start = 5\ntasks.scrub.stop = 5\ntasks.scrub.first_max = 0"],
    &["", "", "", "", "", "", WEAR, WEAR_IN_TURN],
];

/// A knob and one of its settings, for the count.
pub type Mark = (&'static str, &'static str);

/// What a knob is called: the key that its first setting sets.
fn name_of(settings: &[Setting]) -> &'static str {
    let first = settings.iter().find(|s| s.contains('.')).expect("a knob does something");
    first.split(' ').next().expect("a setting begins with its key")
}

/// One setting of every knob.
#[derive(Clone, Debug)]
pub struct Choice {
    settings: Vec<Setting>,
    /// Number of the order of a static allocation.
    order: usize,
    /// Its tables replace what the knobs say about the same axes.
    scheme: Option<Preset>,
    spare_units: u64,
}

/// Schemes of drives that nobody tells when to collect: the timing oracle starts a collection below `trigger.soft`, and
/// knows no last resort. `arrays` has those that somebody does tell.
fn schemes_of_drives() -> Vec<Preset> {
    SCHEMES.iter().copied().filter(|scheme| !scheme.name.starts_with("ggc-")).collect()
}

/// Settings of all knobs, of those that `is_allowed` lets through; the scheme of a preset now and then.
pub fn choice(is_allowed: fn(Setting) -> bool) -> impl Strategy<Value = Choice> {
    let allowed = |settings: &&[Setting]| settings.iter().copied().filter(|&s| is_allowed(s)).collect::<Vec<Setting>>();
    let settings: Vec<_> = KNOBS.iter().map(|settings| select(allowed(settings))).collect();
    let scheme = prop::option::weighted(0.3, select(schemes_of_drives()));
    let spare_units = prop_oneof![2 => Just(0u64), 1 => 0..9u64];
    (settings, 0..24usize, scheme, spare_units).prop_map(|(settings, order, scheme, spare_units)| Choice {
        settings,
        order,
        scheme,
        spare_units,
    })
}

/// Another setting of a knob in the place of one that goes not with how the drive is written: only rows are collected
/// as such, and nothing joins the commands of their collection.
fn fitting(setting: Setting, in_rows: bool) -> Setting {
    match (in_rows, setting) {
        (true, s) if s.starts_with("granularity.policy = ") && !s.starts_with(ALIGNED) => ALIGNED,
        (false, s) if s.starts_with(ALIGNED) => "granularity.policy = \"block\"",
        (false, SUPERPAGE) => "mapping.policy = \"page\"",
        (true, s) if s.contains("compose.gc = ") => "preemption.policy = \"points\"",
        _ => setting,
    }
}

/// The same of one that tells tasks apart where there are none.
fn fitting_no_tasks(setting: Setting) -> Setting {
    let tells_apart = ["vanilla", "strict", "qosfc", "debit"];
    match setting {
        s if tells_apart.iter().any(|name| s.starts_with(&format!("admit.policy = \"{name}\""))) => {
            "admit.policy = \"window\"\nadmit.slots = 4"
        }
        _ => setting,
    }
}

/// The same of one that goes not with log blocks, which leave little to others.
fn fitting_merges(setting: Setting) -> Setting {
    let has = |parts: &[&str]| parts.iter().any(|part| setting.contains(part));
    match setting {
        s if has(&["compose.gc = ", "\"ideal\""]) && s.starts_with("preemption") => "preemption.policy = \"points\"",
        s if has(&["second-active", "\"split\""]) && s.starts_with("frontier") => "frontier.policy = \"single\"",
        HOT_ROW => ROW,
        s if has(&["hot_window"]) && s.starts_with("frontier") => "frontier.policy = \"twin\"",
        _ if has(&["\"global\"", "copyback = true", "\"paired\""]) => "granularity.policy = \"block\"",
        _ if has(&["trigger.idle"]) => "",
        _ if has(&["\"random\"", "\"aged\"", "\"steady-state\""]) && setting.starts_with("precondition") => {
            "precondition.mode = \"sequential\""
        }
        "allocation.policy = \"dynamic\"" => "allocation.policy = \"static\"",
        _ => setting,
    }
}

/// The same of one that goes not with collections that reserve no die.
fn fitting_tasks(setting: Setting) -> Setting {
    let has = |parts: &[&str]| parts.iter().any(|part| setting.contains(part));
    match setting {
        s if has(&["second-active", "\"twin\"", "hot_window", "\"row\""]) && s.starts_with("frontier") => {
            "frontier.policy = \"split\""
        }
        s if s.starts_with("granularity") && s != COPYBACK => "granularity.policy = \"block\"",
        s if s.starts_with("mapping.policy = \"fast\"") => "mapping.policy = \"page\"",
        _ if has(&["trigger.idle", "trigger.when", "trigger.collections"]) => "",
        _ => setting,
    }
}

/// The same of one that goes not with parity, or with collections of parity groups in turn.
fn fitting_parity(setting: Setting, takes_turns: bool) -> Setting {
    match setting {
        s if s.starts_with("admit") && ["\"all\"", "\"window\""].iter().any(|policy| s.contains(policy)) => {
            "admit.policy = \"strict\"\nadmit.slots = 2"
        }
        s if s.starts_with("geometry.channels = 1") => {
            "geometry.channels = 4\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 1"
        }
        s if s.starts_with("frontier") => FILLS,
        s if s.starts_with("allocation") && (takes_turns || s == STATIC) => STATIC,
        s if s.starts_with("allocation") => DYNAMIC,
        s if s.starts_with("buffer") => "buffer.policy = \"none\"",
        s if ["\"aged\"", "\"steady-state\""].iter().any(|mode| s.starts_with("precondition") && s.contains(mode)) => {
            "precondition.mode = \"random\"\nprecondition.overwrites = 1.5"
        }
        s if s.starts_with("capacity") || s.starts_with("# as full") => "capacity.over_provisioning = 3.0",
        _ => setting,
    }
}

impl Choice {
    /// The configuration, the text that it was read from, and what was chosen.
    pub fn configuration(&self) -> (RunConfig, String, Vec<Mark>) {
        let preset = self.scheme.map(|s| s.text.parse::<toml::Table>().expect("a preset is TOML"));
        let preset = preset.unwrap_or_default();
        let is_kept = |setting: &str| setting.split('.').next().is_none_or(|table| !preset.contains_key(table));
        let of_preset = preset.get("preemption").and_then(|table| table.get("policy")?.as_str());
        let are_tasks = match of_preset {
            Some(policy) => policy == "always",
            None => self.settings.iter().any(|setting| setting.starts_with(TASKS)),
        };
        let settings: Vec<Setting> = self
            .settings
            .iter()
            .map(|setting| if are_tasks { fitting_tasks(setting) } else { fitting_no_tasks(setting) })
            .collect();
        let in_rows = [ROW, HOT_ROW].iter().any(|row| settings.contains(row)) && !preset.contains_key("frontier");
        let merges = [MERGES, MERGES_ONE_LOG, MERGES_RANDOM].iter().any(|fast| settings.contains(fast))
            && !preset.contains_key("mapping");
        // Parity goes with tasks only.
        let is_parity = |setting: &Setting| [RAIN, RAIN_UNUSED, TTFLASH, TTFLASH_BY_PLANE].contains(setting);
        let has_parity = preset.contains_key("redundancy") || (are_tasks && settings.iter().any(is_parity));
        let takes_turns = settings.iter().any(|setting| [TTFLASH, TTFLASH_BY_PLANE].contains(setting));
        let settings = settings.into_iter().map(|setting| match setting {
            setting if is_parity(&setting) && !are_tasks => "",
            _ if has_parity => fitting_parity(setting, takes_turns),
            _ => setting,
        });
        let fitting = settings.map(|setting| fitting(setting, in_rows));
        let fitting = fitting.map(|setting| if merges { fitting_merges(setting) } else { setting });
        let chosen: Vec<_> = fitting.zip(KNOBS).filter(|(setting, _)| is_kept(setting)).collect();
        let mut lines: Vec<String> = chosen.iter().map(|(setting, _)| (*setting).to_owned()).collect();
        for (axis, table) in preset.iter().filter_map(|(axis, value)| Some((axis, value.as_table()?))) {
            lines.extend(table.iter().map(|(key, value)| format!("{axis}.{key} = {value}")));
        }
        if lines.iter().any(|line| line == STATIC) {
            // Parity is across channels.
            let order = if has_parity { self.order % 6 } else { self.order };
            lines.push(format!("allocation.order = \"{}\"", allocation_order(order)));
        }
        // A copyback does not leave its plane, as moves do whose pages go anywhere.
        if are_tasks && lines.iter().any(|line| line == DYNAMIC) {
            lines
                .iter_mut()
                .filter(|line| *line == COPYBACK)
                .for_each(|line| *line = "granularity.policy = \"block\"".into());
        }
        // Places of a superpage are valid together.
        if lines.iter().any(|line| line.starts_with(SUPERPAGE)) {
            lines
                .iter_mut()
                .filter(|line| *line == STEADY_STATE)
                .for_each(|line| *line = "precondition.mode = \"random\"\nprecondition.overwrites = 1.5".into());
        }
        let mut marks: Vec<Mark> = chosen.iter().map(|(setting, settings)| (name_of(settings), *setting)).collect();
        if merges {
            lines.retain(|line| !line.starts_with("tasks."));
            marks.retain(|(_, setting)| !setting.starts_with("tasks."));
        }
        let (config, text) = support::configuration(&lines, self.spare_units);
        marks.push(("scheme", self.scheme.map_or("", |s| s.name)));
        (config, text, marks)
    }
}

/// The order of a static allocation: any of the 24.
fn allocation_order(number: usize) -> String {
    let mut letters = vec!['C', 'W', 'D', 'P'];
    let (first, second, third) = (number / 6 % 4, number / 2 % 3, number % 2);
    [letters.remove(first), letters.remove(second), letters.remove(third), letters[0]].iter().collect()
}

/// How often each setting of each knob was in a case that ran.
#[derive(Clone, Default)]
pub struct Coverage {
    rows: Vec<(&'static str, Vec<(&'static str, u64)>)>,
}

impl Coverage {
    /// No case ran yet; `more` are the knobs of other files.
    pub fn new(more: &[(&'static str, &[&'static str])]) -> Self {
        let mut coverage = Self::default();
        let schemes: Vec<&str> = std::iter::once("").chain(schemes_of_drives().iter().map(|s| s.name)).collect();
        let knobs = KNOBS.iter().map(|settings| (name_of(settings), *settings));
        for (knob, settings) in knobs.chain([("scheme", &schemes[..])]).chain(more.iter().copied()) {
            settings.iter().for_each(|setting| *coverage.at((knob, setting)) += 0);
        }
        coverage
    }

    fn at(&mut self, (knob, setting): Mark) -> &mut u64 {
        let row = self.rows.iter().position(|(k, _)| *k == knob).unwrap_or_else(|| {
            self.rows.push((knob, Vec::new()));
            self.rows.len() - 1
        });
        let row = &mut self.rows[row].1;
        let at = row.iter().position(|(s, _)| *s == setting).unwrap_or_else(|| {
            row.push((setting, 0));
            row.len() - 1
        });
        &mut row[at].1
    }

    /// A case ran.
    pub fn add(&mut self, marks: &[Mark]) {
        marks.iter().for_each(|&mark| *self.at(mark) += 1);
    }

    /// Adds what another one counted.
    pub fn merge(&mut self, other: &Self) {
        for (knob, settings) in &other.rows {
            settings.iter().for_each(|&(setting, count)| *self.at((knob, setting)) += count);
        }
    }

    /// Settings that were in no case that ran.
    pub fn never_ran(&self) -> Vec<Mark> {
        let all = self.rows.iter().flat_map(|(knob, settings)| settings.iter().map(move |s| (*knob, *s)));
        all.filter(|(_, (_, count))| *count == 0).map(|(knob, (setting, _))| (knob, setting)).collect()
    }
}

impl std::fmt::Display for Coverage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (knob, settings) in &self.rows {
            let one = |(setting, count): &(&str, u64)| {
                // A setting's keys are those of its knob or stand beside them: the values say which it is.
                let values: Vec<&str> = setting.lines().filter_map(|l| l.split_once(" = ").map(|(_, v)| v)).collect();
                let label = if values.is_empty() { setting.to_string() } else { values.join(" ") };
                format!("{} {count}", if label.is_empty() { "-".to_owned() } else { label })
            };
            writeln!(f, "  {knob}: {}", settings.iter().map(one).collect::<Vec<_>>().join(", "))?;
        }
        Ok(())
    }
}
