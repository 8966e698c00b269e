//! The papers' experiments, compiled in. A new one is a TOML file and a line here.

use super::claim::Claim;
use crate::failure::Failure;
use crate::sweep::file::SweepFile;
use copyback::config::layers::{LayerError, Located, Text, suggestion};
use std::path::Path;
use std::sync::Arc;

/// A paper and its experiments.
pub struct Paper {
    /// Its name for users.
    pub name: &'static str,
    /// File stems and texts.
    texts: &'static [(&'static str, &'static str)],
    /// The text of its headlines.
    headlines: &'static str,
    /// The text of what it leaves open.
    open: &'static str,
}

/// The stem of the file with a paper's headlines.
const HEADLINES: &str = "headlines";

macro_rules! experiments {
    ($paper:literal: $($stem:literal),+ $(,)?) => {
        Paper {
            name: $paper,
            texts: &[$(($stem, include_str!(concat!("../../../../experiments/", $paper, "/", $stem, ".toml")))),+],
            headlines: include_str!(concat!("../../../../experiments/", $paper, "/headlines.toml")),
            open: include_str!(concat!("../../../../experiments/", $paper, "/open.toml")),
        }
    };
}

/// All papers.
pub const PAPERS: &[Paper] = &[
    experiments!(
        "ispass11": "fig2", "fig8a", "fig8b", "fig8c", "fig8d", "fig9", "fig9c", "fig10", "fig10c", "fig11", "fig12",
        "polling", "merging"
    ),
    experiments!(
        "hpdc18": "table2", "fig8", "fig9", "fig10", "fig11", "fig12", "fig13", "section6.6", "fig4", "fig4d", "section4.4",
        "section4.4-parity", "global-gc"
    ),
    experiments!("atc18": "fig1", "fig4a", "fig4b", "fig4c", "fig5", "fig5c", "fig6", "fig6b", "fig8", "fig9", "fig10"),
    experiments!("tc12": "fig1", "fig3", "fig6", "fig7", "fig7-writes", "fig8", "fig9", "fig11", "fig11-enterprise", "fig11-skew", "stop", "force", "scope", "gc-aware-reads"),
    experiments!("tpds20": "section4.2.2", "fig9", "fig13", "fig21", "fig22", "fig23", "fig24"),
];

/// The paper of a name.
pub fn find(name: &str) -> Option<&'static Paper> {
    PAPERS.iter().find(|paper| paper.name == name)
}

/// The error about a paper that does not exist.
pub fn unknown(name: &str) -> Failure {
    let names = PAPERS.iter().map(|paper| paper.name);
    let help = suggestion(name, "papers", names);
    Failure::input(format!("unknown paper `{name}`")).with_help(format!("{help}; or name a sweep file with [[claim]]"))
}

