//! Suggestions for a name that no number has.

use super::columns::{CLASSES, HEADINGS, OF_WORKLOADS, joined, percent_of, without_unit_of};
use copyback::config::layers::nearest;

/// The help that states where all names are listed.
pub const LISTED: &str =
    "`copyback run --json` prints all names, and docs/output.md explains them: read.p99_99, flash.block_erases, iops";

/// Names that are suggested at most.
const NEAR_MAX: usize = 3;

/// Words of other programs and common words, with the numbers that they mean.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("all", &["all.mean", "all.p99", "iops"]),
    ("amplification", &["write_amplification.total"]),
    ("bandwidth", &["bytes_per_s"]),
    ("bw", &["bytes_per_s"]),
    ("bytes", &["read_bytes", "written_bytes"]),
    ("collections", &["gc.collections"]),
    ("count", &["reads", "writes"]),
    ("duration", &["simulated"]),
    ("elapsed", &["simulated"]),
    ("gc", &["gc.collections", "write_amplification.gc"]),
    ("makespan", &["simulated"]),
    ("read", &["read.mean", "read.p99", "reads"]),
    ("requests", &["reads", "writes"]),
    ("runtime", &["simulated"]),
    ("simulated_time", &["simulated"]),
    ("steady.verdict", &["steady"]),
    ("throughput", &["iops", "bytes_per_s"]),
    ("time", &["simulated"]),
    ("utilisation", &["utilization.die", "utilization.plane", "utilization.channel"]),
    ("util", &["utilization.die", "utilization.plane", "utilization.channel"]),
    ("verdict", &["steady"]),
    ("waf", &["write_amplification.total"]),
    ("write", &["write.mean", "write.p99", "writes"]),
    ("write_amp", &["write_amplification.total"]),
];

/// Other words for figures of response times.
const FIGURES: &[(&str, &str)] = &[
    ("average", "mean"),
    ("avg", "mean"),
    ("clat", "mean"),
    ("deviation", "stdev"),
    ("lat", "mean"),
    ("latency", "mean"),
    ("maximum", "max"),
    ("median", "p50"),
    ("minimum", "min"),
    ("response_time", "mean"),
    ("std", "stdev"),
    ("stddev", "stdev"),
    ("tail", "p99_9"),
];

/// Existing names that a word is known to mean.
fn synonyms(word: &str, all: &[&str]) -> Vec<String> {
    let small = word.to_ascii_lowercase();
    let is_there = |name: &String| all.iter().any(|known| known == name || without_unit_of(known) == name);
    let listed = SYNONYMS.iter().find(|(known, _)| *known == small).map(|(_, names)| *names).unwrap_or_default();
    let (head, last) = small.rsplit_once('.').map_or((None, &*small), |(head, last)| (Some(head), last));
    let figure = FIGURES.iter().find(|(known, _)| *known == last).map(|(_, figure)| *figure);
    let of_figure = figure.into_iter().flat_map(|figure| match head {
        Some(head) => vec![format!("{head}.{figure}")],
        None => CLASSES.iter().skip(1).map(|class| format!("{class}.{figure}")).collect(),
    });
    listed.iter().map(|name| (*name).to_owned()).chain(of_figure).filter(is_there).collect()
}

/// A name as it is suggested: without its unit, unless that leaves a class of requests.
fn written(name: &str) -> &str {
    Some(without_unit_of(name)).filter(|short| !CLASSES.contains(short)).unwrap_or(name)
}

