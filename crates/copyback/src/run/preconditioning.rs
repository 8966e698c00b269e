//! Preconditioning: writes to a drive before a run, without simulated time.

use self::aged::Aged;
use self::pace::Pace;
pub use self::pace::Work;
use self::rounds::{ROUNDS_EXPECTED, ROUNDS_MIN, WorkOfWrite, rounds_to_come, spare_units};
use super::config::RunConfig;
use super::precondition::PreconditionConfig;
use crate::config::KeyError;
use crate::ftl::GC_RESERVE_BLOCKS;
use crate::ftl::core::Ftl;
use crate::ftl::frontier::Stream;
use crate::ftl::mapping::cached::units_of_translation_page;
use crate::observe::steady::{self, LastRounds};
use crate::sim::index::{BlockId, LogicalUnit, PlaneId};
use crate::tasks::gc::granularity::GranularityPolicy;
use crate::tasks::gc::walk::{End, Fate, Moment, Victim, WalkDriver, walk};
use copyback_workload::rng;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The translation layer of a drive without a clock, and the writes and collections on it.
pub struct Preconditioner<'a> {
    /// The drive.
    pub ftl: Ftl,
    /// Watermarks of the first plane of each die, as configured.
    watermarks: Watermarks,
    /// Free blocks of a plane when its collection ends, without `stagger_blocks`.
    stop_blocks: u32,
    /// Blocks between the watermarks of a die's planes.
    stagger_blocks: u32,
    pads: Pads,
    written: u64,
    pace: Pace<'a>,
    work_of_write: WorkOfWrite,
}

/// Free blocks below which a plane collects, and at which it stops.
#[derive(Clone, Copy)]
struct Watermarks {
    soft_blocks: u32,
    stop_blocks: u32,
}

/// Free blocks that each plane keeps: a plane collects before the host would need the reserve, which it may never take.
const LEAST_BLOCKS: u32 = GC_RESERVE_BLOCKS + 1;

/// Which pages are padded, as they would be in a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pads {
    /// The last page of each collection, which does not wait and is not filled by writes of the host.
    moves: bool,
    /// The page of each overwrite: a small write that arrives alone shares its page with no other.
    writes: bool,
}

impl Pads {
    /// What the preconditioning of a configuration pads. It does not depend on `preemption`: an ideal drive, too, pads
    /// the last page of each collection in a run.
    pub(super) fn of(config: &RunConfig) -> Self {
        let shares_pages = config.shape().page_size.0 > config.geometry.unit_bytes()
            && !config.mapping.has_superpages()
            && config.mapping.log_blocks().is_none();
        let gathers = config.frontier.fill().is_some() || config.buffer.fills_pages(config.frontier.is_in_rows());
        let is_filled = config.granularity.build().combines();
        Self { moves: shares_pages && !is_filled, writes: shares_pages && !gathers }
    }
}

