//! A trace from standard input, which is named `-`.
//!
//! A trace is read several times: to find out its format, to try it, and once for each scheme. What comes from a pipe
//! is therefore kept in a temporary file, once for the whole program, and every reader opens that.

use crate::Error;
use crate::temporary::Temporary;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How a user names it.
const NAME: &str = "-";

/// What messages call it.
pub const SHOWN: &str = "standard input";

static KEPT: Mutex<Option<Temporary>> = Mutex::new(None);

/// Whether a path names standard input.
pub fn is_named(path: &Path) -> bool {
    path == Path::new(NAME)
}

/// The file that holds what came from standard input. The first call reads all of it.
///
/// # Errors
/// Where it cannot be read, or there is no room to keep it.
pub fn kept() -> Result<PathBuf, Error> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = &*kept {
        return Ok(file.path().to_path_buf());
    }
    let folder = std::env::temp_dir();
    let failed = |error: io::Error| {
        let message = format!("{SHOWN}: it cannot be kept in {}: {error}", folder.display());
        Error::new(message).with_help("make room there, name another folder in TMPDIR, or give the trace as a file")
    };
    let mut file = Temporary::new_in(&folder, ("copyback-input-", "")).map_err(failed)?;
    io::copy(&mut io::stdin().lock(), file.as_file_mut()).map_err(failed)?;
    Ok(kept.insert(file).path().to_path_buf())
}

/// Removes the file. For a program that is about to end: a static value is never dropped.
pub fn forget() {
    drop(KEPT.lock().unwrap_or_else(PoisonError::into_inner).take());
}
