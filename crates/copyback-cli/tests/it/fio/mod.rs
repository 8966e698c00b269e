//! Job files of fio have the meaning that fio gives them.
//!
//! Both programs get the same files. Without fio this is skipped with a message; with `COPYBACK_NEEDS_FIO` set, as in
//! CI, it is a failure.

mod flush;
mod kinds;
mod passes;
mod room;
mod safety;
mod samples;
mod totals;

use crate::common::{code, copyback, error_text, output_text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

/// Runs fio in a folder; `None` if fio is not installed.
fn fio(folder: &Path, arguments: &[&str]) -> Option<Output> {
    let output = Command::new("fio").args(arguments).current_dir(folder).output();
    if output.is_err() {
        assert!(std::env::var_os("COPYBACK_NEEDS_FIO").is_none(), "fio is missing; install it");
        eprintln!("not tested: there is no fio");
    }
    output.ok()
}

fn written(folder: &Path, text: &str) -> String {
    let path = folder.join("job.fio");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A job in a file of its own, with more options.
fn job(options: &str) -> String {
    format!("[j]\nioengine=null\nsize=64m\n{options}\n")
}

/// What both take.
const TAKEN: &[&str] = &[
    "rw=randread\nbs=4k",
    "rw=randrw ; a comment\nrwmixread=70\nbs = 4K,8KB",
    "rw=rw\nbssplit=4k/10:64k/90",
    "rw=write\nbssplit=4k/10:64k",
    "rw=randwrite\niodepth=8\nnumjobs=3",
    "size=32m\noffset=16m\nnumber_ios=100",
    "rw=randread\nrandom_distribution=zipf:1.2",
    "rw=randread\nrandom_distribution=zoned:80/20:20/80",
    "rw=randread\nrandom_distribution=zoned:60/10:30/20:8/30:2/40",
    "rw=randread\nrandom_distribution=pareto:0.2",
    "rw=randread\nrandom_distribution=zoned:50/5:30/15:20/",
    "rw=randread\nrandom_distribution=zipf:1.2:0.25",
    "rw=randread:8\nrw_sequencer=identical",
    "rw=write:8k\nfilesize=64m\nio_size=50%",
    "rw=randrw\nbsrange=4k-64k\nblockalign=4k\npercentage_random=50",
    "rw=randwrite\nbssplit=512/4:1024/1:4k/95\nblockalign=4k",
    "rw=randread\nioengine=linuxaio",
    "rw=randread\nioengine=aio",
    "rw=randread\nrandom_distribution=zoned_abs:60/2m:30/20m:10/40m",
    "rw=randtrimwrite\nnumjobs=2\noffset_increment=25%",
    "rw=write\nfsync=1\nfdatasync=1\nsync=1\nend_fsync=1",
    "rw=randrw\nrate=10m\nverify=0\ndo_verify=0\nexitall\nlog_prio=1",
    "size=64m\nnew_group\niodepth_batch_submit=8",
    "filename=/dev/bsg/0\\:0",
    "rw=randrw\nrwmixread=70\nrate_iops=200,100\nruntime=1s\ntime_based",
    "rate_iops=1000\nruntime=1s\ntime_based\nramp_time=100ms",
    "thinktime=5ms\nthinktime_blocks=4\n# a comment\nnorandommap",
    "bs=0x1000\nkb_base=1000",
    "stonewall\ngroup_reporting\ndirect=1\nthread",
];

/// What neither takes.
const REFUSED: &[&str] = &[
    "BS=4k",
    "rw=RandRead",
    "rw = randread",
    "zzz=1",
    "rwmixread=130",
    "iodepth=0",
    "bs=0",
    "bs=1z",
    "rw=randread\nrandom_distribution=zipf:1.0",
    "rw=randread\nrandom_distribution=pareto:1.5",
    "rw=randread\nrandom_distribution=zoned:60/50:30/50",
];

#[test]
fn options_are_accepted_and_refused_as_by_fio() {
    let folder = tempfile::tempdir().unwrap();
    let own = |options: &str| copyback(&["run", "--fio", &written(folder.path(), &job(options)), "--print-config"]);
    let theirs = |file: &str| fio(folder.path(), &["--parse-only", file]);
    for options in TAKEN {
        let own = own(options);
        assert_eq!(code(&own), 0, "{options}: {}", error_text(&own));
    }
    // All in one file: fio fails if it refuses one of them, and its start takes longer than its work.
    let all: String = TAKEN.iter().enumerate().map(|(at, o)| job(o).replacen("[j]", &format!("[j{at}]"), 1)).collect();
    if let Some(output) = theirs(&written(folder.path(), &all)) {
        assert!(output.status.success(), "{output:?}");
    }
    for options in REFUSED {
        let own = own(options);
        assert_eq!(code(&own), 2, "{options}: {}", error_text(&own));
        assert!(error_text(&own).contains("job.fio:"), "{options}: no place: {}", error_text(&own));
        assert!(error_text(&own).contains("help"), "{options}: no remedy: {}", error_text(&own));
        if let Some(output) = theirs(&written(folder.path(), &job(options))) {
            assert!(!output.status.success(), "{options}: {output:?}");
        }
    }
}

/// A request as a table has it.
#[derive(Clone, Copy, Debug)]
struct IssuedRequest {
    is_read: bool,
    offset_bytes: u64,
    len_bytes: u64,
}

/// The requests that copyback makes, job by job. The drive begins empty: what it is filled with changes no request.
fn own(folder: &Path, file: &str) -> Vec<IssuedRequest> {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;
    use parquet::schema::types::Type;
    let out = folder.join("out");
    let _ = std::fs::remove_dir_all(&out);
    let set = ["--set", "precondition.mode=empty"];
    let run = ["run", "--fio", file, "--out", out.to_str().unwrap(), "--out-requests", "--quiet"];
    let ran = copyback(&[&run[..], &set].concat());
    assert_eq!(code(&ran), 0, "{}", error_text(&ran));
    let reader = SerializedFileReader::new(std::fs::File::open(out.join("requests.parquet")).unwrap()).unwrap();
    let all = reader.metadata().file_metadata().schema();
    let read = ["op", "offset_bytes", "len_bytes"];
    let fields =
        read.map(|name| all.get_fields().iter().find(|column| column.name() == name).expect(name).clone()).to_vec();
    let schema = Type::group_type_builder(all.name()).with_fields(fields).build().unwrap();
    let rows = reader.get_row_iter(Some(schema)).unwrap().map(|row| {
        let row = row.unwrap();
        let at = |name: &str| row.get_column_iter().position(|(column, _)| column == name).unwrap();
        let number = |name: &str| row.get_ulong(at(name)).unwrap();
        IssuedRequest {
            is_read: row.get_string(at("op")).unwrap() == "read",
            offset_bytes: number("offset_bytes"),
            len_bytes: number("len_bytes"),
        }
    });
    rows.collect()
}

/// The requests that fio makes, from the log that it writes.
fn of_fio(folder: &Path, text: &str) -> Option<Vec<IssuedRequest>> {
    let (_, options) = text.split_once('\n').unwrap();
    of_fio_each(folder, &[options.to_owned()]).map(|mut all| all.remove(0))
}

/// The requests of several jobs, each with its options, in one run of fio: its start takes longer than a run.
fn of_fio_each(folder: &Path, jobs: &[String]) -> Option<Vec<Vec<IssuedRequest>>> {
    let log = |at: usize| if at == 0 { folder.join("io.log") } else { folder.join(format!("io.{at}.log")) };
    let section = |(at, options): (usize, &String)| format!("[j{at}]\n{options}write_iolog={}\n", log(at).display());
    let file = written(folder, &jobs.iter().enumerate().map(section).collect::<String>());
    let output = fio(folder, &["--output=fio.out", &file])?;
    assert!(output.status.success(), "{output:?}");
    let request = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| matches!(*word, "read" | "write"))?;
        let number = |place: usize| words.get(place)?.parse().ok();
        Some(IssuedRequest { is_read: words[at] == "read", offset_bytes: number(at + 1)?, len_bytes: number(at + 2)? })
    };
    let read = |at| std::fs::read_to_string(log(at)).unwrap().lines().filter_map(request).collect();
    Some((0..jobs.len()).map(read).collect())
}

