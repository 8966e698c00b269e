//! Every array that the configuration allows serves its requests, and its run ends.
//!
//! Up to eight drives, alike or of up to three kinds, are behind a volume or are named by requests. A policy may order
//! their collections, and some drives cannot be coordinated. `checks` has the conditions that hold for every run.

mod checks;

pub use checks::holds;

use crate::draws::{Choice, Demands, choice};
use crate::knobs::Mark;
use crate::runs::{HOSTS, Wish, wish};
use crate::support::Setting;
use copyback::array::coordination::CoordinationConfig;
use copyback::array::{ArrayConfig, Layout, RaidLevel, grain_bytes};
use copyback::config::ShareOrCount;
use copyback::flash::geometry::Geometry;
use copyback::ftl::victim::VictimConfig;
use copyback::host::config::Target;
use copyback::run::config::RunConfig;
use copyback::tasks::gc::trigger::watermark;
use copyback::workload::units::Bytes;
use copyback::workload::{Priority, Request};
use proptest::prelude::*;
use proptest::sample::select;

const UNCOORDINATED: Setting = "policy = \"uncoordinated\"";
const PROACTIVE_IDLE: Setting = "policy = \"ggc-proactive-idle\"";
const SOFT_LIMIT: Setting = "policy = \"ggc-proactive-soft-limit\"";
const NOT_COORDINATED: &[(Setting, &[u32])] = &[("none", &[]), ("first", &[0]), ("some", &[1, 2, 6])];

/// Knobs of an array, in addition to those of its drives, the plainest setting first. A row begins with its name, whose
/// first word is the table or the policy of its settings.
pub const KNOBS: &[(&str, &[Setting])] = &[
    (
        "array.level",
        &[
            "level = \"raid-0\"",
            "level = \"raid-0\"",
            "level = \"raid-1\"",
            "level = \"raid-10\"",
            "level = \"raid-5\"",
            "level = \"raid-5\"",
            "level = \"raid-6\"",
        ],
    ),
    ("array.partial", &["", "", "partial = \"read-modify-write\"", "partial = \"reconstruct\""]),
    ("array.write_after", &["", "write_after = \"own\""]),
    ("array.delay", &["", "", "delay = \"1 us\"", "delay = \"3 ms\""]),
    ("array.gc_aware_reads", &["", "gc_aware_reads = true"]),
    ("array.seeds", &["", "", "seeds = \"same\""]),
    ("array.rebuild", &["", "rebuild = \"1 MB/s\"", "rebuild = \"9 GB/s\""]),
    (
        "coordination.policy",
        &[
            UNCOORDINATED,
            "policy = \"ggc-reactive-inclusive\"",
            "policy = \"ggc-reactive-selective\"",
            PROACTIVE_IDLE,
            PROACTIVE_IDLE,
            SOFT_LIMIT,
        ],
    ),
    ("coordination.scope", &["", "", "scope = \"drive\""]),
    (
        "coordination.message_latency",
        &["", "", "message_latency = \"10 us\"", "message_latency = \"2 ms\"", "message_latency = \"1 s\""],
    ),
    (
        "coordination.force_collections",
        &["", "force_collections = 0", "force_collections = 2", "force_collections = 3"],
    ),
    ("coordination.force_stop", &["", "force_stop = \"report\"", "force_stop = \"reserve\""]),
    ("coordination.force_scope", &["", "", "force_scope = \"drive\""]),
    ("idle.idle_poll", &["", "idle_poll = \"100 us\"", "idle_poll = \"20 ms\""]),
    ("idle.idle_after", &["idle_after = \"0 ns\"", "idle_after = \"1 ms\"", "", "idle_after = \"300 ms\""]),
    ("idle.on_request", &["", "", "on_request = \"finish-collection\""]),
    ("idle.pause_on", &["", "", "pause_on = \"own-request\""]),
    ("idle.idle_stop", &["", "idle_stop = \"own\"", "idle_stop = \"report\""]),
    ("soft-limit.report_every", &["report_every = \"1 ms\"", "", "report_every = \"1 s\""]),
    ("trigger.soft", &["", "3", "4", "0.25"]),
    ("trigger.report", &["", "4", "6", "0.3"]),
    ("trigger.last_resort", &["", "", "0", "1", "3"]),
    ("array.coordinated", &["none", "none", "first", "some"]),
    ("host.target", &["volume", "volume", "volume", "drive"]),
];

/// One setting of every knob of an array, and its drives.
#[derive(Clone, Debug)]
struct Plan {
    settings: Vec<Setting>,
    drives: u32,
    /// The stripe unit, in multiples of the grain that suits the mapping units of all drives; 0 for the default.
    stripe_factor: u64,
    failed: Vec<u32>,
    /// Which of the kinds each drive is.
    kind_of: Vec<u8>,
    kinds: Vec<Choice>,
    seed: u64,
}

