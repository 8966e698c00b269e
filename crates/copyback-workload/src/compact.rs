//! The layout `compact`: removes the addresses that a trace never reads or writes.
//!
//! The trace is read twice. The first pass finds its extents: runs of neighbouring units that are all read or written.
//! The second pass gives each extent the next free address when it is first read or written. A read or a write lies
//! within one extent, so none is split. A trim may be split: addresses without an earlier read or write are left out.

use crate::packed::LAYOUT_WITHOUT_EFFECT;
use crate::units::{counted, format_bytes};
use crate::{Error, Op, Request, RequestSource};
use std::collections::BTreeMap;

/// The default unit of extents: the page of most file systems, and of most drives' maps.
pub(crate) const UNIT_BYTES: u64 = 4096;

/// Largest number of extents, each of some 50 bytes: 800 MB in total. Random requests of 4 KiB without neighbours reach
/// it after 64 GiB; sequential requests never do.
const EXTENTS_MAX: usize = 1 << 24;

/// The position of an extent that was not read or written yet.
const NOWHERE: u64 = u64::MAX;

/// Units that are neighbours in the trace and on the drive.
#[derive(Clone, Copy, Debug)]
struct Extent {
    /// The position of its first unit on the drive, in units.
    place: u64,
    units: u64,
}

/// The extents of all devices, separately for each device.
struct Extents {
    unit_bytes: u64,
    /// By device and first unit; there is a gap between any two extents of a device.
    extents: BTreeMap<(u32, u64), Extent>,
    extents_max: usize,
}

impl Extents {
    /// The first and the last unit that a request touches.
    fn units_of(&self, request: &Request) -> (u64, u64) {
        let last_byte = request.offset_bytes + (request.len_bytes - 1);
        (request.offset_bytes / self.unit_bytes, last_byte / self.unit_bytes)
    }

    /// The extent that holds a unit, and the extent's first unit.
    fn at(&mut self, device: u32, unit: u64) -> Option<(u64, &mut Extent)> {
        let ((of, first), extent) = self.extents.range_mut(..=(device, unit)).next_back()?;
        (*of == device && unit - first < extent.units).then_some((*first, extent))
    }

    /// Adds the range of the trace's `index`-th request, and joins the extents whose gaps it fills.
    fn touch(&mut self, request: &Request, index: u64) -> Result<(), Error> {
        let device = request.device;
        let (mut first, last) = self.units_of(request);
        let mut end = last + 1;
        if let Some(((of, before), extent)) = self.extents.range(..=(device, first)).next_back()
            && *of == device
            && before + extent.units >= first
        {
            if before + extent.units >= end {
                return Ok(());
            }
            first = *before;
        }
        // Of the extents within the range or next to it, only the last can reach beyond its end.
        while let Some((key, extent)) = self.extents.range((device, first)..=(device, end)).next() {
            let key = *key;
            end = end.max(key.1 + extent.units);
            self.extents.remove(&key);
        }
        if self.extents.len() == self.extents_max {
            let what = format!("in more than {} parts that are no neighbours", self.extents_max);
            return Err(too_much(index, &what));
        }
        self.extents.insert((device, first), Extent { place: NOWHERE, units: end - first });
        Ok(())
    }

    /// The first part of a trim that lies in one placed extent: its address in bytes, and its start and end in the
    /// trace.
    fn first_placed(&self, trim: &Request) -> Option<(u64, u64, u64)> {
        let (unit, last) = self.units_of(trim);
        let before = self.extents.range(..(trim.device, unit)).next_back().filter(|((of, _), _)| *of == trim.device);
        let behind = self.extents.range((trim.device, unit)..=(trim.device, last));
        let mut placed = before.into_iter().chain(behind).filter(|(_, extent)| extent.place != NOWHERE);
        let ((_, first), extent) = placed.find(|((_, first), extent)| first + extent.units > unit)?;
        let end_bytes = trim.offset_bytes + trim.len_bytes;
        let from = trim.offset_bytes.max(first * self.unit_bytes);
        let to = end_bytes.min((first + extent.units).saturating_mul(self.unit_bytes));
        Some((extent.place * self.unit_bytes + (from - first * self.unit_bytes), from, to))
    }
}

