//! `--out DIR`: Parquet tables, the JSON document and the resolved configurations.

mod marker;

use crate::columns::{About, Column, write_table};
use crate::failure::Failure;
use crate::files::{self, Output};
use crate::plan::{Plan, Planned};
use crate::results::{KeptTables, Results, run_hash};
use crate::tables::TABLES;
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
    let shown = folder.display();
    if std::fs::symlink_metadata(folder).is_ok() && !folder.is_dir() {
        let what = if folder.is_symlink() { "a link that leads to no folder" } else { "a file, not a folder" };
        return Err(Failure::input(format!("{shown} is {what}")).with_help("name a folder, or a new one"));
    }
    let cannot_be = |planned: &&Planned| {
        planned.scheme.contains(['/', '\\']) || config_name(&planned.scheme).len() > NAME_BYTES_MAX
    };
    if let Some(planned) = plan.runs.iter().find(cannot_be) {
        return Err(Failure::input(format!("`{}` cannot be part of a file's name", planned.scheme)));
    }
    let whole = folder.ancestors().find(|above| above.as_os_str().is_empty() || above.exists());
    let standing = whole.filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !standing.is_dir() {
        return Err(Failure::input(format!("{} is a file: {shown} cannot be in it", standing.display())));
    }
    files::check_writable(standing)?;
    marker::foreign_file(folder).map_or(Ok(()), |name| Err(foreign(folder, &name)))?;
    let names = &names(plan, KeptTables::ALL) | &marker::files_of_earlier_run(folder);
    names.iter().map(|name| folder.join(name)).try_for_each(|path| match std::fs::symlink_metadata(&path) {
        Ok(data) if data.is_file() => files::check_output(&path),
        Ok(data) => Err(no_file(&path, &data)),
        Err(_) => Ok(()),
    })
}

/// Refuses what is no file in a result's place. A link's file was named by nobody, and what others read or keep behind
/// a pipe or a device is not ours.
fn no_file(path: &Path, data: &std::fs::Metadata) -> Failure {
    let what = match data {
        _ if data.is_dir() => "a folder",
        _ if data.is_symlink() => "a link",
        _ => "no ordinary file",
    };
    let message = format!("{} is {what}, where a result of a run is to be or was", path.display());
    Failure::input(message).with_help("move it away, or name another folder: --out")
}

fn foreign(folder: &Path, name: &str) -> Failure {
    let message = format!("{} holds files that are no results of an earlier run, such as {name}", folder.display());
    Failure::input(message).with_help("name an empty or a new folder; only what a run wrote there is overwritten")
}

/// Refuses another output in the folder: it would be a file that no rerun knows.
pub fn refuse_inside(folder: &Path, output: &Output) -> Result<(), Failure> {
    let (Ok(folder), Some(inside)) = (std::fs::canonicalize(folder), files::folder_of_output(&output.path)) else {
        return Ok(());
    };
    if !inside.starts_with(&folder) {
        return Ok(());
    }
    let shown = output.path.display();
    Err(Failure::input(format!("{} {shown} is in the folder of --out, which holds its results alone", output.what))
        .with_help("name a file elsewhere"))
}

/// A folder that this program alone writes results to.
pub struct OutDir<'a> {
    folder: &'a Path,
    own: BTreeSet<String>,
    marker: Marker,
}

impl<'a> OutDir<'a> {
    /// Makes the folder, and what it is known by, before time is spent on results. What came into it since it was
    /// checked is seen now; what comes later under a result's name is in a folder that says so.
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
        // Before a marker is made in a folder that is somebody's, and of what came until it was locked.
        marker::foreign_file(folder).map_or(Ok(()), |name| Err(foreign(folder, &name)))?;
        let marker = Marker::lock(folder)?;
        marker.foreign_file().map_or(Ok(()), |name| Err(foreign(folder, &name)))?;
        marker.write(&(&marker.files() | own))?;
        Ok(marker)
    }

    /// Writes the results. Those of an earlier run go before, so that what stands there is of one run; the document
    /// comes last: where it is, all is.
    pub fn write(mut self, results: &Results, json: &str) -> Result<(), Failure> {
        let folder = self.folder;
        let failed = |error: std::io::Error| Failure::of_disk(folder, &error);
        if !self.marker.is_there() {
            // Another folder is there now, or none.
            std::fs::create_dir_all(folder).map_err(failed)?;
            self.marker = Self::mark(folder, &self.own)?;
        }
        let before = self.marker.files();
        remove(folder, &before, &self.own).map_err(failed)?;
        write_tables(folder, results, &self.own)?;
        for planned in &results.plan.runs {
            files::write_text(&folder.join(config_name(&planned.scheme)), &planned.config_text(&results.plan))?;
        }
        files::write_text(&folder.join(JSON), json)?;
        if before == self.own { Ok(()) } else { self.marker.write(&self.own) }
    }
}

/// Removes what an earlier run left, and links that came into the place of a result since they were looked for: the
/// link goes, its file stays.
fn remove(folder: &Path, before: &BTreeSet<String>, own: &BTreeSet<String>) -> std::io::Result<()> {
    marker::remove_temporary_files(folder)?;
    // The document says that all is there: it goes first.
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

/// What each table says of the runs in it.
fn about(plan: &Plan) -> About {
    let of_all = About::this_program().with("seed", plan.seed);
    plan.runs.iter().enumerate().fold(of_all, |about, (at, planned)| {
        let scheme = &planned.scheme;
        let about = about.with(format!("hash.{scheme}"), run_hash(plan, at));
        about.with(format!("config.{scheme}"), planned.config_text(plan))
    })
}
