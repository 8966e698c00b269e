//! Refuses jobs of fio that flush a write buffer.

use crate::failure::Failure;
use crate::plan::Plan;
use copyback::buffer::BufferConfig;
use copyback::ftl::frontier::fill::FillEnds;
use copyback::run::config::RunConfig;

/// Refuses flushes of a buffer. A drive without one has nothing to flush: each write ends when it is programmed.
pub fn check(plan: &Plan) -> Result<(), Failure> {
    let Some(opt) = plan.jobs.list.iter().flat_map(|job| &job.flushes).next() else { return Ok(()) };
    // The drives of an array may differ.
    let buffered = plan.runs.iter().find_map(|planned| {
        let members = planned.members.iter().map(|member| &member.config);
        let setting = std::iter::once(&planned.resolved.run).chain(members).find_map(setting_of_buffer)?;
        Some((planned, setting))
    });
    let Some((planned, (setting, without))) = buffered else { return Ok(()) };
    let of = if plan.runs.len() > 1 { format!(" under `{}`", planned.scheme) } else { String::new() };
    let message = format!("writes end in the drive's buffer{of} ({setting}), and flushes of it are not simulated");
    Err(opt.wrong(message, format!("remove it, or run without a buffer: --set {without}")))
}

/// The setting by which writes end before they are programmed, if they do, and the one by which they do not.
fn setting_of_buffer(run: &RunConfig) -> Option<(String, &'static str)> {
    let fills_in_dram = run.frontier.fill().is_some_and(|fill| fill.ends == FillEnds::Dram);
    match &run.buffer {
        BufferConfig::None(_) if fills_in_dram => {
            Some(("`frontier.fill_ends = \"dram\"`".to_owned(), "frontier.fill_ends=flash"))
        }
        BufferConfig::None(_) => None,
        buffer => Some((format!("`buffer.policy = \"{}\"`", buffer.name()), "buffer.policy=none")),
    }
}
