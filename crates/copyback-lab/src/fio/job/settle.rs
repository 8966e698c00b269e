//! Combines the options of a job, and refuses conflicts.

use super::{Job, READ, TRIM, WRITE};
use crate::failure::Failure;
use crate::fio::distribution::Distribution;

impl Job {
    /// Resolves options that depend on each other, and refuses conflicts. Call it after all options are set.
    pub(super) fn settle(&mut self) -> Result<(), Failure> {
        self.sizes.given = self.sizes.blocks.clone();
        if self.schedule.is_time_based && self.schedule.runtime_ns.is_none() {
            self.schedule.is_time_based = false;
            self.notes.push("`time_based` has no effect: it needs a runtime".to_owned());
        }
        let has = |rates: [Option<u64>; 3]| rates.iter().any(Option::is_some);
        if has(self.pace.rate_iops) && has(self.pace.rate_bytes) {
            return Err(self
                .at(&["rate", "rate_iops"])
                .wrong("rate and rate_iops exclude each other", "remove one of them"));
        }
        if self.sizes.are_by_order {
            let is_mixed = self.used(|op| self.places.random_percent[op]).any(|percent| !matches!(percent, 0 | 100));
            let has_runs = self.pattern.modifier.run_length.is_some_and(|length| length > 1);
            if self.pattern.is_random && (is_mixed || has_runs) {
                let message = "bs_is_seq_rand is not simulated for a job that mixes random and sequential requests";
                let help = "remove it, percentage_random, and what follows the colon of rw";
                return Err(self.at(&["bs_is_seq_rand"]).wrong(message, help));
            }
            let of = if self.pattern.is_random && self.random_percent() > 0 { WRITE } else { READ };
            self.sizes.blocks = [0; 3].map(|_| self.sizes.blocks[of].clone());
        }
        if self.pattern.trims_first {
            if self.sizes.blocks[TRIM] != self.sizes.blocks[WRITE] && !self.pattern.is_random {
                let message = "trimwrite: a trim and its write have one size";
                return Err(self.at(&["bs", "bsrange", "bssplit"]).wrong(message, "write bs=SIZE"));
            }
            if self.pattern.modifier.skip_bytes != 0 && self.extent.io_size.is_some() {
                let message =
                    "trimwrite with holes: fio counts `io_size` in passes of another length, which is not simulated";
                let help = "remove io_size, or what follows the colon of rw";
                return Err(self.at(&["io_size"]).wrong(message, help));
            }
            self.sizes.blocks[WRITE] = self.sizes.blocks[TRIM].clone();
        }
        // fio has no map of blocks then.
        if self.sizes.align.iter().any(Option::is_some) || self.distribution() != &Distribution::Uniform {
            self.places.has_map = false;
        }
        self.refuse_apart()?;
        self.refuse_uneven_passes()?;
        self.refuse_holes_behind_offset()?;
        self.settle_flushes();
        self.settle_strides()
    }

    /// Adds a note for each flush option, and keeps those that a write buffer would execute.
    fn settle_flushes(&mut self) {
        // The operations of a log are not known before it is read.
        let (reads, writes) = match self.replay.iolog {
            Some(_) => (true, true),
            None => (self.pattern.ops[READ], self.pattern.ops[WRITE]),
        };
        for opt in std::mem::take(&mut self.flushes) {
            let (is_asked_for, otherwise) = match opt.key.as_str() {
                "readfua" => (reads, "the job reads nothing"),
                _ => (writes, "the job writes nothing"),
            };
            let why =
                if is_asked_for { "without a write buffer, a write ends when it is programmed" } else { otherwise };
            self.notes.push(format!("`{}` has no effect: {why}", opt.key));
            if is_asked_for {
                self.flushes.push(opt);
            }
        }
    }

    /// A value for each operation of the job.
    pub fn used<T>(&self, of: impl Fn(usize) -> T) -> impl Iterator<Item = T> {
        (0..3).filter(|op| self.pattern.ops[*op]).map(of).collect::<Vec<_>>().into_iter()
    }

    /// The distribution of its random addresses.
    pub fn distribution(&self) -> &Distribution {
        &self.places.distribution[self.first_op()]
    }

    /// The percentage of its requests that are random.
    pub fn random_percent(&self) -> u64 {
        self.used(|op| self.places.random_percent[op]).next().unwrap_or(100)
    }

    /// Refuses different values for reads and writes if the generator has only one.
    fn refuse_apart(&self) -> Result<(), Failure> {
        let differ = |name: &str| {
            let message = format!("{name} of reads and of writes differ");
            self.at(&[name]).wrong(message, "write one value for both, or a job for each operation")
        };
        if self.used(|op| self.places.distribution[op].clone()).any(|own| &own != self.distribution()) {
            return Err(differ("random_distribution"));
        }
        if self.used(|op| self.places.random_percent[op]).any(|own| own != self.random_percent()) {
            return Err(differ("percentage_random"));
        }
        if self.used(|op| self.urgency.percent[op]).any(|own| own != self.urgency.percent[self.first_op()]) {
            return Err(differ("cmdprio_percentage"));
        }
        Ok(())
    }

    /// The first operation of the job.
    pub(super) fn first_op(&self) -> usize {
        (0..3).find(|op| self.pattern.ops[*op]).unwrap_or(READ)
    }

    fn settle_strides(&self) -> Result<(), Failure> {
        let strides = &self.places.strides;
        if strides.are_off || strides.size.is_none() {
            if strides.size.is_some() || strides.skip > 0 {
                let message =
                    if strides.are_off { "zonemode=none has no zonesize" } else { "zoneskip needs a zonesize" };
                let names: &[&str] = if strides.are_off { &["zonesize", "zoneskip"] } else { &["zoneskip"] };
                return Err(self.at(names).wrong(message, "write zonemode=strided with zonesize and zoneskip"));
            }
            return Ok(());
        }
        if self.pattern.is_random {
            let message = "random requests within strides are not supported";
            let help = "write a sequential pattern, or random_distribution=zoned_abs:...";
            return Err(self.at(&["zonesize"]).wrong(message, help));
        }
        let size = strides.size.unwrap_or(0);
        if strides.range.is_some_and(|range| range < size) {
            let range = self.at(&["zonerange"]);
            return Err(range.wrong("zonerange is smaller than zonesize", "raise it, or leave it out"));
        }
        Ok(())
    }

    /// Bytes of a stride, and bytes skipped after each.
    pub fn stride(&self) -> Option<(u64, u64)> {
        let size = self.places.strides.size?;
        Some((size, self.places.strides.range.map_or(0, |range| range - size).saturating_add(self.places.strides.skip)))
    }

    /// Whether the job ends by time only.
    pub fn is_endless(&self) -> bool {
        self.schedule.is_time_based
    }
}
