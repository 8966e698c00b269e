//! Transformations of a source, in this order: layout, device, time window, time scale, align, capacity, first N,
//! priority. The layout `compact` follows device and window.

use crate::devices::{Devices, SelectedDevice};
use crate::rng::{self, Xoshiro256PlusPlus};
use crate::spec::{BeyondCapacity, Footprint, WorkloadSpec};
use crate::units::{counted, format_bytes, format_duration_ns};
use crate::{Error, Priority, Request, RequestSource};

/// The transformations that keep or change one request at a time.
pub(crate) struct Transformed<S> {
    inner: S,
    device: SelectedDevice,
    window_ns: Option<[u64; 2]>,
    first: Option<u64>,
    time_scale: f64,
    align_bytes: u64,
    beyond: BeyondCapacity,
    /// Whether the footprint exceeds the capacity, so that `beyond` has an effect even if no request does.
    exceeds_by_footprint: bool,
    capacity_bytes: u64,
    high_priority_share: Option<f64>,
    priorities: Xoshiro256PlusPlus,
    started_ns: Option<u64>,
    passed: u64,
    other_devices: u64,
    /// Requests outside the time window.
    outside: u64,
    /// Whether the time scale changed an arrival, and the alignment a request.
    has_scaled: bool,
    has_widened: bool,
    /// Whether `align` only widens requests.
    align_only_widens: bool,
    /// The trace's devices, if the drive uses its addresses unchanged.
    devices: Option<Devices>,
    /// Whether the layout `compact` is possible, but not set.
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
            device: SelectedDevice::new(spec.device.clone()),
            window_ns: spec.window.map(|[start, end]| [start.0, end.0]),
            first: spec.first,
            time_scale: spec.time_scale.unwrap_or(1.0),
            align_bytes: spec.align.map_or(1, |align| align.0),
            beyond: spec.beyond_capacity.unwrap_or(BeyondCapacity::Error),
            exceeds_by_footprint: spec
                .footprint
                .is_some_and(|part| matches!(part, Footprint::Size(size) if size.0 > capacity_bytes)),
            capacity_bytes,
            high_priority_share: spec.high_priority_share,
            priorities: rng::stream(spec.seed.unwrap_or(seed), "workload.priority"),
            started_ns: None,
            passed: 0,
            other_devices: 0,
            outside: 0,
            has_scaled: false,
            has_widened: false,
            align_only_widens: false,
            devices: None,
            may_be_compact: false,
            folded: 0,
            rejected: 0,
            ended: false,
        }
    }

    /// Also checks whether several devices share a drive's addresses. Without a drive, there are no addresses to share.
    pub(crate) fn sharing_addresses(self) -> Self {
        let devices = (self.capacity_bytes != u64::MAX).then(Devices::default);
        Self { devices, ..self }
    }

    /// Also suggests the layout `compact` in the error of a request beyond the capacity.
    pub(crate) fn may_be_compact(self) -> Self {
        Self { may_be_compact: true, ..self }
    }

    /// Also adds a note if `align` widens no request: it then has no effect, because requests are not drawn in its
    /// units, and it does not set the layout's unit.
    pub(crate) fn only_widening(self) -> Self {
        Self { align_only_widens: self.align_bytes > 1, ..self }
    }

    /// Selects a request by device and time window, and counts its arrival from the window's start; returns false if
    /// the request is omitted.
    #[inline(always)]
    fn select(&mut self, request: &mut Request) -> bool {
        if !self.device.keeps(request.device, &self.inner) {
            self.other_devices += 1;
            return false;
        }
        if let Some([start_ns, end_ns]) = self.window_ns {
            let since_ns = request.arrival_ns - *self.started_ns.get_or_insert(request.arrival_ns);
            // Arrivals are sorted: nothing after the window's end can be in it.
            self.ended |= since_ns >= end_ns;
            if self.ended || since_ns < start_ns {
                self.outside += 1;
                return false;
            }
            request.arrival_ns = since_ns - start_ns;
        }
        true
    }

    fn scale(&mut self, request: &mut Request) -> Result<(), Error> {
        #[allow(clippy::float_cmp, reason = "with exactly one, the setting has no effect")]
        if self.time_scale == 1.0 {
            return Ok(());
        }
        let scaled_ns = (request.arrival_ns as f64 * self.time_scale).round();
        if scaled_ns >= u64::MAX as f64 {
            let arrival = format_duration_ns(request.arrival_ns);
            // Plain notation of a large number has hundreds of digits.
            let scale = match self.time_scale {
                large if large >= 1e15 => format!("{large:e}"),
                scale => scale.to_string(),
            };
            let message = format!("time_scale {scale} moves an arrival at {arrival} beyond 2^64 ns");
            return Err(Error::new(message).with_help("lower `time_scale`"));
        }
        self.has_scaled |= request.arrival_ns != scaled_ns as u64;
        request.arrival_ns = scaled_ns as u64;
        Ok(())
    }

    fn align(&mut self, request: &mut Request) -> Result<(), Error> {
        let align = self.align_bytes;
        if align == 1 {
            return Ok(());
        }
        let end = request.offset_bytes + request.len_bytes;
        let end = end.checked_next_multiple_of(align).ok_or_else(|| {
            let (index, align) = (self.passed + self.rejected + 1, format_bytes(align));
            let message =
                format!("request {index} ends at byte {end}: widened to {align} (`align`), it would end beyond 2^64");
            Error::new(message).with_help("leave `align` out, or pack the used addresses: `layout = \"compact\"`")
        })?;
        let offset_bytes = request.offset_bytes - request.offset_bytes % align;
        let len_bytes = end - offset_bytes;
        self.has_widened |= len_bytes != request.len_bytes;
        (request.offset_bytes, request.len_bytes) = (offset_bytes, len_bytes);
        Ok(())
    }

    /// Brings a request within the capacity; returns false if the request is omitted.
    #[inline(always)]
    fn fit(&mut self, request: &mut Request) -> Result<bool, Error> {
        if request.offset_bytes + request.len_bytes <= self.capacity_bytes {
            return Ok(true);
        }
        match self.beyond {
            BeyondCapacity::Error => Err(self.beyond_capacity(*request)),
            BeyondCapacity::Reject => {
                self.rejected += 1;
                Ok(false)
            }
            BeyondCapacity::Fold => {
                let unit = self.align_bytes;
                let usable_bytes = self.capacity_bytes - self.capacity_bytes % unit;
                if request.len_bytes > usable_bytes {
                    return Err(self.larger_than_drive(*request, usable_bytes));
                }
                self.folded += 1;
                let folded = request.offset_bytes % usable_bytes.max(1);
                request.offset_bytes = folded.min(usable_bytes - request.len_bytes);
                Ok(true)
            }
        }
    }

    /// Draws whether a returned request is urgent; without a share, the source decides.
    fn mark(&mut self, request: &mut Request) {
        let Some(share) = self.high_priority_share else { return };
        let urgent = rng::unit_f64(&mut self.priorities) < share;
        request.priority = if urgent { Priority::High } else { Priority::Normal };
    }

    /// The remedy if a trace exceeds the drive.
    fn ways_to_make_room(&self) -> &'static str {
        match self.may_be_compact {
            true => {
                "pack the used addresses (--set workload.layout=compact; `copyback trace info` prints their size, the footprint), take a larger device (--fit 0.9 sizes it for the \
                 trace), or "
            }
            false => {
                "take a larger device (--fit 0.9 sizes it for a trace) or a smaller workload (`copyback trace info` \
                 says what drive it needs), or "
            }
        }
    }

    /// A request that no folding brings within the capacity.
    #[cold]
    fn larger_than_drive(&self, request: Request, usable_bytes: u64) -> Error {
        let (index, len) = (self.passed + self.rejected + 1, format_bytes(request.len_bytes));
        let usable = format_bytes(usable_bytes);
        Error::new(format!(
            "request {index} ({len}) is larger than the drive, which has {usable} to fold addresses into"
        ))
        .with_help(
            "take a larger device (--fit 0.9 sizes it for a trace), or leave such requests out: set \
                 `workload.beyond_capacity` to `reject`",
        )
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
        .with_help(format!("{}set `workload.beyond_capacity` to `fold` or `reject`", self.ways_to_make_room()))
    }
}

