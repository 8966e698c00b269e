//! Does what a request costs depend on what it has nothing to do with?
//!
//! Instructions are counted by valgrind, as times are not steady enough to be tested: this program runs itself under
//! it, twice with a different number of requests, and the difference is theirs alone. Where there is no valgrind
//! nothing is tested, and a line says so; with `COPYBACK_NEEDS_VALGRIND` set, as in CI, that is a failure.

use copyback::flash::geometry::Geometry;
use copyback::host::config::HostConfig;
use copyback::run::config::RunConfig;
use copyback::run::preconditioning;
use copyback::run::simulation::{Setup, Simulation};
use copyback::workload::{Op, Priority, Request};
use std::process::Command;

/// Four dies that collect all the time.
const DRIVE: &str = r#"
    precondition = { mode = "random", overwrites = 1.0 }
    capacity = { over_provisioning = 0.28 }
    trigger = { policy = "watermark", soft = 2 }
    timing = { read = "50 us", program = "500 us", erase = "3 ms", channel = "200 MB/s" }
    [geometry]
    channels = 2
    chips_per_channel = 2
    dies_per_chip = 1
    planes_per_die = 2
    blocks_per_plane = 24
    pages_per_block = 64
    page_size = "4 KiB"
"#;

/// Two writes and a read in turn, for the first of `drives` equal drives.
fn work(drives: usize, requests: u64) {
    let config: RunConfig = toml::from_str(DRIVE).expect("a configuration");
    let units = u64::from(Geometry::new(&config.device()).logical_units);
    let ftl = preconditioning::preconditioned(&config, 1).expect("a preconditioning");
    let request = |i: u64| Request {
        arrival_ns: i * 900_000,
        offset_bytes: i * 7_919 % units * 4096,
        len_bytes: 4096,
        device: 0,
        op: if i.is_multiple_of(3) { Op::Read } else { Op::Write },
        priority: Priority::Normal,
    };
    let mut source = (0..requests).map(request).collect::<Vec<_>>().into_iter();
    let setup = Setup {
        host: HostConfig::default(),
        source: &mut source,
        requests: None,
        check: false,
        keep_gc_events: false,
        keep_requests: false,
    };
    let members = (0..drives).map(|_| (&config, ftl.clone())).collect();
    let mut simulation = Simulation::new(members, setup);
    simulation.run(&mut |_| {}).expect("the run ends well");
    assert!(simulation.drives().next().expect("a drive").counters().work().block_erases > 0, "nothing was collected");
}

/// Instructions of [`work`] in a process of its own; none without valgrind.
fn instructions(drives: usize, requests: u64) -> Option<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(std::env::current_exe().expect("this program"))
        .args(["--ignored", "--exact", "work_of_the_environment"])
        .envs([("DRIVES", drives.to_string()), ("REQUESTS", requests.to_string())])
        .output();
    let Ok(output) = output else {
        assert!(std::env::var_os("COPYBACK_NEEDS_VALGRIND").is_none(), "valgrind is missing; install it");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let count = text.lines().find_map(|line| line.split_once("refs:")).expect("valgrind counts").1;
    Some(count.trim().replace(',', "").parse().expect("a number"))
}

#[test]
#[ignore = "the other tests run it under valgrind"]
fn work_of_the_environment() {
    let number = |name| std::env::var(name).ok().and_then(|n: String| n.parse().ok());
    if let (Some(drives), Some(requests)) = (number("DRIVES"), number("REQUESTS")) {
        work(drives as usize, requests);
    }
}

/// Instructions of one request, for one of so many drives.
fn of_a_request(drives: usize) -> Option<u64> {
    let counted = instructions(drives, 6_000).zip(instructions(drives, 2_000));
    if counted.is_none() {
        eprintln!("not tested: there is no valgrind");
    }
    counted.map(|(more, less)| (more - less) / 4_000)
}

#[test]
fn a_request_costs_the_same_among_idle_drives() {
    let Some((alone, among)) = of_a_request(1).zip(of_a_request(64)) else { return };
    println!("{alone} instructions a request of one drive, {among} with 63 others");
    assert!(among <= alone + alone / 20, "{among} instructions a request among 63 idle drives, {alone} alone");
}

/// 6,692 when this was written, in the profile of tests. Whoever makes it less lowers the bound.
#[test]
fn a_request_costs_no_more_than_it_did() {
    let Some(alone) = of_a_request(1) else { return };
    assert!(alone <= 6_990, "{alone} instructions a request; at most 6,990 were agreed on");
}