/// The share of requests that meet a condition.
fn share(list: &[IssuedRequest], of: impl Fn(&IssuedRequest) -> bool) -> f64 {
    list.iter().filter(|asked| of(asked)).count() as f64 / list.len() as f64
}

/// The share of requests that go to the tenth of the blocks which has most.
fn top_tenth(list: &[IssuedRequest], blocks: usize) -> f64 {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    list.iter().for_each(|asked| *counts.entry(asked.offset_bytes).or_default() += 1);
    let mut counts: Vec<u64> = counts.into_values().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts.iter().take(blocks / 10).sum::<u64>() as f64 / list.len() as f64
}

#[test]
fn requests_follow_the_laws_of_fio() {
    let cases = [
        ("rw=randrw\nrwmixread=70\nbs=4k\nsize=16m\n", true),
        ("rw=randread\nbs=4k\nsize=16m\nnorandommap\n", true),
        ("rw=randread\nbs=4k\nsize=16m\nrandom_distribution=zipf:1.2\n", true),
        ("rw=randread\nbs=4k\nsize=16m\nrandom_distribution=zoned:80/20:20/80\n", true),
        ("rw=randread\nbs=4k\nsize=16m\nrandom_distribution=zoned:60/10:30/20:8/30:2/40\n", true),
        ("rw=randread\nbs=4k\nsize=16m\nrandom_distribution=pareto:0.2\n", true),
        ("rw=randread\nbs=4k\nsize=16m\nrandom_distribution=pareto:0.4\n", true),
        ("rw=randwrite\nbssplit=4k/60:16k/40\nsize=32m\nnorandommap\n", false),
        ("rw=randrw\nbs=4k,16k\nsize=32m\nnorandommap\n", false),
        ("rw=read\nbs=8k\nsize=16m\noffset=4m\n", true),
        ("rw=rw\nbs=4k\nsize=16m\n", true),
    ];
    let folder = tempfile::tempdir().unwrap();
    let jobs = cases.map(|(options, _)| format!("ioengine=null\n{options}"));
    let Some(all) = of_fio_each(folder.path(), &jobs) else { return };
    for ((job, theirs), (options, size_is_fixed)) in jobs.iter().zip(all).zip(cases) {
        let own = own(folder.path(), &written(folder.path(), &format!("[j]\n{job}")));
        let (n, m) = (own.len() as f64, theirs.len() as f64);
        // If sizes are mixed, their mean decides how many requests there are. Sizes of 8.8 KiB have a deviation of
        // 5.9 KiB: numbers near 3,700 differ by 1 %.
        let tolerance = if size_is_fixed { 0.0 } else { 0.05 };
        assert!((n / m - 1.0).abs() <= tolerance, "{options}: {n} and {m} requests");
        // Five standard deviations of the difference of two shares of n and m draws, each of a variance of at most 1/4.
        let far = 5.0 * (0.25 / n + 0.25 / m).sqrt();
        let same = |what: &str, of: &dyn Fn(&IssuedRequest) -> bool| {
            let (a, b) = (share(&own, of), share(&theirs, of));
            assert!((a - b).abs() <= far, "{options}: {what}: {a} and {b}");
        };
        same("reads", &|asked| asked.is_read);
        same("small", &|asked| asked.len_bytes == 4096);
        same("aligned", &|asked| asked.offset_bytes.is_multiple_of(16_384));
        same("written and aligned", &|asked| !asked.is_read && asked.offset_bytes.is_multiple_of(16_384));
        let end = |list: &[IssuedRequest]| list.iter().map(|asked| asked.offset_bytes + asked.len_bytes).max().unwrap();
        let begin = |list: &[IssuedRequest]| list.iter().map(|asked| asked.offset_bytes).min().unwrap();
        // Even draws miss the last of 4,096 blocks in one of three runs. Skewed draws reach far fewer blocks.
        let is_skewed = ["zipf", "pareto"].iter().any(|law| options.contains(law));
        let slack = if is_skewed { 4 << 20 } else { 256 << 10 };
        assert!(end(&own).abs_diff(end(&theirs)) <= slack, "{options}: ends {} and {}", end(&own), end(&theirs));
        assert!(begin(&own).abs_diff(begin(&theirs)) <= slack, "{options}: {} and {}", begin(&own), begin(&theirs));
        for list in [&own, &theirs] {
            assert!(list.iter().all(|asked| asked.offset_bytes.is_multiple_of(4096)), "{options}");
        }
        let (a, b) = (top_tenth(&own, 4096), top_tenth(&theirs, 4096));
        assert!((a - b).abs() <= 0.03, "{options}: the first tenth of the blocks has {a} and {b}");
        let distinct = |list: &[IssuedRequest]| {
            let set: BTreeSet<u64> = list.iter().map(|asked| asked.offset_bytes).collect();
            set.len() as f64 / list.len() as f64
        };
        assert!((distinct(&own) - distinct(&theirs)).abs() <= 0.03, "{options}: different places");
    }
}

