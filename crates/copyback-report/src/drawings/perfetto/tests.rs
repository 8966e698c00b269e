use super::*;
use crate::drawings::{Drawings, Pictures, Slowest};
use copyback::run::Warmup;
use copyback_lab::Experiment;
use copyback_lab::execute::{ExecutionOptions, execute};
use std::collections::BTreeMap;

/// What a trace says, read back: by track, slices with their flows; and values of counters.
struct Read {
    /// Full names of tracks, from the outermost on.
    names: BTreeMap<u64, String>,
    slices: Vec<(String, String, u64, u64, Vec<u64>)>,
    counts: Vec<(String, u64, f64)>,
}

fn read(bytes: &[u8]) -> Read {
    let trace = Trace::decode(bytes).unwrap();
    let mut read = Read { names: BTreeMap::new(), slices: Vec::new(), counts: Vec::new() };
    let mut open: BTreeMap<u64, Vec<(u64, TrackEvent)>> = BTreeMap::new();
    for packet in trace.packet {
        if let Some(track) = packet.track_descriptor {
            let own = track.name.unwrap();
            let name = track.parent_uuid.map_or(own.clone(), |parent| format!("{}/{own}", read.names[&parent]));
            assert!(read.names.insert(track.uuid.unwrap(), name).is_none(), "two tracks have one number");
        }
        let Some(event) = packet.track_event else { continue };
        let (at_ns, track) = (packet.timestamp.unwrap(), event.track_uuid.unwrap());
        let name = read.names[&track].clone();
        match event.r#type() {
            Type::SliceBegin => open.entry(track).or_default().push((at_ns, event)),
            Type::SliceEnd => {
                let (start_ns, begin) = open.get_mut(&track).and_then(Vec::pop).expect("it began");
                // Slices of one track do not overlap.
                assert!(open[&track].is_empty() && start_ns <= at_ns);
                read.slices.push((name, begin.name.unwrap(), start_ns, at_ns, begin.flow_ids));
            }
            Type::Counter => read.counts.push((name, at_ns, event.double_counter_value.unwrap())),
            Type::Unspecified => panic!("an event of no kind"),
        }
    }
    assert!(open.values().all(Vec::is_empty), "every slice ends");
    read
}

/// A run with a trace of it: what the trace has, and what the run did.
fn traced(experiment: Experiment, perfetto: PerfettoOptions) -> (Read, Outcome) {
    let workload = Some("mixed-70-30".to_owned());
    let plan = Experiment { workload, ..experiment }.plan_of_one().expect("a run");
    let perfetto = PerfettoOptions { path: Some("trace.perfetto".into()), ..perfetto };
    let drawings = Drawings { perfetto, ..Drawings::default() };
    let pictures = Pictures::new(&drawings, &plan).expect("it can be drawn");
    let spans = pictures.spans(&plan, ExecutionOptions::default()).expect("it has a time window");
    let options = pictures.options(spans, ExecutionOptions::default());
    let mut outcome = execute(&plan, &options).expect("it runs").remove(0).outcome;
    assert!(pictures.check(spans, &mut outcome).expect("it is not too long").is_none());
    let encoded = pictures.encoded(spans, &outcome);
    let [(path, bytes)] = &encoded[..] else { panic!("{} pictures", encoded.len()) };
    assert_eq!(*path, Path::new("trace.perfetto"));
    (read(bytes), outcome)
}

fn requests(count: u64) -> Experiment {
    Experiment { requests: Some(count), ..Experiment::default() }
}

/// A trace from this time on, in milliseconds, for so long.
fn window(from_ms: u64, for_ms: u64) -> PerfettoOptions {
    PerfettoOptions { from_ns: Some(from_ms * 1_000_000), for_ns: Some(for_ms * 1_000_000), ..Default::default() }
}