impl Preconditioner<'_> {
    /// A fresh drive whose planes collect at the watermarks of the configuration's trigger; watermarks of a die or a
    /// device are shared out among its planes.
    pub fn new(config: &RunConfig, seed: u64) -> Self {
        let ftl = Ftl::new(&config.ftl(), seed);
        let (soft, stop) = config.trigger.blocks_per_plane(&config.geometry);
        let stagger_blocks = config.trigger.stagger_blocks();
        let pads = Pads::of(config);
        let stop_blocks = stop.max(LEAST_BLOCKS);
        let units = f64::from(ftl.geometry.logical_units);
        Self {
            work_of_write: WorkOfWrite::expected(&ftl, stop_blocks, units, units),
            ftl,
            watermarks: Watermarks { soft_blocks: soft, stop_blocks: stop },
            stop_blocks,
            stagger_blocks,
            pads,
            written: 0,
            pace: Pace::default(),
        }
    }

    /// A drive that was preconditioned before. Ages of blocks continue from its youngest one.
    pub fn resume(config: &RunConfig, ftl: Ftl) -> Self {
        let written = ftl.blocks().iter().map(|block| block.closed_at).max().unwrap_or(0);
        Self { ftl, written, ..Self::new(config, 0) }
    }

    /// Writes one unit and, if there is parity, the parity unit of its stripe.
    #[inline]
    pub fn write(&mut self, unit: LogicalUnit) -> Result<(), KeyError> {
        self.append(unit)?;
        self.ftl.geometry.stripes.map_or(Ok(()), |stripes| self.append(stripes.parity_of(unit)))
    }

    /// Writes one unit and collects if that brought its plane below its watermark.
    #[inline]
    fn append(&mut self, unit: LogicalUnit) -> Result<(), KeyError> {
        let mut plane = self.ftl.timeless_plane(unit);
        if self.ftl.free_blocks_of(plane) <= GC_RESERVE_BLOCKS && !self.ftl.allocation().is_static() {
            plane = self.make_room(unit)?;
        }
        let ftl = &mut self.ftl;
        self.written += 1;
        ftl.append(plane, unit, self.written);
        if ftl.has_log_blocks() {
            // A drive that is filled in order has nothing to merge.
            return Ok(());
        }
        if ftl.free_blocks_of(plane) >= self.watermark_of(self.watermarks.soft_blocks, plane) {
            return Ok(());
        }
        match self.collect(plane) {
            // If any plane is allowed, the others take the writes of a plane that is full of valid data.
            Err(_) if !self.ftl.allocation().is_static() => Ok(()),
            result => result,
        }
    }

    /// Collects every plane, because no plane has space: planes that were full of valid data may hold less by now.
    #[cold]
    fn make_room(&mut self, unit: LogicalUnit) -> Result<PlaneId, KeyError> {
        let results: Vec<_> = (0..self.ftl.geometry.planes).map(|p| self.collect(PlaneId(p))).collect();
        let plane = self.ftl.timeless_plane(unit);
        if self.ftl.free_blocks_of(plane) > GC_RESERVE_BLOCKS {
            return Ok(plane);
        }
        Err(results.into_iter().find_map(Result::err).expect("a plane that was collected has room"))
    }

    /// A watermark of a plane, as in a run.
    fn watermark_of(&self, blocks: u32, plane: PlaneId) -> u32 {
        (blocks + self.stagger_blocks * self.ftl.geometry.plane_offset(plane)).max(LEAST_BLOCKS)
    }

    #[cold]
    fn collect(&mut self, plane: PlaneId) -> Result<(), KeyError> {
        let geometry = &self.ftl.geometry;
        let stop_blocks = self.watermark_of(self.watermarks.stop_blocks, plane);
        // A policy that ignores valid data may free nothing for a while, but not for ever.
        let collections_left = 4 * geometry.blocks_per_plane;
        let pads_moves = self.pads.moves;
        let mut driver =
            BeforeRun { ftl: &mut self.ftl, stamp: self.written, stop_blocks, collections_left, pads_moves };
        if driver.next(plane).is_none() || walk(&mut driver, plane) == End::Reached {
            return Ok(());
        }
        Err(KeyError::new("capacity", format!("collection on plane {} cannot keep {stop_blocks} blocks free", plane.0))
            .with_help(
                "raise `capacity.over_provisioning`, lower the trigger's watermarks, or select victims that have fewer \
                 valid units",
            ))
    }

    /// Units that a write in zero time writes together: more than one for superpages.
    fn units_per_write(&self) -> u32 {
        self.ftl.geometry.units_per_write()
    }

    /// Writes the first `units` units in order.
    fn fill(&mut self, units: u32) -> Result<(), KeyError> {
        self.pace.pass = f64::from(units);
        let in_order = (0..units).step_by(self.units_per_write() as usize).map(LogicalUnit);
        let Some(stripes) = self.ftl.geometry.stripes else {
            let work = f64::from(self.units_per_write());
            return in_order.into_iter().try_for_each(|u| {
                self.pace.add(work);
                self.write(u)
            });
        };
        // Stripe by stripe: parity is written once, behind the last unit of its group.
        for unit in in_order {
            self.pace.add(1.0);
            self.append(unit)?;
            if unit.0 + 1 == units || (unit.0 + 1).is_multiple_of(stripes.units_per_group()) {
                stripes.parity_of_group(unit).try_for_each(|unit| self.append(unit))?;
            }
        }
        Ok(())
    }

    /// Completes what a sequential fill has begun, if later writes depend on it.
    fn end_filling(&mut self) {
        if self.ftl.has_log_blocks() {
            self.ftl.end_filling(self.written);
        }
    }

    /// Overwrites `writes` units drawn from the first `units`, each by a write of its own.
    pub fn overwrite(&mut self, units: u32, writes: u64, stream: &mut Xoshiro256PlusPlus) -> Result<(), KeyError> {
        // Random accesses to the map miss every cache of the processor: they are announced a batch ahead.
        const BATCH: usize = 32;
        let mut batch = [LogicalUnit(0); BATCH];
        let mut left = writes;
        let begin = self.ftl.counts();
        let (mut before, window) = (begin, Self::window_of(writes));
        let mut window_end = left.saturating_sub(window);
        self.work_of_write.begin_pass(begin);
        while left > 0 {
            let now = left.min(BATCH as u64) as usize;
            for unit in &mut batch[..now] {
                *unit = LogicalUnit(stream.random_range(0..units));
                self.ftl.prefetch_entry(*unit);
            }
            for &unit in &batch[..now] {
                self.ftl.prefetch_place(unit);
            }
            for &unit in &batch[..now] {
                self.write(unit)?;
                if self.pads.writes {
                    self.seal_page_of(unit);
                }
            }
            left -= now as u64;
            let counts = self.ftl.counts();
            if left <= window_end {
                self.work_of_write.end_window(counts);
                window_end = left.saturating_sub(window);
            }
            let work = counts.host_units + counts.moved_units - before.host_units - before.moved_units;
            before = counts;
            self.pace.pass = (left as f64).mul_add(self.work_of_write.units, work as f64);
            self.pace.add(work as f64);
        }
        self.work_of_write.end_pass(&before.since(&begin));
        Ok(())
    }

    /// Pads the page that a unit was written to.
    fn seal_page_of(&mut self, unit: LogicalUnit) {
        let plane = self.ftl.geometry.plane_of_page(self.ftl.geometry.page_of(self.ftl.lookup(unit)));
        self.ftl.seal_page(plane, Stream::Host, self.written);
    }

    /// Overwrites until write amplification over one footprint's worth of writes changes by no more than `steady`.
    fn overwrite_until_steady(
        &mut self,
        units: u32,
        steady: f64,
        stream: &mut Xoshiro256PlusPlus,
    ) -> Result<(), KeyError> {
        const ROUNDS_MAX: u32 = 40;
        let (mut before, mut rounds) = (f64::INFINITY, 0);
        let mut changes = [None; 2];
        let filled = f64::from(self.ftl.geometry.logical_units).min(self.written as f64);
        let mut absorbed = (spare_units(&self.ftl, self.stop_blocks, filled) / f64::from(units)).floor();
        while rounds < ROUNDS_MAX {
            let (now, to_come) = (if absorbed >= 1.0 { 0.0 } else { 1.0 }, rounds_to_come(rounds, changes, steady));
            absorbed = (absorbed - 1.0).max(0.0);
            let sure = if rounds == 0 { ROUNDS_MIN - now } else { 0.0 };
            self.expect_passes(to_come - now, sure, u64::from(units));
            self.pace.passes += absorbed * f64::from(units);
            let start = self.ftl.counts();
            self.overwrite(units, u64::from(units), stream)?;
            let counts = self.ftl.counts().since(&start);
            // As long as erased blocks last, write amplification is 1 and does not change, which is no steady state.
            if counts.erases == 0 {
                continue;
            }
            rounds += 1;
            let now = counts.write_amplification().unwrap_or(1.0);
            if (now - before).abs() <= steady * now {
                return Ok(());
            }
            changes = [Some((now - before).abs() / now).filter(|change| change.is_finite()), changes[0]];
            before = now;
        }
        Err(KeyError::new(
            "precondition.steady",
            format!(
                "write amplification still changed by more than {steady} after {ROUNDS_MAX} overwrites of everything"
            ),
        )
        .with_help("allow a larger change, or set the number of overwrites with `precondition.overwrites`"))
    }

    /// Writes everything twice in order, then at random in rounds of a given number of capacities, until the rule of
    /// the SNIA PTS holds for write amplification.
    fn precondition_as_snia(&mut self, round: f64, stream: &mut Xoshiro256PlusPlus) -> Result<(), KeyError> {
        let units = self.ftl.geometry.logical_units;
        let writes = ((f64::from(units) * round) as u64).max(1);
        self.expect_passes(SNIA_ROUNDS_EXPECTED, SNIA_ROUNDS_MIN, writes);
        self.pace.after = f64::from(units);
        self.fill(units)?;
        self.pace.after = 0.0;
        self.fill(units)?;
        let mut last = LastRounds::default();
        for rounds in 0..steady::ROUNDS_MAX {
            let [expected, least] = [SNIA_ROUNDS_EXPECTED, SNIA_ROUNDS_MIN].map(|all| all - 1.0 - f64::from(rounds));
            self.expect_passes(expected.max(0.0), least.max(0.0), writes);
            let start = self.ftl.counts();
            self.overwrite(units, writes, stream)?;
            let done = self.ftl.counts().since(&start);
            last.add(done.write_amplification().unwrap_or(1.0), done.erases);
            if last.is_steady() {
                return Ok(());
            }
        }
        let figure = last.figure();
        Err(KeyError::new(
            "precondition.round",
            format!(
                "after {} rounds of {round} capacities the drive is not steady: over the last five write amplification \
                 has a range of {:.1} % of its mean (at most 20 %) and a slope of {:.1} % (at most 10 %), and a round \
                 erased {} blocks on average (at least {})",
                steady::ROUNDS_MAX,
                100.0 * figure.range,
                100.0 * figure.slope,
                last.erases_a_round(),
                steady::ERASES_MIN
            ),
        )
        .with_help("use longer rounds, or set the number of overwrites with `precondition.mode = \"random\"`"))
    }
}

