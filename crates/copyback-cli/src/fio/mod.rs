//! `--fio JOB`: a job file of fio as several workloads.
//!
//! A job becomes a table `[workloads.NAME]`, a clone of `numjobs` one more, so that everything that can be done with
//! workloads can be done with jobs, and `--print-config` shows how each was understood. Names, defaults and units are
//! fio's (its HOWTO, version 3); what is not understood is refused.

mod job;
pub mod json;
mod parse;

use crate::failure::Failure;
use crate::files;
use crate::plan::Input;
use copyback::config::layers::{Layer, WORKLOADS};
use copyback::workload::tenants::TENANTS_MAX;
use job::{Distribution, Job, Part, READ, TRIM, WRITE};
use parse::Section;
use std::collections::BTreeMap;
use std::path::Path;
use toml::{Table, Value};

/// Files of jobs begin at multiples of it, as a file system would lay them out.
const FILE_GRAIN_BYTES: u64 = 1 << 20;

/// Requests of a job that its time ends, and not their number.
const WITHOUT_END: u64 = 1 << 50;

/// The most jobs, clones included: each is a workload.
const JOBS_MAX: u64 = TENANTS_MAX as u64;

/// A job file, understood.
pub struct JobFile {
    /// The workloads that it stands for.
    pub layer: Layer,
    /// What users should know.
    pub notes: Vec<String>,
    /// Jobs in their order: results of fio come in it.
    pub jobs: Jobs,
}

/// Jobs of a file in its order, each with the workload that it became.
#[derive(Clone, Debug, Default)]
pub struct Jobs {
    /// Options of `[global]`.
    pub global: Vec<(String, String)>,
    /// The jobs.
    pub list: Vec<JobName>,
}

/// A job as fio names it.
#[derive(Clone, Debug)]
pub struct JobName {
    /// Its workload.
    pub workload: String,
    /// Its section.
    pub name: String,
    /// The group that it is reported in: stonewalls divide them.
    pub group: u64,
    /// Whether its group is reported as one job.
    pub is_grouped: bool,
    /// Requests that it has under way.
    pub depth: u64,
    /// Its own options.
    pub options: Vec<(String, String)>,
}

/// Reads a job file.
pub fn load(path: &Path, inputs: &mut Vec<Input>) -> Result<JobFile, Failure> {
    let shown = path.display().to_string();
    let text = files::read_text("fio job file", path)?;
    inputs.push(Input::text("fio", shown.clone(), Some(path.to_path_buf()), &text));
    read(&shown, &text)
}

fn read(shown: &str, text: &str) -> Result<JobFile, Failure> {
    let sections = parse::sections(shown, text)?;
    let (mut global, mut jobs, mut count) = (Vec::new(), Vec::new(), 0);
    for section in &sections {
        // What stands in a later [global] is of the jobs below it.
        if section.name == "global" {
            global.extend(section.options.iter().cloned());
        } else {
            let job = Job::new(section, &global)?;
            // Before anything is made of them: a file of a few lines may have thousands.
            count += job.count;
            if count > JOBS_MAX {
                let why = format!("with this job and its clones there are {count}, and a run takes {JOBS_MAX}");
                return Err(job.whole.wrong(why, "leave some out, or lower numjobs"));
            }
            jobs.push(job);
        }
    }
    if jobs.is_empty() {
        return Err(
            Failure::input(format!("{shown} has no job")).with_help("write a section [NAME] with rw, bs and size")
        );
    }
    let files = Files::of(&jobs)?;
    let mut made = Made::default();
    for job in &jobs {
        made.add(job, &files)?;
    }
    let is_global = |section: &&Section| section.name == "global";
    let options = sections.iter().filter(is_global).flat_map(|section| &section.options);
    made.jobs.global = options.filter_map(|opt| Some((opt.key.clone(), opt.value.clone()?))).collect();
    let table = Table::from_iter([(WORKLOADS.to_owned(), Value::Table(made.tables))]);
    let layer = Layer::parse(format!("--fio {shown}"), table.to_string())?;
    Ok(JobFile { layer, notes: made.notes, jobs: made.jobs })
}

