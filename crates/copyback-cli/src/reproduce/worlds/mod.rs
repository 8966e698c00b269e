//! `--worlds N`: writes and prints a paper's headlines under N draws of the decisions that it leaves open.

mod show;
mod tables;
#[cfg(test)]
mod tests;

use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::files::{self, Output};
use crate::reproduced::Reproduced;
use crate::sweep::journal::Journal;
use copyback_lab::reproduce::worlds::WorldStudy;
pub use copyback_lab::reproduce::worlds::{Summary, Worlds};
use copyback_report::reproduction::curve;
use copyback_workload::write::target::folder_of;
use std::path::{Path, PathBuf};

/// Runs the worlds.
pub fn reproduced(world_study: &WorldStudy, count: u32, args: &ReproduceArgs) -> Result<Reproduced, Failure> {
    let name = world_study.name();
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from("reproduction"));
    let places = Places::of(name, &folder, args);
    places.check(args)?;
    super::make_folder(&folder)?;
    let mut journal = Journal::open(&places.journal, &format!("{name}-worlds.parquet"), args.cells.fresh)?;
    let document = world_study.run(count as usize, args.full_size, &mut journal, &args.cells.execution_options())?;
    let summary = Summary::of(&document);
    let json = json(&document, &summary)?;
    tables::write(&places.table, &document)?;
    files::write_text(&places.document, &json)?;
    files::write_text(&places.curve, &curve::draw(&document, &summary))?;
    let is_stdout_taken = args.json.as_ref().map_or(Ok(false), |path| files::write_text(path, &json))?;
    let shown = folder.display().to_string();
    let text = show::text(&document, &summary)
        + &format!(
            "\nTables and the picture are in {}; a rerun skips what was done\n",
            copyback_workload::printable::printable(&shown)
        )
        + &journal.note().unwrap_or_default();
    Ok(Reproduced { name: name.to_owned(), tables: Vec::new(), json, text, is_stdout_taken })
}

/// The document with its summary.
fn json(document: &Worlds, summary: &Summary) -> Result<String, Failure> {
    let failed = |error: serde_json::Error| Failure::run(format!("cannot write the document: {error}"));
    let mut value = serde_json::to_value(document).map_err(failed)?;
    value["summary"] = serde_json::to_value(summary).map_err(failed)?;
    Ok(format!("{value:#}\n"))
}

/// The output paths.
struct Places {
    journal: PathBuf,
    table: PathBuf,
    document: PathBuf,
    curve: PathBuf,
}

impl Places {
    fn of(name: &str, folder: &Path, args: &ReproduceArgs) -> Self {
        let full = if args.full_size { "-full-size" } else { "" };
        let place = |ending: &str| folder.join(format!("{name}-worlds{full}.{ending}"));
        Self {
            journal: folder.join(format!("{name}-worlds.journal")),
            table: place("parquet"),
            document: place("json"),
            curve: place("svg"),
        }
    }

    /// Refuses outputs that cannot be written, and files that no reproduction wrote.
    fn check(&self, args: &ReproduceArgs) -> Result<(), Failure> {
        let own = [
            Output::new("the journal", &self.journal),
            Output::new("the table", &self.table),
            Output::new("the table as text", self.table.with_extension("csv")),
            Output::new("the document", &self.document),
            Output::new("the picture", &self.curve),
        ];
        let folder = folder_of(&self.journal);
        files::check_in_folder(folder, own.iter().map(|output| &*output.path))?;
        let mut outputs = Vec::from(own);
        if let Some(json) = &args.json {
            files::check_output(json)?;
            outputs.push(Output::new("--json", json));
        }
        files::refuse_clashes(&outputs, std::iter::empty())?;
        files::refuse_other_endings(&outputs)?;
        if self.journal.exists() {
            return Ok(());
        }
        let help = "name another folder (--out DIR), or move that file away";
        [&self.table, &self.document, &self.curve]
            .into_iter()
            .try_for_each(|path| crate::sweep::refuse_unlisted(path, help))
    }
}