impl Plan {
    fn of(&self, knob: &str) -> Setting {
        let at = KNOBS.iter().position(|(name, _)| *name == knob).expect("a knob");
        self.settings[at]
    }

    /// Lines of the knobs of a table.
    fn lines(&self, table: &str) -> String {
        let of_table = KNOBS.iter().zip(&self.settings).filter(|((name, _), setting)| {
            name.strip_prefix(table).is_some_and(|rest| rest.starts_with('.')) && setting.contains(" = ")
        });
        of_table.map(|(_, setting)| format!("{setting}\n")).collect()
    }

    /// As many drives as the level takes, and failures that it survives.
    fn array(&self) -> ArrayConfig {
        let mut array: ArrayConfig = toml::from_str(&self.lines("array")).expect("an array");
        array.drives = match array.level {
            RaidLevel::Raid0 => self.drives,
            RaidLevel::Raid1 => self.drives.max(2),
            RaidLevel::Raid10 => (self.drives / 2 * 2).max(2),
            RaidLevel::Raid5 => self.drives.max(3),
            RaidLevel::Raid6 => self.drives.max(4),
        };
        // Striping alone has no alternative to read from.
        array.gc_aware_reads &= array.level != RaidLevel::Raid0;
        for &drive in &self.failed {
            array.failed.push(drive % array.drives);
            // `rebuild` without a failed drive is an error, and is removed below.
            if (ArrayConfig { rebuild: None, ..array.clone() }).check().is_err() {
                array.failed.pop();
            }
        }
        array.rebuild = array.rebuild.filter(|_| !array.failed.is_empty());
        array
    }

    fn coordination(&self) -> CoordinationConfig {
        let policy = self.of("coordination.policy");
        if policy == UNCOORDINATED {
            return CoordinationConfig::default();
        }
        let mut text = self.lines("coordination");
        match policy {
            PROACTIVE_IDLE => text += &self.lines("idle"),
            SOFT_LIMIT => text += &self.lines("soft-limit"),
            _ => {}
        }
        toml::from_str(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
    }

    /// A kind of drive, with the plan's watermarks.
    fn drive(&self, choice: &Choice) -> (RunConfig, String, Vec<Mark>) {
        let (mut config, text, marks) = choice.configuration();
        let watermark = |knob| match self.of(knob) {
            text if text.contains('.') => text.parse().ok().map(ShareOrCount::Share),
            text => text.parse().ok().map(ShareOrCount::Blocks),
        };
        // A watermark that the drive cannot have is left as it was.
        let mut set = |knob, set: fn(&mut watermark::Params, ShareOrCount)| {
            let Some(value) = watermark(knob) else { return };
            let mut other = config.clone();
            set(other.trigger.watermarks_mut(), value);
            if other.check().is_ok() {
                config = other;
            }
        };
        set("trigger.soft", |params, value| (params.soft, params.stop) = (value, None));
        set("trigger.report", |params, value| params.report = Some(value));
        set("trigger.last_resort", |params, value| params.last_resort = Some(value));
        let params = config.trigger.watermarks();
        let (soft, report, last) = (params.soft, params.report, params.last_resort);
        let text = format!("{text}# soft {soft:?}, report {report:?}, last_resort {last:?}\n");
        (config, text, marks)
    }
}

/// An array, its drives, and the requests of the host. A failure shows its `Debug` form.
#[derive(Clone)]
pub struct Case {
    /// The host, the array and the coordination; the drives are in `drives`.
    pub config: RunConfig,
    pub drives: Vec<RunConfig>,
    pub array: ArrayConfig,
    pub stripe_bytes: u64,
    pub seed: u64,
    pub requests: Vec<Request>,
    pub marks: Vec<Mark>,
    text: String,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 60;
        writeln!(f, "seed {} and the configuration\n{}", self.seed, self.text)?;
        writeln!(f, "{:?}\n{:?}", self.array, self.config.coordination)?;
        for r in self.requests.iter().take(SHOWN) {
            let (op, from, len) = (r.op, r.offset_bytes, r.len_bytes);
            writeln!(f, "{} ns: {op:?} {from} + {len} bytes, device {}", r.arrival_ns, r.device)?;
        }
        writeln!(f, "{} requests in all", self.requests.len())
    }
}

