//! Compiles every preset in the workspace's folder `workloads/` into the crate: adding a file adds a preset.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets the manifest's folder"));
    let folder = manifest.join("../../workloads");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("the workspace has a folder `workloads`")
        .map(|entry| entry.expect("the folder's entries can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    // Folders are listed in no order of their own.
    files.sort();
    let mut list = String::from("&[\n");
    for file in &files {
        let name = file.file_stem().and_then(|name| name.to_str()).expect("a preset's name is UTF-8");
        let path = absolute(file);
        writeln!(list, "    ({name:?}, include_str!({path:?})),").expect("writing to a string succeeds");
        println!("cargo::rerun-if-changed={path}");
    }
    list.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets the output folder"));
    fs::write(out.join("presets.rs"), list).expect("the list of presets can be written");
}

fn absolute(file: &Path) -> String {
    let path = file.canonicalize().expect("a listed file exists");
    path.to_str().expect("the workspace's path is UTF-8").to_owned()
}
