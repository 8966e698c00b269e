//! What an option of a job means.

use super::parse::{Opt, Section, number, time_ns};
use crate::failure::Failure;
use copyback::config::layers::suggestion;

/// Options that change nothing of what a simulated drive is asked for, or that has no host: each with the reason.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("direct", "there is no page cache"),
    ("buffered", "there is no page cache"),
    ("invalidate", "there is no page cache"),
    ("thread", "there are no processes"),
    ("description", "it is a text"),
    ("directory", "there are no files"),
    ("allow_file_create", "there are no files"),
    ("create_on_open", "there are no files"),
    ("create_serialize", "there are no files"),
    ("create_fsync", "there are no files"),
    ("fallocate", "there are no files"),
    ("overwrite", "there are no files"),
    ("unlink", "there are no files"),
    ("end_fsync", "a write ends when it is kept"),
    ("fsync_on_close", "a write ends when it is kept"),
    ("gtod_reduce", "the host's work takes no time"),
    ("clocksource", "time is simulated"),
    ("cpus_allowed", "the host's work takes no time"),
    ("cpus_allowed_policy", "the host's work takes no time"),
    ("numa_cpu_nodes", "the host's work takes no time"),
    ("numa_mem_policy", "the host's work takes no time"),
    ("nice", "the host's work takes no time"),
    ("mem", "the host's memory costs nothing"),
    ("iomem", "the host's memory costs nothing"),
    ("iomem_align", "the host's memory costs nothing"),
    ("hugepage-size", "the host's memory costs nothing"),
    ("hipri", "the host's work takes no time"),
    ("fixedbufs", "the host's work takes no time"),
    ("registerfiles", "the host's work takes no time"),
    ("sqthread_poll", "the host's work takes no time"),
    ("userspace_reap", "the host's work takes no time"),
    ("thinktime_spin", "thinking takes the same time either way"),
    ("refill_buffers", "a drive's speed does not depend on its data"),
    ("scramble_buffers", "a drive's speed does not depend on its data"),
    ("zero_buffers", "a drive's speed does not depend on its data"),
    ("buffer_pattern", "a drive's speed does not depend on its data"),
    ("buffer_compress_percentage", "a drive's speed does not depend on its data"),
    ("dedupe_percentage", "a drive's speed does not depend on its data"),
    ("randrepeat", "the seed says whether a run repeats"),
    ("percentile_list", "percentiles are fio's usual ones"),
    ("log_avg_msec", "there are no logs of fio: --out writes tables"),
    ("log_hist_msec", "there are no logs of fio: --out writes tables"),
    ("log_offset", "there are no logs of fio: --out writes tables"),
    ("per_job_logs", "there are no logs of fio: --out writes tables"),
    ("write_lat_log", "there are no logs of fio: --out writes tables"),
    ("write_bw_log", "there are no logs of fio: --out writes tables"),
    ("write_iops_log", "there are no logs of fio: --out writes tables"),
    ("write_hist_log", "there are no logs of fio: --out writes tables"),
    ("disk_util", "there is no disk of the host"),
    ("allrandrepeat", "the seed says whether a run repeats"),
    ("random_generator", "random streams are this program's own"),
    ("disable_lat", "response times are always measured"),
    ("disable_clat", "response times are always measured"),
    ("disable_slat", "response times are always measured"),
    ("disable_bw_measurement", "bandwidth is always measured"),
    ("clat_percentiles", "percentiles are always shown"),
    ("lat_percentiles", "percentiles are always shown"),
    ("slat_percentiles", "percentiles are always shown"),
    ("eta", "it is of the terminal"),
];

/// Engines that wait for each request.
const SYNCHRONOUS: &[&str] = &["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"];
/// Engines that have `iodepth` requests under way.
const ASYNCHRONOUS: &[&str] = &["libaio", "io_uring", "io_uring_cmd", "posixaio", "windowsaio", "sg", "null"];

