//! Transformations of a source, in this order: layout, device, time window, first N, time scale, align, capacity,
//! priority. The layout `compact` comes behind device and window.

use crate::devices::{Chosen, Devices};
use crate::rng::{self, Xoshiro256PlusPlus};
use crate::spec::{BeyondCapacity, Device, WorkloadSpec};
use crate::units::{format_bytes, format_count, format_duration_ns};
use crate::{Error, Priority, Request, RequestSource};
use std::collections::{HashMap, VecDeque};

/// The size of the pieces in which files are laid out on the drive, as a file system's allocator would.
const EXTENT_BYTES: u64 = 1 << 20;

/// How many extents can be packed: 4 TiB of them. Each is remembered, so that otherwise a few requests of damaged
/// lengths would fill the memory.
const EXTENTS_MAX: u64 = 1 << 22;

/// Gives every device's extents places on the drive, in the order of their first use.
pub(crate) struct Packed<S> {
    inner: S,
    /// Only looked up, never walked: its order can't reach a result.
    places: HashMap<(u32, u64), u64>,
    /// The only device that gets places, if one was selected: the others' would leave holes.
    only: Chosen,
    laid_out: u64,
    split_count: u64,
    pending: VecDeque<Request>,
}

impl<S> Packed<S> {
    pub(crate) fn new(inner: S, only: Option<Device>) -> Self {
        let only = Chosen::new(only);
        Self { inner, places: HashMap::new(), only, laid_out: 0, split_count: 0, pending: VecDeque::new() }
    }

    fn place(&mut self, device: u32, extent: u64) -> Result<u64, Error> {
        let next = self.places.len() as u64;
        if let Some(place) = self.places.get(&(device, extent)) {
            return Ok(*place);
        }
        if next == EXTENTS_MAX {
            return Err(self.too_many());
        }
        self.places.insert((device, extent), next);
        Ok(next)
    }

    #[cold]
    fn too_many(&self) -> Error {
        let (index, most) = (self.laid_out, format_bytes(EXTENTS_MAX * EXTENT_BYTES));
        Error::new(format!("request {index}: the trace's devices or files cover more than {most}, too much to pack"))
            .with_help("select one with `device`, or set `layout = \"as-is\"` to keep the trace's addresses")
    }

    /// Cuts a request at the borders of extents that are not neighbours on the drive.
    fn lay_out(&mut self, request: Request) -> Result<(), Error> {
        let mut at = request.offset_bytes;
        let end = request.offset_bytes + request.len_bytes;
        let before = self.pending.len();
        while at < end {
            let extent = at / EXTENT_BYTES;
            let piece_end = end.min((extent + 1).saturating_mul(EXTENT_BYTES));
            let offset_bytes = self.place(request.device, extent)? * EXTENT_BYTES + at % EXTENT_BYTES;
            let len_bytes = piece_end - at;
            let count = self.pending.len();
            match self.pending.back_mut() {
                Some(last) if count > before && last.offset_bytes + last.len_bytes == offset_bytes => {
                    last.len_bytes += len_bytes;
                }
                _ => self.pending.push_back(Request { offset_bytes, len_bytes, ..request }),
            }
            at = piece_end;
        }
        self.split_count += u64::from(self.pending.len() > before + 1);
        Ok(())
    }
}

impl<S: RequestSource> RequestSource for Packed<S> {
    fn next_request(&mut self) -> Result<Option<Request>, Error> {
        if self.pending.is_empty() {
            let Some(request) = self.inner.next_request()? else { return Ok(None) };
            if !self.only.keeps(request.device, &self.inner) {
                // Handed on as it is, to be left out and counted where devices are selected.
                return Ok(Some(request));
            }
            self.laid_out += 1;
            self.lay_out(request)?;
        }
        Ok(self.pending.pop_front())
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.inner.notes();
        let (count, extent) = (self.places.len(), format_bytes(EXTENT_BYTES));
        notes.push(format!(
            "devices' or files' addresses packed into {count} extents of {extent}, in order of first use"
        ));
        if self.split_count > 0 {
            let split = format_count(self.split_count);
            notes.push(format!("{split} requests split where they cross extents"));
        }
        notes
    }

