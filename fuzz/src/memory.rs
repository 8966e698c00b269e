//! Does any input make the program allocate far more memory than its size justifies?
//!
//! The allocator refuses an allocation above `ALLOCATION_BYTES_MAX`. Code that can continue without it does so; other
//! code ends the program with a message that states the size. Decompressors written in C do not use this allocator.

use std::alloc::{GlobalAlloc, Layout, System};

/// The largest single allocation. The inputs are a few KB; the largest thing that is meant to grow with what they say
/// is the table of packed extents, 200 MiB at most.
const ALLOCATION_BYTES_MAX: usize = 300 << 20;

/// The system's allocator with a limit.
struct Limited;

#[global_allocator]
static ALLOCATOR: Limited = Limited;

// SAFETY: every call goes on to the system's allocator as it came, or ends in null, which says that there is no memory.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > ALLOCATION_BYTES_MAX {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the same contract with this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() > ALLOCATION_BYTES_MAX {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the same contract with this function.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > ALLOCATION_BYTES_MAX {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the same contract with this function.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the same contract with this function.
        unsafe { System.dealloc(memory, layout) }
    }
}
