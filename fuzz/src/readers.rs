//! Does a trace reader give requests that are possible, or an error that names a place, whatever the bytes?

use copyback_workload::spec::{BlockAction, Format, Layout, WorkloadSpec, ZeroMeans};
use copyback_workload::{Request, open};
use std::io::Write;
use tempfile::NamedTempFile;

/// So many requests are read of one input. A small Parquet file can hold any number of equal rows.
const REQUESTS_MAX: usize = 1 << 16;

/// What was read: requests and notes, or the error that ended reading.
type Outcome = Result<(Vec<Request>, Vec<String>), String>;

/// Reads the bytes as a trace of this format (`None`: found out from them), with several settings of the options.
pub fn check(format: Option<Format>, bytes: &[u8]) {
    let file = written(bytes);
    let mut spec = WorkloadSpec::of_trace(file.path());
    spec.format = format;
    if format.is_some() {
        // The requests as the reader gives them; how files are laid out on a drive is a matter of the target `open`.
        spec.layout = Some(Layout::AsIs);
    }
    let strict = read(&spec);
    assert_eq!(strict, read(&spec), "the same bytes must give the same");

    spec.skip_bad = Some(u64::MAX);
    // The option has a note if no record is malformed.
    let lenient = read(&spec).map(|(requests, mut notes)| {
        notes.retain(|note| !note.starts_with("`workload.skip_bad` has no effect"));
        (requests, notes)
    });
    if strict.is_ok() {
        assert_eq!(strict, lenient, "where nothing is malformed, leaving out what is changes nothing");
    }

    spec.layout = Some(Layout::Compact);
    spec.zero_means = Some(ZeroMeans::Read);
    spec.event = Some(BlockAction::Queued);
    spec.reorder_window = Some(2);
    let _ = read(&spec);
}

/// Reads all there is, and checks each request and the error.
fn read(spec: &WorkloadSpec) -> Outcome {
    let path = spec.trace.as_deref().expect("every spec here has a trace").display().to_string();
    read_all(spec).inspect_err(|message| {
        let names_a_place = message.starts_with(&path) || message.starts_with("request ");
        assert!(names_a_place, "this error names no place: {message}");
        assert!(message.len() < path.len() + 1000, "this error is too long to be read: {message}");
        assert!(!message.contains(char::is_control), "this error may disturb a terminal: {message:?}");
    })
}

fn read_all(spec: &WorkloadSpec) -> Outcome {
    let mut source = open(spec, 1, u64::MAX).map_err(|error| error.message)?;
    let mut requests: Vec<Request> = Vec::new();
    while let Some(request) = source.next_request().map_err(|error| error.message)? {
        assert!(request.len_bytes > 0, "{request:?} asks for nothing");
        assert!(request.offset_bytes.checked_add(request.len_bytes).is_some(), "{request:?} ends beyond 2^64");
        let last_ns = requests.last().map_or(0, |last| last.arrival_ns);
        assert!(request.arrival_ns >= last_ns, "{request:?} arrives before the request before it");
        requests.push(request);
        if requests.len() == REQUESTS_MAX {
            break;
        }
    }
    assert!(!requests.is_empty(), "a trace without requests is an error");
    let notes = source.notes();
    assert!(notes.len() < 30, "nobody reads {} notes", notes.len());
    for note in &notes {
        assert!(!note.contains(char::is_control), "this note may disturb a terminal: {note:?}");
    }
    Ok((requests, notes))
}

/// The bytes in a file, as readers take files. A new one each time: some file systems write a file that is truncated
/// and written again to the disk at once.
fn written(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a folder for temporary files");
    file.write_all(bytes).expect("room for a small file");
    file
}
