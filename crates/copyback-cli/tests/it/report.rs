//! Does `copyback report` make one small page of results, the same each time, and refuse what is none?

use crate::common::{code, copyback, error_text, output_text};
use serde_json::Value;
use std::path::Path;

fn text(path: &Path) -> &str {
    path.to_str().expect("names of tests are UTF-8")
}

/// Runs of two schemes in a folder.
fn runs(folder: &Path) {
    let done = copyback(&["compare", "-S", "baseline,pgc", "--requests", "500", "--quiet", "--out", text(folder)]);
    assert_eq!(code(&done), 0, "{}", error_text(&done));
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
    assert_eq!(code(&done), 0, "{}", error_text(&done));
    assert!(output_text(&done).contains("first, 2 runs"), "{}", output_text(&done));
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
    std::fs::write(at("runs.json"), "{\"schema\": \"copyback/run/1\"}").unwrap();
    std::fs::write(at("no-runs.json"), "{\"schema\": \"copyback/compare/1\", \"results\": []}").unwrap();
    std::fs::write(at("cut.parquet"), "PAR1").unwrap();
    for (name, says) in [
        ("none", "there is no result"),
        ("empty", "holds no results"),
        ("a.toml", "is neither JSON nor a Parquet table"),
        ("a.json", "copyback/validate/1"),
        ("b.json", "cannot be read"),
        ("runs.json", "has no results of runs"),
        ("no-runs.json", "has no results of runs"),
        ("cut.parquet", "is no whole Parquet table"),
        ("r/summary.parquet", "name its folder, that of --out"),
    ] {
        let done = report(&[&at(name)], &at("page.html"));
        assert_eq!(code(&done), 2, "{name}: {}", error_text(&done));
        assert!(error_text(&done).contains(says), "{name}: {}", error_text(&done));
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
        assert_eq!(code(&done), 2, "{}", error_text(&done));
        assert_eq!(std::fs::read(&document).unwrap(), before);
    }
    // The message names the folder: `--out` is the page here.
    let text = error_text(&report(&[&results], &results.join("page.html")));
    assert!(text.contains("r, which holds only the results of a run"), "{text}");
}

/// A few bytes of a document can stand for much data: the program refuses or shortens it before it takes memory.
#[test]
fn a_hostile_document_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [results, page, document] = ["r", "page.html", "d.json"].map(|name| folder.path().join(name));
    let head = "{\"schema\":\"copyback/run/1\",\"results\":[";
    std::fs::write(&document, format!("{head}{}]}}", vec!["1"; 4_000_001].join(","))).unwrap();
    let output = report(&[&document], &page);
    let text = error_text(&output);
    assert_eq!(code(&output), 2, "{text}");
    assert!(
        text.contains("more values than any document of results: more than 4,000,000") && text.contains("help: "),
        "{text}"
    );
    // If there are too many dies to list, the page has the number of those that are left out.
    runs(&results);
    let path = results.join("results.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"channels\": 4", "\"channels\": 4000000000")).unwrap();
    let started = std::time::Instant::now();
    let output = report(&[&results], &page);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    assert!(started.elapsed().as_secs() < 20);
    let left_out = &data(&std::fs::read_to_string(&page).unwrap())["sources"][0]["runs"][0]["dies"]["dies_left_out"];
    assert!(left_out.as_u64().is_some_and(|dies| dies > 10_000_000_000), "{left_out}");
}

fn hostile(document: &str, says: &str) {
    let folder = tempfile::tempdir().unwrap();
    let [page, path] = ["page.html", "d.json"].map(|name| folder.path().join(name));
    std::fs::write(&path, document).unwrap();
    let started = std::time::Instant::now();
    let output = report(&[&path], &page);
    let text = error_text(&output);
    assert_eq!(code(&output), 2, "{text}");
    assert!(text.contains(says) && text.contains("help: ") && text.len() < 1_000, "no {says}: {text}");
    assert!(started.elapsed().as_secs() < 20 && !page.exists());
}

/// A document of runs with this list of them.
fn of_runs(runs: &str) -> String {
    format!("{{\"schema\":\"copyback/run/1\",\"results\":[{runs}]}}")
}

/// A key's name precedes the names of all keys below it: 1 MB of text would make 100 GB of settings.
#[test]
fn keys_that_are_nested_deeply_or_have_long_names_are_refused() {
    let nested = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    hostile(&of_runs(&format!("{{\"config\":{}}}", nested(100_000))), "recursion limit exceeded");
    let long = "k".repeat(500_000);
    let many: Vec<String> = (0..100_000).map(|key| format!("\"{key}\":1")).collect();
    for leaf in ["1", "{}"] {
        let many = many.join(",").replace(":1", &format!(":{leaf}"));
        let config = format!("{{\"config\":{{\"{long}\":{{{many}}}}}}}");
        hostile(&of_runs(&config), "these results make a page of more than ");
    }
    // Deeper than any configuration, but within the limit of the reader.
    let folder = tempfile::tempdir().unwrap();
    let [page, path] = ["page.html", "d.json"].map(|name| folder.path().join(name));
    std::fs::write(&path, of_runs(&format!("{{\"config\":{}}}", nested(100)))).unwrap();
    let output = report(&[&path], &page);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let name = vec!["a"; 100].join(".");
    assert_eq!(data(&std::fs::read_to_string(&page).unwrap())["sources"][0]["runs"][0]["config"][name], "1");
}

