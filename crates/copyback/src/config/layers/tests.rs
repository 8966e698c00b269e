//! Every rule of the layers, and every mistake with its place.

use super::*;
use crate::flash::geometry::Geometry;
use crate::host::config::HostConfig;
use crate::run::config::RunConfig;
use crate::run::precondition::PreconditionConfig;

type Stack = super::Stack<RunConfig>;
type Resolved = super::Resolved<RunConfig>;

const DEVICE: &str = r#"
[geometry]
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 16
page_size = "4 KiB"

[timing]
read = "50 us"
program = "500 us"
erase = "3 ms"
channel = "400 MB/s"

[capacity]
over_provisioning = 0.25
"#;

pub(super) const WORKLOAD: &str = r#"
[workload]
name = "generated"
requests = 100
read_share = 0.5
read_size = { kind = "fixed", mean = "4 KiB" }
write_size = { kind = "exponential", mean = "8 KiB" }
"#;

pub(super) fn stack(over: &[&str]) -> Stack {
    let mut stack = Stack::new();
    for (i, text) in [DEVICE, WORKLOAD].iter().chain(over).enumerate() {
        stack.push(Layer::parse(format!("layer{i}.toml"), *text).unwrap());
    }
    stack
}

pub(super) fn with(over: &[&str]) -> Resolved {
    stack(over).resolve().unwrap()
}

fn with_sets(sets: &[&str]) -> Result<Resolved, LayerError> {
    let mut stack = stack(&[]);
    stack.push(Layer::of_sets(&sets.iter().map(|s| (*s).to_string()).collect::<Vec<_>>())?);
    stack.resolve()
}

/// The error of a layer on top: its message, its help, and the text that it points at.
fn error(text: &str) -> (String, String, String) {
    let error = stack(&[text]).resolve().unwrap_err();
    shown(error)
}

fn shown(error: LayerError) -> (String, String, String) {
    let at = error.place.map(|p| format!("{}: {}", p.text.name, &p.text.text[p.span])).unwrap_or_default();
    (error.message, error.help.unwrap_or_default(), at)
}

fn value(resolved: &Resolved, path: &str) -> Option<toml::Value> {
    let table = toml::Value::Table(resolved.to_toml().parse().unwrap());
    path.split('.').try_fold(table, |value, key| value.get(key).cloned())
}

/// A map's cache size, or its share of log blocks, stays if a scheme chooses another policy that uses it.
#[test]
fn a_scheme_that_chooses_how_the_map_is_cached_finds_the_size() {
    let device = "[mapping]\npolicy = \"map-cache\"\ncache = \"2 MiB\"";
    let resolved = with(&[device, "[mapping]\npolicy = \"dftl\""]);
    assert_eq!(value(&resolved, "mapping.cache").unwrap().as_str(), Some("2 MiB"));
    let of_size = with(&["[mapping]\ncache = \"2 MiB\"", "[mapping]\npolicy = \"dftl\""]);
    assert_eq!(value(&of_size, "mapping.cache").unwrap().as_str(), Some("2 MiB"));
    assert_eq!(value(&with(&[device, "[mapping]\npolicy = \"page\""]), "mapping.cache"), None);
    let filled = "[precondition]\nmode = \"sequential\"";
    let of_log = with(&[filled, "[mapping]\nlog_share = 7", "[mapping]\npolicy = \"fast\""]);
    assert_eq!(value(&of_log, "mapping.log_share").unwrap().as_integer(), Some(7));
}

/// A scheme that chooses another buffer keeps the device's size; a scheme without a buffer drops it.
#[test]
fn another_policy_keeps_what_the_drive_has() {
    let device = "[buffer]\npolicy = \"lru\"\nsize = \"2 MiB\"\nlatency = \"3 us\"";
    let resolved = with(&[device, "[buffer]\npolicy = \"die-lists\""]);
    assert_eq!(value(&resolved, "buffer.size").unwrap().as_str(), Some("2 MiB"));
    assert_eq!(value(&resolved, "buffer.latency").unwrap().as_str(), Some("3 us"));
    let of_size = with(&["[buffer]\nsize = \"2 MiB\"", "[buffer]\npolicy = \"die-lists\""]);
    assert_eq!(value(&of_size, "buffer.size").unwrap().as_str(), Some("2 MiB"));
    let without = with(&[device, "[buffer]\npolicy = \"none\""]);
    assert_eq!(value(&without, "buffer.size"), None);
    let again = with(&[device, "[buffer]\npolicy = \"none\"", "[buffer]\npolicy = \"die-lists\""]);
    assert_eq!(value(&again, "buffer.size").unwrap().as_str(), Some("1 MiB"), "the default");
}

