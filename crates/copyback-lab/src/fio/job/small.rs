//! Subjects of a few options: replayed logs, priorities, verification, percentiles.

use super::Subject;
use super::value_parser::ValueParser;
use crate::failure::Failure;
use crate::fio::parse::Opt;

/// The most percentiles, as fio has it.
const PERCENTILES_MAX: usize = 20;

/// A log that is replayed.
#[derive(Clone, Debug)]
pub struct Replay {
    pub iolog: Option<String>,
    /// Whether its times are kept.
    pub stalls: bool,
    /// Its speed, in per cent.
    pub rate_percent: u64,
    pub align: Option<u64>,
}

impl Default for Replay {
    fn default() -> Self {
        Self { iolog: None, stalls: true, rate_percent: 100, align: None }
    }
}

impl Subject for Replay {
    fn set(&mut self, name: &str, opt: &Opt, read: ValueParser, _: &mut Vec<String>) -> Result<bool, Failure> {
        match name {
            "read_iolog" => self.iolog = Some(opt.text()?.to_owned()),
            "replay_no_stall" => self.stalls = !read.flag(opt)?,
            "replay_time_scale" => self.rate_percent = read.number(opt, 1..=u64::MAX)?,
            "replay_align" => self.align = Some(read.number(opt, 0..=u64::MAX)?).filter(|bytes| *bytes > 0),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Which requests are urgent.
#[derive(Clone, Debug)]
pub struct Urgency {
    /// Whether all of the job are.
    pub is_job: bool,
    /// Percentages of requests that are picked, by operation, and their class.
    pub percent: [u64; 3],
    pub class: u64,
}

impl Default for Urgency {
    fn default() -> Self {
        Self { is_job: false, percent: [0; 3], class: 1 }
    }
}

impl Subject for Urgency {
    fn set(&mut self, name: &str, opt: &Opt, read: ValueParser, notes: &mut Vec<String>) -> Result<bool, Failure> {
        match name {
            "prioclass" => self.is_job = read.number(opt, 0..=3)? == 1,
            "prio" => {
                read.number(opt, 0..=7)?;
                notes.push("`prio`: schemes know urgent requests (prioclass=1) and others, no levels".to_owned());
            }
            "cmdprio_percentage" => read.numbers(opt, &mut self.percent, 0..=100)?,
            "cmdprio_class" => self.class = read.number(opt, 0..=3)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Whether data is verified, and whether by reading it back.
#[derive(Clone, Debug)]
pub struct Verification {
    pub is_on: bool,
    pub is_done: bool,
}

impl Default for Verification {
    fn default() -> Self {
        Self { is_on: false, is_done: true }
    }
}

impl Subject for Verification {
    fn set(&mut self, name: &str, opt: &Opt, read: ValueParser, _: &mut Vec<String>) -> Result<bool, Failure> {
        match name {
            "verify" => self.is_on = !matches!(opt.text()?, "0" | "null"),
            "do_verify" => self.is_done = read.flag(opt)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Percentiles of a report.
#[derive(Clone, Debug)]
pub struct Shown {
    /// What `percentile_list` says.
    pub percentiles: Option<Vec<f64>>,
    /// Whether those of completion, and those of all times are shown.
    pub shows: [bool; 2],
}

impl Default for Shown {
    fn default() -> Self {
        Self { percentiles: None, shows: [true, false] }
    }
}

impl Subject for Shown {
    fn set(&mut self, name: &str, opt: &Opt, read: ValueParser, _: &mut Vec<String>) -> Result<bool, Failure> {
        match name {
            "percentile_list" => self.percentiles = Some(percentiles(opt)?),
            "clat_percentiles" => self.shows[0] = read.flag(opt)?,
            "lat_percentiles" => self.shows[1] = read.flag(opt)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn percentiles(opt: &Opt) -> Result<Vec<f64>, Failure> {
    let parse = |text: &str| text.trim().parse::<f64>().ok().filter(|percent| *percent > 0.0 && *percent <= 100.0);
    let list: Option<Vec<f64>> = opt.text()?.split(':').map(parse).collect();
    let Some(mut list) = list.filter(|list| list.len() <= PERCENTILES_MAX) else {
        let why = format!("these are not up to {PERCENTILES_MAX} percentages above 0");
        return Err(opt.wrong(why, "write for example 50:99:99.9"));
    };
    list.sort_by(f64::total_cmp);
    list.dedup();
    Ok(list)
}
