//! Does each key of each scheme change a run, or say in a note why it does not?
//!
//! Every key of the tables that a scheme may have is set to other values, on a tiny drive under a few hundred requests.
//! If a run accepts a value, some scenario must give another result, or there must be a note. No scheme and no value is
//! skipped because it resembles another: whether a key has an effect depends on all settings together.

mod tables;

use copyback::config::layers::{Layer, LayerError};
use copyback::config::presets::{Preset, SCHEMES};
use copyback::observe::report::Report;
use copyback::run::config::{AXES, Resolved, RunConfig, Stack};
use copyback::run::{Image, Options, image_key, precondition, simulate_drives};
use copyback_cli::api::{Done, call};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const DEVICE: &str = "
geometry = { channels = 2, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 24,
             pages_per_block = 8, page_size = \"16 KiB\", mapping_unit = \"4 KiB\" }
timing = { read = \"60 us\", program = \"400 us\", erase = \"2.5 ms\", channel = \"800 MB/s\", command = \"200 ns\" }
capacity = { over_provisioning = 1.0 }
precondition = { mode = \"random\" }
";

/// Workloads with settings; each shows the effect of keys that the earlier ones do not.
const SCENARIOS: &[(&str, &[&str])] = &[
    // Many small writes and reads, so that collections and requests meet.
    (
        "size = { kind = \"fixed\", mean = \"4 KiB\" }\nread_share = 0.4\nrequests = 300\n\
         arrivals = { kind = \"poisson\", rate = 4000.0 }\naddresses = { kind = \"zipf\", theta = 1.0 }",
        &["host.outstanding_max=64"],
    ),
    // Whole pages, as many as the drive takes.
    (
        "size = { kind = \"fixed\", mean = \"16 KiB\" }\nread_share = 0.1\nrequests = 400\n\
         addresses = { kind = \"zipf\", theta = 0.8 }",
        &["host.mode=closed", "host.queue_depth=64"],
    ),
    // Several dies on a channel, and reads.
    (
        "size = { kind = \"fixed\", mean = \"16 KiB\" }\nread_share = 0.6\nrequests = 500\n\
         addresses = { kind = \"zipf\", theta = 0.8 }",
        &["host.mode=closed", "host.queue_depth=64", "geometry.dies_per_chip=2"],
    ),
    // Pauses.
    (
        "size = { kind = \"exponential\", mean = \"24 KiB\" }\nread_share = 0.3\nrequests = 400\n\
         arrivals = { kind = \"on-off\", mean_gap = \"12 ms\", burst = \"2 ms\", burst_rate = 6000.0 }",
        &["geometry.planes_per_die=4"],
    ),
    // Two drives, for what they agree on.
    (
        "size = { kind = \"fixed\", mean = \"16 KiB\" }\nread_share = 0.1\nrequests = 800\n\
         addresses = { kind = \"zipf\", theta = 0.8 }",
        &["host.mode=closed", "host.queue_depth=64", "array.level=raid-0", "array.drives=2"],
    ),
];

/// Values of keys that need others beside them, or that no neighbour of the usual value shows.
const VALUES: &[(&str, &[&[&str]])] = &[
    ("allocation.order", &[&["PDWC"], &["DWCP"]]),
    ("compose.builders", &[&["[]"], &["[\"cache\"]"]]),
    ("compose.gc", &[&["[\"gc+host\"]"], &["[\"merge\"]"], &["[\"pipeline\"]"], &["[]"]]),
    ("frontier.fill_limit", &[&["1 ms"], &["3 ms"]]),
    ("frontier.fill_ends", &[&["flash", "frontier.fill_limit=1 ms"], &["dram", "frontier.fill_limit=1 ms"]]),
    ("frontier.fill_pages", &[&["4", "frontier.fill_limit=1 ms"]]),
    ("frontier.fill_awaited", &[&["waits", "frontier.fill_limit=1 ms"]]),
    ("frontier.hot_window", &[&["100"]]),
    ("frontier.hot_updates", &[&["3", "frontier.hot_window=100"]]),
    ("trigger.idle", &[&["{ after = \"100 us\" }"]]),
    ("trigger.idle.after", &[&["100 us"], &["1 s"]]),
    ("trigger.idle.stop", &[&["6"]]),
    ("trigger.hard", &[&["1.0"], &["0.0"]]),
    (
        "trigger.last_resort",
        &[&["5", "trigger.soft=6", "coordination.message_latency=200 ms"], &["5", "trigger.soft=6", "trigger.stop=6"]],
    ),
    ("trigger.report", &[&["9", "trigger.soft=4", "coordination.force_stop=report"], &["9"]]),
    ("coordination.pause_on", &[&["own-request", "array.level=raid-0", "array.drives=2"]]),
    ("trigger.stop", &[&["9"], &["0.2"]]),
    ("trigger.count", &[&["pages"], &["pages", "trigger.scope=die"]]),
    // Victims with many valid units: a collection frees no block, and another follows at once or not.
    (
        "trigger.collections",
        &[
            &["one", "victim.policy=random", "trigger.soft=4", "capacity.over_provisioning=0.5"],
            &["one", "trigger.scope=die"],
            &["one"],
        ],
    ),
    ("admit.shares.gc_i", &[&["0.99"]]),
    ("admit.shares.most", &[&["1.0", "admit.shares.gc_p=40.0"]]),
    ("granularity.copyback", &[&["true", "geometry.mapping_unit=16 KiB"]]),
    ("granularity.gather", &[&["pairs-first", "trigger.soft=5", "capacity.over_provisioning=1.0"]]),
    ("preemption.buffer", &[&["2"]]),
    ("preemption.victims", &[&["1"], &["2"]]),
    ("preemption.fence", &[&["all", "preemption.read_deadline=100 us", "preemption.write_deadline=100 us"], &["all"]]),
    ("compose.scan_max", &[&["1"]]),
    ("compose.gc_scan_max", &[&["1"], &["1", "preemption.serves=all"]]),
];

/// A scheme in a scenario: layers that settings go over.
fn stack(scheme: &Preset, (workload, scenario): (&str, &[&str])) -> Result<Stack, LayerError> {
    let mut stack = Stack::new();
    stack.push(Layer::parse("device", DEVICE)?);
    let mut layer = Layer::parse("scheme", scheme.text)?;
    for key in ["name", "description", "source"] {
        layer.take_text(key)?;
    }
    stack.push(layer);
    stack.push(Layer::parse_table("workload", "workload", workload)?);
    stack.push(Layer::of_sets(&scenario.iter().map(|set| (*set).to_owned()).collect::<Vec<_>>())?);
    Ok(stack)
}

/// The layers of a scheme in each scenario, made once.
struct Stacks(Vec<Stack>);

impl Stacks {
    fn of(scheme: &Preset) -> Self {
        Self(SCENARIOS.iter().map(|scenario| stack(scheme, *scenario).expect("the texts are layers")).collect())
    }

    fn resolved(&self, scenario: usize, sets: &[String]) -> Result<Resolved, LayerError> {
        let mut stack = self.0[scenario].clone();
        stack.push(Layer::of_sets(sets)?);
        stack.resolve()
    }
}

/// A result: the report, and the notes of the run itself.
type Ran = (Report, Vec<String>);

/// Runs, drives that are preconditioned once, and what is known already.
#[derive(Default)]
struct Runner {
    images: BTreeMap<String, Image>,
    /// Configurations that values are compared with, by name; `None` if a configuration is refused.
    bases: BTreeMap<String, Option<Resolved>>,
    /// Results of those.
    known: BTreeMap<String, Option<Ran>>,
    /// Notes of the program on them.
    notes: BTreeMap<String, BTreeSet<String>>,
    /// By key, the scenario and the value that changed a result under an earlier scheme: they are tried first.
    shown: BTreeMap<String, (usize, Vec<String>)>,
}

impl Runner {
    /// The result of a run that many checks share under this name.
    fn known(&mut self, name: String, resolved: &Resolved) -> Option<Ran> {
        if !self.known.contains_key(&name) {
            let ran = self.ran(resolved);
            self.known.insert(name.clone(), ran);
        }
        self.known[&name].clone()
    }

    /// The result of a run; none if it cannot be run.
    fn ran(&mut self, resolved: &Resolved) -> Option<Ran> {
        let run = &resolved.run;
        let members = run.members(1, |_| Ok::<_, ()>(None)).ok()?;
        let mut drives = Vec::new();
        for member in &members {
            let key = format!("{} {}", image_key(&member.config), member.seed);
            if !self.images.contains_key(&key) {
                self.images.insert(key.clone(), precondition(&member.config, member.seed).ok()?);
            }
            drives.push((&member.config, self.images[&key].clone()));
        }
        let source = copyback::workload::open(&resolved.workload, 1, run.addressed_bytes(&members)).ok()?;
        let outcome = simulate_drives(run, drives, source, &Options::default(), &mut |_| {}).ok()?;
        Some((outcome.report, outcome.notes))
    }
}

/// The keys of a table under the policy that a scheme has.
fn keys(stacks: &Stacks, table: &str, config: &toml::Table, room: &[String]) -> BTreeSet<String> {
    fn add(keys: &mut BTreeSet<String>, path: &str, value: &toml::Value) {
        match value {
            toml::Value::Table(table) => {
                table.iter().for_each(|(key, value)| add(keys, &format!("{path}.{key}"), value))
            }
            _ => drop(keys.insert(path.to_owned())),
        }
    }
    let mut keys = BTreeSet::new();
    if let Some(value) = config.get(table) {
        add(&mut keys, table, value);
    }
    // Those that are not printed, as they have their defaults.
    let unknown = [room, &[format!("{table}.zzz=1")]].concat();
    if let Err(error) = stacks.resolved(0, &unknown) {
        let help = error.help.unwrap_or_default();
        let listed = help.split_once("keys: ").map_or("", |(_, listed)| listed);
        keys.extend(listed.split('`').skip(1).step_by(2).map(|key| format!("{table}.{key}")));
    }
    keys.retain(|key| !key.ends_with(".policy"));
    keys
}

/// Other values of a key, each with the settings that it needs.
fn values(stacks: &Stacks, key: &str, now: Option<&toml::Value>, room: &[String]) -> Vec<Vec<String>> {
    if let Some((_, values)) = VALUES.iter().find(|(own, _)| *own == key) {
        let set = |value: &&[&str]| {
            let others = value[1..].iter().map(|other| (*other).to_owned());
            others.chain([format!("{key}={}", value[0])]).collect()
        };
        return values.iter().map(set).collect();
    }
    let one = |value: String| vec![format!("{key}={value}")];
    let time = |text: &str| text.split_once(' ').and_then(|(n, unit)| Some((n.parse::<f64>().ok()?, unit.to_owned())));
    match now {
        Some(toml::Value::Boolean(is)) => return vec![one((!is).to_string())],
        Some(toml::Value::Integer(n)) => return [n + 1, 1, 2 * n + 1].map(|n| one(n.to_string())).to_vec(),
        Some(toml::Value::Float(x)) => return [x / 2.0, x + 0.5, 3.0 * x].map(|x| one(format!("{x:?}"))).to_vec(),
        Some(toml::Value::String(text)) if let Some((n, unit)) = time(text) => {
            return vec![one(format!("{} {unit}", 3.0 * n + 1.0)), one(format!("7 {unit}"))];
        }
        _ => {}
    }
    // A choice among names, which an error lists.
    let unknown = [room, &[format!("{key}=zzz")]].concat();
    let help = stacks.resolved(0, &unknown).err().and_then(|error| error.help).unwrap_or_default();
    match help.split_once("choices: ") {
        Some((_, listed)) => listed.split('`').skip(1).step_by(2).map(|name| one(name.to_owned())).collect(),
        None => ["1", "4", "0.3", "1 ms", "true"].map(|value| one(value.to_owned())).to_vec(),
    }
}

/// Notes of the program on a configuration. They do not depend on preconditioning, which takes long: the drive begins
/// empty if the configuration allows it.
fn plan_notes(scheme: &str, load: &str, sets: &[String]) -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    let [device, workload] =
        ["device.toml", "load.toml"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    std::fs::write(&device, DEVICE).unwrap();
    std::fs::write(&workload, format!("[workload]\n{load}")).unwrap();
    let called = |sets: &[String]| {
        let mut words =
            ["run", "-S", scheme, "-d", &device, "-w", &workload, "--requests", "1"].map(str::to_owned).to_vec();
        words.extend(sets.iter().flat_map(|set| ["--set".to_owned(), set.clone()]));
        call(&words, &Arc::default())
    };
    let empty = [sets, &["precondition.mode=empty".to_owned()]].concat();
    match called(&empty).or_else(|_| called(sets)) {
        Ok(Done::Runs(runs)) => {
            let document: serde_json::Value = serde_json::from_str(&runs.json().unwrap()).unwrap();
            let notes = document["results"][0]["notes"].as_array().expect("a list").clone();
            let texts = notes.iter().map(|note| note.as_str().expect("a text").to_owned());
            // One request reaches no limit of transactions; runs of the scenarios have notes of their own.
            let is_of_one = |note: &String| note.contains("transaction at once") || note.contains("no search looked");
            texts.filter(|note| !is_of_one(note)).collect()
        }
        Ok(_) => panic!("{scheme} with {sets:?} is no run"),
        Err(failure) => BTreeSet::from([failure.message().to_owned()]),
    }
}

/// The notes of a scheme in a scenario.
fn notes(scheme: &Preset, (load, scenario): (&str, &[&str]), sets: &[String]) -> BTreeSet<String> {
    let all: Vec<String> = scenario.iter().map(|set| (*set).to_owned()).chain(sets.iter().cloned()).collect();
    plan_notes(scheme.name, load, &all)
}

/// The result of a key in all scenarios.
enum Found {
    /// It has an effect in the scenario of this number, with these settings.
    Differs(usize, Vec<String>),
    Noted,
    Refused,
    /// With this setting.
    Silent(String),
}

/// Whether a note says that a key has no effect.
fn says_so(notes: &BTreeSet<String>, key: &str) -> bool {
    notes.iter().any(|note| note.contains(&format!("`{key}`")) && note.contains("has no effect"))
}

fn look(runner: &mut Runner, of: (&Preset, &Stacks), key: &str, now: Option<&toml::Value>, room: &[String]) -> Found {
    let values = values(of.1, key, now, room);
    let all = (0..SCENARIOS.len()).flat_map(|at| values.iter().map(move |value| (at, value.clone())));
    let first = runner.shown.get(key).cloned().filter(|(_, value)| values.contains(value));
    let tried: Vec<(usize, Vec<String>)> =
        first.clone().into_iter().chain(all.filter(|tried| Some(tried) != first.as_ref())).collect();
    let mut silent = None;
    for (at, value) in tried {
        match try_value(runner, of, (key, at, &value), room, silent.is_none()) {
            Found::Refused => {}
            Found::Silent(last) => silent = silent.or(Some(last)),
            found => {
                if matches!(found, Found::Differs(..)) {
                    runner.shown.insert(key.to_owned(), (at, value));
                }
                return found;
            }
        }
    }
    silent.map_or(Found::Refused, Found::Silent)
}

/// Tries a value of a key in a scenario, with the settings that it needs; reads notes if `asks`.
fn try_value(
    runner: &mut Runner,
    (scheme, stacks): (&Preset, &Stacks),
    (key, at, value): (&str, usize, &[String]),
    room: &[String],
    asks: bool,
) -> Found {
    let (last, others) = value.split_last().expect("a value");
    let before = [room, others].concat();
    let sets = [&before[..], std::slice::from_ref(last)].concat();
    let Ok(other) = stacks.resolved(at, &sets) else { return Found::Refused };
    let name = |before: &[String]| format!("{} {at} {before:?}", scheme.name);
    // Settings beside it that the scheme does not have are left out.
    let mut base = (before.clone(), None);
    for before in [before, room.to_vec()] {
        let resolved = runner.bases.entry(name(&before)).or_insert_with(|| stacks.resolved(at, &before).ok());
        if let Some(resolved) = resolved {
            base = (before, Some(resolved.clone()));
            break;
        }
    }
    let (before, Some(base)) = base else { return Found::Refused };
    if other.run == base.run {
        return Found::Refused;
    }
    let (Some(first), Some(second)) = (runner.known(name(&before), &base), runner.ran(&other)) else {
        return Found::Refused;
    };
    if first.0 != second.0 {
        return Found::Differs(at, sets);
    }
    let of_run: BTreeSet<String> = second.1.into_iter().filter(|note| !first.1.contains(note)).collect();
    if says_so(&of_run, key) {
        return Found::Noted;
    }
    if asks {
        let usual = runner.notes.entry(name(&before)).or_insert_with(|| notes(scheme, SCENARIOS[at], &before));
        if says_so(&(&notes(scheme, SCENARIOS[at], &sets) - &*usual), key) {
            return Found::Noted;
        }
    }
    Found::Silent(last.clone())
}

/// Settings with which a scheme runs on this tiny drive: the schemes of the papers were made for larger drives.
fn room(scheme: &Preset, stacks: &Stacks) -> Vec<String> {
    let fits = |sets: &[String]| (0..SCENARIOS.len()).all(|scenario| stacks.resolved(scenario, sets).is_ok());
    let wide = stacks.resolved(0, &["capacity.over_provisioning=3.0".to_owned()]);
    let has_buffer = wide.is_ok_and(|resolved| resolved.run.buffer.size_bytes().is_some());
    let buffer = has_buffer.then(|| "buffer.size=512 KiB".to_owned());
    let wider = ["1.0", "2.0", "3.0"].map(|share| format!("capacity.over_provisioning={share}"));
    let all = wider.map(|capacity| buffer.iter().cloned().chain([capacity]).collect::<Vec<_>>());
    all.into_iter().find(|sets| fits(sets)).unwrap_or_else(|| panic!("{} does not fit", scheme.name))
}

/// Lists of builders, for commands of the host and for those of collections.
const BUILDERS: &[&str] = &["[]", "[\"multi-plane\"]", "[\"cache\"]", "[\"multi-plane\", \"cache\"]"];
const GC_BUILDERS: &[&str] = &["[]", "[\"gc+host\"]", "[\"merge\"]", "[\"pipeline\"]", "[\"gc+host\", \"merge\"]"];

/// Keys of `[compose]` under each list of builders, with schemes that collect, place writes and preempt in different
/// ways. A note on `compose.scan_max` is true in each run.
#[test]
fn keys_of_compose_have_an_effect_or_a_note_under_all_builders() {
    let mut runner = Runner::default();
    let (mut silent, mut looked) = (Vec::new(), 0);
    let lists = || BUILDERS.iter().flat_map(|own| GC_BUILDERS.iter().map(move |of_gc| (own, of_gc)));
    for name in ["baseline", "pgc", "gc-par", "spd"] {
        let scheme = SCHEMES.iter().find(|scheme| scheme.name == name).expect("a preset");
        let stacks = Stacks::of(scheme);
        let usual = room(scheme, &stacks);
        for (builders, of_gc) in lists() {
            let lists = [format!("compose.builders={builders}"), format!("compose.gc={of_gc}")];
            let room = [&usual[..], &lists].concat();
            let Ok(base) = stacks.resolved(0, &room) else { continue };
            let config = toml::Table::try_from(&base.run).expect("a configuration is a table");
            for key in
                ["align", "gc_scan", "gc_scan_max", "gc_transfers", "scan_max"].map(|key| format!("compose.{key}"))
            {
                let now = key.split('.').try_fold(toml::Value::Table(config.clone()), |v, name| v.get(name).cloned());
                looked += 1;
                if let Found::Silent(value) = look(&mut runner, (scheme, &stacks), &key, now.as_ref(), &room) {
                    silent.push(format!("{name}, {lists:?}: {value}"));
                }
            }
            let scans = (0..SCENARIOS.len()).flat_map(|at| ["1", "5", "17", "64"].map(|most| (at, most)));
            for (at, most) in scans {
                let limit = format!("compose.scan_max={most}");
                let both = [room.clone(), [&room[..], std::slice::from_ref(&limit)].concat()];
                let [Ok(base), Ok(other)] = both.map(|sets| stacks.resolved(at, &sets)) else { continue };
                let known = runner.known(format!("{name} {at} {room:?}"), &base);
                let (Some(base), Some(other)) = (known, runner.ran(&other)) else { continue };
                let is_noted = other.1.iter().any(|note| note.starts_with("`compose.scan_max` has no effect"));
                if is_noted && base.0 != other.0 {
                    silent.push(format!("{name}, {lists:?}, scenario {at}, {limit}: a note, and another result"));
                }
            }
        }
    }
    assert!(silent.is_empty() && looked >= 160, "{} of {looked} settings:\n{}", silent.len(), silent.join("\n"));
}

#[test]
fn every_key_of_every_scheme_has_an_effect_or_a_note() {
    let mut runner = Runner::default();
    let (mut silent, mut looked, mut noted) = (Vec::new(), 0, BTreeSet::new());
    let mut differ: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for scheme in SCHEMES {
        let stacks = Stacks::of(scheme);
        let room = room(scheme, &stacks);
        let base: RunConfig = stacks.resolved(0, &room).expect("it fits").run;
        let config = toml::Table::try_from(&base).expect("a configuration is a table");
        for axis in AXES {
            for key in keys(&stacks, axis.name, &config, &room) {
                let now = key.split('.').try_fold(toml::Value::Table(config.clone()), |v, name| v.get(name).cloned());
                looked += 1;
                match look(&mut runner, (scheme, &stacks), &key, now.as_ref(), &room) {
                    Found::Silent(value) => silent.push(format!("{}: {value}", scheme.name)),
                    Found::Differs(at, sets) => differ.entry(key).or_default().push((scheme, at, sets)),
                    Found::Noted => drop(noted.insert(key)),
                    Found::Refused => {}
                }
            }
        }
    }
    assert!(
        silent.is_empty(),
        "{} of {looked} settings change nothing, and nothing says so:\n{}",
        silent.len(),
        silent.join("\n")
    );
    // If a note names a key under one scheme, the key must not change a result there.
    for key in &noted {
        for (scheme, at, sets) in differ.get(key).into_iter().flatten() {
            let notes = notes(scheme, SCENARIOS[*at], sets);
            assert!(!says_so(&notes, key), "{}: {sets:?} changes a result, and {notes:?}", scheme.name);
        }
    }
    let all: usize = differ.values().map(Vec::len).sum();
    assert!(looked > 1_000 && all * 2 > looked, "{all} of {looked} settings change a result");
}
