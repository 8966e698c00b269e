//! `--fio JOB` and `--fio-args`: jobs of fio as several workloads.
//!
//! Each job, and each clone of it (`numjobs`), becomes a table `[workloads.NAME]`. Jobs therefore have all features of
//! workloads, and `--print-config` shows how each job was read. Names, defaults and units are those of fio's HOWTO,
//! version 3. An option that cannot be simulated is refused with the reason.

mod amount;
pub mod arguments;
mod block_sizes;
mod distribution;
mod engines;
mod job;
mod job_notes;
mod job_workloads;
mod layout;
mod number;
mod options;
mod parse;

use crate::failure::Failure;
use crate::files::{self, Input};
use arguments::CommandLine;
use copyback::config::layers::{Layer, Origin, WORKLOADS};
use copyback::workload::tenants::TENANTS_MAX;
use job::{Job, Safety};
use job_workloads::JobWorkloads;
use layout::Files;
use parse::{GLOBAL, Opt, Section};
use std::path::Path;
use toml::{Table, Value};

/// The most jobs, clones included: each is a workload.
const JOBS_MAX: u64 = TENANTS_MAX as u64;

/// The workloads of a job file, and its notes.
pub struct JobFile {
    /// The tables of its workloads.
    pub layer: Layer,
    /// Notes to the user.
    pub notes: Vec<String>,
    /// The jobs in the order of the file, which is the order of fio's results.
    pub jobs: Jobs,
}

/// Jobs of a file in its order, each with the workload that it became.
#[derive(Clone, Debug, Default)]
pub struct Jobs {
    /// Options of `[global]`.
    pub global: Vec<(String, String)>,
    /// The jobs.
    pub list: Vec<ListedJob>,
}

/// A job as fio's results list it, with its workload and its options.
#[derive(Clone, Debug)]
pub struct ListedJob {
    /// Its workload.
    pub workload: String,
    /// Its name.
    pub name: String,
    /// The group that it is reported in. A stonewall or `new_group` begins a group.
    pub group: u64,
    /// Whether its group is reported as one job.
    pub is_grouped: bool,
    /// Whether it reads back what the previous job wrote (`verify`); fio reports both as one job.
    pub is_read_back: bool,
    /// Its maximum of outstanding requests.
    pub depth: u64,
    /// Its percentiles, in per cent.
    pub percentiles: Option<Vec<f64>>,
    /// Whether percentiles of completion times (`clat`) and of whole response times (`lat`) are shown.
    pub shows_percentiles: [bool; 2],
    /// Its own options.
    pub options: Vec<(String, String)>,
    /// Options that request flushes of a drive's buffer.
    pub flushes: Vec<Opt>,
    /// The option that sets its size, or its section if none does.
    pub size_option: Opt,
    /// The option that sets its offset in its file.
    pub offset_option: Option<Opt>,
    /// The first byte of its file on the drive.
    pub file_begin: u64,
}

/// Reads a job file.
pub fn load(path: &Path, inputs: &mut Vec<Input>) -> Result<JobFile, Failure> {
    let shown = path.display().to_string();
    let text = files::read_foreign_text("fio job file", path, "name a job file of fio")?;
    inputs.push(Input::text("fio", shown.clone(), Some(path.to_path_buf()), &text));
    let sections = parse::sections(&shown, &text)?;
    let notes = parse::notes(&sections);
    read(&format!("--fio {shown}"), &sections, notes, &Safety::default())
}

/// Reads fio's command line.
pub fn load_arguments(text: &str, inputs: &mut Vec<Input>) -> Result<JobFile, Failure> {
    inputs.push(Input::text("fio", arguments::SHOWN.to_owned(), None, text));
    let CommandLine { sections, mut notes, safety } = arguments::read(text)?;
    notes.extend(parse::notes(&sections));
    read(arguments::SHOWN, &sections, notes, &safety)
}

fn read(shown: &str, sections: &[Section], notes: Vec<String>, safety: &Safety) -> Result<JobFile, Failure> {
    let (mut global, mut jobs, mut count) = (Vec::new(), Vec::new(), 0);
    for section in sections {
        // A later [global] applies to the jobs below it.
        if section.name == GLOBAL {
            global.extend(section.options.iter().cloned());
        } else {
            let job = Job::new(section, &global)?;
            safety.check(&job)?;
            // Check this before workloads are made: a file of a few lines may have thousands of clones.
            count += job.schedule.count * if job.reads_back()? { 2 } else { 1 };
            if count > JOBS_MAX {
                let why = format!("with this job and its clones there are {count} jobs, and a run takes {JOBS_MAX}");
                return Err(job.whole.wrong(why, "leave some out, or lower numjobs"));
            }
            jobs.push(job);
        }
    }
    if jobs.is_empty() {
        return Err(Failure::input(format!("{shown} has no job"))
            .with_help("write a section [NAME], or --name=NAME, with rw, bs and size"));
    }
    let files = Files::of(&jobs)?;
    let mut workloads = JobWorkloads::default();
    for job in &jobs {
        workloads.add(job, &files)?;
    }
    let options = sections.iter().filter(|section| section.name == GLOBAL).flat_map(|section| &section.options);
    workloads.jobs.global = options.filter_map(|opt| Some((opt.key.clone(), opt.value.clone()?))).collect();
    let own = workloads.notes.lines();
    let table = Table::from_iter([(WORKLOADS.to_owned(), Value::Table(workloads.tables))]);
    let layer = Layer::parse_of(Origin::Fio, shown, table.to_string())?;
    Ok(JobFile { layer, notes: notes.into_iter().chain(own).collect(), jobs: workloads.jobs })
}
