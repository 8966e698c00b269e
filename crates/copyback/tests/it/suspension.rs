//! When do reads suspend a collection's program or erase, and when does it end then? All times are calculated by hand.
//!
//! One die of one plane, whose collection of one valid page begins at time 0. Without requests:
//!
//! ```text
//! read      0 cycles   100 array    50,100 data    51,100
//! program        cycles and data    51,100 array   52,200 to 552,200
//! erase    552,200 cycles          552,300 array          to 3,552,300
//! ```
//!
//! A read of the host takes 100 ns of cycles, 50,000 ns in the array and 1,000 ns of data, together 51,100 ns.

use copyback::flash::command::FlashOp;
use copyback::observe::report::Cause;
use copyback::run::RunError;
use copyback::run::config::RunConfig;
use copyback::scene::Block::{self, Free, Full, Holds};
use copyback::scene::SceneOp::{self, Read, Write};
use copyback::scene::{Played, Scene};

const DRIVE: &str = r#"
capacity = { logical = "10 KiB" }
timing = { read = "50 us", program = "500 us", erase = "3 ms", channel = "512 MB/s", command = "100 ns" }
trigger = { policy = "watermark", soft = 1 }
order = { policy = "priority", first = "gc-read-write" }
precondition = { mode = "empty" }
compose = { policy = "list", builders = [] }
geometry = { channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 1, blocks_per_plane = 10, pages_per_block = 4, page_size = "512 B" }
"#;
/// The die takes a read 20,000 ns after the suspend command, and continues 5,000 ns after the resume command.
const DEVICE: &str = "commands.suspend = { latency = \"20 us\", resume = \"5 us\" }\n";
const POLICY: &str = "preemption = { policy = \"suspend\", poll = \"0 ns\" }\n";

/// Block 2 is collected: its page 1 is valid.
const PLANE: &[Block] = &[Full, Full, Holds(&[1]), Full, Free, Free, Free, Free, Free, Free];
/// A page that the collection does not touch.
const ELSEWHERE: SceneOp = Read(0, 0, 0);

/// The end of a host read that begins at this time.
fn read_from(start_ns: u64) -> u64 {
    start_ns + 51_100
}

fn try_to_play(drive: &str, more: &str, requests: &[(u64, SceneOp)]) -> Result<Played, RunError> {
    let config: RunConfig = copyback::config::from_toml(&format!("{more}{drive}")).expect("the configuration parses");
    Scene { config: &config, planes: &[PLANE], collects: &[0], requests }.play()
}

fn play(more: &str, requests: &[(u64, SceneOp)]) -> Played {
    try_to_play(DRIVE, more, requests).expect("the scene is possible")
}

/// The array times of the collection's commands of this kind.
fn array_times(played: &Played, op: FlashOp) -> Vec<(u64, u64)> {
    let of_gc = played.commands.iter().filter(|c| c.op == op && c.parts[0].source.name() == "GC");
    of_gc.flat_map(|command| command.array_times_ns.clone()).collect()
}

/// When each request ends.
fn ends(played: &Played) -> Vec<u64> {
    played.requests.iter().map(|request| request.arrival_ns + request.response_ns).collect()
}

#[test]
fn a_read_suspends_an_erase() {
    let played = play(&format!("{DEVICE}{POLICY}"), &[(1_000_000, ELSEWHERE)]);
    let resumed_ns = read_from(1_020_000) + 5_000;
    assert_eq!(ends(&played), [read_from(1_020_000)]);
    let rest_ns = 3_552_300 - 1_000_000;
    assert_eq!(array_times(&played, FlashOp::Erase), [(552_300, 1_020_000), (resumed_ns, resumed_ns + rest_ns)]);
}

