//! What tests of the built program need.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

pub fn copyback(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_copyback"));
    command.args(arguments).env("NO_COLOR", "1").env("RUST_BACKTRACE", "0");
    command.output().expect("the program starts")
}

pub fn code(output: &Output) -> i32 {
    output.status.code().expect("the program ends by itself")
}

/// The text of standard error in one line: the reporter wraps at the terminal's width.
pub fn error_text(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).replace('│', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub fn output_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The default comparison.
pub struct DefaultComparison {
    pub text: String,
    pub document: serde_json::Value,
    /// `latency_histograms.parquet`; its folder is removed.
    pub histograms: std::fs::File,
}

/// Runs it once for all tests: it takes seconds.
pub fn default_comparison() -> &'static DefaultComparison {
    static DONE: OnceLock<DefaultComparison> = OnceLock::new();
    DONE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let output = copyback(&["compare", "--out", folder.path().to_str().expect("the path is a text")]);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        let document = std::fs::read(folder.path().join("results.json")).expect("there are results");
        let histograms = std::fs::File::open(folder.path().join("latency_histograms.parquet"));
        DefaultComparison {
            text: output_text(&output),
            document: serde_json::from_slice(&document).expect("the results are JSON"),
            histograms: histograms.expect("there is a table of histograms"),
        }
    })
}

/// The rows of a Parquet table, by column.
pub fn rows(table: &Path) -> Vec<BTreeMap<String, Field>> {
    let reader = SerializedFileReader::new(std::fs::File::open(table).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().get_column_iter().map(|(name, field)| (name.clone(), field.clone())).collect())
        .collect()
}
