//! Several workloads on one drive: does each keep its own pace and limits, and do they together have the results of one
//! merged workload?

use crate::support::four_dies::{FOUR_DIES, four_dies};
use copyback::config::layers::{Layer, LayerError, Stack};
use copyback::observe::report::{Outcome, Report, RequestRecord};
use copyback::run::config::{Resolved, RunConfig};
use copyback::run::{Options, RequestStreams, precondition, simulate, simulate_streams};
use copyback::workload::request::{Op, Priority, Request};
use copyback::workload::spec::Pace;
use copyback::workload::tenants::{self, HostDefaults, OpenedTenant};
use copyback::workload::{Error, RequestSource};

fn drive() -> RunConfig {
    four_dies("")
}

/// Requests of one page each, `gap_ns` apart; every `nth` is a read.
fn requests(count: u64, gap_ns: u64, first_page: u64, nth: u64) -> Vec<Request> {
    let request = |i: u64| Request {
        arrival_ns: i * gap_ns,
        offset_bytes: (first_page + i * 7_919 % 2_000) * 4096,
        len_bytes: 4096,
        device: 0,
        op: if i.is_multiple_of(nth) { Op::Read } else { Op::Write },
        priority: Priority::Normal,
    };
    (0..count).map(request).collect()
}

fn stream(name: &str, pace: Pace, requests: Vec<Request>) -> OpenedTenant {
    OpenedTenant {
        name: name.to_owned(),
        source: Box::new(requests.into_iter()),
        region_start_bytes: 0,
        pace,
        queue_depth: 1,
        has_own_depth: false,
        think: None,
        phases_ns: vec![[0, u64::MAX]],
        after: Vec::new(),
        not_before_ns: 0,
        warmup_ns: 0,
    }
}

fn ran(asked: RequestStreams) -> Outcome {
    let config = drive();
    let image = precondition(&config, 1).expect("a preconditioning");
    let options = Options { keep_requests: true, check: true, ..Options::default() };
    simulate_streams(&config, vec![(&config, image)], asked, &options, &mut |_| {}).expect("the run ends well")
}

fn of_one(requests: Vec<Request>) -> Outcome {
    let config = drive();
    let image = precondition(&config, 1).expect("a preconditioning");
    let options = Options { keep_requests: true, check: true, ..Options::default() };
    simulate(&config, image, Box::new(requests.into_iter()), &options, &mut |_| {}).expect("the run ends well")
}

/// Open loops that are merged by time (and by their order at equal times) are one workload.
#[test]
fn open_workloads_together_are_the_merged_workload() {
    // Every third arrival of one workload is at the same nanosecond as an arrival of the other.
    let (first, second) = (requests(900, 400_000, 0, 3), requests(600, 600_000, 2_000, 2));
    let mut merged: Vec<(u64, u8, Request)> = Vec::new();
    merged.extend(first.iter().map(|request| (request.arrival_ns, 0, *request)));
    merged.extend(second.iter().map(|request| (request.arrival_ns, 1, *request)));
    merged.sort_by_key(|(arrival_ns, of, _)| (*arrival_ns, *of));
    let alone = of_one(merged.into_iter().map(|(_, _, request)| request).collect());
    let together =
        ran(RequestStreams::Several(vec![stream("first", Pace::Open, first), stream("second", Pace::Open, second)]));
    assert!(alone.report.gc.collections > 0, "nothing is collected");
    let without = Report { workloads: Default::default(), ..together.report.clone() };
    assert_eq!(without, alone.report);
    // Except for the workload that each belongs to.
    let owned = |record: &RequestRecord| u16::from(record.offset_bytes >= 2_000 * 4096);
    assert!(together.requests.iter().all(|record| record.workload == owned(record)));
    let of_nobody: Vec<_> = together.requests.iter().map(|record| RequestRecord { workload: 0, ..*record }).collect();
    assert_eq!(of_nobody, alone.requests);
    let [first, second] = ["first", "second"].map(|name| &together.report.workloads[name]);
    assert_eq!((first.reads, first.writes, second.reads, second.writes), (300, 600, 300, 300));
    let all = &alone.report.response.read;
    let sum = |read: &copyback::observe::report::Latency| read.mean_ns * read.count as f64;
    let both = sum(&first.response.read) + sum(&second.response.read);
    assert!((both / sum(all) - 1.0).abs() < 1e-12, "the reads of both are not all reads");
    assert_eq!(all.max_ns, first.response.read.max_ns.max(second.response.read.max_ns));
}