#[test]
fn a_read_suspends_a_program_and_the_erase_follows_its_end() {
    let played = play(&format!("{DEVICE}{POLICY}"), &[(100_000, ELSEWHERE)]);
    let resumed_ns = read_from(120_000) + 5_000;
    let end_ns = resumed_ns + 552_200 - 100_000;
    assert_eq!(ends(&played), [read_from(120_000)]);
    assert_eq!(array_times(&played, FlashOp::Program), [(52_200, 120_000), (resumed_ns, end_ns)]);
    assert_eq!(array_times(&played, FlashOp::Erase), [(end_ns + 100, end_ns + 100 + 3_000_000)]);
}

/// The array has not begun when the read arrives: it begins, and stops at once. The same holds if the end of the load
/// is an event, as it is if another program could follow.
#[test]
fn a_read_that_arrives_during_the_load_suspends_the_program_when_it_begins() {
    for gc in ["", ", gc = [\"pipeline\"]"] {
        let drive = DRIVE.replace("builders = []", &format!("builders = []{gc}"));
        let played = try_to_play(&drive, &format!("{DEVICE}{POLICY}"), &[(51_500, ELSEWHERE)]);
        let played = played.expect("the scene is possible");
        let resumed_ns = read_from(72_200) + 5_000;
        assert_eq!(ends(&played), [read_from(72_200)]);
        assert_eq!(array_times(&played, FlashOp::Program), [(52_200, 72_200), (resumed_ns, resumed_ns + 500_000)]);
    }
}

#[test]
fn reads_that_arrive_meanwhile_follow_before_the_erase_resumes() {
    let requests = [(1_000_000, ELSEWHERE), (1_030_000, Read(0, 1, 0)), (1_030_000, Read(0, 3, 2))];
    let played = play(&format!("{DEVICE}{POLICY}"), &requests);
    let second_ns = read_from(read_from(1_020_000));
    let third_ns = read_from(second_ns);
    assert_eq!(ends(&played), [read_from(1_020_000), second_ns, third_ns]);
    let (resumed_ns, rest_ns) = (third_ns + 5_000, 3_552_300 - 1_000_000);
    assert_eq!(array_times(&played, FlashOp::Erase), [(552_300, 1_020_000), (resumed_ns, resumed_ns + rest_ns)]);
}

/// With a fence, reads that arrive after the suspension wait for the operation's end.
#[test]
fn a_fence_ends_a_suspension_with_the_reads_that_waited() {
    let fenced = "preemption = { policy = \"suspend\", poll = \"0 ns\", fence = \"all\" }\n";
    let requests = [(1_000_000, ELSEWHERE), (1_030_000, Read(0, 1, 0)), (2_000_000, Read(0, 3, 2))];
    let played = play(&format!("{DEVICE}{fenced}"), &requests);
    let end_ns = read_from(1_020_000) + 5_000 + 3_552_300 - 1_000_000;
    assert_eq!(ends(&played), [read_from(1_020_000), read_from(end_ns), read_from(read_from(end_ns))]);
}

/// Each read arrives while the array works, so that it suspends the erase, unless that was suspended as often as the
/// device can: then it waits for the end, as the later ones do.
#[test]
fn an_erase_is_suspended_as_often_as_the_device_can() {
    let arrivals_ns = [1_000_000, 2_000_000, 2_500_000, 2_700_000];
    for limit in 1..=3 {
        let device = format!("commands.suspend = {{ latency = \"20 us\", resume = \"5 us\", limit = {limit} }}\n");
        let played = play(&format!("{device}{POLICY}"), &arrivals_ns.map(|arrival_ns| (arrival_ns, ELSEWHERE)));
        // The first three suspensions: each stops the part that follows the one before.
        let parts = [(552_300, 1_020_000), (1_076_100, 2_020_000), (2_076_100, 2_520_000)];
        let resumed_ns = [1_076_100, 2_076_100, 2_576_100][limit - 1];
        // 552,300 to 1,000,000; 1,076,100 to 2,000,000; 2,076,100 to 2,500,000
        let left_ns = 3_000_000 - [447_700, 1_371_600, 1_795_500][limit - 1];
        let mut times = parts[..limit].to_vec();
        times.push((resumed_ns, resumed_ns + left_ns));
        assert_eq!(array_times(&played, FlashOp::Erase), times, "limit {limit}");
        let late = std::iter::successors(Some(read_from(resumed_ns + left_ns)), |&end_ns| Some(read_from(end_ns)));
        let expected: Vec<u64> = parts[..limit].iter().map(|part| read_from(part.1)).chain(late).take(4).collect();
        assert_eq!(ends(&played), expected, "limit {limit}");
        assert_eq!(played.work.suspensions, limit as u64);
    }
}

