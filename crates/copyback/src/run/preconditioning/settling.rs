//! The steady state of uniformly random writes, without writing the whole drive: one plane is simulated to its steady
//! state; the others copy its state at random times. If the planes of a die depend on each other, one die is simulated.
//!
//! A plane that holds a fixed share of the addresses is a drive of its own under uniform writes: its blocks' valid
//! units tend to the mean-field distribution of its victim policy (Van Houdt 2013; Desnoyers 2014). To sample this
//! distribution for a real plane, with its watermarks, frontier and padding, the simulated plane is overwritten further
//! between two samples.

use super::Preconditioner;
use super::pace::Pace;
use super::rounds::{ROUNDS_EXPECTED, ROUNDS_MIN, WorkOfWrite, rounds_to_come};
use crate::config::{CapacityConfig, KeyError};
use crate::ftl::core::Ftl;
use crate::ftl::core::settled::Lag;
use crate::run::config::RunConfig;
use crate::sim::index::{DieId, LogicalUnit, PlaneId};
use copyback_workload::rng;
use copyback_workload::units::Bytes;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Most rounds, of a capacity each, in which the sample is overwritten: long before, its write amplification changes by
/// less than noise.
const ROUNDS_MAX: u32 = 16;
/// Most capacities written to the sample while planes copy its state, unless two blocks for each copy are more.
const CAPACITIES_WRITTEN_MAX: u64 = 8;
/// Work of listing a unit of the drive, relative to a unit of the other work: 0.3 to 0.4, measured on tlc-nvme with
/// 1,024 and with 2,048 blocks per plane.
const WORK_OF_LISTING: f64 = 0.35;
/// Units listed between two progress updates.
const LISTED_TOGETHER: u32 = 4096;
/// Work for each unit of the drive that is shuffled and mapped.
const WORK_OF_UNIT: f64 = 2.0;
/// Relative change of write amplification from round to round that counts as steady.
const STEADY: f64 = 0.005;

impl<'a> Preconditioner<'a> {
    /// Settles a fresh drive, with all its logical units written.
    pub(super) fn settle(&mut self, config: &RunConfig, seed: u64) -> Result<(), KeyError> {
        let mut stream = rng::stream(seed, "precondition.steady-state");
        let all_units = f64::from(self.ftl.geometry.logical_units);
        self.pace.pass = WORK_OF_LISTING * all_units;
        self.pace.passes = self.work_of_sample(config);
        self.expect_rounds_at_first();
        // How far a sample is advanced is random, from nothing to twice the mean.
        self.pace.after_margin = self.work_of_advances(config);
        self.pace.after = WORK_OF_UNIT * all_units + self.pace.after_margin;
        let mut of_plane = self.units_of_planes();
        let most = of_plane.iter().map(Vec::len).max().expect("a drive has a plane");
        let mut sample = self.sample(config, most as u32, seed);
        // The caller's progress reports include this, too, which takes long for large planes.
        sample.pace = std::mem::take(&mut self.pace);
        let settled = sample.write_until_steady(&mut stream);
        self.pace = std::mem::take(&mut sample.pace);
        settled?;
        self.expect_no_round();
        let times = u64::from(self.ftl.geometry.planes / sample.ftl.geometry.planes);
        let (mut copies_left, work_of_advance) = (times as f64, sample.work_of_advance(times));
        let mut units_left = all_units;
        let mut copies = Vec::with_capacity(of_plane.len());
        let mut offsets: Vec<u32> = (0..self.ftl.geometry.blocks_per_plane).collect();
        for die in (0..self.ftl.geometry.dies).map(DieId) {
            for (at, plane) in self.ftl.geometry.planes_of(die).enumerate() {
                let of = sample.ftl.geometry.planes_of(DieId(0)).nth(at);
                // Once for each die, or for each plane if the sample is a single plane.
                if at == 0 || of.is_none() {
                    copies_left -= 1.0;
                    self.pace.after_margin = copies_left * work_of_advance;
                    self.pace.after = WORK_OF_UNIT * units_left + self.pace.after_margin;
                    sample.pace = std::mem::take(&mut self.pace);
                    let advanced = sample.advance(times, &mut stream);
                    self.pace = std::mem::take(&mut sample.pace);
                    advanced?;
                    offsets.shuffle(&mut stream);
                }
                let mut units = std::mem::take(&mut of_plane[plane.at()]);
                units_left -= units.len() as f64;
                self.pace.after = WORK_OF_UNIT * units_left + copies_left * work_of_advance;
                self.pace.add(WORK_OF_UNIT * units.len() as f64);
                units.shuffle(&mut stream);
                let from = (&sample.ftl, of.unwrap_or(PlaneId(0)));
                self.ftl.settle(plane, from, &offsets, &mut units.into_iter());
                copies.push((plane, sample.ftl.counts()));
            }
            self.ftl.settle_die(die, &sample.ftl, &offsets);
        }
        // Planes copied the sample at different times; their states are now adjusted to one moment.
        let sample_blocks = u64::from(sample.ftl.geometry.blocks * sample.ftl.geometry.row_planes);
        for (plane, then) in copies {
            let since = sample.ftl.counts().since(&then);
            let erases = (since.erases / sample_blocks) as u32;
            self.ftl.align_settled(plane, Lag { stamps: since.host_units, erases }, times);
        }
        self.ftl.end_settling(&sample.ftl, times);
        self.written = sample.written * times;
        Ok(())
    }

