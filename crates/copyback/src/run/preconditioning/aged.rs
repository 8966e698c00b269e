//! Aged drives: a random share of each plane's pages is programmed, and a share of these pages is valid.

use super::Preconditioner;
use crate::config::KeyError;
use crate::run::precondition::Spread;
use crate::sim::index::{LogicalUnit, PlaneId};
use copyback_workload::rng;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

impl Preconditioner<'_> {
    /// Fills each plane to a random share of its pages and lets the stated share of them hold valid data.
    pub(super) fn fill_as_aged(&mut self, aged: Aged, seed: u64) -> Result<(), KeyError> {
        let Aged { used_min, used_max, valid, spread } = aged;
        self.pace.pass = std::mem::take(&mut self.pace.passes);
        let mut stream = rng::stream(seed, "precondition.aged");
        let geometry = self.ftl.geometry.clone();
        let mut of_plane: Vec<Vec<LogicalUnit>> = vec![Vec::new(); geometry.planes as usize];
        let units_per_write = self.units_per_write() as usize;
        for unit in (0..geometry.logical_units).step_by(units_per_write).map(LogicalUnit) {
            let plane = self.ftl.timeless_plane(unit);
            of_plane[plane.at()].push(unit);
        }
        let empty = of_plane.iter().position(Vec::is_empty);
        assert!(empty.is_none(), "the configuration was checked: plane {empty:?} gets no data");
        let map_units = self.begin_with_translation_pages();
        // As if all planes had been filled together: the age of a block follows from its position in its plane.
        // Otherwise, policies that weigh age over several planes would find all of the oldest blocks on the first
        // plane.
        let (begun, set_apart) = (self.written, map_units.iter().sum::<usize>());
        let (units_per_page, mut in_second) = (geometry.units_per_page as usize, 0);
        let mut seconds = rng::stream(seed, "precondition.second-active");
        let second_block = if self.ftl.has_second_active() { geometry.units_per_block as usize } else { 0 };
        let plane_units = f64::from(geometry.blocks_per_plane) * f64::from(geometry.units_per_block);
        let least = ((plane_units * used_min) as usize).saturating_sub(second_block) * geometry.planes as usize;
        let lasts = least.saturating_sub(set_apart) as u64;
        for (plane, units) in of_plane.iter_mut().enumerate() {
            let used = (plane_units * stream.random_range(used_min..=used_max)) as usize;
            let used = used.saturating_sub(map_units[plane]);
            // The unwritten part of a second active block counts as used: the plane is as far above its watermark as a
            // plane without such a block. The second blocks of a die are aligned; how full they are is drawn.
            if (plane as u32).is_multiple_of(geometry.planes_per_die) {
                in_second = seconds.random_range(0..geometry.pages_per_block) as usize * units_per_page;
            }
            let used = used.saturating_sub(second_block.saturating_sub(in_second)) / units_per_write;
            let live = ((used as f64 * valid) as usize).min(units.len());
            let writes = match spread {
                Spread::Even => writes_spread_evenly(&units[..live.max(1)], used, &mut stream),
                Spread::ByAge => writes_spread_by_age(&units[..live.max(1)], used, &mut stream),
            };
            let count = writes.len() as u64;
            for (at, unit) in writes.into_iter().enumerate() {
                self.written += 1;
                self.pace.add(units_per_write as f64);
                let is_second = second_block > 0 && at < in_second;
                let stamp = begun + (at as u64 + 1) * lasts / count;
                self.ftl.append_to(PlaneId(plane as u32), is_second, unit, stamp);
            }
        }
        Ok(())
    }
}

/// The parameters of an aged drive: see [`PreconditionConfig::Aged`].
#[derive(Clone, Copy)]
pub(super) struct Aged {
    pub used_min: f64,
    pub used_max: f64,
    pub valid: f64,
    pub spread: Spread,
}

/// `count` writes after which each of `units` is valid once, at evenly drawn places. What is written to the other
/// places is overwritten later, so the last place holds valid data.
fn writes_spread_evenly(units: &[LogicalUnit], count: usize, stream: &mut Xoshiro256PlusPlus) -> Vec<LogicalUnit> {
    let live = units.len().min(count);
    let mut units = units[..live].to_vec();
    units.shuffle(stream);
    let mut is_valid: Vec<bool> = (0..count).map(|place| place < live).collect();
    is_valid.shuffle(stream);
    if let Some(last) = is_valid.iter().rposition(|&valid| valid) {
        is_valid.swap(last, count - 1);
    }
    let mut next = 0;
    let write = |valid: bool| {
        next += usize::from(valid);
        if valid { units[next - 1] } else { units[stream.random_range(next..live)] }
    };
    is_valid.into_iter().map(write).collect()
}

/// `count` writes that contain each of `units` once and overwrite some of them, in random order.
fn writes_spread_by_age(units: &[LogicalUnit], count: usize, stream: &mut Xoshiro256PlusPlus) -> Vec<LogicalUnit> {
    let live = units.len().min(count);
    let mut writes: Vec<LogicalUnit> = units[..live].to_vec();
    writes.extend((live..count).map(|_| units[stream.random_range(0..live)]));
    writes.shuffle(stream);
    writes
}