/// The options that are understood, for suggestions.
const KNOWN: &[&str] = &[
    "rw",
    "readwrite",
    "rwmixread",
    "rwmixwrite",
    "bs",
    "blocksize",
    "bssplit",
    "iodepth",
    "ioengine",
    "numjobs",
    "size",
    "io_size",
    "offset",
    "filename",
    "rate_iops",
    "rate_process",
    "runtime",
    "timeout",
    "time_based",
    "ramp_time",
    "startdelay",
    "group_reporting",
    "io_limit",
    "random_distribution",
    "norandommap",
    "stonewall",
    "wait_for_previous",
    "wait_for",
    "thinktime",
    "thinktime_blocks",
    "read_iolog",
    "replay_no_stall",
    "randseed",
    "prio",
    "prioclass",
    "loops",
    "number_ios",
    "nrfiles",
    "kb_base",
    "name",
];

/// Bytes, or a share of the drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    Bytes(u64),
    Share(f64),
}

/// Operations, in fio's order.
pub const READ: usize = 0;
pub const WRITE: usize = 1;
pub const TRIM: usize = 2;

/// A job, its options understood.
#[derive(Clone, Debug)]
pub struct Job {
    pub name: String,
    /// The options as they are written, for fio's JSON.
    pub options: Vec<(String, String)>,
    /// Which operations it has, and whether it goes to random places.
    pub ops: [bool; 3],
    pub is_random: bool,
    pub read_percent: u64,
    /// Sizes of each operation with their weights.
    pub sizes: [Vec<(u64, u64)>; 3],
    pub depth: u64,
    pub is_synchronous: bool,
    pub count: u64,
    pub size: Option<Part>,
    pub io_bytes: Option<u64>,
    pub offset: Part,
    pub filename: Option<String>,
    pub rate_iops: [Option<u64>; 3],
    pub is_poisson: bool,
    pub runtime_ns: Option<u64>,
    pub is_time_based: bool,
    /// Whether its group is reported as one job.
    pub is_grouped: bool,
    pub ramp_ns: u64,
    pub delay_ns: u64,
    /// As `random_distribution` says it: the kind and its figures.
    pub distribution: Distribution,
    pub has_map: bool,
    pub is_stonewalled: bool,
    pub wait_for: Option<String>,
    pub think_ns: u64,
    pub think_blocks: u64,
    pub iolog: Option<String>,
    pub stalls: bool,
    pub seed: Option<u64>,
    pub is_urgent: bool,
    pub loops: u64,
    pub number_ios: Option<u64>,
    /// Where it stands, for what is wrong with the whole of it.
    pub whole: Opt,
    /// What was accepted and does nothing.
    pub notes: Vec<String>,
    kb_base: u64,
}

/// The most zones, as fio has it.
const ZONES_MAX: usize = 256;

/// Where random requests go.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    Uniform,
    Zipf(f64),
    Pareto(f64),
    /// Of each zone its share of the requests and its share of the addresses.
    Zones(Vec<[f64; 2]>),
}

impl Job {
    /// A job of this section with what `global` sections said before.
    pub fn new(section: &Section, global: &[Opt]) -> Result<Self, Failure> {
        let whole = Opt { key: format!("[{}]", section.name), value: None, place: section.place.clone() };
        // fio leaves out those that are there by their name alone.
        let own = section.options.iter().filter_map(|opt| Some((opt.key.clone(), opt.value.clone()?)));
        let mut job = Self {
            name: section.name.clone(),
            options: own.collect(),
            ops: [true, false, false],
            is_random: false,
            read_percent: 50,
            sizes: [vec![(4096, 1)], vec![(4096, 1)], vec![(4096, 1)]],
            depth: 1,
            is_synchronous: true,
            count: 1,
            size: None,
            io_bytes: None,
            offset: Part::Bytes(0),
            filename: None,
            rate_iops: [None; 3],
            is_poisson: false,
            runtime_ns: None,
            is_time_based: false,
            is_grouped: false,
            ramp_ns: 0,
            delay_ns: 0,
            distribution: Distribution::Uniform,
            has_map: true,
            is_stonewalled: false,
            wait_for: None,
            think_ns: 0,
            think_blocks: 1,
            iolog: None,
            stalls: true,
            seed: None,
            is_urgent: false,
            loops: 1,
            number_ios: None,
            whole,
            notes: Vec::new(),
            kb_base: 1024,
        };
        let all = || global.iter().chain(&section.options);
        // It says what the others mean.
        for opt in all().filter(|opt| opt.key == "kb_base") {
            job.kb_base = match opt.text()? {
                "1024" => 1024,
                "1000" => 1000,
                _ => return Err(opt.wrong("fio knows 1000 and 1024", "write kb_base=1024, or leave it out")),
            };
        }
        for opt in all() {
            job.set(opt)?;
        }
        Ok(job)
    }

