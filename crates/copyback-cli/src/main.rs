//! The program `copyback`.

use std::process::ExitCode;

fn main() -> ExitCode {
    configure_allocator();
    ExitCode::from(copyback_cli::main_of(std::env::args_os().skip(1), None))
}

/// Tables of drives are returned to the system when they are freed. By default, glibc keeps freed blocks of up to 32
/// MiB, for each thread: in a long reproduction, a fifth of the program's memory.
fn configure_allocator() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const OWN_MAPPING_MIN_BYTES: libc::c_int = 1 << 20;
        // Up to this much free memory is kept for the next batch: twice the threshold above, as glibc itself sets it.
        const KEPT_MAX_BYTES: libc::c_int = 2 << 20;
        // SAFETY: they set numbers in the allocator, before there is another thread.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_MAPPING_MIN_BYTES);
            libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_MAX_BYTES);
        }
    }
}