impl<S: RequestSource> RequestSource for Transformed<S> {
    fn next_request(&mut self) -> Result<Option<Request>, Error> {
        let first = self.first.unwrap_or(u64::MAX);
        while !self.ended && self.passed < first {
            let Some(mut request) = self.inner.next_request()? else { break };
            if !self.select(&mut request) {
                continue;
            }
            self.scale(&mut request)?;
            self.align(&mut request)?;
            if self.fit(&mut request)? {
                self.passed += 1;
                if let Some(devices) = &mut self.devices {
                    devices.see(request.device);
                }
                self.mark(&mut request);
                return Ok(Some(request));
            }
        }
        self.ended = true;
        // A generator may have no request at all.
        let is_left_out = self.other_devices > 0 || self.rejected > 0 || self.outside > 0;
        if self.passed == 0 && is_left_out {
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
                notes.push(format!("{} {what}", counted(count, "request")));
            }
        }
        notes.extend(self.devices.as_ref().and_then(|devices| devices.note(&self.inner)));
        notes.extend(self.without_effect());
        notes
    }

    fn device_name(&self, device: u32) -> Option<String> {
        self.inner.device_name(device)
    }
}

impl<S: RequestSource> Transformed<S> {
    /// Notes on settings that left every request as it was.
    fn without_effect(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut note = |is_idle: bool, key: &str, why: String| {
            if is_idle && self.passed > 0 {
                notes.push(format!("`workload.{key}` has no effect: {why}"));
            }
        };
        let (has_drive, keeps_all) = (self.capacity_bytes != u64::MAX, self.folded + self.rejected == 0);
        let capacity = format_bytes(self.capacity_bytes);
        let is_beyond_set = self.beyond != BeyondCapacity::Error && has_drive && !self.exceeds_by_footprint;
        let why = format!("no request ends beyond the capacity of {capacity}");
        note(is_beyond_set && keeps_all, "beyond_capacity", why);
        let is_device_requested = self.device.requested().is_some();
        note(is_device_requested && self.other_devices == 0, "device", "every request is of this device".to_owned());
        let has_moved = self.started_ns != Some(0) || self.window_ns.is_some_and(|[start_ns, _]| start_ns > 0);
        let is_window_idle = self.window_ns.is_some() && self.outside == 0 && !has_moved;
        note(is_window_idle, "window", "every request arrives within it".to_owned());
        // The caller may have stopped before the end.
        let is_first_idle = self.first.is_some_and(|first| self.passed < first || !self.ended);
        let ends = if self.ended { "the workload has" } else { "the run ended after" };
        note(is_first_idle, "first", format!("{ends} {}", counted(self.passed, "request")));
        #[allow(clippy::float_cmp, reason = "with exactly one, the setting has no effect")]
        let is_scale_set = self.time_scale != 1.0;
        note(is_scale_set && !self.has_scaled, "time_scale", "every request arrives at 0".to_owned());
        let align = format_bytes(self.align_bytes);
        let why = format!("every request begins and ends at a multiple of {align}");
        note(self.align_only_widens && !self.has_widened && keeps_all, "align", why);
        notes
    }

