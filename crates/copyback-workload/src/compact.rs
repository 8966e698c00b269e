//! The layout `compact`: every unit of addresses gets the next free place in the order of first use.

use crate::units::format_bytes;
use crate::{Error, Op, Request, RequestSource};
use std::collections::{BTreeMap, VecDeque};

/// The unit where requests are not aligned to another: the page of most file systems, and of most drives' maps.
pub(crate) const UNIT_BYTES: u64 = 4096;

/// How many runs of neighbouring units are remembered, each in 50 bytes or so: 800 MB at the very most. Random requests
/// of 4 KiB reach it after touching 64 GiB; sequential ones never do.
const RUNS_MAX: usize = 1 << 24;

/// Units that are neighbours in the trace and on the drive.
#[derive(Clone, Copy, Debug)]
struct Run {
    place: u64,
    units: u64,
}

/// Packs a trace's addresses, each device's apart. What is first touched together lies together, and a request whose
/// units were first touched at different times is split.
pub(crate) struct Compact<S> {
    inner: S,
    unit_bytes: u64,
    /// Runs by device and first unit; they don't overlap.
    runs: BTreeMap<(u32, u64), Run>,
    runs_max: usize,
    /// The only device that gets places, if one was selected.
    only: Option<u32>,
    placed_units: u64,
    laid_out: u64,
    split_count: u64,
    untouched_trims: u64,
    pending: VecDeque<Request>,
}

impl<S> Compact<S> {
    pub(crate) fn new(inner: S, only: Option<u32>, unit_bytes: u64) -> Self {
        Self {
            inner,
            unit_bytes,
            runs: BTreeMap::new(),
            runs_max: RUNS_MAX,
            only,
            placed_units: 0,
            laid_out: 0,
            split_count: 0,
            untouched_trims: 0,
            pending: VecDeque::new(),
        }
    }

    /// The run that begins at `unit` or before it and holds it, cut to begin there.
    fn run_at(&self, device: u32, unit: u64) -> Option<Run> {
        let ((of, first), run) = self.runs.range(..=(device, unit)).next_back()?;
        let into = (*of == device).then(|| unit - first).filter(|into| *into < run.units)?;
        Some(Run { place: run.place + into, units: run.units - into })
    }

    /// The next unit of a device after this one that has a place.
    fn next_placed(&self, device: u32, unit: u64) -> Option<u64> {
        self.runs.range((device, unit)..=(device, u64::MAX)).next().map(|((_, first), _)| *first)
    }

    /// Gives units that have none the next free places.
    fn place(&mut self, device: u32, unit: u64, units: u64) -> Result<Run, Error> {
        let place = self.placed_units;
        let placed = place.checked_add(units).filter(|placed| placed.checked_mul(self.unit_bytes).is_some());
        self.placed_units = placed.ok_or_else(|| self.too_much("bytes than 2^64"))?;
        if let Some(((of, first), before)) = self.runs.range_mut(..(device, unit)).next_back()
            && *of == device
            && first + before.units == unit
            && before.place + before.units == place
        {
            before.units += units;
            return Ok(Run { place, units });
        }
        if self.runs.len() == self.runs_max {
            return Err(self.too_much(&format!("than {} runs of neighbouring units", self.runs_max)));
        }
        self.runs.insert((device, unit), Run { place, units });
        Ok(Run { place, units })
    }

    #[cold]
    fn too_much(&self, what: &str) -> Error {
        Error::new(format!("request {}: the trace addresses more {what}, too much to pack", self.laid_out)).with_help(
            "select a device with `device`, raise `align`, the unit, or set `layout = \"packed\"` or \"as-is\"",
        )
    }

    /// Cuts a request where its units are no neighbours on the drive.
    fn lay_out(&mut self, request: Request) -> Result<(), Error> {
        let (first, end) = (request.offset_bytes, request.offset_bytes + request.len_bytes);
        let last_unit = (end - 1) / self.unit_bytes;
        let mut unit = first / self.unit_bytes;
        while unit <= last_unit {
            let wanted = last_unit - unit + 1;
            let run = match self.run_at(request.device, unit) {
                Some(run) => Some(run),
                None => {
                    let free = self.next_placed(request.device, unit).map_or(wanted, |next| wanted.min(next - unit));
                    // What was never touched has nothing to forget, and a trim of a whole device is no use of it.
                    match request.op {
                        Op::Trim => {
                            unit += free;
                            None
                        }
                        Op::Read | Op::Write => Some(self.place(request.device, unit, free)?),
                    }
                }
            };
            let Some(run) = run else { continue };
            let units = run.units.min(wanted);
            let from = first.max(unit * self.unit_bytes);
            let to = end.min((unit + units).saturating_mul(self.unit_bytes));
            self.push(request, run.place * self.unit_bytes + from % self.unit_bytes, to - from);
            unit += units;
        }
        self.split_count += u64::from(self.pending.len() > 1);
        self.untouched_trims += u64::from(self.pending.is_empty());
        Ok(())
    }

    /// Hands out a piece of a request, with the one before it where they are neighbours on the drive.
    fn push(&mut self, request: Request, offset_bytes: u64, len_bytes: u64) {
        match self.pending.back_mut() {
            Some(last) if last.offset_bytes + last.len_bytes == offset_bytes => last.len_bytes += len_bytes,
            _ => self.pending.push_back(Request { offset_bytes, len_bytes, ..request }),
        }
    }
}

