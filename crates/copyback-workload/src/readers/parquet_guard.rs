//! Reports damage in a Parquet file as an error, even if the library panics.

use crate::Error;
use std::cell::Cell;

/// The shown length of the library's message.
const MESSAGE_CHARS_MAX: usize = 200;

thread_local! {
    /// Whether [`guarded`] would catch a panic of this thread now.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread converts a panic to an error. A panic hook, which runs before the panic is caught, checks this
/// to stay silent: the error reports the damage.
pub fn panic_is_caught() -> bool {
    IS_GUARDED.get()
}

/// Converts a panic of the library to an error: the library trusts the file's numbers, and panics on some damage.
/// Partly read data is not used again.
pub(super) fn guarded<T>(file: &str, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    IS_GUARDED.set(true);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
    IS_GUARDED.set(false);
    caught.unwrap_or_else(|_| Err(damaged(file, "it contradicts itself")))
}

/// The error of a damaged file.
pub(super) fn damaged(file: &str, message: &str) -> Error {
    // The library quotes names from the file, which may be long, or contain characters that disturb a terminal.
    let plain = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let message: String = message.chars().take(MESSAGE_CHARS_MAX).map(plain).collect();
    Error::new(format!("{file}: this Parquet file cannot be read: {message}"))
        .with_help("it may have been cut off: copy it again, or convert the trace again")
}
