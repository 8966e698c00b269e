//! The papers' experiments, compiled in. A new one is a TOML file and a line here.

use crate::failure::Failure;
use crate::sweep::file::SweepFile;
use copyback::config::layers::{LayerError, Located, Text, suggestion};
use std::path::Path;
use std::sync::Arc;

/// A paper and its experiments.
pub struct Paper {
    /// What users call it.
    pub name: &'static str,
    /// File stems and texts.
    texts: &'static [(&'static str, &'static str)],
}

macro_rules! experiments {
    ($paper:literal: $($stem:literal),+ $(,)?) => {
        Paper {
            name: $paper,
            texts: &[$(($stem, include_str!(concat!("../../../../experiments/", $paper, "/", $stem, ".toml")))),+],
        }
    };
}

/// All papers.
pub const PAPERS: &[Paper] = &[
    experiments!(
        "ispass11": "fig8a", "fig8b", "fig8c", "fig8d", "fig9", "fig10", "fig11", "fig12", "polling"
    ),
    experiments!(
        "hpdc18": "table2", "fig9", "fig10", "fig11", "fig12", "fig13", "section6.6", "fig4", "section4.4", "global-gc"
    ),
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

impl Paper {
    /// The experiments of a figure, or all: `9` is `fig9`, `8` is `fig8a` to `fig8d`, `polling` is itself.
    pub fn files(&self, figure: Option<&str>) -> Result<Vec<(String, SweepFile)>, Failure> {
        let is_chosen = |stem: &str| {
            let Some(figure) = figure else { return true };
            let rest = stem.strip_prefix(&format!("fig{figure}"));
            stem == figure || rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        let chosen: Vec<_> = self.texts.iter().filter(|(stem, _)| is_chosen(stem)).collect();
        if chosen.is_empty() {
            let figure = figure.unwrap_or_default();
            let stems = self.texts.iter().map(|(stem, _)| stem.strip_prefix("fig").unwrap_or(stem));
            let error = Failure::input(format!("{} has no experiment for figure `{figure}`", self.name));
            return Err(error.with_help(suggestion(figure, "figures", stems)));
        }
        let file = |(stem, text): &&(&'static str, &str)| Ok(((*stem).to_owned(), self.parse(stem, text)?));
        chosen.iter().map(file).collect()
    }

    fn parse(&self, stem: &str, text: &str) -> Result<SweepFile, LayerError> {
        let named = |stem: &str| format!("experiments/{}/{stem}.toml", self.name);
        let text_of = |stem: &str, text: &str| Arc::new(Text { name: named(stem), text: text.to_owned() });
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
    use crate::reproduce::claim::Claim;
    use crate::sweep::grid::{self, Overrides};
    use copyback::config::presets::{self, SCHEMES};

    /// Each file parses, its claims fit its grid, and its cells resolve. Files with schemes that are not built in are
    /// only parsed.
    #[test]
    fn every_experiment_is_sound() {
        for paper in PAPERS {
            for (stem, file) in paper.files(None).unwrap() {
                let claims = Claim::of_file(&file).unwrap_or_else(|error| panic!("{}/{stem}: {error}", paper.name));
                assert!(!claims.is_empty(), "{}/{stem} claims nothing", paper.name);
                if file.schemes.iter().all(|scheme| presets::find(SCHEMES, &scheme.value).is_some()) {
                    let grid = grid::cells(&file, &Overrides::default());
                    let grid = grid.unwrap_or_else(|error| panic!("{}/{stem}: {error:?}", paper.name));
                    assert!(!grid.cells.is_empty(), "{}/{stem} has no cell", paper.name);
                }
            }
        }
    }

    #[test]
    fn every_file_in_the_folder_is_compiled_in() {
        for paper in PAPERS {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(paper.name);
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let stem = path.file_stem().unwrap().to_str().unwrap();
                assert!(paper.texts.iter().any(|(known, _)| *known == stem), "{} is not listed", path.display());
            }
        }
    }

    #[test]
    fn figures_are_found_by_their_numbers() {
        let stems = |figure| -> Vec<String> {
            find("ispass11").unwrap().files(Some(figure)).unwrap().into_iter().map(|(stem, _)| stem).collect()
        };
        assert_eq!(stems("8"), ["fig8a", "fig8b", "fig8c", "fig8d"]);
        assert_eq!(stems("8a"), ["fig8a"]);
        assert_eq!(stems("fig8a"), ["fig8a"]);
        assert!(find("ispass11").unwrap().files(Some("1")).is_err());
    }
}