/// Packs a trace's addresses: places the extents of all devices in the order of their first use.
pub(crate) struct Compact<S> {
    inner: S,
    /// The trace for the first pass, and the number of its reads and writes that count; `None` after the pass.
    survey: Option<(S, u64)>,
    extents: Extents,
    placed_units: u64,
    placed_extents: u64,
    laid_out: u64,
    /// The rest of a trim, and how many parts of the trim were returned.
    trim: Option<Request>,
    trim_parts: u64,
    split_trims: u64,
    untouched_trims: u64,
    /// Whether an address on the drive differs from the trace's.
    has_moved: bool,
}

impl<S: RequestSource> Compact<S> {
    /// `survey` is the same trace as `inner`, opened once more; at most `first` of its reads and writes count.
    pub(crate) fn new(inner: S, survey: S, first: u64, unit_bytes: u64) -> Self {
        Self {
            inner,
            survey: Some((survey, first)),
            extents: Extents { unit_bytes, extents: BTreeMap::new(), extents_max: EXTENTS_MAX },
            placed_units: 0,
            placed_extents: 0,
            laid_out: 0,
            trim: None,
            trim_parts: 0,
            split_trims: 0,
            untouched_trims: 0,
            has_moved: false,
        }
    }

    /// The first pass.
    fn find_extents(&mut self) -> Result<(), Error> {
        let Some((mut survey, mut left)) = self.survey.take() else { return Ok(()) };
        let mut index = 0;
        while left > 0 {
            let Some(request) = survey.next_request()? else { break };
            index += 1;
            // Addresses that are only trimmed hold no data, and a trim of a whole device does not use them.
            if request.op != Op::Trim {
                left -= 1;
                self.extents.touch(&request, index)?;
            }
        }
        Ok(())
    }

    /// A read or a write at its extent's position, which the extent's first request determines.
    fn lay_out(&mut self, request: Request) -> Result<Request, Error> {
        let (unit, last) = self.extents.units_of(&request);
        let (index, unit_bytes) = (self.laid_out, self.extents.unit_bytes);
        let Some((first, extent)) = self.extents.at(request.device, unit) else { return Err(changed(index)) };
        if last - first >= extent.units {
            return Err(changed(index));
        }
        if extent.place == NOWHERE {
            let placed = self.placed_units.checked_add(extent.units);
            let placed = placed.filter(|placed| placed.checked_mul(unit_bytes).is_some());
            extent.place = self.placed_units;
            self.placed_units = placed.ok_or_else(|| too_much(index, "in more than 2^64 bytes"))?;
            self.placed_extents += 1;
        }
        let offset_bytes = (extent.place + (unit - first)) * unit_bytes + request.offset_bytes % unit_bytes;
        self.has_moved |= offset_bytes != request.offset_bytes;
        Ok(Request { offset_bytes, ..request })
    }

    /// The next part of the current trim: as long as its addresses are contiguous on the drive.
    fn next_trim(&mut self) -> Option<Request> {
        let mut part: Option<Request> = None;
        while let Some(trim) = self.trim {
            let Some((offset_bytes, from, to)) = self.extents.first_placed(&trim) else {
                // The rest of the trim is omitted.
                (self.trim, self.has_moved) = (None, true);
                break;
            };
            self.has_moved |= offset_bytes != trim.offset_bytes;
            match &mut part {
                Some(part) if part.offset_bytes + part.len_bytes == offset_bytes => part.len_bytes += to - from,
                Some(_) => break,
                None => part = Some(Request { offset_bytes, len_bytes: to - from, ..trim }),
            }
            let end = trim.offset_bytes + trim.len_bytes;
            self.trim = (to < end).then_some(Request { offset_bytes: to, len_bytes: end - to, ..trim });
        }
        self.trim_parts += u64::from(part.is_some());
        self.split_trims += u64::from(part.is_some() && self.trim_parts == 2);
        part
    }
}

#[cold]
fn too_much(index: u64, how: &str) -> Error {
    Error::new(format!("request {index}: the trace's addresses lie {how}, too much to pack"))
        .with_help("select a device with `device`, raise `align`, the unit, or set `layout = \"packed\"` or \"as-is\"")
}

#[cold]
fn changed(index: u64) -> Error {
    Error::new(format!(
        "request {index} was missing when the trace was first read to find its extents: the file has changed"
    ))
    .with_help("run again when the trace's file is complete")
}

#[cold]
fn nothing_placed(requests: u64) -> Error {
    Error::new(format!(
        "request 1 and all others ({requests}) are trims of addresses that are never read or written: there is nothing to pack"
    ))
    .with_help("set `layout = \"as-is\"` to keep the trace's addresses")
}