/// Where the files of jobs lie on the drive: one that all jobs name is the drive itself, others lie one behind another.
struct Files {
    begins: BTreeMap<String, u64>,
    is_drive: bool,
}

/// The file of a clone.
fn file_of(job: &Job, clone: u64) -> String {
    job.filename.clone().unwrap_or_else(|| format!("{}.{clone}.0", job.name))
}

impl Files {
    fn of(jobs: &[Job]) -> Result<Self, Failure> {
        // A replay has the addresses of its log.
        let with_files: Vec<&Job> = jobs.iter().filter(|job| job.iolog.is_none()).collect();
        let first = with_files.first().and_then(|job| job.filename.clone());
        let is_drive = first.is_some() && with_files.iter().all(|job| job.filename == first);
        let mut ends: Vec<(String, u64)> = Vec::new();
        for job in with_files.iter().filter(|_| !is_drive) {
            for clone in 0..job.count {
                let (Some(Part::Bytes(size)), Part::Bytes(offset)) = (job.size, job.offset) else {
                    let message = "a job on a file of its own needs a size in bytes";
                    let help =
                        "add for example size=1g; or let all jobs share the drive: filename=/dev/drive in [global]";
                    return Err(job.whole.wrong(message, help));
                };
                let (file, end) = (file_of(job, clone), offset.saturating_add(size));
                match ends.iter_mut().find(|(known, _)| *known == file) {
                    Some((_, known)) => *known = end.max(*known),
                    None => ends.push((file, end)),
                }
            }
        }
        let mut next = 0_u64;
        let mut begins = BTreeMap::new();
        for (file, bytes) in ends {
            begins.insert(file, next);
            next = next.saturating_add(bytes).checked_next_multiple_of(FILE_GRAIN_BYTES).unwrap_or(u64::MAX);
        }
        Ok(Self { begins, is_drive })
    }
}

/// Workloads that were made so far.
#[derive(Default)]
struct Made {
    tables: Table,
    jobs: Jobs,
    notes: Vec<String>,
    /// Of each section, the workloads of its clones.
    clones: Vec<(String, Vec<String>)>,
    /// Workloads in front of the last stonewall: all behind it wait for them.
    walled: Vec<String>,
    group: u64,
}

fn bytes(bytes: u64) -> Value {
    Value::from(format!("{bytes} B"))
}

fn nanos(ns: u64) -> Value {
    Value::from(format!("{ns} ns"))
}

fn whole(number: u64) -> Value {
    Value::from(i64::try_from(number).unwrap_or(i64::MAX))
}

impl Made {
    fn add(&mut self, job: &Job, files: &Files) -> Result<(), Failure> {
        if job.is_stonewalled && !self.clones.is_empty() {
            self.group += 1;
            self.walled = self.clones.iter().flat_map(|(_, names)| names.clone()).collect();
        }
        let after = self.waits_for(job)?;
        self.note(job);
        let mut names = Vec::new();
        for clone in 0..job.count {
            let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
            let stem: String = job.name.chars().map(plain).collect();
            let name = if job.count == 1 { stem } else { format!("{stem}-{}", clone + 1) };
            if self.tables.contains_key(&name) {
                let help = "give each section a name of its own";
                return Err(job.whole.wrong(format!("two jobs would be called `{name}` in results"), help));
            }
            let mut table = self.table(job, clone, files)?;
            if !after.is_empty() {
                let after = after.iter().map(|name| Value::from(name.as_str())).collect();
                table.insert("after".into(), Value::Array(after));
            }
            self.tables.insert(name.clone(), Value::Table(table));
            self.jobs.list.push(JobName {
                workload: name.clone(),
                name: job.name.clone(),
                group: self.group,
                is_grouped: job.is_grouped,
                depth: depth(job),
                options: job.options.clone(),
            });
            names.push(name);
        }
        self.clones.push((job.name.clone(), names));
        Ok(())
    }

    /// Those who have to end first.
    fn waits_for(&self, job: &Job) -> Result<Vec<String>, Failure> {
        let mut after = self.walled.clone();
        if let Some(name) = &job.wait_for {
            let found = self.clones.iter().find(|(known, _)| known == name);
            let missing =
                || job.whole.wrong(format!("wait_for={name}: no job before it has that name"), "name one above it");
            let named = &found.ok_or_else(missing)?.1;
            after.extend(named.iter().filter(|name| !self.walled.contains(name)).cloned());
        }
        Ok(after)
    }

