//! When a job and its clones run: times, barriers and groups.

use super::Subject;
use super::value_parser::ValueParser;
use crate::failure::Failure;
use crate::fio::number::time_ns;
use crate::fio::parse::Opt;

/// The time of a job.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Clones, each a job.
    pub count: u64,
    pub runtime_ns: Option<u64>,
    pub is_time_based: bool,
    pub ramp_ns: u64,
    pub delay_ns: u64,
    pub is_stonewalled: bool,
    pub wait_for: Option<String>,
    /// Whether its group is reported as one job, and whether it begins a group.
    pub is_grouped: bool,
    pub begins_group: bool,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            count: 1,
            runtime_ns: None,
            is_time_based: false,
            ramp_ns: 0,
            delay_ns: 0,
            is_stonewalled: false,
            wait_for: None,
            is_grouped: false,
            begins_group: false,
        }
    }
}

impl Subject for Schedule {
    fn set(&mut self, name: &str, opt: &Opt, read: ValueParser, _: &mut Vec<String>) -> Result<bool, Failure> {
        let seconds = || time_ns(opt, 1_000_000_000);
        match name {
            "numjobs" => self.count = read.number(opt, 1..=256)?,
            "runtime" => self.runtime_ns = Some(seconds()?).filter(|ns| *ns > 0),
            "time_based" => self.is_time_based = read.flag(opt)?,
            "ramp_time" => self.ramp_ns = seconds()?,
            "startdelay" => {
                read.refuse_range(opt, "a delay that is drawn is not supported")?;
                self.delay_ns = seconds()?;
            }
            "stonewall" => self.is_stonewalled = read.flag(opt)?,
            "wait_for" => self.wait_for = Some(opt.text()?.to_owned()),
            "group_reporting" => self.is_grouped = read.flag(opt)?,
            "new_group" => self.begins_group = read.flag(opt)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}
