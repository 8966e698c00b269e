//! Replayed logs: `read_iolog` and its speed.

use super::Subject;
use super::value_parser::ValueParser;
use crate::failure::Failure;
use crate::fio::parse::Opt;

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
