//! Converts jobs of fio to tables of workloads.

use super::amount;
use super::block_sizes::common_divisor;
use super::distribution::Distribution;
use super::job::{BytesOrShare, Job, READ, TRIM, WRITE};
use super::job_notes::JobNotes;
use super::layout::Files;
use super::{Jobs, ListedJob};
use crate::failure::Failure;
use crate::files;
use std::path::Path;
use toml::{Table, Value};

/// Workloads that were made so far.
#[derive(Default)]
pub struct JobWorkloads {
    /// The tables, by name.
    pub tables: Table,
    /// The jobs in their order.
    pub jobs: Jobs,
    /// The notes on the jobs.
    pub notes: JobNotes,
    /// For each section, the name of its job and the workloads of its clones.
    clones: Vec<(String, Vec<String>)>,
    /// Workloads before the last stonewall; all later jobs wait for them.
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

fn part(part: BytesOrShare) -> Value {
    match part {
        BytesOrShare::Bytes(count) => bytes(count),
        BytesOrShare::Share(share) => Value::from(share),
    }
}

impl JobWorkloads {
    /// Adds a job and its clones.
    pub fn add(&mut self, job: &Job, files: &Files) -> Result<(), Failure> {
        if (job.schedule.is_stonewalled || job.schedule.begins_group) && !self.clones.is_empty() {
            self.group += 1;
        }
        if job.schedule.is_stonewalled && !self.clones.is_empty() {
            self.walled = self.clones.iter().flat_map(|(_, names)| names.clone()).collect();
        }
        let after = self.waits_for(job)?;
        self.notes.add(job, files);
        let reads_back = job.reads_back()?;
        let mut names = Vec::new();
        for clone in 0..job.schedule.count {
            let name = self.free_name(job, clone);
            let mut table = Self::table(job, clone, files)?;
            if !after.is_empty() {
                let after = after.iter().map(|name| Value::from(name.as_str())).collect();
                table.insert("after".into(), Value::Array(after));
            }
            self.push(job, clone, files, name.clone(), table, false);
            names.push(name.clone());
            if reads_back {
                let mut table = Self::table(&job.reading_back(), clone, files)?;
                table.insert("after".into(), Value::Array(vec![Value::from(name.as_str())]));
                let own = format!("{name}-verify");
                self.push(job, clone, files, own.clone(), table, true);
                names.push(own);
            }
        }
        self.clones.push((job.name.clone(), names));
        Ok(())
    }

    fn push(&mut self, job: &Job, clone: u64, files: &Files, workload: String, table: Table, is_read_back: bool) {
        // The option that moves this clone: the first one has no increment.
        let offset_option = if clone > 0 && job.extent.increment.is_some() { "offset_increment" } else { "offset" };
        self.tables.insert(workload.clone(), Value::Table(table));
        self.jobs.list.push(ListedJob {
            workload,
            name: job.name.clone(),
            group: self.group,
            is_grouped: job.schedule.is_grouped,
            is_read_back,
            depth: depth(job),
            percentiles: job.shown.percentiles.clone(),
            shows_percentiles: job.shown.shows,
            options: job.options.clone(),
            flushes: if is_read_back { Vec::new() } else { job.flushes.clone() },
            size_option: job.extent.size_option.clone().unwrap_or_else(|| job.whole.clone()),
            offset_option: job.option(&[offset_option]).cloned(),
            file_begin: if files.is_drive { 0 } else { files.begin(job, clone) },
        });
    }

    /// An unused workload name: the job's name, with its section's name appended if several jobs have one `name`.
    fn free_name(&self, job: &Job, clone: u64) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
        let plain = |text: &str| text.chars().map(plain).collect::<String>();
        let of_clone = |stem: String| if job.schedule.count == 1 { stem } else { format!("{stem}-{}", clone + 1) };
        let name = of_clone(plain(&job.name));
        if !self.tables.contains_key(&name) {
            return name;
        }
        let stem = match job.name == job.section {
            true => name,
            false => of_clone(format!("{}-{}", plain(&job.name), plain(&job.section))),
        };
        let numbered = (2_u64..).map(|number| format!("{stem}-again-{number}"));
        let mut names = std::iter::once(stem.clone()).chain(numbered);
        names.find(|name| !self.tables.contains_key(name)).unwrap_or(stem)
    }

