//! Do reads with arrivals of their own come when theory says, whatever writes and trims do?

use copyback_workload::{Op, Request, open};

const FIXED: &str = "footprint = \"1 GiB\"\nsize = { kind = \"fixed\", mean = \"4 KiB\" }\n";

fn requests(count: usize, keys: &str) -> Vec<Request> {
    let spec = toml::from_str(&format!("requests = {count}\n{FIXED}{keys}")).unwrap();
    let mut source = open(&spec, 3, u64::MAX).unwrap();
    let requests: Vec<Request> = std::iter::from_fn(|| source.next_request().unwrap()).collect();
    assert_eq!(requests.len(), count);
    assert!(requests.is_sorted_by_key(|request| request.arrival_ns));
    requests
}

fn apart(reads: &str, others: &str) -> String {
    format!("read_arrivals = {{ {reads} }}\narrivals = {{ {others} }}\n")
}

fn times(requests: &[Request], is_read: bool) -> Vec<u64> {
    let class = requests.iter().filter(|request| (request.op == Op::Read) == is_read);
    class.map(|request| request.arrival_ns).collect()
}

/// How many of `times` fall into each of the first `windows` windows.
fn counts(times: &[u64], window_ns: u64, windows: usize) -> Vec<f64> {
    let mut counts = vec![0.0; windows];
    for time_ns in times {
        if let Some(count) = counts.get_mut((time_ns / window_ns) as usize) {
            *count += 1.0;
        }
    }
    counts
}

fn covariance(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum::<f64>() / a.len() as f64
}

/// 2^64 ns are 584 years: of requests that are 100 years apart, the seventh at the latest is beyond.
#[test]
fn an_error_numbers_the_request_that_arrives_too_late() {
    let keys = "read_share = 0.5\narrivals = { kind = \"fixed\", mean_gap = \"876000 h\" }\n";
    let spec = toml::from_str(&format!("requests = 20\n{FIXED}{keys}")).unwrap();
    let mut source = open(&spec, 3, u64::MAX).unwrap();
    let mut count = 0;
    let error = loop {
        match source.next_request() {
            Ok(request) => count += u64::from(request.is_some()),
            Err(error) => break error,
        }
    };
    assert!((5..7).contains(&count), "{count}");
    let number = format!("request {} would arrive beyond", count + 1);
    assert!(error.message.contains(&number), "{number}: {error}");
}

#[test]
fn two_poisson_processes_have_their_rates_and_know_nothing_of_each_other() {
    // Two Poisson processes of 300 and 700 a second add up to one of 1000 a second. Each of its requests reads with
    // probability 0.3. The test takes 100 s of it; bounds are five standard errors.
    let all = requests(100_000, &apart("kind = \"poisson\", rate = 300", "kind = \"poisson\", rate = 700"));
    let (reads, writes) = (times(&all, true), times(&all, false));
    assert!((reads.len() as f64 - 30_000.0).abs() < 5.0 * (100_000.0_f64 * 0.3 * 0.7).sqrt(), "{}", reads.len());
    let end_s = all[all.len() - 1].arrival_ns as f64 / 1e9;
    assert!((end_s - 100.0).abs() < 5.0 * 100.0 / 100_000_f64.sqrt(), "{end_s}");
    // Counts of a Poisson process in 1000 windows have their mean as variance, within sqrt(2 / 1000) of it; and two
    // independent ones have a correlation of 0, within 1 / sqrt(1000).
    let windows = 980;
    let [reads, writes] = [reads, writes].map(|times| counts(&times, 100_000_000, windows));
    let error = 1.0 / (windows as f64).sqrt();
    let [var_reads, var_writes] = [&reads, &writes].map(|counts| covariance(counts, counts));
    assert!((var_reads / 30.0 - 1.0).abs() < 5.0 * 2_f64.sqrt() * error, "{var_reads}");
    assert!((var_writes / 70.0 - 1.0).abs() < 5.0 * 2_f64.sqrt() * error, "{var_writes}");
    let correlation = covariance(&reads, &writes) / (var_reads * var_writes).sqrt();
    assert!(correlation.abs() < 5.0 * error, "{correlation}");
}

