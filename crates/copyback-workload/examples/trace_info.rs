//! Prints the figures of a trace, or of a preset at a capacity of 64 GiB: `trace_info FILE|PRESET`.

use copyback_workload::spec::WorkloadSpec;
use copyback_workload::stats::TraceStats;
use copyback_workload::{Error, open, presets};

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    for argument in &arguments {
        let (spec, capacity_bytes) = match presets::text(argument) {
            Ok(text) => (presets::parse(text).map_err(Error::new)?, 64 << 30),
            Err(_) => (WorkloadSpec::of_trace(argument), u64::MAX),
        };
        let mut source = open(&spec, 1, capacity_bytes)?;
        let stats = TraceStats::collect(&mut source)?;
        println!("{argument}");
        println!("  requests {}  writes {:.2} %", stats.requests, stats.write_percent);
        let kib = |bytes: f64| bytes / 1024.0;
        println!("  mean read {:.1} KiB, write {:.1} KiB", kib(stats.reads.mean_bytes), kib(stats.writes.mean_bytes));
        println!(
            "  footprint {:.2} MiB, overwrites {:.2}",
            kib(stats.footprint_bytes as f64) / 1024.0,
            stats.overwrite_ratio
        );
        println!(
            "  {:.2} requests/s over {:.1} s, {} devices",
            stats.requests_per_s,
            stats.duration_ns as f64 / 1e9,
            stats.devices.len()
        );
        println!("  sequential {:.3}, gaps {:?}", stats.sequential_share, stats.gaps);
        for note in &stats.notes {
            println!("  note: {note}");
        }
    }
    Ok(())
}