/// The results of the first job of a document: reads and writes, and their rates.
fn counts_and_rates(document: &Value) -> [(u64, f64); 2] {
    let of = |op: &str| &document["jobs"][0][op];
    ["read", "write"].map(|op| (of(op)["total_ios"].as_u64().unwrap(), of(op)["iops"].as_f64().unwrap()))
}

/// Reads and writes of a job by fio's own account.
fn done(folder: &Path, text: &str) -> Option<[(u64, f64); 2]> {
    let output = fio(folder, &["--output-format=json", "--output=fio.json", &written(folder, text)])?;
    assert!(output.status.success(), "{output:?}");
    let document: Value = serde_json::from_slice(&std::fs::read(folder.join("fio.json")).unwrap()).unwrap();
    Some(counts_and_rates(&document))
}

/// What copyback measured of the first job of a file, by the document that it writes as fio does.
fn measured(folder: &Path, text: &str) -> [(u64, f64); 2] {
    let json = folder.join("own.json");
    let ran = copyback(&["run", "--fio", &written(folder, text), "--fio-json", json.to_str().unwrap(), "--quiet"]);
    assert_eq!(code(&ran), 0, "{}", error_text(&ran));
    let document: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    counts_and_rates(&document)
}

/// fio limits reads and writes separately, so that the two rates determine a mix. The time of `ramp_time` precedes
/// `runtime`, and is in no result.
#[test]
fn rates_are_of_each_operation_and_the_ramp_is_not_counted() {
    const JOB: &str = "[j]\nioengine=IO\niodepth=8\nsize=64m\nbs=4k\ntime_based\nruntime=2s\n";
    for (options, expected) in [
        ("rw=randrw\nrwmixread=90\nrate_iops=200,100\n", [400, 200]),
        ("rw=randrw\nrwmixread=10\nrate_iops=100\n", [200, 200]),
        ("rw=randread\nrate_iops=100\nramp_time=1s\n", [200, 0]),
        ("rw=randread\nrate_iops=3\n", [6, 0]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let text = format!("{JOB}{options}");
        let near = |seen: [(u64, f64); 2], who: &str| {
            for ((done, iops), wanted) in seen.into_iter().zip(expected) {
                // The first of equal gaps comes at once or after one gap; a request that begins in the ramp may end
                // after it.
                assert!(
                    done.abs_diff(wanted) <= 2,
                    "{options}: {who} has {seen:?}, and {expected:?} come at these rates"
                );
                // Over the two seconds that the job runs, not up to its last request; fio's clock is off by a few ms.
                assert!((iops - done as f64 / 2.0).abs() <= 0.01 * iops, "{options}: {who} says {seen:?}");
            }
        };
        near(measured(folder.path(), &text.replace("=IO", "=libaio")), "copyback");
        if let Some(theirs) = done(folder.path(), &text.replace("=IO", "=null")) {
            near(theirs, "fio");
        }
    }
}

/// fio drops what it counted when the ramp is over: a job that ends before is counted whole.
#[test]
fn a_job_that_ends_in_its_ramp_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[j]\nioengine=IO\nrw=randwrite\nbs=4k\nsize=1m\nramp_time=5\n";
    let [(reads, _), (writes, iops)] = measured(folder.path(), &text.replace("=IO", "=libaio"));
    assert!(reads == 0 && writes == 256 && iops > 0.0, "{reads} reads, {writes} writes, {iops} a second");
    if let Some(theirs) = done(folder.path(), &text.replace("=IO", "=null")) {
        assert_eq!([theirs[0].0, theirs[1].0], [0, 256]);
    }
    let ran = copyback(&["run", "--fio", &written(folder.path(), &text.replace("=IO", "=libaio"))]);
    let text = output_text(&ran);
    assert!(
        text.contains("it ended within its warm-up") && !text.contains("own results only"),
        "{text}{}",
        error_text(&ran)
    );
}

