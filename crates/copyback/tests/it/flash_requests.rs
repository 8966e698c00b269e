//! The time of the host's flash requests by cause; measuring it changes no result.

use crate::common::{COMMAND_NS, READ_NS, TRANSFER_NS, config, pages};
use copyback::observe::flash_requests::{FlashRequestReport, FlashRequestTimes};
use copyback::observe::report::{Cause, Outcome};
use copyback::run::config::RunConfig;
use copyback::run::{Options, precondition, simulate};
use copyback::workload::{Op, Request};

fn outcome(config: &RunConfig, script: &[Request]) -> Outcome {
    let options = Options { keep_requests: true, check: true, ..Options::default() };
    let image = precondition(config, 1).unwrap();
    simulate(config, image, Box::new(Vec::from(script).into_iter()), &options, &mut |_| {}).expect("the run ends well")
}

fn measured(tables: &str, script: &[Request]) -> (Outcome, FlashRequestReport) {
    let mut config = config(tables);
    config.measure.flash_requests = true;
    let outcome = outcome(&config, script);
    let report = outcome.report.flash_requests.clone().expect("it was asked for");
    (outcome, report)
}

fn mean_ns(times: &FlashRequestTimes, cause: Cause) -> f64 {
    times.mean_ns.iter().find(|(name, _)| *name == cause).expect("a cause").1
}

/// Writes and reads of a page, one every 300 us, on a drive that collects all the time: more than its one die can do.
const BUSY: &str = "precondition = { mode = \"random\", overwrites = 2.0 }\n";

fn mix() -> Vec<Request> {
    let op = |i: u64| [Op::Write, Op::Read, Op::Read][(i % 3) as usize];
    (0..2_000).map(|i| pages(op(i), i * 300_000, i * 7_919 % 150, 1)).collect()
}

/// A read takes 91,060 ns, of which 41,060 ns on the channel. Three arrive at once at a window of one slot: the second
/// and third wait in front of it, for one read and for two.
#[test]
fn what_waits_in_front_of_a_window_waits_for_the_scheduler() {
    let read_ns = COMMAND_NS + READ_NS + TRANSFER_NS;
    let mut script = vec![pages(Op::Write, 0, 0, 3)];
    script.extend((0..3).map(|page| pages(Op::Read, 1_000_000_000, page, 1)));
    let waits = |admit: &str| {
        let (outcome, report) =
            measured(&format!("compose = {{ policy = \"list\", builders = [] }}\nadmit = {admit}"), &script);
        let read = report.read;
        assert_eq!(read.count, 3);
        assert_eq!(mean_ns(&read, Cause::Flash), READ_NS as f64);
        assert_eq!(mean_ns(&read, Cause::Transfer), (COMMAND_NS + TRANSFER_NS) as f64);
        // The breakdown of whole requests is as before: the wait is for other host requests.
        let of_requests = &outcome.report.latency_breakdown.read_mean_ns;
        assert_eq!(of_requests[Cause::HostIo as usize].1, read_ns as f64);
        [Cause::Scheduler, Cause::HostIo].map(|cause| (mean_ns(&read, cause) * 3.0).round() as u64)
    };
    assert_eq!(waits("{ policy = \"window\", slots = 1 }"), [3 * read_ns, 0]);
    // In a window of two the third waits in front for the first, and then for the second.
    assert_eq!(waits("{ policy = \"window\", slots = 2 }"), [read_ns, 2 * read_ns]);
    assert_eq!(waits("{ policy = \"all\" }"), [0, 3 * read_ns]);
}

/// Without windows, and with requests of one page, a flash request is a request. If a device takes only pairs, two
/// commands in succession program a row of four planes.
#[test]
fn without_windows_the_time_goes_where_that_of_requests_goes() {
    let pairs = "frontier = { policy = \"row\" }\ngranularity = { policy = \"aligned\" }
                 commands = { plane_pairs = true }\ngeometry = { planes_per_die = 4, blocks_per_plane = 24 }";
    for tables in ["", pairs] {
        let (outcome, report) = measured(&format!("{BUSY}{tables}"), &mix());
        let requests = &outcome.report.latency_breakdown;
        assert!(mean_ns(&report.read, Cause::Gc) > 1e5, "nobody waits for collection: nothing is tested");
        assert_eq!(report.read.mean_ns, requests.read_mean_ns, "{tables}");
        assert_eq!(report.program.mean_ns, requests.write_mean_ns, "{tables}");
        let response = &outcome.report.response;
        assert_eq!((report.read.count, report.program.count), (response.read.count, response.write.count), "{tables}");
    }
}

/// Drives with windows: first come first served, and with separate tasks.
const WINDOWS: [&str; 2] = [
    "admit = { policy = \"window\", slots = 3 }",
    "admit = { policy = \"debit\", slots = 4 }\npreemption = { policy = \"always\" }
     trigger = { policy = \"watermark\", scope = \"device\", soft = 5 }",
];

#[test]
fn with_windows_the_time_is_all_told_and_nothing_else_changes() {
    for admit in WINDOWS {
        let tables = format!("{admit}\n{BUSY}");
        let (with, report) = measured(&tables, &mix());
        let without = outcome(&config(&tables), &mix());
        assert!(without.report.flash_requests.is_none());
        assert!(with.requests == without.requests, "{admit}: requests differ");
        let response = &with.report.response;
        for (times, class) in [(&report.read, &response.read), (&report.program, &response.write)] {
            let told_ns: f64 = times.mean_ns.iter().map(|(_, ns)| ns).sum();
            assert_eq!(times.count, class.count);
            assert!((told_ns / class.mean_ns - 1.0).abs() < 1e-12, "{admit}: {told_ns} ns, not {}", class.mean_ns);
        }
        // Waits for the scheduler here were waits for other work there.
        let requests = &with.report.latency_breakdown.read_mean_ns;
        for (of_flash, of_requests) in report.read.mean_ns.iter().zip(requests) {
            let is_more = of_flash.1 > of_requests.1 + 1e-6;
            assert_eq!(is_more, of_flash.0 == Cause::Scheduler, "{admit}: {of_flash:?}, of requests {of_requests:?}");
        }
    }
}

/// Partial writes read first, pages fill before they are sent, and reads may end with pages that collection read. Each
/// page that flash read or programmed for the host is a flash request, and so is each read without a page of its own.
/// Writes that share a page count separately.
#[test]
fn flash_requests_are_the_pages_of_the_host() {
    let part = |i: u64| {
        let asked = mix()[i as usize];
        if asked.op == Op::Write { Request { len_bytes: 512, ..asked } } else { asked }
    };
    let parts: Vec<Request> = (0..2_000).map(part).collect();
    let units = "geometry = { page_size = \"16 KiB\", mapping_unit = \"4 KiB\" }";
    let filled = format!("frontier = {{ policy = \"single\", fill_limit = \"1 ms\", fill_ends = \"flash\" }}\n{units}");
    let merged = "compose = { policy = \"list\", gc = [\"merge\"] }";
    for (tables, script) in [("", &mix()), ("", &parts), (units, &mix()), (&filled, &mix()), (merged, &mix())] {
        let (outcome, report) = measured(&format!("{BUSY}{tables}"), script);
        let flash = &outcome.report.flash;
        assert_eq!(report.read.count, flash.host_page_reads + flash.merged_reads, "{tables}");
        assert_eq!(flash.merged_reads > 0, tables == merged, "{tables}");
        let shared = tables == units || tables == merged;
        assert!(report.program.count == flash.host_page_programs || shared, "{tables}");
        assert!(report.program.count >= flash.host_page_programs && flash.host_page_programs > 0, "{tables}");
    }
}
