//! From a figure's requests to the table of its commands.
//!
//! A line is a command: start and end in the figure's units of time, its source, its operation, and the plane, block
//! and page of each part. The last line has the end of each request. Text after `--` is a remark.

use copyback::flash::command::FlashOp;
use copyback::flash::source::Account;
use copyback::observe::commands::{CommandRecord, PartRecord};
use copyback::observe::report::RequestRecord;
use copyback::observe::timeline::{Timeline, text};
use copyback::run::config::RunConfig;
use copyback::scene::{Block, Scene, SceneOp};

/// A figure.
pub struct Figure<'a> {
    /// TOML of the drive and of the scheme.
    pub config: String,
    /// Blocks of each plane.
    pub planes: &'a [&'a [Block]],
    /// The plane whose collection begins at time 0.
    pub collects: u32,
    /// Name, arrival and kind of each request.
    pub requests: &'a [(&'static str, f64, SceneOp)],
}

/// Nanoseconds of a figure's unit of time.
pub const UNIT_NS: u64 = 1_000_000;

impl Figure<'_> {
    /// The table of the commands that are issued.
    pub fn table(&self) -> String {
        self.run().0
    }

    /// The commands as a drawing: two columns are a unit of time.
    pub fn drawing(&self) -> String {
        self.run().1
    }

    fn run(&self) -> (String, String) {
        let config: RunConfig =
            copyback::config::from_toml(&self.config).unwrap_or_else(|e| panic!("{e}\n{}", self.config));
        let at = |&(_, arrival, asks): &(_, f64, SceneOp)| ((arrival * UNIT_NS as f64) as u64, asks);
        let requests: Vec<(u64, SceneOp)> = self.requests.iter().map(at).collect();
        let scene = Scene { config: &config, planes: self.planes, collects: &[self.collects], requests: &requests };
        let played = scene.play().unwrap_or_else(|e| panic!("{e}\n{}", self.config));
        let drawn = Timeline::new(&played.commands, &played.geometry, &[0], 0, None);
        let drawing = text::draw(&drawn, text::Scale { columns: 100, ns_per_column: Some(UNIT_NS / 2) });
        let mut lines: Vec<String> = played.commands.iter().map(|command| self.line(command)).collect();
        lines.push(self.ends(&played.requests));
        (lines.join("\n"), drawing)
    }

    /// Compares the table with the expected one.
    ///
    /// # Panics
    /// If they differ, with both.
    pub fn shows(&self, expected: &str) {
        let table = self.table();
        assert_eq!(plain(&table), plain(expected), "\nis:\n{table}\nexpected:\n{expected}");
    }

    /// Compares the table's first lines, as many as the figure shows.
    ///
    /// # Panics
    /// If they differ, with both.
    pub fn begins_with(&self, expected: &str) {
        let table = self.table();
        let (is, wanted) = (plain(&table), plain(expected));
        assert_eq!(is[..wanted.len().min(is.len())], wanted, "\nis:\n{table}\nexpected:\n{expected}");
    }

    fn line(&self, command: &CommandRecord) -> String {
        let op = match command.op {
            FlashOp::Read => "read",
            FlashOp::Program => "program",
            FlashOp::Erase => "erase",
            FlashOp::Copyback => "copyback",
        };
        let who: Vec<String> = command.parts.iter().map(|part| self.who(part)).collect();
        let place = |part: &PartRecord| match command.op {
            FlashOp::Erase => format!("P{} B{}", part.plane, part.block),
            _ => format!("P{} B{} p{}", part.plane, part.block, part.page),
        };
        let places: Vec<String> = command.parts.iter().map(place).collect();
        let (start, end) = (units(command.issued_ns), units(command.end_ns()));
        format!("{start:>3} {end:>3}  {:6} {op:8} {}", who.join("+"), places.join(" + "))
    }

    fn who(&self, part: &PartRecord) -> String {
        let name = part.request.map(|number| self.requests[number as usize].0);
        match (part.source.account(), name) {
            (Account::Host, name) => name.unwrap_or("?").to_owned(),
            (Account::Gc, None) => "GC".to_owned(),
            // A request that was merged into a move.
            (Account::Gc, Some(name)) => format!("GC+{name}"),
            (other, _) => format!("{other:?}"),
        }
    }

    fn ends(&self, records: &[RequestRecord]) -> String {
        let end = |r: &RequestRecord| {
            format!("{} {}", self.requests[r.index as usize].0, units(r.arrival_ns + r.response_ns))
        };
        format!("ends: {}", records.iter().map(end).collect::<Vec<_>>().join(", "))
    }
}

/// A table's lines without remarks and alignment.
fn plain(table: &str) -> Vec<String> {
    let plain = |line: &str| line.split("--").next().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
    table.lines().map(plain).filter(|line| !line.is_empty()).collect()
}

/// The figures have no channel; here a transfer takes the least that it can, a nanosecond, which leaves whole units
/// within a thousandth.
fn units(ns: u64) -> u64 {
    let units = (ns + UNIT_NS / 2) / UNIT_NS;
    assert!(ns.abs_diff(units * UNIT_NS) < UNIT_NS / 1000, "{ns} ns is no whole number of units");
    units
}
