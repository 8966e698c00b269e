//! Printing texts to standard output.

use crate::failure::Failure;
use copyback_workload::printable::printable_lines;
use std::io::Write;

/// Prints to standard output. Styles are removed if it is no terminal. Other control characters are printed as text.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    match out.write_all(printable_lines(text).as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(Failure::PipeClosed),
        Err(error) => Err(Failure::run(format!("cannot write to standard output: {error}"))),
    }
}