/// Arrays of small drives.
pub fn case() -> impl Strategy<Value = Case> {
    let settings: Vec<_> = KNOBS.iter().map(|(_, settings)| select(*settings)).collect();
    let shape = (1..9u32, select(&[1u64, 0, 2, 4][..]), prop::collection::vec(0..8u32, 0..3));
    // Most arrays are of one kind.
    let kind_of = prop_oneof![1 => Just(vec![0u8; 8]), 1 => prop::collection::vec(0..3u8, 8)];
    let any = choice(Demands { is_allowed: is_quick, obstacle });
    let coordinated = choice(Demands { is_allowed: is_quick, obstacle: obstacle_to_coordination });
    let first = prop_oneof![3 => coordinated, 1 => any.clone()];
    let kinds = (first, prop::collection::vec(any, 0..3)).prop_map(|(first, mut kinds)| {
        kinds.insert(0, first);
        kinds
    });
    let plan = (settings, shape, kind_of, kinds, 0..4u64).prop_map(
        |(settings, (drives, stripe_factor, failed), kind_of, kinds, seed)| Plan {
            settings,
            drives,
            stripe_factor,
            failed,
            kind_of,
            kinds,
            seed,
        },
    );
    let host = prop_oneof![1 => Just(HOSTS[0]), 2 => select(HOSTS)];
    let workload = prop::collection::vec(wish(), 1..400);
    (plan, workload, host).prop_map(|(plan, wishes, host)| assembled(&plan, &wishes, host))
}

/// Settings with which a run of many drives takes milliseconds, and which say nothing of parity inside a drive.
fn is_quick(setting: Setting) -> bool {
    let slow = ["\"1 s\"", "2 KB/s", "1 MB/s", "redundancy", "blocks_per_plane = 40", "scrub.start = 5", "\"136 B\""];
    slow.iter().all(|slow| !setting.contains(slow))
}

/// The reason why a drive cannot be in an array, if its settings have one. Arrays exclude states in which single drives
/// are known to stop. A map in rows costs a row for each of its pages, which may use all that a collection frees.
/// A victim policy with a window of few blocks (`windowed-greedy`) may miss all invalid data, if no die is reserved. A
/// drive with parity of its own waits for space in the end.
fn obstacle(config: &RunConfig) -> Option<&'static str> {
    let has_window = matches!(config.victim, VictimConfig::WindowedGreedy(_));
    let obstacles = [
        (config.mapping.cache().is_some() && config.frontier.is_in_rows(), "mapping.policy frontier.policy"),
        (has_window && config.preemption.as_task().is_some(), "victim.policy"),
        (config.redundancy.has_parity(), "redundancy.policy"),
    ];
    obstacles.into_iter().find(|(is_one, _)| *is_one).map(|(_, keys)| keys)
}

/// The reason why a drive cannot be coordinated, if its settings have one.
fn obstacle_to_coordination(config: &RunConfig) -> Option<&'static str> {
    let obstacles = [
        (config.preemption.is_timeless() || config.preemption.as_task().is_some(), "preemption.policy"),
        (config.mapping.log_blocks().is_some(), "mapping.policy"),
        (config.trigger.watermarks().idle.is_some(), "trigger.idle"),
        (config.trigger.watermarks().stagger > 0, "trigger.stagger"),
    ];
    obstacle(config).or_else(|| obstacles.into_iter().find(|(is_one, _)| *is_one).map(|(_, keys)| keys))
}

/// Whether a drive can be coordinated.
fn can_be_coordinated(config: &RunConfig, coordination: &CoordinationConfig) -> bool {
    let alone = RunConfig { coordination: coordination.clone(), ..config.clone() };
    alone.check().is_ok()
}