    /// The workloads that must end before the job starts.
    fn waits_for(&self, job: &Job) -> Result<Vec<String>, Failure> {
        let mut after = self.walled.clone();
        if let Some(name) = &job.schedule.wait_for {
            let found: Vec<_> = self.clones.iter().filter(|(known, _)| known == name).collect();
            if found.is_empty() {
                let message = format!("no job above it has the name `{name}`");
                return Err(job.at(&["wait_for"]).wrong(message, "write the name of a job above it"));
            }
            let named = found.into_iter().flat_map(|(_, names)| names);
            after.extend(named.filter(|name| !self.walled.contains(name)).cloned());
        }
        Ok(after)
    }

    fn table(job: &Job, clone: u64, files: &Files) -> Result<Table, Failure> {
        let mut table = Table::new();
        pace(&mut table, job);
        times(&mut table, job);
        if let Some(share) = job.urgent_share() {
            table.insert("high_priority_share".into(), Value::from(share));
        }
        if let Some(path) = &job.replay.iolog {
            return replay(table, job, path);
        }
        region(&mut table, job, clone, files)?;
        requests(&mut table, job, clone, files.is_drive)?;
        addresses(&mut table, job, clone)?;
        if let Some(seed) = job.places.seed {
            table.insert("seed".into(), whole(seed.saturating_add(clone)));
        }
        Ok(table)
    }
}

/// Completes the table of a job that replays a log.
fn replay(mut table: Table, job: &Job, path: &str) -> Result<Table, Failure> {
    let is_cut = job.extent.number_ios.is_some() || job.amount(0).is_some();
    if is_cut || job.pace.has_rate() {
        let message = "a log is replayed whole, at its own pace";
        let cut = job.at(&["number_ios", "io_size", "rate", "rate_iops"]);
        return Err(cut.wrong(message, "remove number_ios, io_size, rate and rate_iops"));
    }
    // Check the file here: an error about the table would point to a generated text that no user wrote.
    if path != "-" && copyback_workload::per_cpu::files(Path::new(path)).is_empty() {
        files::check_file("trace", Path::new(path)).map_err(|failure| {
            let help = failure.help().unwrap_or("name a log; a relative path begins in the current folder").to_owned();
            job.at(&["read_iolog"]).wrong(failure.message(), help)
        })?;
    }
    table.insert("trace".into(), Value::from(path));
    // fio's own logs, or those of blktrace: the content says which.
    table.insert("layout".into(), Value::from("as-is"));
    if job.extent.loops > 1 {
        table.insert("loop".into(), whole(job.extent.loops));
    }
    if job.replay.rate_percent != 100 {
        // fio's percentage is of the rate.
        table.insert("time_scale".into(), Value::from(100.0 / job.replay.rate_percent as f64));
    }
    table.extend(job.replay.align.map(|align| ("align".to_owned(), bytes(align))));
    Ok(table)
}

/// The maximum of outstanding requests: one for a synchronous engine.
fn depth(job: &Job) -> u64 {
    if job.pace.is_synchronous { 1 } else { job.pace.depth }
}

fn pace(table: &mut Table, job: &Job) {
    let is_paced = if job.replay.iolog.is_some() { job.replay.stalls } else { job.pace.has_rate() };
    table.insert("mode".into(), Value::from(if is_paced { "paced" } else { "closed" }));
    table.insert("queue_depth".into(), whole(depth(job)));
    if job.pace.think_ns > 0 {
        table.insert("think_time".into(), nanos(job.pace.think_ns));
        table.insert("think_every".into(), whole(job.pace.think_blocks));
    }
}

