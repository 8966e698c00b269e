//! Names of files or hosts, in the order of their first use.

use super::cursor::{LineError, shown};
use crate::units::{counted, format_bytes};
use std::collections::HashMap;

/// Names and the index of each.
pub(crate) struct Names {
    list: Vec<Vec<u8>>,
    /// Only looked up, never iterated, so that its order cannot affect a result.
    indices: HashMap<Vec<u8>, usize>,
    /// Memory of the names, each with [`NAME_BYTES`] for its entries in the list and the table.
    taken_bytes: usize,
    /// Limit of this memory.
    most_bytes: usize,
}

impl Default for Names {
    fn default() -> Self {
        Self::limited(TAKEN_BYTES_MAX)
    }
}

/// An upper bound of the memory of a name in addition to its bytes. Measured: 2.6 million short names take 352 MiB,
/// some 140 bytes each.
const NAME_BYTES: usize = 192;

/// Memory limit of all names of a trace: about two million short names (docs/guide.md states it). A damaged or hostile
/// trace may have a new name in each line.
const TAKEN_BYTES_MAX: usize = 512 << 20;

/// Number of names in a note.
pub(crate) const NAMES_MAX: usize = 8;

/// Number of names that are compared one by one before the table is searched. Most traces have no more, and this is
/// faster.
const COMPARED_MAX: usize = 4;

impl Names {
    /// Names with this limit of memory.
    pub(crate) fn limited(most_bytes: usize) -> Self {
        Self { list: Vec::new(), indices: HashMap::new(), taken_bytes: 0, most_bytes }
    }

    /// The name's index; a new name gets the next index. The time does not grow with the number of names: some traces
    /// have a million.
    #[inline]
    pub(crate) fn index_of(&mut self, name: &[u8]) -> Result<usize, LineError> {
        let first = self.list.iter().take(COMPARED_MAX).position(|known| known == name);
        first.map_or_else(|| self.index_of_rare(name), Ok)
    }

    fn index_of_rare(&mut self, name: &[u8]) -> Result<usize, LineError> {
        if let Some(index) = self.indices.get(name) {
            return Ok(*index);
        }
        let index = self.list.len();
        self.taken_bytes += 2 * name.len() + NAME_BYTES;
        if self.taken_bytes > self.most_bytes {
            return Err(LineError(format!(
                "with `{}`, {} of devices or files take more than {} of memory; write numbers instead of names, or give \
                 a part of the trace",
                shown(name),
                counted(index as u64 + 1, "name"),
                format_bytes(self.most_bytes as u64)
            )));
        }
        self.list.push(name.to_vec());
        self.indices.insert(name.to_vec(), index);
        Ok(index)
    }

    /// The index as a device's number.
    #[inline]
    pub(crate) fn device_of(&mut self, name: &[u8]) -> Result<u32, LineError> {
        let index = self.index_of(name)?;
        u32::try_from(index).map_err(|_| LineError("more than 2^32 names".to_owned()))
    }

    /// The name of a device that [`Names::device_of`] numbered, for messages and settings.
    pub(crate) fn name_of(&self, device: u32) -> Option<String> {
        let name = self.list.get(usize::try_from(device).ok()?)?;
        let plain = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        Some(String::from_utf8_lossy(name).chars().map(plain).collect())
    }

    /// All names by their index.
    pub(crate) fn list(&self) -> &[Vec<u8>] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_the_index_of_their_first_use() {
        let mut names = Names::default();
        for round in 0..2 {
            for index in 0..100_usize {
                assert_eq!(names.index_of(index.to_string().as_bytes()).unwrap(), index, "round {round}");
            }
        }
        assert_eq!(names.list().len(), 100);
        assert_eq!(names.list()[99], b"99");
        assert_eq!((names.name_of(99), names.name_of(100)), (Some("99".to_owned()), None));
    }

    #[test]
    fn what_names_take_is_limited() {
        let mut names = Names::limited(2 * NAME_BYTES);
        assert_eq!(names.device_of(b"a").unwrap(), 0);
        assert!(names.device_of(b"bc").unwrap_err().0.contains("with `bc`, 2 names of devices"));
        assert_eq!(names.device_of(b"a").unwrap(), 0, "those that are known stay");
    }
}