fn assembled(plan: &Plan, wishes: &[Wish], host: &'static str) -> Case {
    let (mut array, mut coordination) = (plan.array(), plan.coordination());
    let kinds: Vec<_> = plan.kinds.iter().map(|kind| plan.drive(kind)).collect();
    let of_drive = |drive: u32| &kinds[usize::from(plan.kind_of[drive as usize]) % kinds.len()];
    let drives: Vec<RunConfig> = (0..array.drives).map(|drive| of_drive(drive).0.clone()).collect();
    let grain = grain_bytes(drives.iter().map(|drive| drive.geometry.unit_bytes()));
    array.stripe_unit = (plan.stripe_factor > 0).then_some(Bytes(grain * plan.stripe_factor));
    // A drive holds a stripe unit at least.
    let least_bytes = drives.iter().map(|drive| Geometry::new(&drive.device()).logical_bytes()).min();
    if least_bytes.is_some_and(|bytes| bytes < array.stripe_unit_bytes(grain)) {
        array.stripe_unit = Some(Bytes(grain));
    }
    let stripe_bytes = array.stripe_unit_bytes(grain);
    let named = NOT_COORDINATED.iter().find(|(name, _)| *name == plan.of("array.coordinated"));
    let named = named.expect("it is one of them").1;
    let is_coordinated =
        |drive: u32| !named.contains(&drive) && can_be_coordinated(&drives[drive as usize], &coordination);
    let excluded: Vec<u32> = (0..array.drives).filter(|&drive| !is_coordinated(drive)).collect();
    let first_coordinated = (0..array.drives).find(|&drive| is_coordinated(drive));
    if !excluded.is_empty() {
        let text = format!("drives = {excluded:?}\ncoordinated = false");
        array.overrides.push(toml::from_str(&text).expect("an override"));
    }
    // The run has the configuration of the first coordinated drive; if there is none, nothing is coordinated.
    let mut config = drives[first_coordinated.unwrap_or(0) as usize].clone();
    if first_coordinated.is_none() {
        coordination = CoordinationConfig::default();
    }
    config.coordination = coordination;
    if plan.of("host.target") == "drive" && array.level == RaidLevel::Raid0 {
        config.host.target = Target::Drive;
    }
    config.array = Some(array.clone());
    let requests = requests(&config, &drives, stripe_bytes, wishes, host);
    let settings = KNOBS.iter().zip(&plan.settings).map(|(&(name, _), &setting)| (name, setting));
    let reads_aside = array.level != RaidLevel::Raid0;
    let is_used = |mark: &Mark| match mark.0 {
        "array.gc_aware_reads" => reads_aside,
        knob => first_coordinated.is_some() || !knob.starts_with("coordination."),
    };
    let mut marks: Vec<Mark> = settings.filter(is_used).collect();
    marks.push(("host", host));
    let kinds_used: Vec<u32> = (0..array.drives).map(|d| u32::from(plan.kind_of[d as usize])).collect();
    let texts: String = kinds.iter().enumerate().map(|(at, (_, text, _))| format!("-- kind {at}\n{text}")).collect();
    let text = format!("{texts}-- kinds of drives (modulo {}): {kinds_used:?}", kinds.len());
    Case { config, drives, array, stripe_bytes, seed: plan.seed, requests, marks, text }
}

/// What the wishes become on the volume, or on the drives.
fn requests(
    config: &RunConfig,
    drives: &[RunConfig],
    stripe_bytes: u64,
    wishes: &[Wish],
    host: &'static str,
) -> Vec<Request> {
    let of_drives: Vec<u64> = drives.iter().map(|drive| Geometry::new(&drive.device()).logical_bytes()).collect();
    let least = *of_drives.iter().min().expect("there are drives");
    let array = config.array.as_ref().expect("there is an array");
    let volume = Layout::new(array.level, array.drives, stripe_bytes, least).capacity_bytes();
    let grain = drives[0].geometry.unit_bytes();
    // A policy that polls never stops polling: pauses of hours would take too many events.
    let polls =
        matches!(config.coordination, CoordinationConfig::ProactiveIdle(_) | CoordinationConfig::ProactiveSoftLimit(_));
    let pause_max_ns = if polls { 300_000_000 } else { u64::MAX };
    let mut arrival_ns = 0;
    let request = |(number, wish): (usize, &Wish)| {
        let wish = wish.of_host(host, number, wishes.len());
        arrival_ns += wish.gap_ns.min(pause_max_ns);
        let device = (wish.place % 1_009) % array.drives;
        let (device, capacity) = match config.host.target {
            Target::Drive => (device, of_drives[device as usize]),
            Target::Volume => (0, volume),
        };
        Request { device, ..in_bytes(&wish, capacity, [grain, stripe_bytes], arrival_ns) }
    };
    wishes.iter().enumerate().map(request).collect()
}

/// A wish in bytes; some requests are empty.
fn in_bytes(wish: &Wish, capacity: u64, [unit, stripe_unit]: [u64; 2], arrival_ns: u64) -> Request {
    let lengths = [
        unit,
        stripe_unit,
        512,
        1,
        unit + 1,
        2 * stripe_unit,
        stripe_unit + unit,
        3 * stripe_unit,
        0,
        7 * stripe_unit,
        20 * stripe_unit,
        unit / 2,
    ];
    let granularity = [unit, stripe_unit, 512, 1][usize::from(wish.alignment)];
    let len_bytes = lengths[usize::from(wish.length)].min(capacity);
    let place = if wish.hot { wish.place / 16 } else { wish.place };
    let offset = (u128::from(place) * u128::from((capacity - len_bytes) / granularity + 1)) >> 32;
    Request {
        arrival_ns,
        offset_bytes: offset as u64 * granularity,
        len_bytes,
        device: 0,
        op: wish.op,
        priority: if wish.high_priority { Priority::High } else { Priority::Normal },
    }
}