    fn number(&self, opt: &Opt, range: std::ops::RangeInclusive<u64>) -> Result<u64, Failure> {
        let value = number(opt, opt.text()?, self.kb_base)?;
        if range.contains(&value) {
            return Ok(value);
        }
        let (least, most) = (range.start(), range.end());
        let help =
            if *most == u64::MAX { format!("write {least} or more") } else { format!("write {least} to {most}") };
        Err(opt.wrong("it is out of range", help))
    }

    fn part(&self, opt: &Opt) -> Result<Part, Failure> {
        let text = opt.text()?;
        let Some(percent) = text.strip_suffix('%') else { return Ok(Part::Bytes(number(opt, text, self.kb_base)?)) };
        match percent.trim().parse::<u64>() {
            Ok(percent) if percent <= 100 => Ok(Part::Share(percent as f64 / 100.0)),
            _ => Err(opt.wrong("it is no percentage", "write for example 50%")),
        }
    }

    /// Whether an option that is there, or is 1, holds.
    fn flag(opt: &Opt) -> Result<bool, Failure> {
        match opt.value.as_deref() {
            None | Some("1") => Ok(true),
            Some("0") => Ok(false),
            Some(_) => Err(opt.wrong("it is either on or off", "write 1 or 0, or the name alone")),
        }
    }

    fn set(&mut self, opt: &Opt) -> Result<(), Failure> {
        match opt.key.as_str() {
            "rw" | "readwrite" => self.set_ops(opt)?,
            "rwmixread" => self.read_percent = self.number(opt, 0..=100)?,
            "rwmixwrite" => self.read_percent = 100 - self.number(opt, 0..=100)?,
            "bs" | "blocksize" => self.set_sizes(opt)?,
            "bssplit" => self.set_split(opt)?,
            "iodepth" => self.depth = self.number(opt, 1..=65_536)?,
            "ioengine" => self.set_engine(opt)?,
            "numjobs" => self.count = self.number(opt, 1..=256)?,
            "size" => self.size = Some(self.part(opt)?),
            "group_reporting" => self.is_grouped = Self::flag(opt)?,
            "io_size" | "io_limit" => self.io_bytes = Some(self.number(opt, 1..=u64::MAX)?),
            "offset" => self.offset = self.part(opt)?,
            "filename" => self.set_filename(opt)?,
            "rate_iops" => self.set_rate(opt)?,
            "rate_process" => {
                self.is_poisson = match opt.text()? {
                    "linear" => false,
                    "poisson" => true,
                    _ => return Err(opt.wrong("fio knows linear and poisson", "write one of them")),
                }
            }
            "runtime" | "timeout" => self.runtime_ns = Some(time_ns(opt, 1_000_000_000)?).filter(|ns| *ns > 0),
            "time_based" => self.is_time_based = Self::flag(opt)?,
            "ramp_time" => self.ramp_ns = time_ns(opt, 1_000_000_000)?,
            "startdelay" => self.delay_ns = time_ns(opt, 1_000_000_000)?,
            "random_distribution" => self.set_distribution(opt)?,
            "norandommap" => self.has_map = !Self::flag(opt)?,
            "stonewall" | "wait_for_previous" => self.is_stonewalled = Self::flag(opt)?,
            "wait_for" => self.wait_for = Some(opt.text()?.to_owned()),
            "thinktime" => self.think_ns = time_ns(opt, 1_000)?,
            "thinktime_blocks" => self.think_blocks = self.number(opt, 1..=u64::MAX)?,
            "read_iolog" => self.iolog = Some(opt.text()?.to_owned()),
            "replay_no_stall" => self.stalls = !Self::flag(opt)?,
            "randseed" => self.seed = Some(self.number(opt, 0..=i64::MAX as u64)?),
            "prioclass" => self.is_urgent = self.number(opt, 0..=3)? == 1,
            "prio" => {
                self.number(opt, 0..=7)?;
                self.notes.push("`prio`: schemes know urgent requests (prioclass=1) and others, no levels".to_owned());
            }
            "loops" => self.loops = self.number(opt, 1..=u64::from(u32::MAX))?,
            "number_ios" => self.number_ios = Some(self.number(opt, 1..=u64::MAX)?),
            "nrfiles" if opt.text()? == "1" => {}
            "kb_base" => {}
            "name" => opt.text()?.clone_into(&mut self.name),
            other => return self.without_effect(opt, other),
        }
        Ok(())
    }