/// Clones whose group is reported as one job are one in the document, with the sums of all; others are separate.
#[test]
fn a_group_is_reported_as_fio_reports_it() {
    let text = "[global]\nioengine=IO\nbs=4k\niodepth=4\ntime_based\nruntime=1s\nsize=16m\n\
                [a]\nrw=randrw\nrate_iops=100\nnumjobs=2\ngroup_reporting\n\
                [b]\nstonewall\nrw=randread\nrate_iops=50\nnumjobs=3\n\
                [c]\nstonewall\nrw=randread\nrate_iops=100\nruntime=2s\ngroup_reporting\n\
                [d]\nrw=randwrite\nrate_iops=200\ngroup_reporting\n";
    let folder = tempfile::tempdir().unwrap();
    // Names and groups as they are; times in tenths of a second, which fio's clock keeps.
    let shown = |document: &Value| {
        let jobs = document["jobs"].as_array().unwrap().iter().map(|job| {
            let number = |path: &str| job.pointer(path).and_then(Value::as_f64).unwrap();
            let counts = ["/read/total_ios", "/write/total_ios"].map(|path| (number(path) / 10.0).round() as u64);
            let rates = ["/read/iops", "/write/iops"].map(|path| (number(path) / 10.0).round() as u64);
            let tenths = (number("/job_runtime") / 100.0).round() as u64;
            (job["jobname"].as_str().unwrap().to_owned(), number("/groupid") as u64, counts, rates, tenths)
        });
        jobs.collect::<Vec<_>>()
    };
    let read = |name: &str| serde_json::from_slice(&std::fs::read(folder.path().join(name)).unwrap()).unwrap();
    let json = folder.path().join("own.json");
    let file = written(folder.path(), &text.replace("=IO", "=libaio"));
    let ran = copyback(&["run", "--fio", &file, "--fio-json", json.to_str().unwrap(), "--quiet"]);
    assert_eq!(code(&ran), 0, "{}", error_text(&ran));
    let b = || ("b".to_owned(), 1, [5, 0], [5, 0], 10);
    // Reads of c over two seconds, writes of d over one.
    let both = ("c".to_owned(), 2, [20, 20], [10, 20], 30);
    let expected = [("a".to_owned(), 0, [20, 20], [20, 20], 20), b(), b(), b(), both];
    assert_eq!(shown(&read("own.json")), expected);
    let file = written(folder.path(), &text.replace("=IO", "=null"));
    let Some(output) = fio(folder.path(), &["--output-format=json", "--output=fio.json", &file]) else { return };
    assert!(output.status.success(), "{output:?}");
    assert_eq!(shown(&read("fio.json")), expected);
}