    #[cold]
    fn nothing_left(&self) -> Error {
        let is_missing = self.other_devices > 0 && self.outside + self.rejected == 0;
        if let Some(device) = self.device.requested().filter(|_| is_missing) {
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

/// Plays a source several times, one pass after another.
pub(crate) struct Looped {
    source: Box<dyn RequestSource + Send>,
    reopen: Box<dyn FnMut() -> Result<Box<dyn RequestSource + Send>, Error> + Send>,
    passes_left: u32,
    passes: u32,
    base_ns: u64,
    first_ns: u64,
    last_ns: u64,
    pass_count: u64,
    /// Notes of all complete passes on settings without effect; none before the first is complete.
    without_effect: Option<Vec<String>>,
}

impl Looped {
    pub(crate) fn new(
        mut reopen: Box<dyn FnMut() -> Result<Box<dyn RequestSource + Send>, Error> + Send>,
        passes: u32,
    ) -> Result<Self, Error> {
        let source = reopen()?;
        Ok(Self {
            source,
            reopen,
            passes_left: passes - 1,
            passes,
            base_ns: 0,
            first_ns: 0,
            last_ns: 0,
            pass_count: 0,
            without_effect: None,
        })
    }

    /// Called at the end of a pass. A setting has no effect only if it has none in any pass.
    fn keep_notes_without_effect(&mut self) {
        let mut notes = self.source.notes();
        notes.retain(|note| setting_without_effect(note).is_some_and(|key| self.had_no_effect(key)));
        self.without_effect = Some(notes);
    }

    /// Whether a setting had no effect in the complete passes.
    fn had_no_effect(&self, key: &str) -> bool {
        let is_of = |note: &String| setting_without_effect(note) == Some(key);
        self.without_effect.as_ref().is_none_or(|notes| notes.iter().any(is_of))
    }

    /// When the next pass begins: one mean gap after the last request of this one.
    fn next_base_ns(&self) -> Option<u64> {
        let span_ns = self.last_ns - self.first_ns;
        let gap_ns = span_ns.checked_div(self.pass_count.saturating_sub(1)).unwrap_or(0);
        // In each pass, the first request arrives at the same time after the pass's base.
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
            self.keep_notes_without_effect();
            // Frees the memory of the last pass before the next pass allocates as much.
            self.source = Box::new(Vec::new().into_iter());
            self.source = (self.reopen)()?;
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.source.notes();
        notes.retain(|note| setting_without_effect(note).is_none_or(|key| self.had_no_effect(key)));
        let begun = self.passes - self.passes_left;
        if begun == 1 && self.passes > 1 {
            notes.push(format!("`workload.loop` has no effect: the run ended in the first of {} passes", self.passes));
        }
        if begun > 1 {
            // Each pass has the same format.
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

/// The key in a note on a setting without effect.
fn setting_without_effect(note: &str) -> Option<&str> {
    note.split_once(" has no effect").map(|(key, _)| key)
}

fn too_long() -> Error {
    Error::new("the passes together last longer than 2^64 ns").with_help("lower `loop`")
}
