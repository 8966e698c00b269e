//! Tables fit the width where they are read, and their reader chooses the columns.

use crate::common::{code, copyback, error_text, output_text};
use std::path::Path;

fn output(arguments: &[&str]) -> String {
    let output = copyback(&[arguments, &["--quiet"]].concat());
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    output_text(&output)
}

fn refused(arguments: &[&str], phrases: &[&str]) {
    let output = copyback(&[arguments, &["--quiet"]].concat());
    assert_eq!(code(&output), 2, "{}", output_text(&output));
    phrases
        .iter()
        .for_each(|phrase| assert!(error_text(&output).contains(phrase), "{phrase}: {}", error_text(&output)));
}

/// Lines of a run's section.
fn section<'a>(text: &'a str, title: &str) -> Vec<&'a str> {
    let lines: Vec<&str> = text.lines().skip_while(|line| *line != title).skip(1).collect();
    let next = lines.windows(2).position(|pair| pair[0].is_empty() && !pair[1].starts_with(' '));
    lines[..next.unwrap_or(lines.len())].to_vec()
}

fn assert_narrow(lines: &[&str]) {
    assert!(!lines.is_empty());
    let wide: Vec<&&str> = lines.iter().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn tables_of_a_run_have_all_columns_in_eighty() {
    let text = output(&["run", "--requests", "3000"]);
    for title in ["Response times", "Where the time went", "Over time"] {
        assert_narrow(&section(&text, title));
    }
    // Split, and nothing left out.
    let times = section(&text, "Response times").join(" ");
    for column in ["mean", "p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "p99.9999", "max"] {
        assert!(times.split_whitespace().any(|word| word == column), "no {column}: {times}");
    }
}

/// Sections have one order, whichever of them a run has.
#[test]
fn sections_of_one_and_of_two_workloads_have_one_order() {
    let load = "requests = 150\nread_share = 0.5\nsize = { kind = \"fixed\", mean = \"4 KiB\" }\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("load.toml");
    let run = |tables: &[&str]| {
        let tables: String = tables.iter().map(|table| format!("[{table}]\n{load}")).collect();
        std::fs::write(&file, format!("device = \"small\"\n{tables}")).unwrap();
        output(&["run", file.to_str().unwrap(), "--scheme", "autossd-static", "--closed"])
    };
    let (one, two) = (run(&["workload"]), run(&["workloads.a", "workloads.b"]));
    let titles = |text: &str| -> Vec<String> {
        let is_title =
            |pair: &[&str]| pair[0].is_empty() && !pair[1].is_empty() && !pair[1].starts_with([' ', 'N', 'S']);
        let lines: Vec<&str> = text.lines().collect();
        lines.windows(2).filter(|pair| is_title(pair)).map(|pair| pair[1].to_owned()).collect()
    };
    let [one, mut two] = [titles(&one), titles(&two)];
    assert!(two.iter().any(|title| title == "Each workload"), "{two:?}");
    assert!(one.iter().any(|title| title == "Tasks"), "{one:?}");
    two.retain(|title| title != "Each workload");
    assert_eq!(one, two);
}

#[test]
fn tables_of_a_comparison_fit_eighty_columns() {
    let text = output(&["compare", "--requests", "3000"]);
    let until = text.find("\nNote").expect("notes below the tables");
    let tables: Vec<&str> = text[..until].lines().skip(2).collect();
    assert_narrow(&tables);
}

fn grid(folder: &Path, text: &str) -> (String, String) {
    let (file, out) = (folder.join("grid.toml"), folder.join("grid.parquet"));
    std::fs::write(&file, text).unwrap();
    (file.to_str().unwrap().to_owned(), out.to_str().unwrap().to_owned())
}

const GRID: &str = "schemes = [\"baseline\", \"dynamic-allocation\"]\nrequests = 500\nworkload = \"mixed-70-30\"\n\
                    [vary]\ncapacity.over_provisioning = [0.15, 0.3]\n";

#[test]
fn a_sweep_says_what_there_is_no_room_for() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = grid(folder.path(), GRID);
    let text = output(&["sweep", &file, "--out", &out]);
    let (table, below) = text.split_once("\nLeft out in 80 columns: ").expect("a line of what is left out");
    assert_narrow(&table.lines().skip(2).collect::<Vec<_>>());
    let (names, _) =
        below.split_once("\n(--show NAME,... shows them, and the table's file has all)\n").expect("a remedy");
    assert_narrow(&format!("Left out in 80 columns: {names}").lines().collect::<Vec<_>>());
    // Each column is either in the table or in the list of those that are left out.
    for (title, name) in [("std dev", "response.all.stdev"), ("max", "response.all.max"), ("WA", "write_amplification")]
    {
        assert!(table.contains(title) != below.contains(name), "{title}: {text}");
    }
}