/// The shortest read of a group is that of the jobs that read, whichever job comes first.
#[test]
fn a_group_with_a_job_that_reads_nothing_has_the_times_of_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = ["[w]\nrw=randwrite\n", "[r]\nrw=randread\nnumber_ios=50\n"];
    for jobs in [jobs.concat(), jobs.into_iter().rev().collect()] {
        let text = format!("[global]\ngroup_reporting\nbs=4k\nsize=1m\n{jobs}");
        let json = folder.path().join("own.json");
        let ran = copyback(&[
            "run",
            "--quiet",
            "--fio",
            &written(folder.path(), &text),
            "--fio-json",
            json.to_str().unwrap(),
        ]);
        assert_eq!(code(&ran), 0, "{}", error_text(&ran));
        let document: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
        let times = &document["jobs"][0]["read"]["lat_ns"];
        let [least, mean, most] = ["min", "mean", "max"].map(|name| times[name].as_f64().unwrap());
        assert_eq!((document["jobs"].as_array().map(Vec::len), times["N"].as_u64()), (Some(1), Some(50)), "{jobs}");
        assert!(0.0 < least && least <= mean && mean <= most, "{jobs}: {times}");
    }
}

/// The requests of a log of fio are replayed, at its times if these are kept.
#[test]
fn a_log_of_fio_is_replayed_as_fio_wrote_it() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("asked.log");
    let version_2 = "fio version 2 iolog\nf add\nf open\nf read 8192 4096\nf wait 2000\nf write 0 16384\nf close\n";
    let version_3 = "fio version 3 iolog\n0 f add\n0 f open\n0 f read 8192 4096\n2 f write 0 16384\n2 f close\n";
    for text in [version_2, version_3] {
        std::fs::write(&log, text).unwrap();
        let job = format!("[j]\nread_iolog={}\n", log.display());
        let seen = own(folder.path(), &written(folder.path(), &job));
        let seen: Vec<_> = seen.iter().map(|asked| (asked.is_read, asked.offset_bytes, asked.len_bytes)).collect();
        assert_eq!(seen, [(true, 8192, 4096), (false, 0, 16384)], "{text}");
    }
    // The place of a missing log is the job's line.
    let job = folder.path().join("missing.fio");
    std::fs::write(&job, "[global]\nrw=read\n[j]\nread_iolog=none.log\n").unwrap();
    let output = copyback(&["run", "-q", "--fio", job.to_str().unwrap()]);
    let text = error_text(&output);
    assert!(code(&output) == 2 && text.contains("missing.fio:4:1") && text.contains("no trace none.log"), "{text}");
    // The requests that fio logged for a job equal that job's requests.
    let text = "[j]\nioengine=null\nrw=randrw\nbs=4k\nsize=1m\n";
    let Some(theirs) = of_fio(folder.path(), text) else { return };
    let job = format!("[j]\nread_iolog={}\n", folder.path().join("io.log").display());
    let seen = own(folder.path(), &written(folder.path(), &job));
    let places =
        |list: &[IssuedRequest]| list.iter().map(|a| (a.is_read, a.offset_bytes, a.len_bytes)).collect::<Vec<_>>();
    assert_eq!(places(&seen), places(&theirs));
}