/// A question with the names that an unknown name may mean; empty if none is near. The order of names: words of other
/// programs, names with the same parts in another order, numbers of a workload or of the word's own table, names with
/// the same last part (`read.mean` for `mean`), names that have this part elsewhere (`write_amplification.total` for
/// `flash.write_amplification`), names with a similar spelling. For a percentile that is not measured, the nearest one
/// is suggested: `read.p50` for `read.p42`.
pub fn near_names<'a>(word: &str, all: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = all.collect();
    let meant = synonyms(word, &all);
    if !meant.is_empty() {
        return question(&meant);
    }
    let word = &*joined(word);
    if let Some(name) = in_other_order(word, &all) {
        return question(&[name]);
    }
    let longer = of_workload(word, &all).into_iter().chain(of_table(word, &all)).collect::<Vec<_>>();
    if !longer.is_empty() {
        return question(&longer);
    }
    let last = |name: &'a str| without_unit_of(name.rsplit('.').next().unwrap_or_default());
    let (head, part) = word.rsplit_once('.').map_or(("", word), |(head, part)| (head, part));
    let percentile = percent_of(without_unit_of(part)).map(below_100).and_then(|wanted| {
        let counted = all.iter().copied().filter_map(|name| Some((percent_of(last(name))?, last(name))));
        counted.min_by(|(a, _), (b, _)| (a - wanted).abs().total_cmp(&(b - wanted).abs())).map(|(_, name)| name)
    });
    let with_percentile = percentile.map(|part| if head.is_empty() { part.into() } else { format!("{head}.{part}") });
    let word = with_percentile.as_deref().unwrap_or(word);
    let part = percentile.unwrap_or(without_unit_of(part));
    let part = HEADINGS.iter().find(|(heading, _)| *heading == part).map_or(part, |(_, name)| *name);
    let is_same = |name: &'a str| name == part || last(name) == part;
    let contains_part = |name: &str| name.split('.').any(|one| one == part);
    let mut near: Vec<&str> = all.iter().copied().filter(|name| is_same(name)).collect();
    if near.is_empty() {
        near = all.iter().copied().filter(|name| contains_part(name)).collect();
    }
    // Several names may have the word's last part. If the word has more parts than that, the name with the most similar
    // spelling is meant.
    let like = if word.contains('.') { nearest(word, near.iter().copied().map(written)) } else { None };
    let of_all = || {
        let (word, short) = (without_unit_of(word), all.iter().copied().map(written));
        let (whole, part) = (short.clone(), short.flat_map(|name| name.split('.')));
        match word.contains('.') {
            true => nearest(word, whole),
            false => nearest(word, part).or_else(|| nearest(word, whole)),
        }
    };
    let like = like.or_else(|| if near.is_empty() { of_all() } else { None });
    if let Some(name) = like {
        // The match may be only a part of names. It then means the number that a heading of this text abbreviates, or
        // else the shortest name with this part.
        let heading = HEADINGS.iter().find(|(heading, _)| *heading == name).map(|(_, full)| *full);
        let has_part = |full: &&str| *full == name || full.split('.').any(|part| part == name);
        let full = all.iter().map(|full| written(full)).filter(has_part).min_by_key(|full| full.len());
        return question(&[heading.or(full).unwrap_or(name).to_owned()]);
    }
    // The shortest are the most usual: those of all requests, and not of one workload.
    near.sort_by_key(|name| (name.matches('.').count(), name.len()));
    question(&near.iter().map(|name| written(name).to_owned()).collect::<Vec<_>>())
}

/// A percentile whose decimal point may be left out: `p999` is `p99_9`.
fn below_100(mut percentile: f64) -> f64 {
    while percentile > 100.0 && percentile.is_finite() {
        percentile /= 10.0;
    }
    percentile
}

/// The name with the same parts in another order: `matched.read.p99` for `read.matched.p99`.
fn in_other_order(word: &str, all: &[&str]) -> Option<String> {
    fn sorted(name: &str) -> Vec<&str> {
        let mut parts: Vec<&str> = name.split('.').collect();
        parts.sort_unstable();
        parts
    }
    let own = sorted(without_unit_of(word));
    let is_same = |name: &&str| name.contains('.') && sorted(name) == own;
    all.iter().map(|name| written(name)).find(is_same).map(str::to_owned)
}

/// The same figure of the reads and of the writes of a workload: `reader.read.p99` for `reader.p99`.
fn of_workload(word: &str, all: &[&str]) -> Vec<String> {
    let Some((workload, figure)) = word.split_once('.') else { return Vec::new() };
    let of = |op: &&str| {
        let name = format!("{OF_WORKLOADS}{workload}.response.{op}.{figure}");
        all.iter().any(|known| without_unit_of(known) == without_unit_of(&name))
    };
    ["read", "write"].iter().filter(|op| of(op)).map(|op| format!("{workload}.{op}.{figure}")).collect()
}

/// Names of the word's own table that begin with the word: `wear.max_erases` for `wear.max`.
fn of_table(word: &str, all: &[&str]) -> Vec<String> {
    let begin = format!("{word}_");
    let names = all.iter().map(|name| written(name)).filter(|name| word.contains('.') && name.starts_with(&begin));
    // `read.p99` would be a name itself, and not the beginning of one.
    names.filter(|name| percent_of(name.rsplit('.').next().unwrap_or_default()).is_none()).map(str::to_owned).collect()
}

