//! Are the guide's lists of choices those of the registries?

use copyback::run::config::AXES;
use copyback_workload::spec::Format;

/// The words between backticks of a cell.
fn words(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The choices that a table of the guide lists in its first column, one table after the other, with the word that its
/// head has for them: `format`, or the key of a policy.
fn lists(guide: &str) -> Vec<(String, Vec<String>)> {
    let mut lists = Vec::new();
    let mut is_in_list = false;
    let mut lines = guide.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(cell) = line.strip_prefix("| ").and_then(|rest| rest.split(" |").next()) else {
            is_in_list = false;
            continue;
        };
        if lines.peek().is_some_and(|next| next.starts_with("|--")) {
            lines.next();
            let head = cell.trim_matches('`');
            is_in_list = head == "format" || head.ends_with(".policy");
            if is_in_list {
                lists.push((head.to_owned(), Vec::new()));
            }
        } else if is_in_list {
            lists.last_mut().expect("a list was begun").1.extend(words(cell).map(str::to_owned));
        }
    }
    lists
}

/// The choices of a key, in the order of their registry.
fn registered(key: &str) -> Vec<&'static str> {
    if key == "format" {
        return Format::ALL.iter().filter(|format| **format != Format::Auto).map(|format| format.word()).collect();
    }
    let axis = AXES.iter().find(|axis| key.strip_suffix(".policy") == Some(axis.name));
    axis.unwrap_or_else(|| panic!("{key} is no axis")).choices.iter().map(|choice| choice.name).collect()
}

#[test]
fn the_guides_tables_list_what_is_registered() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide.md");
    let guide = std::fs::read_to_string(path).expect("the guide is there");
    let lists = lists(&guide);
    assert!(lists.iter().any(|(key, _)| key == "format"), "the table of formats was not found");
    assert!(lists.len() > 1, "no table of policies was found");
    for (key, mut listed) in lists {
        let mut wanted = registered(&key);
        listed.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(listed, wanted, "docs/guide.md, the table of `{key}`, against its registry");
    }
}
