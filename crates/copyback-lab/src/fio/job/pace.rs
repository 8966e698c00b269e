//! How fast requests begin: the engine and its depth, rates, pauses.

use super::Subject;
use super::value_parser::ValueParser;
use crate::failure::Failure;
use crate::fio::engines;
use crate::fio::number::{each, number, time_ns};
use crate::fio::parse::Opt;

/// The pace of requests.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Outstanding requests, if the engine is asynchronous.
    pub depth: u64,
    pub is_synchronous: bool,
    /// Requests and bytes a second at most.
    pub rate_iops: [Option<u64>; 3],
    pub rate_bytes: [Option<u64>; 3],
    pub is_poisson: bool,
    pub think_ns: u64,
    pub think_blocks: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            depth: 1,
            is_synchronous: true,
            rate_iops: [None; 3],
            rate_bytes: [None; 3],
            is_poisson: false,
            think_ns: 0,
            think_blocks: 1,
        }
    }
}

impl Subject for Pace {
    fn set(&mut self, name: &str, opt: &Opt, read: ValueParser, notes: &mut Vec<String>) -> Result<bool, Failure> {
        match name {
            "iodepth" => self.depth = read.number(opt, 1..=65_536)?,
            "ioengine" => self.set_engine(opt, notes)?,
            "rate" => self.rate_bytes = rates(opt, read)?,
            "rate_iops" => self.rate_iops = rates(opt, read)?,
            "rate_process" => {
                self.is_poisson = match opt.text()? {
                    "linear" => false,
                    "poisson" => true,
                    _ => return Err(opt.wrong("fio knows linear and poisson", "write one of them")),
                }
            }
            "thinktime" => self.think_ns = time_ns(opt, 1_000)?,
            "thinktime_blocks" => self.think_blocks = read.number(opt, 1..=u64::MAX)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Pace {
    /// Whether the job has a limit of requests or of bytes a second.
    pub fn has_rate(&self) -> bool {
        self.rate_iops.iter().chain(&self.rate_bytes).any(Option::is_some)
    }

    fn set_engine(&mut self, opt: &Opt, notes: &mut Vec<String>) -> Result<(), Failure> {
        let name = opt.text()?;
        let engine = engines::find(name).map_err(|(why, help)| opt.wrong(why, help))?;
        self.is_synchronous = engine.is_synchronous;
        notes.retain(|note| !note.starts_with("`ioengine="));
        if engine.is_remote {
            notes.push(format!("`ioengine={name}`: the network takes no time; requests go to the drive directly"));
        }
        Ok(())
    }
}

/// Limits of reads, writes and trims; `None` if the value is missing or 0.
fn rates(opt: &Opt, read: ValueParser) -> Result<[Option<u64>; 3], Failure> {
    let mut rates = [None; 3];
    for (rate, text) in rates.iter_mut().zip(each(opt, opt.text()?)?) {
        if !text.is_empty() {
            *rate = Some(number(opt, text, read.kb_base)?).filter(|rate| *rate > 0);
        }
    }
    Ok(rates)
}
