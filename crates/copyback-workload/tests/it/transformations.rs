//! Do transformations and generators do what their keys say?

use copyback_workload::stats::TraceStats;
use copyback_workload::{Error, Op, Priority, Request, RequestSource, open};
use std::io::Write;

const TRACE: &[u8] = b"0 0 0 8 1\n1000 1 8 1 0\n2000 0 16 8 1\n4000 0 100 8 0\n";

fn run(keys: &str, capacity_bytes: u64) -> Result<(Vec<Request>, Vec<String>), Error> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(TRACE).unwrap();
    let mut spec: copyback_workload::spec::WorkloadSpec = toml::from_str(keys).unwrap();
    spec.trace = Some(file.path().to_owned());
    let mut source = open(&spec, 1, capacity_bytes)?;
    let mut requests = Vec::new();
    while let Some(request) = source.next_request()? {
        requests.push(request);
    }
    Ok((requests, source.notes()))
}

fn arrivals(keys: &str) -> Vec<u64> {
    run(keys, u64::MAX).unwrap().0.iter().map(|request| request.arrival_ns).collect()
}

#[test]
fn selections_and_times() {
    assert_eq!(arrivals("device = 1"), [1000]);
    assert_eq!(arrivals("first = 2"), [0, 1000]);
    assert_eq!(arrivals("time_scale = 0.5"), [0, 500, 1000, 2000]);
    assert_eq!(arrivals("window = [\"1 us\", \"4 us\"]"), [0, 1000]);
    // Four requests in 4 µs: the next pass begins one mean gap of 1,333 ns later.
    assert_eq!(arrivals("loop = 2"), [0, 1000, 2000, 4000, 5333, 6333, 7333, 9333]);
    assert_eq!(arrivals("loop = 3\nfirst = 1"), [0, 0, 0]);
    assert!(run("device = 9", u64::MAX).unwrap_err().message.contains("device 9"));
    assert!(run("window = [\"1 s\", \"2 s\"]", u64::MAX).unwrap_err().help.unwrap().contains("window"));
}

#[test]
fn alignment_widens() {
    let (requests, _) = run("align = \"4 KiB\"", u64::MAX).unwrap();
    let places: Vec<(u64, u64)> = requests.iter().map(|request| (request.offset_bytes, request.len_bytes)).collect();
    assert_eq!(places, [(0, 4096), (4096, 4096), (8192, 4096), (49_152, 8192)]);
}

#[test]
fn beyond_the_capacity() {
    let error = run("", 16_384).unwrap_err();
    assert!(error.message.contains("request 4") && error.message.contains("16 KiB"), "{error}");
    let (requests, notes) = run("beyond_capacity = \"reject\"", 16_384).unwrap();
    assert_eq!(requests.len(), 3);
    assert!(notes.iter().any(|note| note.starts_with("1 request beyond")), "{notes:?}");
    let (requests, notes) = run("beyond_capacity = \"fold\"", 16_384).unwrap();
    assert_eq!(requests[3].offset_bytes, 51_200 % 16_384);
    assert!(notes.iter().any(|note| note.contains("folded")), "{notes:?}");
    // No folding brings a request within a drive that is smaller than it.
    let refused = run("beyond_capacity = \"fold\"", 100).unwrap_err();
    assert!(refused.message.contains("is larger than the drive"), "{refused:?}");
    assert!(!refused.help.as_deref().unwrap_or_default().contains("fold`"), "{refused:?}");
    assert!(run("beyond_capacity = \"reject\"", 512).unwrap_err().message.contains("all 4"));
}

/// The trace has four requests of two devices within 4 us. The last request ends at byte 55,296. Only the first and the
/// third are aligned to 4 KiB.
#[test]
fn settings_that_leave_every_request_as_it_was_are_noted() {
    for (keys, capacity_bytes, key) in [
        ("beyond_capacity = \"fold\"", 55_296, Some("beyond_capacity")),
        ("beyond_capacity = \"reject\"", 55_296, Some("beyond_capacity")),
        ("beyond_capacity = \"fold\"", 55_295, None),
        ("beyond_capacity = \"error\"", 55_296, None),
        ("first = 5", u64::MAX, Some("first")),
        ("first = 4", u64::MAX, None),
        ("window = [\"0 us\", \"5 us\"]", u64::MAX, Some("window")),
        ("window = [\"0 us\", \"4 us\"]", u64::MAX, None),
        ("window = [\"1 us\", \"5 us\"]", u64::MAX, None),
        ("window = [\"0 us\", \"1 us\"]\ntime_scale = 2.0", u64::MAX, Some("time_scale")),
        ("time_scale = 2.0", u64::MAX, None),
        ("align = \"512 B\"", u64::MAX, Some("align")),
        ("align = \"4 KiB\"", u64::MAX, None),
        ("first = 1\nalign = \"4 KiB\"", u64::MAX, Some("align")),
        ("device = 1", u64::MAX, None),
        ("layout = \"packed\"", u64::MAX, None),
        ("first = 1\nlayout = \"packed\"", u64::MAX, Some("layout")),
        ("layout = \"compact\"", u64::MAX, None),
        // The unit of a compact layout is not only what requests are widened to.
        ("first = 1\nlayout = \"compact\"\nalign = \"4 KiB\"", u64::MAX, Some("layout")),
    ] {
        let (_, notes) = run(keys, capacity_bytes).unwrap();
        let said: Vec<&String> = notes.iter().filter(|note| note.contains("has no effect")).collect();
        let expected = key.map(|key| format!("`workload.{key}` has no effect: "));
        assert_eq!(said.len(), usize::from(expected.is_some()), "{keys}: {notes:?}");
        assert!(expected.is_none_or(|expected| said[0].starts_with(&expected)), "{keys}: {said:?}");
    }
}

