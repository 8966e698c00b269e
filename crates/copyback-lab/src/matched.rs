//! `--show matched`: the requests that collection affects under the first scheme, measured under every scheme.
//!
//! They are selected because they were slow under the first scheme. Any scheme that collects at other times serves more
//! of them fast, even if it is no better. A table therefore shows them only on request, and always together with the
//! requests that each scheme's own collection affects.

use crate::format::counted;

/// The word for matched requests, and the word for a scheme's own affected requests.
const MATCHED: &str = "matched";
const OWN: &str = "own";
/// The prefix of names of numbers of these requests, and of a scheme's own affected requests.
const OF_MATCHED: &str = "matched.";
const OF_OWN: &str = "own.";
/// The numbers that either word names.
const USUAL: [&str; 2] = ["read.mean", "write.mean"];

/// Words of `--show`, each once. The number of a scheme's own affected requests follows every number of matched
/// requests.
pub fn completed(words: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut add = |word: String| {
        if !all.contains(&word) {
            all.push(word);
        }
    };
    for word in words.iter().map(|word| word.trim()) {
        if word == OWN {
            USUAL.iter().for_each(|number| add(format!("{OF_OWN}{number}")));
            continue;
        }
        let numbers: Vec<&str> = match word.strip_prefix(OF_MATCHED) {
            _ if word == MATCHED => USUAL.to_vec(),
            Some(number) => vec![number],
            None => Vec::new(),
        };
        for number in &numbers {
            add(format!("{OF_MATCHED}{number}"));
            add(format!("{OF_OWN}{number}"));
        }
        if numbers.is_empty() {
            add(word.to_owned());
        }
    }
    all
}

/// The own-request columns that [`completed`] adds to a table whose conditions or extremes name these words.
pub fn own_beside<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let all: Vec<String> = words.filter(|word| word.starts_with(OF_MATCHED)).map(str::to_owned).collect();
    completed(&all).into_iter().filter(|word| word.starts_with(OF_OWN)).collect()
}

/// Whether two titles name the same number: `first` of the matched requests, `second` of each scheme's own affected
/// requests.
pub fn are_pair(first: &str, second: &str) -> bool {
    let of_matched = first.strip_prefix(OF_MATCHED);
    of_matched.is_some() && of_matched == second.strip_prefix(OF_OWN)
}

/// The comment on matched requests before a table for LaTeX.
pub const COMMENT: &str = "% matched: requests that GC affects under the first scheme, measured under every scheme. \
    Chosen for being slow there, they\n% seem to gain under any scheme that collects at other moments: say so in the \
    caption. own: those that each scheme's\n% own GC affects.\n";

/// Whether words have numbers of these requests.
pub fn are_requested<'a>(words: impl IntoIterator<Item = &'a str>) -> bool {
    words.into_iter().any(|word| word.starts_with(OF_MATCHED))
}

/// The number of the report that `own.read.mean` names: of requests that the scheme's own collection affects.
pub fn own(word: &str) -> Option<String> {
    let (class, number) = word.strip_prefix(OF_OWN)?.split_once('.')?;
    let class = match class {
        "all" => "gc_affected",
        "read" => "gc_affected_read",
        "write" => "gc_affected_write",
        _ => return None,
    };
    Some(format!("response.{class}.{number}"))
}

/// The explanation of these numbers below a table. `requests`: reads and writes, if all runs have the same.
pub fn note(first: &str, requests: Option<[u64; 2]>) -> String {
    let how_many =
        requests.map(|[reads, writes]| format!("the {} and {}", counted(reads, "read"), counted(writes, "write")));
    format!(
        "\nmatched: {} that GC affects under {first}, measured under every scheme.\n\
         \x20        Chosen for being slow there, they seem to gain under any scheme that collects at other moments.\n\
         \x20        own: those that each scheme's own GC affects\n",
        how_many.as_deref().unwrap_or("the requests")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_matched_requests_never_stands_alone() {
        let of = |words: &[&str]| completed(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).join(" ");
        assert_eq!(of(&["matched"]), "matched.read.mean own.read.mean matched.write.mean own.write.mean");
        assert_eq!(of(&["read.p99", " matched.all.p99_9"]), "read.p99 matched.all.p99_9 own.all.p99_9");
        assert_eq!(of(&["own", "read.p99"]), "own.read.mean own.write.mean read.p99");
        assert_eq!(of(&["own.read.mean", "matched.read.mean", "WA", "WA"]), "own.read.mean matched.read.mean WA");
        assert_eq!(own("own.write.p99").as_deref(), Some("response.gc_affected_write.p99"));
        let beside = |words: &[&str]| own_beside(words.iter().copied()).join(" ");
        assert_eq!(beside(&["wa", "matched.read.p99", "own.read.p99"]), "own.read.p99");
        assert_eq!(beside(&["wa", "read.p99"]), "");
        assert!(are_pair("matched.read.p99", "own.read.p99") && !are_pair("matched.read.p99", "own.read.mean"));
        assert!(!are_pair("read.p99", "own.read.p99") && !are_pair("", ""));
        assert_eq!((own("own.trim.p99"), own("read.p99"), own("own.read")), (None, None, None));
    }
}
