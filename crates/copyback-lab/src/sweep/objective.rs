//! Objectives of a sweep: conditions that rows of its table must meet, and the number to minimise or maximise.

mod columns;
mod near;
pub mod standing;

use crate::matched;
use crate::steady;
pub use columns::{
    Columns, ShownColumn, Source, TextColumn, is_of_some_runs, is_usual, numbers_of_workloads, percent_of, short_of,
    spelled_out,
};
use copyback::config::layers::{LayerError, Text, TextSpan, nearest};
use copyback::observe::steady::Verdict;
pub use near::{LISTED, near_names};
use std::sync::Arc;

/// An objective as texts. `min` goes before `max`.
#[derive(Clone, Debug, Default)]
pub struct ObjectiveText {
    /// Conditions that a row must meet, such as `response.read.p99_9 < 5ms`.
    pub conditions: Vec<String>,
    /// The number to minimise.
    pub min: Option<String>,
    /// The number to maximise.
    pub max: Option<String>,
    /// Columns to show, by name; the usual ones if it is empty.
    pub show: Vec<String>,
}

/// Conditions on the rows of a sweep's table, and the number to minimise or maximise.
#[derive(Clone, Debug, Default)]
pub struct Objective {
    /// Conditions, all of which must hold.
    pub conditions: Vec<Condition>,
    /// The number to minimise or maximise.
    pub best: Option<Best>,
    /// Further columns to show.
    show: Vec<Name>,
}

/// `NAME < VALUE`, or another comparison.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The name of the column.
    pub name: Name,
    /// The comparison.
    pub comparison: Comparison,
    /// The value to compare with.
    pub value: Name,
}

/// A word of an argument, and its place.
#[derive(Clone, Debug)]
pub struct Name {
    /// The word.
    pub word: String,
    place: TextSpan,
}

/// A number to minimise or maximise.
#[derive(Clone, Debug)]
pub struct Best {
    /// The number.
    pub name: Name,
    /// Whether to maximise it.
    pub is_most: bool,
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `=` or `==`
    Is,
    /// `!=`
    IsNot,
}

/// Signs of comparisons; if two begin alike, the longer one comes first.
const SIGNS: &[(&str, Comparison)] = &[
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("!=", Comparison::IsNot),
    ("==", Comparison::Is),
    ("<", Comparison::Below),
    (">", Comparison::Above),
    ("=", Comparison::Is),
];

impl Comparison {
    /// How it is written.
    pub fn sign(self) -> &'static str {
        SIGNS.iter().rfind(|(_, comparison)| *comparison == self).expect("each has a sign").0
    }

    /// Whether it holds.
    pub fn holds<T: PartialOrd>(self, left: T, right: T) -> bool {
        match self {
            Self::Below => left < right,
            Self::AtMost => left <= right,
            Self::Above => left > right,
            Self::AtLeast => left >= right,
            Self::Is => left == right,
            Self::IsNot => left != right,
        }
    }
}

/// A condition whose column is known.
#[derive(Clone, Debug)]
pub struct Test {
    /// The column.
    pub column: ShownColumn,
    /// How it is compared.
    pub comparison: Comparison,
    /// The number to compare with; `None` if texts are compared.
    pub number: Option<f64>,
    /// The text that it is compared with, as it was given.
    pub text: String,
}

impl Objective {
    /// Reads an objective; `None` if it has no part.
    ///
    /// # Errors
    /// If a condition lacks a name, a comparison or a value.
    pub fn parse(text: &ObjectiveText) -> Result<Option<Self>, LayerError> {
        let conditions = text.conditions.iter().map(|text| Condition::parse(text)).collect::<Result<Vec<_>, _>>()?;
        let best = |flag: &str, name: &Option<String>, is_most| {
            name.as_ref().map(|text| Best { name: Name::of(&argument(flag, text), 0..text.len()), is_most })
        };
        let best = best("--min", &text.min, false).or(best("--max", &text.max, true));
        let mut show = matched::completed(&text.show);
        let asked = conditions.iter().map(|condition| &condition.name).chain(best.iter().map(|best| &best.name));
        let beside = matched::own_beside(asked.map(|name| name.word.as_str()));
        show.extend(beside.into_iter().filter(|word| !text.show.contains(word)));
        let show: Vec<Name> = show.iter().map(|text| Name::of(&argument("--show", text), 0..text.len())).collect();
        let is_asked = !conditions.is_empty() || best.is_some() || !show.is_empty();
        Ok(is_asked.then_some(Self { conditions, best, show }))
    }

    /// Refuses wrong names that are known before any run.
    pub fn check_names(&self, columns: &Columns<'_>) -> Result<(), LayerError> {
        self.check_those(columns, is_usual)
    }

    /// Refuses wrong names that the first finished cell reveals.
    pub fn check(&self, columns: &Columns<'_>) -> Result<(), LayerError> {
        self.check_those(columns, |word| !is_of_some_runs(word))
    }