#[test]
fn two_processes_of_one_rate_do_not_come_together() {
    // Counts in windows as above: drawn from one stream, they would be the same.
    let all = requests(100_000, &apart("kind = \"poisson\", rate = 500", "kind = \"poisson\", rate = 500"));
    let windows = 980;
    let [reads, writes] = [true, false].map(|is_read| counts(&times(&all, is_read), 100_000_000, windows));
    let correlation = covariance(&reads, &writes) / (covariance(&reads, &reads) * covariance(&writes, &writes)).sqrt();
    assert!(correlation.abs() < 5.0 / (windows as f64).sqrt(), "{correlation}");
}

#[test]
fn one_process_draws_nothing_of_the_other() {
    let others = "kind = \"poisson\", rate = 700";
    let of = |reads: &str| requests(20_000, &apart(reads, others));
    let (slow, fast) =
        (of("kind = \"poisson\", rate = 10"), of("kind = \"on-off\", rate = 300, burst = \"1 s\", burst_rate = 900"));
    let alone = times(&requests(20_000, &format!("read_share = 0\narrivals = {{ {others} }}\n")), false);
    for all in [slow, fast] {
        let writes = times(&all, false);
        assert!(writes.len() < 20_000 && writes == alone[..writes.len()]);
    }
}

#[test]
fn reads_go_first_where_both_come_at_once() {
    let all = requests(8, &apart("kind = \"fixed\", rate = 500", "kind = \"fixed\", rate = 1000"));
    let seen: Vec<(u64, Op)> = all.iter().map(|request| (request.arrival_ns / 1_000_000, request.op)).collect();
    let (r, w) = (Op::Read, Op::Write);
    assert_eq!(seen, [(0, r), (0, w), (1, w), (2, r), (2, w), (3, w), (4, r), (4, w)]);
}

#[test]
fn bursts_that_start_apart_stay_apart() {
    // Bursts of 1 s, one every 4 s: writes from 0 s on, reads from 2 s on.
    let bursts = "kind = \"on-off\", burst = \"1 s\", rate = 100, burst_rate = 400";
    let all = requests(20_000, &apart(&format!("{bursts}, start = \"2 s\""), bursts));
    let phase_s = |time_ns: &u64| time_ns / 1_000_000_000 % 4;
    assert!(times(&all, false).iter().all(|time_ns| phase_s(time_ns) == 0));
    assert!(times(&all, true).iter().all(|time_ns| phase_s(time_ns) == 2));
    // 100 s of both have 10,000 each, within five standard errors; a burst more or less at the end is 400.
    assert!(times(&all, true).len().abs_diff(10_000) < 5 * 71 + 400);
}

#[test]
fn reads_at_an_even_rate_do_not_look_at_the_bursts_of_writes() {
    // A quarter of all time is a burst, and so a quarter of all reads come in one.
    let writes = "kind = \"on-off\", burst = \"1 s\", rate = 1000, burst_rate = 4000";
    let all = requests(200_000, &apart("kind = \"poisson\", rate = 1000", writes));
    let reads: Vec<u64> = times(&all, true).into_iter().filter(|time_ns| *time_ns < 96_000_000_000).collect();
    let inside = reads.iter().filter(|time_ns| *time_ns / 1_000_000_000 % 4 == 0).count() as f64;
    assert!((inside / reads.len() as f64 - 0.25).abs() < 5.0 * (0.25 * 0.75 / reads.len() as f64).sqrt(), "{inside}");
}

#[test]
fn trims_are_a_share_of_what_does_not_read() {
    let keys = apart("kind = \"poisson\", rate = 500", "kind = \"poisson\", rate = 500") + "trim_share = 0.2\n";
    let all = requests(100_000, &keys);
    let trims = all.iter().filter(|request| request.op == Op::Trim).count();
    // A tenth of all, within five standard errors.
    assert!(trims.abs_diff(10_000) < 475, "{trims}");
}
