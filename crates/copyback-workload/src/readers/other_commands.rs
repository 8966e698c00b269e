//! Commands of the block layer that are no read, write or trim, and the addresses of zone appends.

use super::cursor::{Cursor, shown};
use crate::units::counted;

/// Number of kinds that are named in a note; there are some ten in Linux.
const KINDS_MAX: usize = 8;

/// Counts of the selected events that carry data or name sectors, but are no read, write or trim.
#[derive(Default)]
pub(crate) struct OtherCommands {
    /// The `rwbs` word of each kind, and its number.
    kinds: Vec<(String, u64)>,
    /// Number of all, also of further kinds.
    all: u64,
    zone_appends: u64,
}

impl OtherCommands {
    /// Counts one.
    #[cold]
    pub(crate) fn add(&mut self, rwbs: &[u8]) {
        self.all += 1;
        let name = shown(rwbs);
        if let Some((_, count)) = self.kinds.iter_mut().find(|(kind, _)| *kind == name) {
            *count += 1;
        } else if self.kinds.len() < KINDS_MAX {
            self.kinds.push((name, 1));
        }
    }

    /// Counts a zone append, which is read as a write.
    #[cold]
    pub(crate) fn add_zone_append(&mut self) {
        self.zone_appends += 1;
    }

    pub(crate) fn notes(&self, notes: &mut Vec<String>) {
        if self.all > 0 {
            let kinds: Vec<String> = self.kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
            notes.push(format!(
                "{} left out ({}): such commands are no reads, writes or trims",
                counted(self.all, "event"),
                kinds.join(", ")
            ));
        }
        if self.zone_appends > 0 {
            let appends = counted(self.zone_appends, "zone append");
            notes.push(format!(
                "{appends} (ZA) read as writes: their queued and issued events (Q, D) have the start of the zone as \
                 address, their completions (C) the place of the data"
            ));
        }
    }
}

/// Whether an `rwbs` word is that of a zone append, perhaps after a flush.
pub(crate) fn is_zone_append(rwbs: &[u8]) -> bool {
    rwbs.strip_prefix(b"F").unwrap_or(rwbs).starts_with(b"ZA")
}

/// Whether the text after an `rwbs` word has bytes before a command in parentheses, or sectors behind a plus sign.
pub(crate) fn has_data(text: &[u8]) -> bool {
    let mut at = Cursor::new(text);
    let is_positive = |word: &[u8]| Cursor::new(word).uint("a number").is_ok_and(|number| number > 0);
    let has_bytes = is_positive(at.word()) && at.rest.trim_ascii_start().starts_with(b"(");
    let behind_command = text.iter().position(|byte| *byte == b')').map_or(text, |end| &text[end..]);
    let has_sectors = || {
        let plus = behind_command.iter().position(|byte| *byte == b'+');
        plus.is_some_and(|plus| is_positive(Cursor::new(&behind_command[plus + 1..]).word()))
    };
    has_bytes || has_sectors()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_of_other_commands_is_found() {
        for text in
            ["36 (12 00 00) [smartd]", " 0 () 128 + 8 [dd]", "128 + 8 [dd]", "() 128 + 8 [0]", "36 () 0 + 0 [a]"]
        {
            assert!(has_data(text.as_bytes()), "{text}");
        }
        for text in ["0 () 18446744073709551615 + 0 [a]", "[a]", "0 (12 + 3) 0 + 0 [a]", "0 + 0 [a+5]", "() 0 [0]", ""]
        {
            assert!(!has_data(text.as_bytes()), "{text}");
        }
    }
}
