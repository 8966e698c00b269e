//! Places the files of jobs on the drive.

use super::job::{BytesOrShare, Job};
use crate::failure::Failure;
use std::collections::BTreeMap;

/// Alignment of the files of jobs, as in a file system.
const FILE_GRAIN_BYTES: u64 = 1 << 20;

/// The positions of files on the drive. A file that all jobs share is the drive; others are placed one after another.
pub struct Files {
    begins: BTreeMap<String, u64>,
    /// Whether the jobs share one file, the drive.
    pub is_drive: bool,
}

/// The file of a clone, as fio names it.
fn file_of(job: &Job, clone: u64) -> String {
    match (&job.extent.filename, &job.extent.filename_format) {
        (Some(name), _) => name.clone(),
        (None, Some(format)) => {
            let (clone, file) = (clone.to_string(), "0");
            let words =
                [("$jobname", job.name.as_str()), ("$jobnum", clone.as_str()), ("$filenum", file), ("$clientuid", "")];
            words.iter().fold(format.clone(), |text, (word, value)| text.replace(word, value))
        }
        (None, None) => format!("{}.{clone}.0", job.name),
    }
}

impl Job {
    /// Whether the start of the job is a share of a file, not of the drive: a drive has no `filesize`.
    pub fn begins_at_share_of_file(&self, files: &Files) -> bool {
        self.begins_at_share() && (!files.is_drive || self.extent.file_bytes.is_some())
    }
}

impl Files {
    /// Lays out the files of all jobs.
    pub fn of(jobs: &[Job]) -> Result<Self, Failure> {
        // A replay has the addresses of its log.
        let with_files: Vec<&Job> = jobs.iter().filter(|job| job.replay.iolog.is_none()).collect();
        let first = with_files.first().and_then(|job| job.extent.filename.clone());
        let is_drive = first.is_some() && with_files.iter().all(|job| job.extent.filename == first);
        let mut ends: Vec<(String, u64)> = Vec::new();
        for job in with_files.iter().filter(|_| !is_drive) {
            for clone in 0..job.schedule.count {
                let (Some(BytesOrShare::Bytes(size)), Some(offset)) = (job.part_size(clone), job.file_offset_of(clone))
                else {
                    if job.extent.fills_device {
                        let message = "a job on a file of its own has no device to fill";
                        let help = "remove it, or let all jobs share the drive: filename=/dev/drive";
                        return Err(job.at(&["fill_device"]).wrong(message, help));
                    }
                    let message = "a job on a file of its own needs a size in bytes";
                    let help = match job.whole.is_of_command_line() {
                        true => {
                            "add for example --size=256m; or use the whole drive: --filename=/dev/drive with \
                             --number_ios=10000, before the first --name"
                        }
                        false => {
                            "add for example size=256m; or let all jobs share the drive: filename=/dev/drive in [global]"
                        }
                    };
                    return Err(job.whole.wrong(message, help));
                };
                let (file, end) = (file_of(job, clone), offset.saturating_add(size));
                match ends.iter_mut().find(|(known, _)| *known == file) {
                    Some((_, known)) => *known = end.max(*known),
                    None => ends.push((file, end)),
                }
            }
        }
        let mut next = 0_u64;
        let mut begins = BTreeMap::new();
        for (file, bytes) in ends {
            begins.insert(file, next);
            next = next.saturating_add(bytes).checked_next_multiple_of(FILE_GRAIN_BYTES).unwrap_or(u64::MAX);
        }
        Ok(Self { begins, is_drive })
    }

    /// The first byte of a clone's file on the drive.
    pub fn begin(&self, job: &Job, clone: u64) -> u64 {
        self.begins.get(&file_of(job, clone)).copied().unwrap_or(0)
    }
}