fn times(table: &mut Table, job: &Job) {
    if job.schedule.delay_ns > 0 {
        // It counts from the start of the run, even after a stonewall.
        table.insert("not_before".into(), nanos(job.schedule.delay_ns));
    }
    if job.schedule.ramp_ns > 0 {
        table.insert("warmup".into(), nanos(job.schedule.ramp_ns));
    }
    if let Some(runtime_ns) = job.schedule.runtime_ns {
        // The ramp comes before the time that a job runs.
        let stop_ns = job.schedule.ramp_ns.saturating_add(runtime_ns);
        table.insert("stop".into(), nanos(stop_ns));
    }
}

/// The addresses of a job: a part of the drive, or of its file.
fn region(table: &mut Table, job: &Job, clone: u64, files: &Files) -> Result<(), Failure> {
    if let (Some(file), Some(begin)) = (job.extent.file_bytes, job.file_offset_of(clone))
        && begin >= file
    {
        let message = format!("the job begins at byte {begin}, and its file ends at byte {file}");
        return Err(job.at(&["offset_increment", "offset"]).wrong(message, "lower the offset, or raise filesize"));
    }
    if files.is_drive && !job.begins_at_share_of_file(files) {
        let Some(offset) = job.offset_of(clone) else {
            let message = "offset is in bytes and offset_increment a share, or the other way round";
            return Err(job.at(&["offset_increment"]).wrong(message, "write both in bytes, or both in per cent"));
        };
        if offset != BytesOrShare::Bytes(0) {
            table.insert("region_start".into(), part(offset));
        }
        table.extend(job.part_size(clone).map(|size| ("region_size".to_owned(), part(size))));
        return Ok(());
    }
    if let (Some(offset), Some(size)) = (job.file_offset_of(clone), job.part_size(clone)) {
        table.insert("region_start".into(), bytes(files.begin(job, clone).saturating_add(offset)));
        table.insert("region_size".into(), part(size));
    }
    Ok(())
}

/// Requests per second of each operation; `None` without a limit.
fn rates_of(job: &Job) -> [Option<f64>; 3] {
    [READ, WRITE, TRIM].map(|op| {
        let blocks = &job.sizes.blocks[op];
        // fio converts `rate_iops` to bytes by the smallest size of the operation.
        let of_unit = if job.sizes.are_by_order { &job.sizes.given[op] } else { blocks };
        let least = of_unit.least() as f64;
        let bytes = job.pace.rate_bytes[op].map(|bytes| bytes as f64);
        let bytes = bytes.or(job.pace.rate_iops[op].map(|rate| rate as f64 * least))?;
        let counted = if job.pace.is_poisson { least } else { blocks.mean() };
        Some(bytes / counted)
    })
}

/// Requests of an operation begin at multiples of its smallest size, or of what `blockalign` says.
fn own_align(job: &Job, op: usize) -> u64 {
    match job.pattern.is_random {
        true => job.sizes.align[op].unwrap_or(job.map_unit(op)),
        false => job.sizes.blocks[op].least(),
    }
}

/// All sizes and addresses of a job are multiples of this.
fn align_of(job: &Job) -> u64 {
    let all = job.used(|op| common_divisor(job.sizes.blocks[op].divisor(), own_align(job, op)));
    all.reduce(common_divisor).unwrap_or(4096)
}

/// Inserts the operations of a job: shares, sizes, number and arrivals.
fn requests(table: &mut Table, job: &Job, clone: u64, is_drive: bool) -> Result<(), Failure> {
    let rates = rates_of(job);
    let read_share = match (job.pattern.ops, rates) {
        // If both operations have a rate, the rates determine the share of reads.
        ([true, true, _], [Some(reads), Some(writes), _]) => reads / (reads + writes),
        ([true, true, _], _) => job.pattern.read_percent as f64 / 100.0,
        ([true, false, _], _) => 1.0,
        _ => 0.0,
    };
    table.insert("read_share".into(), Value::from(read_share));
    if job.pattern.ops[TRIM] {
        table.insert("trim_share".into(), Value::from(1.0));
    }
    if job.pattern.trims_first {
        table.insert("trim_before_write".into(), Value::from(true));
    }
    let align = align_of(job);
    for op in (0..3).filter(|op| job.pattern.ops[*op]) {
        let key = ["read_size", "write_size", "trim_size"][op];
        let mut size = job.sizes.blocks[op].table();
        let own = own_align(job, op);
        if own != align {
            size.insert("offset_align".into(), bytes(own));
        }
        table.insert(key.into(), size.into());
    }
    table.insert("align".into(), bytes(align));
    amount::insert(table, (job, clone), read_share, align, is_drive)?;
    arrivals(table, job, rates)
}

