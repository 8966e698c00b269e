//! Do the pages show what the documents say? Tables and pictures of `docs/reproduction.md`, of the pages below
//! `docs/reproduction` and of the README are written from the JSON documents in `docs/reproduction/data`, between
//! `<!-- NAME -->` and `<!-- /NAME -->`.
//!
//! `UPDATE_DOCS=1 cargo test --package copyback-report --lib reproduction` writes them. The documents themselves are
//! those of `copyback reproduce PAPER` (`PAPER-claims.json`), with `--headlines` (`PAPER-headlines.json`;
//! `PAPER-headlines-*.json` under one other decision each) and with `--worlds N` (`PAPER-worlds.json`).

use super::claims_page::{self, Claims};
use super::{curve, headlines, worlds};
use copyback_lab::reproduce::claim::Claim;
use copyback_lab::reproduce::experiments::PAPERS;
use copyback_lab::reproduce::headlines::{Headlines, Holds};
use copyback_lab::reproduce::runner::Reproduction;
use copyback_lab::reproduce::worlds::{Summary, Worlds};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn is_update() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// A document of the folder, if it is there.
fn read<T: serde::de::DeserializeOwned>(name: &str) -> Option<T> {
    let text = std::fs::read_to_string(root().join("docs/reproduction/data").join(name)).ok()?;
    Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")))
}

/// Tests run side by side, and several write the same page.
static PAGES: Mutex<()> = Mutex::new(());

/// Compares a part of a page with what the program writes, or writes it.
fn check_or_write_part(page: &str, part: &str, content: &str) {
    let _alone = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let path = root().join(page);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"));
    let (begin, end) = (format!("<!-- {part} -->\n"), format!("<!-- /{part} -->"));
    let from = text.find(&begin).unwrap_or_else(|| panic!("{page} has no part `{part}`")) + begin.len();
    let to = from + text[from..].find(&end).unwrap_or_else(|| panic!("the part `{part}` of {page} has no end"));
    let expected = format!("{}\n", content.trim_end());
    if text[from..to] == expected {
        return;
    }
    assert!(is_update(), "{page}: `{part}` differs from its document; write it with UPDATE_DOCS=1");
    std::fs::write(path, format!("{}{expected}{}", &text[..from], &text[to..])).unwrap();
}

/// Compares a file with what the program writes, or writes it.
fn check_or_write_file(name: &str, content: &str) {
    let path = root().join(name);
    if std::fs::read_to_string(&path).is_ok_and(|text| text == content) {
        return;
    }
    assert!(is_update(), "{name} differs from its document; write it with UPDATE_DOCS=1");
    std::fs::write(path, content).unwrap();
}

#[test]
fn the_pages_show_the_headlines() {
    for paper in PAPERS {
        let name = paper.name;
        let Some(document) = read::<Headlines>(&format!("{name}-headlines.json")) else { continue };
        assert!(!document.quick && document.changes.is_empty(), "{name}: not the headlines as decided");
        let worlds = read::<Worlds>(&format!("{name}-worlds.json"));
        let worlds = worlds.filter(|_| !is_outdated(name)).map(|worlds| {
            let summary = Summary::of(&worlds);
            (worlds, summary)
        });
        check_or_write_part(
            "docs/reproduction.md",
            &format!("headlines {name}"),
            &headlines::table(&document, worlds.as_ref()),
        );
        if let Some(others) = headlines::others(&document, worlds.as_ref()) {
            check_or_write_part(&format!("docs/reproduction/{name}.md"), "others", &others);
        }
        let (_, file) = paper.headlines().unwrap();
        let claims = Claim::of_file(&file).unwrap();
        let texts: Vec<&str> = claims.iter().map(|claim| claim.text.as_str()).collect();
        let shown: Vec<&str> = document.headlines.iter().map(|headline| headline.text.as_str()).collect();
        assert_eq!(shown, texts, "{name}: the document is of other headlines");
    }
}

#[test]
fn each_papers_page_shows_all_claims() {
    for paper in PAPERS {
        let name = paper.name;
        let Some(document) = read::<Claims>(&format!("{name}-claims.json")) else { continue };
        assert!(!document.quick && document.changes.is_empty(), "{name}: not the claims as decided");
        check_or_write_part(&format!("docs/reproduction/{name}.md"), "claims", &claims_page::claims(&document));
    }
}

/// The headlines of a paper under other decisions, in the order of their file names.
fn other_decisions(name: &str) -> Vec<Headlines> {
    let begin = format!("{name}-headlines-");
    let files = std::fs::read_dir(root().join("docs/reproduction/data")).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = files.filter(|file| file.starts_with(&begin)).collect();
    files.sort_unstable();
    files.iter().filter_map(|file| read(file)).collect()
}

#[test]
fn each_papers_page_shows_its_headlines_under_other_decisions() {
    for paper in PAPERS {
        let name = paper.name;
        let others = other_decisions(name);
        if others.is_empty() {
            continue;
        }
        assert!(others.iter().all(|other| !other.quick && !other.changes.is_empty()), "{name}: nothing is changed");
        let decided = read(&format!("{name}-headlines.json")).unwrap();
        check_or_write_part(
            &format!("docs/reproduction/{name}.md"),
            "sensitivity",
            &claims_page::sensitivity(&decided, &others),
        );
    }
}

