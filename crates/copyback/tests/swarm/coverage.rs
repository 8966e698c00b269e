//! Counts how often each setting of each knob was in a case that ran.

use crate::knobs::{KNOBS, Mark, name_of, schemes_of_drives};

/// A knob, its settings and how often each ran.
type Row = (&'static str, Vec<(&'static str, u64)>);

/// How often each setting of each knob was in a case that ran.
#[derive(Clone)]
pub struct Coverage {
    rows: Vec<Row>,
}

impl Coverage {
    /// No case ran yet; `more` are the knobs of other files.
    pub fn new(more: &[(&'static str, &[&'static str])]) -> Self {
        let schemes: Vec<&str> = std::iter::once("").chain(schemes_of_drives().iter().map(|s| s.name)).collect();
        let knobs = KNOBS.iter().map(|settings| (name_of(settings), *settings));
        let mut rows: Vec<Row> = Vec::new();
        for (knob, settings) in knobs.chain([("scheme", &schemes[..])]).chain(more.iter().copied()) {
            let at = rows.iter().position(|(name, _)| *name == knob).unwrap_or_else(|| {
                rows.push((knob, Vec::new()));
                rows.len() - 1
            });
            for &setting in settings {
                if rows[at].1.iter().all(|(known, _)| *known != setting) {
                    rows[at].1.push((setting, 0));
                }
            }
        }
        Self { rows }
    }

    /// A case ran.
    ///
    /// # Panics
    /// If a mark is of no known knob. Rows are never added here, so that their order does not depend on the cases.
    pub fn add(&mut self, marks: &[Mark]) {
        for &(knob, setting) in marks {
            let row = self.rows.iter_mut().find(|(name, _)| *name == knob);
            let count = row.and_then(|(_, settings)| settings.iter_mut().find(|(known, _)| *known == setting));
            count.unwrap_or_else(|| panic!("`{setting}` is no setting of the knob {knob}")).1 += 1;
        }
    }

    /// Adds the counts of another worker, which knows the same knobs.
    pub fn merge(&mut self, other: &Self) {
        for ((_, settings), (_, more)) in self.rows.iter_mut().zip(&other.rows) {
            settings.iter_mut().zip(more).for_each(|((_, count), (_, more))| *count += more);
        }
    }

    /// Settings that were in no case that ran.
    pub fn never_ran(&self) -> Vec<Mark> {
        let all = self.rows.iter().flat_map(|(knob, settings)| settings.iter().map(move |s| (*knob, *s)));
        all.filter(|(_, (_, count))| *count == 0).map(|(knob, (setting, _))| (knob, setting)).collect()
    }
}

impl std::fmt::Display for Coverage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (knob, settings) in &self.rows {
            let one = |(setting, count): &(&str, u64)| {
                // A setting's keys are those of its knob, or adjacent ones: the values identify it.
                let values: Vec<&str> = setting.lines().filter_map(|l| l.split_once(" = ").map(|(_, v)| v)).collect();
                let label = if values.is_empty() { setting.to_string() } else { values.join(" ") };
                format!("{} {count}", if label.is_empty() { "-".to_owned() } else { label })
            };
            writeln!(f, "  {knob}: {}", settings.iter().map(one).collect::<Vec<_>>().join(", "))?;
        }
        Ok(())
    }
}