impl Preconditioner<'_> {
    /// Writes the missing translation pages of all units that hold data, if the map is in flash.
    fn write_translation_pages(&mut self) -> Result<(), KeyError> {
        let (first_page, end) = (self.ftl.geometry.first_map_unit(), self.ftl.geometry.mapped_units);
        let (of_page, units) = (units_of_translation_page(&self.ftl.geometry), self.ftl.geometry.logical_units);
        for (number, page) in (first_page..end).step_by(self.ftl.geometry.units_per_write() as usize).enumerate() {
            let (first, page) = (number as u32 * of_page, LogicalUnit(page));
            let holds_data = |unit| self.ftl.lookup(LogicalUnit(unit)).is_some();
            if self.ftl.lookup(page).is_none() && (first..(first + of_page).min(units)).any(holds_data) {
                self.append(page)?;
            }
        }
        Ok(())
    }

    /// Writes all translation pages to a fresh drive. Returns how many of their units each plane has.
    fn begin_with_translation_pages(&mut self) -> Vec<usize> {
        let mut of_plane = vec![0; self.ftl.geometry.planes as usize];
        let units = self.ftl.geometry.first_map_unit()..self.ftl.geometry.mapped_units;
        for page in units.step_by(self.ftl.geometry.units_per_write() as usize).map(LogicalUnit) {
            let plane = self.ftl.timeless_plane(page);
            of_plane[plane.at()] += self.ftl.geometry.units_per_write() as usize;
            self.written += 1;
            self.ftl.append(plane, page, self.written);
        }
        of_plane
    }
}

