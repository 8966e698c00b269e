//! Traces of several files that have one base name: blktrace writes `BASE.blktrace.N` for each CPU N.

use crate::units::counted;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The base name of a file that blktrace wrote for a CPU; the name itself for any other file.
pub fn base_name(name: &str) -> &str {
    let of_cpu = name.rsplit_once(".blktrace.").filter(|(_, cpu)| is_number(cpu));
    of_cpu.map_or(name, |(base, _)| base)
}

fn is_number(cpu: &str) -> bool {
    !cpu.is_empty() && cpu.bytes().all(|byte| byte.is_ascii_digit())
}

/// The note that a trace lacks the file of a CPU below its last one. `files` are in the order of their CPUs.
pub fn note_of_gap(files: &[PathBuf]) -> Option<String> {
    let names = files.iter().map(|file| file.file_name()?.to_str()?.rsplit_once('.'));
    let names: Vec<(&str, u32)> =
        names.map(|own| own.and_then(|(base, cpu)| Some((base, cpu.parse().ok()?)))).collect::<Option<_>>()?;
    let (base, last) = *names.last()?;
    let cpus: BTreeSet<u32> = names.iter().map(|(_, cpu)| *cpu).collect();
    let missing = u64::from(last) + 1 - cpus.len() as u64;
    let first = (0..last).find(|cpu| !cpus.contains(cpu))?;
    let (others, whose) = match missing {
        1 => (String::new(), "that CPU are missing, unless it was offline"),
        _ => {
            let more = format!(" and {} more", counted(missing - 1, "file"));
            (more, "those CPUs are missing, unless they were offline")
        }
    };
    Some(format!("there is no `{base}.{first}`{others}, though there is `{base}.{last}`: the requests of {whose}"))
}

/// The files of a base name in the order of their CPUs, on disk or passed by the caller. The list is empty if there are
/// no such files, or if a file has the base name itself.
pub fn files(base: &Path) -> Vec<PathBuf> {
    let Some(name) = base.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    if base.exists() || crate::standard_input::is_named(base) || crate::passed_traces::file(base).is_some() {
        return Vec::new();
    }
    let folder = base.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let on_disk = std::fs::read_dir(folder).into_iter().flatten();
    let on_disk = on_disk.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let entries: BTreeSet<String> = on_disk.chain(crate::passed_traces::names_in(folder)).collect();
    let cpu = |entry: &str| {
        let number = entry.strip_prefix(name)?.strip_prefix(".blktrace.")?;
        number.parse::<u32>().ok().filter(|_| is_number(number))
    };
    let mut files: Vec<(u32, PathBuf)> =
        entries.into_iter().filter_map(|entry| Some((cpu(&entry)?, base.with_file_name(&entry)))).collect();
    files.sort();
    files.into_iter().map(|(_, file)| file).collect()
}