/// A closed loop alone equals a list of several with only this loop.
#[test]
fn one_of_one_is_the_workload_alone() {
    let mut config = drive();
    config.host.mode = copyback::host::config::HostMode::Closed;
    config.host.queue_depth = 5;
    let image = precondition(&config, 1).expect("a preconditioning");
    let source = Box::new(requests(500, 0, 0, 4).into_iter());
    let alone = simulate(&config, image, source, &Options::default(), &mut |_| {}).expect("the run ends well");
    let one = OpenedTenant { queue_depth: 5, ..stream("one", Pace::Closed, requests(500, 0, 0, 4)) };
    let among = ran(RequestStreams::Several(vec![one]));
    assert_eq!(among.report.response, alone.report.response);
    assert_eq!(among.report.flash, alone.report.flash);
    assert_eq!(among.report.workloads["one"].response.write, alone.report.response.write);
}

#[test]
fn each_closed_loop_has_its_own_limit() {
    let one = stream("one", Pace::Closed, requests(300, 0, 0, 1));
    let seven = OpenedTenant { queue_depth: 7, ..stream("seven", Pace::Closed, requests(900, 0, 2_000, 1)) };
    let report = ran(RequestStreams::Several(vec![one, seven])).report;
    let peaks = [&report.workloads["one"], &report.workloads["seven"]].map(|of| of.peak_outstanding);
    assert_eq!((peaks, report.peak_outstanding), ([1, 7], 8));
    // Little's law: on average, as many requests are under way as the loop keeps outstanding.
    let one = &report.workloads["one"];
    let under_way = one.iops.expect("time passes") * one.response.all.mean_ns / 1e9;
    assert!((under_way - 1.0).abs() < 1e-9, "{under_way} of one are under way");
}

/// A limit that a run does not reach is noted, and none that it reaches.
#[test]
fn limits_that_a_run_does_not_reach_are_noted() {
    let ms = 1_000_000;
    let notes = |streams: Vec<OpenedTenant>| ran(RequestStreams::Several(streams)).notes;
    // The last of ten requests arrives at 9 ms.
    let until = |phases_ns: &[[u64; 2]]| OpenedTenant { phases_ns: phases_ns.to_vec(), ..open_stream("one", 10, ms) };
    let of_stop = "workload `one`: `workloads.one.stop` has no effect: its requests ended before";
    assert_eq!(notes(vec![until(&[[0, 10 * ms]])]), [of_stop]);
    assert_eq!(notes(vec![until(&[[0, 9 * ms]])]), [""; 0]);
    assert_eq!(notes(vec![until(&[[0, u64::MAX]])]), [""; 0]);
    let of_phases = "workload `one`: its requests ended before 1 of the 3 phases in `workloads.one.phases`";
    assert_eq!(notes(vec![until(&[[0, 2 * ms], [20 * ms, 40 * ms], [60 * ms, 61 * ms]])]), [of_phases]);
    assert_eq!(notes(vec![until(&[[0, 2 * ms], [20 * ms, 22 * ms], [60 * ms, 90 * ms]])]), [""; 0]);
    // A pause after the 50th of 50 requests delays none.
    let thinks =
        |every| OpenedTenant { think: Some((every, ms)), ..stream("one", Pace::Closed, requests(50, 0, 0, 1)) };
    let of_think = "workload `one`: `workloads.one.think_time` has no effect: no request began after the first 50";
    assert_eq!(notes(vec![thinks(50)]), [of_think]);
    assert_eq!(notes(vec![thinks(49)]), [""; 0]);
    let waits = |not_before_ns| OpenedTenant { after: vec![0], not_before_ns, ..open_stream("two", 10, ms) };
    let of_start = "workload `two`: `workloads.two.not_before` has no effect: the workloads in `after` ended later";
    assert_eq!(notes(vec![open_stream("one", 10, ms), waits(8 * ms)]), [of_start]);
    assert_eq!(notes(vec![open_stream("one", 10, ms), waits(80 * ms)]), [""; 0]);
    // The run has enough requests before the workload has.
    let config = drive();
    let image = precondition(&config, 1).expect("a preconditioning");
    let options = Options { requests: Some(5), ..Options::default() };
    let asked = RequestStreams::Several(vec![until(&[[0, 8 * ms]])]);
    let cut =
        simulate_streams(&config, vec![(&config, image)], asked, &options, &mut |_| {}).expect("the run ends well");
    assert_eq!(cut.notes, ["workload `one`: `workloads.one.stop` has no effect: the run ended before"]);
}