    /// The work of settling, in units written.
    pub(super) fn work_of_settling(&self, config: &RunConfig) -> f64 {
        let of_all = f64::from(self.ftl.geometry.logical_units) * (WORK_OF_LISTING + WORK_OF_UNIT);
        of_all + self.work_of_sample(config) + self.work_of_advances(config)
    }

    /// The work of writing a sample until it is steady.
    fn work_of_sample(&self, config: &RunConfig) -> f64 {
        self.units_of_sample(config) * (1.0 + ROUNDS_EXPECTED * self.work_of_write.units)
    }

    /// The work of advancing a sample for all copies together.
    fn work_of_advances(&self, config: &RunConfig) -> f64 {
        self.units_of_sample(config) * CAPACITIES_WRITTEN_MAX as f64 / 2.0 * self.work_of_write.units
    }

    /// The mean work of advancing this sample once.
    fn work_of_advance(&self, times: u64) -> f64 {
        self.writes_between_copies_max(times) as f64 / 2.0 * self.work_of_write.units
    }

    /// Logical units of a sample.
    fn units_of_sample(&self, config: &RunConfig) -> f64 {
        let geometry = &self.ftl.geometry;
        let is_die = !config.frontier.is_in_rows() && self.samples_die(config);
        let planes = if is_die { geometry.planes_per_die } else { 1 };
        f64::from(geometry.logical_units) * f64::from(planes) / f64::from(geometry.planes)
    }

    /// Whether the planes of a die depend on each other, so that a sample is one die.
    fn samples_die(&self, config: &RunConfig) -> bool {
        config.frontier.is_in_rows() || config.frontier.opens_twins() || self.stagger_blocks > 0
    }

    /// Advances a sample by a random number of writes: up to two blocks of each plane, or more if `times` samples
    /// together must span several of its capacities.
    fn advance(&mut self, times: u64, stream: &mut Xoshiro256PlusPlus) -> Result<(), KeyError> {
        let writes = stream.random_range(0..self.writes_between_copies_max(times));
        self.overwrite(self.ftl.geometry.logical_units, writes, stream)
    }

    /// Most writes from one copy to the next.
    fn writes_between_copies_max(&self, times: u64) -> u64 {
        let geometry = &self.ftl.geometry;
        let two_blocks = 2 * u64::from(geometry.units_per_block) * u64::from(geometry.planes);
        two_blocks.max(CAPACITIES_WRITTEN_MAX * u64::from(geometry.logical_units) / times)
    }

