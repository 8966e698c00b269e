//! Does every table say whether the drives behind its numbers had settled?

use crate::common::{code, copyback, printed, said};

/// 300 requests erase fewer than 50 blocks; reads alone move nothing.
#[test]
fn a_comparison_has_a_column_of_verdicts() {
    for (workload, verdict) in [("mixed-70-30", "too short"), ("random-read", "-")] {
        let arguments = ["compare", "--workload", workload, "--requests", "300", "--schemes", "baseline,pgc"];
        let output = copyback(&[&arguments[..], &["--quiet"]].concat());
        assert_eq!(code(&output), 0, "{}", said(&output));
        let text = printed(&output);
        let mut lines = text.lines().skip_while(|line| !line.contains("erases") || !line.contains("steady"));
        let heading = lines.next().unwrap_or_else(|| panic!("no heading `steady`: {text}"));
        // Headings and values end in the same column.
        let end = heading.find("steady").expect("a column") + "steady".len();
        for scheme in ["baseline", "pgc"] {
            let line = lines.find(|line| line.starts_with(scheme)).expect("a line of the scheme");
            let cell: String = line.chars().take(end).collect();
            assert!(cell.ends_with(&format!(" {verdict}")), "{workload}: `{cell}` in {text}");
        }
    }
}

#[test]
fn a_reproduction_counts_the_cells_that_are_not_steady() {
    let folder = tempfile::tempdir().unwrap();
    let claims = "schemes = [\"baseline\", \"pgc\"]\nrequests = 300\nworkloads = [\"mixed-70-30\", \"random-read\"]\n\
                  [[claim]]\nfigure = \"1\"\ntext = \"reads\"\nwhere = \"here\"\nmetric = \"response.read.mean_ns\"\n\
                  scheme = \"pgc\"\nagainst = \"baseline\"\ndirection = \"lower\"\n";
    let (file, json) = (folder.path().join("claims.toml"), folder.path().join("claims.json"));
    std::fs::write(&file, claims).unwrap();
    let out = folder.path().join("reproduction");
    let arguments = ["reproduce", file.to_str().unwrap(), "--quiet", "--out", out.to_str().unwrap()];
    let output = copyback(&[&arguments[..], &["--json", json.to_str().unwrap()]].concat());
    assert_eq!(code(&output), 0, "{}", said(&output));
    let text = printed(&output);
    let says = "Note: 2 of 4 runs are not yet steady, or too short to tell: `baseline`, `pgc` in mixed-70-30\n";
    assert!(text.contains(says), "{text}");
    let document: serde_json::Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let cells = document["claims"][0]["cells"].as_array().expect("the cells of the claim");
    let steady: Vec<(&str, bool)> =
        cells.iter().map(|cell| (cell["cell"].as_str().unwrap(), cell["is_steady"].as_bool().unwrap())).collect();
    assert_eq!(steady, [("mixed-70-30", false), ("random-read", true)]);
}
