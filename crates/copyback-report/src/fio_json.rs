//! Results in the form of fio's JSON, for tools that read it.
//!
//! Keys, units and nesting are those of fio 3. Values that a simulated drive lacks (processor time, page faults) are 0,
//! as in fio if it did not measure them. Times are simulated, and the time of day is the epoch, so that the same inputs
//! give the same bytes.

use copyback::observe::report::{Latency, OpRates, Outcome, RateSamples};
use copyback_lab::Failure;
use copyback_lab::execute::Finished;
use copyback_lab::fio::{Jobs, ListedJob};
use copyback_lab::plan::Planned;
use hdrhistogram::Histogram;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// fio's percentiles.
const PERCENTILES: &[f64] =
    &[1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// The upper ends of fio's bins of latencies, in each of its three units.
const BIN_ENDS: &[u64] = &[2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// The version of fio that has this layout.
const LAYOUT: &str = "fio-3.33";

/// The report of a job.
struct JobReport<'a> {
    name: &'a str,
    group: u64,
    depth: u64,
    /// Shares of the requests by the number of outstanding requests: 1, 2 or 3, 4 to 7, …; `None` if not counted.
    outstanding: Option<Vec<f64>>,
    /// Whether the job is merged into the previous job of its group.
    is_grouped: bool,
    options: &'a [(String, String)],
    /// Percentiles to show, in per cent.
    percentiles: &'a [f64],
    /// Whether `clat` and `lat` show them.
    shows_percentiles: [bool; 2],
    ops: [OpReport; 3],
    span_ns: u64,
    /// The sum of `span_ns` over all jobs of a group.
    job_ns: u64,
}

/// One operation of a job.
struct OpReport {
    done: u64,
    bytes: u64,
    /// The measured time; for a group, that of its longest job with such requests.
    span_ns: u64,
    times: Option<Times>,
    rates: OpRates,
}

/// Response times of an operation.
struct Times {
    count: u64,
    mean_ns: f64,
    stdev_ns: f64,
    min_ns: u64,
    max_ns: u64,
    histogram: Histogram<u64>,
}

impl Times {
    fn new(latency: &Latency, histogram: &Histogram<u64>) -> Self {
        let Latency { count, mean_ns, stdev_ns, min_ns, max_ns, .. } = *latency;
        Self { count, mean_ns, stdev_ns, min_ns, max_ns, histogram: histogram.clone() }
    }

    /// Adds the times of another job.
    fn add(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        let [own, theirs] = [self.count as f64, other.count as f64];
        let mean_ns = (own * self.mean_ns + theirs * other.mean_ns) / (own + theirs);
        let square = |times: &Self| times.stdev_ns * times.stdev_ns + times.mean_ns * times.mean_ns;
        let mean_square = (own * square(self) + theirs * square(other)) / (own + theirs);
        self.min_ns = if self.count == 0 { other.min_ns } else { self.min_ns.min(other.min_ns) };
        self.max_ns = self.max_ns.max(other.max_ns);
        self.stdev_ns = (mean_square - mean_ns * mean_ns).max(0.0).sqrt();
        self.mean_ns = mean_ns;
        self.count += other.count;
        self.histogram.add(&other.histogram).expect("both have the same digits, and grow");
    }
}

impl JobReport<'_> {
    /// Adds another job of a group that is reported as one. The group takes as long as its longest job.
    fn add(&mut self, other: &Self) {
        let [own, theirs] = [&*self, other].map(|times| times.ops.iter().map(|count| count.done).sum::<u64>() as f64);
        if let (Some(shares), Some(others)) = (&mut self.outstanding, &other.outstanding) {
            for (share, other) in shares.iter_mut().zip(others) {
                *share = if own + theirs == 0.0 { 0.0 } else { (*share * own + other * theirs) / (own + theirs) };
            }
        }
        for (count, other) in self.ops.iter_mut().zip(&other.ops) {
            let both = [&*count, other].map(|count| if count.done > 0 { count.span_ns } else { 0 });
            count.span_ns = both[0].max(both[1]);
            count.done += other.done;
            for (own, more) in [
                (&mut count.rates.kib_per_s, &other.rates.kib_per_s),
                (&mut count.rates.requests_per_s, &other.rates.requests_per_s),
            ] {
                own.join(more);
            }
            count.bytes += other.bytes;
            if let (Some(times), Some(others)) = (&mut count.times, &other.times) {
                times.add(others);
            }
        }
        self.span_ns = self.span_ns.max(other.span_ns);
        self.job_ns += other.job_ns;
    }
}