    fn check_those(&self, columns: &Columns<'_>, is_checked: fn(&str) -> bool) -> Result<(), LayerError> {
        let is_of_all = |name: &Name| is_checked(&name.word);
        let conditions = self.conditions.iter().filter(|condition| is_of_all(&condition.name));
        conditions.into_iter().try_for_each(|condition| condition.resolve(columns).map(drop))?;
        if self.best.as_ref().is_some_and(|best| is_of_all(&best.name)) {
            self.best(columns)?;
        }
        self.show.iter().filter(|name| is_of_all(name)).try_for_each(|name| columns.find(name).map(drop))
    }

    /// Additional columns to show.
    pub fn shown(&self, columns: &Columns<'_>) -> Result<Vec<ShownColumn>, LayerError> {
        self.show.iter().map(|name| columns.find(name)).collect()
    }

    /// The conditions with their columns.
    pub fn tests(&self, columns: &Columns<'_>) -> Result<Vec<Test>, LayerError> {
        self.conditions.iter().map(|condition| condition.resolve(columns)).collect()
    }

    /// The column of the least or the most, and whether the most is wanted.
    pub fn best(&self, columns: &Columns<'_>) -> Result<Option<(ShownColumn, bool)>, LayerError> {
        let Some(best) = &self.best else { return Ok(None) };
        let asked = columns.find(&best.name)?;
        if asked.unit.is_none() {
            let message = match asked.source {
                Source::Seed => "`seed` is no result, and rows are means over seeds".to_owned(),
                _ => format!("`{}` has texts, which have no least or most", best.name.word),
            };
            return Err(best.name.refuse(message).with_help("name a number: capacity.over_provisioning, say"));
        }
        Ok(Some((asked, best.is_most)))
    }
}

impl Condition {
    /// Its text, with single blanks.
    pub fn text(&self) -> String {
        format!("{} {} {}", self.name.word, self.comparison.sign(), self.value.word)
    }

    /// Reads one.
    ///
    /// # Errors
    /// If it lacks a name, a comparison or a value.
    pub fn parse(text: &str) -> Result<Self, LayerError> {
        let whole = argument("--where", text);
        let example = "write for example --where 'response.read.p99_9 < 5ms'";
        let sign = (0..text.len()).filter(|at| text.is_char_boundary(*at)).find_map(|at| {
            let sign = SIGNS.iter().find(|(sign, _)| text[at..].starts_with(sign));
            sign.map(|(sign, comparison)| (at, sign.len(), *comparison))
        });
        let Some((at, length, comparison)) = sign else {
            let error = Name::of(&whole, 0..text.len()).refuse(format!("`{text}` compares nothing"));
            return Err(
                error.with_help(format!("{example}, and repeat it for several; comparisons: <, <=, >, >=, =, !="))
            );
        };
        let (name, value) = (Name::of(&whole, 0..at), Name::of(&whole, at + length..text.len()));
        if name.word.is_empty() || value.word.is_empty() {
            let what = if name.word.is_empty() { "name" } else { "value" };
            let error = Name::of(&whole, 0..text.len()).refuse(format!("`{text}` lacks the {what}"));
            return Err(error.with_help(example));
        }
        if value.word.starts_with(['<', '>', '=', '!']) {
            let after = text[at..].find(|c| !"<>=! ".contains(c)).map_or(text.len(), |end| at + end);
            let written = text[at..after].trim();
            let error = Name::of(&whole, at..text.len()).refuse(format!("`{written}` is no comparison"));
            return Err(error.with_help("comparisons are <, <=, >, >=, =, !="));
        }
        Ok(Self { name, comparison, value })
    }

    fn resolve(&self, columns: &Columns<'_>) -> Result<Test, LayerError> {
        let column = columns.find(&self.name)?;
        let (comparison, text) = (self.comparison, self.value.word.clone());
        let Some(unit) = column.unit else {
            if !matches!(comparison, Comparison::Is | Comparison::IsNot) {
                let what = if column.source == Source::Seed { "seeds" } else { "texts" };
                let message = format!("`{}` has {what}, which compare only with = and !=", self.name.word);
                return Err(self.name.refuse(message).with_help("compare them with = or !="));
            }
            let text = match column.source {
                Source::Text(TextColumn::Steady) => self.verdict(),
                _ => self.known(&columns.texts(&column.source)),
            };
            let text = text.map_err(|error| self.several().unwrap_or(error))?;
            return Ok(Test { column, comparison, number: None, text });
        };
        let is_named = column.source == Source::Number(self.name.word.clone());
        let refused = |message| self.several().unwrap_or_else(|| self.value.refuse(message));
        let number = unit.read(&text, is_named).map_err(refused)?;
        Ok(Test { column, comparison, number: Some(number), text })
    }
}