fn arrivals(table: &mut Table, job: &Job, rates: [Option<f64>; 3]) -> Result<(), Failure> {
    let used: Vec<usize> = (0..3).filter(|op| job.pattern.ops[*op]).collect();
    let rates: Vec<f64> = used.iter().filter_map(|op| rates[*op]).collect();
    let arrivals = |rate: f64| {
        let kind = if job.pace.is_poisson { "poisson" } else { "fixed" };
        let keys = [("kind".to_owned(), Value::from(kind)), ("rate".to_owned(), Value::from(rate))];
        Value::Table(Table::from_iter(keys))
    };
    match (&used[..], &rates[..]) {
        (_, []) => {}
        // Each write follows a trim, so both have the same rate.
        ([_], [rate]) if job.pattern.trims_first => drop(table.insert("arrivals".into(), arrivals(2.0 * rate))),
        ([_], [rate]) => drop(table.insert("arrivals".into(), arrivals(*rate))),
        ([READ, WRITE], [reads, writes]) => {
            table.remove("read_share");
            table.insert("read_arrivals".into(), arrivals(*reads));
            table.insert("arrivals".into(), arrivals(*writes));
        }
        _ => {
            let why = "a rate for only one of a job's operations is not supported";
            let help = "give each a rate, or write a job of its own for each operation";
            return Err(job.at(&["rate", "rate_iops"]).wrong(why, help));
        }
    }
    Ok(())
}

/// Inserts the addresses of a job.
fn addresses(table: &mut Table, job: &Job, clone: u64) -> Result<(), Failure> {
    let mut addresses = Table::new();
    let keys = drawn_from(job, clone)?.into_iter().chain(order_of(job)).chain(gaps_of(job)?);
    addresses.extend(keys.map(|(key, value)| (key.to_owned(), value)));
    table.insert("addresses".into(), Value::Table(addresses));
    Ok(())
}

