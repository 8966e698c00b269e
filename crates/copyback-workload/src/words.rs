//! Words of a file or a command line: fixed sets of names, and the nearest name to a mistyped one.

/// The name most like `word`, if one is like it enough to be worth a suggestion.
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let likeness = |name: &str| {
        let name = name.to_lowercase();
        // In a short word one slip, such as two letters swapped, is a large part of it.
        let slip = if word.len() > 2 && strsim::osa_distance(&lower, &name) <= 1 { 0.75 } else { 0.0 };
        strsim::jaro_winkler(&lower, &name).max(slip)
    };
    let mut best: Option<(&str, f64)> = None;
    for name in names {
        let score = likeness(name);
        if score > 0.7 && best.is_none_or(|(_, top)| score > top) {
            best = Some((name, score));
        }
    }
    best.map(|(name, _)| name)
}

/// What a word that is in no set gets as an answer.
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

            /// The word by which a file or a command line names it.
            pub fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
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
                Self::ALL.iter().copied().find(|choice| choice.word() == word)
                    .ok_or_else(|| crate::words::unknown($kind, word, &[$($word),+]))
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
pub(crate) use words;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_word_gets_a_suggestion_and_nonsense_none() {
        assert_eq!(nearest("poison", ["poisson", "fixed"].into_iter()), Some("poisson"));
        assert_eq!(nearest("qqqq", ["poisson", "fixed"].into_iter()), None);
        assert!(unknown("arrival", "poison", &["poisson", "fixed"]).contains("did you mean `poisson`"));
    }
}