/// A long name leaves room for no column, not even for the verdicts. The program shows each column that it names.
#[test]
fn each_column_that_is_left_out_can_be_shown() {
    let folder = tempfile::tempdir().unwrap();
    let name = "a".repeat(70);
    let (file, out) = grid(folder.path(), GRID);
    let sweep = ["sweep", &file, "--out", &out, "--schemes", &format!("baseline,{name}=pgc")];
    let text = output(&sweep);
    let (_, below) = text.split_once("\nLeft out in 80 columns: ").expect("a line of what is left out");
    let (names, _) = below.split_once("\n(--show").expect("a remedy");
    let names: Vec<&str> = names.split([',', '\n', ' ']).filter(|name| !name.is_empty()).collect();
    assert!(names.contains(&"steady") && names.len() > 5 && !names.contains(&"change"), "{text}");
    let shown = output(&[&sweep[..], &["--show", &names.join(",")]].concat());
    for name in names {
        assert!(shown.contains(name), "{name}: {shown}");
    }
}

/// Columns that do not fit are in a second table, which also has the names of the rows.
#[test]
fn columns_that_a_reader_chooses_fit_eighty() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = grid(folder.path(), &GRID.replacen("requests", "seeds = [1, 2]\nrequests", 1));
    let names = "read.p50,read.p99,read.mean,write.p50,write.p99,write.mean,all.mean,all.max,flash.block_erases";
    let text = output(&["sweep", &file, "--out", &out, "--show", names, "--where", "scheme = baseline"]);
    let (tables, _) = text.split_once("\nNote: ").expect("notes below the tables");
    let lines: Vec<&str> = tables.lines().skip(4).collect();
    assert_narrow(&lines);
    for name in names.split(',').chain(["steady"]) {
        let count = lines.iter().flat_map(|line| line.split_whitespace()).filter(|word| *word == name).count();
        assert_eq!(count, 1, "{name}: {text}");
    }
    let tables = lines.iter().filter(|line| line.contains("read.p50") || line.ends_with("steady")).count();
    assert!(tables == 2, "more than one table: {text}");
}

#[test]
fn no_line_of_a_table_ends_with_blanks() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = grid(folder.path(), &GRID.replacen("requests", "seeds = [1, 2]\nrequests", 1));
    for arguments in [
        &["run", "--requests", "500"][..],
        &["compare", "--schemes", "baseline,pgc", "--requests", "500"],
        &["compare", "--schemes", "baseline,pgc", "--requests", "500", "--show", "read.p99"],
        &["sweep", &file, "--out", &out],
        &["sweep", &file, "--out", &out, "--show", "read.p99"],
    ] {
        let text = output(arguments);
        let ends: Vec<&str> = text.lines().filter(|line| line.ends_with(' ')).collect();
        assert!(ends.is_empty(), "{arguments:?}: {ends:#?}");
    }
}