/// A key of `[addresses]`, and its value.
type AddressKey = (&'static str, Value);

/// The distribution: `kind`, and its parameters.
fn drawn_from(job: &Job, clone: u64) -> Result<Vec<AddressKey>, Failure> {
    let kind = |name: &str| ("kind", Value::from(name));
    if !job.pattern.is_random {
        return Ok(vec![kind("uniform")]);
    }
    Ok(match job.distribution() {
        // fio's map is for blocks that are drawn evenly.
        Distribution::Uniform if job.counts_by_own_size() => {
            let ends = (!job.is_endless()).then(|| ("ends", Value::from(true)));
            let unit = job.least_of_all();
            let unit = (unit != align_of(job)).then(|| ("map_unit", bytes(unit)));
            [kind("numbered")].into_iter().chain(ends).chain(unit).collect()
        }
        Distribution::Uniform => vec![kind(if job.goes_by_map() { "once" } else { "uniform" })],
        Distribution::Zipf(theta) => vec![kind("zipf"), ("theta", Value::from(*theta))],
        Distribution::Pareto(skew) => vec![kind("self-similar"), ("skew", Value::from(*skew))],
        Distribution::Zones(zones) => {
            let zones: Vec<Value> = zones.iter().map(|zone| Value::from(zone.to_vec())).collect();
            vec![kind("zones"), ("zones", zones.into())]
        }
        Distribution::Sequence(blocks) => {
            let blocks = Value::Array(blocks.iter().map(|block| whole(*block)).collect());
            let advance = job.places.advances.then(|| ("advance", Value::from(true)));
            [kind("listed"), ("blocks", blocks)].into_iter().chain(advance).collect()
        }
        Distribution::ZonesOfBytes(zones) => vec![kind("zones"), ("zones", zones_of_part(job, clone, zones)?)],
    })
}

/// Sequential requests among random ones, and runs.
fn order_of(job: &Job) -> Vec<AddressKey> {
    let mut keys = Vec::new();
    let random = if job.pattern.is_random { job.random_percent() as f64 / 100.0 } else { 0.0 };
    if random < 1.0 {
        keys.push(("sequential_share", Value::from(1.0 - random)));
    }
    if random < 1.0 || job.pattern.modifier.run_length.is_some() {
        keys.push(("sequential_by_op", Value::from(true)));
    }
    if let Some(length) = job.pattern.modifier.run_length.filter(|length| *length > 1) {
        keys.push(("run_length", whole(length)));
        if job.pattern.repeats_places {
            keys.push(("run_repeats", Value::from(true)));
        }
    }
    keys
}

/// Skipped bytes: holes (`rw=read:8k`) and strides.
fn gaps_of(job: &Job) -> Result<Vec<AddressKey>, Failure> {
    let hole = job.pattern.modifier.skip_bytes;
    let Some((size, skip)) = job.stride() else {
        return Ok(match hole {
            0 => Vec::new(),
            skip if skip > 0 => vec![("skip", bytes(skip.unsigned_abs()))],
            skip => vec![("skip_back", bytes(skip.unsigned_abs()))],
        });
    };
    if hole != 0 {
        let message = "holes behind each request, within strides, are not supported";
        return Err(job.at(&["rw"]).wrong(message, "remove what follows the colon of rw, or zonemode=strided"));
    }
    Ok(vec![("skip", bytes(skip)), ("skip_every", bytes(size))])
}

/// Zones of bytes as shares of the job's part.
fn zones_of_part(job: &Job, clone: u64, zones: &[(f64, Option<u64>)]) -> Result<Value, Failure> {
    let Some(BytesOrShare::Bytes(size)) = job.part_size(clone).filter(|part| *part != BytesOrShare::Bytes(0)) else {
        let help = "add size=BYTES, or write shares: random_distribution=zoned:60/10:40/";
        let zones = job.at(&["random_distribution"]);
        return Err(zones.wrong("zoned_abs: the job has no size in bytes, so its zones have no shares", help));
    };
    let given = zones.iter().filter_map(|(_, size)| *size).fold(0, u64::saturating_add);
    let is_closed = zones.iter().all(|(_, size)| size.is_some());
    if given > size || (given == size && !is_closed) {
        let message = format!("zoned_abs: the zones have {given} bytes, and the job {size}");
        let help = "let the zones fit into the size, or raise the size";
        return Err(job.at(&["random_distribution"]).wrong(message, help));
    }
    let share = |(access, own): &(f64, Option<u64>)| {
        Value::from(vec![*access, own.unwrap_or(size - given) as f64 / size as f64])
    };
    // The addresses after the last zone get no request.
    let rest = (is_closed && given < size).then(|| Value::from(vec![0.0, (size - given) as f64 / size as f64]));
    Ok(Value::Array(zones.iter().map(share).chain(rest).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::parse;

    /// For each workload of a file, the workloads that it waits for.
    fn waits(text: &str) -> Vec<(String, Vec<String>)> {
        let sections = parse::sections("test", text).expect("it is a job file");
        let jobs: Vec<Job> = sections.iter().map(|section| Job::new(section, &[]).expect("it is understood")).collect();
        let files = Files::of(&jobs).expect("it has sizes");
        let mut workloads = JobWorkloads::default();
        jobs.iter().for_each(|job| workloads.add(job, &files).expect("it can be made"));
        let after = |table: &Value| {
            let names = table.get("after").and_then(Value::as_array).into_iter().flatten();
            names.map(|name| name.as_str().expect("a name").to_owned()).collect()
        };
        workloads.tables.iter().map(|(name, table)| (name.clone(), after(table))).collect()
    }

    /// fio(1): a stonewall waits for preceding jobs to exit before its job starts; later jobs start no earlier.
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