/// The read arrives after the command to resume: the array begins, and stops at once. That is a suspension, too.
#[test]
fn a_read_that_arrives_while_an_erase_resumes_suspends_it_again() {
    let times = |limit: u32| {
        let device = format!("commands.suspend = {{ latency = \"20 us\", resume = \"5 us\", limit = {limit} }}\n");
        let requests = [(1_000_000, ELSEWHERE), (1_073_000, ELSEWHERE)];
        array_times(&play(&format!("{device}{POLICY}"), &requests), FlashOp::Erase)
    };
    let (resumed_ns, left_ns) = (1_076_100, 2_552_300);
    assert_eq!(times(1), [(552_300, 1_020_000), (resumed_ns, resumed_ns + left_ns)]);
    let last_ns = read_from(resumed_ns + 20_000) + 5_000;
    assert_eq!(times(2), [(552_300, 1_020_000), (resumed_ns, resumed_ns + 20_000), (last_ns, last_ns + left_ns)]);
}

/// An erase that would end no later than it would be suspended goes on; one that has a nanosecond more is suspended.
#[test]
fn an_erase_that_is_about_to_end_goes_on() {
    for (arrival_ns, end_ns) in [(3_532_300, read_from(3_552_300)), (3_532_299, read_from(3_552_299))] {
        assert_eq!(ends(&play(&format!("{DEVICE}{POLICY}"), &[(arrival_ns, ELSEWHERE)])), [end_ns]);
    }
}

/// The page that the collection moves is being programmed. Its read waits for the end, and goes before the erase.
#[test]
fn no_read_of_the_block_that_is_programmed_suspends_the_program() {
    let played = play(&format!("{DEVICE}{POLICY}"), &[(100_000, Read(0, 2, 1))]);
    assert_eq!(array_times(&played, FlashOp::Program), [(52_200, 552_200)]);
    assert_eq!(ends(&played), [read_from(552_200)]);
}

/// A write goes between two operations.
#[test]
fn no_write_suspends() {
    let played = play(&format!("{DEVICE}{POLICY}"), &[(100_000, Write(0))]);
    assert_eq!(array_times(&played, FlashOp::Program), [(52_200, 552_200)]);
    assert_eq!(ends(&played), [552_200 + 1_100 + 500_000]);
}

/// A write for the other plane joins the collection's program, and is suspended with it by a read. This time is charged
/// to other host requests, as if the write had waited at its die for the read.
#[test]
fn a_write_that_joined_a_suspended_program_waits_for_the_host() {
    let two_planes = DRIVE
        .replace("planes_per_die = 1", "planes_per_die = 2")
        .replace("10 KiB", "20 KiB")
        .replace("builders = []", "builders = [], gc = [\"gc+host\"], gc_scan = \"0 ns\"");
    let config: RunConfig =
        copyback::config::from_toml(&format!("{DEVICE}{POLICY}{two_planes}")).expect("the configuration parses");
    // The write arrives during the collection's read, the read of the host during the program.
    let requests = [(40_000, Write(1)), (100_000, ELSEWHERE)];
    let played = Scene { config: &config, planes: &[PLANE, PLANE], collects: &[0], requests: &requests }.play();
    let played = played.expect("the scene is possible");
    // The page of the write is loaded behind the collection's.
    let (begun_ns, resumed_ns) = (51_100 + 2 * 1_100, read_from(120_000) + 5_000);
    let end_ns = resumed_ns + 500_000 - (100_000 - begun_ns);
    assert_eq!(array_times(&played, FlashOp::Program), [(begun_ns, 120_000), (resumed_ns, end_ns)]);
    assert_eq!(ends(&played), [end_ns, read_from(120_000)]);
    let breakdown = played.requests[0].breakdown_ns;
    let parts = [Cause::Gc, Cause::Transfer, Cause::Channel, Cause::Flash, Cause::HostIo];
    let by_hand = [51_100 - 40_000, 1_100, 1_100, 500_000, resumed_ns - 100_000];
    assert_eq!(parts.map(|cause| breakdown[cause as usize]), by_hand);
}

