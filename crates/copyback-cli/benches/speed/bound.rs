//! The machine's own bound: what writing a page costs at least, so that figures of different machines compare.
//!
//! The loop is a log of pages in a ring, with the tables of a drive: map, reverse map, valid bits, valid units of each
//! block. It is written at random, and collected in the order in which blocks were filled. It has no policy, plane,
//! check or clock, and prefetches what it will touch.

use copyback::sim::table::{filled, prefetch};
use copyback::workload::rng;
use cpu_time::ProcessTime;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

const NONE: u32 = u32::MAX;
/// Units that are drawn, and fetched, together.
const BATCH: usize = 32;

struct Log {
    map: Vec<u32>,
    reverse: Vec<u32>,
    valid: Vec<u64>,
    valid_of_block: Vec<u16>,
    units_per_block: u32,
    /// Where the next page goes.
    head: u32,
    /// The block that is collected next.
    tail: u32,
    /// Erased blocks.
    free_blocks: u32,
    pages_written: u64,
}

impl Log {
    fn new(units: u32, blocks: u32, units_per_block: u32) -> Self {
        let places = (blocks * units_per_block) as usize;
        Self {
            map: filled(units as usize, NONE),
            reverse: filled(places, NONE),
            valid: filled(places.div_ceil(64), 0),
            valid_of_block: filled(blocks as usize, 0),
            units_per_block,
            head: 0,
            tail: 0,
            free_blocks: blocks - 1,
            pages_written: 0,
        }
    }

    fn append(&mut self, unit: u32) {
        let (place, block) = (self.head as usize, self.head / self.units_per_block);
        let old = std::mem::replace(&mut self.map[unit as usize], self.head) as usize;
        if old != NONE as usize {
            self.valid[old / 64] &= !(1 << (old % 64));
            self.valid_of_block[old / self.units_per_block as usize] -= 1;
        }
        self.reverse[place] = unit;
        self.valid[place / 64] |= 1 << (place % 64);
        self.valid_of_block[block as usize] += 1;
        self.pages_written += 1;
        self.head += 1;
        if self.head.is_multiple_of(self.units_per_block) {
            self.free_blocks -= 1;
            self.head %= self.reverse.len() as u32;
        }
    }

    /// Moves what is valid in the oldest block.
    fn collect(&mut self) {
        let first = self.tail * self.units_per_block;
        let places = first..first + self.units_per_block;
        self.tail = (self.tail + 1) % self.valid_of_block.len() as u32;
        for place in places {
            let ahead = (place as usize + 12).min(self.reverse.len() - 1);
            prefetch(&self.map, self.reverse[ahead] as usize);
            if self.valid[place as usize / 64] >> (place % 64) & 1 == 1 {
                self.append(self.reverse[place as usize]);
            }
        }
        self.free_blocks += 1;
    }

    fn overwrite(&mut self, writes: u64, stream: &mut Xoshiro256PlusPlus) {
        let units = self.map.len() as u32;
        let mut batch = [0; BATCH];
        for _ in 0..writes / BATCH as u64 {
            for unit in &mut batch {
                *unit = stream.random_range(0..units);
                prefetch(&self.map, *unit as usize);
            }
            for &unit in &batch {
                let place = self.map[unit as usize];
                prefetch(&self.valid, place as usize / 64);
                prefetch(&self.valid_of_block, (place / self.units_per_block) as usize);
            }
            for &unit in &batch {
                while self.free_blocks < 2 {
                    self.collect();
                }
                self.append(unit);
            }
        }
    }
}

/// Pages that a log with such tables writes in a second of processor time, moved pages included.
pub fn pages_per_second(units: u32, blocks: u32, units_per_block: u32) -> f64 {
    let mut log = Log::new(units, blocks, units_per_block);
    (0..units).for_each(|unit| log.append(unit));
    let mut stream = rng::stream(7, "bench.bound");
    log.overwrite(u64::from(units), &mut stream);
    let (before, start) = (log.pages_written, ProcessTime::now());
    log.overwrite(u64::from(units), &mut stream);
    (log.pages_written - before) as f64 / start.elapsed().as_secs_f64()
}
