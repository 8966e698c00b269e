//! Tables that external code may read for a limited time.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

/// A table of fixed length. If external code does not release it, its memory is never freed
/// ([`SharedTable::keep_for_ever`]): a leak instead of a dangling pointer.
pub struct SharedTable<T> {
    table: Vec<T>,
    is_kept: AtomicBool,
}

impl<T> SharedTable<T> {
    /// A table without readers.
    pub fn new(table: Vec<T>) -> Self {
        Self { table, is_kept: AtomicBool::new(false) }
    }

    /// From now on its memory is never freed.
    pub fn keep_for_ever(&self) {
        self.is_kept.store(true, Ordering::Relaxed);
    }
}

impl<T> Deref for SharedTable<T> {
    type Target = [T];
    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.table
    }
}

impl<T> DerefMut for SharedTable<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.table
    }
}

impl<T: Clone> Clone for SharedTable<T> {
    fn clone(&self) -> Self {
        Self::new(self.table.clone())
    }
}

impl<T> Drop for SharedTable<T> {
    fn drop(&mut self) {
        if *self.is_kept.get_mut() {
            std::mem::forget(std::mem::take(&mut self.table));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_never_freed() {
        let table = SharedTable::new(vec![1, 2, 3]);
        let at = table.as_ptr();
        table.keep_for_ever();
        drop(table);
        // SAFETY: the table was kept.
        assert_eq!(unsafe { std::slice::from_raw_parts(at, 3) }, [1, 2, 3]);
    }
}
