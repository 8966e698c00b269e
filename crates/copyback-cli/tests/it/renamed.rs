//! Names of earlier versions are refused, each with its place and its new name.

use crate::common::{code, copyback, error_text};
use copyback::config::renamed::{Kind, RENAMED, Renamed};

/// Claims that measure this number.
fn claims(metric: &str) -> String {
    format!(
        "schemes = [\"baseline\", \"ideal-no-gc\"]\nrequests = 100\n[[claim]]\nfigure = \"1\"\ntext = \"t\"\n\
         where = \"w\"\nscheme = \"ideal-no-gc\"\nagainst = \"baseline\"\nmetric = \"{metric}\"\npublished = -9\n"
    )
}

/// A setting that has the name, and one that has the new name.
fn settings(row: &Renamed) -> [String; 2] {
    let key_of = |table: &str| format!("{table}.policy");
    match row.kind {
        Kind::Table => [key_of(row.old), key_of(row.new)].map(|key| format!("{key}=any")),
        Kind::Key => [row.old, row.new].map(|key| format!("{key}=\"1 us\"")),
        Kind::Policy => [row.old, row.new].map(|policy| {
            let (axis, policy) = policy.split_once('.').expect("an axis and its policy");
            format!("{axis}.policy={policy}")
        }),
        Kind::Number => unreachable!("a number is no setting"),
    }
}

#[test]
fn every_old_name_is_refused_with_its_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let run = |setting: &str| copyback(&["run", "--scheme", "gc-vic", "--requests", "10", "--set", setting]);
    for row in RENAMED {
        let now = |of: &str| of.rsplit('.').find(|part| !part.is_empty()).unwrap_or_default().to_owned();
        if row.kind == Kind::Number {
            let [old, new] = [row.old, row.new].map(|name| match name {
                "blame." | "latency_breakdown." => format!("{name}read_mean_ns.gc"),
                name if name.ends_with('.') => format!("{name}plane"),
                name => name.to_owned(),
            });
            std::fs::write(&path, claims(&old)).unwrap();
            let output = copyback(&["reproduce", path.to_str().unwrap(), "--quiet"]);
            assert_eq!(code(&output), 2, "{row:?}");
            let says = format!("`{old}` is now `{new}`");
            assert!(
                error_text(&output).contains(&says) && error_text(&output).contains("mine.toml:9:10"),
                "{}",
                error_text(&output)
            );
            continue;
        }
        let [old, new] = settings(row);
        let output = run(&old);
        assert_eq!(code(&output), 2, "{row:?}");
        let says = match row.kind {
            Kind::Policy => format!("`{}` is now `{}`", now(row.old), now(row.new)),
            _ => format!("`{}` is now `{}`", row.old, row.new),
        };
        assert!(
            error_text(&output).contains(&says) && error_text(&output).contains("--set:1:"),
            "{}",
            error_text(&output)
        );
        assert!(!error_text(&run(&new)).contains("is now"), "{row:?}");
    }
}

/// `copyback schemes` knows the old names, too, and errors print the new setting, to be copied.
#[test]
fn old_names_lead_to_what_is_to_be_written() {
    for (old, new) in [
        ("slack", "preemption.deadline"),
        ("never", "preemption.none"),
        ("yield", "preemption"),
        ("unit", "granularity"),
        ("yield.points", "preemption.points"),
    ] {
        let output = copyback(&["schemes", old]);
        assert_eq!(code(&output), 2, "{old}");
        for says in [format!("`{old}` is now `{new}`"), format!("copyback schemes {new}")] {
            assert!(error_text(&output).contains(&says), "{}", error_text(&output));
        }
        assert_eq!(code(&copyback(&["schemes", new])), 0, "{new}");
    }
    let unknown = error_text(&copyback(&["schemes", "unit.nothing"]));
    assert!(unknown.contains("there is no scheme, axis or policy"), "{unknown}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.toml");
    std::fs::write(&path, "[set]\nunit.destination = \"global\"\n").unwrap();
    let (set, path) = (["run", "--set", "unit.destination=global"], path.to_str().unwrap());
    for output in [copyback(&set), copyback(&["sweep", path, "--quiet"])] {
        assert!(
            error_text(&output).contains("write `granularity.destination = \"global\"`"),
            "{}",
            error_text(&output)
        );
    }
    std::fs::write(path, "[[case]]\nset.unit.destination = \"global\"\n").unwrap();
    let case = error_text(&copyback(&["sweep", path, "--quiet"]));
    assert!(case.contains("write `granularity.destination = \"global\"`"), "{case}");
    std::fs::write(path, "[unit]\ndestination = \"global\"\ncopyback = true\n").unwrap();
    let several = error_text(&copyback(&["run", path]));
    assert!(several.contains("write [granularity] above its keys"), "{several}");
}

/// In files, too: at the place of the name, and in the settings of a sweep and of a claim.
#[test]
fn old_names_are_refused_where_they_stand_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.toml");
    let refused = |command: &str, text: &str, phrases: &[&str]| {
        std::fs::write(&path, text).unwrap();
        let output = copyback(&[command, path.to_str().unwrap(), "--quiet"]);
        assert_eq!(code(&output), 2, "{text}");
        for phrase in phrases {
            assert!(error_text(&output).contains(phrase), "{text}: no `{phrase}` in {}", error_text(&output));
        }
    };
    let now = "`yield` is now `preemption`";
    refused("run", "requests = 9\n[yield]\npolicy = \"never\"\n", &["old.toml:2:2", now, "`none`"]);
    refused("run", "[preemption]\npolicy = \"slack\"\n", &["old.toml:2:10", "`slack` is now `deadline`"]);
    refused("sweep", "[vary]\nyield.poll = [\"0 ns\"]\n", &["old.toml:2:7", now]);
    refused("sweep", "[set]\nunit.destination = \"global\"\n", &["old.toml:2:6", "`unit` is now `granularity`"]);
    let cells = claims("writes") + "cells = { yield.poll = \"0 ns\" }\n";
    refused("reproduce", &cells, &["`yield.poll` is now `preemption.poll`"]);
}

/// The changelog has the same table.
#[test]
fn the_changelog_lists_every_name_that_changed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../CHANGELOG.md");
    let text = std::fs::read_to_string(path).expect("CHANGELOG.md is there");
    for row in RENAMED {
        let written = |name: &str| match row.kind {
            Kind::Table => format!("`[{name}]`"),
            Kind::Policy => {
                let (axis, policy) = name.split_once('.').expect("an axis and its policy");
                format!("`{axis}.policy = \"{policy}\"`")
            }
            Kind::Key => format!("`{name}`"),
            Kind::Number => format!("`{name}{}`", if name.ends_with('.') { "*" } else { "" }),
        };
        let line = format!("| {} | {} |", written(row.old), written(row.new));
        assert!(text.contains(&line), "CHANGELOG.md has no line {line}");
    }
}
