//! What is asked of a sweep's table: conditions that its rows are to meet, and the number of which the least or the
//! most is wanted.

use super::file::SweepFile;
use super::grid::Cell;
use super::journal::{CellResult, RunResult};
use super::quantity::{ENDS, Unit};
use crate::args::ObjectiveArgs;
use crate::steady;
use copyback::config::layers::{LayerError, Place, Text, nearest};
use copyback::config::renamed;
use copyback::observe::steady::Verdict;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Objective {
    /// All of them are to hold.
    pub conditions: Vec<Condition>,
    /// What is to be least or most.
    pub best: Option<Best>,
    /// What is shown besides.
    show: Vec<Name>,
}

/// `NAME < VALUE`, or another comparison.
#[derive(Clone, Debug)]
pub struct Condition {
    /// What is compared.
    pub name: Name,
    /// How.
    pub comparison: Comparison,
    /// With what.
    pub value: Name,
}

/// A word of an argument, and where it stands.
#[derive(Clone, Debug)]
pub struct Name {
    /// The word.
    pub word: String,
    place: Place,
}

/// A number to be least or most.
#[derive(Clone, Debug)]
pub struct Best {
    /// The number.
    pub name: Name,
    /// Whether the most is wanted.
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

/// Signs of comparisons; of those that begin alike the longer ones come first.
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

/// A column of the table.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// The varied key at this place of the file.
    Varied(usize),
    /// A number of a run.
    Number(String),
    /// A text of a cell or of a run, one of [`TEXTS`].
    Text(&'static str),
}

/// A column that is asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// As the command line calls it.
    pub title: String,
    /// What it has.
    pub source: Source,
    /// In which unit, where it has numbers.
    pub unit: Option<Unit>,
}

/// A condition whose column is known.
#[derive(Clone, Debug)]
pub struct Test {
    /// The column.
    pub asked: Asked,
    /// How it is compared.
    pub comparison: Comparison,
    /// The number that it is compared with; none where texts are compared.
    pub number: Option<f64>,
    /// The text that it is compared with, as it was given.
    pub text: String,
}

/// Columns of texts.
pub const TEXTS: &[&str] = &["case", "device", "workload", "scheme", "steady"];

/// Parts of a report that some runs have and others have not: whether one has them is seen when all are done.
const OF_SOME_RUNS: &[&str] = &[
    "array",
    "bandwidth",
    "block_reads_max",
    "flash_requests",
    "map",
    "matched",
    "merges",
    "parity",
    "warmup",
    "window",
];

/// Whether a name is of such a part.
pub fn is_of_some_runs(name: &str) -> bool {
    OF_SOME_RUNS.contains(&name.split('.').next().unwrap_or_default())
}

impl Objective {
    /// What the command line asks; nothing where it asks nothing.
    pub fn parse(args: &ObjectiveArgs) -> Result<Option<Self>, LayerError> {
        let conditions = args.conditions.iter().map(|text| Condition::parse(text)).collect::<Result<Vec<_>, _>>()?;
        let best = |flag: &str, name: &Option<String>, is_most| {
            name.as_ref().map(|text| Best { name: Name::of(&argument(flag, text), 0..text.len()), is_most })
        };
        let best = best("--min", &args.min, false).or(best("--max", &args.max, true));
        let show: Vec<Name> = args.show.iter().map(|text| Name::of(&argument("--show", text), 0..text.len())).collect();
        let is_asked = !conditions.is_empty() || best.is_some() || !show.is_empty();
        Ok(is_asked.then_some(Self { conditions, best, show }))
    }

    /// Refuses what a cell that is done shows to be a mistake, before the others have run.
    pub fn check(&self, columns: &Columns<'_>) -> Result<(), LayerError> {
        let is_of_all = |name: &Name| !is_of_some_runs(&name.word);
        let conditions = self.conditions.iter().filter(|condition| is_of_all(&condition.name));
        conditions.into_iter().try_for_each(|condition| condition.resolve(columns).map(drop))?;
        if self.best.as_ref().is_some_and(|best| is_of_all(&best.name)) {
            self.best(columns)?;
        }
        self.show.iter().filter(|name| is_of_all(name)).try_for_each(|name| columns.find(name).map(drop))
    }

    /// Columns that are shown besides.
    pub fn shown(&self, columns: &Columns<'_>) -> Result<Vec<Asked>, LayerError> {
        self.show.iter().map(|name| columns.find(name)).collect()
    }