/// Every command, request and collection of the window is there once, with its times, and nothing else is.
#[test]
fn a_trace_has_what_the_run_did() {
    let (read, outcome) = traced(requests(2_000), window(20, 30));
    let (from_ns, to_ns) = (20_000_000, 50_000_000);
    let is_seen = |start_ns: u64, end_ns: u64| end_ns > from_ns && start_ns < to_ns;
    let of = |part: &str| {
        let slices = read.slices.iter().filter(|(track, ..)| track.contains(part));
        let mut times: Vec<(u64, u64)> = slices.map(|(_, _, start_ns, end_ns, _)| (*start_ns, *end_ns)).collect();
        times.sort_unstable();
        times
    };
    let sorted = |times: Vec<(u64, u64)>| {
        let mut times: Vec<_> = times.into_iter().filter(|(start_ns, end_ns)| is_seen(*start_ns, *end_ns)).collect();
        times.sort_unstable();
        times
    };
    let commands = &outcome.commands;
    assert!(commands.len() > 100);
    assert_eq!(of("/commands"), sorted(commands.iter().map(|c| (c.issued_ns, c.end_ns())).collect()));
    let transfers = commands.iter().flat_map(|c| c.transfers.iter().map(|t| (t.start_ns, t.end_ns)));
    assert_eq!(of("/transfers"), sorted(transfers.collect()));
    let arrays = commands.iter().flat_map(|c| c.parts.iter().flat_map(|_| c.array_times_ns.clone()));
    assert_eq!(of("/plane "), sorted(arrays.collect()));
    let requests = outcome.requests.iter().map(|r| (r.arrival_ns, r.arrival_ns + r.response_ns));
    assert_eq!(of("host/requests"), sorted(requests.collect()));
    let collections = outcome.gc_events.iter().map(|e| (e.start_ns, e.end_ns));
    assert_eq!(of("/collections"), sorted(collections.collect()));
    assert!(read.names.values().any(|name| name.starts_with("flash/channel 3/die 15/plane 31")), "{:?}", read.names);
}

/// An arrow leads from each request to the commands that served it, and to no others.
#[test]
fn flows_lead_from_requests_to_their_commands() {
    let (read, outcome) = traced(requests(500), PerfettoOptions { for_ns: Some(10_000_000_000), ..Default::default() });
    let mut by_hand: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for command in &outcome.commands {
        command
            .parts
            .iter()
            .filter_map(|p| p.request)
            .for_each(|n| by_hand.entry(n + 1).or_default().push(command.issued_ns));
    }
    let mut found: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut requests = BTreeMap::new();
    for (track, _, start_ns, _, flows) in &read.slices {
        for flow in flows {
            match track.starts_with("host/") {
                true => assert!(requests.insert(*flow, *start_ns).is_none()),
                false => found.entry(*flow).or_default().push(*start_ns),
            }
        }
    }
    [&mut by_hand, &mut found].into_iter().flat_map(BTreeMap::values_mut).for_each(|times| times.sort_unstable());
    assert_eq!(found, by_hand);
    assert!(found.len() > 400 && requests.len() == 500);
    assert!(found.iter().all(|(flow, times)| times[0] >= requests[flow]));
}

#[test]
fn counters_are_those_of_the_time_series() {
    let (read, outcome) = traced(requests(2_000), window(10, 20));
    let series = &outcome.series;
    let of = |name: &str| read.counts.iter().filter(|(track, ..)| track.ends_with(name)).collect::<Vec<_>>();
    let depth = of("requests in the drive");
    let inside: Vec<_> = series.iter().filter(|s| (10_000_001..30_000_000).contains(&s.time_ns)).collect();
    assert!(depth.len() > 3 && (depth.len() - inside.len()) <= 1);
    for ((_, at_ns, value), sample) in depth.iter().rev().zip(inside.iter().rev()) {
        assert_eq!((*at_ns, *value), (sample.time_ns, f64::from(sample.queue_depth)));
    }
    assert_eq!(of("fewest of a plane").len(), depth.len());
}

/// If no start is named, the trace begins at the end of the warm-up.
#[test]
fn a_warm_up_is_passed_over() {
    let experiment = Experiment { warmup: Some(Warmup::Requests(500)), ..requests(300) };
    let (read, outcome) = traced(experiment, PerfettoOptions::default());
    let end_ns = outcome.report.warmup.unwrap().end_ns;
    assert!(end_ns > 0 && read.slices.iter().all(|(_, _, _, slice_end_ns, _)| *slice_end_ns > end_ns));
    assert!(read.slices.iter().filter(|(track, ..)| track.starts_with("host/")).count() > 100);
}

#[test]
fn the_slowest_read_is_found() {
    let slowest = PerfettoOptions { around: Some(Slowest::WorstRead), ..Default::default() };
    let (read, outcome) = traced(requests(2_000), slowest);
    let requests = &outcome.requests;
    let slowest = requests.iter().filter(|r| r.op == 0).max_by_key(|r| r.response_ns).unwrap();
    let end_ns = slowest.arrival_ns + slowest.response_ns;
    let is_it = |(_, name, start_ns, slice_end_ns, _): &(String, String, u64, u64, Vec<u64>)| {
        name.starts_with("read") && (*start_ns, *slice_end_ns) == (slowest.arrival_ns, end_ns)
    };
    assert_eq!(read.slices.iter().filter(|slice| is_it(slice)).count(), 1);
    let first_ns = read.slices.iter().map(|(_, _, _, slice_end_ns, _)| *slice_end_ns).min().unwrap();
    assert!(first_ns > slowest.arrival_ns - slowest.response_ns / 5 - 1);
}