    fn device_name(&self, device: u32) -> Option<String> {
        self.inner.device_name(device)
    }
}

/// The transformations that keep or change one request at a time.
pub(crate) struct Transformed<S> {
    inner: S,
    device: Chosen,
    window_ns: Option<[u64; 2]>,
    first: u64,
    time_scale: f64,
    align_bytes: u64,
    beyond: BeyondCapacity,
    capacity_bytes: u64,
    high_priority_share: Option<f64>,
    priorities: Xoshiro256PlusPlus,
    started_ns: Option<u64>,
    passed: u64,
    other_devices: u64,
    /// Those of a trace whose addresses a drive takes as they are.
    devices: Option<Devices>,
    /// Whether the layout `compact` is a choice that was not made.
    may_be_compact: bool,
    folded: u64,
    rejected: u64,
    ended: bool,
}

impl<S: RequestSource> Transformed<S> {
    /// `seed`: the run's, unless the spec has its own.
    pub(crate) fn new(inner: S, spec: &WorkloadSpec, seed: u64, capacity_bytes: u64) -> Self {
        Self {
            inner,
            device: Chosen::new(spec.device.clone()),
            window_ns: spec.window.map(|[start, end]| [start.0, end.0]),
            first: spec.first.unwrap_or(u64::MAX),
            time_scale: spec.time_scale.unwrap_or(1.0),
            align_bytes: spec.align.map_or(1, |align| align.0),
            beyond: spec.beyond_capacity.unwrap_or(BeyondCapacity::Error),
            capacity_bytes,
            high_priority_share: spec.high_priority_share,
            priorities: rng::stream(spec.seed.unwrap_or(seed), "workload.priority"),
            started_ns: None,
            passed: 0,
            other_devices: 0,
            devices: None,
            may_be_compact: false,
            folded: 0,
            rejected: 0,
            ended: false,
        }
    }

    /// The same, watching whether several devices share a drive's addresses. Without a drive there are none to share.
    pub(crate) fn sharing_addresses(self) -> Self {
        let devices = (self.capacity_bytes != u64::MAX).then(Devices::default);
        Self { devices, ..self }
    }

    /// The same, of a trace whose addresses could lie closer together.
    pub(crate) fn may_be_compact(self) -> Self {
        Self { may_be_compact: true, ..self }
    }

    /// Picks and moves in time; `None` for a request that is left out.
    fn select(&mut self, mut request: Request) -> Option<Request> {
        if !self.device.keeps(request.device, &self.inner) {
            self.other_devices += 1;
            return None;
        }
        if let Some([start_ns, end_ns]) = self.window_ns {
            let since_ns = request.arrival_ns - *self.started_ns.get_or_insert(request.arrival_ns);
            // Arrivals are sorted: nothing after the window's end can be in it.
            self.ended |= since_ns >= end_ns;
            if self.ended || since_ns < start_ns {
                return None;
            }
            request.arrival_ns = since_ns - start_ns;
        }
        Some(request)
    }

    fn scale(&self, request: &mut Request) -> Result<(), Error> {
        #[allow(clippy::float_cmp, reason = "exactly one means that nothing is asked for")]
        if self.time_scale == 1.0 {
            return Ok(());
        }
        let scaled_ns = (request.arrival_ns as f64 * self.time_scale).round();
        if scaled_ns >= u64::MAX as f64 {
            let arrival = format_duration_ns(request.arrival_ns);
            let message = format!("time_scale {} moves an arrival at {arrival} beyond 2^64 ns", self.time_scale);
            return Err(Error::new(message).with_help("lower `time_scale`"));
        }
        request.arrival_ns = scaled_ns as u64;
        Ok(())
    }

