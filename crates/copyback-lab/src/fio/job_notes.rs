//! Notes on jobs that behave differently in fio.

use super::amount;
use super::job::Job;
use super::layout::Files;

/// Jobs that a note names.
const JOBS_NAMED: usize = 3;

/// Notes, each with the names of its jobs.
#[derive(Default)]
pub struct JobNotes(Vec<(String, Vec<String>)>);

impl JobNotes {
    /// The notes, one line each. A note on several jobs names the first ones.
    pub fn lines(&self) -> Vec<String> {
        let note = |(what, jobs): &(String, Vec<String>)| {
            let shown: Vec<String> = jobs.iter().take(JOBS_NAMED).map(|name| format!("`{name}`")).collect();
            let more = jobs.len() - shown.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("job{} {}{more}: {what}", if jobs.len() == 1 { "" } else { "s" }, shown.join(", "))
        };
        self.0.iter().map(note).collect()
    }

    /// Adds the notes on a job.
    pub fn add(&mut self, job: &Job, files: &Files) {
        let mut say = |what: String| match self.0.iter_mut().find(|(known, _)| *known == what) {
            Some((_, jobs)) => jobs.push(job.name.clone()),
            None => self.0.push((what, vec![job.name.clone()])),
        };
        if job.pace.is_synchronous && job.pace.depth > 1 {
            let depth = job.pace.depth;
            say(format!("`iodepth={depth}` has no effect: a synchronous engine has one request outstanding"));
        }
        if job.replay.iolog.is_none() && job.lacks_map() {
            say("addresses are multiples of the smallest block, and may be drawn twice: fio's map of blocks is not \
                 simulated for this job"
                .into());
        }
        let is_shortened = job.replay.iolog.is_none() && job.shortens();
        if is_shortened && (job.fills_map() || job.is_endless()) {
            say("fio's map of blocks shortens requests that reach into a block that was drawn before: there are more \
                 requests, and they are smaller; norandommap=1 keeps their sizes"
                .into());
        } else if job.replay.iolog.is_none() && job.counts_by_own_size() && !job.is_endless() {
            let shortens = match is_shortened {
                true => {
                    ". The map shortens requests that reach into a taken block; a request beyond the file ends the job"
                }
                false => "",
            };
            say(format!(
                "with different sizes in `bs`, fio's map of blocks ends the job when a draw finds no free block \
                 number, mostly before the job has transferred its `size`; norandommap=1 transfers all{shortens}"
            ));
        } else if job.replay.iolog.is_none() && !job.is_endless() && job.exceeds_units() {
            say("with `bs_is_seq_rand`, fio ends the job when a random request reaches beyond its file. Here the \
                 request begins at a lower address, and the job transfers its `size`"
                .into());
        }
        if job.replay.iolog.is_none() && job.pattern.ops[..2] == [true, true] && amount::ends_with_file(job, 0) {
            say("fio ends such a job when its reads or its writes reach the end of the file. Here it ends after the \
                 number of requests that this takes on average"
                .into());
        }
        if job.extent.offset_align.is_some() && job.begins_at_share() && !job.begins_at_share_of_file(files) {
            say("`offset_align` has no effect: a job's part begins at a whole unit of the drive's map".into());
        }
        if job.replay.iolog.is_none() && job.begins_at_share_of_file(files) {
            say("a share in `offset` counts from the size of the job's file. The file exists here; a file that fio creates \
                 has no size yet, and fio begins at its start"
                .into());
        }
        let is_mixed = job.used(|op| job.sizes.blocks[op].only().is_none()).any(|is_mixed| is_mixed);
        if is_mixed && job.pace.rate_bytes.iter().any(Option::is_some) {
            say("`rate` sets the mean rate: the time between two requests does not depend on their sizes, unlike in fio"
                .into());
        }
        if job.reads_back().is_ok_and(|reads_back| reads_back) && job.pattern.is_random {
            say("what it wrote is read back in the order of addresses".into());
        }
        job.notes.iter().for_each(|note| say(note.clone()));
    }
}
