//! Verification of data: `verify`, `do_verify`, and the job that reads back.

use super::pattern::{Modifier, Pattern};
use super::sizes::Sizes;
use super::value_parser::ValueParser;
use super::{Job, Subject, WRITE};
use crate::failure::Failure;
use crate::fio::parse::Opt;

/// Whether data is verified, and whether by reading it back.
#[derive(Clone, Debug)]
pub struct Verification {
    pub is_on: bool,
    pub is_performed: bool,
}

impl Default for Verification {
    fn default() -> Self {
        Self { is_on: false, is_performed: true }
    }
}

impl Subject for Verification {
    fn set(&mut self, name: &str, opt: &Opt, read: ValueParser, _: &mut Vec<String>) -> Result<bool, Failure> {
        match name {
            "verify" => self.is_on = !matches!(opt.text()?, "0" | "null"),
            "do_verify" => self.is_performed = read.flag(opt)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Job {
    /// Whether fio reads back what it wrote, once all is written.
    pub fn reads_back(&self) -> Result<bool, Failure> {
        if !self.verification.is_on
            || !self.verification.is_performed
            || !(self.pattern.ops[WRITE] || self.pattern.trims_first)
            || self.is_endless()
        {
            return Ok(false);
        }
        let is_plain = self.pattern.ops == [false, true, false]
            && !self.pattern.trims_first
            && self.extent.loops == 1
            && self.extent.number_ios.is_none()
            && self.amount(0).is_none()
            && self.stride().is_none()
            && (!self.counts_by_own_size() || self.fills_map())
            && self.replay.iolog.is_none();
        if is_plain {
            return Ok(true);
        }
        let message =
            "verify: reading back is not simulated for this job, because its written blocks are not known in advance";
        Err(self.at(&["verify"]).wrong(message, "add do_verify=0, and below it a job with stonewall and rw=read"))
    }

    /// The job that reads back what this one wrote: each block once, in the order of addresses.
    pub fn reading_back(&self) -> Self {
        let mut job = self.clone();
        job.pattern = Pattern {
            ops: [true, false, false],
            is_random: false,
            // A sequential job left holes, which are not read.
            modifier: if self.pattern.is_random { Modifier::default() } else { self.pattern.modifier },
            ..self.pattern.clone()
        };
        job.sizes = Sizes { blocks: [WRITE; 3].map(|op| self.sizes.blocks[op].clone()), ..self.sizes.clone() };
        (job.pace.rate_iops, job.pace.rate_bytes) = ([None; 3], [None; 3]);
        (job.schedule.delay_ns, job.schedule.ramp_ns) = (0, 0);
        job
    }
}