/// Whether a figure names a file: `9` is `fig9`, `8` is `fig8a` to `fig8d`, `polling` is itself.
fn names_file(figure: &str, stem: &str) -> bool {
    let rest = stem.strip_prefix(&format!("fig{figure}"));
    stem == figure || rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether an experiment is selected; keeps only its selected claims. A figure names a file, or claims as their list
/// shows them: `T2`, `9a`. Without figures, everything is selected.
pub fn choose(figures: &[String], stem: &str, claims: &mut Vec<Claim>) -> bool {
    if figures.is_empty() || figures.iter().any(|figure| names_file(figure, stem)) {
        return true;
    }
    claims.retain(|claim| figures.iter().any(|figure| figure.eq_ignore_ascii_case(&claim.figure)));
    !claims.is_empty()
}

/// Stops at a figure that neither a file nor a claim has. `known`: names of files and figures of claims.
pub fn refuse_unknown(figures: &[String], paper: &str, known: Vec<String>) -> Result<(), Failure> {
    let is_known = |figure: &String| known.iter().any(|k| figure.eq_ignore_ascii_case(k) || names_file(figure, k));
    let Some(unknown) = figures.iter().find(|figure| !is_known(figure)) else { return Ok(()) };
    let mut names: Vec<&str> = known.iter().map(|name| name.strip_prefix("fig").unwrap_or(name)).collect();
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    let error = Failure::input(format!("{paper} has no experiment for figure `{unknown}`"));
    Err(error.with_help(suggestion(unknown, "figures", names.into_iter())))
}

impl Paper {
    /// All its experiments.
    pub fn files(&self) -> Result<Vec<(String, SweepFile)>, Failure> {
        let file = |(stem, text): &(&'static str, &str)| Ok(((*stem).to_owned(), self.parse(stem, text)?));
        self.texts.iter().map(file).collect()
    }

    /// The file with its headlines.
    pub fn headlines(&self) -> Result<(String, SweepFile), Failure> {
        Ok((HEADLINES.to_owned(), self.parse(HEADLINES, self.headlines)?))
    }

    /// The decisions that it leaves open.
    pub fn open(&self) -> Arc<Text> {
        Arc::new(Text::new(format!("experiments/{}/open.toml", self.name), self.open))
    }

    fn parse(&self, stem: &str, text: &str) -> Result<SweepFile, LayerError> {
        let named = |stem: &str| format!("experiments/{}/{stem}.toml", self.name);
        let text_of = |stem: &str, text: &str| Arc::new(Text::new(named(stem), text));
        let neighbour = |name: &Located| {
            let found = self.texts.iter().find(|(stem, _)| format!("{stem}.toml") == name.value);
            let (stem, text) = found.ok_or_else(|| {
                let error = LayerError::new(format!("there is no grid {}", name.value));
                error.with_help("name a file of the same folder").at(name.place.clone())
            })?;
            Ok(text_of(stem, text))
        };
        SweepFile::parse(&text_of(stem, text), stem, Path::new(""), &neighbour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::claim::{Claim, Kind};
    use crate::sweep::grid::{self, Overrides};
    use copyback::config::presets::{self, SCHEMES};

    /// Each file parses, its claims fit its grid, and its cells resolve. Files with schemes that are not built in are
    /// only parsed.
    #[test]
    fn every_experiment_is_sound() {
        for paper in PAPERS {
            for (stem, file) in paper.files().unwrap() {
                let claims = Claim::of_file(&file).unwrap_or_else(|error| panic!("{}/{stem}: {error}", paper.name));
                assert!(!claims.is_empty(), "{}/{stem} claims nothing", paper.name);
                if file
                    .schemes
                    .iter()
                    .all(|scheme| presets::find(SCHEMES, &file.chosen_scheme(scheme, "").scheme.value).is_some())
                {
                    let grid = grid::cells(&file, &Overrides::default());
                    let grid = grid.unwrap_or_else(|error| panic!("{}/{stem}: {error:?}", paper.name));
                    assert!(!grid.cells.is_empty(), "{}/{stem} has no cell", paper.name);
                }
            }
        }
    }

    /// Each paper has five to eight headlines that can fail and are not calibrated. Each of its headlines has a quoted
    /// sentence and a comparison.
    #[test]
    fn every_paper_declares_its_headlines() {
        for paper in PAPERS {
            let (_, file) = paper.headlines().unwrap();
            let claims = Claim::of_file(&file).unwrap_or_else(|error| panic!("{}: {error}", paper.name));
            let counted = claims.iter().filter(|claim| claim.kind == Kind::Claim).count();
            assert!((5..=8).contains(&counted), "{}: {counted} headlines", paper.name);
            for claim in &claims {
                assert!(claim.quote.as_ref().is_some_and(|quote| quote.len() > 15), "{}: {}", paper.name, claim.text);
                assert!(claim.test.is_ok(), "{}: {}", paper.name, claim.text);
            }
            assert!(file.seeds.len() > 1, "{}: an interval needs seeds", paper.name);
            assert!(!grid::cells(&file, &Overrides::default()).unwrap().cells.is_empty());
        }
    }

    /// Fig. 11 needs its whole overload: a shorter run would miss claims that the whole run meets.
    #[test]
    fn a_part_of_an_overload_is_not_judged() {
        let files = find("ispass11").unwrap().files().unwrap();
        let (_, file) = files.into_iter().find(|(stem, _)| stem == "fig11").unwrap();
        let (quick, whole) = (file.quick_requests.unwrap() as f64, file.requests.unwrap() as f64);
        for claim in Claim::of_file(&file).unwrap() {
            let test = claim.test.unwrap();
            assert_eq!(test.requires.unwrap().text.value, "reads + writes", "{}", claim.text);
            let least = test.requires_at_least.unwrap();
            assert!(quick < least && least <= whole, "{}: {quick} to {whole}, {least}", claim.text);
        }
    }

    #[test]
    fn every_file_in_the_folder_is_compiled_in() {
        for paper in PAPERS {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(paper.name);
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let stem = path.file_stem().unwrap().to_str().unwrap();
                let is_apart = [HEADLINES, "open"].contains(&stem);
                let is_listed = paper.texts.iter().any(|(known, _)| *known == stem);
                assert!(is_apart || is_listed, "{} is not listed", path.display());
            }
        }
    }

    #[test]
    fn figures_are_found_by_their_files_and_by_their_claims() {
        // What is chosen: files, and how many of their claims.
        let chosen = |paper: &str, figures: &[&str]| -> Vec<(String, usize)> {
            let figures: Vec<String> = figures.iter().map(|&figure| figure.to_owned()).collect();
            let files = find(paper).unwrap().files().unwrap().into_iter();
            let chosen = files.filter_map(|(stem, file)| {
                let mut claims = Claim::of_file(&file).unwrap();
                choose(&figures, &stem, &mut claims).then_some((stem, claims.len()))
            });
            chosen.collect()
        };
        let stems = |paper, figures: &[&str]| -> Vec<String> {
            chosen(paper, figures).into_iter().map(|(stem, _)| stem).collect()
        };
        assert_eq!(stems("ispass11", &["8"]), ["fig8a", "fig8b", "fig8c", "fig8d"]);
        assert_eq!(stems("ispass11", &["8a"]), ["fig8a"]);
        assert_eq!(stems("ispass11", &["fig8a", "12"]), ["fig8a", "fig12"]);
        assert_eq!(stems("ispass11", &["iii-a"]), ["polling"]);
        assert_eq!(stems("hpdc18", &["T2"]), ["table2"]);
        assert_eq!(stems("hpdc18", &["4.4"]), ["section4.4", "section4.4-parity", "global-gc"]);
        assert_eq!(stems("hpdc18", &[]).len(), find("hpdc18").unwrap().texts.len());
        assert!(stems("ispass11", &["1"]).is_empty());
        let (whole, part) = (chosen("ispass11", &["9"]), chosen("ispass11", &["9a"]));
        assert!(part[0].0 == "fig9" && part[0].1 > 0 && part[0].1 < whole[0].1, "{part:?} of {whole:?}");
    }
}
