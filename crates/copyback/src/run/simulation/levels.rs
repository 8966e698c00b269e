//! What samples say of the drives: free blocks of their planes, and dies that work for themselves. Only drives that
//! something happened to since the last sample are asked again.

use super::Member;
use crate::sim::index::PlaneId;

/// The state of one drive when it was last asked.
#[derive(Clone, Copy, Default)]
struct Level {
    free_blocks: u64,
    free_blocks_min: u32,
    dies_leased: u32,
    is_stale: bool,
}

/// The state of all drives.
pub(super) struct Levels {
    of: Vec<Level>,
    stale: Vec<u32>,
    planes: u64,
    free_blocks: u64,
    dies_leased: u32,
}

impl Levels {
    pub(super) fn new(members: &[Member]) -> Self {
        let mut levels = Self {
            of: vec![Level::default(); members.len()],
            stale: Vec::with_capacity(members.len()),
            planes: members.iter().map(|m| u64::from(m.drive.geometry().planes)).sum(),
            free_blocks: 0,
            dies_leased: 0,
        };
        (0..members.len()).for_each(|member| levels.note(member));
        levels
    }

    /// Something happened to a drive.
    #[inline(always)]
    pub(super) fn note(&mut self, member: usize) {
        if !std::mem::replace(&mut self.of[member].is_stale, true) {
            self.stale.push(member as u32);
        }
    }

    /// Asks the drives to which something happened.
    pub(super) fn refresh(&mut self, members: &[Member]) {
        for member in self.stale.drain(..) {
            let drive = &members[member as usize].drive;
            let free = (0..drive.geometry().planes).map(|p| drive.ftl.free_blocks_of(PlaneId(p)));
            let (sum, min) = free.fold((0, u32::MAX), |(sum, min), free| (sum + u64::from(free), min.min(free)));
            let now =
                Level { free_blocks: sum, free_blocks_min: min, dies_leased: drive.dies_leased(), is_stale: false };
            let before = std::mem::replace(&mut self.of[member as usize], now);
            self.free_blocks = self.free_blocks - before.free_blocks + now.free_blocks;
            self.dies_leased = self.dies_leased - before.dies_leased + now.dies_leased;
        }
    }

    /// Free blocks of the plane that has fewest.
    pub(super) fn free_blocks_min(&self) -> u32 {
        self.of.iter().map(|level| level.free_blocks_min).min().unwrap_or(u32::MAX)
    }

    /// Free blocks of a plane on average.
    pub(super) fn free_blocks_mean(&self) -> f64 {
        self.free_blocks as f64 / self.planes as f64
    }

    /// Dies that are leased to jobs.
    pub(super) fn dies_leased(&self) -> u32 {
        self.dies_leased
    }
}
