//! Names of files or hosts, in the order of their first use.

use std::collections::HashMap;

/// Names and the index of each.
#[derive(Default)]
pub(crate) struct Names {
    list: Vec<Vec<u8>>,
    /// Only looked up, never walked: its order can't reach a result.
    indices: HashMap<Vec<u8>, usize>,
}

/// How many names are listed in a note.
pub(crate) const NAMES_MAX: usize = 8;

/// So many names are compared one by one before the table is asked: most traces have no more, and it is faster.
const COMPARED_MAX: usize = 4;

impl Names {
    /// The name's index; a new name gets the next one. It takes no longer with many names: some traces have a million.
    #[inline]
    pub(crate) fn index_of(&mut self, name: &[u8]) -> usize {
        let first = self.list.iter().take(COMPARED_MAX).position(|known| known == name);
        first.unwrap_or_else(|| self.index_of_rare(name))
    }

    fn index_of_rare(&mut self, name: &[u8]) -> usize {
        if let Some(index) = self.indices.get(name) {
            return *index;
        }
        let index = self.list.len();
        self.list.push(name.to_vec());
        self.indices.insert(name.to_vec(), index);
        index
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
                assert_eq!(names.index_of(index.to_string().as_bytes()), index, "round {round}");
            }
        }
        assert_eq!(names.list().len(), 100);
        assert_eq!(names.list()[99], b"99");
    }
}