/// The driver of a walk before a run. It also takes a victim that frees a single unit: moves of several collections
/// share pages, so that they free pages together.
struct BeforeRun<'a> {
    ftl: &'a mut Ftl,
    stamp: u64,
    stop_blocks: u32,
    collections_left: u32,
    pads_moves: bool,
}

impl WalkDriver for BeforeRun<'_> {
    fn ftl_and_moment(&mut self, _: PlaneId) -> (&mut Ftl, Moment<'_>) {
        (self.ftl, Moment { least_units: 1, read_offsets: &[], stamp: self.stamp })
    }

    fn takes(&mut self, _: PlaneId, victim: Victim) -> bool {
        victim.frees && victim.has_room && self.collections_left > 0
    }

    fn collect(&mut self, _: PlaneId, block: BlockId) -> Fate {
        let plane = self.ftl.geometry.plane_of(block);
        let moved = self.ftl.collect(block, self.stamp);
        if self.pads_moves && moved + self.ftl.geometry.units_per_page <= self.ftl.geometry.units_per_block {
            self.ftl.seal_page(plane, Stream::Moved, self.stamp);
        }
        self.collections_left -= 1;
        Fate::Collected
    }

    fn next(&mut self, plane: PlaneId) -> Option<PlaneId> {
        (self.ftl.free_blocks_of(plane) < self.stop_blocks).then_some(plane)
    }
}

/// Rounds after which the rule of the SNIA PTS is expected to hold.
const SNIA_ROUNDS_EXPECTED: f64 = 7.0;
const SNIA_ROUNDS_MIN: f64 = 5.0;

