//! Refuses jobs of fio that flush a write buffer.

use crate::failure::Failure;
use crate::plan::Plan;
use copyback::run::config::{RunConfig, WriteBufferSetting};

/// Refuses flushes of a buffer. A drive without one has nothing to flush: each write ends when it is programmed.
pub fn check(plan: &Plan) -> Result<(), Failure> {
    let Some(opt) = plan.jobs.list.iter().flat_map(|job| &job.flushes).next() else { return Ok(()) };
    // The drives of an array may differ.
    let buffered = plan.runs.iter().find_map(|planned| {
        let members = planned.members.iter().map(|member| &member.config);
        let setting = std::iter::once(&planned.resolved.run).chain(members).find_map(RunConfig::write_buffer)?;
        Some((planned, in_words(setting)))
    });
    let Some((planned, (setting, without))) = buffered else { return Ok(()) };
    let of = if plan.runs.len() > 1 { format!(" under `{}`", planned.scheme) } else { String::new() };
    let message = format!("writes end in the drive's buffer{of} ({setting}), and flushes of it are not simulated");
    Err(opt.wrong(message, format!("remove it, or run without a buffer: --set {without}")))
}

/// A setting with which writes end before they are programmed, and the setting that avoids this.
fn in_words(setting: WriteBufferSetting) -> (String, &'static str) {
    match setting {
        WriteBufferSetting::Fill => ("`frontier.fill_ends = \"dram\"`".to_owned(), "frontier.fill_ends=flash"),
        WriteBufferSetting::Policy(name) => (format!("`buffer.policy = \"{name}\"`"), "buffer.policy=none"),
    }
}
