//! The section on an array: its volume, its rounds, and each of its drives.

use crate::format::{count, counted, percent, time};
use crate::table::{self, BOLD, Cell};
use copyback::observe::array_report::{ArrayReport, BandwidthReport};
use copyback::observe::bandwidth::INTERVALS_MAX;

/// The section of a run of an array.
pub fn section(array: &ArrayReport, bandwidth: Option<&BandwidthReport>) -> String {
    let unit = crate::format::size(array.stripe_unit_bytes as f64);
    let mut rows = vec![
        ("level", format!("{}, {}, {} a stripe unit", array.level, counted(array.drives.len() as u64, "drive"), unit)),
        ("requests of drives", count(array.volume.parts)),
        (
            "some drive collects",
            format!(
                "{} of the time, in {} period{}",
                percent(array.degraded_share),
                count(array.degraded_windows),
                if array.degraded_windows == 1 { "" } else { "s" }
            ),
        ),
        (
            "dies in collection",
            format!(
                "{} of their time; of a drive {} to {}",
                percent(array.gc_share),
                percent(array.gc_share_min),
                percent(array.gc_share_max)
            ),
        ),
    ];
    rows.extend(parity(array));
    rows.extend(rounds(array));
    rows.extend(bandwidth.map(|of| ("bandwidth", per_interval(of))));
    super::facts(rows) + "\n" + &drives(array)
}

/// Bandwidth by intervals.
pub fn per_interval(of: &BandwidthReport) -> String {
    if of.intervals == 0 {
        return format!("none: what was measured is shorter than an interval of {}", time(of.every_ns as f64));
    }
    let size = |bytes: f64| crate::format::size(bytes) + "/s";
    let first = if of.intervals == INTERVALS_MAX as u64 { "the first " } else { "" };
    format!(
        "mean {}, standard deviation {}, coefficient of variation {:.3}, over {first}{} intervals of {}",
        size(of.mean_bytes_per_s),
        size(of.stdev_bytes_per_s),
        of.cv,
        count(of.intervals),
        time(of.every_ns as f64)
    )
}

fn parity(array: &ArrayReport) -> Vec<(&'static str, String)> {
    let volume = &array.volume;
    let mut rows = Vec::new();
    if volume.redundant_writes > 0 {
        let (full, modify, reconstruct) =
            (count(volume.full_stripe_writes), count(volume.read_modify_writes), count(volume.reconstruct_writes));
        rows.push((
            "writes of stripes",
            format!("{full} without reading, {modify} read-modify-write, {reconstruct} reconstruct-write"),
        ));
        rows.push((
            "redundancy",
            format!(
                "{}, after {}",
                counted(volume.redundant_writes, "write"),
                counted(volume.reads_before_writes, "read")
            ),
        ));
    }
    if volume.gc_aware_reads + volume.gc_aware_waits > 0 {
        rows.push((
            "reads around GC",
            format!("{}; {} waited instead", count(volume.gc_aware_reads), count(volume.gc_aware_waits)),
        ));
    }
    if volume.degraded_reads > 0 {
        rows.push(("degraded reads", count(volume.degraded_reads)));
    }
    if volume.units_rebuilt > 0 {
        let done = match volume.rebuilt_at_ns {
            0 => "not done".to_owned(),
            at_ns => format!("done at {}", time(at_ns as f64)),
        };
        let share = percent(volume.units_rebuilt as f64 / array.units_lost.max(1) as f64);
        let of = format!("{} of {} stripe units ({share})", count(volume.units_rebuilt), count(array.units_lost));
        rows.push(("rebuilt", format!("{of}, {done}")));
    }
    rows
}

fn rounds(array: &ArrayReport) -> Vec<(&'static str, String)> {
    let (Some(rounds), Some(coordination)) = (&array.rounds, &array.coordination) else { return Vec::new() };
    let mean = |sum: u64| sum as f64 / rounds.rounds.max(1) as f64;
    let mut rows = vec![
        (
            "rounds",
            format!(
                "{}, of {:.1} drives and {} on average",
                count(rounds.rounds),
                mean(rounds.drives_forced),
                time(mean(rounds.rounds_ns))
            ),
        ),
        ("forced collections", count(coordination.forced_collections)),
        (
            "at the last resort",
            format!("{} without an order", counted(coordination.last_resort_collections, "collection")),
        ),
    ];
    if coordination.pauses > 0 {
        rows.push(("paused", format!("{}, for requests", counted(coordination.pauses, "time"))));
    }
    rows
}

/// A row for each drive.
fn drives(array: &ArrayReport) -> String {
    let heading =
        ["  drive", "reads: mean", "p99", "writes: mean", "p99", "units written", "erases", "in GC", "fewest free"];
    let mut rows = vec![heading.map(|text| Cell::styled(text, BOLD)).to_vec()];
    for drive in &array.drives {
        let of = |latency: &copyback::observe::report::Latency, ns: f64| match latency.count {
            0 => "-".to_owned(),
            _ => time(ns),
        };
        let cells = [
            format!("  {}", drive.drive),
            of(&drive.read, drive.read.mean_ns),
            of(&drive.read, drive.read.p99_ns as f64),
            of(&drive.write, drive.write.mean_ns),
            of(&drive.write, drive.write.p99_ns as f64),
            count(drive.units_written),
            count(drive.erases),
            percent(drive.gc_share),
            count(drive.min_free_blocks.into()),
        ];
        rows.push(cells.map(Cell::new).to_vec());
    }
    table::lay_out(&rows)
}
