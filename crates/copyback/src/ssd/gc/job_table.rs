//! The jobs of a drive, and their planes.

use crate::flash::command::Source;
use crate::sim::index::{JobId, PlaneId};
use crate::tasks::job::Job;
use std::ops::{Index, IndexMut};

/// The jobs of a drive: collections and other background work that has reserved a die, or waits for it.
pub(in crate::ssd) struct JobTable {
    /// Invariant: each entry is a job that has a plane, or is free.
    jobs: Vec<Job>,
    /// Free entries; a new job takes the last one. Invariant: none of them is the job of a plane.
    free: Vec<JobId>,
    /// The job of each plane. Invariant: a job has the planes of its footprint, and a plane has one job at most.
    on_plane: Vec<JobId>,
}

impl JobTable {
    pub fn new(planes: u32) -> Self {
        Self { jobs: Vec::new(), free: Vec::new(), on_plane: vec![JobId::NONE; planes as usize] }
    }

    // ---- questions --------------------------------------------------------------------------------------------------

    /// The job of a plane, if it has one.
    #[inline(always)]
    pub fn of_plane(&self, plane: PlaneId) -> JobId {
        self.on_plane[plane.at()]
    }

    /// Whether a plane has a job.
    #[inline(always)]
    pub fn is_on(&self, plane: PlaneId) -> bool {
        self.of_plane(plane).is_some()
    }

    /// Whether a plane has no job.
    #[inline(always)]
    pub fn is_free(&self, plane: PlaneId) -> bool {
        self.of_plane(plane).is_none()
    }

    /// Whether there is a job.
    pub fn has_any(&self) -> bool {
        self.jobs.len() > self.free.len()
    }

    /// Whether a task has a job.
    pub fn has_of(&self, source: Source) -> bool {
        self.on_plane.iter().any(|&id| id.is_some() && self[id].source() == source)
    }

    /// Planes that have a job.
    pub fn planes_taken(&self) -> usize {
        self.on_plane.iter().filter(|id| id.is_some()).count()
    }

    // ---- changes ----------------------------------------------------------------------------------------------------

    /// Adds a job, which has the planes of its footprint from now on. Its lists reuse the memory of an earlier job, and
    /// have room for `units` units.
    pub fn add(&mut self, job: Job, units: usize) -> JobId {
        let planes = job.footprint();
        let id = match self.free.pop() {
            Some(id) => {
                let memory = self[id].take_memory();
                self[id] = job.with_memory(memory, units);
                id
            }
            None => {
                self.jobs.push(job.with_memory(Default::default(), units));
                JobId(self.jobs.len() as u32 - 1)
            }
        };
        planes.planes().for_each(|plane| self.on_plane[plane.at()] = id);
        id
    }

    /// A job takes over a plane. The plane's earlier job is removed; it had no other plane.
    pub fn take_over(&mut self, plane: PlaneId, id: JobId) {
        let before = std::mem::replace(&mut self.on_plane[plane.at()], id);
        if before.is_some() {
            self.free.push(before);
        }
    }

    /// A job is over: its planes have no job.
    pub fn remove(&mut self, id: JobId) {
        self.free.push(id);
        let footprint = self[id].footprint();
        footprint.planes().for_each(|plane| self.on_plane[plane.at()] = JobId::NONE);
    }

    /// Adds a job without planes.
    #[cfg(test)]
    pub fn push(&mut self, job: Job) {
        self.jobs.push(job);
    }
}

impl Index<JobId> for JobTable {
    type Output = Job;
    #[inline(always)]
    fn index(&self, id: JobId) -> &Job {
        &self.jobs[id.at()]
    }
}

impl IndexMut<JobId> for JobTable {
    #[inline(always)]
    fn index_mut(&mut self, id: JobId) -> &mut Job {
        &mut self.jobs[id.at()]
    }
}
