//! A value of another type, at any nesting: does the error name the key, point at the value, and help?

use super::*;
use crate::run::config::RunConfig;

const BASE: &str = "
geometry = { channels = 2, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 64,
             pages_per_block = 16, page_size = \"4 KiB\" }
timing = { read = \"50 us\", program = \"500 us\", erase = \"3 ms\", channel = \"400 MB/s\" }
capacity = { over_provisioning = 0.25 }
";

/// Keys of every nesting and every type: a file in which the test replaces `@` with a value, and the key's dotted name.
const KEYS: &[(&str, &str)] = &[
    ("[geometry]\nchannels = @", "geometry.channels"),
    ("[geometry]\npage_size = @", "geometry.page_size"),
    ("[timing]\nprogram = @", "timing.program"),
    ("[timing]\nchannel = @", "timing.channel"),
    ("[trigger]\nsoft = @", "trigger.soft"),
    ("[trigger]\nidle = { after = @ }", "trigger.idle.after"),
    ("[victim]\npolicy = \"d-choices\"\nd = @", "victim.d"),
    ("[compose]\nbuilders = @", "compose.builders"),
    ("[compose]\nbuilders = [\"multi-plane\", @]", "compose.builders"),
    ("[admit]\npolicy = \"debit\"\n[admit.shares]\npolicy = \"fixed\"\nwear = @", "admit.shares.wear"),
    ("[array]\ngc_aware_reads = @", "array.gc_aware_reads"),
    ("[array]\nfailed = [0, @]", "array.failed"),
    ("[array]\noverride = @", "array.override"),
    ("[[array.override]]\ndrives = @", "array.override.drives"),
    ("[[array.override]]\ndrives = [0, @]", "array.override.drives"),
    ("[[array.override]]\ndrives = [0]\ndevice = @", "array.override.device"),
    ("[[array.override]]\ndrives = [0]\nscheme = @", "array.override.scheme"),
    ("[[array.override]]\ndrives = [0]\nseed = @", "array.override.seed"),
    ("[[array.override]]\ndrives = [0]\nseed = 3\n[[array.override]]\ndrives = [1]\nseed = @", "array.override.seed"),
    ("[[array.override]]\ndrives = [0]\ncoordinated = @", "array.override.coordinated"),
    ("[array]\noverride = [{ drives = [0], coordinated = @ }]", "array.override.coordinated"),
    ("[workload]\nname = @", "workload.name"),
    ("[workload]\ntrace = @", "workload.trace"),
    ("[workload]\ndevice = @", "workload.device"),
    ("[workload]\nwindow = @", "workload.window"),
    ("[workload]\nwindow = [\"1 s\", @]", "workload.window"),
    ("[workload]\nsize = { kind = \"fixed\", mean = @ }", "workload.size.mean"),
    ("[workload.size]\nkind = \"mix\"\nmix = @", "workload.size.mix"),
    (
        "[workload.size]\nkind = \"mix\"\nmix = [{ size = 1, weight = 1 }, { size = 2, weight = @ }]",
        "workload.size.mix.weight",
    ),
    ("[workload.columns]\norder = @", "workload.columns.order"),
    ("[workload.columns]\norder = [\"op\", @]", "workload.columns.order"),
    ("[workload.columns]\narrival_us = @", "workload.columns.arrival_us"),
    ("[workload.operations]\n2a = @", "workload.operations.2a"),
    ("[workloads.a]\nqueue_depth = @", "workloads.a.queue_depth"),
    ("[workloads.a]\nphases = [[\"1 s\", @]]", "workloads.a.phases"),
    ("[workloads.a]\nrequests = 3\n[workloads.b]\nafter = [\"a\", @]", "workloads.b.after"),
    ("[workloads.a.size]\nkind = \"fixed\"\nmean = @", "workloads.a.size.mean"),
    ("[workloads.a.operations]\n2a = @", "workloads.a.operations.2a"),
];

/// Values of every type, chosen so that no key of another type accepts them (`"zzz"` is no size).
const VALUES: &[&str] = &["\"zzz\"", "-7", "2.5", "true", "1979-05-27", "[[]]", "{ zzz = 1 }", "[{ zzz = 1 }]"];

/// The error of a text as the layer over a device, if it has one.
fn error(text: &str) -> Option<LayerError> {
    let mut stack = Stack::<RunConfig>::new();
    stack.push(Layer::parse("base.toml", BASE).unwrap());
    stack.push(Layer::parse("mine.toml", text).unwrap_or_else(|error| panic!("{text}: {error}")));
    stack.resolve_parts().err()
}

fn is_explained(key: &str, value: &str, text: &str) -> bool {
    let Some(error) = error(text) else { return false };
    let (message, help) = (&error.message, error.help.clone().unwrap_or_default());
    assert!(message.contains(&format!("`{key}")) || message.contains(&format!("[{key}")), "{text}: {message}");
    assert!(help.split(' ').count() > 2, "{text}: {message}: help: {help}");
    assert!(!["struct", "u32", "u64", "f64", "untagged", "variant"].iter().any(|w| message.contains(w)), "{message}");
    let place = error.place.unwrap_or_else(|| panic!("{text}: {message} has no place"));
    let at = &place.text.text[place.span];
    assert!(!at.is_empty() && (value.contains(at) || at == value), "{text}: {message} points at {at:?}");
    true
}

#[test]
fn a_value_of_another_type_is_explained_at_any_nesting() {
    for (text, key) in KEYS {
        let refused = VALUES.iter().filter(|value| is_explained(key, value, &text.replace('@', value))).count();
        // Some take two or three of these types: a text and a number, say.
        assert!(refused >= VALUES.len() - 3, "{text}: only {refused} values are refused");
    }
}

/// The same mistake twice: the error is of the first.
#[test]
fn the_same_mistake_twice_is_found() {
    for (text, key, at) in [
        ("[geometry]\nchannels = \"x\"\nplanes_per_die = \"x\"", "`geometry.channels`", "\"x\""),
        ("[geometry]\nchannels = \"x\"\n[victim]\npolicy = \"d-choices\"\nd = \"x\"", "`geometry.channels`", "\"x\""),
        (
            "[[array.override]]\ndrives = [0]\nseed = \"x\"\n[[array.override]]\ndrives = [1]\nseed = \"x\"",
            "`array.override.seed`",
            "\"x\"",
        ),
        (
            "[[array.override]]\nseed = 3\n[[array.override]]\nseed = 4",
            "`drives` is missing in `[[array.override]]`",
            "[[array.override]]",
        ),
    ] {
        let error = error(text).expect(text);
        let place = error.place.expect(text);
        assert!(error.message.contains(key), "{text}: {}", error.message);
        assert_eq!(&place.text.text[place.span.clone()], at, "{text}");
        assert_eq!(place.span.start, text.find(at).unwrap(), "{text}");
    }
}
