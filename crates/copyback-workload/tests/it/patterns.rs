//! Do generated requests repeat, skip, run and pair as their keys say?

use copyback_workload::{Op, Request, open};
use std::collections::BTreeSet;

/// A drive of 64 blocks of 4 KiB.
const CAPACITY_BYTES: u64 = 64 * 4096;
const BLOCK: &str = "size = { kind = \"fixed\", mean = \"4 KiB\" }\n";

fn requests(count: usize, keys: &str) -> Vec<Request> {
    let spec = toml::from_str(&format!("requests = {count}\n{keys}")).unwrap();
    let mut source = open(&spec, 3, CAPACITY_BYTES).unwrap();
    let requests: Vec<Request> = std::iter::from_fn(|| source.next_request().unwrap()).collect();
    assert_eq!(requests.len(), count);
    requests
}

/// Blocks where requests begin.
fn blocks(requests: &[Request]) -> Vec<u64> {
    requests.iter().map(|request| request.offset_bytes / 4096).collect()
}

#[test]
fn requests_repeat_after_so_many_bytes_and_only_then() {
    for addresses in
        ["kind = \"once\"", "kind = \"uniform\"", "kind = \"zipf\", theta = 0.9", "kind = \"uniform\", run_length = 4"]
    {
        for (after, length) in [("1.0", 64), ("\"128 KiB\"", 32)] {
            let keys = format!("read_share = 0.5\nrepeat_after = {after}\naddresses = {{ {addresses} }}\n{BLOCK}");
            let all = requests(4 * 64, &keys);
            let passes: Vec<_> =
                all.chunks(length).map(|pass| (blocks(pass), pass.iter().map(|r| r.op).collect::<Vec<_>>())).collect();
            assert!(passes.windows(2).all(|pair| pair[0] == pair[1]), "{addresses} {after}");
            let free = requests(2 * length, &keys.replace("repeat_after", "# "));
            assert_ne!(blocks(&free[..length]), blocks(&free[length..]), "{addresses}");
        }
    }
    let once = requests(64, &format!("read_share = 0\nrepeat_after = 1.0\naddresses = {{ kind = \"once\" }}\n{BLOCK}"));
    assert_eq!(blocks(&once).into_iter().collect::<BTreeSet<_>>().len(), 64, "each block comes once");
}

#[test]
fn times_go_on_where_requests_repeat() {
    let keys = format!("read_share = 0\nrepeat_after = 1.0\narrivals = {{ kind = \"fixed\", rate = 1000 }}\n{BLOCK}");
    let times: Vec<u64> = requests(130, &keys).iter().map(|request| request.arrival_ns).collect();
    assert!(times.iter().zip(0..).all(|(time, index)| *time == index * 1_000_000));
}

#[test]
fn a_stream_skips_forwards_and_goes_backwards() {
    let stream = |keys: &str| {
        let addresses = format!("addresses = {{ kind = \"uniform\", sequential_share = 1, {keys} }}\n");
        blocks(&requests(66, &format!("read_share = 1\n{addresses}{BLOCK}")))
    };
    // Two blocks are left out: 0, 3, ..., 63, and again from the start.
    let holes = stream("skip = \"8 KiB\"");
    assert_eq!(holes[..23], [0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48, 51, 54, 57, 60, 63, 0]);
    // From the end of a block, 8 KiB back is the start of the block before it. The first request is at block 0.
    let back = stream("skip_back = \"8 KiB\"");
    let expected: Vec<u64> = std::iter::once(0).chain((0..=62).rev()).chain([62, 61]).collect();
    assert_eq!(back, expected);
}

#[test]
fn a_stream_may_skip_between_stretches() {
    let addresses =
        "addresses = { kind = \"uniform\", sequential_share = 1, skip = \"40 KiB\", skip_every = \"16 KiB\" }\n";
    let seen = blocks(&requests(22, &format!("read_share = 1\n{addresses}{BLOCK}")));
    // Four blocks, ten are left out, and again from the start where no more fit.
    assert_eq!(seen, [0, 1, 2, 3, 14, 15, 16, 17, 28, 29, 30, 31, 42, 43, 44, 45, 56, 57, 58, 59, 0, 1]);
}

#[test]
fn a_new_place_is_drawn_for_each_run() {
    let run = |keys: &str| {
        let addresses = format!("addresses = {{ kind = \"uniform\", run_length = 4, {keys} }}\n");
        blocks(&requests(400, &format!("read_share = 1\n{addresses}{BLOCK}")))
    };
    let steps = |run: &[u64]| run.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect::<Vec<_>>();
    let together = run("sequential_by_op = true");
    // A run that comes to the end of the 64 blocks has a new place there.
    let is_run = |run: &[u64]| steps(run).iter().all(|step| *step == 1) || run.contains(&63);
    assert!(together.chunks(4).all(is_run), "{together:?}");
    let places: BTreeSet<u64> = together.iter().step_by(4).copied().collect();
    // 100 draws of 64: 64 (1 - (63/64)^100) = 51 are met, give or take 3.
    assert!((40..=62).contains(&places.len()), "{}", places.len());
    let alike = run("run_repeats = true");
    assert!(alike.chunks(4).all(|run| steps(run).iter().all(|step| *step == 0)), "{alike:?}");
}

#[test]
fn listed_blocks_come_in_turn() {
    let listed = |keys: &str| {
        let addresses = format!("addresses = {{ kind = \"listed\", blocks = [2, 0, 1]{keys} }}\n");
        blocks(&requests(7, &format!("read_share = 1\n{addresses}{BLOCK}")))
    };
    assert_eq!(listed(""), [2, 0, 1, 2, 0, 1, 2]);
    assert_eq!(listed(", advance = true"), [2, 0, 1, 5, 3, 4, 8]);
}

#[test]
fn sizes_of_a_range_are_its_multiples_each_as_often() {
    let size = "size = { kind = \"range\", min = \"4 KiB\", max = \"16 KiB\" }\n";
    let all = requests(8000, &format!("read_share = 1\n{size}"));
    for blocks in 1..=4 {
        let count = all.iter().filter(|request| request.len_bytes == blocks * 4096).count() as f64;
        // Binomial: 2000, five times a deviation of 39.
        assert!((count - 2000.0).abs() < 195.0, "{count} of {blocks} blocks");
    }
}

#[test]
fn each_write_follows_a_trim_of_its_addresses() {
    let keys = format!("read_share = 0.5\ntrim_before_write = true\nrepeat_after = 1.0\n{BLOCK}");
    let all = requests(1000, &keys);
    for (at, write) in all.iter().enumerate().filter(|(_, request)| request.op == Op::Write) {
        assert_eq!(all[at - 1].op, Op::Trim);
        assert_eq!(all[at - 1].offset_bytes, write.offset_bytes);
    }
    let count = |op| all.iter().filter(|request| request.op == op).count();
    assert!(count(Op::Trim).abs_diff(count(Op::Write)) <= 1 && count(Op::Read) > 250, "{}", count(Op::Trim));
}
