//! Large flat tables: on huge pages if the system has them, and prefetched before use.

/// A vector of `len` times `value`. A large one asks for huge pages before it is first touched, which saves most
/// address translations of the random accesses that a flash translation table sees.
pub fn filled<T: Copy>(len: usize, value: T) -> Vec<T> {
    let mut table = Vec::with_capacity(len);
    advise_huge_pages(&table);
    table.resize(len, value);
    table
}

/// A copy of a large table, again on huge pages.
pub fn cloned<T: Copy>(table: &[T]) -> Vec<T> {
    let mut copy = Vec::with_capacity(table.len());
    advise_huge_pages(&copy);
    copy.extend_from_slice(table);
    copy
}

/// Advice only: a system without huge pages works as well, slower.
fn advise_huge_pages<T>(table: &Vec<T>) {
    #[cfg(target_os = "linux")]
    {
        const PAGE_BYTES: usize = 4096;
        const HUGE_PAGE_BYTES: usize = 2 << 20;
        let bytes = table.capacity() * size_of::<T>();
        if bytes < 2 * HUGE_PAGE_BYTES {
            return;
        }
        let start = (table.as_ptr() as usize).next_multiple_of(PAGE_BYTES);
        let end = (table.as_ptr() as usize + bytes) / PAGE_BYTES * PAGE_BYTES;
        // SAFETY: the range lies inside one allocation that the vector owns, and MADV_HUGEPAGE changes how the
        // kernel backs it, never what it holds.
        unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = table;
}

/// Asks the processor to fetch `table[index]` into its cache; an index out of range is ignored.
#[inline(always)]
pub fn prefetch<T>(table: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if index < table.len() {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the index was checked, so the address lies inside the table; a prefetch only reads into the cache.
        unsafe { _mm_prefetch(table.as_ptr().add(index).cast::<i8>(), _MM_HINT_T0) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, index);
}