    /// The conditions with their columns.
    pub fn tests(&self, columns: &Columns<'_>) -> Result<Vec<Test>, LayerError> {
        self.conditions.iter().map(|condition| condition.resolve(columns)).collect()
    }

    /// The column of the least or the most, and whether the most is wanted.
    pub fn best(&self, columns: &Columns<'_>) -> Result<Option<(Asked, bool)>, LayerError> {
        let Some(best) = &self.best else { return Ok(None) };
        let asked = columns.find(&best.name)?;
        if asked.unit.is_none() {
            let message = format!("`{}` has texts, of which none is least or most", best.name.word);
            return Err(best.name.refuse(message).with_help("name a number: capacity.over_provisioning, say"));
        }
        Ok(Some((asked, best.is_most)))
    }
}

impl Condition {
    /// As it was asked, with single blanks.
    pub fn text(&self) -> String {
        let (sign, _) = SIGNS.iter().rfind(|(_, comparison)| *comparison == self.comparison).expect("each has a sign");
        format!("{} {sign} {}", self.name.word, self.value.word)
    }

    fn parse(text: &str) -> Result<Self, LayerError> {
        let whole = argument("--where", text);
        let example = "write for example --where 'response.read.p99_9 < 5ms'";
        let sign = (0..text.len()).filter(|at| text.is_char_boundary(*at)).find_map(|at| {
            let sign = SIGNS.iter().find(|(sign, _)| text[at..].starts_with(sign));
            sign.map(|(sign, comparison)| (at, sign.len(), *comparison))
        });
        let Some((at, length, comparison)) = sign else {
            let error = Name::of(&whole, 0..text.len()).refuse(format!("`{text}` compares nothing"));
            return Err(error.with_help(format!("{example}; comparisons: <, <=, >, >=, =, !=")));
        };
        let (name, value) = (Name::of(&whole, 0..at), Name::of(&whole, at + length..text.len()));
        if name.word.is_empty() || value.word.is_empty() {
            let what = if name.word.is_empty() { "name" } else { "value" };
            let error = Name::of(&whole, 0..text.len()).refuse(format!("`{text}` lacks the {what}"));
            return Err(error.with_help(example));
        }
        Ok(Self { name, comparison, value })
    }

    fn resolve(&self, columns: &Columns<'_>) -> Result<Test, LayerError> {
        let asked = columns.find(&self.name)?;
        let (comparison, text) = (self.comparison, self.value.word.clone());
        let Some(unit) = asked.unit else {
            if matches!(comparison, Comparison::Is | Comparison::IsNot) {
                let text = match asked.source {
                    Source::Text("steady") => self.verdict()?,
                    Source::Text("scheme") => self.scheme(columns)?,
                    _ => text,
                };
                return Ok(Test { asked, comparison, number: None, text });
            }
            let message = format!("`{}` has texts, which are the same or not, and nothing else", self.name.word);
            return Err(self.name.refuse(message).with_help("compare them with = or !="));
        };
        let is_named = asked.source == Source::Number(self.name.word.clone());
        let number = unit.read(&text, is_named).map_err(|message| self.value.refuse(message))?;
        Ok(Test { asked, comparison, number: Some(number), text })
    }
}

impl Condition {
    /// The scheme that is asked for, if the sweep has it.
    fn scheme(&self, columns: &Columns<'_>) -> Result<String, LayerError> {
        let schemes = || columns.file.schemes.iter().map(|scheme| scheme.value.as_str());
        let asked = &self.value.word;
        if schemes().any(|scheme| scheme == asked) {
            return Ok(asked.clone());
        }
        let near = nearest(asked, schemes()).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let all: Vec<String> = schemes().map(|scheme| format!("`{scheme}`")).collect();
        let error = self.value.refuse(format!("the sweep has no scheme `{asked}`"));
        Err(error.with_help(format!("{near}schemes are {}", all.join(", "))))
    }

    /// The verdict that is asked for, as tables show it; the JSON's names will do as well.
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

impl Name {
    /// The word in a part of an argument, without blanks around it.
    fn of(argument: &Arc<Text>, span: std::ops::Range<usize>) -> Self {
        let part = &argument.text[span.clone()];
        let start = span.start + part.len() - part.trim_start().len();
        let word = part.trim().to_owned();
        let span = start..start + word.len();
        Self { word, place: Place { text: argument.clone(), span } }
    }