#[test]
fn a_page_has_room_for_3000_runs_at_most() {
    let runs = |count: usize| of_runs(&vec!["{}"; count].join(","));
    hostile(&runs(3_001), "more runs than a page has room for: more than 3,000");
    let folder = tempfile::tempdir().unwrap();
    let [page, path] = ["page.html", "d.json"].map(|name| folder.path().join(name));
    std::fs::write(&path, runs(3_000)).unwrap();
    assert!(!error_text(&report(&[&path], &page)).contains("more runs than"));
}

/// A footer of structures in one another, and a page that would unpack to 2 GiB less one byte. In Thrift's compact
/// protocol, fields 1 to 3 of a page's header are its kind and its two lengths.
#[test]
fn a_table_whose_lengths_cannot_be_is_refused_before_it_takes_memory() {
    let folder = tempfile::tempdir().unwrap();
    let [results, page] = ["r", "page.html"].map(|name| folder.path().join(name));
    runs(&results);
    let table = results.join("latency_histograms.parquet");
    let whole = std::fs::read(&table).unwrap();
    let footer = [&b"PAR1"[..], &[0x1c; 100], &100u32.to_le_bytes(), b"PAR1"].concat();
    let header = [0x15, 0, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 2, 0];
    let pages = [&whole[..4], &header, &whole[4 + header.len()..]].concat();
    for (bytes, says) in [
        (footer, "its footer has an impossible end, list or depth"),
        (pages, "the page at byte 4 has an impossible header"),
    ] {
        std::fs::write(&table, bytes).unwrap();
        let output = report(&[&results], &page);
        let text = error_text(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(code(&output), 2, "{text}");
        assert!(text.contains(says) && text.contains("help: "), "no {says}: {text}");
    }
}

#[test]
fn a_page_has_a_title_a_finding_and_lines_at_what_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let [results, page] = ["r", "page.html"].map(|name| folder.path().join(name));
    runs(&results);
    let of = |more: &[&str]| {
        let done = copyback(&[&["report", text(&results), "-o", text(&page)][..], more].concat());
        assert_eq!(code(&done), 0, "{}", error_text(&done));
        std::fs::read_to_string(&page).unwrap()
    };
    let html = of(&["--where", "read.p99 < 1 ms", "--where", "wa >= 100"]);
    assert!(html.contains("<title>baseline, pgc under oltp, drive small - Copyback</title>"), "{}", &html[..900]);
    let data = data(&html);
    let document: Value =
        serde_json::from_str(&std::fs::read_to_string(results.join("results.json")).unwrap()).unwrap();
    let number = |at: usize, name: &str| document["results"][at]["report"]["response"]["read"][name].as_f64().unwrap();
    let found = data["found"][0].as_str().unwrap();
    // 500 requests have no 99.9th percentile: the 99th, which 100 reads have, is compared.
    let best = match number(0, "p99_ns") < number(1, "p99_ns") {
        true => "No scheme has shorter",
        false => "pgc does best: 99 % of reads",
    };
    assert!(found.starts_with(best), "{found}");
    let meets: Vec<&str> = [(0, "baseline"), (1, "pgc")]
        .iter()
        .filter(|(at, _)| number(*at, "p99_ns") < 1e6)
        .map(|(_, name)| *name)
        .collect();
    let met = match meets.as_slice() {
        [] => "No result meets read.p99 < 1 ms; ".to_owned(),
        [one] => format!("{one} meets read.p99 < 1 ms."),
        _ => "All results meet read.p99 < 1 ms.".to_owned(),
    };
    assert!(found.contains(&met), "{met}: {found}");
    assert!(found.contains("No result meets wa >= 100; "), "{found}");
    let line = &data["conditions"][0];
    assert_eq!(
        (line["class"].as_str(), line["value"].as_f64(), line["share"].as_f64()),
        (Some("read"), Some(1e6), Some(0.01))
    );
    assert_eq!(data["styles"]["pgc"], serde_json::json!(["#0072B2", [10, 3]]));
    let html = of(&["--title", "A & <b>"]);
    assert!(html.contains("<title>A &amp; &lt;b&gt; - Copyback</title>"));
    for (condition, says) in
        [("nothing < 3", "have no number `nothing`"), ("wa < fast", "fast"), ("wa", "compares nothing")]
    {
        let done = copyback(&["report", text(&results), "-o", text(&page), "--where", condition]);
        assert_eq!(code(&done), 2, "{condition}");
        assert!(error_text(&done).contains(says), "{condition}: {}", error_text(&done));
    }
}
