//! A truncated or damaged trace ends in an error that says so, or in a valid run.
//!
//! Requests are written in each writable format, damaged, and run like a user's file. Whatever the content, the program
//! must not panic, break an invariant or run without end. An undamaged file gives the results of its requests.

use crate::draws::Demands;
use crate::knobs::Mark;
use crate::runs;
use crate::tally::Verdict;
use copyback::run::{Options, RunError, precondition, simulate};
use copyback::workload::spec::WorkloadSpec;
use copyback::workload::write::{WriteFormat, write_to};
use copyback::workload::{Op, Request, open};
use proptest::prelude::*;
use proptest::sample::select;

const FORMATS: &[(&str, WriteFormat)] = &[
    ("parquet", WriteFormat::Parquet),
    ("fio-v3", WriteFormat::Fio3),
    ("fio-v2", WriteFormat::Fio2),
    ("msr", WriteFormat::Msr),
    ("disksim", WriteFormat::Disksim),
    ("spc", WriteFormat::Spc),
];
/// What is done to traces, for the count.
pub const KNOBS: &[(&str, &[&str])] = &[
    ("trace", &["parquet", "fio-v3", "fio-v2", "msr", "disksim", "spc"]),
    ("damage", &["none", "cut", "bytes", "removed", "repeated", "digits"]),
];

/// What happened to a file. Places are in 1/65,536 of its length.
#[derive(Clone, Debug)]
enum Damage {
    None,
    /// The file ends at this place.
    Cut(u16),
    /// Bytes at these places are replaced.
    Bytes(Vec<(u16, u8)>),
    /// A part is missing.
    Removed(u16, u8),
    /// A part is there twice.
    Repeated(u16, u8),
    /// Digits are replaced by other digits, so that lines are well formed but numbers are wrong.
    Digits(Vec<(u16, u8)>),
}

fn damage() -> impl Strategy<Value = Damage> {
    let places = || prop::collection::vec((any::<u16>(), any::<u8>()), 1..6);
    prop_oneof![
        1 => Just(Damage::None),
        2 => any::<u16>().prop_map(Damage::Cut),
        2 => places().prop_map(Damage::Bytes),
        1 => (any::<u16>(), any::<u8>()).prop_map(|(at, len)| Damage::Removed(at, len)),
        1 => (any::<u16>(), any::<u8>()).prop_map(|(at, len)| Damage::Repeated(at, len)),
        2 => places().prop_map(Damage::Digits),
    ]
}

impl Damage {
    fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Cut(_) => "cut",
            Self::Bytes(_) => "bytes",
            Self::Removed(..) => "removed",
            Self::Repeated(..) => "repeated",
            Self::Digits(_) => "digits",
        }
    }

    fn apply(&self, file: &mut Vec<u8>) {
        let len = file.len();
        let place = |share: u16| usize::from(share) * len / (1 << 16);
        let part = |at: u16, part_len: u8| place(at)..(place(at) + usize::from(part_len)).min(len);
        match self {
            Self::None => {}
            Self::Cut(at) => file.truncate(place(*at)),
            Self::Bytes(bytes) => bytes.iter().for_each(|&(at, byte)| file[place(at)] = byte),
            Self::Removed(at, part_len) => drop(file.drain(part(*at, *part_len))),
            Self::Repeated(at, part_len) => {
                let twice = file[part(*at, *part_len)].to_vec();
                file.splice(place(*at)..place(*at), twice);
            }
            Self::Digits(digits) => {
                for &(at, digit) in digits {
                    let nearest = (place(at)..len).find(|&i| file[i].is_ascii_digit());
                    nearest.into_iter().for_each(|i| file[i] = b'0' + digit % 10);
                }
            }
        }
    }
}

/// A run whose requests are in a damaged file.
#[derive(Clone, Debug)]
pub struct Case {
    pub run: runs::Case,
    format: (&'static str, WriteFormat),
    damage: Damage,
}

impl Case {
    fn marks(&self) -> Vec<Mark> {
        let mut marks = self.run.marks.clone();
        marks.extend([("trace", self.format.0), ("damage", self.damage.name())]);
        marks
    }

    /// Requests as the format can hold them.
    fn requests(&self) -> Vec<Request> {
        let keeps_trims = ["parquet", "fio-v3", "fio-v2"].contains(&self.format.0);
        let keeps_bytes = keeps_trims || self.format.0 == "msr";
        let fitted = |r: &Request| {
            let op = if r.op == Op::Trim && !keeps_trims { Op::Write } else { r.op };
            let whole = |bytes: u64| if keeps_bytes { bytes } else { bytes / 512 * 512 };
            let (offset_bytes, len_bytes) = (whole(r.offset_bytes), whole(r.len_bytes).max(512.min(r.len_bytes)));
            Request { op, offset_bytes, len_bytes: if keeps_bytes { len_bytes } else { len_bytes.max(512) }, ..*r }
        };
        self.run.requests.iter().map(fitted).collect()
    }
}

pub fn case() -> impl Strategy<Value = Case> {
    (runs::plain_case(Demands::NONE), select(FORMATS), damage()).prop_map(|(run, format, damage)| Case {
        run,
        format,
        damage,
    })
}

/// Runs the case. The verdict says whether the drive could be run.
pub fn holds(case: &Case, path: &std::path::Path) -> Result<Verdict, TestCaseError> {
    let config = &case.run.config;
    if config.check().is_err() {
        return Ok(Verdict::default());
    }
    let Ok(image) = precondition(config, case.run.seed) else { return Ok(Verdict::default()) };
    let requests = case.requests();
    let failed = |e: &dyn std::fmt::Display| TestCaseError::fail(e.to_string());
    let mut file = Vec::new();
    write_to(&mut requests.clone().into_iter(), &mut file, case.format.1).map_err(|e| failed(&e))?;
    case.damage.apply(&mut file);
    std::fs::write(path, &file).map_err(|e| failed(&e))?;

    let spec = WorkloadSpec { trace: Some(path.to_owned()), ..WorkloadSpec::default() };
    let capacity_bytes = copyback::flash::geometry::Geometry::new(&config.device()).logical_bytes();
    let options = Options { seed: case.run.seed, check: true, keep_requests: true, ..Options::default() };
    let source = open(&spec, case.run.seed, capacity_bytes).map_err(RunError::Workload);
    let result =
        source.and_then(|source| simulate(config, image.clone(), source, &options, &mut runs::comes_to_an_end()));
    match (result, &case.damage) {
        (Err(e @ RunError::Invariant { .. }), _) => return Err(failed(&e)),
        (Ok(outcome), Damage::None) if case.format.0 == "parquet" => {
            let source = Box::new(requests.into_iter());
            let expected = simulate(config, image, source, &options, &mut |_| {}).map_err(|e| failed(&e))?;
            prop_assert_eq!(outcome.requests, expected.requests, "the file holds other requests");
        }
        (Err(e), Damage::None) if case.format.0 == "parquet" => return Err(failed(&e)),
        _ => {}
    }
    Ok(Verdict::of(true, &case.marks()))
}