/// The document.
pub fn document(planned: &Planned, done: &Finished, jobs: &Jobs) -> Result<Vec<u8>, Failure> {
    let outcome = &done.outcome;
    let reports =
        if outcome.report.workloads.is_empty() { vec![alone(planned, outcome)] } else { several(outcome, jobs) };
    let group_rates = group_rates(&reports);
    let document = json!({
        "fio version": format!("{LAYOUT} copyback-{}", env!("CARGO_PKG_VERSION")),
        "timestamp": 0,
        "timestamp_ms": 0,
        "time": "Thu Jan  1 00:00:00 1970",
        "global options": options(&jobs.global),
        "jobs": reports.iter().map(|job| of_job(job, &group_rates)).collect::<Vec<_>>(),
        "disk_util": [],
    });
    let text = serde_json::to_string_pretty(&document);
    let text = text.map_err(|error| Failure::run(format!("cannot write the results as fio's JSON: {error}")))?;
    Ok((text + "\n").into_bytes())
}

/// Bytes a second of each operation of a group.
fn group_rates(reports: &[JobReport<'_>]) -> BTreeMap<u64, [f64; 3]> {
    let mut totals: BTreeMap<u64, [(u64, u64); 3]> = BTreeMap::new();
    for job in reports {
        for ((bytes, span_ns), count) in totals.entry(job.group).or_default().iter_mut().zip(&job.ops) {
            *bytes += count.bytes;
            *span_ns = (*span_ns).max(if count.done > 0 { count.span_ns } else { 0 });
        }
    }
    let per_s = |(bytes, span_ns): (u64, u64)| if span_ns == 0 { 0.0 } else { bytes as f64 * 1e9 / span_ns as f64 };
    totals.into_iter().map(|(group, ops)| (group, ops.map(per_s))).collect()
}

/// The only workload of a run.
fn alone<'a>(planned: &'a Planned, outcome: &'a Outcome) -> JobReport<'a> {
    let (report, rates) = (&outcome.report, outcome.rates);
    let histogram = |class: &str| &outcome.histograms.iter().find(|(name, _)| *name == class).expect("a class").1;
    JobReport {
        name: planned.resolved.workload.name.as_deref().unwrap_or("workload"),
        group: 0,
        depth: u64::from(report.peak_outstanding),
        outstanding: None,
        is_grouped: false,
        options: &[],
        percentiles: PERCENTILES,
        shows_percentiles: [true, false],
        ops: [
            OpReport {
                done: report.reads,
                bytes: report.read_bytes,
                span_ns: report.simulated_ns,
                times: Some(Times::new(&report.response.read, histogram("read"))),
                rates: rates[0],
            },
            OpReport {
                done: report.writes,
                bytes: report.written_bytes,
                span_ns: report.simulated_ns,
                times: Some(Times::new(&report.response.write, histogram("write"))),
                rates: rates[1],
            },
            OpReport {
                done: report.trims,
                bytes: outcome.trimmed_bytes,
                span_ns: report.simulated_ns,
                times: None,
                rates: rates[2],
            },
        ],
        span_ns: report.simulated_ns,
        job_ns: report.simulated_ns,
    }
}

/// Several workloads: jobs in their order, or workloads in that of their names.
fn several<'a>(outcome: &'a Outcome, jobs: &'a Jobs) -> Vec<JobReport<'a>> {
    let of = |workload: &'a str, job: Option<&'a ListedJob>| {
        let report = outcome.report.workloads.get(workload)?;
        let [read, write] = outcome.workload_histograms.get(workload)?;
        let rates = outcome.workload_rates.get(workload).copied().unwrap_or_default();
        let count = |done, bytes, times, op: usize| OpReport {
            done,
            bytes,
            span_ns: report.simulated_ns,
            times,
            rates: rates[op],
        };
        Some(JobReport {
            name: job.map_or(workload, |job| &job.name),
            group: job.map_or(0, |job| job.group),
            depth: job.map_or(u64::from(report.peak_outstanding), |job| job.depth),
            outstanding: Some(report.outstanding_shares.to_vec()),
            is_grouped: job.is_some_and(|job| job.is_grouped),
            options: job.map(|job| &*job.options).unwrap_or_default(),
            percentiles: job.and_then(|job| job.percentiles.as_deref()).unwrap_or(PERCENTILES),
            shows_percentiles: job.map_or([true, false], |job| job.shows_percentiles),
            ops: [
                count(report.reads, report.read_bytes, Some(Times::new(&report.response.read, read)), 0),
                count(report.writes, report.written_bytes, Some(Times::new(&report.response.write, write)), 1),
                count(report.trims, report.trimmed_bytes, None, 2),
            ],
            span_ns: report.simulated_ns,
            job_ns: report.simulated_ns,
        })
    };
    if jobs.list.is_empty() {
        return outcome.report.workloads.keys().filter_map(|name| of(name, None)).collect();
    }
    let mut all: Vec<JobReport<'a>> = Vec::new();
    for (job, report) in jobs.list.iter().filter_map(|job| Some((job, of(&job.workload, Some(job))?))) {
        // As in fio, a grouped job joins the previous job of its group, and reads that verify a job join that job.
        match all.last_mut().filter(|last| job.is_read_back || (report.is_grouped && last.group == report.group)) {
            Some(last) => last.add(&report),
            None => all.push(report),
        }
    }
    all
}

fn options(options: &[(String, String)]) -> Value {
    let all = options.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str())));
    Value::Object(all.collect::<Map<_, _>>())
}

