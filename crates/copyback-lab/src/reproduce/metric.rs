//! The number that a claim measures: a number of a run, or several, combined by `+`, `*` and one `/`.

use crate::flat::Number;
use crate::sweep::journal::value_of;
use crate::sweep::objective::LISTED;
use crate::sweep::seeds::bin_of;
use copyback::config::layers::{LayerError, Located, nearest};
use copyback::config::renamed;
use std::collections::BTreeMap;

/// Numbers of a run, by name.
pub type Numbers = BTreeMap<String, Number>;

/// `a`, `a / b`, `a + b`, `a * b / c * d`: products before sums, sums before the quotient.
#[derive(Clone, Debug)]
pub struct Metric {
    /// The text in the file.
    pub text: Located,
    over: Sum,
    under: Option<Sum>,
}

/// Products that are added up.
type Sum = Vec<Vec<Factor>>;

#[derive(Clone, Debug)]
enum Factor {
    Number(f64),
    Name(String),
}

impl Metric {
    /// Reads a metric.
    pub fn parse(text: Located) -> Result<Self, LayerError> {
        let parts: Vec<&str> = text.value.split(" / ").collect();
        let product = |product: &str| product.split(" * ").map(|factor| Factor::parse(factor, &text)).collect();
        let sum = |part: &str| part.split(" + ").map(product).collect::<Result<Sum, _>>();
        let (over, under) = match parts[..] {
            [over] => (sum(over)?, None),
            [over, under] => (sum(over)?, Some(sum(under)?)),
            _ => {
                let error = LayerError::new(format!("`{}` divides more than once", text.value));
                return Err(error.with_help("write a * b / c * d: one quotient of two sums").at(text.place));
            }
        };
        Ok(Self { text, over, under })
    }

    /// The metric with other names; `None` if `rename` knows none of them.
    pub fn renamed(&self, rename: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let mut other = self.clone();
        let mut is_renamed = false;
        for factor in other.factors_mut() {
            if let Factor::Name(name) = factor
                && let Some(new) = rename(name)
            {
                (*name, is_renamed) = (new, true);
            }
        }
        is_renamed.then_some(other)
    }

    fn factors_mut(&mut self) -> impl Iterator<Item = &mut Factor> {
        self.over.iter_mut().chain(self.under.iter_mut().flatten()).flatten()
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let factors = self.over.iter().chain(self.under.iter().flatten()).flatten();
        factors.filter_map(|factor| if let Factor::Name(name) = factor { Some(name.as_str()) } else { None })
    }

    /// Refuses a name that no run has.
    pub fn check(&self, numbers: &Numbers) -> Result<(), LayerError> {
        let Some(name) = self.names().find(|name| !numbers.contains_key(*name)) else { return Ok(()) };
        let error = LayerError::new(format!("no run has a number `{name}`"));
        // A claim writes a name in full, with its unit.
        let near = nearest(name, numbers.keys().map(String::as_str));
        let help = near.map_or_else(|| LISTED.to_owned(), |near| format!("did you mean `{near}`?"));
        Err(error.with_help(help).at(self.text.place.clone()))
    }

    /// Its value in one run, or why there is none.
    #[cfg(test)]
    pub fn value(&self, numbers: &Numbers) -> Result<f64, String> {
        self.bound(numbers, Bound::Value)
    }

    /// Its value in one run, or a bound of it: a percentile is the end of a bin of a histogram, and its request may lie
    /// anywhere in the bin.
    pub fn bound(&self, numbers: &Numbers, bound: Bound) -> Result<f64, String> {
        let text = &self.text.value;
        let sum = |sum: &Sum, bound: Bound| {
            let product = |factors: &Vec<Factor>| {
                let of = |is_start| {
                    let value = |factor: &Factor| {
                        factor
                            .value(numbers, is_start)
                            .or_else(|| factor.is_of_counted(factors, numbers).then_some(0.0))
                    };
                    factors.iter().map(value).product::<Option<f64>>()
                };
                let end = of(false)?;
                Some(match bound {
                    Bound::Value => end,
                    Bound::Low => end.min(of(true)?),
                    Bound::High => end.max(of(true)?),
                })
            };
            sum.iter().map(product).sum::<Option<f64>>().ok_or_else(|| format!("`{text}` measured nothing"))
        };
        let over = sum(&self.over, bound)?;
        let value = match self.under.as_ref().map(|under| sum(under, bound.opposite())).transpose()? {
            None => over,
            Some(0.0) => return Err(format!("`{text}` divides by nothing")),
            Some(under) => over / under,
        };
        if value.is_finite() { Ok(value) } else { Err(format!("`{text}` is no number")) }
    }
}

/// The value to use of a number from a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The reported value.
    Value,
    /// The lowest.
    Low,
    /// The highest.
    High,
}

impl Bound {
    /// The bound of a divisor, or of a number that is subtracted.
    pub fn opposite(self) -> Self {
        match self {
            Self::Value => Self::Value,
            Self::Low => Self::High,
            Self::High => Self::Low,
        }
    }
}