    fn align(&self, request: &mut Request) -> Result<(), Error> {
        let align = self.align_bytes;
        if align == 1 {
            return Ok(());
        }
        let end = request.offset_bytes + request.len_bytes;
        let end = end.checked_next_multiple_of(align).ok_or_else(|| {
            let (index, align) = (self.passed + self.rejected + 1, format_bytes(align));
            let message =
                format!("request {index} ends at byte {end}: widened to {align} (`align`), it would end beyond 2^64");
            Error::new(message)
                .with_help("leave `align` out, or let addresses lie side by side: `layout = \"compact\"`")
        })?;
        request.offset_bytes -= request.offset_bytes % align;
        request.len_bytes = end - request.offset_bytes;
        Ok(())
    }

    /// Brings a request within the capacity; `None` for one that is left out.
    fn fit(&mut self, mut request: Request) -> Result<Option<Request>, Error> {
        if request.offset_bytes + request.len_bytes <= self.capacity_bytes {
            return Ok(Some(request));
        }
        match self.beyond {
            BeyondCapacity::Error => Err(self.beyond_capacity(request)),
            BeyondCapacity::Reject => {
                self.rejected += 1;
                Ok(None)
            }
            BeyondCapacity::Fold => {
                let unit = self.align_bytes;
                let usable_bytes = self.capacity_bytes - self.capacity_bytes % unit;
                if request.len_bytes > usable_bytes {
                    return Err(self.beyond_capacity(request));
                }
                self.folded += 1;
                let folded = request.offset_bytes % usable_bytes.max(1);
                request.offset_bytes = folded.min(usable_bytes - request.len_bytes);
                Ok(Some(request))
            }
        }
    }

    /// Draws whether a request that is handed out is urgent; without a share it stays what its source says.
    fn mark(&mut self, request: &mut Request) {
        let Some(share) = self.high_priority_share else { return };
        let urgent = rng::unit_f64(&mut self.priorities) < share;
        request.priority = if urgent { Priority::High } else { Priority::Normal };
    }

    /// How a trace or a drive is made to fit.
    fn room(&self) -> &'static str {
        match self.may_be_compact {
            true => {
                "let the addresses that are used lie side by side (--set workload.layout=compact; `copyback trace \
                 info` says how much they are: its footprint), take a larger device (--fit 0.9 sizes it for the \
                 trace), or "
            }
            false => {
                "take a larger device (--fit 0.9 sizes it for a trace) or a smaller workload (`copyback trace info` \
                 says what drive it needs), or "
            }
        }
    }

    #[cold]
    fn beyond_capacity(&self, request: Request) -> Error {
        let end = request.offset_bytes + request.len_bytes;
        let capacity = format_bytes(self.capacity_bytes);
        let (index, len) = (self.passed + self.rejected + 1, format_bytes(request.len_bytes));
        Error::new(format!(
            "request {index} ({len} at byte {}) ends at {end}, beyond the capacity of {capacity}",
            request.offset_bytes
        ))
        .with_help(format!("{}set `workload.beyond_capacity` to `fold` or `reject`", self.room()))
    }
}

impl<S: RequestSource> RequestSource for Transformed<S> {
    fn next_request(&mut self) -> Result<Option<Request>, Error> {
        while !self.ended && self.passed < self.first {
            let Some(request) = self.inner.next_request()? else { break };
            let Some(mut request) = self.select(request) else { continue };
            self.scale(&mut request)?;
            self.align(&mut request)?;
            if let Some(mut request) = self.fit(request)? {
                self.passed += 1;
                if let Some(devices) = &mut self.devices {
                    devices.see(request.device);
                }
                self.mark(&mut request);
                return Ok(Some(request));
            }
        }
        self.ended = true;
        if self.passed == 0 {
            return Err(self.nothing_left());
        }
        Ok(None)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.inner.notes();
        let capacity = format_bytes(self.capacity_bytes);
        for (count, what) in [
            (self.other_devices, "of other devices left out".to_owned()),
            (self.folded, format!("beyond the capacity of {capacity} folded into it")),
            (self.rejected, format!("beyond the capacity of {capacity} rejected")),
        ] {
            if count > 0 {
                notes.push(format!("{} requests {what}", format_count(count)));
            }
        }
        notes.extend(self.devices.as_ref().and_then(|devices| devices.note(&self.inner)));
        notes
    }