/// Keys of a document as paths, each with the kind of its value.
fn kinds(path: &str, value: &Value, found: &mut BTreeMap<String, &'static str>) {
    let kind = match value {
        Value::Object(members) => {
            for (name, inner) in members {
                kinds(&format!("{path}.{name}"), inner, found);
            }
            "object"
        }
        Value::Array(list) => {
            list.iter().for_each(|inner| kinds(&format!("{path}[]"), inner, found));
            "list"
        }
        // Some writers of JSON write a whole mean without a decimal point: both forms are numbers.
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Bool(_) => "truth",
        Value::Null => "null",
    };
    found.insert(path.to_owned(), kind);
}

#[test]
fn the_json_has_what_fios_has() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[global]\nioengine=null\nbs=4k\nsize=8m\n[a]\nrw=randrw\n[b]\nstonewall\nrw=randwrite\nnumjobs=2\n";
    let file = written(folder.path(), text);
    let json = folder.path().join("own.json");
    let ran = copyback(&["run", "--fio", &file, "--fio-json", json.to_str().unwrap(), "--quiet"]);
    assert_eq!(code(&ran), 0, "{}", error_text(&ran));
    let own: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    // Requests and bytes are fio's: 8 MiB of 4 KiB for each job.
    let jobs = own["jobs"].as_array().unwrap();
    let names: Vec<(&str, u64)> =
        jobs.iter().map(|j| (j["jobname"].as_str().unwrap(), j["groupid"].as_u64().unwrap())).collect();
    assert_eq!(names, [("a", 0), ("b", 1), ("b", 1)]);
    assert!(
        jobs.iter()
            .all(|j| j["read"]["total_ios"].as_u64().unwrap() + j["write"]["total_ios"].as_u64().unwrap() == 2048)
    );
    for job in jobs {
        let shares = ["latency_ns", "latency_us", "latency_ms"];
        let sum: f64 =
            shares.iter().flat_map(|s| job[*s].as_object().unwrap().values()).filter_map(Value::as_f64).sum();
        assert!((sum - 100.0).abs() < 1e-6, "bins have {sum} %");
    }
    let Some(output) = fio(folder.path(), &["--output-format=json", "--output=fio.json", &file]) else { return };
    assert!(output.status.success(), "{output:?}");
    let theirs: Value = serde_json::from_slice(&std::fs::read(folder.path().join("fio.json")).unwrap()).unwrap();
    let (mut of_own, mut of_fio) = (BTreeMap::new(), BTreeMap::new());
    kinds("", &own, &mut of_own);
    kinds("", &theirs, &mut of_fio);
    let lacking: Vec<_> = of_fio.iter().filter(|(path, kind)| of_own.get(*path) != Some(kind)).collect();
    assert!(lacking.is_empty(), "fio has, and this has not: {lacking:?}");
    // fio has this list if it finds a disk.
    let more: Vec<_> = of_own.keys().filter(|path| !of_fio.contains_key(*path) && *path != ".disk_util").collect();
    assert!(more.is_empty(), "this has, and fio has not: {more:?}");
}
