//! One page of results for a browser, in one file.
//!
//! The page is HTML, a style and scripts (`assets`), a chart library (Apache ECharts, `assets/echarts`), and the
//! results as JSON. The drawn data is thinned here, so that the page is the same in every browser; the same results
//! make the same bytes.

mod conditions;
mod dies;
mod distribution;
mod findings;
mod page;
mod read;
mod reproductions;
mod results;
mod runs;
mod series;
mod settings;
mod sweeps;
mod workloads_and_drives;

use crate::styles;
use conditions::Condition;
use copyback_lab::Failure;
use copyback_lab::files::Input;
use copyback_lab::format;
use copyback_lab::outputs::{self, Output};
use copyback_workload::printable::printable;
use results::ReportInput;
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The most bytes that a page has.
const BYTES_MAX: usize = 3_000_000;

/// How finely results are drawn. The finest that fits is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Detail(u32);

impl Detail {
    /// The finest: a page of usual results has it.
    const FINEST: Self = Self(0);
    /// With less, a page would say nothing.
    const COARSEST: u32 = 6;

    fn of(self, finest: usize, least: usize) -> usize {
        (finest >> self.0).max(least)
    }

    /// Points of a distribution, along each axis.
    fn distribution_points(self) -> usize {
        self.of(400, 40)
    }

    /// Bins of a run over time.
    fn series_bins(self) -> usize {
        self.of(320, 40)
    }

    /// Dies of the heat map.
    fn dies(self) -> usize {
        self.of(256, 16)
    }

    /// Bins of each of `dies` dies.
    fn die_bins(self, dies: usize) -> usize {
        (self.of(12_000, 400) / dies.max(1)).clamp(24, 300)
    }

    /// Cells of a sweep of `schemes` schemes.
    fn cells(self, schemes: usize) -> usize {
        (self.of(1_000, 20) / schemes.max(1)).max(4)
    }
}

/// A request for a page.
#[derive(Clone, Debug, Default)]
pub struct PageRequest {
    /// Folders and JSON documents of runs and comparisons, tables of sweeps, folders and documents of reproductions.
    pub results: Vec<PathBuf>,
    /// The page's title; by default, derived from the results.
    pub title: Option<String>,
    /// Conditions, such as `read.p99_9 < 5ms`: the page has a line at each limit, and says which results meet it.
    pub conditions: Vec<String>,
    /// The page to write.
    pub out: PathBuf,
}

/// A page that is written.
#[derive(Debug)]
pub struct WrittenPage {
    /// What was written, in a line.
    pub text: String,
    /// Whether standard output is taken by the page.
    pub is_stdout_taken: bool,
}

impl PageRequest {
    /// Writes the page.
    ///
    /// # Errors
    /// If a result cannot be read, a condition is wrong, or the page cannot be written or would be too large.
    pub fn write(&self) -> Result<WrittenPage, Failure> {
        let output = Output::new("--out", &self.out);
        outputs::check_output(&self.out)?;
        refuse_other_ending(&self.out)?;
        let all = self.results.iter().map(|path| ReportInput::read(path)).collect::<Result<Vec<_>, _>>()?;
        let inputs: Vec<Input> = all.iter().flat_map(ReportInput::inputs).collect();
        outputs::refuse_clashes(std::slice::from_ref(&output), &inputs)?;
        refuse_to_replace(&self.out)?;
        all.iter().filter_map(ReportInput::folder).try_for_each(|folder| outputs::refuse_inside(folder, &output))?;
        let is_number = |name: &str| all.iter().any(|results| results.has_number(name));
        let conditions = self.conditions.iter().map(|text| Condition::parse(text, &is_number));
        let conditions: Vec<Condition> = conditions.collect::<Result<_, _>>()?;
        let title = self.title.clone().unwrap_or_else(|| title(&all));
        let (html, detail) = fitting(&all, &title, &conditions)?;
        let is_stdout_taken = outputs::write_text(&self.out, &html)?;
        let shown = all.iter().map(ReportInput::summary_line).collect::<Vec<_>>().join("; ");
        let coarser = if detail == Detail::FINEST { "" } else { ", drawn more coarsely to stay below 3 MB" };
        let size = format::size(html.len() as f64);
        let said = format!("{}: {shown} ({size}{coarser})", self.out.display());
        Ok(WrittenPage { text: format!("{}\n", printable(&said)), is_stdout_taken })
    }
}

/// Refuses a name whose ending means another format than a page's.
fn refuse_other_ending(out: &Path) -> Result<(), Failure> {
    if outputs::other_ending(out, &["html", "htm"]).is_none() {
        return Ok(());
    }
    let message = format!("--out {}: a report is a page in HTML, but its name has another ending", out.display());
    let name = out.with_extension("html");
    Err(Failure::input(message)
        .with_help(format!("name it {}; a browser prints it, or saves it as PDF", name.display())))
}

/// The title of the page: the subject of the results.
fn title(all: &[ReportInput]) -> String {
    all.iter().map(ReportInput::title).collect::<Vec<_>>().join("; ")
}

/// Marks in the first lines of a page. Pages have the first; those of earlier versions have the second.
const MARKS: [&[u8]; 2] = [b"<meta name=\"generator\" content=\"copyback report\">", b"<title>Copyback report</title>"];
/// Bytes of the beginning of a file in which they are looked for.
const HEAD_BYTES: u64 = 2_048;

/// Refuses to replace what is no page: a user may write the path of a result after `-o` by mistake.
fn refuse_to_replace(path: &Path) -> Result<(), Failure> {
    if !path.is_file() {
        return Ok(());
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    let is_page = head.is_empty() || MARKS.iter().any(|mark| head.windows(mark.len()).any(|bytes| bytes == *mark));
    if read.is_ok() && is_page {
        return Ok(());
    }
    Err(Failure::input(format!("--out: {} exists, and is no page of `copyback report`", path.display()))
        .with_help("name another file, or move this one away"))
}

/// The page with as much as fits.
fn fitting(all: &[ReportInput], title: &str, conditions: &[Condition]) -> Result<(String, Detail), Failure> {
    for coarseness in 0..=Detail::COARSEST {
        let detail = Detail(coarseness);
        let html = page::html(title, &data(all, detail, title, conditions)?);
        if html.len() <= BYTES_MAX {
            return Ok((html, detail));
        }
    }
    Err(too_large())
}

/// The error if results are too many for a page.
fn too_large() -> Failure {
    Failure::input(format!("these results make a page of more than {}", format::size(BYTES_MAX as f64)))
        .with_help("name fewer of them; each may have a page of its own")
}

/// The data of the page.
fn data(all: &[ReportInput], detail: Detail, title: &str, conditions: &[Condition]) -> Result<Value, Failure> {
    let sources = all.iter().map(|results| results.drawn(detail)).collect::<Result<Vec<_>, _>>()?;
    let found: Vec<String> = all.iter().map(|results| results.found(conditions)).collect();
    let schemes: Vec<&str> = all.iter().flat_map(ReportInput::schemes).collect();
    let styles: Map<String, Value> = schemes
        .iter()
        .zip(styles::of(schemes.iter().copied()))
        .map(|(name, style)| ((*name).to_owned(), json!([format!("{:X}", style.colour), style.dashes])))
        .collect();
    Ok(json!({
        "program": copyback_lab::results::Program::THIS,
        "coarseness": detail.0,
        "title": title,
        "found": found,
        "conditions": conditions.iter().map(Condition::drawn).collect::<Vec<_>>(),
        "beyond_ppm": format::BEYOND_PPM,
        "styles": styles,
        "sources": sources,
    }))
}