fn of_job(job: &JobReport<'_>, group_rates: &BTreeMap<u64, [f64; 3]>) -> Value {
    let mut value = json!({
        "jobname": job.name,
        "groupid": job.group,
        "error": 0,
        "eta": 0,
        "elapsed": job.span_ns.div_ceil(1_000_000_000),
        "job options": options(job.options),
    });
    let object = value.as_object_mut().expect("it is one");
    let group_rates = group_rates.get(&job.group).copied().unwrap_or_default();
    for ((name, count), group_rate) in ["read", "write", "trim"].into_iter().zip(&job.ops).zip(group_rates) {
        object.insert(name.into(), of_op(job, count, group_rate));
    }
    object.insert("sync".into(), json!({ "total_ios": 0, "lat_ns": times(None, &[]) }));
    object.insert("job_runtime".into(), (job.job_ns / 1_000_000).into());
    for (name, zero) in [("usr_cpu", json!(0.0)), ("sys_cpu", json!(0.0)), ("ctx", json!(0)), ("majf", json!(0))] {
        object.insert(name.into(), zero);
    }
    object.insert("minf".into(), json!(0));
    const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
    let depths = match &job.outstanding {
        Some(shares) => {
            DEPTHS.iter().zip(shares).map(|(name, share)| ((*name).to_owned(), json!(share * 100.0))).collect()
        }
        None => levels(&DEPTHS, job.depth.max(1).ilog2()),
    };
    object.insert("iodepth_level".into(), depths);
    for name in ["iodepth_submit", "iodepth_complete"] {
        object.insert(name.into(), levels(&["0", "4", "8", "16", "32", "64", ">=64"], 1));
    }
    bins(object, job);
    object.insert("latency_depth".into(), job.depth.into());
    object.insert("latency_target".into(), json!(0));
    object.insert("latency_percentile".into(), json!(100.0));
    object.insert("latency_window".into(), json!(0));
    value
}

/// All requests at the level with index `at`: a job's depth is taken as constant.
fn levels(names: &[&str], at: u32) -> Value {
    let at = (at as usize).min(names.len() - 1);
    let share = |(place, name): (usize, &&str)| ((*name).to_owned(), json!(if place == at { 100.0 } else { 0.0 }));
    Value::Object(names.iter().enumerate().map(share).collect())
}

