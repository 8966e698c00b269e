//! Does `copyback report` make one small page of results, the same each time, and refuse what is none?

use crate::common::{code, copyback, printed, said};
use serde_json::Value;
use std::path::Path;

fn text(path: &Path) -> &str {
    path.to_str().expect("names of tests are UTF-8")
}

/// Runs of two schemes in a folder.
fn runs(folder: &Path) {
    let done = copyback(&["compare", "-S", "baseline,pgc", "--requests", "500", "--quiet", "--out", text(folder)]);
    assert_eq!(code(&done), 0, "{}", said(&done));
}

fn report(results: &[&Path], out: &Path) -> std::process::Output {
    let results = results.iter().map(|path| text(path));
    copyback(&["report"].into_iter().chain(results).chain(["-o", text(out)]).collect::<Vec<_>>())
}

/// The data of a page.
fn data(html: &str) -> Value {
    let (_, behind) = html.split_once("id=\"data\">").expect("a page has data");
    serde_json::from_str(behind.split_once("</script>").expect("which end").0).expect("they are JSON")
}

#[test]
fn a_page_is_one_small_file_of_the_same_bytes_and_asks_for_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second, page, again] = ["first", "second", "page.html", "again.html"].map(|n| folder.path().join(n));
    runs(&first);
    runs(&second);
    let done = report(&[&first, &second], &page);
    assert_eq!(code(&done), 0, "{}", said(&done));
    assert!(printed(&done).contains("first, 2 runs"), "{}", printed(&done));
    assert_eq!(code(&report(&[&first, &second], &again)), 0);
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html == std::fs::read_to_string(&again).unwrap() && html.len() <= 3_000_000);
    for reference in ["src=\"", "<link rel=\"stylesheet", "@import", "url(http"] {
        assert!(!html.split("id=\"data\"").next().unwrap().contains(reference), "{reference}");
    }
    let sources = data(&html)["sources"].clone();
    let of_results: Value =
        serde_json::from_str(&std::fs::read_to_string(first.join("results.json")).unwrap()).unwrap();
    for (at, scheme) in ["baseline", "pgc"].iter().enumerate() {
        let run = &sources[0]["runs"][at];
        assert_eq!(run["scheme"], *scheme);
        assert_eq!(run["report"]["response"], of_results["results"][at]["report"]["response"]);
        assert_eq!(run["ccdf"]["read"]["count"].as_f64(), run["report"]["reads"].as_f64());
        assert_eq!(run["ccdf"], sources[1]["runs"][at]["ccdf"]);
    }
}

#[test]
fn without_its_folder_a_document_has_fewer_panels() {
    let folder = tempfile::tempdir().unwrap();
    let [results, page] = ["r", "page.html"].map(|name| folder.path().join(name));
    runs(&results);
    assert_eq!(code(&report(&[&results.join("results.json")], &page)), 0);
    let run = data(&std::fs::read_to_string(&page).unwrap())["sources"][0]["runs"][0].clone();
    assert!(run["series"].is_null() && run["dies"].is_null() && run["report"]["reads"].is_number());
}

#[test]
fn what_is_no_result_is_refused_with_what_helps() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    runs(&at("r"));
    std::fs::create_dir(at("empty")).unwrap();
    std::fs::write(at("a.toml"), "device = \"small\"\n").unwrap();
    std::fs::write(at("a.json"), "{\"schema\": \"copyback/validate/1\"}").unwrap();
    std::fs::write(at("b.json"), "[1").unwrap();
    std::fs::write(at("cut.parquet"), "PAR1").unwrap();
    for (name, says) in [
        ("none", "there is no result"),
        ("empty", "holds no results"),
        ("a.toml", "is neither JSON nor a Parquet table"),
        ("a.json", "copyback/validate/1"),
        ("b.json", "cannot be read"),
        ("cut.parquet", "is no whole Parquet table"),
        ("r/summary.parquet", "name the folder of --out"),
    ] {
        let done = report(&[&at(name)], &at("page.html"));
        assert_eq!(code(&done), 2, "{name}: {}", said(&done));
        assert!(said(&done).contains(says), "{name}: {}", said(&done));
        assert!(!at("page.html").exists(), "{name}");
    }
}

#[test]
fn a_result_is_not_written_over_and_its_folder_stays_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("r");
    runs(&results);
    let document = results.join("results.json");
    let before = std::fs::read(&document).unwrap();
    for (result, out) in [(&document, &document), (&results, &results.join("page.html")), (&results, &document)] {
        let done = report(&[result], out);
        assert_eq!(code(&done), 2, "{}", said(&done));
        assert_eq!(std::fs::read(&document).unwrap(), before);
    }
}

/// What a few bytes of a file make large is refused before it takes memory.
#[test]
fn a_hostile_document_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [results, page, document] = ["r", "page.html", "d.json"].map(|name| folder.path().join(name));
    let head = "{\"schema\":\"copyback/run/1\",\"results\":[";
    std::fs::write(&document, format!("{head}{}]}}", vec!["1"; 4_000_001].join(","))).unwrap();
    let output = report(&[&document], &page);
    let text = said(&output);
    assert_eq!(code(&output), 2, "{text}");
    assert!(
        text.contains("more values than any document of results: more than 4,000,000") && text.contains("help: "),
        "{text}"
    );
    // Dies without number are counted, and not listed.
    runs(&results);
    let path = results.join("results.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"channels\": 4", "\"channels\": 4000000000")).unwrap();
    let started = std::time::Instant::now();
    let output = report(&[&results], &page);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(started.elapsed().as_secs() < 20);
    let left_out = &data(&std::fs::read_to_string(&page).unwrap())["sources"][0]["runs"][0]["dies"]["dies_left_out"];
    assert!(left_out.as_u64().is_some_and(|dies| dies > 10_000_000_000), "{left_out}");
}