#[cold]
fn nothing_placed(requests: u64) -> Error {
    Error::new(format!(
        "request 1 and all others ({requests}) are trims of what is never read or written: there is nothing to pack"
    ))
    .with_help("set `layout = \"as-is\"` to keep the trace's addresses")
}

impl<S: RequestSource> RequestSource for Compact<S> {
    fn next_request(&mut self) -> Result<Option<Request>, Error> {
        while self.pending.is_empty() {
            let Some(request) = self.inner.next_request()? else {
                return if self.laid_out > 0 && self.laid_out == self.untouched_trims {
                    Err(nothing_placed(self.laid_out))
                } else {
                    Ok(None)
                };
            };
            if self.only.is_some_and(|only| only != request.device) {
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
        let (unit, all) = (format_bytes(self.unit_bytes), format_bytes(self.placed_units * self.unit_bytes));
        notes.push(format!("addresses packed into {all}, in units of {unit} in order of first use"));
        if self.split_count > 0 {
            notes.push(format!("{} requests split where their units are no neighbours any more", self.split_count));
        }
        if self.untouched_trims > 0 {
            notes.push(format!("{} trims of what was never read or written left out", self.untouched_trims));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Priority;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn request(op: Op, device: u32, offset_bytes: u64, len_bytes: u64) -> Request {
        Request { arrival_ns: 0, offset_bytes, len_bytes, device, op, priority: Priority::Normal }
    }

    /// Offset and length of each piece.
    type Pieces = Vec<(u64, u64)>;

    fn laid_out(requests: Vec<Request>, runs_max: usize) -> Result<(Pieces, Vec<String>), Error> {
        let mut compact = Compact { runs_max, ..Compact::new(requests.into_iter(), None, UNIT_BYTES) };
        let mut pieces = Vec::new();
        while let Some(piece) = compact.next_request()? {
            pieces.push((piece.offset_bytes, piece.len_bytes));
        }
        Ok((pieces, compact.notes()))
    }

    #[test]
    fn what_is_touched_together_lies_together_and_runs_grow() {
        let far = 1 << 40;
        let requests = vec![
            request(Op::Write, 0, far, 8192),
            request(Op::Read, 0, 512, 512),
            request(Op::Write, 0, far + 8192, 4096),
            request(Op::Write, 0, far + 4096, 4096),
            // Its units lie at 4096 and, the third of far, behind the read's.
            request(Op::Read, 0, far + 4096, 8192),
            request(Op::Trim, 0, far + (1 << 30), 1 << 30),
            request(Op::Trim, 0, far + 4096, 1 << 30),
        ];
        let (pieces, notes) = laid_out(requests, RUNS_MAX).unwrap();
        let expected = [
            (0, 8192),
            (8192 + 512, 512),
            (12_288, 4096),
            (4096, 4096),
            (4096, 4096),
            (12_288, 4096),
            (4096, 4096),
            (12_288, 4096),
        ];
        assert_eq!(pieces, expected);
        assert_eq!(notes[0], "addresses packed into 16 KiB, in units of 4 KiB in order of first use");
        assert!(notes[1].starts_with("2 requests split") && notes[2].starts_with("1 trims of"), "{notes:?}");
    }

    #[test]
    fn nothing_but_trims_is_said_to_be_so() {
        let trims = (0..3).map(|at| request(Op::Trim, 0, at * 4096, 4096)).collect();
        let error = laid_out(trims, RUNS_MAX).unwrap_err();
        assert!(error.message.starts_with("request 1 and all others (3) are trims"), "{error}");
    }

    #[test]
    fn memory_is_bounded_and_sequential_use_takes_one_run() {
        let sequential = (0..100).map(|at| request(Op::Write, 0, at * 4096, 4096)).collect();
        assert_eq!(laid_out(sequential, 1).unwrap().0.len(), 100);
        let scattered: Vec<Request> = (0..3).map(|at| request(Op::Write, 0, at * 8192, 4096)).collect();
        let error = laid_out(scattered, 2).unwrap_err();
        assert!(error.message.contains("request 3: the trace addresses more than 2 runs"), "{error}");
        assert!(error.help.unwrap().contains("layout = \"packed\""));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// A slow, obvious packing: a map of single units.
        #[test]
        fn units_are_placed_like_a_map_of_units(
            touched in prop::collection::vec((0_u32..2, 0_u64..200_000, 1_u64..60_000, 0_u8..3), 1..60),
        ) {
            let ops = [Op::Read, Op::Write, Op::Trim];
            let mut places: HashMap<(u32, u64), u64> = HashMap::new();
            let mut expected = Vec::new();
            for (device, offset_bytes, len_bytes, op) in &touched {
                for byte in *offset_bytes..offset_bytes + len_bytes {
                    let key = (*device, byte / UNIT_BYTES);
                    let next = places.len() as u64;
                    let is_trim = ops[usize::from(*op)] == Op::Trim;
                    let place = if is_trim { places.get(&key).copied() } else { Some(*places.entry(key).or_insert(next)) };
                    expected.extend(place.map(|place| place * UNIT_BYTES + byte % UNIT_BYTES));
                }
            }
            let requests = touched.iter().map(|(device, at, len, op)| request(ops[usize::from(*op)], *device, *at, *len));
            let done = laid_out(requests.collect(), RUNS_MAX);
            // Trims alone are refused, as another test shows.
            prop_assume!(!expected.is_empty());
            let (pieces, _) = done.unwrap();
            let bytes: Vec<u64> = pieces.iter().flat_map(|(at, len)| *at..at + len).collect();
            prop_assert_eq!(bytes, expected);
        }
    }
}
