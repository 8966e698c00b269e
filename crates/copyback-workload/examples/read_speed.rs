//! Reads a trace to its end and prints how many records a second that was: `read_speed FILE [OUTPUT.parquet]`.

use copyback_workload::spec::WorkloadSpec;
use copyback_workload::write::{WriteFormat, write_trace};
use copyback_workload::{Error, RequestSource, open};
use std::time::Instant;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(path) = arguments.first() else { return Err(Error::new("name a trace")) };
    let spec = WorkloadSpec::of_trace(path);
    let mut source = open(&spec, 1, u64::MAX)?;
    let started = Instant::now();
    let mut count = 0_u64;
    while source.next_request()?.is_some() {
        count += 1;
    }
    println!("{path}: {count} records, {:.2} million a second", count as f64 / started.elapsed().as_secs_f64() / 1e6);
    if let Some(output) = arguments.get(1) {
        write_trace(&mut open(&spec, 1, u64::MAX)?, output.as_ref(), WriteFormat::Parquet)?;
    }
    Ok(())
}
