//! Combines the options of a job: conflicts, regions, the map of blocks, reading back.

use super::pattern::{Modifier, Pattern};
use super::sizes::Sizes;
use super::{Job, Part, READ, TRIM, WRITE};
use crate::failure::Failure;
use crate::fio::shape::Distribution;

impl Job {
    /// Resolves options that depend on each other, and refuses conflicts. Call it after all options are set.
    pub(super) fn settle(&mut self) -> Result<(), Failure> {
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
            if self.pattern.is_random
                && self.used(|op| self.places.random_percent[op]).any(|percent| !matches!(percent, 0 | 100))
            {
                let message = "bs_is_seq_rand is not simulated for a job that mixes random and sequential requests";
                return Err(self.at(&["bs_is_seq_rand"]).wrong(message, "remove it, or percentage_random"));
            }
            let of = if self.pattern.is_random { WRITE } else { READ };
            self.sizes.blocks = [0; 3].map(|_| self.sizes.blocks[of].clone());
        }
        if self.pattern.trims_first {
            if self.sizes.blocks[TRIM] != self.sizes.blocks[WRITE] && !self.pattern.is_random {
                let message = "trimwrite: a trim and its write have one size";
                return Err(self.at(&["bs", "bsrange", "bssplit"]).wrong(message, "write bs=SIZE"));
            }
            self.sizes.blocks[WRITE] = self.sizes.blocks[TRIM].clone();
        }
        // fio has no map of blocks then.
        if self.sizes.align.iter().any(Option::is_some) || self.distribution() != &Distribution::Uniform {
            self.places.has_map = false;
        }
        self.refuse_apart()?;
        self.refuse_rounds()?;
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