    fn device_name(&self, device: u32) -> Option<String> {
        self.inner.device_name(device)
    }
}

impl<S: RequestSource> Transformed<S> {
    #[cold]
    fn nothing_left(&self) -> Error {
        if let Some(device) = self.device.asked().filter(|_| self.other_devices > 0) {
            return Error::new(format!("no request is left: none of the workload's is for device {device}"))
                .with_help("`copyback trace info` lists the devices of a trace");
        }
        if self.rejected > 0 {
            let capacity = format_bytes(self.capacity_bytes);
            return Error::new(format!(
                "no request is left: all {} lie beyond the capacity of {capacity}",
                self.rejected
            ))
            .with_help("set `beyond_capacity = \"fold\"`, or take a larger device");
        }
        Error::new("no request is left: none lies in the time window").with_help("change or remove `window`")
    }
}

/// Plays a source several times over, each pass after the last one.
pub(crate) struct Looped {
    source: Box<dyn RequestSource + Send>,
    reopen: Box<dyn FnMut() -> Result<Box<dyn RequestSource + Send>, Error> + Send>,
    passes_left: u32,
    passes: u32,
    base_ns: u64,
    first_ns: u64,
    last_ns: u64,
    pass_count: u64,
}

impl Looped {
    pub(crate) fn new(
        mut reopen: Box<dyn FnMut() -> Result<Box<dyn RequestSource + Send>, Error> + Send>,
        passes: u32,
    ) -> Result<Self, Error> {
        let source = reopen()?;
        Ok(Self { source, reopen, passes_left: passes - 1, passes, base_ns: 0, first_ns: 0, last_ns: 0, pass_count: 0 })
    }

    /// When the next pass begins: one mean gap after the last request of this one.
    fn next_base_ns(&self) -> Option<u64> {
        let span_ns = self.last_ns - self.first_ns;
        let gap_ns = span_ns.checked_div(self.pass_count.saturating_sub(1)).unwrap_or(0);
        // The next pass's first request arrives as long after its base as this pass's did after its own.
        self.base_ns.checked_add(span_ns)?.checked_add(gap_ns)
    }
}

impl RequestSource for Looped {
    fn next_request(&mut self) -> Result<Option<Request>, Error> {
        loop {
            if let Some(mut request) = self.source.next_request()? {
                self.first_ns = if self.pass_count == 0 { request.arrival_ns } else { self.first_ns };
                self.last_ns = request.arrival_ns;
                self.pass_count += 1;
                let arrival_ns = request.arrival_ns.checked_add(self.base_ns);
                request.arrival_ns = arrival_ns.ok_or_else(too_long)?;
                return Ok(Some(request));
            }
            if self.passes_left == 0 {
                return Ok(None);
            }
            self.passes_left -= 1;
            self.base_ns = self.next_base_ns().ok_or_else(too_long)?;
            self.pass_count = 0;
            // What the last pass remembers is given back before the next one remembers as much.
            self.source = Box::new(Vec::new().into_iter());
            self.source = (self.reopen)()?;
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.source.notes();
        let begun = self.passes - self.passes_left;
        if begun > 1 {
            // The format is the same of each pass.
            let counts = notes.iter().any(|note| !note.starts_with("format `"));
            let of_one = if counts { "; the notes before this one are of the last pass alone" } else { "" };
            let of_all = if self.passes_left > 0 { format!(" of {}", self.passes) } else { String::new() };
            notes.push(format!("played {begun}{of_all} times over{of_one}"));
        }
        notes
    }

    fn device_name(&self, device: u32) -> Option<String> {
        self.source.device_name(device)
    }
}

fn too_long() -> Error {
    Error::new("the passes together last longer than 2^64 ns").with_help("lower `loop`")
}