/// How the README names papers and their schemes.
const ROWS: &[(&str, &str, &str)] = &[
    (
        "ispass11",
        "semi-preemptive, ISPASS 2011",
        "`pgc`, `pgc-merge`, `pgc-pipeline`, `pgc-merge-pipeline`, `pgc-idle`",
    ),
    (
        "tc12",
        "coordinated in arrays, IEEE TC 2012",
        "`ggc-reactive-inclusive`, `-selective`, `ggc-proactive-idle`, `-soft-limit`",
    ),
    (
        "hpdc18",
        "I/O-parallelized, HPDC 2018",
        "`gc-par`, `gc-vic`, both with preemption, `hios`, `dynamic-allocation`, `ttflash`",
    ),
    ("atc18", "AutoSSD, ATC 2018", "`autossd`, `autossd-static`, `vanilla`, `strict`, `qosfc`, `rain`"),
    ("tpds20", "from plane to die, TPDS 2020", "`twinblk`, `superpage`, `paragc`, `spd`, `spd-plus`, two baselines"),
];

#[test]
fn the_readme_counts_the_headlines() {
    let mut table =
        "| paper | schemes | headlines | hold | direction only | control, too | do not hold | not judged |\n\
                     |---|---|---|---|---|---|---|---|\n"
            .to_owned();
    for (name, title, schemes) in ROWS {
        let counts = match read::<Headlines>(&format!("{name}-headlines.json")) {
            Some(document) => {
                let all = [Holds::Size, Holds::Direction, Holds::Control, Holds::No, Holds::Unknown];
                let counts = all.iter().map(|holds| document.count(*holds));
                let counts = std::iter::once(document.counted().count()).chain(counts);
                counts.map(|count| count.to_string()).collect::<Vec<_>>().join(" | ")
            }
            None => "- | - | - | - | - | -".into(),
        };
        table += &format!("| {title} | {schemes} | {counts} |\n");
    }
    check_or_write_part("README.md", "headlines", &table);
}

#[test]
fn each_papers_page_shows_its_worlds() {
    for paper in PAPERS {
        let name = paper.name;
        let Some(document) = read::<Worlds>(&format!("{name}-worlds.json")) else { continue };
        let summary = Summary::of(&document);
        let picture = format!("{name}-worlds.svg");
        check_or_write_file(&format!("docs/reproduction/{picture}"), &curve::draw(&document, &summary));
        let content = format!("![The headlines in every world]({picture})\n\n{}", worlds::tables(&document, &summary));
        check_or_write_part(&format!("docs/reproduction/{name}.md"), "worlds", &content);
    }
}

/// What the page of a paper says if its worlds were not drawn from its `open.toml`.
const EARLIER: &str = "These worlds were drawn from an earlier `open.toml`";

/// Whether a paper's page says that its worlds are outdated. `docs/reproduction.md` leaves outdated worlds out.
fn is_outdated(name: &str) -> bool {
    let page = root().join(format!("docs/reproduction/{name}.md"));
    std::fs::read_to_string(page).is_ok_and(|page| page.contains(EARLIER))
}

#[test]
fn worlds_are_drawn_from_the_open_decisions_of_the_paper() {
    for paper in PAPERS {
        let name = paper.name;
        let Some(document) = read::<Worlds>(&format!("{name}-worlds.json")) else { continue };
        let decided: Vec<_> = document.decisions.iter().map(|decision| decision.decided.clone()).collect();
        assert_eq!(document.decided.values, decided, "{name}: the decided world has other decisions");
        // Names, admissible values, decided values, sentences and sections.
        let drawn = (document.part, document.decisions);
        let reproduction = Reproduction { paper: name.to_owned(), ..Reproduction::default() };
        let world_study = reproduction.world_study().unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let stated = (world_study.part(), world_study.decisions());
        if is_outdated(name) {
            assert_ne!(drawn, stated, "{name}: its worlds are of open.toml; remove \"{EARLIER}\" from its page");
        } else {
            assert_eq!(drawn, stated, "{name}: run --worlds again, or write \"{EARLIER}\" on its page");
        }
    }
}

#[test]
fn the_picture_is_the_same_each_time_and_escapes_texts() {
    let mut document: Worlds = read("ispass11-worlds.json").expect("the pages have the document");
    document.headlines.truncate(1);
    document.headlines[0].text = "mean <response>".into();
    let draw = || curve::draw(&document, &Summary::of(&document));
    let svg = draw();
    assert_eq!(svg, draw());
    assert!(svg.contains("mean &lt;response&gt;") && !svg.contains("<response>"), "{svg}");
    // A mark for each world that ran, besides those of the legend.
    let ran = document.worlds.iter().filter(|row| row.effects[0].is_some()).count();
    let unjudged = document.worlds.iter().any(|row| row.holds.contains(&Holds::Unknown));
    assert_eq!(svg.matches("<circle").count(), ran + 4 + usize::from(unjudged));
    assert_eq!(svg.matches("stroke-dasharray").count(), 1);
}