/// The policy selects operations, and keeps those that have little time left.
#[test]
fn a_policy_suspends_what_it_names() {
    let times = |more: &str, op, arrival_ns: u64| {
        let policy = format!("preemption = {{ policy = \"suspend\", poll = \"0 ns\", {more} }}\n");
        array_times(&play(&format!("{DEVICE}{policy}"), &[(arrival_ns, ELSEWHERE)]), op).len()
    };
    assert_eq!(times("suspends = \"erases\"", FlashOp::Program, 100_000), 1);
    assert_eq!(times("suspends = \"erases\"", FlashOp::Erase, 1_000_000), 2);
    assert_eq!(times("suspends = \"programs\"", FlashOp::Program, 100_000), 2);
    assert_eq!(times("suspends = \"programs\"", FlashOp::Erase, 1_000_000), 1);
    assert_eq!(times("min_left = \"452200 ns\"", FlashOp::Program, 100_000), 1);
    assert_eq!(times("min_left = \"452199 ns\"", FlashOp::Program, 100_000), 2);
}

/// Two dies on one channel: the erase's cycles wait behind a long transfer, and the read waits at the die meanwhile.
#[test]
fn an_erase_that_waits_for_its_channel_stops_when_it_begins() {
    let config: RunConfig = copyback::config::from_toml(&format!(
        "{DEVICE}{POLICY}{}",
        DRIVE.replace("chips_per_channel = 1", "chips_per_channel = 2").replace("10 KiB", "20 KiB")
    ))
    .expect("the configuration parses");
    // The other die's program is loaded from 552,000 to 553,100; the collection's erase waits for its end.
    let requests = [(552_000, Write(1)), (552_500, ELSEWHERE)];
    let played = Scene { config: &config, planes: &[PLANE, PLANE], collects: &[0], requests: &requests }.play();
    let played = played.expect("the scene is possible");
    let (begun_ns, free_ns) = (553_200, 573_200);
    assert_eq!(ends(&played), [552_000 + 1_100 + 500_000, read_from(free_ns)]);
    let resumed_ns = read_from(free_ns) + 5_000;
    let times = array_times(&played, FlashOp::Erase);
    assert_eq!(times, [(begun_ns, free_ns), (resumed_ns, resumed_ns + 3_000_000)]);
}

#[test]
fn a_device_that_cannot_suspend_refuses_the_policy() {
    let error =
        |device: &str| try_to_play(DRIVE, &format!("{device}{POLICY}"), &[]).err().expect("it is refused").to_string();
    assert!(error("").contains("this device cannot suspend an operation"), "{}", error(""));
    let neither = "commands.suspend = { latency = \"20 us\", erase = false, program = false }\n";
    assert!(error(neither).contains("preemption.suspends"), "{}", error(neither));
}

#[test]
fn times_and_limits_that_no_device_has_are_refused_under_every_policy() {
    for policy in ["", POLICY] {
        for (value, key) in [
            ("latency = \"20 us\", limit = 0", "commands.suspend.limit"),
            ("latency = \"2 s\"", "commands.suspend.latency"),
            ("latency = \"20 us\", resume = \"2 s\"", "commands.suspend.resume"),
        ] {
            let played = try_to_play(DRIVE, &format!("commands.suspend = {{ {value} }}\n{policy}"), &[]);
            let error = played.err().expect("it is refused").to_string();
            assert!(error.contains(key), "{policy}: {error}");
        }
    }
}