#[test]
fn a_later_layer_replaces_a_key_and_keeps_its_neighbours() {
    let resolved = with(&["[host]\nqueue_depth = 4", "[host]\nmode = \"closed\""]);
    assert_eq!(resolved.run.host.queue_depth, 4);
    assert_eq!(resolved.run.host.outstanding_max, HostConfig::default().outstanding_max);
    assert_eq!(value(&resolved, "host.mode").unwrap().as_str(), Some("closed"));
}

#[test]
fn a_parameter_needs_no_policy() {
    let resolved = with(&["[trigger]\nsoft = 0.1"]);
    assert_eq!(value(&resolved, "trigger.soft").unwrap().as_float(), Some(0.1));
    assert_eq!(value(&resolved, "trigger.policy").unwrap().as_str(), Some("watermark"));
}

#[test]
fn another_policy_drops_the_parameters_of_the_one_before() {
    let resolved = with(&["[victim]\ntie_blocks = 3", "[victim]\npolicy = \"d-choices\""]);
    assert_eq!(value(&resolved, "victim.d").unwrap().as_integer(), Some(10));
    assert_eq!(value(&resolved, "victim.tie_blocks"), None);
    // The same policy again keeps them.
    let resolved = with(&["[victim]\ntie_blocks = 3", "[victim]\npolicy = \"greedy\""]);
    assert_eq!(value(&resolved, "victim.tie_blocks").unwrap().as_integer(), Some(3));
}

#[test]
fn another_preconditioning_drops_the_parameters_of_the_one_before() {
    let resolved = with(&["[precondition]\nsteady = 0.1", "[precondition]\nmode = \"sequential\""]);
    assert_eq!(resolved.run.precondition, PreconditionConfig::Sequential { fill: 1.0 });
}

#[test]
fn a_mapped_footprint_is_what_preconditioning_writes() {
    let share =
        |preconditioning: &str| match with(&[preconditioning, "[workload]\nfootprint = \"mapped\""]).workload.footprint
        {
            Some(Footprint::Share(share)) => share,
            other => panic!("{other:?}"),
        };
    assert_eq!(share("[precondition]\nmode = \"sequential\"\nfill = 0.7"), 0.7);
    assert_eq!(share("[precondition]\nmode = \"snia\""), 1.0);
    // At least 45 % of a plane's pages are valid (half of 90 %). The share may be lower by two blocks at most.
    let aged = "[precondition]\nmode = \"aged\"\nused_min = 0.9\nused_max = 0.92\nvalid = 0.5";
    let geometry = Geometry::new(&with(&[aged]).run.device());
    let physical_bytes = f64::from(geometry.physical_units) * f64::from(geometry.unit_bytes);
    let whole = 0.45 * physical_bytes / geometry.logical_bytes() as f64;
    let block = physical_bytes / f64::from(geometry.blocks_per_plane) / geometry.logical_bytes() as f64;
    assert!((whole - 2.0 * block..whole).contains(&share(aged)), "{} of {whole}", share(aged));
    // The scheme does not change it.
    assert_eq!(share(&format!("{aged}\n[frontier]\npolicy = \"split\"")), share(aged));
}

#[test]
fn capacity_is_replaced_whole() {
    let resolved = with(&["[capacity]\nreserved = 0.3"]);
    assert_eq!(resolved.run.capacity.over_provisioning, None);
    assert_eq!(resolved.run.capacity.reserved, Some(0.3));
}

#[test]
fn a_trace_replaces_a_generator_and_back() {
    let trace = "[workload]\ntrace = \"a.csv\"\nskip_bad = 2";
    let resolved = with(&[trace]);
    assert_eq!(resolved.workload.requests, None);
    assert_eq!(resolved.workload.name, None);
    assert_eq!(resolved.workload.skip_bad, Some(2));
    let back = with(&[trace, &WORKLOAD.replace("generated", "again")]);
    assert_eq!(back.workload.trace, None);
    assert_eq!(back.workload.skip_bad, None);
    assert_eq!(back.workload.name.as_deref(), Some("again"));
    // A transformation is neither, and stays.
    assert_eq!(with(&["[workload]\ntime_scale = 0.5", trace]).workload.time_scale, Some(0.5));
}