impl<S: RequestSource> RequestSource for Compact<S> {
    fn next_request(&mut self) -> Result<Option<Request>, Error> {
        self.find_extents()?;
        loop {
            if let Some(part) = self.next_trim() {
                return Ok(Some(part));
            }
            let Some(request) = self.inner.next_request()? else { break };
            self.laid_out += 1;
            if request.op != Op::Trim {
                return self.lay_out(request).map(Some);
            }
            self.trim = Some(request);
            self.trim_parts = 0;
            self.untouched_trims += u64::from(self.extents.first_placed(&request).is_none());
        }
        if self.laid_out > 0 && self.laid_out == self.untouched_trims {
            return Err(nothing_placed(self.laid_out));
        }
        Ok(None)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.inner.notes();
        let unit_bytes = self.extents.unit_bytes;
        let (unit, all) = (format_bytes(unit_bytes), format_bytes(self.placed_units * unit_bytes));
        let extents = counted(self.placed_extents, "extent");
        notes.push(format!("addresses packed into {all}: {extents} of {unit} units, by first use"));
        if self.split_trims > 0 {
            let trims = counted(self.split_trims, "trim");
            notes.push(format!("{trims} reduced to addresses that were read or written before; some are split"));
        }
        if self.untouched_trims > 0 {
            let trims = counted(self.untouched_trims, "trim");
            notes.push(format!("{trims} left out: nothing was read or written there before"));
        }
        if self.laid_out > 0 && !self.has_moved {
            notes.push(LAYOUT_WITHOUT_EFFECT.to_owned());
        }
        notes
    }

