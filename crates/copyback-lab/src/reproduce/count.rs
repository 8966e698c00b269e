//! Counts of claims by verdict. Claims that cannot fail, and calibrated claims, are counted separately.

use super::claim::{Claim, Kind};
use super::judge::{Measured, MissingVerdict};
use super::verdict::Verdict;
use crate::format::counted;
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
    /// The direction holds, but a null control shows half of the effect, or more.
    pub null_too: usize,
    /// Missed.
    pub missed: usize,
    /// Measured, but not judged: the measurement has no meaning for the claim, or the seeds differ too much.
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
            "Of {} that can fail and {} not calibrated: {met} {}{share}; \
             {} in direction only ({smaller} smaller,\n{larger} larger); {null_too} {} shown by a control, too; \
             {missed} {} not hold; {not_judged} not judged; {not_measured} not measured\n",
            counted(claims as u64, "claim"),
            verb(claims, ["was", "were"]),
            verb(met, ["holds", "hold"]),
            smaller + larger,
            verb(null_too, ["is", "are"]),
            verb(missed, ["does", "do"]),
        );
        let apart =
            [("calibrated", self.calibrated), ("true by construction", self.construction), ("of our own", self.own)];
        let apart: Vec<String> = apart
            .into_iter()
            .filter(|(_, count)| count.claims > 0)
            .map(|(name, count)| {
                format!("{} {name} ({} {})", count.claims, count.met, verb(count.met, ["holds", "hold"]))
            })
            .collect();
        if !apart.is_empty() {
            text.push_str(&format!("Counted apart: {}\n", apart.join(", ")));
        }
        text
    }
}

/// The form of a verb that follows a count.
fn verb(count: usize, forms: [&'static str; 2]) -> &'static str {
    forms[usize::from(count != 1)]
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
