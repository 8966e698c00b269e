//! Switches of fio's command line that make it refuse jobs: `--readonly` and `--warnings-fatal`.

use super::{Job, READ, TRIM, WRITE};
use crate::failure::Failure;
use crate::fio::parse::Opt;

/// Restrictions of fio's command line.
#[derive(Clone, Debug, Default)]
pub struct Safety {
    /// `--readonly`: no job writes or trims.
    pub is_read_only: bool,
    /// `--warnings-fatal`: a warning of fio is an error.
    pub are_warnings_fatal: bool,
}

impl Safety {
    /// Refuses a job that fio refuses with these switches.
    ///
    /// # Errors
    /// The option at fault, and what helps.
    pub fn check(&self, job: &Job) -> Result<(), Failure> {
        if self.is_read_only {
            if job.pattern.ops[WRITE] || job.pattern.ops[TRIM] {
                let what = if job.pattern.ops[WRITE] { "writes" } else { "trims" };
                let message = format!("job `{}` {what}, and `--readonly` forbids it", job.name);
                return Err(job.at(&["rw"]).wrong(message, "remove --readonly, or let the job read: --rw=randread"));
            }
            if job.replay.iolog.is_some() {
                let message = "with `--readonly`, fio skips a log's writes and trims; this is not simulated";
                return Err(job.at(&["read_iolog"]).wrong(message, "remove --readonly"));
            }
        }
        if self.are_warnings_fatal
            && let Some((opt, warning)) = warning(job)
        {
            let message = format!("fio warns that {warning}, and `--warnings-fatal` makes it an error");
            return Err(opt.wrong(message, "correct it, or remove --warnings-fatal"));
        }
        Ok(())
    }
}

/// What fio warns of, in the order in which it checks jobs.
fn warning(job: &Job) -> Option<(&Opt, &'static str)> {
    let given = &job.sizes.given;
    let is_fixed = given.iter().all(|own| own.only().is_some() && own == &given[READ]);
    let is_aligned_apart = |op: usize| job.sizes.align[op].is_some_and(|align| align != given[op].least());
    let (has_no_map, verifies) = (job.is_switched_on("norandommap"), job.verification.is_on);
    if job.pattern.is_random && (0..3).any(is_aligned_apart) && !has_no_map {
        return Some((job.at(&["ba"]), "blockalign turns off the map of blocks (norandommap)"));
    }
    if verifies && has_no_map && !is_fixed {
        return Some((job.at(&["norandommap"]), "verification is limited for several block sizes without a map"));
    }
    if job.schedule.runtime_ns.is_none() && job.is_switched_on("time_based") {
        return Some((job.at(&["time_based"]), "time_based needs a runtime"));
    }
    if !(verifies && job.verification.is_performed && job.pattern.ops[WRITE]) {
        return None;
    }
    if job.schedule.count > 1 && job.extent.filename.is_some() {
        return Some((job.at(&["numjobs"]), "writers of one file overwrite each other's blocks, which are verified"));
    }
    (job.is_endless() && !job.pattern.ops[READ])
        .then(|| (job.at(&["time_based"]), "the writes take the whole runtime, and nothing is verified"))
}

impl Job {
    /// Whether a switch is there and not off.
    fn is_switched_on(&self, name: &str) -> bool {
        let last = self.set_options.iter().rev().find(|(known, _)| *known == name);
        last.is_some_and(|(_, opt)| opt.value.as_deref() != Some("0"))
    }
}
