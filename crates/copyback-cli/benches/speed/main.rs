//! How fast is one core? Prints figures (a) to (d) of docs/performance.md and, below (b), the bound of this machine
//! (`bound`). `cargo bench -- timed` runs the figures whose names contain the word.
//!
//! Times are those of the processor. Each rate is the best of a few rounds: whatever else the machine does can only
//! make a round slower. (d) is measured once.

mod bound;

use copyback::flash::geometry::Geometry;
use copyback::run::config::RunConfig;
use copyback::run::preconditioning::Preconditioner;
use copyback::run::{Image, Options, precondition, simulate};
use copyback::workload::spec::WorkloadSpec;
use copyback::workload::write::{WriteFormat, write_trace};
use copyback::workload::{Error, Op, Priority, Request, RequestSource, open, rng};
use cpu_time::ProcessTime;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

const DRIVE: &str = include_str!("../../../../devices/bench-64g.toml");

/// A drive of the presets, with more settings.
fn config(preset: &str, settings: &str) -> RunConfig {
    let mut table: toml::Table = preset.parse().expect("a preset is TOML");
    for about in ["name", "description", "source"] {
        table.remove(about);
    }
    for (key, value) in settings.parse::<toml::Table>().expect("the settings are TOML") {
        table.insert(key, value);
    }
    let config: RunConfig = table.try_into().expect("the settings fit the preset");
    config.check().expect("the configuration is possible");
    config
}

/// Random writes of 4 KiB.
struct Random {
    left: u64,
    units: u64,
    stream: Xoshiro256PlusPlus,
}

impl RequestSource for Random {
    fn next_request(&mut self) -> Result<Option<Request>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let offset_bytes = self.stream.random_range(0..self.units) * 4096;
        let (op, priority) = (Op::Write, Priority::Normal);
        Ok(Some(Request { arrival_ns: 0, offset_bytes, len_bytes: 4096, device: 0, op, priority }))
    }
}

fn writes(config: &RunConfig, requests: u64) -> Box<Random> {
    let units = Geometry::new(&config.device()).logical_units.into();
    Box::new(Random { left: requests, units, stream: rng::stream(1, "bench.writes") })
}

/// The best of `rounds`, in operations a second. A round returns its number of operations and its seconds.
fn best(rounds: usize, mut round: impl FnMut() -> (u64, f64)) -> f64 {
    best_of(rounds, || {
        let (operations, seconds) = round();
        operations as f64 / seconds
    })
}

/// The best of `rounds`.
fn best_of(rounds: usize, mut round: impl FnMut() -> f64) -> f64 {
    (0..rounds).map(|_| round()).fold(0.0, f64::max)
}

/// (a) Timed random writes in the steady state of collection.
fn timed() {
    let config = config(DRIVE, "precondition = { mode = \"random\", overwrites = 2.0 }");
    let image = precondition(&config, 1).expect("the drive can be preconditioned");
    let speed = best(3, || timed_round(&config, image.clone()));
    println!("(a) timed: {:.2} million flash page operations a second (aim 12)", speed / 1e6);
}

fn timed_round(config: &RunConfig, image: Image) -> (u64, f64) {
    let source = writes(config, 1_000_000);
    let start = ProcessTime::now();
    let outcome = simulate(config, image, source, &Options::default(), &mut |_| {}).expect("the run ends");
    let seconds = start.elapsed().as_secs_f64();
    let f = &outcome.report.flash;
    (f.host_page_reads + f.host_page_programs + f.gc_page_reads + f.gc_page_programs, seconds)
}

/// (b) Preconditioning: overwrites at 28 % over-provisioning, greedy.
fn functional() {
    let config =
        config(DRIVE, "capacity = { over_provisioning = 0.28 }\ntrigger = { policy = \"watermark\", soft = 4 }");
    let mut preconditioner = Preconditioner::new(&config, 7);
    let units = preconditioner.ftl.geometry.logical_units;
    let mut stream = rng::stream(7, "bench.overwrites");
    let mut pages_per_write = 0.0;
    let mut overwrite = |writes: u64| {
        let (before, start) = (preconditioner.ftl.counts(), ProcessTime::now());
        preconditioner.overwrite(units, writes, &mut stream).expect("the drive collects");
        let seconds = start.elapsed().as_secs_f64();
        let done = preconditioner.ftl.counts().since(&before);
        pages_per_write = (done.host_units + done.moved_units) as f64 / writes as f64;
        (writes, seconds)
    };
    overwrite(3 * u64::from(units));
    let speed = best(3, || overwrite(u64::from(units)));
    println!("(b) functional: {:.2} million host pages a second (aim 10)", speed / 1e6);
    let geometry = Geometry::new(&config.device());
    let bound = best_of(3, || bound::pages_per_second(units, geometry.blocks, geometry.units_per_block));
    println!(
        "    with moved pages {:.2} million; a loop without decisions on this machine: {:.2} million",
        speed * pages_per_write / 1e6,
        bound / 1e6
    );
}

/// (c) Readers: records a second.
fn readers() {
    const RECORDS: u64 = 1_000_000;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let formats = [WriteFormat::Msr, WriteFormat::Disksim, WriteFormat::Spc, WriteFormat::Parquet];
    for format in formats {
        let path = folder.path().join(format!("trace.{}", format));
        let config = config(DRIVE, "");
        write_trace(writes(&config, RECORDS).as_mut(), &path, format).expect("the trace is written");
        let text = format!("trace = \"{}\"", path.display());
        let spec: WorkloadSpec = toml::from_str(&text).expect("a workload");
        let speed = best(3, || {
            let start = ProcessTime::now();
            let mut source = open(&spec, 1, u64::MAX).expect("the trace opens");
            let mut records = 0;
            while source.next_request().expect("the trace is whole").is_some() {
                records += 1;
            }
            (records, start.elapsed().as_secs_f64())
        });
        println!("(c) reading {}: {:.2} million records a second (aim 2)", format, speed / 1e6);
    }
}

/// (d) Memory and start of a large drive.
fn large() {
    let config = config(include_str!("../../../../devices/hpdc18.toml"), "");
    let start = ProcessTime::now();
    let before = resident_bytes();
    let image = precondition(&config, 1).expect("the drive can be preconditioned");
    let units = Geometry::new(&config.device()).logical_units;
    let per_unit = (resident_bytes() - before) as f64 / f64::from(units);
    println!("(d) 1 TiB hpdc18: {per_unit:.2} bytes a mapping unit (aim 9)");
    simulate(&config, image, writes(&config, 100_000), &Options::default(), &mut |_| {}).expect("the run ends");
    println!(
        "(d) 1 TiB hpdc18: preconditioning and 100,000 requests in {:.1} s (at most 60)",
        start.elapsed().as_secs_f64()
    );
}

/// Memory that the process holds, where the system says so.
fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap_or("0");
    line.trim().split(' ').next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
}

fn main() {
    let wanted = std::env::args().skip(1).find(|a| !a.starts_with('-')).unwrap_or_default();
    let figures: [(&str, fn()); 4] =
        [("timed", timed), ("functional", functional), ("readers", readers), ("large", large)];
    for (name, run) in figures {
        if name.contains(&wanted) {
            run();
        }
    }
}
