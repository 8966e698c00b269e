//! Words of a file or a command line: fixed sets of names, and the nearest name to a mistyped one.

/// Largest number of slips in a word of this many letters. A slip is a wrong, missing or added letter, or two swapped
/// letters.
fn slips_max(letters: usize) -> usize {
    match letters {
        0..=2 => 0,
        3..=5 => 1,
        6..=9 => 2,
        _ => 3,
    }
}

/// Similarity of a name and a word: 1 if they are equal, 0 if the name is not worth a suggestion. Both have lower-case
/// letters, without signs between their parts.
fn likeness(word: &str, name: &str) -> f64 {
    let (letters, of_name) = (word.chars().count(), name.chars().count());
    // Words whose lengths differ by n letters differ by at least n slips. This is checked first, because a word may
    // have a million letters, and the distance takes time in proportion to the product of both lengths.
    let slips_max = slips_max(letters.min(of_name));
    if letters.abs_diff(of_name) <= slips_max {
        let slips = strsim::osa_distance(word, name);
        if slips <= slips_max {
            return 1.0 - slips as f64 / (letters.max(of_name) + 1) as f64;
        }
    }
    // A part of a name, or a name with a suffix: `msec` for `ms`, `proactive` for `ggc-proactive-idle`.
    let share = letters.min(of_name) as f64 / letters.max(of_name) as f64;
    let is_begin = (letters > 2 && name.starts_with(word)) || (of_name > 1 && word.starts_with(name) && share >= 0.5);
    if is_begin {
        return 0.4 + 0.2 * share;
    }
    if letters > 4 && name.contains(word) { 0.2 + 0.2 * share } else { 0.0 }
}

/// The name that a word may mean: the word is a part of it, or differs by few slips. Other names are never suggested,
/// even if they share many letters.
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.chars().filter(|c| !"-_. ".contains(*c)).flat_map(char::to_lowercase).collect();
    let word: String = plain(word);
    let mut best: Option<(&str, f64)> = None;
    for name in names.filter(|_| !word.is_empty()) {
        let score = likeness(&word, &plain(name));
        if score > best.map_or(0.0, |(_, top)| top) {
            best = Some((name, score));
        }
    }
    best.map(|(name, _)| name)
}

/// The error text for a word that is in no set.
pub fn unknown(kind: &str, word: &str, names: &[&'static str]) -> String {
    let near = nearest(word, names.iter().copied()).map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
    format!("unknown {kind} `{word}`: {near}Known are {}", names.join(", "))
}

/// An enum whose variants are words: read, printed and (de)serialised by name, with a suggestion for a mistyped one.
macro_rules! words {
    ($(#[$doc:meta])* $vis:vis enum $name:ident ($kind:literal) {
        $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// Every choice, in the order in which they are listed to a user.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
        }

        crate::words::words_of!($name, $kind, |choice| match choice {
            $($name::$variant => $word,)+
        });
    };
}
pub(crate) use words;

/// Reads, prints and (de)serialises each of `ALL` of a type by its word.
macro_rules! words_of {
    ($name:ident, $kind:literal, |$choice:ident| $word:expr) => {
        impl $name {
            /// Its word in files and on the command line.
            pub fn word(self) -> &'static str {
                let $choice = self;
                $word
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                Self::ALL.iter().copied().find(|choice| choice.word() == word).ok_or_else(|| {
                    let words: Vec<&'static str> = Self::ALL.iter().map(|choice| choice.word()).collect();
                    crate::words::unknown($kind, word, &words)
                })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                word.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use words_of;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_word_gets_a_suggestion_and_nonsense_none() {
        assert_eq!(nearest("poison", ["poisson", "fixed"].into_iter()), Some("poisson"));
        assert_eq!(nearest("qqqq", ["poisson", "fixed"].into_iter()), None);
        let names =
            ["ms", "us", "greedy", "ggc-proactive-idle", "flash.blocks_relocated", "buffer_write_hits", "tlc-nvme"];
        for (word, near) in [
            ("gredy", Some("greedy")),
            ("GREEDY", Some("greedy")),
            ("msec", Some("ms")),
            ("proactive", Some("ggc-proactive-idle")),
            ("ggc_proactive_idle", Some("ggc-proactive-idle")),
            ("tlc", Some("tlc-nvme")),
            ("tlcnvme", Some("tlc-nvme")),
            ("flash.block_relocated", Some("flash.blocks_relocated")),
            ("foo", None),
            ("bw", None),
            ("bat", None),
            ("", None),
            ("throughput", None),
        ] {
            assert_eq!(nearest(word, names.into_iter()), near, "{word}");
        }
        assert!(unknown("arrival", "poison", &["poisson", "fixed"]).contains("did you mean `poisson`"));
    }
}