    fn note(&mut self, job: &Job) {
        let mut say = |what: String| {
            let note = format!("job `{}`: {what}", job.name);
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        };
        if job.is_synchronous && job.depth > 1 {
            say(format!("a synchronous engine has one request under way, whatever iodepth={} says", job.depth));
        }
        let sizes: Vec<&Vec<(u64, u64)>> = (0..3).filter(|op| job.ops[*op]).map(|op| &job.sizes[op]).collect();
        let has_several = sizes.iter().any(|sizes| sizes.len() > 1) || sizes.windows(2).any(|pair| pair[0] != pair[1]);
        if job.iolog.is_none() && job.is_random && has_several {
            say("places are drawn in the smallest block, and may come twice: fio has a map of blocks, per direction"
                .into());
        }
        job.notes.iter().for_each(|note| say(note.clone()));
    }

    fn table(&self, job: &Job, clone: u64, files: &Files) -> Result<Table, Failure> {
        let mut table = Table::new();
        pace(&mut table, job);
        times(&mut table, job);
        if job.is_urgent {
            table.insert("high_priority_share".into(), Value::from(1.0));
        }
        if let Some(path) = &job.iolog {
            let is_cut = job.number_ios.is_some() || job.io_bytes.is_some();
            if is_cut || job.rate_iops.iter().any(Option::is_some) {
                let message = "a log is replayed whole, at its own pace";
                return Err(job.whole.wrong(message, "remove number_ios, io_size and rate_iops"));
            }
            table.insert("trace".into(), Value::from(path.as_str()));
            table.insert("format".into(), Value::from("fio"));
            table.insert("layout".into(), Value::from("as-is"));
            if job.loops > 1 {
                table.insert("loop".into(), whole(job.loops));
            }
            return Ok(table);
        }
        region(&mut table, job, clone, files);
        requests(&mut table, job, files.is_drive)?;
        addresses(&mut table, job);
        if let Some(seed) = job.seed {
            table.insert("seed".into(), whole(seed + clone));
        }
        Ok(table)
    }
}

/// Requests under way: one where the engine waits for each.
fn depth(job: &Job) -> u64 {
    if job.is_synchronous { 1 } else { job.depth }
}

fn pace(table: &mut Table, job: &Job) {
    let is_paced = if job.iolog.is_some() { job.stalls } else { job.rate_iops.iter().any(Option::is_some) };
    table.insert("mode".into(), Value::from(if is_paced { "paced" } else { "closed" }));
    table.insert("queue_depth".into(), whole(depth(job)));
    if job.think_ns > 0 {
        table.insert("think_time".into(), nanos(job.think_ns));
        table.insert("think_every".into(), whole(job.think_blocks));
    }
}

fn times(table: &mut Table, job: &Job) {
    if job.delay_ns > 0 {
        // It counts from the begin of all, also behind a stonewall.
        table.insert("not_before".into(), nanos(job.delay_ns));
    }
    if job.ramp_ns > 0 {
        table.insert("warmup".into(), nanos(job.ramp_ns));
    }
    if let Some(runtime_ns) = job.runtime_ns {
        // The ramp comes before the time that a job runs.
        let stop_ns = job.ramp_ns.saturating_add(runtime_ns);
        table.insert("stop".into(), nanos(stop_ns));
    }
}

/// The addresses of a job: a part of the drive, or of its file.
fn region(table: &mut Table, job: &Job, clone: u64, files: &Files) {
    let part = |part: Part| match part {
        Part::Bytes(count) => bytes(count),
        Part::Share(share) => Value::from(share),
    };
    if files.is_drive {
        if job.offset != Part::Bytes(0) {
            table.insert("region_start".into(), part(job.offset));
        }
        table.extend(job.size.map(|size| ("region_size".to_owned(), part(size))));
        return;
    }
    let begin = files.begins.get(&file_of(job, clone)).copied().unwrap_or(0);
    if let (Part::Bytes(offset), Some(size)) = (job.offset, job.size) {
        table.insert("region_start".into(), bytes(begin + offset));
        table.insert("region_size".into(), part(size));
    }
}