    fn first_op(&self) -> usize {
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

    /// The share of its requests that are urgent.
    pub fn urgent_share(&self) -> Option<f64> {
        let percent = self.urgency.percent[self.first_op()];
        if percent == 0 {
            return self.urgency.is_job.then_some(1.0);
        }
        // Picked requests have `cmdprio_class`, the others the job's class.
        let share = percent as f64 / 100.0;
        match (self.urgency.class == 1, self.urgency.is_job) {
            (true, true) => Some(1.0),
            (true, false) => Some(share),
            (false, true) => Some(1.0 - share),
            (false, false) => None,
        }
    }

    /// Whether the job ends by time only.
    pub fn is_endless(&self) -> bool {
        self.schedule.is_time_based
    }

    /// The size of a clone's region: bytes of its file, or a share of the drive. `filesize` limits its end.
    pub fn part_size(&self, clone: u64) -> Option<Part> {
        match (self.whole_size()?, self.extent.file_bytes, self.file_offset_of(clone)) {
            (Part::Bytes(bytes), Some(file), Some(offset)) => Some(Part::Bytes(bytes.min(file.saturating_sub(offset)))),
            (part, ..) => Some(part),
        }
    }

    /// The size of a file of its own, if it is known in bytes.
    fn file_size(&self) -> Option<u64> {
        match (self.extent.file_bytes, self.extent.size) {
            (Some(bytes), _) | (None, Some(Part::Bytes(bytes))) => Some(bytes),
            (None, _) => None,
        }
    }

    /// Whether the start of the job is a share of its file.
    pub fn begins_at_share(&self) -> bool {
        [Some(self.extent.offset), self.extent.increment].iter().any(|part| matches!(part, Some(Part::Share(_))))
    }

    /// The size of a region that begins at the start of the file.
    fn whole_size(&self) -> Option<Part> {
        match (self.extent.fills_device, self.extent.file_bytes) {
            (true, _) => None,
            // A share of a file is a part of it.
            (false, Some(bytes)) => Some(Part::Bytes(match self.extent.size {
                Some(Part::Share(share)) => (bytes as f64 * share) as u64,
                _ => bytes,
            })),
            (false, None) => self.extent.size,
        }
    }

    /// The amount of a clone, if it differs from its region: bytes, or a share of the region.
    pub fn amount(&self, clone: u64) -> Option<Part> {
        match (self.extent.io_size, self.extent.file_bytes, self.extent.size, self.part_size(clone)) {
            (Some(amount), ..) => Some(amount),
            // fio cuts the size to what the file has behind the offset.
            (None, Some(_), Some(Part::Bytes(size)), Some(Part::Bytes(part))) => Some(Part::Bytes(size.min(part))),
            (None, ..) => None,
        }
    }

    /// The start of a clone's region; `None` if `offset` and `offset_increment` are bytes and a share.
    pub fn offset_of(&self, clone: u64) -> Option<Part> {
        match (self.extent.offset, self.extent.increment) {
            (offset, None) => Some(offset),
            (Part::Bytes(offset), Some(Part::Bytes(more))) => {
                Some(Part::Bytes(offset.saturating_add(more.saturating_mul(clone))))
            }
            (Part::Share(offset), Some(Part::Share(more))) => Some(Part::Share(offset + more * clone as f64)),
            (Part::Bytes(0), Some(Part::Share(more))) => Some(Part::Share(more * clone as f64)),
            (_, Some(_)) => None,
        }
    }

    /// The start in bytes in a file of its own. Shares count from the size of the file, whatever part of it the job
    /// uses. Such a start is rounded up to `offset_align`, or to the smallest block of all operations, as in fio 3.33.
    pub fn file_offset_of(&self, clone: u64) -> Option<u64> {
        let bytes = |part: Part| match part {
            Part::Bytes(bytes) => Some(bytes),
            Part::Share(share) => Some((self.file_size()? as f64 * share) as u64),
        };
        let more = self.extent.increment.map_or(Some(0), bytes)?;
        let start = bytes(self.extent.offset)?.saturating_add(more.saturating_mul(clone));
        match self.begins_at_share() {
            true => start.checked_next_multiple_of(self.extent.offset_align.unwrap_or(self.least_of_all()).max(1)),
            false => Some(start),
        }
    }

    /// Refuses holes backwards in a job that does not begin at the start of its file.
    fn refuse_holes_behind_offset(&self) -> Result<(), Failure> {
        let has_moved_clones = self.extent.increment.is_some() && self.schedule.count > 1;
        let begins_later = self.extent.offset != Part::Bytes(0) || has_moved_clones;
        if self.pattern.is_random || self.pattern.modifier.skip_bytes >= 0 || !begins_later {
            return Ok(());
        }
        let message = "with holes backwards, fio 3.33 begins its offset before the end of the file, not at the offset, and \
                       such an order is not simulated";
        let names: &[&str] = &["offset", "offset_increment"];
        Err(self.at(names).wrong(message, "remove the offset, or what follows the colon of rw"))
    }

    /// Whether a pass over its addresses ends when fio's map of blocks is full. fio does not use the map for requests
    /// that continue others.
    pub fn ends_with_map(&self) -> bool {
        self.pattern.is_random
            && self.places.has_map
            && self.random_percent() == 100
            && self.pattern.modifier.run_length.is_none()
    }

    /// Whether each random block is drawn once before any is drawn again.
    pub fn goes_by_map(&self) -> bool {
        self.ends_with_map() && self.only_size().is_some()
    }

    /// The size of all requests of its operations, if they have one.
    pub fn only_size(&self) -> Option<u64> {
        let mut sizes = self.used(|op| self.sizes.blocks[op].only());
        let first = sizes.next().flatten()?;
        sizes.all(|size| size == Some(first)).then_some(first)
    }

    /// The smallest size of a request of its operations; 0 without an operation.
    pub fn least_size(&self) -> u64 {
        self.used(|op| self.sizes.blocks[op].least()).min().unwrap_or(0)
    }

    /// Whether fio uses a map of blocks, but the generator does not.
    pub fn lacks_map(&self) -> bool {
        self.pattern.is_random && self.places.has_map && !self.goes_by_map() && !self.counts_by_own_size()
    }

    /// Whether fio's map counts blocks of several sizes. It has a bit for each block of the smallest size of all
    /// operations, also of those that the job does not have, and each operation looks up blocks of its own size.
    pub fn counts_by_own_size(&self) -> bool {
        let differs = |own: u64| own != self.least_of_all();
        self.ends_with_map()
            && self.used(|op| self.sizes.blocks[op].only()).all(|size| size.is_some())
            && self.used(|op| self.sizes.blocks[op].least()).any(differs)
    }

    /// The smallest size of a request of any operation, also of those that the job does not have.
    pub fn least_of_all(&self) -> u64 {
        (0..3).map(|op| self.sizes.blocks[op].least()).min().unwrap_or(0)
    }

    /// Refuses a job that fio's map ends several times, each time after other bytes.
    fn refuse_rounds(&self) -> Result<(), Failure> {
        let repeats = self.extent.loops > 1 || self.extent.io_size.is_some();
        if !repeats || self.is_endless() || !self.counts_by_own_size() || self.replay.iolog.is_some() {
            return Ok(());
        }
        let message = "with different sizes in `bs`, fio's map of blocks ends each pass after another number of bytes, \
                       and passes like that are not simulated";
        Err(self.at(&["loops", "io_size"]).wrong(message, "remove it, or add norandommap=1"))
    }

    /// Whether fio reads back what it wrote, once all is written.
    pub fn reads_back(&self) -> Result<bool, Failure> {
        if !self.verification.is_on
            || !self.verification.is_done
            || !(self.pattern.ops[WRITE] || self.pattern.trims_first)
            || self.is_endless()
        {
            return Ok(false);
        }
        let is_plain = self.pattern.ops == [false, true, false]
            && !self.pattern.trims_first
            && self.extent.loops == 1
            && self.extent.number_ios.is_none()
            && self.amount(0).is_none()
            && self.stride().is_none()
            && self.replay.iolog.is_none();
        if is_plain {
            return Ok(true);
        }
        let message =
            "verify: reading back is not simulated for this job, because its written blocks are not known in advance";
        Err(self.at(&["verify"]).wrong(message, "add do_verify=0, and below it a job with stonewall and rw=read"))
    }

    /// The job that reads back what this one wrote: each block once, in the order of addresses.
    pub fn reading_back(&self) -> Self {
        let mut job = self.clone();
        job.pattern = Pattern {
            ops: [true, false, false],
            is_random: false,
            // A sequential job left holes, which are not read.
            modifier: if self.pattern.is_random { Modifier::default() } else { self.pattern.modifier },
            ..self.pattern.clone()
        };
        job.sizes = Sizes { blocks: [WRITE; 3].map(|op| self.sizes.blocks[op].clone()), ..self.sizes.clone() };
        (job.pace.rate_iops, job.pace.rate_bytes) = ([None; 3], [None; 3]);
        (job.schedule.delay_ns, job.schedule.ramp_ns) = (0, 0);
        job
    }
}
