//! Generators: requests whose kinds, sizes, arrivals and addresses are drawn, each from its own random stream.

mod address;
mod arrival;
mod size;
mod zipf;

use crate::rng::{self, Xoshiro256PlusPlus};
use crate::spec::{BeyondCapacity, Footprint, GENERATED_ALIGN_DEFAULT, SizeSpec, WorkloadSpec};
use crate::units::{Bytes, format_bytes, format_count, rounded_bytes};
use crate::{Error, Op, Priority, Request, RequestSource};
use address::{Addresses, Extent};
use arrival::Timetable;
use size::Sizes;

/// Draws requests.
pub(crate) struct Generator {
    requests: u64,
    requests_left: u64,
    read_share: f64,
    trim_share: f64,
    ops: Xoshiro256PlusPlus,
    size_rng: Xoshiro256PlusPlus,
    read_sizes: Option<Sizes>,
    write_sizes: Option<Sizes>,
    trim_sizes: Option<Sizes>,
    timetable: Timetable,
    addresses: Addresses,
    /// Alignment of reads, writes and trims that do not continue the last request.
    offset_align_bytes: [u64; 3],
    footprint_bytes: u64,
    /// Number and original sizes of requests larger than the footprint, by operation: read, write, trim.
    shortened: [(u64, u128); 3],
    repeat: Option<Repeat>,
    /// Whether a trim precedes each write, and the write that follows the last trim.
    trims_before_writes: bool,
    write_to_come: Option<Request>,
}

/// Draws the same requests again after this many bytes.
struct Repeat {
    seed: u64,
    every_bytes: u64,
    left_bytes: u64,
    /// Whether requests were drawn again.
    has_begun_again: bool,
}

impl Generator {
    /// A generator for a spec that passed its check.
    pub(crate) fn new(spec: &WorkloadSpec, seed: u64, capacity_bytes: u64) -> Result<Self, Error> {
        let align = spec.align.unwrap_or(GENERATED_ALIGN_DEFAULT);
        let footprint_bytes = footprint(spec, align, capacity_bytes)?;
        let sizes = |own: &Option<SizeSpec>| own.as_ref().or(spec.size.as_ref()).map(|size| Sizes::new(size, align));
        Ok(Self {
            requests: spec.requests.unwrap_or(0),
            requests_left: spec.requests.unwrap_or(0),
            read_share: spec.read_share.unwrap_or(0.0),
            trim_share: spec.trim_share.unwrap_or(0.0),
            ops: rng::stream(seed, "workload.op"),
            size_rng: rng::stream(seed, "workload.size"),
            read_sizes: sizes(&spec.read_size),
            write_sizes: sizes(&spec.write_size),
            trim_sizes: sizes(&spec.trim_size),
            timetable: Timetable::new(spec, seed),
            addresses: Addresses::new(spec.addresses.as_ref(), align.0, footprint_bytes, seed),
            offset_align_bytes: [&spec.read_size, &spec.write_size, &spec.trim_size]
                .map(|own| own.as_ref().or(spec.size.as_ref()).and_then(|size| size.offset_align).unwrap_or(align).0),
            footprint_bytes,
            shortened: [(0, 0); 3],
            repeat: spec.repeat_after.map(|after| Repeat::new(after, footprint_bytes, seed)),
            trims_before_writes: spec.trim_before_write.unwrap_or(false),
            write_to_come: None,
        })
    }

    /// Draws the same requests again if the bytes to repeat were drawn.
    fn begin_again(&mut self) {
        let Some(repeat) = self.repeat.as_mut().filter(|repeat| repeat.left_bytes == 0) else { return };
        repeat.left_bytes = repeat.every_bytes;
        repeat.has_begun_again = true;
        self.ops = rng::stream(repeat.seed, "workload.op");
        self.size_rng = rng::stream(repeat.seed, "workload.size");
        self.addresses.begin_again(repeat.seed);
    }

    /// The kind of a request that is not an arrival of the reads' process. If that process exists, no other request
    /// reads.
    fn draw_op(&mut self) -> Op {
        let draw = rng::unit_f64(&mut self.ops);
        if draw < self.read_share {
            Op::Read
        } else if draw < self.read_share + self.trim_share {
            Op::Trim
        } else {
            Op::Write
        }
    }

    /// The error for an arrival that exceeds 64 bits.
    fn too_late(&self) -> Error {
        let request = format_count(self.requests - self.requests_left);
        let message = format!("`workload.arrivals`: request {request} would arrive beyond 2^64 ns (584 years)");
        Error::new(message).with_help("raise `workload.arrivals.rate`, or lower `workload.requests`")
    }

    fn draw_len(&mut self, op: Op) -> u64 {
        let (sizes, shortened) = match op {
            Op::Read => (&self.read_sizes, &mut self.shortened[0]),
            Op::Write => (&self.write_sizes, &mut self.shortened[1]),
            Op::Trim => (&self.trim_sizes, &mut self.shortened[2]),
        };
        let Some(sizes) = sizes else { return 0 };
        let len_bytes = sizes.draw(&mut self.size_rng);
        if len_bytes > self.footprint_bytes {
            shortened.0 += 1;
            shortened.1 += u128::from(len_bytes);
        }
        len_bytes.min(self.footprint_bytes)
    }
}