fn open_stream(name: &str, count: u64, gap_ns: u64) -> OpenedTenant {
    stream(name, Pace::Open, requests(count, gap_ns, 0, 1))
}

#[test]
fn thinking_is_between_the_end_of_one_and_the_begin_of_another() {
    let think_ns = 700_000;
    let thinks = OpenedTenant { think: Some((1, think_ns)), ..stream("one", Pace::Closed, requests(200, 0, 0, 1)) };
    let report = &ran(RequestStreams::Several(vec![thinks])).report.workloads["one"];
    let busy_ns = report.response.all.mean_ns * 200.0;
    assert!((report.simulated_ns as f64 - busy_ns - 199.0 * think_ns as f64).abs() < 1.0);
}

#[test]
fn phases_stop_its_clock_and_who_waits_starts_when_another_has_ended() {
    let ms = 1_000_000;
    // 10 requests, a millisecond apart: 4 in the first phase, 6 in the second.
    let phases_ns = vec![[2 * ms, 6 * ms], [20 * ms, 90 * ms]];
    let phased = OpenedTenant { phases_ns: phases_ns.clone(), ..stream("phased", Pace::Open, requests(10, ms, 0, 1)) };
    let closed = OpenedTenant { phases_ns, ..stream("closed", Pace::Closed, requests(5_000, 0, 0, 1)) };
    let later = OpenedTenant { after: vec![0], ..stream("later", Pace::Open, requests(3, ms, 2_000, 1)) };
    let outcome = ran(RequestStreams::Several(vec![phased, closed, later]));
    let arrivals = |is_of: fn(&u64) -> bool, closed: bool| {
        let of = outcome.requests.iter().filter(|record| is_of(&record.offset_bytes));
        let mut times: Vec<u64> = of.map(|record| record.arrival_ns).collect();
        times.sort_unstable();
        times.retain(|ns| closed || ns.is_multiple_of(ms));
        times
    };
    let in_phases = |ns: &u64| (2 * ms..6 * ms).contains(ns) || (20 * ms..90 * ms).contains(ns);
    let first = arrivals(|offset| *offset < 2_000 * 4096, true);
    assert!(first.len() > 100 && first.iter().all(in_phases), "{first:?}");
    let open: Vec<u64> = (2..6).chain(20..26).map(|at| at * ms).collect();
    let on_time = arrivals(|offset| *offset < 2_000 * 4096, false);
    assert!(open.iter().all(|ns| on_time.contains(ns)), "{on_time:?}");
    // The open one's last request arrives at 25 ms, and ends within a millisecond or so.
    let later = arrivals(|offset| *offset >= 2_000 * 4096, true);
    assert_eq!(later.len(), 3);
    assert!((25 * ms..35 * ms).contains(&later[0]) && later[2] - later[0] == 2 * ms, "{later:?}");
}

/// A workload behind another starts when that has ended, or at its own time, whichever is later.
#[test]
fn who_waits_starts_no_earlier_than_its_own_time() {
    let ms = 1_000_000;
    for (not_before_ns, expected) in [(3 * ms, None), (50 * ms, Some(50 * ms))] {
        // Its last request arrives at 9 ms, and ends soon after.
        let first = stream("first", Pace::Open, requests(10, ms, 0, 1));
        let second =
            OpenedTenant { after: vec![0], not_before_ns, ..stream("second", Pace::Closed, requests(5, 0, 2_000, 1)) };
        let outcome = ran(RequestStreams::Several(vec![first, second]));
        let of_second = outcome.requests.iter().filter(|record| record.offset_bytes >= 2_000 * 4096);
        let begins = of_second.map(|record| record.arrival_ns).min().expect("it asks");
        let first_ends = outcome.requests.iter().filter(|record| record.offset_bytes < 2_000 * 4096);
        let first_ends = first_ends.map(|record| record.arrival_ns + record.response_ns).max().expect("it asks");
        assert_eq!(begins, expected.unwrap_or(first_ends));
    }
}