    /// The logical units of each plane: if addresses determine them, its own.
    fn units_of_planes(&mut self) -> Vec<Vec<LogicalUnit>> {
        let planes = self.ftl.geometry.planes as usize;
        let expected = self.ftl.geometry.logical_units as usize / planes + 1;
        let mut of_plane: Vec<Vec<LogicalUnit>> = (0..planes).map(|_| Vec::with_capacity(expected)).collect();
        for unit in (0..self.ftl.geometry.logical_units).map(LogicalUnit) {
            let plane = self.ftl.timeless_plane(unit);
            of_plane[plane.at()].push(unit);
            if unit.0 % LISTED_TOGETHER == 0 {
                self.pace.add(WORK_OF_LISTING * f64::from(LISTED_TOGETHER));
            }
        }
        of_plane
    }

    /// A drive that has one plane, or one die, of this drive, with this many units a plane.
    fn sample(&self, config: &RunConfig, units: u32, seed: u64) -> Preconditioner<'a> {
        let is_die = self.samples_die(config);
        let mut config = config.clone();
        let geometry = &mut config.geometry;
        (geometry.channels, geometry.chips_per_channel, geometry.dies_per_chip) = (1, 1, 1);
        geometry.planes_per_die = if is_die { geometry.planes_per_die } else { 1 };
        // In rows, `units` already counts all planes of a die.
        let planes = if config.frontier.is_in_rows() { 1 } else { geometry.planes_per_die };
        let logical_page = self.ftl.geometry.units_per_logical_page;
        let units = u64::from(units.next_multiple_of(logical_page)) * u64::from(planes);
        let logical = Bytes(units * geometry.unit_bytes());
        config.capacity = CapacityConfig { over_provisioning: None, reserved: None, logical: Some(logical) };
        // The sample holds no translation pages: these are written to the drive itself.
        config.mapping = Default::default();
        config.allocation = Default::default();
        let mut ftl = Ftl::new(&config.ftl(), seed);
        if ftl.has_second_active() {
            ftl.open_second_blocks();
        }
        let Self { watermarks, stop_blocks, stagger_blocks, pads, .. } = *self;
        let filled = f64::from(ftl.geometry.logical_units);
        let work_of_write = WorkOfWrite::expected(&ftl, stop_blocks, filled, filled);
        let pace = Pace::default();
        Preconditioner { ftl, watermarks, stop_blocks, stagger_blocks, pads, written: 0, pace, work_of_write }
    }

    /// Fills a sample, and overwrites it until its write amplification is steady.
    fn write_until_steady(&mut self, stream: &mut Xoshiro256PlusPlus) -> Result<(), KeyError> {
        let units = self.ftl.geometry.logical_units;
        self.expect_passes(ROUNDS_EXPECTED, ROUNDS_MIN, u64::from(units));
        self.fill(units)?;
        let (mut before, mut changes) = (f64::INFINITY, [None; 2]);
        for rounds in 0..ROUNDS_MAX {
            let to_come = rounds_to_come(rounds, changes, STEADY).min(f64::from(ROUNDS_MAX - rounds));
            self.expect_passes(to_come - 1.0, if rounds == 0 { ROUNDS_MIN - 1.0 } else { 0.0 }, u64::from(units));
            let start = self.ftl.counts();
            self.overwrite(units, u64::from(units), stream)?;
            let counts = self.ftl.counts().since(&start);
            let now = counts.write_amplification().unwrap_or(1.0);
            let change = (now - before).abs();
            if counts.erases > 0 && change <= STEADY * now {
                break;
            }
            changes = [Some(change / now).filter(|change| change.is_finite() && *change > STEADY), changes[0]];
            before = now;
        }
        Ok(())
    }
}