impl Factor {
    /// A number, or else a name. `nan`, `inf` and 1e400 parse as numbers, but no run has such a number.
    fn parse(factor: &str, text: &Located) -> Result<Self, LayerError> {
        match factor.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Self::Number(number)),
            Ok(_) => Err(LayerError::new(format!("`{}` is no number", factor.trim()))
                .with_help("write a finite number, or the name of a column of the table")
                .at(text.place.clone())),
            Err(_) => match renamed::number(factor.trim()) {
                Some(new) => Err(LayerError::new(format!("`{}` is now `{new}`", factor.trim()))
                    .with_help(format!("write `{new}`"))
                    .at(text.place.clone())),
                None => Ok(Self::Name(factor.trim().to_owned())),
            },
        }
    }

    /// Whether another factor is the number of requests of this number's class, and is 0. Mean times number is then a
    /// sum over no requests, 0, although the mean has no value.
    fn is_of_counted(&self, factors: &[Self], numbers: &Numbers) -> bool {
        let Self::Name(name) = self else { return false };
        let is_empty = |factor: &Self| {
            let Self::Name(count) = factor else { return false };
            let class = count.strip_suffix("count").filter(|class| class.ends_with('.'));
            class.is_some_and(|class| name.starts_with(class)) && factor.value(numbers, false) == Some(0.0)
        };
        numbers.contains_key(name) && factors.iter().any(is_empty)
    }

    /// None if it is about a class of requests that is empty. `is_start`: at the start of the bin that it was read
    /// from.
    fn value(&self, numbers: &Numbers, is_start: bool) -> Option<f64> {
        let name = match self {
            Self::Number(number) => return Some(*number),
            Self::Name(name) => name,
        };
        let value = value_of(numbers, name)?;
        Some(if is_start { (value - bin_of(name, value)).max(0.0) } else { value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, String> {
        let numbers = [
            ("a", Number::U64(6)),
            ("b", Number::F64(1.5)),
            ("nil", Number::U64(0)),
            ("huge", Number::F64(f64::MAX)),
            ("odd", Number::F64(f64::NAN)),
            ("c.count", Number::U64(0)),
            ("c.mean_ns", Number::None),
            // A document of an earlier version.
            ("old.count", Number::U64(0)),
            ("old.mean_ns", Number::F64(0.0)),
            ("f.count", Number::U64(0)),
            ("f.mean_ns.gc", Number::None),
        ];
        let numbers: Numbers = numbers.map(|(name, number)| (name.to_owned(), number)).into();
        let metric = Metric::parse(Located { value: text.to_owned(), place: None }).unwrap();
        metric.check(&numbers).unwrap();
        metric.value(&numbers)
    }

    #[test]
    fn products_come_before_sums_and_sums_before_the_quotient() {
        assert_eq!(value("a"), Ok(6.0));
        assert_eq!(value("a / b"), Ok(4.0));
        assert_eq!(value("a + b * 2"), Ok(9.0));
        assert_eq!(value("a + b / b * 10 + nil"), Ok(0.5));
        assert_eq!(value("c.count"), Ok(0.0));
        for text in ["c.mean_ns", "old.mean_ns", "f.mean_ns.gc", "c.count * f.mean_ns.gc", "a + c.mean_ns"] {
            assert!(value(text).unwrap_err().contains("measured nothing"), "{text}");
        }
        // A sum of times over no requests.
        assert_eq!(value("a + f.count * f.mean_ns.gc * 2 + old.count * old.mean_ns / b"), Ok(4.0));
        assert!(value("a / nil").unwrap_err().contains("divides by nothing"));
        for text in ["huge * 2", "huge / 0.5", "odd", "a / odd"] {
            assert!(value(text).unwrap_err().contains("is no number"), "{text}");
        }
    }

    /// 1,000,000 ns lies between 2^19 and 2^20: of 1,024 bins each has 512 ns. 4,096 ns begin a power of two with bins
    /// of 4 ns.
    #[test]
    fn a_percentile_may_lie_anywhere_in_its_bin() {
        let numbers =
            [("r.p99_ns", Number::U64(1_000_000)), ("r.p50_ns", Number::U64(4_096)), ("r.mean_ns", Number::F64(500.0))];
        let numbers: Numbers = numbers.map(|(name, number)| (name.to_owned(), number)).into();
        let bounds = |text: &str| {
            let metric = Metric::parse(Located { value: text.to_owned(), place: None }).unwrap();
            [Bound::Low, Bound::Value, Bound::High].map(|bound| metric.bound(&numbers, bound).unwrap())
        };
        assert_eq!(bounds("r.mean_ns"), [500.0; 3]);
        assert_eq!(bounds("r.p99_ns"), [999_488.0, 1_000_000.0, 1_000_000.0]);
        assert_eq!(bounds("r.p99_ns + -1 * r.p50_ns"), [995_392.0, 995_904.0, 995_908.0]);
        assert_eq!(bounds("r.p99_ns / r.p50_ns"), [999_488.0 / 4_096.0, 1e6 / 4_096.0, 1e6 / 4_092.0]);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let twice = Metric::parse(Located { value: "a / b / c".into(), place: None });
        assert!(twice.unwrap_err().to_string().contains("divides more than once"));
        for word in ["nan", "inf", "-infinity", "1e400"] {
            let metric = Metric::parse(Located { value: format!("a / b + a * {word}"), place: None });
            assert!(metric.unwrap_err().to_string().contains(&format!("`{word}` is no number")), "{word}");
        }
        let metric = Metric::parse(Located { value: "a + bb".into(), place: None }).unwrap();
        let numbers: Numbers = [("a".to_owned(), Number::U64(1)), ("b".to_owned(), Number::U64(1))].into();
        assert!(metric.check(&numbers).unwrap_err().to_string().contains("`bb`"));
    }
}