/// An operation; `group_rate`: bytes a second of its group.
fn of_op(job: &JobReport<'_>, count: &OpReport, group_rate: f64) -> Value {
    let span_ns = count.span_ns;
    let per_s = |number: u64| if span_ns == 0 { 0.0 } else { number as f64 * 1e9 / span_ns as f64 };
    let bytes_per_s = per_s(count.bytes) as u64;
    let mut value = json!({
        "io_bytes": count.bytes,
        "io_kbytes": count.bytes >> 10,
        "bw_bytes": bytes_per_s,
        "bw": bytes_per_s >> 10,
        "iops": per_s(count.done),
        "runtime": if count.done == 0 { 0 } else { span_ns.div_ceil(1_000_000) },
        "total_ios": count.done,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": times(None, &[]),
        "clat_ns": times(count.times.as_ref(), if job.shows_percentiles[0] { job.percentiles } else { &[] }),
        "lat_ns": times(count.times.as_ref(), if job.shows_percentiles[1] { job.percentiles } else { &[] }),
    });
    let object = value.as_object_mut().expect("it is one");
    let OpRates { kib_per_s, requests_per_s } = &count.rates;
    // `bw_agg` as in fio: the mean is cut to a whole number, and a group of at most 1 KiB a second gives 100 %.
    let share = match (kib_per_s.count, group_rate > 1024.0) {
        (0, _) => 0.0,
        (_, false) => 100.0,
        (_, true) => (kib_per_s.mean.floor() * 100.0 / (group_rate / 1024.0)).min(100.0),
    };
    let samples = [("bw", "bw_mean", "bw_dev", kib_per_s), ("iops", "iops_mean", "iops_stddev", requests_per_s)];
    for (name, mean, deviation, rates) in samples {
        let RateSamples { count, min, max, .. } = *rates;
        object.insert(format!("{name}_min"), min.into());
        object.insert(format!("{name}_max"), max.into());
        if name == "bw" {
            object.insert("bw_agg".into(), share.into());
        }
        object.insert(mean.into(), rates.mean.into());
        object.insert(deviation.into(), rates.deviation().into());
        object.insert(format!("{name}_samples"), count.into());
    }
    value
}

/// Times of an operation. Submission takes no time, so the completion time is the whole response time.
fn times(times: Option<&Times>, percentiles: &[f64]) -> Value {
    let Some(times) = times.filter(|times| times.count > 0) else {
        return json!({ "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0 });
    };
    let Times { count, mean_ns, stdev_ns, min_ns, max_ns, histogram } = times;
    let mut times = json!({ "min": min_ns, "max": max_ns, "mean": mean_ns, "stddev": stdev_ns, "N": count });
    if !percentiles.is_empty() {
        let value = |percent: &f64| histogram.value_at_quantile(percent / 100.0).min(*max_ns);
        let list = percentiles.iter().map(|percent| (format!("{percent:.6}"), Value::from(value(percent))));
        times["percentile"] = Value::Object(list.collect());
    }
    times
}

/// Shares of all reads and writes by their time.
fn bins(object: &mut Map<String, Value>, job: &JobReport<'_>) {
    let with = || job.ops.iter().filter_map(|count| count.times.as_ref());
    let total: u64 = with().map(|times| times.count).sum();
    let percent = |from_ns: u64, to_ns: u64| {
        let counts = with().flat_map(|times| times.histogram.iter_recorded());
        let inside = counts.filter(|bin| (from_ns..to_ns).contains(&bin.value_iterated_to()));
        let count: u64 = inside.map(|bin| bin.count_at_value()).sum();
        if total == 0 { 0.0 } else { 100.0 * count as f64 / total as f64 }
    };
    for (name, unit_ns) in [("latency_ns", 1), ("latency_us", 1_000), ("latency_ms", 1_000_000)] {
        let mut from_ns = if unit_ns == 1 { 0 } else { unit_ns };
        let mut list = Map::new();
        for end in BIN_ENDS {
            list.insert(end.to_string(), json!(percent(from_ns, end * unit_ns)));
            from_ns = end * unit_ns;
        }
        if unit_ns == 1_000_000 {
            list.insert("2000".into(), json!(percent(from_ns, 2_000 * unit_ns)));
            list.insert(">=2000".into(), json!(percent(2_000 * unit_ns, u64::MAX)));
        }
        object.insert(name.into(), Value::Object(list));
    }
}
