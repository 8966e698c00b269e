//! The picture of the README, `docs/tails.svg`, is the one that the default comparison draws.
//!
//! `UPDATE_DOCS=1` redraws it.

mod chart;
use crate::common::default_comparison;
use chart::{Chart, Line, Panel};
use copyback_report::styles::{self, Style};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Schemes of the default comparison; what is drawn later lies above.
const SCHEMES: [&str; 5] = ["baseline", "gc-par", "pgc", "gc-par-pgc", "ideal-no-gc"];

/// Points of a line, from the median to 99.99 %, at equal distances on the axis.
const POINTS: u32 = 120;

/// Response times of one class of one scheme: the upper end of each bin, and how many requests it holds.
#[derive(Default)]
struct Times {
    bins: Vec<(u64, u64)>,
}

impl Times {
    fn requests(&self) -> u64 {
        self.bins.iter().map(|(_, count)| count).sum()
    }

    /// The response time that all but a share `beyond` of the requests keep within.
    fn at(&self, beyond: f64) -> u64 {
        let rank = ((1.0 - beyond) * self.requests() as f64).ceil() as u64;
        let mut seen = 0;
        let reaches = |(_, count): &&(u64, u64)| {
            seen += count;
            seen >= rank
        };
        self.bins.iter().find(reaches).expect("some request has the longest response time").0
    }
}

/// Response times by scheme and class.
fn times(histograms: &std::fs::File) -> BTreeMap<(String, String), Times> {
    let file = histograms.try_clone().expect("an open file can be shared");
    let reader = SerializedFileReader::new(file).expect("the table is Parquet");
    let mut found: BTreeMap<(String, String), Times> = BTreeMap::new();
    for row in reader.get_row_iter(None).expect("the table has rows") {
        let row = row.expect("a row is read");
        let text = |column| row.get_string(column).expect("a name is a text").clone();
        let number = |column| row.get_ulong(column).expect("a number is a number");
        found.entry((text(0), text(1))).or_default().bins.push((number(3), number(4)));
    }
    found
}

fn drawn(times: &BTreeMap<(String, String), Times>) -> String {
    let panel = |title: &str, class: &str| {
        let line = |(scheme, style): (&'static str, Style)| {
            let times = &times[&(scheme.to_owned(), class.to_owned())];
            let share =
                |point: u32| chart::MOST * (chart::LEAST / chart::MOST).powf(f64::from(point) / f64::from(POINTS));
            let point = |point| (share(point), times.at(share(point)) as f64);
            let (colour, dashes) = (format!("{:X}", style.colour), style.dash_array());
            Line { name: scheme, colour, dashes, points: (0..=POINTS).map(point).collect() }
        };
        Panel { title: title.to_owned(), lines: SCHEMES.into_iter().zip(styles::of(SCHEMES)).map(line).collect() }
    };
    Chart { panels: vec![panel("Response times of reads", "read"), panel("Response times of writes", "write")] }.svg()
}

#[test]
fn picture_is_the_one_that_the_program_draws() {
    let comparison = default_comparison();
    let times = times(&comparison.histograms);

    // The picture ends at the report's values.
    let results = comparison.document["results"].as_array().expect("the schemes' results are a list");
    assert_eq!(results.len(), SCHEMES.len(), "a scheme of the comparison is not drawn");
    for result in results {
        let scheme = result["scheme"].as_str().expect("a scheme's name is a text");
        for class in ["read", "write"] {
            let reported = result["report"]["response"][class]["p99_99_ns"].as_u64();
            let drawn = times[&(scheme.to_owned(), class.to_owned())].at(chart::LEAST);
            assert_eq!(Some(drawn), reported, "{scheme}, {class}");
        }
    }

    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/tails.svg");
    let drawn = drawn(&times);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, drawn).expect("the picture can be written");
        return;
    }
    let kept = std::fs::read_to_string(&path).expect("the picture is kept");
    assert!(kept == drawn, "docs/tails.svg is not what is drawn now (UPDATE_DOCS=1 draws it)");
}
