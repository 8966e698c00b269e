//! A job: what its options say.

use super::engines::{self, Engine};
use super::number::{number, time_ns};
use super::options::{self, Meaning};
use super::parse::{Opt, Section};
use super::shape::{self, Blocks, Distribution};
use crate::failure::Failure;

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

/// What follows the pattern of `rw` behind a colon.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Modifier {
    /// Of random jobs: requests for which one place is drawn.
    pub run_length: Option<u64>,
    /// Of sequential ones: bytes between the end of a request and the next one.
    pub skip_bytes: i64,
}

/// Stretches of addresses that are read or written, and what is left out between them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strides {
    pub size: Option<u64>,
    pub range: Option<u64>,
    pub skip: u64,
    /// Whether `zonemode=none` says that there are none.
    pub are_off: bool,
}

/// A job, its options understood.
#[derive(Clone, Debug)]
pub struct Job {
    pub name: String,
    /// The name of its section.
    pub section: String,
    /// The options as they are written, for fio's JSON.
    pub options: Vec<(String, String)>,
    /// Which operations it has, and whether it goes to random places.
    pub ops: [bool; 3],
    pub is_random: bool,
    /// Whether each write follows a trim of its place.
    pub trims_first: bool,
    pub modifier: Modifier,
    /// Whether requests of one place repeat it instead of continuing.
    pub repeats_places: bool,
    pub read_percent: u64,
    /// Sizes of each operation.
    pub blocks: [Blocks; 3],
    /// What random requests begin at multiples of, where it is said.
    pub align: [Option<u64>; 3],
    /// Whether sizes are those of sequential and random requests, not of reads and writes.
    is_sized_by_order: bool,
    pub depth: u64,
    pub is_synchronous: bool,
    pub count: u64,
    size: Option<Part>,
    file_bytes: Option<u64>,
    fills_device: bool,
    io_size: Option<Part>,
    offset: Part,
    increment: Option<Part>,
    pub filename: Option<String>,
    pub filename_format: Option<String>,
    /// Requests and bytes a second at most.
    pub rate_iops: [Option<u64>; 3],
    pub rate_bytes: [Option<u64>; 3],
    pub is_poisson: bool,
    pub runtime_ns: Option<u64>,
    is_time_based: bool,
    /// Whether its group is reported as one job, and whether it begins a group.
    pub is_grouped: bool,
    pub begins_group: bool,
    pub ramp_ns: u64,
    pub delay_ns: u64,
    pub distribution: [Distribution; 3],
    pub random_percent: [u64; 3],
    pub has_map: bool,
    /// Whether each round of a sequence of blocks goes on behind the last one.
    pub advances: bool,
    /// Whether each pass draws the same requests.
    pub repeats_passes: bool,
    pub strides: Strides,
    pub is_stonewalled: bool,
    pub wait_for: Option<String>,
    pub think_ns: u64,
    pub think_blocks: u64,
    pub iolog: Option<String>,
    pub stalls: bool,
    pub replay_percent: u64,
    pub replay_align: Option<u64>,
    pub seed: Option<u64>,
    pub is_urgent: bool,
    /// Percentages of requests that are urgent, and the class that makes them so.
    urgent_percent: [u64; 3],
    urgent_class: u64,
    pub loops: u64,
    pub number_ios: Option<u64>,
    verifies: bool,
    reads_back: bool,
    /// What `percentile_list` says, and of which times percentiles are shown: completion, and all.
    pub percentiles: Option<Vec<f64>>,
    pub shows_percentiles: [bool; 2],
    /// Where its size stands.
    pub sized_by: Option<Opt>,
    /// Where it stands, for what is wrong with the whole of it.
    pub whole: Opt,
    /// Its options and those of `[global]`, each by the first of its names.
    said: Vec<(&'static str, Opt)>,
    /// What was accepted and does nothing.
    pub notes: Vec<String>,
    /// Options that ask for flushes of a drive's buffer.
    pub flushes: Vec<Opt>,
    kb_base: u64,
}

impl Job {
    /// A job of this section with what `global` sections said before.
    pub fn new(section: &Section, global: &[Opt]) -> Result<Self, Failure> {
        let key = format!("[{}]", section.name);
        let whole = Opt { key, value: None, place: section.place.clone(), missing: None };
        // fio leaves out those that are there by their name alone.
        let own = section.options.iter().filter_map(|opt| Some((opt.key.clone(), opt.value.clone()?)));
        let mut job = Self {
            name: section.name.clone(),
            section: section.name.clone(),
            options: own.collect(),
            ops: [true, false, false],
            is_random: false,
            trims_first: false,
            modifier: Modifier::default(),
            repeats_places: false,
            read_percent: 50,
            blocks: [4096; 3].map(Blocks::one),
            align: [None; 3],
            is_sized_by_order: false,
            depth: 1,
            is_synchronous: true,
            count: 1,
            size: None,
            file_bytes: None,
            fills_device: false,
            io_size: None,
            offset: Part::Bytes(0),
            increment: None,
            filename: None,
            filename_format: None,
            rate_iops: [None; 3],
            rate_bytes: [None; 3],
            is_poisson: false,
            runtime_ns: None,
            is_time_based: false,
            is_grouped: false,
            begins_group: false,
            ramp_ns: 0,
            delay_ns: 0,
            distribution: [const { Distribution::Uniform }; 3],
            random_percent: [100; 3],
            has_map: true,
            advances: false,
            repeats_passes: true,
            strides: Strides::default(),
            is_stonewalled: false,
            wait_for: None,
            think_ns: 0,
            think_blocks: 1,
            iolog: None,
            stalls: true,
            replay_percent: 100,
            replay_align: None,
            seed: None,
            is_urgent: false,
            urgent_percent: [0; 3],
            urgent_class: 1,
            loops: 1,
            number_ios: None,
            verifies: false,
            reads_back: true,
            percentiles: None,
            shows_percentiles: [true, false],
            sized_by: None,
            whole,
            said: Vec::new(),
            notes: Vec::new(),
            flushes: Vec::new(),
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
        // An engine that asks no drive is the reason, whatever options it has.
        for opt in all().filter(|opt| opt.key == "ioengine") {
            job.set(opt)?;
        }
        for opt in all().filter(|opt| opt.key != "ioengine") {
            job.set(opt)?;
        }
        job.settle()?;
        Ok(job)
    }

    /// The last option of one of these names that says something, for what is wrong with it; else the job.
    pub fn at(&self, names: &[&str]) -> &Opt {
        self.said.iter().rev().find(|(name, _)| names.contains(name)).map_or(&self.whole, |(_, opt)| opt)
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

    fn part(&self, opt: &Opt, percent_max: u64) -> Result<Part, Failure> {
        let text = opt.text()?;
        let Some(percent) = text.strip_suffix('%') else { return Ok(Part::Bytes(number(opt, text, self.kb_base)?)) };
        match percent.trim().parse::<u64>() {
            Ok(percent) if percent <= percent_max => Ok(Part::Share(percent as f64 / 100.0)),
            Ok(_) => Err(opt.wrong(format!("it is above {percent_max}%"), "write for example 50%")),
            _ => Err(opt.wrong("it is no percentage", "write for example 50%")),
        }
    }

    /// Numbers of reads, writes and trims; what is left out stays as it is.
    fn numbers(&self, opt: &Opt, values: &mut [u64; 3], range: std::ops::RangeInclusive<u64>) -> Result<(), Failure> {
        for (value, text) in values.iter_mut().zip(shape::each(opt, opt.text()?)?) {
            if !text.is_empty() {
                let own = Opt { value: Some(text.to_owned()), ..opt.clone() };
                *value = self.number(&own, range.clone())?;
            }
        }
        Ok(())
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
        let Some((names, meaning)) = options::find(&opt.key) else {
            let help = match options::like(&opt.key) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`fio --cmdhelp=all` lists them".to_owned(),
            };
            return Err(opt.wrong("fio has no option of this name", help));
        };
        match meaning {
            Meaning::Understood => {
                self.said.push((names[0], opt.clone()));
                self.set_understood(names[0], opt)
            }
            Meaning::WithoutEffect(why) => {
                let note = format!("`{}` has no effect: {why}", opt.key);
                // What is off asks for nothing.
                if opt.value.as_deref() != Some("0") && !self.notes.contains(&note) {
                    self.notes.push(note);
                }
                Ok(())
            }
            Meaning::Flush => {
                // A job's own option replaces that of all jobs.
                self.flushes.retain(|known| known.key != opt.key);
                if !matches!(opt.value.as_deref(), Some("0" | "none")) {
                    self.flushes.push(opt.clone());
                }
                Ok(())
            }
            Meaning::Only(values, why, help) => {
                let is_one = opt.value.as_deref().is_some_and(|value| values.contains(&value));
                if is_one { Ok(()) } else { Err(opt.wrong(why, *help)) }
            }
        }
    }

    /// Refuses two ends, between which fio draws.
    fn refuse_range(opt: &Opt, why: &str) -> Result<(), Failure> {
        match opt.text()?.contains(['-', ':']) {
            true => Err(opt.wrong(why, "write one value")),
            false => Ok(()),
        }
    }

    fn set_understood(&mut self, name: &str, opt: &Opt) -> Result<(), Failure> {
        match name {
            "rw" => self.set_ops(opt)?,
            "rw_sequencer" => {
                self.repeats_places = match opt.text()? {
                    "sequential" => false,
                    "identical" => true,
                    _ => return Err(opt.wrong("fio knows sequential and identical", "write one of them")),
                }
            }
            "rwmixread" => self.read_percent = self.number(opt, 0..=100)?,
            "rwmixwrite" => self.read_percent = 100 - self.number(opt, 0..=100)?,
            "bs" => self.set_sizes(opt, shape::sectors, Blocks::one)?,
            "bsrange" => self.set_sizes(opt, shape::range, |blocks| blocks)?,
            "bssplit" => self.set_sizes(opt, shape::split, |blocks| blocks)?,
            "ba" => {
                for (align, text) in self.align.iter_mut().zip(shape::each(opt, opt.text()?)?) {
                    *align = if text.is_empty() { *align } else { Some(shape::sectors(opt, text, self.kb_base)?) };
                }
            }
            "bs_is_seq_rand" => self.is_sized_by_order = Self::flag(opt)?,
            "iodepth" => self.depth = self.number(opt, 1..=65_536)?,
            "ioengine" => self.set_engine(opt)?,
            "numjobs" => self.count = self.number(opt, 1..=256)?,
            "size" => {
                self.size = Some(self.part(opt, 100)?);
                self.sized_by = Some(opt.clone());
            }
            "filesize" => {
                Self::refuse_range(opt, "files of random sizes are not supported")?;
                self.file_bytes = Some(self.number(opt, 1..=u64::MAX)?);
                self.sized_by = Some(opt.clone());
            }
            "fill_device" => self.fills_device = Self::flag(opt)?,
            "io_size" => self.io_size = Some(self.part(opt, 1_000_000)?).filter(|part| *part != Part::Bytes(0)),
            "number_ios" => self.number_ios = Some(self.number(opt, 1..=u64::MAX)?),
            "loops" => self.loops = self.number(opt, 1..=u64::from(u32::MAX))?,
            "offset" => self.offset = self.part(opt, 100)?,
            "offset_increment" => self.increment = Some(self.part(opt, 100)?),
            "filename" => self.set_filename(opt)?,
            "filename_format" => self.filename_format = Some(opt.text()?.to_owned()),
            // They name what an engine asks, as a file's name does.
            "libblkio_path" | "uri" | "rbdname" => {
                let name = opt.value.clone().unwrap_or_default();
                self.filename.get_or_insert(name);
            }
            "rate" => self.rate_bytes = self.rates(opt)?,
            "rate_iops" => self.rate_iops = self.rates(opt)?,
            "rate_process" => {
                self.is_poisson = match opt.text()? {
                    "linear" => false,
                    "poisson" => true,
                    _ => return Err(opt.wrong("fio knows linear and poisson", "write one of them")),
                }
            }
            "runtime" => self.runtime_ns = Some(time_ns(opt, 1_000_000_000)?).filter(|ns| *ns > 0),
            "time_based" => self.is_time_based = Self::flag(opt)?,
            "ramp_time" => self.ramp_ns = time_ns(opt, 1_000_000_000)?,
            "startdelay" => {
                Self::refuse_range(opt, "a delay that is drawn is not supported")?;
                self.delay_ns = time_ns(opt, 1_000_000_000)?;
            }
            "group_reporting" => self.is_grouped = Self::flag(opt)?,
            "new_group" => self.begins_group = Self::flag(opt)?,
            "random_distribution" => self.distribution = shape::distribution(opt, self.kb_base)?,
            "percentage_random" => {
                let mut percent = self.random_percent;
                self.numbers(opt, &mut percent, 0..=100)?;
                self.random_percent = percent;
            }
            "random_sequence_stride" => self.advances = Self::flag(opt)?,
            "norandommap" => self.has_map = !Self::flag(opt)?,
            "randrepeat" => self.repeats_passes = Self::flag(opt)?,
            "randseed" => self.seed = Some(self.number(opt, 0..=i64::MAX as u64)?),
            "zonemode" => self.set_zone_mode(opt)?,
            "zonesize" => self.strides.size = Some(self.number(opt, 0..=u64::MAX)?).filter(|bytes| *bytes > 0),
            "zonerange" => self.strides.range = Some(self.number(opt, 0..=u64::MAX)?).filter(|bytes| *bytes > 0),
            "zoneskip" => self.strides.skip = self.number(opt, 0..=u64::MAX)?,
            "stonewall" => self.is_stonewalled = Self::flag(opt)?,
            "wait_for" => self.wait_for = Some(opt.text()?.to_owned()),
            "thinktime" => self.think_ns = time_ns(opt, 1_000)?,
            "thinktime_blocks" => self.think_blocks = self.number(opt, 1..=u64::MAX)?,
            "read_iolog" => self.iolog = Some(opt.text()?.to_owned()),
            "replay_no_stall" => self.stalls = !Self::flag(opt)?,
            "replay_time_scale" => self.replay_percent = self.number(opt, 1..=u64::MAX)?,
            "replay_align" => self.replay_align = Some(self.number(opt, 0..=u64::MAX)?).filter(|bytes| *bytes > 0),
            "prioclass" => self.is_urgent = self.number(opt, 0..=3)? == 1,
            "prio" => {
                self.number(opt, 0..=7)?;
                self.notes.push("`prio`: schemes know urgent requests (prioclass=1) and others, no levels".to_owned());
            }
            "cmdprio_percentage" => {
                let mut percent = self.urgent_percent;
                self.numbers(opt, &mut percent, 0..=100)?;
                self.urgent_percent = percent;
            }
            "cmdprio_class" => self.urgent_class = self.number(opt, 0..=3)?,
            "verify" => self.verifies = !matches!(opt.text()?, "0" | "null"),
            "do_verify" => self.reads_back = Self::flag(opt)?,
            "percentile_list" => self.set_percentiles(opt)?,
            "clat_percentiles" => self.shows_percentiles[0] = Self::flag(opt)?,
            "lat_percentiles" => self.shows_percentiles[1] = Self::flag(opt)?,
            "kb_base" => {}
            "name" => opt.text()?.clone_into(&mut self.name),
            other => unreachable!("`{other}` is understood, and nothing is done with it"),
        }
        Ok(())
    }
}

mod meaning;
mod settle;
