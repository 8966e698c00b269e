//! Do text and document show the worlds of a paper, as the pages have them?

use super::{Summary, Worlds, json, show};
use copyback_lab::reproduce::worlds::Status;

/// The worlds of a paper, reduced to its first headline.
fn document() -> Worlds {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reproduction/data/ispass11-worlds.json");
    let text = std::fs::read_to_string(path).expect("the pages have the document");
    let mut document: Worlds = serde_json::from_str(&text).expect("it is one of worlds");
    document.headlines.truncate(1);
    for row in document.worlds.iter_mut().chain([&mut document.decided]) {
        row.effects.truncate(1);
        row.holds.truncate(1);
    }
    document
}

#[test]
fn the_text_counts_worlds_and_their_reasons() {
    let mut document = document();
    for row in &mut document.worlds[..7] {
        (row.status, row.why) = (Status::Inconsistent, vec!["Table 2".into()]);
    }
    let count = |status| document.worlds.iter().filter(|row| row.status == status).count();
    let counts = [Status::Consistent, Status::Inconsistent, Status::Impossible].map(count);
    let [consistent, inconsistent, impossible] = counts;
    let line = format!(
        "{consistent} worlds are consistent with the paper, {inconsistent} inconsistent, {impossible} impossible\n"
    );
    let text = show::text(&document, &Summary::of(&document));
    for phrase in [line.as_str(), "  inconsistent: 7 worlds: Table 2\n", "Too few worlds are consistent"] {
        assert!(text.contains(phrase), "no `{phrase}` in {text}");
    }
}

#[test]
fn a_document_is_read_as_it_was_written() {
    let document = document();
    let json = json(&document, &Summary::of(&document)).unwrap();
    let read: Worlds = serde_json::from_str(&json).unwrap();
    assert_eq!(read, document);
}
