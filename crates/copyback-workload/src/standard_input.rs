//! A trace from standard input, which is named `-`.
//!
//! A trace is read several times: to detect its format, to check it, and once for each scheme. Data from a pipe is
//! therefore kept in one temporary file, which every reader opens. If the system permits, the file has no name, so that
//! it does not remain if the program is killed. The file has a size limit, because a pipe may have no end.

use crate::Error;
use crate::temporary::Temporary;
use crate::units::{format_bytes, parse_bytes};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The name that selects standard input.
const NAME: &str = "-";

/// The name of standard input in messages.
pub const SHOWN: &str = "standard input";

/// Default of the size limit; [`LIMIT`] overrides it.
const LIMIT_BYTES: u64 = 8 << 30;

/// The environment variable that sets the limit, a size such as `64 GiB`.
const LIMIT: &str = "COPYBACK_STDIN_LIMIT";

static KEPT: Mutex<Option<Temporary>> = Mutex::new(None);

/// Whether a path names standard input.
pub fn is_named(path: &Path) -> bool {
    path == Path::new(NAME)
}

/// A path that opens the data from standard input. The first call reads all data.
///
/// # Errors
/// If it cannot be read, or there is no space to keep it.
pub fn kept() -> Result<PathBuf, Error> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = &*kept {
        return Ok(file.path().to_path_buf());
    }
    let folder = std::env::temp_dir();
    let limit_bytes = limit_bytes()?;
    let failed = |error: io::Error| {
        let message = format!("{SHOWN}: it cannot be kept in {}: {error}", folder.display());
        Error::new(message).with_help("free space there, name another folder in TMPDIR, or give the trace as a file")
    };
    let mut file = Temporary::private_in(&folder, ("copyback-input-", "")).map_err(failed)?;
    let copied_bytes =
        io::copy(&mut io::stdin().lock().take(limit_bytes.saturating_add(1)), file.as_file_mut()).map_err(failed)?;
    if copied_bytes > limit_bytes {
        let (limit, folder) = (format_bytes(limit_bytes), folder.display());
        return Err(Error::new(format!("{SHOWN}: it has more than {limit}, and would be kept in {folder}")).with_help(
            format!(
                "give the trace as a file, which is not copied, or raise the limit in the environment variable {LIMIT}, \
                 for example {LIMIT}=\"64 GiB\""
            ),
        ));
    }
    Ok(kept.insert(file).path().to_path_buf())
}

/// The size limit.
fn limit_bytes() -> Result<u64, Error> {
    let Ok(text) = std::env::var(LIMIT) else { return Ok(LIMIT_BYTES) };
    parse_bytes(&text).map_err(|message| {
        Error::new(format!("the environment variable {LIMIT}: {message}")).with_help("set for example \"64 GiB\"")
    })
}

/// Removes the file, before the program ends: a static value is never dropped.
pub fn forget() {
    drop(KEPT.lock().unwrap_or_else(PoisonError::into_inner).take());
}
