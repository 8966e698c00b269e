//! Totals over drives for samples and positions: free blocks of planes, dies that collect, shares of tasks, the most
//! read block, programs and erases. Only drives with events since the last sample are read again.

use super::Member;
use crate::flash::command::Source;
use crate::observe::report::SampleWork;
use crate::sim::index::PlaneId;
use crate::ssd::back_end::BackEnd;

/// The state of one drive at its last reading.
#[derive(Clone, Copy, Default)]
struct DriveTotals {
    free_blocks: u64,
    free_blocks_min: u32,
    dies_reserved: u32,
    flash: FlashTotals,
    work: SampleWork,
    is_stale: bool,
}

/// The programs and erases since the drives were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FlashTotals {
    /// Units programmed, padding included.
    pub flash_units: u64,
    /// Units of pages that were skipped: used without a program.
    pub skipped_units: u64,
    /// Units of the erased blocks, without units that were free at the erase.
    pub erased_units: u64,
    /// Blocks erased.
    pub erases: u64,
}

impl FlashTotals {
    #[inline(always)]
    fn of(drive: &BackEnd) -> Self {
        let counts = drive.counts();
        let erased_units = counts.erases * u64::from(drive.flash_geometry().units_per_block) - counts.unwritten_units;
        let flash_units = counts.host_units + counts.moved_units + counts.padding_units;
        Self { flash_units, skipped_units: counts.skipped_units, erased_units, erases: counts.erases }
    }

    /// This, plus the work of a drive between two moments.
    #[inline(always)]
    fn with(self, now: Self, before: Self) -> Self {
        Self {
            flash_units: self.flash_units + now.flash_units - before.flash_units,
            skipped_units: self.skipped_units + now.skipped_units - before.skipped_units,
            erased_units: self.erased_units + now.erased_units - before.erased_units,
            erases: self.erases + now.erases - before.erases,
        }
    }
}

impl DriveTotals {
    fn of(drive: &BackEnd) -> Self {
        let free_blocks = drive.ftl().free_blocks();
        let free_of_planes = (0..drive.geometry().planes).map(|p| drive.ftl().free_blocks_of(PlaneId(p)));
        let free_blocks_min = free_of_planes.min().unwrap_or(u32::MAX);
        let dies_reserved = drive.dies_reserved();
        let (flash, work) = (FlashTotals::of(drive), drive.sample_work());
        Self { free_blocks, free_blocks_min, dies_reserved, flash, work, is_stale: false }
    }
}

/// The state of all drives.
pub(super) struct Totals {
    of: Vec<DriveTotals>,
    stale: Vec<u32>,
    /// Drives whose tasks have shares, and drives that count the reads of blocks; neither ever changes. They are read
    /// each time: there are none in most runs.
    with_shares: Vec<u32>,
    counting_reads: Vec<u32>,
    planes: u64,
    free_blocks: u64,
    free_blocks_min: u32,
    dies_reserved: u32,
    flash: FlashTotals,
    work: SampleWork,
}

/// The drives for which a condition holds.
fn drives_where(members: &[Member], holds: fn(&BackEnd) -> bool) -> Vec<u32> {
    (0..members.len() as u32).filter(|&member| holds(members[member as usize].ssd.back_end())).collect()
}

impl Totals {
    pub(super) fn new(members: &[Member]) -> Self {
        let mut totals = Self {
            of: vec![DriveTotals::default(); members.len()],
            stale: Vec::with_capacity(members.len()),
            with_shares: drives_where(members, |drive| drive.share_percent(Source::GC).is_some()),
            counting_reads: drives_where(members, |drive| drive.block_reads_max().is_some()),
            planes: members.iter().map(|m| u64::from(m.ssd.back_end().geometry().planes)).sum(),
            free_blocks: 0,
            free_blocks_min: u32::MAX,
            dies_reserved: 0,
            flash: FlashTotals::default(),
            work: SampleWork::default(),
        };
        (0..members.len()).for_each(|member| totals.note(member));
        totals
    }

    /// Marks the totals of a drive as stale: its state changed.
    #[inline(always)]
    pub(super) fn note(&mut self, member: usize) {
        if !std::mem::replace(&mut self.of[member].is_stale, true) {
            self.stale.push(member as u32);
        }
    }

    /// Reads the drives whose totals are stale.
    pub(super) fn refresh(&mut self, members: &[Member]) {
        let mut had_fewest = false;
        for member in self.stale.drain(..) {
            let now = DriveTotals::of(members[member as usize].ssd.back_end());
            let before = std::mem::replace(&mut self.of[member as usize], now);
            self.free_blocks = self.free_blocks - before.free_blocks + now.free_blocks;
            self.dies_reserved = self.dies_reserved - before.dies_reserved + now.dies_reserved;
            self.flash = self.flash.with(now.flash, before.flash);
            self.work = self.work.zip(&now.work.zip(&before.work, |a, b| a - b), |a, b| a + b);
            had_fewest |=
                before.free_blocks_min == self.free_blocks_min && now.free_blocks_min > before.free_blocks_min;
            self.free_blocks_min = self.free_blocks_min.min(now.free_blocks_min);
        }
        // If the plane with the fewest free blocks gained some, another plane may have the fewest now.
        if had_fewest {
            self.free_blocks_min = self.of.iter().map(|drive| drive.free_blocks_min).min().unwrap_or(u32::MAX);
        }
    }

    /// The totals of the drives at the last refresh.
    pub(super) fn sample_work(&self) -> &SampleWork {
        &self.work
    }

    /// Free blocks.
    pub(super) fn free_blocks(&self) -> u64 {
        self.free_blocks
    }

    /// Shares of collection and of scrubbing: means of the drives that have shares, if any has.
    pub(super) fn shares_percent(&self, members: &[Member]) -> [Option<f64>; 2] {
        if self.with_shares.is_empty() {
            return [None; 2];
        }
        [Source::GC, Source::SCRUB].map(|task| {
            let share = |&member: &u32| members[member as usize].ssd.back_end().share_percent(task);
            Some(self.with_shares.iter().filter_map(share).sum::<f64>() / self.with_shares.len() as f64)
        })
    }

    /// Reads of the block that was read most since its erase, if they are counted.
    pub(super) fn block_reads_max(&self, members: &[Member]) -> Option<u32> {
        let counting = self.counting_reads.iter().map(|&member| members[member as usize].ssd.back_end());
        counting.filter_map(BackEnd::block_reads_max).max()
    }

    /// Free blocks of the plane that has fewest.
    pub(super) fn free_blocks_min(&self) -> u32 {
        self.free_blocks_min
    }

    /// Free blocks of a plane on average.
    pub(super) fn free_blocks_mean(&self) -> f64 {
        self.free_blocks as f64 / self.planes as f64
    }

    /// Dies that are reserved for jobs.
    pub(super) fn dies_reserved(&self) -> u32 {
        self.dies_reserved
    }

    /// The programs and erases of the drives until now.
    pub(super) fn work(&self, members: &[Member]) -> FlashTotals {
        self.stale.iter().fold(self.flash, |sum, &member| {
            let now = FlashTotals::of(members[member as usize].ssd.back_end());
            sum.with(now, self.of[member as usize].flash)
        })
    }
}