/// What a generator draws is aligned, and lies on the drive unless its footprint does not.
#[test]
fn generators_need_no_transformation() {
    let notes = |keys: &str, capacity_bytes| {
        let text = format!("requests = 10\nread_share = 0.5\n{FIXED}{keys}");
        let mut source = open(&toml::from_str(&text).unwrap(), 1, capacity_bytes).unwrap();
        while source.next_request().unwrap().is_some() {}
        source.notes().into_iter().filter(|note| note.contains("has no effect")).collect::<Vec<_>>()
    };
    let beyond = notes("beyond_capacity = \"reject\"\nalign = \"4 KiB\"", 1 << 20);
    assert_eq!(beyond, ["`workload.beyond_capacity` has no effect: no request ends beyond the capacity of 1 MiB"]);
    // Without it the footprint would be refused.
    assert!(notes("beyond_capacity = \"fold\"\nfootprint = \"1025 KiB\"\nalign = \"1 KiB\"", 1 << 20).is_empty());
    assert_eq!(notes("device = 0", 1 << 20), ["`workload.device` has no effect: every request is of this device"]);
}

#[test]
fn packing_keeps_devices_apart_and_fits_a_small_drive() {
    let (requests, notes) = run("layout = \"packed\"", 2 << 20).unwrap();
    let places: Vec<u64> = requests.iter().map(|request| request.offset_bytes).collect();
    assert_eq!(places, [0, (1 << 20) + 4096, 8192, 51_200]);
    assert!(notes.iter().any(|note| note.contains("2 extents")), "{notes:?}");
}

#[test]
fn a_compact_layout_fits_what_is_used_into_a_small_drive() {
    // 4 KiB at 0, 512 B at 4096 of device 1, 4 KiB at 8192, and 4 KiB at 51,200, which lie in two pages.
    let (requests, notes) = run("layout = \"compact\"", 5 * 4096).unwrap();
    let places: Vec<(u64, u64)> = requests.iter().map(|request| (request.offset_bytes, request.len_bytes)).collect();
    assert_eq!(places, [(0, 4096), (4096, 512), (8192, 4096), (12_288 + 2048, 4096)]);
    assert!(notes.iter().any(|note| note.contains("packed into 20 KiB: 4 extents of 4 KiB units")), "{notes:?}");
    // Units of the alignment: 51,200 to 55,296 lies in one of 16 KiB, and the rest in two more, one of each device.
    let (requests, _) = run("layout = \"compact\"\nalign = \"16 KiB\"", 3 * 16_384).unwrap();
    assert_eq!(requests[3].offset_bytes, 2 * 16_384);
    let (requests, _) = run("layout = \"compact\"\ndevice = 1", 4096).unwrap();
    assert_eq!(requests[0].offset_bytes, 0, "the other devices leave no holes");
    let passes: Vec<u64> =
        run("layout = \"compact\"\nloop = 2", 5 * 4096).unwrap().0.iter().map(|r| r.offset_bytes).collect();
    assert_eq!(passes[..4], passes[4..], "each pass has the same places");
    // Only what is played takes room: the last request's two pages, or the first request's one.
    let (requests, _) = run("layout = \"compact\"\nwindow = [\"3 us\", \"5 us\"]", 2 * 4096).unwrap();
    assert_eq!(requests.iter().map(|r| (r.arrival_ns, r.offset_bytes)).collect::<Vec<_>>(), [(1000, 2048)]);
    let (_, notes) = run("layout = \"compact\"\nfirst = 1", 4096).unwrap();
    assert!(notes.iter().any(|note| note.contains("packed into 4 KiB: 1 extent of")), "{notes:?}");
    let (requests, _) = run("layout = \"compact\"\nfirst = 2\nbeyond_capacity = \"reject\"", 4096).unwrap();
    assert_eq!(requests.len(), 1, "those that are rejected make way for later ones, which have places, too");
}

