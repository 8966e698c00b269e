//! The table of flash commands, a row for each plane of each command.

use crate::columns::Column;
use crate::results::Results;
use copyback::flash::geometry::Geometry;
use copyback::observe::commands::{CommandRecord, PartRecord};
use copyback::observe::timeline::op_word;
use copyback::sim::index::DieId;

/// One plane's part of a command, with its locations by the shape of the drive.
struct Row<'a> {
    scheme: &'a str,
    command: &'a CommandRecord,
    part: &'a PartRecord,
    channel: u32,
    /// Counted over the drive, as tables count blocks; the log counts over the plane.
    block: u32,
}

/// The rows: drive by drive, in the order of issue. They exclude the commands of a warm-up, as all results do.
fn rows(results: &Results) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for (planned, done) in results.plan.runs.iter().zip(&results.finished) {
        let measured_from_ns = done.outcome.report.warmup.map_or(0, |warmup| warmup.end_ns);
        // Drives of an array may have different shapes.
        let drives: Vec<Geometry> =
            planned.members.iter().map(|member| Geometry::new(&member.config.device())).collect();
        for command in done.outcome.commands.iter().filter(|command| command.issued_ns >= measured_from_ns) {
            let geometry = &drives[command.drive as usize];
            let channel = geometry.channel_of(DieId(command.die)).0;
            rows.extend(command.parts.iter().map(|part| {
                let block = part.plane * geometry.blocks_per_plane + part.block;
                Row { scheme: &planned.scheme, command, part, channel, block }
            }));
        }
    }
    rows
}

/// The columns.
pub fn columns(results: &Results) -> Vec<Column> {
    let rows = rows(results);
    let text = |name, of: fn(&Row<'_>) -> &'static str| {
        Column::text(name, rows.iter().map(|row| of(row).to_owned()).collect())
    };
    let number = |name, of: fn(&Row<'_>) -> u64| Column::U64(name, rows.iter().map(of).collect());
    let request = rows.iter().map(|row| row.part.request).collect();
    vec![
        Column::text("scheme", rows.iter().map(|row| row.scheme.to_owned()).collect()),
        number("drive", |row| row.command.drive.into()),
        number("command", |row| row.command.number),
        text("op", |row| op_word(row.command.op)),
        text("source", |row| row.part.source.name()),
        Column::MaybeU64("request".into(), request),
        number("channel", |row| row.channel.into()),
        number("die", |row| row.command.die.into()),
        number("plane", |row| row.part.plane.into()),
        number("block", |row| row.block.into()),
        number("page", |row| row.part.page.into()),
        number("issued_ns", |row| row.command.issued_ns),
        number("array_start_ns", |row| row.command.array_ns().0),
        number("array_end_ns", |row| row.command.array_ns().1),
        number("end_ns", |row| row.command.end_ns()),
    ]
}
