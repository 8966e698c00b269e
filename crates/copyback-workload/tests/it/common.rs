//! What tests of readers share: a trace in a file, and what is read of it.

use copyback_workload::spec::WorkloadSpec;
use copyback_workload::{Error, Op, Request, RequestSource, open};
use std::io::Write;
use std::path::Path;
use tempfile::NamedTempFile;

const CAPACITY_BYTES: u64 = u64::MAX;

/// A file with this content.
pub fn file(content: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    file
}

/// All requests and notes of a workload.
pub fn read_spec(spec: &WorkloadSpec) -> Result<(Vec<Request>, Vec<String>), Error> {
    let mut source = open(spec, 1, CAPACITY_BYTES)?;
    let mut requests = Vec::new();
    while let Some(request) = source.next_request()? {
        requests.push(request);
    }
    Ok((requests, source.notes()))
}

/// All requests and notes of a trace with this content, after a change of its settings.
pub fn read_with(content: &[u8], change: impl FnOnce(&mut WorkloadSpec)) -> Result<(Vec<Request>, Vec<String>), Error> {
    let file = file(content);
    let mut spec = WorkloadSpec::of_trace(file.path());
    change(&mut spec);
    read_spec(&spec)
}

/// Arrival, operation, offset, length, device.
pub type Row = (u64, Op, u64, u64, u32);

/// The rows and notes of a trace that is right.
pub fn rows(content: &[u8]) -> (Vec<Row>, Vec<String>) {
    let (requests, notes) = read_with(content, |_| ()).unwrap_or_else(|error| panic!("{error}"));
    let row = |r: &Request| (r.arrival_ns, r.op, r.offset_bytes, r.len_bytes, r.device);
    (requests.iter().map(row).collect(), notes)
}

/// The error of a trace that is refused.
pub fn error(content: &[u8]) -> Error {
    read_with(content, |_| ()).expect_err("this must be refused")
}

/// An input of the fuzzers, which tests read, too.
pub fn corpus(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
