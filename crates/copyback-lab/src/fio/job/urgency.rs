//! Urgent requests: `prioclass`, `cmdprio_percentage`.

use super::value_parser::ValueParser;
use super::{Job, Subject};
use crate::failure::Failure;
use crate::fio::parse::Opt;

/// Which requests are urgent.
#[derive(Clone, Debug)]
pub struct Urgency {
    /// Whether all of the job are.
    pub is_whole_job: bool,
    /// Percentages of requests that are picked, by operation, and their class.
    pub percent: [u64; 3],
    pub class: u64,
}

impl Default for Urgency {
    fn default() -> Self {
        Self { is_whole_job: false, percent: [0; 3], class: 1 }
    }
}

impl Subject for Urgency {
    fn set(&mut self, name: &str, opt: &Opt, read: ValueParser, notes: &mut Vec<String>) -> Result<bool, Failure> {
        match name {
            "prioclass" => self.is_whole_job = read.number(opt, 0..=3)? == 1,
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

impl Job {
    /// The share of its requests that are urgent.
    pub fn urgent_share(&self) -> Option<f64> {
        let percent = self.urgency.percent[self.first_op()];
        if percent == 0 {
            return self.urgency.is_whole_job.then_some(1.0);
        }
        // Picked requests have `cmdprio_class`, the others the job's class.
        let share = percent as f64 / 100.0;
        match (self.urgency.class == 1, self.urgency.is_whole_job) {
            (true, true) => Some(1.0),
            (true, false) => Some(share),
            (false, true) => Some(1.0 - share),
            (false, false) => None,
        }
    }
}