#[test]
fn one_size_for_all_replaces_sizes_of_each() {
    let resolved = with(&["[workload]\nsize = { kind = \"fixed\", mean = \"64 KiB\" }"]);
    assert!(resolved.workload.read_size.is_none() && resolved.workload.write_size.is_none());
}

#[test]
fn reads_by_a_share_and_reads_by_arrivals_take_each_others_place() {
    let apart = "[workload]\narrivals = { kind = \"fixed\", rate = 5 }\nread_arrivals = { kind = \"fixed\", rate = 5 }";
    let resolved = with(&[apart]);
    assert!(resolved.workload.read_share.is_none() && resolved.workload.read_arrivals.is_some());
    let resolved = with(&[apart, "[workload]\nread_arrivals = { rate = 7 }"]);
    assert_eq!(resolved.workload.read_arrivals.unwrap().rate, Some(7.0));
    let resolved = with(&[apart, "[workload]\nread_share = 0.4"]);
    assert!(resolved.workload.read_share == Some(0.4) && resolved.workload.read_arrivals.is_none());
    let (message, help, at) = error(&format!("{apart}\nread_share = 0.4"));
    assert!(message.starts_with("`workload.read_share`: the rates of `read_arrivals` and `arrivals`"), "{message}");
    assert_eq!((help.as_str(), at.as_str()), ("remove it, or `read_arrivals`", "layer2.toml: 0.4"));
    // A generator of its own inherits nothing of the one below.
    let own = "[workload]\nrequests = 5\nsize = { kind = \"fixed\", mean = \"4 KiB\" }\narrivals = { kind = \"fixed\", rate = 5 }";
    let own = format!("{own}\nread_arrivals = {{ kind = \"fixed\", rate = 5 }}");
    assert_eq!(with(&["[workload]\ntrim_share = 0.1", &own]).workload.trim_share, None);
}

#[test]
fn a_layer_that_changes_figures_of_a_generator_keeps_the_rest_of_it() {
    let figures = "[workload]\nrequests = 7\nread_share = 0.4\nwrite_size = { mean = \"64 KiB\" }";
    let workload = with(&["[workload]\nfootprint = 0.5", figures]).workload;
    assert_eq!((workload.requests, workload.read_share), (Some(7), Some(0.4)));
    assert!(workload.footprint.is_some() && workload.name.as_deref() == Some("generated"));
}

#[test]
fn another_kind_of_size_drops_what_belonged_to_the_one_before() {
    let mix = "[workload.read_size]\nkind = \"mix\"\nmix = [{ size = \"4 KiB\", weight = 1 }]";
    assert_eq!(with(&[mix]).workload.read_size.unwrap().mean, None);
}

#[test]
fn sets_take_values_with_and_without_quotes() {
    for time in ["timing.read=75us", "timing.read=\"75 us\"", "timing.read = 75 us"] {
        let resolved = with_sets(&[time]).unwrap();
        assert_eq!(value(&resolved, "timing.read").unwrap().as_str(), Some("75 us"), "{time}");
    }
    let resolved = with_sets(&["granularity.destination=global", "trigger.soft=0.1", "trigger.soft=0.05"]).unwrap();
    assert_eq!(value(&resolved, "granularity.destination").unwrap().as_str(), Some("global"));
    assert_eq!(value(&resolved, "trigger.soft").unwrap().as_float(), Some(0.05));
    let resolved = with_sets(&["compose.builders=[]", "workload.read_size.mean=8 KiB"]).unwrap();
    assert_eq!(value(&resolved, "compose.builders").unwrap().as_array().unwrap().len(), 0);
    assert_eq!(value(&resolved, "workload.read_size.mean").unwrap().as_str(), Some("8 KiB"));
}

#[test]
fn a_parameter_set_before_its_policy_is_kept() {
    let resolved = with_sets(&["victim.d=4", "victim.policy=d-choices"]).unwrap();
    assert_eq!(value(&resolved, "victim.d").unwrap().as_integer(), Some(4));
}

