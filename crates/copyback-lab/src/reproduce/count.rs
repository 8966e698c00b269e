//! Counts of claims by verdict. Claims that cannot fail, and calibrated claims, are counted separately.

use super::claim::{Claim, Kind};
use super::judge::{Measured, MissingVerdict};
use super::verdict::Verdict;
use serde::{Deserialize, Serialize};

/// Claims of one kind by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// All of them.
    pub claims: usize,
    /// Met.
    pub met: usize,
    /// The direction holds, and the effect is smaller.
    pub smaller: usize,
    /// The direction holds, and the effect is larger.
    pub larger: usize,
    /// Met, but a null control meets it, too.
    pub null_too: usize,
    /// Missed.
    pub missed: usize,
    /// Measured, but the measurement has no meaning for the claim.
    pub not_judged: usize,
    /// Not measured.
    pub not_measured: usize,
}

/// Claims by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Claims that can fail and were not calibrated.
    pub claims: Count,
    /// Claims by which the experiment was calibrated.
    pub calibrated: Count,
    /// Claims that hold by construction.
    pub construction: Count,
    /// Claims for which the paper has no number.
    pub own: Count,
}

impl Counts {
    /// Counts claims.
    pub fn of<'a>(claims: impl Iterator<Item = (&'a Claim, &'a Measured)>) -> Self {
        let mut counts = Self::default();
        for (claim, measured) in claims {
            let count = match claim.kind {
                Kind::Claim => &mut counts.claims,
                Kind::Calibrated => &mut counts.calibrated,
                Kind::Construction => &mut counts.construction,
                Kind::Own => &mut counts.own,
            };
            count.add(&measured.outcome);
        }
        counts
    }

    /// The text below a table.
    pub fn text(&self) -> String {
        let Count { claims, met, smaller, larger, null_too, missed, not_judged, not_measured } = self.claims;
        let share = if claims > 0 { format!(" ({:.0} %)", 100.0 * met as f64 / claims as f64) } else { String::new() };
        let mut text = format!(
            "Of {claims} claims that can fail and were not calibrated: {met} met{share}; \
             {} hold in direction only ({smaller} smaller,\n{larger} larger); {null_too} met by a null control, too; \
             {missed} missed; {not_judged} not judged; {not_measured} not measured\n",
            smaller + larger,
        );
        let apart =
            [("calibrated", self.calibrated), ("true by construction", self.construction), ("of our own", self.own)];
        let apart: Vec<String> = apart
            .into_iter()
            .filter(|(_, count)| count.claims > 0)
            .map(|(name, count)| format!("{} {name} ({} met)", count.claims, count.met))
            .collect();
        if !apart.is_empty() {
            text.push_str(&format!("Counted apart: {}\n", apart.join(", ")));
        }
        text
    }
}

impl Count {
    fn add(&mut self, outcome: &Result<Verdict, MissingVerdict>) {
        self.claims += 1;
        let place = match outcome {
            Ok(Verdict::Met) => &mut self.met,
            Ok(Verdict::Smaller) => &mut self.smaller,
            Ok(Verdict::Larger) => &mut self.larger,
            Ok(Verdict::NullToo) => &mut self.null_too,
            Ok(Verdict::Unclear) | Err(MissingVerdict::NotJudged(_)) => &mut self.not_judged,
            Err(MissingVerdict::NotMeasured(_)) => &mut self.not_measured,
            Ok(Verdict::NoEffect | Verdict::Effect | Verdict::Opposite | Verdict::TooLow | Verdict::TooHigh) => {
                &mut self.missed
            }
        };
        *place += 1;
    }
}
