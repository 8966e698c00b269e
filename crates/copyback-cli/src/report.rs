//! `copyback report`: one page of results for a browser.

use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::files;
use copyback_report::result_page::{PageRequest, WrittenPage};

/// Runs the command.
pub fn report(args: ReportArgs) -> Result<(), Failure> {
    let WrittenPage { text, is_stdout_taken } = reported(args)?;
    if is_stdout_taken { Ok(()) } else { files::print(&text) }
}

/// Writes the page.
pub fn reported(args: ReportArgs) -> Result<WrittenPage, Failure> {
    let ReportArgs { results, title, conditions, out } = args;
    PageRequest { results, title, conditions, out }.write()
}