#[test]
fn sets_that_set_nothing_are_refused() {
    let (message, help, at) = shown(with_sets(&["device=small"]).unwrap_err());
    assert_eq!(message, "`device` does not name a key of a table");
    assert_eq!((help.as_str(), at.as_str()), ("use `--device`", "--set: device"));
    assert!(shown(with_sets(&["trigger.soft"]).unwrap_err()).0.contains("sets nothing"));
    assert!(shown(with_sets(&["trigger.soft="]).unwrap_err()).0.contains("no TOML value"));
    assert!(shown(with_sets(&["compose.builders=[x"]).unwrap_err()).0.contains("no TOML value"));
}

#[test]
fn a_set_of_several_keys_is_refused() {
    let (message, _, at) = shown(with_sets(&["trigger.soft=0.1\nstop = 0.2"]).unwrap_err());
    assert!(message.contains("sets one key"), "{message}");
    assert_eq!(at, "--set: 0.1\nstop = 0.2");
    // A value may have several lines.
    assert!(with_sets(&["compose.builders=[\n]"]).is_ok());
}

#[test]
fn a_set_of_a_key_without_end_is_refused() {
    let key = vec!["a"; 100_000].join(".");
    let (message, help, at) = shown(with_sets(&[&format!("{key}=1")]).unwrap_err());
    assert_eq!(message, "a key of 100000 names does not exist");
    assert!(help.contains("workload.size.mean"), "{help}");
    assert!(at.starts_with("--set: a.a"));
}

#[test]
fn what_is_resolved_reads_back_the_same() {
    let resolved =
        with(&["[victim]\npolicy = \"d-choices\"\n[buffer]\npolicy = \"lru\"\n[trigger]\nstop = 9\nsoft = 5"]);
    let mut again = Stack::new();
    again.push(Layer::parse("resolved.toml", resolved.to_toml()).unwrap());
    assert_eq!(again.resolve().unwrap(), resolved);
}

#[test]
fn unknown_keys_point_at_the_key() {
    let (message, help, at) = error("[geometry]\nblock_per_plane = 9");
    assert_eq!(message, "unknown key `block_per_plane` in `[geometry]`");
    assert!(help.starts_with("did you mean `blocks_per_plane`?"), "{help}");
    assert_eq!(at, "layer2.toml: block_per_plane");
    let (message, help, at) = error("[trigger]\nsofft = 0.1");
    assert_eq!(message, "unknown key `sofft` in `[trigger]`");
    assert!(help.starts_with("did you mean `soft`? keys: `policy`, "), "{help}");
    assert_eq!(at, "layer2.toml: sofft");
    let (message, _, at) = error("[workload.read_size]\nkind = \"fixed\"\nmaen = \"4 KiB\"");
    assert_eq!(message, "unknown key `maen` in `[workload.read_size]`");
    assert_eq!(at, "layer2.toml: maen");
    let (message, help, at) = error("[triger]\nsoft = 0.1");
    assert_eq!(message, "unknown table or key `triger`");
    assert!(help.starts_with("did you mean `trigger`?"), "{help}");
    assert_eq!(at, "layer2.toml: triger");
}

#[test]
fn a_parameter_of_another_policy_is_unknown() {
    let (message, help, at) = error("[victim]\nd = 3");
    assert_eq!(message, "unknown key `d` in `[victim]`, whose `policy` is \"greedy\"");
    assert!(
        help.starts_with("remove it, or set `victim.policy` to a choice that has this key: \"d-choices\";"),
        "{help}"
    );
    assert!(help.contains("`tie_blocks`"), "{help}");
    assert_eq!(at, "layer2.toml: d");
}

#[test]
fn unknown_policies_point_at_the_policy() {
    let (message, help, at) = error("[victim]\npolicy = \"gredy\"");
    assert_eq!(message, "`victim.policy` cannot be `gredy`");
    assert!(help.starts_with("did you mean `greedy`?"), "{help}");
    assert_eq!(at, "layer2.toml: \"gredy\"");
    let (message, _, at) = error("[precondition]\nmode = \"full\"");
    assert_eq!(message, "`precondition.mode` cannot be `full`");
    assert_eq!(at, "layer2.toml: \"full\"");
    let (_, help, at) = error("[granularity]\ndestination = \"globall\"");
    assert!(help.starts_with("did you mean `global`?"), "{help}");
    assert_eq!(at, "layer2.toml: \"globall\"");
}

