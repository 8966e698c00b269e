//! The pages of `docs/schemes` are those that the program writes, and each drawing shows a difference.
//!
//! `UPDATE_DOCS=1` rewrites the pages.

use crate::common::*;
use copyback::config::presets::SCHEMES;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemes")
}

/// Files of a folder by name.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry is read").path());
    let name = |path: &Path| path.file_name().expect("it has a name").to_string_lossy().into_owned();
    entries.map(|path| (name(&path), std::fs::read_to_string(&path).expect("a page is a text"))).collect()
}

fn written_anew() -> BTreeMap<String, String> {
    let target = tempfile::tempdir().expect("a folder can be made");
    let output = copyback(&["schemes", "--pages", target.path().to_str().expect("the path is a text")]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    files(target.path())
}

#[test]
fn pages_are_those_that_the_program_writes() {
    let (kept, written) = (files(&folder()), written_anew());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(folder()).expect("the folder can be made");
        for name in kept.keys().filter(|name| !written.contains_key(*name)) {
            std::fs::remove_file(folder().join(name)).expect("an old page can be removed");
        }
        for (name, text) in &written {
            std::fs::write(folder().join(name), text).expect("a page can be written");
        }
        return;
    }
    let is_other = |name: &&String| kept.get(*name) != written.get(*name);
    let names: std::collections::BTreeSet<&String> = kept.keys().chain(written.keys()).collect();
    let other: Vec<&String> = names.into_iter().filter(is_other).collect();
    assert!(other.is_empty(), "{other:?} are not what is written now (UPDATE_DOCS=1 writes them)");
}

/// The text drawing of a page, without its legend.
fn drawing(page: &str) -> Option<&str> {
    let (_, drawn) = page.split_once("\nms         0")?;
    drawn.split("\n\n").next()
}

#[test]
fn a_drawing_differs_from_the_baselines_or_says_that_it_does_not() {
    let pages = files(&folder());
    let baseline = drawing(&pages["baseline.md"]).expect("the baseline is drawn");
    for scheme in SCHEMES {
        let page = &pages[&format!("{}.md", scheme.name)];
        let why = scheme.text.contains("\n# Not drawn: ");
        assert_ne!(why, scheme.text.contains("\n# To see: "), "{} says one of both", scheme.name);
        assert_eq!(drawing(page).is_none(), why, "{}", scheme.name);
        assert_eq!(pages.contains_key(&format!("{}.svg", scheme.name)), !why, "{}", scheme.name);
        let is_same = drawing(page) == Some(baseline);
        let says_so = !why && scheme.text.contains("collections use their die as those of `baseline` do");
        assert_eq!(is_same, says_so || scheme.name == "baseline", "{} is drawn as the baseline, or not", scheme.name);
    }
}

/// Links lead to files, and to headings that are there.
#[test]
fn links_of_pages_lead_somewhere() {
    let pages = files(&folder());
    let anchor = |heading: &str| heading.to_lowercase().replace(' ', "-").replace(':', "");
    for (name, page) in pages.iter().filter(|(name, _)| name.ends_with(".md")) {
        for (at, _) in page.match_indices("](") {
            let target = page[at + 2..].split(')').next().unwrap_or_default();
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let found = match file.strip_prefix("../") {
                Some(_) => std::fs::read_to_string(folder().join(file)).ok(),
                None => pages.get(file).cloned(),
            };
            let found = found.unwrap_or_else(|| panic!("{name} links to {target}"));
            let mut headings =
                found.lines().filter_map(|line| line.strip_prefix("##")?.trim_start_matches('#').strip_prefix(' '));
            assert!(heading.is_empty() || headings.any(|h| anchor(h) == heading), "{name} links to {target}");
        }
    }
}

#[test]
fn a_scheme_is_printed_with_its_drawing_and_stays_a_file() {
    let text = output_text(&copyback(&["schemes", "pgc"]));
    assert!(text.contains("# plane 0    R1=|<<"), "{text}");
    assert!(text.parse::<toml::Table>().is_ok(), "{text}");
    assert!(!output_text(&copyback(&["schemes", "fifo"])).contains("# plane 0"));
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    let file = tempfile::NamedTempFile::new().expect("a file can be made");
    let output = copyback(&["schemes", "--pages", file.path().to_str().expect("the path is a text")]);
    assert_eq!(code(&output), 2, "{}", error_text(&output));
    assert!(error_text(&output).contains("is a file, not a folder"), "{}", error_text(&output));
    let output = copyback(&["schemes", "pgc", "--pages", "x"]);
    assert_eq!(code(&output), 2, "{}", error_text(&output));
}