#[test]
fn a_reader_chooses_the_columns() {
    let common = ["--requests", "3000", "--workload", "mixed-70-30"];
    let compared =
        ["compare", "--schemes", "baseline,pgc", "--show", "read.p99,write.mean,read.p99,flash.block_erases"];
    let text = output(&[&compared[..], &common].concat());
    let heading = text.lines().nth(2).expect("a heading");
    let words: Vec<&str> = heading.split_whitespace().collect();
    assert_eq!(words, ["scheme", "read.p99", "write.mean", "flash.block_erases"]);
    // The erases are those of the usual table.
    let usual = output(&[&["compare", "--schemes", "baseline,pgc"][..], &common].concat());
    let erases = text.lines().nth(3).and_then(|line| line.split_whitespace().last()).expect("erases of baseline");
    assert!(usual.contains(&format!("  {erases}  ")), "{erases}: {usual}");
    // What tables call them are names, too, and so are percentiles as they are shown.
    let called = ["compare", "--schemes", "baseline,pgc", "--show", "read.p99,write.mean,erases,WA,read.p99.9"];
    let called = output(&[&called[..], &common].concat());
    assert!(called.lines().nth(3).is_some_and(|line| line.split_whitespace().any(|word| word == erases)), "{called}");
    // With so few requests, less than one is beyond p99.99.
    let far = output(&[&["compare", "--schemes", "baseline,pgc", "--show", "read.p99_99"][..], &common].concat());
    assert!(far.lines().nth(3).is_some_and(|line| line.ends_with(" -")), "{far}");

    let run = output(&[&["run", "--show", "p50,p99_9,p50,max"][..], &common].concat());
    let heading: Vec<&str> = section(&run, "Response times")[0].split_whitespace().collect();
    assert_eq!(heading, ["class", "requests", "p50", "p99.9", "max"]);

    let folder = tempfile::tempdir().unwrap();
    let (file, out) = grid(folder.path(), GRID);
    let swept = output(&["sweep", &file, "--out", &out, "--show", "read.p99,write_amplification.total"]);
    assert!(swept.lines().any(|line| {
        line.split_whitespace().collect::<Vec<_>>() == ["read.p99", "write_amplification.total", "steady"]
    }));
    assert_eq!(swept.lines().filter(|line| line.starts_with("  baseline")).count(), 2, "{swept}");
}

/// A number looks alike in each command's table.
#[test]
fn a_number_has_one_name_and_one_format_in_all_tables() {
    let common = ["--requests", "2000", "--workload", "mixed-70-30"];
    let show = ["--show", "IOPS,WA,erases,steady,own"];
    let values = |line: &str| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    let compared = output(&[&["compare", "--schemes", "baseline,pgc"], &show[..], &common].concat());
    let heading: Vec<&str> = compared.lines().nth(2).expect("a heading").split_whitespace().collect();
    let names = ["IOPS", "WA", "erases", "steady", "own.read.mean", "own.write.mean"];
    assert_eq!(heading, [&["scheme"], &names[..]].concat());
    let of_compare = values(compared.lines().nth(3).expect("the values of baseline"));

    let run = output(&[&["run"], &show[..], &common].concat());
    let of_run: Vec<String> = section(&run, "Chosen numbers").iter().map(|line| values(line)).collect();
    assert_eq!(of_run.join(" "), of_compare, "{run}");
    // The usual sections of a run have the same texts.
    let iops = of_run[0].clone() + " IOPS";
    let throughput = section(&run, "Requests").into_iter().find(|line| line.contains("throughput")).expect("a rate");
    assert!(throughput.contains(&iops), "{iops} in {throughput}");
    let total = section(&run, "Write amplification")[0];
    assert_eq!(values(total), of_run[1], "{run}");
    let run = output(&[&["run", "--show", "utilization.plane"], &common[..]].concat());
    let share = values(section(&run, "Chosen numbers")[0]);
    let planes = section(&run, "Utilization").into_iter().find(|line| line.contains("planes")).expect("a share");
    assert!(share.ends_with(" %") && planes.contains(&share), "{share} in {planes}");

    let folder = tempfile::tempdir().unwrap();
    let one = "schemes = [\"baseline\"]\nrequests = 2000\nworkload = \"mixed-70-30\"\n";
    let (file, out) = grid(folder.path(), one);
    let swept = output(&[&["sweep", &file, "--out", &out], &show[..]].concat());
    let of_sweep = values(swept.lines().find(|line| line.starts_with("  baseline")).expect("a row"));
    assert_eq!(of_sweep, of_compare, "{swept}");
}