#[test]
fn wrong_types_and_units_point_at_the_value() {
    for (text, says, place) in [
        ("[geometry]\nchannels = \"four\"", "`geometry.channels`: invalid type: string \"four\"", "\"four\""),
        ("[geometry]\nchannels = -4", "`geometry.channels`: invalid value", "-4"),
        ("[timing]\nread = \"75 parsecs\"", "unknown unit `parsecs`", "\"75 parsecs\""),
        ("[timing]\nprogram = [\"1 ms\", \"2\"]", "needs a unit", "\"2\""),
        ("[timing]\nchannel = \"333\"", "has no unit", "\"333\""),
        ("[timing]\nerase = 3", "needs a unit", "3"),
        ("[trigger]\nsoft = \"low\"", "\"low\" is neither a share nor a number of blocks", "\"low\""),
        ("[buffer]\npolicy = \"lru\"\nsize = \"4 KB/s\"", "unknown unit", "\"4 KB/s\""),
        ("[precondition]\nfill = \"all\"", "`precondition.fill`: invalid type", "\"all\""),
        ("[array]\nlevel = 5", "`array.level`: 5 is not the name of a choice", "5"),
        ("[workload]\ntime_scale = \"fast\"", "`workload.time_scale`: invalid type", "\"fast\""),
        ("[compose]\nbuilders = [\"multi-plane\", \"cach\"]", "`compose.builders` cannot be `cach`", ""),
    ] {
        let (message, _, at) = error(text);
        assert!(message.contains(says), "{text}: {message}");
        assert!(at.starts_with("layer2.toml: ") && at.ends_with(place), "{text}: {at}");
    }
}

#[test]
fn values_without_sense_point_at_the_layer_that_set_them_last() {
    let (message, help, at) = error("[geometry]\nchannels = 0");
    assert_eq!(message, "`geometry.channels`: 0 is not possible");
    assert_eq!(help, "use a number from 1 to 256");
    assert_eq!(at, "layer2.toml: 0");
    let (message, _, at) = error("[trigger]\nsoft = 0.1\nstop = 0.05");
    assert!(message.contains("below the"), "{message}");
    assert_eq!(at, "layer2.toml: 0.05");
    let (message, _, at) = error("[workload]\nread_share = 50");
    assert!(message.starts_with("`workload.read_share`: 50"), "{message}");
    assert_eq!(at, "layer2.toml: 50");
    let (_, _, at) = shown(with_sets(&["trigger.soft=2.5"]).unwrap_err());
    assert_eq!(at, "--set: 2.5");
    // The error names the table if no single key is at fault.
    let (_, _, at) = error("[trigger]\nsoft = 0.6");
    assert_eq!(at, "layer0.toml: capacity");
}

#[test]
fn a_value_in_place_of_a_table_is_refused() {
    let mut stack = Stack::new();
    stack.push(Layer::parse("x.toml", "trigger = 5").unwrap());
    let (message, _, at) = shown(stack.resolve().unwrap_err());
    assert_eq!(message, "`trigger` is a table, not a value");
    assert_eq!(at, "x.toml: 5");
    let (message, help, at) = error("[trigger]\nidle = \"10 ms\"");
    assert_eq!((message.as_str(), at.as_str()), ("`trigger.idle` is a table, not a value", "layer2.toml: \"10 ms\""));
    assert_eq!(help, "write for example trigger.idle = { after = \"10 ms\" }");
    let (message, help, _) = error("[workload]\nread_size = \"4 KiB\"");
    assert_eq!(message, "`workload.read_size` is a table, not a value");
    assert!(help.starts_with("write [workload.read_size] and its keys below"), "{help}");
}

#[test]
fn a_watermark_of_all_blocks_is_refused_with_how_many_there_are() {
    for (text, says) in [
        ("soft = 200", "200 blocks is no possible watermark of free blocks: a plane has 64 blocks in all"),
        ("soft = 0.999", "a share of 0.999 is no possible watermark of free blocks: a plane has 64 blocks in all"),
        (
            "scope = \"die\"\nstop = 128",
            "128 blocks is no possible watermark of free blocks: a die has 128 blocks in all",
        ),
    ] {
        let (message, help, _) = error(&format!("[trigger]\n{text}"));
        assert!(message.ends_with(says), "{text}: {message}");
        assert!(help.contains("fewer than the "), "{help}");
    }
}