    fn refuse(&self, message: String) -> LayerError {
        LayerError::new(message).at(Some(self.place.clone()))
    }
}

/// The number that a name stands for: `read.p99` for `response.read.p99_ns`. The unit at its end may be left out, and
/// what all response times begin with.
pub fn spelled_out(word: &str, is_number: impl Fn(&str) -> bool) -> Option<String> {
    let ends = || std::iter::once("").chain(ENDS.iter().map(|(end, _)| *end));
    if word.is_empty() {
        return None;
    }
    let all = ["", "response."].into_iter().flat_map(|begin| ends().map(move |end| format!("{begin}{word}{end}")));
    all.into_iter().find(|name| is_number(name))
}

fn argument(flag: &str, text: &str) -> Arc<Text> {
    Arc::new(Text { name: flag.to_owned(), text: text.to_owned() })
}

/// The columns that rows can be asked for: varied keys, texts, and numbers of the runs that are done.
pub struct Columns<'a> {
    file: &'a SweepFile,
    numbers: BTreeSet<&'a str>,
}

impl<'a> Columns<'a> {
    /// Those of cells that are done.
    pub fn of(file: &'a SweepFile, results: impl Iterator<Item = &'a CellResult>) -> Self {
        let runs = results.flat_map(|result| &result.runs);
        Self { file, numbers: runs.flat_map(|run| run.numbers.keys()).map(String::as_str).collect() }
    }

    /// The column of a name.
    fn find(&self, name: &Name) -> Result<Asked, LayerError> {
        let asked = |source, unit| Asked { title: name.word.clone(), source, unit };
        if let Some(at) = self.file.vary.iter().position(|vary| vary.key == name.word) {
            return Ok(asked(Source::Varied(at), self.unit_of_varied(at)));
        }
        if let Some(text) = TEXTS.iter().find(|text| **text == name.word) {
            return Ok(asked(Source::Text(text), None));
        }
        if let Some(number) = spelled_out(&name.word, |number| self.numbers.contains(number)) {
            let unit = Unit::of_name(&number);
            return Ok(asked(Source::Number(number), Some(unit)));
        }
        Err(self.unknown(name))
    }

    /// The unit of a varied key's values; none where they are texts, or of several units.
    fn unit_of_varied(&self, at: usize) -> Option<Unit> {
        let values = self.file.vary[at].settings.iter().map(|(value, _)| Unit::of_value(value));
        let units = values.map(|of| of.map(|(_, unit)| unit)).collect::<Option<BTreeSet<_>>>()?;
        units.first().copied().filter(|_| units.len() == 1)
    }

    fn unknown(&self, name: &Name) -> LayerError {
        if let Some(new) = renamed::number(&name.word) {
            return name.refuse(format!("`{}` is now `{new}`", name.word)).with_help(format!("write `{new}`"));
        }
        let keys = self.file.vary.iter().map(|vary| vary.key.as_str());
        let all = keys.chain(TEXTS.iter().copied()).chain(self.numbers.iter().copied());
        let near = nearest(&name.word, all).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let help = format!("{near}names are the columns of the table: numbers of the results, and keys of [vary]");
        name.refuse(format!("the sweep has no column `{}`", name.word)).with_help(help)
    }
}

impl Source {
    /// What it is in a run of a cell, as a number; none where it has none.
    pub fn number(&self, cell: &Cell, run: &RunResult) -> Option<f64> {
        match self {
            Self::Varied(at) => Unit::of_value(&cell.varied[*at]).map(|(number, _)| number),
            Self::Number(name) => run.value(name),
            Self::Text(_) => None,
        }
    }

    /// The same as a text.
    pub fn text(&self, cell: &Cell, run: &RunResult) -> String {
        match self {
            Self::Varied(at) => {
                let value = &cell.varied[*at];
                value.as_str().map_or_else(|| value.to_string(), str::to_owned)
            }
            Self::Number(name) => run.value(name).map_or_else(String::new, |number| number.to_string()),
            Self::Text("case") => cell.case.clone(),
            Self::Text("device") => cell.device.clone(),
            Self::Text("workload") => cell.workload.clone(),
            Self::Text("scheme") => run.scheme.clone(),
            Self::Text(_) => steady::short(run.steady).to_owned(),
        }
    }
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
