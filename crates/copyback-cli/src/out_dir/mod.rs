//! `--out DIR`: Parquet tables, the JSON document and the resolved configurations.

mod marker;

use crate::columns::{About, Column, write_table};
use crate::failure::Failure;
use crate::files::{self, Output};
use crate::plan::{Plan, Planned};
use crate::results::{KeptTables, Results, run_hash};
use crate::tables::TABLES;
use copyback_workload::temporary::Permission;
use marker::Marker;
use std::collections::BTreeSet;
use std::path::Path;

const JSON: &str = "results.json";
/// Bytes of a file's name, on the file systems that are in use.
const NAME_BYTES_MAX: usize = 255;

/// Name of the file of a scheme's resolved configuration.
fn config_name(scheme: &str) -> String {
    format!("config-{scheme}.toml")
}

/// Whether a run might give a file this name.
fn is_result(name: &str) -> bool {
    let is_config = name.starts_with("config-") && name.ends_with(".toml") && !name.contains(['/', '\\']);
    let is_table = name.strip_suffix(".parquet").is_some_and(|name| TABLES.iter().any(|table| table.name == name));
    is_config || is_table || name == JSON
}

/// Names of the files of a plan.
fn names(plan: &Plan, kept: KeptTables) -> BTreeSet<String> {
    let tables = TABLES.iter().filter(|table| table.is_of(plan, kept));
    let configurations = plan.runs.iter().map(|planned| config_name(&planned.scheme));
    tables.map(|table| table.file()).chain(configurations).chain([JSON.to_owned()]).collect()
}

/// All that is written, and what an earlier run left there, which is removed.
pub fn outputs(folder: &Path, plan: &Plan, tables: KeptTables) -> Vec<Output> {
    let names = &names(plan, tables) | &marker::files_of_earlier_run(folder);
    names.iter().map(|name| Output::new("--out", folder.join(name))).collect()
}

/// Refuses a folder that holds what the program did not write, and one that cannot be made.
pub fn check(folder: &Path, plan: &Plan) -> Result<(), Failure> {
    let cannot_be = |planned: &&Planned| {
        planned.scheme.contains(['/', '\\']) || config_name(&planned.scheme).len() > NAME_BYTES_MAX
    };
    if let Some(planned) = plan.runs.iter().find(cannot_be) {
        return Err(Failure::input(format!("`{}` cannot be part of a file's name", planned.scheme)));
    }
    files::check_folder(folder)?;
    marker::foreign_file(folder).map_or(Ok(()), |name| Err(foreign(folder, &name)))?;
    let names = &names(plan, KeptTables::ALL) | &marker::files_of_earlier_run(folder);
    names.iter().map(|name| folder.join(name)).try_for_each(|path| match std::fs::symlink_metadata(&path) {
        Ok(data) if data.is_file() => files::check_output(&path),
        Ok(data) => Err(no_file(&path, &data)),
        Err(_) => Ok(()),
    })
}

/// The error if a result's path is no regular file. A link is refused, because the user did not name its target;
/// pipes and devices belong to others.
fn no_file(path: &Path, data: &std::fs::Metadata) -> Failure {
    let what = match data {
        _ if data.is_dir() => "a folder",
        _ if data.is_symlink() => "a link",
        _ => "no ordinary file",
    };
    let message = format!("{} is {what}, but a run writes a result file of this name", path.display());
    Failure::input(message).with_help("move it away, or name another folder: --out")
}

fn foreign(folder: &Path, name: &str) -> Failure {
    let message = format!("{} holds files that are no results of an earlier run, such as {name}", folder.display());
    Failure::input(message).with_help("name an empty or a new folder; only what a run wrote there is overwritten")
}

/// A folder that this program alone writes results to.
pub struct OutDir<'a> {
    folder: &'a Path,
    own: BTreeSet<String>,
    marker: Marker,
}

impl<'a> OutDir<'a> {
    /// Makes the folder and its marker before the run, and checks again for files that appeared since `check`.
    pub fn begin(folder: &'a Path, plan: &Plan, tables: KeptTables) -> Result<Self, Failure> {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::input(format!("cannot make the folder {}: {error}", folder.display()))
                .with_help("name one that can be made: --out")
        })?;
        check(folder, plan)?;
        let own = names(plan, tables);
        let marker = Self::mark(folder, &own)?;
        Ok(Self { folder, own, marker })
    }

    fn mark(folder: &Path, own: &BTreeSet<String>) -> Result<Marker, Failure> {
        // Check before making a marker in a foreign folder, and again for files that appeared before it was locked.
        marker::foreign_file(folder).map_or(Ok(()), |name| Err(foreign(folder, &name)))?;
        let marker = Marker::lock(folder)?;
        marker.foreign_file().map_or(Ok(()), |name| Err(foreign(folder, &name)))?;
        marker.write(&(&marker.files() | own))?;
        Ok(marker)
    }

    /// Writes the results. Removes those of an earlier run first; writes the document last, so that it certifies all
    /// others.
    pub fn write(mut self, results: &Results, json: &str) -> Result<(), Failure> {
        let folder = self.folder;
        let failed = |error: std::io::Error| Failure::of_disk(folder, &error);
        Permission::check().map_err(failed)?;
        if !self.marker.is_there() {
            // Another folder is there now, or none.
            std::fs::create_dir_all(folder).map_err(failed)?;
            self.marker = Self::mark(folder, &self.own)?;
        }
        let before = self.marker.files();
        Permission::change(|| remove(folder, &before, &self.own)).map_err(failed)?;
        write_tables(folder, results, &self.own)?;
        for planned in &results.plan.runs {
            files::write_text(&folder.join(config_name(&planned.scheme)), &planned.config_text(&results.plan))?;
        }
        files::write_text(&folder.join(JSON), json)?;
        if before == self.own { Ok(()) } else { self.marker.write(&self.own) }
    }
}

/// Removes the results of an earlier run, and links that appeared in a result's place since the check: the link is
/// removed, its target stays.
fn remove(folder: &Path, before: &BTreeSet<String>, own: &BTreeSet<String>) -> std::io::Result<()> {
    marker::remove_temporary_files(folder)?;
    // The document certifies all other files, so it is removed first.
    let document = before.get(JSON).into_iter();
    for name in document.chain(before.iter().filter(|name| *name != JSON)) {
        let path = folder.join(name);
        match std::fs::symlink_metadata(&path) {
            Ok(data) if data.is_file() || data.is_symlink() || !own.contains(name) => std::fs::remove_file(path)?,
            _ => {}
        }
    }
    Ok(())
}

fn write_tables(folder: &Path, results: &Results, own: &BTreeSet<String>) -> Result<(), Failure> {
    let about = about(&results.plan);
    let table = |name: &str, columns: Vec<Column>| {
        let path = folder.join(format!("{name}.parquet"));
        files::write_whole(&path, |file| write_table(file, name, &about, columns))
    };
    TABLES
        .iter()
        .filter(|made| own.contains(&made.file()))
        .try_for_each(|made| table(made.name, made.columns(results)?))
}

/// The metadata of each table on its runs.
fn about(plan: &Plan) -> About {
    let of_all = About::this_program().with("seed", plan.seed);
    plan.runs.iter().enumerate().fold(of_all, |about, (at, planned)| {
        let scheme = &planned.scheme;
        let about = about.with(format!("hash.{scheme}"), run_hash(plan, at));
        about.with(format!("config.{scheme}"), planned.config_text(plan))
    })
}