/// The first names as a question.
fn question(names: &[String]) -> String {
    let names: Vec<String> = names.iter().take(NEAR_MAX).map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!("did you mean {one}? "),
        [some @ .., last] => format!("did you mean {} or {last}? ", some.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flat;
    use crate::sweep::objective::short_of;
    use copyback::observe::report::Report;

    /// The suggestion for a word that names no number of a run.
    fn near(word: &str) -> String {
        let numbers = flat::numbers(&Report::default()).expect("a report is JSON");
        let names: Vec<String> = numbers.into_iter().map(|(name, _)| name).collect();
        let short: Vec<String> = names.iter().filter_map(|name| short_of(name)).collect();
        near_names(word, names.iter().chain(&short).map(String::as_str).chain(["steady"])).trim_end().to_owned()
    }

    #[test]
    fn a_figure_of_a_workload_is_that_of_its_reads_and_writes() {
        let all =
            ["workloads.reader.response.read.p99_ns", "workloads.reader.response.write.p99_ns", "response.read.p99_ns"];
        assert_eq!(
            near_names("reader.p99", all.into_iter()).trim(),
            "did you mean `reader.read.p99` or `reader.write.p99`?"
        );
    }

    #[test]
    fn parts_in_another_order_mean_the_same_number() {
        let all = ["matched.read.p99_ns", "response.read.p99_ns", "read.p99_ns"];
        let near = |word: &str| near_names(word, all.into_iter()).trim().to_owned();
        assert_eq!(near("read.matched.p99"), "did you mean `matched.read.p99`?");
        assert_eq!(near("p99.read"), "did you mean `read.p99`?");
    }

    #[test]
    fn a_name_is_suggested_if_it_is_near_or_meant() {
        for (word, names) in [
            // Words of other programs.
            ("waf", "`write_amplification.total`"),
            ("WAF", "`write_amplification.total`"),
            ("write_amp", "`write_amplification.total`"),
            ("throughput", "`iops` or `bytes_per_s`"),
            ("bandwidth", "`bytes_per_s`"),
            ("wear.max", "`wear.max_erases`"),
            ("bw", "`bytes_per_s`"),
            ("duration", "`simulated`"),
            ("runtime", "`simulated`"),
            ("time", "`simulated`"),
            ("steady.verdict", "`steady`"),
            ("verdict", "`steady`"),
            ("requests", "`reads` or `writes`"),
            ("read", "`read.mean`, `read.p99` or `reads`"),
            ("write", "`write.mean`, `write.p99` or `writes`"),
            ("latency", "`read.mean` or `write.mean`"),
            ("avg", "`read.mean` or `write.mean`"),
            ("median", "`read.p50` or `write.p50`"),
            ("write.avg", "`write.mean`"),
            ("read.tail", "`read.p99_9`"),
            ("read.stddev", "`read.stdev`"),
            ("gc", "`gc.collections` or `write_amplification.gc`"),
            // The same last part.
            ("mean", "`all.mean`, `read.mean` or `write.mean`"),
            ("p99", "`all.p99`, `read.p99` or `write.p99`"),
            ("foo.p99", "`all.p99`, `read.p99` or `write.p99`"),
            ("flash.write_amplification", "`write_amplification.total`"),
            ("read.p42", "`read.p50`"),
            ("read.p999", "`read.p99_9`"),
            ("write.p9999", "`write.p99_99`"),
            ("read.p99999", "`read.p99_999`"),
            ("read.p100", "`read.p99_9999`"),
            // Spelt alike.
            ("iop", "`iops`"),
            ("raed.mean", "`read.mean`"),
            ("read.maen", "`read.mean`"),
            ("flash.block_erase", "`flash.block_erases`"),
            ("block_erase", "`flash.block_erases`"),
            ("peak_outstandng", "`peak_outstanding`"),
            ("write_amplificatoin", "`write_amplification.total`"),
            ("response.all.maen_ns", "`response.all.mean`"),
        ] {
            assert_eq!(near(word), format!("did you mean {names}?"), "{word}");
        }
        for word in ["foo", "xyz", "qd", "q", "temperature", "banana", "read.foo"] {
            assert_eq!(near(word), "", "{word}");
        }
    }
}