#[test]
fn a_trace_that_does_not_fit_is_told_of_the_compact_layout_where_it_helps() {
    let help = |keys: &str| run(keys, 16_384).unwrap_err().help.unwrap();
    assert!(help("").contains("workload.layout=compact"), "{}", help(""));
    assert!(help("layout = \"packed\"").contains("workload.layout=compact"));
    let compact = help("layout = \"compact\"");
    assert!(!compact.contains("layout") && compact.contains("--fit"), "{compact}");
}

fn generated(keys: &str) -> TraceStats {
    let common = "requests = 100_000\nread_share = 0.5\nfootprint = \"1 GiB\"\n";
    let spec = toml::from_str(&format!("{common}{keys}")).unwrap();
    let stats = TraceStats::collect(&mut open(&spec, 3, u64::MAX).unwrap()).unwrap();
    assert_eq!(stats.requests, 100_000);
    assert!(stats.end_bytes <= 1 << 30);
    stats
}

const FIXED: &str = "size = { kind = \"fixed\", mean = \"4 KiB\" }\n";

#[test]
fn generated_moments_are_those_of_theory() {
    // Bounds are five standard errors of 100,000 draws.
    let mix =
        "size = { kind = \"mix\", mix = [{ size = \"4 KiB\", weight = 3 }, { size = \"64 KiB\", weight = 1 }] }\n";
    assert!((generated(mix).mean_bytes / 1024.0 - 19.0).abs() < 5.0 * 26.0 / 316.0);
    let poisson = generated(&format!("{FIXED}arrivals = {{ kind = \"poisson\", mean_gap = \"1 ms\" }}"));
    assert!((poisson.mean_gap_ns / 1e6 - 1.0).abs() < 5.0 / 316.0);
    assert!((poisson.gaps.median_ns as f64 / 1e6 - 2_f64.ln()).abs() < 0.02);
    let fixed = generated(&format!("{FIXED}arrivals = {{ kind = \"fixed\", rate = 3 }}"));
    assert!((fixed.requests_per_s - 3.0).abs() < 1e-6, "gaps that are no whole number must not drift");
    let sequential = generated(&format!("{FIXED}addresses = {{ kind = \"uniform\", sequential_share = 0.4 }}"));
    assert!((sequential.sequential_share - 0.4).abs() < 0.008);
    // Uniform: of n pages, n (1 - exp(-draws / n)) are touched.
    let pages = f64::from(1 << 18);
    let touched = pages * (1.0 - (-100_000.0 / pages).exp()) * 4096.0;
    assert!((generated(FIXED).footprint_bytes as f64 / touched - 1.0).abs() < 0.01);
    let trims = generated(&format!("{FIXED}trim_share = 0.1\nhigh_priority_share = 0.2"));
    assert!(trims.trims.requests.abs_diff(10_000) < 500 && trims.high_priority_requests.abs_diff(20_000) < 700);
}

#[test]
fn hot_parts_get_their_share_of_the_scope() {
    let keys = format!(
        "{FIXED}requests = 100_000\nread_share = 0.5\nfootprint = \"1 GiB\"\n\
                        addresses = {{ kind = \"hot-cold\", hot_share = 0.8, hot_space = 0.2, hot_scope = \"writes\" }}"
    );
    let spec = toml::from_str(&keys).unwrap();
    let mut source = open(&spec, 3, u64::MAX).unwrap();
    let hot_end = (1_u64 << 30) / 5;
    let (mut hot, mut all) = ([0_u32; 2], [0_u32; 2]);
    while let Some(request) = source.next_request().unwrap() {
        let class = usize::from(request.op == Op::Write);
        all[class] += 1;
        hot[class] += u32::from(request.offset_bytes < hot_end);
    }
    assert!((f64::from(hot[0]) / f64::from(all[0]) - 0.2).abs() < 0.01);
    assert!((f64::from(hot[1]) / f64::from(all[1]) - 0.8).abs() < 0.01);
}

#[test]
fn bursts_keep_the_mean() {
    let keys = "arrivals = { kind = \"on-off\", rate = 500, burst_rate = 5000, burst = \"10 ms\" }";
    let bursty = generated(&format!("{FIXED}{keys}"));
    assert!((bursty.requests_per_s / 500.0 - 1.0).abs() < 5.0 / 316.0 + 0.001);
    assert!((bursty.gaps.median_ns as f64 / 200_000.0 - 2_f64.ln()).abs() < 0.03);
}

