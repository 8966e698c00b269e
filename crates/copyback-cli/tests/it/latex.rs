//! Does `--latex` write the table that is printed, whole, and with nothing that LaTeX would misread?

use crate::common::{code, copyback, error_text, output_text};
use std::path::Path;

fn written(arguments: &[&str], file: &Path) -> (String, String) {
    let latex = format!("--latex={}", file.display());
    let output = copyback(&[arguments, &[latex.as_str()]].concat());
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    (std::fs::read_to_string(file).expect("it is written"), output_text(&output))
}

/// Rows of a table, without rules, cell by cell.
fn cells(latex: &str) -> Vec<Vec<String>> {
    let rows = latex.lines().filter_map(|line| line.strip_suffix(" \\\\"));
    rows.map(|row| row.split(" & ").map(|cell| cell.trim().to_owned()).collect()).collect()
}

#[test]
fn of_a_comparison_it_is_the_printed_table_with_all_columns() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.tex");
    let base = ["compare", "--schemes", "baseline,my_own=pgc", "--workload", "mixed-70-30", "--requests", "2000"];
    let (latex, text) = written(&base, &file);
    let cells = cells(&latex);
    assert!(latex.contains("\\begin{tabular}{lrrrrrrrrrrr"), "{latex}");
    assert!(latex.contains("\\cmidrule(lr){2-5}\\cmidrule(lr){6-9}"), "{latex}");
    assert_eq!(cells[1][..3], ["scheme", "mean", "p99"].map(str::to_owned));
    assert_eq!([&*cells[2][0], &cells[3][0], &cells[4][0]], ["baseline", "my\\_own", ""]);
    assert!(cells[1..].iter().all(|row| row.len() == cells[1].len()));
    // Each value of the text is in the table.
    let baseline = text.lines().find(|line| line.starts_with("baseline")).unwrap();
    for value in baseline.split("  ").map(str::trim).filter(|value| !["", "-"].contains(value)) {
        assert!(cells[2].iter().any(|cell| cell == value), "{value}: {:?}", cells[2]);
    }
    assert!(cells[4].iter().any(|cell| cell.starts_with("$-$") && cell.ends_with(" \\%")), "{:?}", cells[4]);
    let shown = written(&[&base[..], &["--show", "read.p99,wa"]].concat(), &folder.path().join("b.tex")).0;
    assert_eq!(self::cells(&shown)[0], ["scheme", "read.p99", "wa"]);
    assert_eq!(self::cells(&shown).len(), 4);
}

#[test]
fn latex_of_a_run_has_the_response_times() {
    let output =
        copyback(&["run", "--workload", "mixed-70-30", "--requests", "300", "--show", "mean,p99", "--latex=-"]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let text = output_text(&output);
    assert!(text.starts_with("% needs \\usepackage{booktabs}\n\\begin{tabular}{lrrr}\n"), "{text}");
    assert!(text.ends_with("\\bottomrule\n\\end{tabular}\n"), "{text}");
    assert_eq!(cells(&text)[0], ["class", "requests", "mean", "p99"]);
    let twice = copyback(&["run", "--requests", "300", "--latex=-", "--json=-"]);
    assert_eq!(code(&twice), 2);
    assert!(error_text(&twice).contains("give one of them a file"), "{}", error_text(&twice));
}

#[test]
fn of_a_sweep_it_has_the_cells_or_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (file, latex) = (folder.path().join("grid.toml"), folder.path().join("a.tex"));
    let grid = "schemes = [\"baseline\", \"pgc\"]\nworkload = \"mixed-70-30\"\nrequests = 300\nseeds = [1, 2]\n\
                [vary]\ncapacity.over_provisioning = [0.15, 0.3]\n";
    std::fs::write(&file, grid).unwrap();
    let out = format!("--out={}", folder.path().join("grid.parquet").display());
    let base = ["sweep", file.to_str().unwrap(), &out];
    let table = written(&base, &latex).0;
    for part in ["\\emph{capacity.over\\_provisioning=0.15}", "\n$\\pm$ & ", "\npgc & ", "\\addlinespace"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let answer = written(&[&base[..], &["--where", "scheme = pgc", "--min", "read.mean"]].concat(), &latex).0;
    assert!(answer.contains("pgc & ") && !answer.contains("baseline"), "{answer}");
    // It is no file that the sweep reads or writes.
    let clash = format!("--latex={}", file.display());
    let refused = copyback(&[&base[..], &[clash.as_str()]].concat());
    assert_eq!(
        (code(&refused), std::fs::read_to_string(&file).unwrap().as_str()),
        (2, grid),
        "{}",
        error_text(&refused)
    );
}