impl Condition {
    /// The error if a value contains several conditions. A text may contain such a word.
    fn several(&self) -> Option<LayerError> {
        let word = word_between(&self.value.word)?;
        let message = format!("`{}` is more than one value: `--where` takes one condition", self.value.word);
        Some(self.value.refuse(message).with_help(match word {
            Between::And => "repeat it for each: --where 'A < 1' --where 'B < 2'; all must hold",
            Between::Or => "for `or`, run the command once for each condition; nothing is simulated again",
        }))
    }

    /// The requested text, if the sweep has it: no row would meet a misspelt text.
    fn known(&self, texts: &[String]) -> Result<String, LayerError> {
        let asked = &self.value.word;
        if texts.contains(asked) {
            return Ok(asked.clone());
        }
        let name = &self.name.word;
        let near = nearest(asked, texts.iter().map(String::as_str));
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let all: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
        let error = self.value.refuse(format!("no cell of the sweep has the {name} `{asked}`"));
        Err(error.with_help(format!("{near}cells have {}", all.join(", "))))
    }

    /// The requested verdict, as tables show it; the names in the JSON are accepted, too.
    fn verdict(&self) -> Result<String, LayerError> {
        let asked = &self.value.word;
        let shown = Verdict::ALL.map(steady::short);
        let found =
            Verdict::ALL.into_iter().find(|verdict| [verdict.name(), steady::short(*verdict)].contains(&&**asked));
        found.map(|verdict| steady::short(verdict).to_owned()).ok_or_else(|| {
            let shown: Vec<String> = shown.iter().map(|verdict| format!("`{verdict}`")).collect();
            self.value
                .refuse(format!("`{asked}` is no verdict"))
                .with_help(format!("verdicts are {}", shown.join(", ")))
        })
    }
}

/// The word between two conditions.
enum Between {
    And,
    Or,
}

/// The word before another condition, if a value contains one. A text may have such a word, but no sign behind it.
fn word_between(value: &str) -> Option<Between> {
    let words =
        [(" and ", Between::And), ("&", Between::And), (",", Between::And), (" or ", Between::Or), ("|", Between::Or)];
    let value = value.to_ascii_lowercase();
    let has_sign = |rest: &str| SIGNS.iter().any(|(sign, _)| rest.contains(sign));
    let follows = |word: &str| value.split_once(word).is_some_and(|(_, rest)| has_sign(rest));
    words.into_iter().find_map(|(word, between)| follows(word).then_some(between))
}

impl Name {
    /// The word in a part of an argument, without blanks around it.
    fn of(argument: &Arc<Text>, span: std::ops::Range<usize>) -> Self {
        let part = &argument.text[span.clone()];
        let start = span.start + part.len() - part.trim_start().len();
        let word = part.trim().to_owned();
        let span = start..start + word.len();
        Self { word, place: TextSpan { text: argument.clone(), span } }
    }

    /// An error about the word.
    pub fn refuse(&self, message: String) -> LayerError {
        LayerError::new(message).at(Some(self.place.clone()))
    }
}

fn argument(flag: &str, text: &str) -> Arc<Text> {
    Arc::new(Text::new(flag, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Condition, LayerError> {
        Condition::parse(text)
    }

    #[test]
    fn a_condition_is_a_name_a_sign_and_a_value() {
        for (text, name, comparison, value) in [
            ("response.read.p99_9 < 5ms", "response.read.p99_9", Comparison::Below, "5ms"),
            ("a<=1", "a", Comparison::AtMost, "1"),
            (" a >= 10 % ", "a", Comparison::AtLeast, "10 %"),
            ("scheme == pgc", "scheme", Comparison::Is, "pgc"),
            ("scheme=pgc", "scheme", Comparison::Is, "pgc"),
            ("scheme!=pgc", "scheme", Comparison::IsNot, "pgc"),
        ] {
            let condition = parse(text).unwrap();
            let found = (&*condition.name.word, condition.comparison, &*condition.value.word);
            assert_eq!(found, (name, comparison, value), "{text}");
        }
        assert!(parse("a b c").unwrap_err().to_string().contains("compares nothing"));
        assert!(parse("< 3").unwrap_err().to_string().contains("lacks the name"));
        assert!(parse("a >").unwrap_err().to_string().contains("lacks the value"));
        assert!(parse("µ ≤ 3").is_err(), "no sign, and no panic between bytes");
    }

    #[test]
    fn comparisons_are_what_their_signs_say() {
        let hold = |comparison: Comparison| [1, 2, 3].map(|left| comparison.holds(left, 2));
        assert_eq!(hold(Comparison::Below), [true, false, false]);
        assert_eq!(hold(Comparison::AtMost), [true, true, false]);
        assert_eq!(hold(Comparison::Above), [false, false, true]);
        assert_eq!(hold(Comparison::AtLeast), [false, true, true]);
        assert_eq!(hold(Comparison::Is), [false, true, false]);
        assert_eq!(hold(Comparison::IsNot), [true, false, true]);
    }
}