/// Which operations there are, of which sizes, how many, and when.
fn requests(table: &mut Table, job: &Job, is_drive: bool) -> Result<(), Failure> {
    let read_share = match (job.ops, job.rate_iops) {
        // With a rate for each they come at these, whatever shares they were to have.
        ([true, true, _], [Some(reads), Some(writes), _]) => reads as f64 / (reads + writes) as f64,
        ([true, true, _], _) => job.read_percent as f64 / 100.0,
        ([true, false, _], _) => 1.0,
        _ => 0.0,
    };
    table.insert("read_share".into(), Value::from(read_share));
    if job.ops[TRIM] {
        table.insert("trim_share".into(), Value::from(1.0));
    }
    // Requests of each kind begin at multiples of that kind's smallest size.
    let least = |op: usize| job.sizes[op].iter().map(|(bytes, _)| *bytes).min();
    let used = (0..3).filter(|op| job.ops[*op]);
    let align = used.clone().filter_map(least).reduce(common_divisor).unwrap_or(4096);
    for op in used {
        let key = ["read_size", "write_size", "trim_size"][op];
        let mut size = size(&job.sizes[op]);
        if let Some(own) = least(op).filter(|own| *own != align) {
            size.insert("offset_align".into(), bytes(own));
        }
        table.insert(key.into(), size.into());
    }
    table.insert("align".into(), bytes(align));
    table.insert("requests".into(), whole(count(job, read_share, is_drive)?));
    if ends_with_its_part(job, is_drive) {
        table.insert("passes".into(), Value::from(job.loops as f64));
    }
    rates(table, job)
}

fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

fn size(sizes: &[(u64, u64)]) -> Table {
    if let [(only, _)] = sizes {
        return Table::from_iter([("kind".to_owned(), Value::from("fixed")), ("mean".to_owned(), bytes(*only))]);
    }
    let entry = |(size, weight): &(u64, u64)| {
        Value::Table(Table::from_iter([
            ("size".to_owned(), bytes(*size)),
            ("weight".to_owned(), Value::from(*weight as f64)),
        ]))
    };
    Table::from_iter([
        ("kind".to_owned(), Value::from("mix")),
        ("mix".to_owned(), sizes.iter().map(entry).collect::<Vec<_>>().into()),
    ])
}

/// Whether a job ends when it has asked for as many bytes as its part of the drive has.
fn ends_with_its_part(job: &Job, is_drive: bool) -> bool {
    let is_endless = job.is_time_based && job.runtime_ns.is_some();
    is_drive && !is_endless && job.io_bytes.is_none() && !matches!(job.size, Some(Part::Bytes(_)))
}

/// How many requests a job has, at most: fio ends it when as many bytes as its size are done, or with its time.
fn count(job: &Job, read_share: f64, is_drive: bool) -> Result<u64, Failure> {
    let mean = |op: usize| {
        let weights: u64 = job.sizes[op].iter().map(|(_, weight)| weight).sum();
        job.sizes[op].iter().map(|(bytes, weight)| *bytes as f64 * *weight as f64).sum::<f64>() / weights as f64
    };
    let mean_bytes = match job.ops {
        [_, _, true] => mean(TRIM),
        _ => read_share * mean(READ) + (1.0 - read_share) * mean(WRITE),
    };
    let by_size = match (job.io_bytes, job.size) {
        (Some(bytes), _) | (None, Some(Part::Bytes(bytes))) => {
            Some((bytes as f64 / mean_bytes).floor().max(1.0) as u64)
        }
        _ => None,
    };
    let by_size = by_size.map(|requests| requests.saturating_mul(job.loops));
    let is_endless = job.is_time_based && job.runtime_ns.is_some();
    match (by_size.filter(|_| !is_endless), job.number_ios) {
        (Some(requests), Some(most)) => Ok(requests.min(most)),
        (Some(requests), None) | (None, Some(requests)) => Ok(requests),
        (None, None) if is_endless || ends_with_its_part(job, is_drive) => Ok(WITHOUT_END),
        (None, None) => {
            Err(job.whole.wrong("nothing says when the job ends", "add size in bytes, io_size, number_ios or runtime"))
        }
    }
}

