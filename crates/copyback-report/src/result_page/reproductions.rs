//! Documents of `copyback reproduce`: all claims, headlines, or worlds, as the page shows them.

use super::findings;
use crate::reproduction::{curve, described, in_words, share};
use copyback_lab::reproduce::headlines::{self, Headlines};
use copyback_lab::reproduce::worlds::{self, Summary, Worlds};
use copyback_lab::reproduce::{CLAIMS, HEADLINES};
use serde_json::{Value, json};
use std::path::Path;

/// The schema of a document of all claims.
const CLAIMS_SCHEMA: &str = "copyback/reproduce/2";

/// One document of a reproduction.
pub struct ReproductionDocument {
    paper: String,
    /// How many claims, headlines or worlds it has, with the noun in the singular and in the plural.
    count: (usize, &'static str, &'static str),
    /// The finding, in a sentence.
    pub found: String,
    /// The page's data.
    pub drawn: Value,
}

/// Whether a file of a folder is such a document, by its name.
pub fn has_document_name(path: &Path) -> bool {
    let name = path.to_string_lossy();
    name.ends_with(CLAIMS) || name.ends_with(HEADLINES) || (name.ends_with(".json") && name.contains("-worlds"))
}

impl ReproductionDocument {
    /// Reads a document of one of the three schemas; none if the schema is another one.
    ///
    /// # Errors
    /// If the document does not have what its schema promises.
    pub fn read(document: &Value) -> Option<Result<Self, serde_json::Error>> {
        match document["schema"].as_str()? {
            CLAIMS_SCHEMA => Some(Ok(Self::of_claims(document))),
            headlines::SCHEMA => Some(serde_json::from_value(document.clone()).map(|read| Self::of_headlines(&read))),
            worlds::SCHEMA => Some(serde_json::from_value(document.clone()).map(|read| Self::of_worlds(&read))),
            _ => None,
        }
    }

    /// The paper, or the name of the sweep file without its ending.
    pub fn paper(&self) -> &str {
        &self.paper
    }

    /// Its size, in words.
    pub fn counted(&self) -> String {
        let (count, one, many) = self.count;
        format!("{count} {}", if count == 1 { one } else { many })
    }

    fn of_claims(document: &Value) -> Self {
        Self {
            paper: document["paper"].as_str().unwrap_or_default().to_owned(),
            count: (document["claims"].as_array().map_or(0, Vec::len), "claim", "claims"),
            found: findings::of_claims(document),
            drawn: document.clone(),
        }
    }

    fn of_headlines(document: &Headlines) -> Self {
        let row = |headline: &headlines::Headline| {
            let cause = headline.cause.as_ref();
            json!([
                format!("{}: {}", headline.figure, headline.text),
                headline.published,
                headline.with_interval().replace("+/-", "±"),
                headline.work,
                headline.holds.name(),
                cause.map_or_else(String::new, |cause| format!("{}: {}", cause.origin.name(), cause.text)),
            ])
        };
        Self {
            paper: document.paper.clone(),
            count: (document.headlines.len(), "headline", "headlines"),
            found: format!("{}: {}.", document.paper, document.sentence()),
            drawn: json!({
                "paper": document.paper,
                "quick": document.quick,
                "changes": document.changes,
                "headlines": document.headlines.iter().map(row).collect::<Vec<_>>(),
            }),
        }
    }

    fn of_worlds(document: &Worlds) -> Self {
        let summary = Summary::of(document);
        let both = || document.headlines.iter().zip(&summary.headlines);
        let name = |claim: &worlds::WorldClaim| format!("{}: {}", claim.figure, claim.text);
        let row = |(at, (claim, of)): (usize, (&worlds::WorldClaim, &worlds::HeadlineSummary))| {
            let shown = |effect: Option<f64>| effect.map_or_else(|| "–".to_owned(), |effect| claim.shown(effect));
            let quantile = |which: usize| shown(of.quantiles.map(|quantiles| quantiles[which]));
            let decided = shown(document.decided.effects[at]);
            let shares = [share(of.in_size, of), share(of.in_direction, of)];
            json!([name(claim), claim.published, decided, quantile(0), quantile(1), quantile(2), shares[0], shares[1]])
        };
        let decides = both().map(|(claim, of)| {
            json!([name(claim), in_words(&of.decides), of.rule.as_ref().map(described).unwrap_or_default()])
        });
        let decisions = document.decisions.iter().map(|decision| {
            let sentence = format!("{} ({})", decision.sentence, decision.source);
            json!([decision.name, decision.admissible, decision.decided, sentence])
        });
        let counts = format!(
            "{} worlds: {} consistent with the paper, {} inconsistent, {} impossible.{}",
            document.worlds.len(),
            summary.consistent,
            summary.inconsistent,
            summary.impossible,
            if summary.is_of_consistent { "" } else { " Shares are of all worlds that ran." },
        );
        Self {
            paper: document.paper.clone(),
            count: (document.worlds.len(), "world", "worlds"),
            found: format!("{}: {counts}", document.paper),
            drawn: json!({
                "paper": document.paper,
                "quick": false,
                "changes": document.changes,
                "counts": counts,
                "curve": curve::draw(document, &summary),
                "worlds": both().enumerate().map(row).collect::<Vec<_>>(),
                "decides": decides.collect::<Vec<_>>(),
                "decisions": decisions.collect::<Vec<_>>(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result_page::results::ReportInput;

    fn data() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reproduction/data")
    }

    #[test]
    fn headlines_and_worlds_of_a_paper_are_drawn() {
        let read = |name: &str| {
            let text = std::fs::read_to_string(data().join(name)).unwrap();
            ReproductionDocument::read(&serde_json::from_str(&text).unwrap()).unwrap().unwrap()
        };
        let headlines = read("tc12-headlines.json");
        assert_eq!((headlines.paper(), headlines.counted().as_str()), ("tc12", "10 headlines"));
        assert!(headlines.found.starts_with("tc12: Of 8 headlines"), "{}", headlines.found);
        assert_eq!(headlines.drawn["headlines"][0].as_array().unwrap().len(), 6);
        let worlds = read("tc12-worlds.json");
        assert_eq!(worlds.counted(), "100 worlds");
        assert!(worlds.drawn["curve"].as_str().unwrap().starts_with("<svg "));
        let rows = worlds.drawn["worlds"].as_array().unwrap();
        assert!(rows.iter().all(|row| row.as_array().unwrap().len() == 8) && rows.len() >= 7);
    }

    #[test]
    fn a_folder_has_the_claims_headlines_and_worlds_of_its_papers() {
        let folder = ReportInput::read(&data()).unwrap();
        assert!(folder.title().contains("atc18") && folder.title().contains("tpds20"), "{}", folder.title());
        assert!(folder.summary_line().contains("100 worlds"), "{}", folder.summary_line());
    }

    #[test]
    fn a_document_without_what_its_schema_promises_is_refused() {
        let broken = json!({ "schema": worlds::SCHEMA, "paper": "mine" });
        assert!(ReproductionDocument::read(&broken).unwrap().is_err());
        assert!(ReproductionDocument::read(&json!({ "schema": "copyback/other/1" })).is_none());
    }
}