/// The rate of a workload is over its own time: from the end of its warm-up to its end, if it has one, and otherwise to
/// its last completion.
#[test]
fn rates_are_over_the_time_that_a_workload_is_there() {
    let ms = 1_000_000;
    let until = |stop_ns: u64| vec![[0, stop_ns]];
    // Reads 2 ms apart up to 21 ms: at 0, 2, ..., 20 ms; those from 10 ms on are measured.
    let timed = OpenedTenant {
        phases_ns: until(21 * ms),
        warmup_ns: 10 * ms,
        ..stream("timed", Pace::Open, requests(99, 2 * ms, 0, 1))
    };
    let counted = stream("counted", Pace::Open, requests(5, 2 * ms, 2_000, 1));
    let outcome = ran(RequestStreams::Several(vec![timed, counted]));
    let [timed, counted] = ["timed", "counted"].map(|name| &outcome.report.workloads[name]);
    assert_eq!((timed.reads, timed.simulated_ns), (6, 11 * ms));
    assert!((timed.iops.expect("time passes") - 6.0 / 0.011).abs() < 1e-6);
    let ends = outcome
        .requests
        .iter()
        .filter(|record| record.offset_bytes >= 2_000 * 4096)
        .map(|record| record.arrival_ns + record.response_ns);
    assert_eq!((counted.reads, counted.simulated_ns), (5, ends.max().expect("it asks")));
    // A phase of 4 ms with two reads and one of 3 ms with the rest; the last read ends after it.
    let phases_ns = vec![[0, 4 * ms], [20 * ms, 23 * ms]];
    let phased = OpenedTenant { phases_ns, ..stream("phased", Pace::Open, requests(3, 2 * ms, 0, 1)) };
    let outcome = ran(RequestStreams::Several(vec![phased]));
    let last = outcome.requests.iter().map(|record| record.arrival_ns + record.response_ns).max().expect("it asks");
    assert_eq!(outcome.report.workloads["phased"].simulated_ns, 4 * ms + (last - 20 * ms));
    assert_eq!(counted.outstanding_shares, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn a_limit_of_requests_ends_all() {
    let config = drive();
    let image = precondition(&config, 1).expect("a preconditioning");
    let both = ["a", "b"].map(|name| stream(name, Pace::Closed, requests(500, 0, 0, 2)));
    let options = Options { requests: Some(100), ..Options::default() };
    let asked = RequestStreams::Several(Vec::from(both));
    let report = simulate_streams(&config, vec![(&config, image)], asked, &options, &mut |_| {}).expect("a run").report;
    assert_eq!(report.reads + report.writes, 100);
    assert_eq!(report.workloads.values().map(|of| of.reads + of.writes).sum::<u64>(), 100);
}

const SEVERAL: &str = r#"
    [workloads.a]
    share = 0.25
    requests = 100
    read_share = 0.5
    size = { kind = "fixed", mean = "4 KiB" }
    arrivals = { kind = "poisson", rate = 1000 }
    [workloads.b]
    share = 0.5
    requests = 100
    read_share = 0.5
    size = { kind = "fixed", mean = "4 KiB" }
"#;

fn resolved(text: &str) -> Result<Resolved, LayerError> {
    let mut stack = Stack::new();
    stack.push(Layer::parse("drive", FOUR_DIES).expect("TOML"));
    stack.push(Layer::parse("several", text).expect("TOML"));
    stack.resolve()
}

fn drawn(text: &str) -> Vec<(String, Vec<Request>)> {
    let defaults = HostDefaults { is_closed: false, queue_depth: 32, grain_bytes: 4096 };
    let open = |spec: &_, seed, bytes| copyback::workload::open(spec, seed, bytes);
    let streams = tenants::open::<Error>(&resolved(text).unwrap().tenants, 1, 8 << 20, defaults, open).unwrap();
    let all = streams.into_iter().map(|mut stream| {
        let mut requests = Vec::new();
        while let Some(request) = stream.source.next_request().unwrap() {
            let offset_bytes = request.offset_bytes + stream.region_start_bytes;
            requests.push(Request { offset_bytes, ..request });
        }
        (stream.name, requests)
    });
    all.collect()
}

/// The remedy fits the mistake: an empty part has to grow, and one beyond the capacity to shrink.
#[test]
fn a_part_that_does_not_fit_is_refused_with_its_remedy() {
    for (keys, remedy) in [
        ("share = 0.0000001", "raise its `share`"),
        ("region_size = 1e-9", "raise `region_size`"),
        ("region_size = \"1 GiB\"", "lower `region_start` or `region_size`"),
        ("region_start = \"8 MiB\"", "lower `region_start` or `region_size`"),
    ] {
        let size = "size = { kind = \"fixed\", mean = \"4 KiB\" }";
        let text = format!("[workloads.a]\n{keys}\nrequests = 1\nread_share = 0.5\n{size}\n");
        let tenants = resolved(&text).unwrap().tenants;
        let error = tenants::regions(&tenants, 8 << 20, 4096).expect_err(keys);
        assert!(error.help.as_ref().is_some_and(|help| help.contains(remedy)), "{keys}: {error:?}");
    }
}

#[test]
fn each_draws_in_its_own_part_and_from_streams_of_its_own() {
    let both = drawn(SEVERAL);
    let in_part = |of: usize, from: u64, to: u64| {
        both[of].1.iter().all(|r| r.offset_bytes >= from << 20 && r.offset_bytes + r.len_bytes <= to << 20)
    };
    assert!(in_part(0, 0, 2) && in_part(1, 2, 6));
    let places = |of: usize| both[of].1.iter().map(|r| (r.offset_bytes % (2 << 20), r.op)).collect::<Vec<_>>();
    assert_ne!(places(0), places(1));
    let third = format!(
        "{SEVERAL}\n[workloads.aa]\nrequests = 9\nread_share = 1.0\nsize = {{ kind = \"fixed\", mean = 4096 }}"
    );
    let three = drawn(&third);
    assert_eq!((&three[0], &three[2]), (&both[0], &both[1]));
}

#[test]
fn what_is_printed_is_read_back() {
    let first = resolved(&format!("{SEVERAL}\nphases = [[\"1 s\", \"2 s\"]]\nqueue_depth = 3")).unwrap();
    let printed = first.to_toml();
    let mut stack = Stack::new();
    stack.push(Layer::parse("printed", printed.clone()).expect("TOML"));
    assert_eq!(stack.resolve().unwrap(), first, "{printed}");
}

#[test]
fn what_makes_no_sense_is_refused_with_a_remedy() {
    for (more, says) in [
        ("share = 0.8", "add up to 1.05"),
        ("region_start = \"1 GiB\"", "set twice"),
        ("queue_depht = 4", "`queue_depth`"),
        ("mode = \"opne\"", "did you mean `open`"),
        ("mode = \"open\"", "needs arrival times"),
        ("think_every = 4", "no effect without `think_time`"),
        ("stop = \"1 s\"\nstart = \"2 s\"", "after its start"),
        ("after = [\"c\"]", "no other workload `c`"),
        ("after = [\"b\"]", "no other workload `b`"),
        ("footprint = \"mapped\"", "part of it"),
        ("phases = [[\"2 s\", \"3 s\"], [\"1 s\", \"2 s\"]]", "before the previous phase ends"),
        ("[workload]\nskip_bad = 1", "defines a single workload"),
        ("[workloads.c]\nrequests = 1", "read_share"),
        ("[workloads.\"a b\"]\nrequests = 1", "no name of a workload"),
        ("[host]\nmode = \"open\"", "has none"),
    ] {
        let more = if more.starts_with("share") {
            SEVERAL.replace("share = 0.5\n    req", &format!("{more}\n    req"))
        } else {
            format!("{SEVERAL}\n{more}")
        };
        let error = resolved(&more).expect_err(&more);
        let said = format!("{} {}", error.message, error.help.clone().unwrap_or_default());
        assert!(said.contains(says) && error.help.is_some() || said.contains("did you mean"), "{more}: {said}");
        assert!(error.place.is_some(), "{more}: no place");
    }
    let circle = SEVERAL.replace("[workloads.b]", "after = [\"b\"]\n[workloads.b]\nafter = [\"a\"]");
    assert!(resolved(&circle).unwrap_err().message.contains("in a cycle"));
}