fn rates(table: &mut Table, job: &Job) -> Result<(), Failure> {
    let used: Vec<usize> = (0..3).filter(|op| job.ops[*op]).collect();
    let rates: Vec<u64> = used.iter().filter_map(|op| job.rate_iops[*op]).collect();
    let arrivals = |rate: u64| {
        let kind = if job.is_poisson { "poisson" } else { "fixed" };
        let keys = [("kind".to_owned(), Value::from(kind)), ("rate".to_owned(), Value::from(rate as f64))];
        Value::Table(Table::from_iter(keys))
    };
    match (&used[..], &rates[..]) {
        (_, []) => {}
        ([_], [rate]) => drop(table.insert("arrivals".into(), arrivals(*rate))),
        ([READ, WRITE], [reads, writes]) => {
            table.remove("read_share");
            table.insert("read_arrivals".into(), arrivals(*reads));
            table.insert("arrivals".into(), arrivals(*writes));
        }
        _ => {
            let why = "a rate of one operation alone, in a job that has several, is not supported";
            return Err(job.whole.wrong(why, "give each a rate, or write a job of its own for each operation"));
        }
    }
    Ok(())
}

fn addresses(table: &mut Table, job: &Job) {
    let mut addresses = Table::new();
    let mut say = |key: &str, value: Value| addresses.insert(key.to_owned(), value);
    match (job.is_random, &job.distribution) {
        (false, _) => {
            say("kind", Value::from("uniform"));
            say("sequential_share", Value::from(1.0));
            say("sequential_by_op", Value::from(true));
        }
        // fio's map is for places that are drawn evenly.
        (true, Distribution::Uniform) => {
            let sizes: Vec<u64> =
                (0..3).filter(|op| job.ops[*op]).flat_map(|op| &job.sizes[op]).map(|(bytes, _)| *bytes).collect();
            let is_one = sizes.windows(2).all(|pair| pair[0] == pair[1]);
            say("kind", Value::from(if job.has_map && is_one { "once" } else { "uniform" }));
        }
        (true, Distribution::Zipf(theta)) => {
            say("kind", Value::from("zipf"));
            say("theta", Value::from(*theta));
        }
        (true, Distribution::Pareto(skew)) => {
            say("kind", Value::from("self-similar"));
            say("skew", Value::from(*skew));
        }
        (true, Distribution::Zones(zones)) => {
            say("kind", Value::from("zones"));
            say("zones", zones.iter().map(|zone| Value::from(zone.to_vec())).collect::<Vec<_>>().into());
        }
    }
    table.insert("addresses".into(), Value::Table(addresses));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of each workload that a file makes, those that it waits for.
    fn waits(text: &str) -> Vec<(String, Vec<String>)> {
        let sections = parse::sections("test", text).expect("it is a job file");
        let jobs: Vec<Job> = sections.iter().map(|section| Job::new(section, &[]).expect("it is understood")).collect();
        let files = Files::of(&jobs).expect("it has sizes");
        let mut made = Made::default();
        jobs.iter().for_each(|job| made.add(job, &files).expect("it can be made"));
        let after = |table: &Value| {
            let names = table.get("after").and_then(Value::as_array).into_iter().flatten();
            names.map(|name| name.as_str().expect("a name").to_owned()).collect()
        };
        made.tables.iter().map(|(name, table)| (name.clone(), after(table))).collect()
    }

    /// fio(1): a stonewall waits for preceding jobs to exit before its job starts; who is behind starts no earlier.
    #[test]
    fn all_behind_a_stonewall_wait_for_all_before_it() {
        let job = |name: &str, more: &str| format!("[{name}]\nrw=read\nsize=1m\n{more}\n");
        let text = job("a", "") + &job("b", "") + &job("c", "stonewall") + &job("d", "") + &job("e", "wait_for=c");
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let expected = [("a", &[][..]), ("b", &[]), ("c", &["a", "b"]), ("d", &["a", "b"]), ("e", &["a", "b", "c"])];
        let expected: Vec<_> = expected.into_iter().map(|(name, after)| (name.to_owned(), names(after))).collect();
        assert_eq!(waits(&text), expected);
    }
}