impl Repeat {
    fn new(after: Footprint, footprint_bytes: u64, seed: u64) -> Self {
        let every_bytes = match after {
            Footprint::Size(Bytes(bytes)) => bytes,
            Footprint::Share(share) => (footprint_bytes as f64 * share) as u64,
            Footprint::Mapped => footprint_bytes,
        };
        let every_bytes = every_bytes.max(1);
        Self { seed, every_bytes, left_bytes: every_bytes, has_begun_again: false }
    }
}

/// The footprint in bytes, whole units of `align`.
fn footprint(spec: &WorkloadSpec, align: Bytes, capacity_bytes: u64) -> Result<u64, Error> {
    let no_device = capacity_bytes == u64::MAX;
    let bytes = match spec.footprint {
        Some(Footprint::Size(Bytes(bytes))) => bytes,
        Some(Footprint::Share(_)) | None if no_device => {
            return Err(Error::new("workload.footprint: a share of the capacity, but there is no device")
                .with_help("set a size, such as `footprint = \"1 GiB\"`"));
        }
        Some(Footprint::Share(share)) => (capacity_bytes as f64 * share) as u64,
        Some(Footprint::Mapped) => {
            return Err(Error::new("workload.footprint: `mapped` needs a preconditioned drive")
                .with_help("set a size, such as `footprint = \"1 GiB\"`"));
        }
        None => capacity_bytes,
    };
    // `fold` or `reject` says that the user intends a footprint beyond the device.
    if bytes > capacity_bytes && matches!(spec.beyond_capacity, None | Some(BeyondCapacity::Error)) {
        let (wanted, capacity) = (format_bytes(bytes), format_bytes(capacity_bytes));
        return Err(Error::new(format!("workload.footprint: {wanted} is beyond the capacity of {capacity}"))
            .with_help("lower it (a share such as 0.8 fits any device), or set `beyond_capacity = \"fold\"`"));
    }
    let whole_bytes = bytes - bytes % align.0;
    if whole_bytes == 0 {
        let message = format!("workload.footprint: {} is less than one unit of align {align}", format_bytes(bytes));
        return Err(Error::new(message).with_help("raise `footprint`, or lower `align`"));
    }
    Ok(whole_bytes)
}

impl RequestSource for Generator {
    #[inline]
    fn next_request(&mut self) -> Result<Option<Request>, Error> {
        if self.requests_left == 0 {
            return Ok(None);
        }
        self.requests_left -= 1;
        let (arrival_ns, is_read) = self.timetable.next_ns().ok_or_else(|| self.too_late())?;
        if let Some(write) = self.write_to_come.take() {
            return Ok(Some(Request { arrival_ns, ..write }));
        }
        self.begin_again();
        let op = if is_read { Op::Read } else { self.draw_op() };
        let len_bytes = self.draw_len(op);
        let sizes = [&self.read_sizes, &self.write_sizes, &self.trim_sizes][op as usize];
        let least_bytes = sizes.as_ref().map_or(len_bytes, Sizes::least_bytes).min(len_bytes);
        let drawn = self.addresses.draw(op, (least_bytes, len_bytes), self.offset_align_bytes[op as usize]);
        let Some(Extent { offset_bytes, len_bytes, device }) = drawn else {
            self.requests_left = 0;
            return Ok(None);
        };
        if let Some(repeat) = &mut self.repeat {
            repeat.left_bytes = repeat.left_bytes.saturating_sub(len_bytes);
        }
        let request = Request { arrival_ns, offset_bytes, len_bytes, device, op, priority: Priority::Normal };
        if self.trims_before_writes && op == Op::Write {
            self.write_to_come = Some(request);
            return Ok(Some(Request { op: Op::Trim, ..request }));
        }
        Ok(Some(request))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.addresses.notes();
        let footprint = format_bytes(self.footprint_bytes);
        for (kind, (count, asked_bytes)) in ["reads", "writes", "trims"].into_iter().zip(self.shortened) {
            if count == 0 {
                continue;
            }
            let key = format!("{}_size", kind.trim_end_matches('s'));
            let asked = rounded_bytes(asked_bytes as f64);
            let left = rounded_bytes(count as f64 * self.footprint_bytes as f64);
            let many = if count == 1 { kind.trim_end_matches('s') } else { kind };
            let count = format_count(count);
            notes.push(format!(
                "{count} {many} shortened to the footprint of {footprint}, which is less than they ask for \
                 (`workload.size` or `workload.{key}`): {left} instead of {asked} in all; lower the size, or take a \
                 larger drive"
            ));
        }
        notes.extend(self.repeat.as_ref().filter(|repeat| !repeat.has_begun_again).map(|repeat| {
            let after = format_bytes(repeat.every_bytes);
            format!("`workload.repeat_after` has no effect: no request comes after the first {after}")
        }));
        notes
    }
}