    fn without_effect(&mut self, opt: &Opt, key: &str) -> Result<(), Failure> {
        if let Some((_, why)) = WITHOUT_EFFECT.iter().find(|(known, _)| *known == key) {
            let note = format!("`{key}` has no effect: {why}");
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
            return Ok(());
        }
        let known = KNOWN.iter().copied();
        Err(opt.wrong(
            "this option is not understood, so that its job cannot be simulated",
            suggestion(key, "options", known),
        ))
    }

    fn set_ops(&mut self, opt: &Opt) -> Result<(), Failure> {
        let (ops, is_random) = match opt.text()? {
            "read" => ([true, false, false], false),
            "write" => ([false, true, false], false),
            "trim" => ([false, false, true], false),
            "randread" => ([true, false, false], true),
            "randwrite" => ([false, true, false], true),
            "randtrim" => ([false, false, true], true),
            "rw" | "readwrite" => ([true, true, false], false),
            "randrw" => ([true, true, false], true),
            _ => {
                let help = "use read, write, trim, randread, randwrite, randtrim, rw or randrw";
                return Err(opt.wrong("this pattern is not supported", help));
            }
        };
        (self.ops, self.is_random) = (ops, is_random);
        Ok(())
    }

    fn set_sizes(&mut self, opt: &Opt) -> Result<(), Failure> {
        let given: Vec<&str> = opt.text()?.split(',').collect();
        if given.len() > 3 {
            return Err(opt.wrong("it has more than three sizes", "write sizes of reads, writes and trims"));
        }
        for op in [READ, WRITE, TRIM] {
            // Who is left out has the size before; what is empty stays as it is.
            let text = given.get(op).or(given.last()).copied().unwrap_or_default();
            if text.is_empty() {
                continue;
            }
            let bytes = number(opt, text, self.kb_base)?;
            if bytes == 0 {
                return Err(opt.wrong("a block of no byte is none", "write for example 4k"));
            }
            self.sizes[op] = vec![(bytes, 1)];
        }
        Ok(())
    }

    fn set_split(&mut self, opt: &Opt) -> Result<(), Failure> {
        let given: Vec<&str> = opt.text()?.split(',').collect();
        for op in [READ, WRITE, TRIM] {
            let text = given.get(op).or(given.last()).copied().unwrap_or_default();
            self.sizes[op] = self.split(opt, text)?;
        }
        Ok(())
    }

    /// Sizes with percentages; those without share what the others leave.
    fn split(&self, opt: &Opt, text: &str) -> Result<Vec<(u64, u64)>, Failure> {
        let wrong = || opt.wrong("it is no list of sizes and percentages", "write for example 4k/60:64k/40");
        let mut entries: Vec<(u64, Option<u64>)> = Vec::new();
        for entry in text.split(':') {
            let (size, share) = entry.split_once('/').unwrap_or((entry, ""));
            let share = if share.is_empty() { None } else { Some(share.trim().parse().map_err(|_| wrong())?) };
            let bytes = number(opt, size, self.kb_base)?;
            entries.push((bytes, share));
            if bytes == 0 {
                return Err(wrong());
            }
        }
        let given: u64 = entries.iter().filter_map(|(_, share)| *share).fold(0, u64::saturating_add);
        let open = entries.iter().filter(|(_, share)| share.is_none()).count() as u64;
        if given > 100 || (open == 0 && given != 100) {
            return Err(opt.wrong(format!("its percentages add up to {given}"), "let them add up to 100"));
        }
        let rest = |share: Option<u64>| share.map_or((100 - given) as f64 / open as f64, |share| share as f64);
        let weighted = entries.into_iter().map(|(bytes, share)| (bytes, (rest(share) * 1000.0).round() as u64));
        Ok(weighted.filter(|(_, weight)| *weight > 0).collect())
    }