/// Each of several workloads has its own numbers, under its name.
#[test]
fn numbers_of_one_of_several_workloads_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let load = "read_share = 0.0\nrequests = 300\nsize = { kind = \"fixed\", mean = \"4 KiB\" }\n\
                arrivals = { kind = \"poisson\", rate = 2000 }\n";
    let text = format!("device = \"small\"\n[workloads.w1]\n{load}[workloads.w2]\n{load}");
    let file = folder.path().join("two.toml");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let document: serde_json::Value = serde_json::from_str(&output(&["run", file, "--json", "-"])).unwrap();
    let of_w1 = &document["results"][0]["report"]["workloads"]["w1"];
    let p99_ns = of_w1["response"]["write"]["p99_ns"].as_f64().expect("a percentile");
    let (value, unit) = if p99_ns < 1e6 { (p99_ns / 1e3, "us") } else { (p99_ns / 1e6, "ms") };
    let digits = [9.995, 99.95].iter().filter(|limit| value < **limit).count();
    let shown = format!("{value:.digits$} {unit}");
    let run = output(&["run", file, "--show", "w1.write.p99,w1.iops"]);
    let lines = section(&run, "Chosen numbers");
    assert!(lines[0].contains("w1.write.p99") && lines[0].ends_with(&shown), "{shown}: {lines:?}");
    let compared = output(&["compare", file, "--schemes", "baseline,pgc", "--show", "w1.write.p99,w2.own.write.mean"]);
    assert!(compared.lines().nth(3).is_some_and(|line| line.contains(&shown)), "{shown}: {compared}");
    let wrong = "did you mean `w1.write.p99`?";
    refused(&["run", file, "--show", "w1.write.p98"], &["no number `w1.write.p98`", wrong]);
    refused(&["run", file, "--show", "w3.write.p99"], &["no number `w3.write.p99`"]);
}

#[test]
fn a_column_that_is_not_there_is_refused_before_the_run() {
    refused(&["compare", "--show", "read.p98"], &["no number `read.p98`", "did you mean `"]);
    refused(&["run", "--show", "p98"], &["no column `p98`", "did you mean `p99`", "columns: mean, p50"]);
    // A percentile that results have, and tables do not.
    let number = "`read.p95` is a number of the report";
    refused(&["run", "--show", "p95"], &["no column `p95`", "did you mean `p99`", number]);
    // The right name is suggested, if the beginning of a word is wrong or the word is only a part of a name.
    let meant = "did you mean `write_amplification.total`";
    refused(&["compare", "--show", "flash.write_amplification"], &["no number `flash.write_amplification`", meant]);
    refused(&["compare", "--show", "mean"], &["no number `mean`", "did you mean `all.mean`, `read.mean` or"]);
    // For a percentile that results do not have, the nearest one is suggested.
    refused(&["compare", "--show", "read.p42"], &["no number `read.p42`", "did you mean `read.p50`?"]);
    refused(&["run", "--show", "write.p97.5"], &["no number `write.p97.5`", "did you mean `write.p99`?"]);
    refused(&["compare", "--show", "p99"], &["no number `p99`", "did you mean `all.p99`, `read.p99` or `write.p99`?"]);
    refused(&["run", "--show", "write_amplificatoin"], &["did you mean `write_amplification"]);
    refused(&["run", "--show", "matched"], &["this command runs only one", "`own.read.mean`"]);
    let both = ["run", "--show", "p99,iops", "--latex", "-"];
    refused(&both, &["`p99` is a column, and `iops` a number", "choose one kind"]);
    refused(&["compare", "--requests", "50", "--show", "map.hit_ratio"], &["no number `map.hit_ratio`"]);
}