#[test]
fn a_generated_workload_stays_what_it_is() {
    // Written down before reads could have arrivals of their own: a change here changes every result of every user.
    let keys = "requests = 10_000\nread_share = 0.5\ntrim_share = 0.1\nfootprint = \"1 GiB\"\n\
                size = { kind = \"exponential\", mean = \"20 KiB\" }\n\
                arrivals = { kind = \"on-off\", rate = 500, burst_rate = 5000, burst = \"10 ms\" }\n\
                addresses = { kind = \"hot-cold\" }";
    let mut source = open(&toml::from_str(keys).unwrap(), 3, u64::MAX).unwrap();
    let mut bytes = Vec::new();
    while let Some(request) = source.next_request().unwrap() {
        let numbers = [request.arrival_ns, request.offset_bytes, request.len_bytes, request.op as u64];
        bytes.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
    }
    assert_eq!(format!("{:016x}", copyback_workload::rng::fnv1a64(&bytes)), "11fc7d3b8e2d4177");
}

#[test]
fn one_concern_draws_nothing_of_another() {
    let spec = |keys: &str| {
        let common = "requests = 50\nread_share = 0.5\nfootprint = \"1 GiB\"\n";
        toml::from_str(&format!("{common}{FIXED}{keys}")).unwrap()
    };
    let places = |keys: &str| {
        let mut source = open(&spec(keys), 3, u64::MAX).unwrap();
        (0..50).map(|_| source.next_request().unwrap().unwrap().offset_bytes).collect::<Vec<_>>()
    };
    assert_eq!(places(""), places("high_priority_share = 0.5\narrivals = { kind = \"poisson\", rate = 10 }"));
}

#[test]
fn urgent_requests_are_the_same_share_of_traces_and_of_generated_ones() {
    let urgent = |keys: &str| {
        let (requests, _) = run(keys, u64::MAX).unwrap();
        requests.iter().map(|request| request.priority == Priority::High).collect::<Vec<_>>()
    };
    assert_eq!(urgent(""), [false; 4]);
    assert_eq!(urgent("high_priority_share = 0"), [false; 4]);
    assert_eq!(urgent("high_priority_share = 1"), [true; 4]);
    // Each pass over a trace draws the same as the first.
    let twice = urgent("high_priority_share = 0.5\nloop = 2");
    assert_eq!(twice[..4], twice[4..]);
    // Five standard errors of 100,000 draws: 5 sqrt(100,000 x 0.1 x 0.9).
    let generated = generated(&format!("{FIXED}high_priority_share = 0.1"));
    assert!(generated.high_priority_requests.abs_diff(10_000) < 475, "{}", generated.high_priority_requests);
    let error = run("high_priority_share = 10", u64::MAX).unwrap_err();
    assert!(error.message.contains("high_priority_share") && error.help.unwrap().contains("0.1"), "{}", error.message);
}

#[test]
fn what_is_left_out_draws_no_priority() {
    let urgent = |keys: &str| {
        let common = "requests = 2000\nread_share = 0.5\nfootprint = \"1 GiB\"\nhigh_priority_share = 0.3\n";
        let spec = toml::from_str(&format!("{common}{FIXED}{keys}")).unwrap();
        let mut source = open(&spec, 3, 1 << 29).unwrap();
        let marks: Vec<bool> = std::iter::from_fn(|| source.next_request().unwrap())
            .map(|request| request.priority == Priority::High)
            .take(500)
            .collect();
        marks
    };
    assert_eq!(urgent("beyond_capacity = \"reject\""), urgent("beyond_capacity = \"fold\""));
}

#[test]
fn a_footprint_beyond_the_device_is_refused() {
    let keys = format!("requests = 9\nread_share = 1\nfootprint = 0.5\n{FIXED}");
    let error = open(&toml::from_str(&keys).unwrap(), 1, u64::MAX).err().unwrap();
    assert!(error.message.contains("no device"), "{error}");
    let keys = keys.replace("0.5", "\"1 GiB\"");
    let error = open(&toml::from_str(&keys).unwrap(), 1, 1 << 20).err().unwrap();
    assert!(error.message.contains("1 GiB") && error.message.contains("1 MiB"), "{error}");
}

#[test]
fn files_that_cover_more_than_can_be_packed_are_refused() {
    // Few bytes of a damaged trace: each request covers a million extents, each of which would be remembered.
    let lines = (0..5).map(|tib: u64| format!("0 file trim {} {}\n", tib << 40, 1_u64 << 40));
    let text: String = std::iter::once("fio version 3 iolog\n".to_owned()).chain(lines).collect();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let spec = copyback_workload::spec::WorkloadSpec::of_trace(file.path());
    let mut source = open(&spec, 1, u64::MAX).unwrap();
    for _ in 0..4 {
        assert_eq!(source.next_request().unwrap().unwrap().len_bytes, 1 << 40);
    }
    let refused = source.next_request().unwrap_err();
    assert!(refused.message.starts_with("request 5: ") && refused.message.contains("4 TiB"), "{refused}");
    assert!(refused.help.unwrap().contains("as-is"));
}