    fn set_engine(&mut self, opt: &Opt) -> Result<(), Failure> {
        let engine = opt.text()?;
        self.is_synchronous = SYNCHRONOUS.contains(&engine);
        if !self.is_synchronous && !ASYNCHRONOUS.contains(&engine) {
            let known = SYNCHRONOUS.iter().chain(ASYNCHRONOUS).copied();
            return Err(opt
                .wrong("this engine asks no drive for blocks, or is not known", suggestion(engine, "engines", known)));
        }
        Ok(())
    }

    fn set_filename(&mut self, opt: &Opt) -> Result<(), Failure> {
        let text = opt.text()?;
        if text.contains(':') {
            return Err(opt.wrong("a job on several files is not supported", "write a job for each of them"));
        }
        self.filename = Some(text.to_owned());
        Ok(())
    }

    fn set_rate(&mut self, opt: &Opt) -> Result<(), Failure> {
        let given: Vec<&str> = opt.text()?.split(',').collect();
        for op in [READ, WRITE, TRIM] {
            let text = given.get(op).or(given.last()).copied().unwrap_or_default();
            self.rate_iops[op] = if text.is_empty() { None } else { Some(number(opt, text, self.kb_base)?) };
            if self.rate_iops[op] == Some(0) {
                self.rate_iops[op] = None;
            }
        }
        Ok(())
    }

    fn set_distribution(&mut self, opt: &Opt) -> Result<(), Failure> {
        let text = opt.text()?;
        let (kind, figure) = text.split_once(':').unwrap_or((text, ""));
        let help = "use random, zipf:THETA, pareto:H, or zoned:ACCESS/SIZE:ACCESS/SIZE";
        self.distribution = match kind {
            "random" if figure.is_empty() => Distribution::Uniform,
            "zipf" => {
                let theta = if figure.is_empty() { Ok(1.1) } else { figure.parse::<f64>() };
                match theta {
                    Ok(theta) if theta > 0.0 && (theta - 1.0).abs() > f64::EPSILON => Distribution::Zipf(theta),
                    _ => {
                        return Err(opt.wrong("theta has to be above 0 and other than 1", "write for example zipf:1.2"));
                    }
                }
            }
            "pareto" => {
                let skew = if figure.is_empty() { Ok(0.2) } else { figure.parse::<f64>() };
                match skew {
                    Ok(skew) if skew > 0.0 && skew < 1.0 => Distribution::Pareto(skew),
                    _ => return Err(opt.wrong("it has to be between 0 and 1", "write for example pareto:0.2")),
                }
            }
            "zoned" => Distribution::Zones(zones(opt, figure)?),
            "normal" => {
                let why = "fio's law of `normal` is not the one that its name says, and is not imitated";
                return Err(opt.wrong(why, help));
            }
            _ => return Err(opt.wrong("this distribution is not supported", help)),
        };
        Ok(())
    }
}

/// Zones as fio writes them, in per cent: of requests and of the job's addresses.
fn zones(opt: &Opt, text: &str) -> Result<Vec<[f64; 2]>, Failure> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| (0.0..=100.0).contains(n));
    let pair = |zone: &str| {
        let (access, size) = zone.split_once('/')?;
        Some([number(access)? / 100.0, number(size).filter(|size| *size > 0.0)? / 100.0])
    };
    let zones: Option<Vec<[f64; 2]>> = text.split(':').map(pair).collect();
    let is_whole = |at: usize, zones: &[[f64; 2]]| (zones.iter().map(|zone| zone[at]).sum::<f64>() - 1.0).abs() < 1e-9;
    match zones {
        Some(zones) if zones.len() <= ZONES_MAX && is_whole(0, &zones) && is_whole(1, &zones) => Ok(zones),
        _ => {
            let why = format!("these are not up to {ZONES_MAX} zones whose accesses and sizes add up to 100 each");
            Err(opt.wrong(why, "write for example zoned:80/20:20/80"))
        }
    }
}