impl Preconditioner<'_> {
    /// The work of a preconditioning, in units written.
    fn work_of(&self, config: &RunConfig) -> f64 {
        let (units, overwrite) = (f64::from(self.ftl.geometry.logical_units), self.work_of_write.units);
        match config.precondition {
            PreconditionConfig::Empty {} => 0.0,
            PreconditionConfig::Sequential { fill } => units * fill,
            PreconditionConfig::Random { fill, footprint, overwrites, .. } => {
                let (filled, overwritten) = (units * fill, units * fill * footprint);
                let work = WorkOfWrite::expected(&self.ftl, self.stop_blocks, filled, overwritten).units;
                let spare = spare_units(&self.ftl, self.stop_blocks, filled);
                match overwrites {
                    // Spare units absorb the first of them without a move.
                    Some(times) => {
                        let (writes, absorbed) = (overwritten * times, spare.min(overwritten * times));
                        filled + absorbed + (writes - absorbed) * work
                    }
                    None => {
                        let absorbed = (spare / overwritten.max(1.0)).floor() * overwritten;
                        filled + absorbed + ROUNDS_EXPECTED * overwritten * work
                    }
                }
            }
            PreconditionConfig::Snia { round } => units * (2.0 + SNIA_ROUNDS_EXPECTED * round * overwrite),
            PreconditionConfig::SteadyState {} => self.work_of_settling(config),
            PreconditionConfig::Aged { used_min, used_max, .. } => {
                f64::from(self.ftl.geometry.physical_units) * (used_min + used_max) / 2.0
            }
        }
    }
}

/// A drive that is preconditioned as the configuration asks.
pub fn preconditioned(config: &RunConfig, seed: u64) -> Result<Ftl, KeyError> {
    preconditioned_with_progress(config, seed, &mut |_| {})
}

/// As [`preconditioned`]; `progress` receives the completed work, some ten times a second.
pub fn preconditioned_with_progress(
    config: &RunConfig,
    seed: u64,
    progress: &mut dyn FnMut(Work),
) -> Result<Ftl, KeyError> {
    let mut preconditioner = Preconditioner::new(config, seed);
    preconditioner.pace = Pace::new(preconditioner.work_of(config), progress);
    let is_fresh = matches!(config.precondition, PreconditionConfig::Empty {} | PreconditionConfig::SteadyState {});
    if preconditioner.ftl.has_second_active() && !is_fresh {
        preconditioner.ftl.open_second_blocks();
    }
    let logical_units = preconditioner.ftl.geometry.logical_units;
    let share = |fill: f64| (f64::from(logical_units) * fill) as u32;
    match config.precondition {
        PreconditionConfig::Empty {} => {}
        PreconditionConfig::Sequential { fill } => {
            preconditioner.expect_no_round();
            preconditioner.fill(share(fill))?;
            preconditioner.end_filling();
        }
        PreconditionConfig::Random { fill, footprint, overwrites, steady } => {
            preconditioner.pace.passes -= f64::from(share(fill));
            if overwrites.is_none() {
                preconditioner.expect_rounds_at_first();
            }
            preconditioner.fill(share(fill).max(1))?;
            let units = ((f64::from(share(fill)) * footprint) as u32).max(1);
            preconditioner.work_of_write = WorkOfWrite::expected(
                &preconditioner.ftl,
                preconditioner.stop_blocks,
                f64::from(share(fill)),
                f64::from(units),
            );
            let mut stream = rng::stream(seed, "precondition.random");
            match overwrites {
                Some(times) => {
                    preconditioner.expect_no_round();
                    preconditioner.overwrite(units, (f64::from(units) * times) as u64, &mut stream)?;
                }
                None => preconditioner.overwrite_until_steady(units, steady, &mut stream)?,
            }
            preconditioner.expect_no_round();
        }
        PreconditionConfig::Snia { round } => {
            let mut stream = rng::stream(seed, "precondition.snia");
            preconditioner.precondition_as_snia(round, &mut stream)?;
            preconditioner.expect_no_round();
        }
        PreconditionConfig::SteadyState {} => preconditioner.settle(config, seed)?,
        PreconditionConfig::Aged { used_min, used_max, valid, spread, seed: own } => {
            preconditioner.fill_as_aged(Aged { used_min, used_max, valid, spread }, own.unwrap_or(seed))?;
        }
    }
    preconditioner.write_translation_pages()?;
    for plane in (0..preconditioner.ftl.geometry.planes).map(PlaneId) {
        for stream in [Stream::Host, Stream::Moved] {
            preconditioner.ftl.seal_page(plane, stream, preconditioner.written);
        }
    }
    Ok(preconditioner.ftl)
}

mod aged;
mod pace;
mod rounds;
mod settling;
#[cfg(test)]
mod tests;