#[test]
fn text_that_is_no_toml_points_at_the_character() {
    let error = Layer::parse("x.toml", "[trigger]\nsoft = = 3").unwrap_err();
    assert!(error.message.starts_with("this is not TOML"), "{}", error.message);
    assert!(error.place.unwrap().span.start >= 10);
}

#[test]
fn without_a_device_the_missing_table_is_named() {
    assert!(Stack::new().resolve().unwrap_err().message.contains("it needs `[geometry]`"));
}

#[test]
fn a_missing_key_is_named_with_the_table_that_lacks_it() {
    for (table, key) in [
        ("timing", "read"),
        ("timing", "program"),
        ("timing", "erase"),
        ("timing", "channel"),
        ("geometry", "channels"),
        ("geometry", "page_size"),
    ] {
        let lines = DEVICE.lines().filter(|line| !line.starts_with(&format!("{key} =")));
        let mut stack = Stack::new();
        stack.push(Layer::parse("x.toml", lines.collect::<Vec<_>>().join("\n")).unwrap());
        let (message, help, at) = shown(stack.resolve().unwrap_err());
        assert_eq!(message, format!("`{table}.{key}` is missing"));
        assert!(help.starts_with(&format!("add it to [{table}], for example {key} = ")), "{help}");
        assert_eq!(at, format!("x.toml: {table}"));
    }
    let (message, help, at) = error("[workload]\narrivals = { kind = \"poisson\" }\nsize = { mean = \"4 KiB\" }");
    assert_eq!((message.as_str(), at.as_str()), ("`workload.size.kind` is missing", "layer2.toml: size"));
    assert_eq!(help, "add it to [workload.size]");
}

#[test]
fn the_host_waits_for_completions_where_the_workload_has_no_arrival_times() {
    use crate::host::config::HostMode;
    assert_eq!(with(&[]).run.host.mode, HostMode::Closed);
    let poisson = "[workload]\narrivals = { kind = \"poisson\", rate = 100 }";
    assert_eq!(with(&[poisson]).run.host.mode, HostMode::Open);
    assert_eq!(with(&["[workload]\ntrace = \"x\""]).run.host.mode, HostMode::Open);
    let (message, _, at) = error("[host]\nmode = \"open\"");
    assert!(message.contains("an open loop needs arrival times"), "{message}");
    assert_eq!(at, "layer2.toml: \"open\"");
}

#[test]
fn a_place_is_that_of_the_key_in_its_own_table() {
    let stack = stack(&["[admit]\npolicy = \"debit\"\n[admit.shares]\nwear = 3.0\n"]);
    let place = stack.place_of_leaf("admit.shares.wear").expect("it is set");
    assert_eq!(&place.text.text[place.span], "3.0");
    assert!(stack.place_of_leaf("admit.shares.gc").is_none() && stack.place_of_leaf("admit.nothing.gc").is_none());
}

/// A name of a file, or a text, may hold what would change a terminal.
#[test]
fn control_characters_are_refused_where_they_stand() {
    for (text, says, at) in [
        ("[workload]\nname = \"a\\u001bb\"", "`name` has the control character U+001B", "\"a\\u001bb\""),
        ("[workload]\nname = \"a\\nb\"", "`name` has the control character U+000A", "\"a\\nb\""),
        (
            "[workloads.\"a\\nNote\"]\nrequests = 1",
            "the key `a\\nNote` has the control character U+000A",
            "\"a\\nNote\"",
        ),
        (
            "[array]\noverride = [{ drives = [0], device = \"\\u0007\" }]",
            "`device` has the control character U+0007",
            "[{ drives = [0], device = \"\\u0007\" }]",
        ),
        ("[allocation]\norder = \"\\u202e\"", "`order` has the control character U+202E", "\"\\u202e\""),
    ] {
        let (message, help, place) = shown(Layer::parse("layer2.toml", text).unwrap_err());
        assert!(message.contains(says) && help == "remove it", "{message}");
        assert!(place.ends_with(at), "{place}");
    }
    Layer::parse("layer2.toml", "description = \"\"\"\na\nb\tc\"\"\"").expect("a text may have lines");
}