    fn device_name(&self, device: u32) -> Option<String> {
        self.inner.device_name(device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Priority;
    use proptest::prelude::*;
    use std::collections::{BTreeSet, HashMap};

    fn request(op: Op, device: u32, offset_bytes: u64, len_bytes: u64) -> Request {
        Request { arrival_ns: 0, offset_bytes, len_bytes, device, op, priority: Priority::Normal }
    }

    /// Offset and length of each request.
    type Places = Vec<(u64, u64)>;

    fn laid_out(requests: Vec<Request>, extents_max: usize) -> Result<(Places, Vec<String>), Error> {
        let mut compact = Compact::new(requests.clone().into_iter(), requests.into_iter(), u64::MAX, UNIT_BYTES);
        compact.extents.extents_max = extents_max;
        let mut places = Vec::new();
        while let Some(request) = compact.next_request()? {
            places.push((request.offset_bytes, request.len_bytes));
        }
        Ok((places, compact.notes()))
    }

    #[test]
    fn what_is_joined_later_lies_together_from_the_start() {
        let far = 1 << 40;
        let requests = vec![
            request(Op::Write, 0, far, 8192),
            request(Op::Read, 0, 512, 512),
            request(Op::Write, 0, far + 12_288, 4096),
            // A trim never joins anything.
            request(Op::Trim, 0, 4096, 4096),
            request(Op::Write, 0, far + 8192, 4096),
            request(Op::Read, 0, far + 100, 16_000),
            request(Op::Trim, 0, far + (1 << 30), 1 << 30),
            request(Op::Trim, 0, far + 4096, 1 << 30),
            // On the drive, the page of the first read follows the four pages from `far` on.
            request(Op::Trim, 0, 0, far + 4096),
        ];
        let (places, notes) = laid_out(requests, EXTENTS_MAX).unwrap();
        let expected = [
            (0, 8192),
            (16_384 + 512, 512),
            (12_288, 4096),
            (8192, 4096),
            (100, 16_000),
            (4096, 12_288),
            (16_384, 4096),
            (0, 4096),
        ];
        assert_eq!(places, expected);
        assert_eq!(notes[0], "addresses packed into 20 KiB: 2 extents of 4 KiB units, by first use");
        assert!(notes[1].starts_with("1 trim reduced") && notes[2].starts_with("2 trims left out"), "{notes:?}");
    }

    #[test]
    fn no_read_or_write_is_split_and_no_note_says_so() {
        let at = |page: u64, pages: u64| request(Op::Write, 0, (1 << 30) + page * 4096, pages * 4096);
        // Pages that are first written out of order, and then read together.
        let (places, notes) = laid_out(vec![at(1, 1), at(0, 1), at(2, 1), at(0, 3)], EXTENTS_MAX).unwrap();
        assert_eq!(places, [(4096, 4096), (0, 4096), (8192, 4096), (0, 12_288)]);
        assert_eq!(notes.len(), 1, "{notes:?}");
    }

    #[test]
    fn a_trace_of_trims_alone_is_refused() {
        let trims = (0..3).map(|at| request(Op::Trim, 0, at * 4096, 4096)).collect();
        let error = laid_out(trims, EXTENTS_MAX).unwrap_err();
        assert!(error.message.starts_with("request 1 and all others (3) are trims"), "{error}");
    }

    #[test]
    fn memory_is_bounded_and_sequential_use_takes_one_extent() {
        let sequential = (0..100).map(|at| request(Op::Write, 0, at * 4096, 4096)).collect();
        assert_eq!(laid_out(sequential, 1).unwrap().0.len(), 100);
        let scattered: Vec<Request> = (0..3).map(|at| request(Op::Write, 0, at * 8192, 4096)).collect();
        let error = laid_out(scattered, 2).unwrap_err();
        assert!(error.message.contains("request 3: the trace's addresses lie in more than 2 parts"), "{error}");
        assert!(error.help.unwrap().contains("layout = \"packed\""));
    }

    #[test]
    fn a_trace_that_changes_between_the_passes_is_refused() {
        let [before, after] = [4096, 8192].map(|len| vec![request(Op::Write, 0, 0, len)].into_iter());
        let error = Compact::new(after, before, u64::MAX, UNIT_BYTES).next_request().unwrap_err();
        assert!(error.message.contains("request 1") && error.message.contains("changed"), "{error}");
    }

    /// A slow, obvious packing: a set of single units, and the place of each extent by its first unit.
    fn by_hand(requests: &[Request]) -> Places {
        let is_use = |request: &&Request| request.op != Op::Trim;
        let units = |r: &Request| r.offset_bytes / UNIT_BYTES..=(r.offset_bytes + r.len_bytes - 1) / UNIT_BYTES;
        let used: BTreeSet<(u32, u64)> =
            requests.iter().filter(is_use).flat_map(|r| units(r).map(|unit| (r.device, unit))).collect();
        let first_of = |device: u32, mut unit: u64| {
            while unit > 0 && used.contains(&(device, unit - 1)) {
                unit -= 1;
            }
            (device, unit)
        };
        let (mut places, mut next) = (HashMap::new(), 0);
        let mut expected: Places = Vec::new();
        for request in requests {
            let first = first_of(request.device, request.offset_bytes / UNIT_BYTES);
            if request.op != Op::Trim {
                let place = *places.entry(first).or_insert_with(|| {
                    let len = (first.1..).take_while(|unit| used.contains(&(first.0, *unit))).count() as u64;
                    next += len;
                    next - len
                });
                let offset_bytes = place * UNIT_BYTES + (request.offset_bytes - first.1 * UNIT_BYTES);
                expected.push((offset_bytes, request.len_bytes));
                continue;
            }
            let mut parts: Places = Vec::new();
            for byte in request.offset_bytes..request.offset_bytes + request.len_bytes {
                let key = (request.device, byte / UNIT_BYTES);
                let first = first_of(key.0, key.1);
                let Some(place) = places.get(&first).filter(|_| used.contains(&key)) else { continue };
                let at = place * UNIT_BYTES + (byte - first.1 * UNIT_BYTES);
                match parts.last_mut() {
                    Some((start, len)) if *start + *len == at => *len += 1,
                    _ => parts.push((at, 1)),
                }
            }
            expected.extend(parts);
        }
        expected
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn requests_lie_where_a_packing_by_hand_puts_them(
            touched in prop::collection::vec((0_u32..2, 0_u64..300_000, 1_u64..20_000, 0_u8..3), 1..40),
        ) {
            let ops = [Op::Read, Op::Write, Op::Trim];
            let requests: Vec<Request> =
                touched.iter().map(|(device, at, len, op)| request(ops[usize::from(*op)], *device, *at, *len)).collect();
            let expected = by_hand(&requests);
            // Trims alone are refused, as another test shows.
            prop_assume!(!expected.is_empty());
            let (places, _) = laid_out(requests, EXTENTS_MAX).unwrap();
            prop_assert_eq!(places, expected);
        }
    }
}
