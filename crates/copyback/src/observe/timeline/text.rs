//! A timeline in characters: a column is a fixed time. Lines that are too long continue below; parts of lines without a
//! command are omitted. As in the SVG, time before the first and after the last command is not drawn, but stated.
//!
//! A bar begins with the letter of its label, and ends with a `|`. A bar that is shorter than a column still gets a
//! column, unless a longer bar is there. A bar shorter than a tenth of a column gets one only if it is the array's
//! work.

use super::{Axis, LEGEND, Row, Timeline, Use};

/// Columns between two ticks of the axis.
const TICK_COLUMNS: usize = 10;
/// Most lines, below each other, of a drawing whose scale was not set. Each line has all rows.
const LINES_MAX: u64 = 40;

/// How a timeline is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Characters of a line, behind the names of the rows.
    pub columns: usize,
    /// Time of one column; none: chosen so that the shortest array time has a few columns.
    pub ns_per_column: Option<u64>,
}

impl Default for Scale {
    fn default() -> Self {
        Self { columns: 100, ns_per_column: None }
    }
}

/// What each use is filled with.
const FILLS: &[(Use, char, &str)] = &[
    (Use::Array, '=', "array"),
    (Use::DataIn, '>', "data in"),
    (Use::DataOut, '<', "data out"),
    (Use::Held, '.', "register holds data"),
    (Use::Cycles, ',', "command cycles"),
    (Use::OtherDie, OTHER_DIE, "channel carries another die's data"),
];

/// The fill of transfers of other dies, beside which the drawn dies are idle.
const OTHER_DIE: char = 'x';

/// The fill of the time in which a request is outstanding.
const REQUEST: char = '*';

/// Draws a timeline.
pub fn draw(timeline: &Timeline, scale: Scale) -> String {
    let columns = scale.columns.max(TICK_COLUMNS);
    let step_ns = scale.ns_per_column.unwrap_or_else(|| step_ns(timeline, columns)).max(1);
    let tick_ns = step_ns.saturating_mul(TICK_COLUMNS as u64);
    let axis = Axis::new(timeline, tick_ns);
    let (from_ns, to_ns) = drawn_ns(timeline, tick_ns);
    let width = width(from_ns, to_ns, step_ns);
    let rows: Vec<Vec<char>> = timeline.rows.iter().map(|row| paint(row, from_ns, to_ns, step_ns)).collect();
    let name_width = timeline.rows.iter().map(|row| row.name.len()).max().unwrap_or(0) + 2;
    let (title, span, column) = (timeline.title(), axis.span(from_ns, to_ns), axis.length(step_ns));
    let mut text = format!("{title}, {span}, a column is {column}\n");
    if let Some(mark) = &timeline.mark {
        let (arrival, takes) = (axis.length(mark.arrival_ns), axis.length(mark.end_ns - mark.arrival_ns));
        text.push_str(&format!("{}; times count from its arrival\n", mark.description(&arrival, &takes)));
    }
    if let Some(idle) = timeline.idle((from_ns, to_ns), &axis) {
        text.push_str(&format!("{idle}\n"));
    }
    let mut idle_until = None;
    for start in (0..width).step_by(columns) {
        let end = (start + columns).min(width);
        let is_idle = |cells: &Vec<char>| cells[start..end].iter().all(|&cell| cell == ' ' || cell == OTHER_DIE);
        if rows.iter().all(is_idle) {
            let until_ns = from_ns.saturating_add((end as u64).saturating_mul(step_ns)).min(to_ns);
            idle_until = Some(format!("{} {}", axis.label(until_ns), axis.unit));
            continue;
        }
        if let Some(until) = idle_until.take() {
            text.push_str(&format!("\nidle until {until}\n"));
        }
        let (labels, ticks) = ticks(from_ns, step_ns, (start, end), axis);
        let mut line = |name: &str, content: &str| {
            text.push_str(format!("{name:name_width$}{content}").trim_end());
            text.push('\n');
        };
        line("", "");
        line(axis.unit, &labels);
        line("", &ticks);
        for (row, cells) in timeline.rows.iter().zip(&rows) {
            line(&row.name, &cells[start..end].iter().collect::<String>());
        }
    }
    if let Some(until) = idle_until {
        text.push_str(&format!("\nidle until {until}\n"));
    }
    text + "\n" + &legend(timeline.mark.is_some())
}

/// What is drawn of a timeline: from the tick before its first command to the end of its last one. A tick is at the
/// zero of the axis, or else at the begin of the window.
fn drawn_ns(timeline: &Timeline, tick_ns: u64) -> (u64, u64) {
    let (first_ns, last_ns) = timeline.in_use_ns();
    let Some(mark) = &timeline.mark else {
        return ((first_ns / tick_ns * tick_ns).max(timeline.from_ns), last_ns);
    };
    let before = mark.arrival_ns.saturating_sub(first_ns).div_ceil(tick_ns);
    let most = mark.arrival_ns.saturating_sub(timeline.from_ns) / tick_ns;
    (mark.arrival_ns.max(timeline.from_ns) - before.min(most) * tick_ns, last_ns)
}

fn legend(has_request: bool) -> String {
    let mut text = String::new();
    for (labels, meaning) in LEGEND {
        text.push_str(&format!("{labels:9}{meaning}\n"));
    }
    let mut fills: Vec<String> = FILLS.iter().map(|(_, fill, meaning)| format!("{fill} {meaning}")).collect();
    if has_request {
        fills.push(format!("{REQUEST} the request is under way"));
    }
    text + &fills.join("   ") + "\n"
}

/// A round time in which the shortest array time has a few columns and the whole not too many lines.
fn step_ns(timeline: &Timeline, columns: usize) -> u64 {
    let wanted_ns = timeline.shortest_array_ns().unwrap_or(1000) / 4;
    let (first_ns, last_ns) = timeline.in_use_ns();
    let least_ns = (last_ns - first_ns).div_ceil(columns as u64 * LINES_MAX);
    let longest_below = Axis::round_steps_ns().take_while(|&step| step <= wanted_ns).last().unwrap_or(1);
    Axis::round_steps_ns().find(|&step| step >= least_ns).unwrap_or(u64::MAX).max(longest_below)
}

/// The times and the ticks above the columns from `start` to `end`.
fn ticks(from_ns: u64, step_ns: u64, (start, end): (usize, usize), axis: Axis) -> (String, String) {
    let (mut labels, mut ticks) = (String::new(), String::new());
    for column in start..end {
        let is_tick = (column - start).is_multiple_of(TICK_COLUMNS);
        ticks.push(if is_tick { '|' } else { '-' });
        let label = || axis.label(from_ns + column as u64 * step_ns);
        if is_tick && (labels.is_empty() || labels.len() < column - start) {
            labels = format!("{labels:0$}{1}", column - start, label());
        }
    }
    (labels, ticks)
}

/// Columns of the whole drawing.
fn width(from_ns: u64, to_ns: u64, step_ns: u64) -> usize {
    (to_ns - from_ns).div_ceil(step_ns).max(1) as usize
}

/// A row's characters: long bars and work cover short bars and waits.
fn paint(row: &Row, from_ns: u64, to_ns: u64, step_ns: u64) -> Vec<char> {
    let width = width(from_ns, to_ns, step_ns);
    let mut cells = vec![' '; width];
    let mut bars: Vec<_> = row.bars.iter().filter(|bar| bar.end_ns > from_ns && bar.start_ns < to_ns).collect();
    bars.sort_by_key(|bar| bar.in_use);
    let is_channel = bars.iter().all(|bar| bar.in_use != Use::Array);
    let column = |ns: u64| ((ns.saturating_sub(from_ns) + step_ns / 2) / step_ns) as usize;
    for bar in bars {
        let (start, end) = (column(bar.start_ns).min(width - 1), column(bar.end_ns).min(width));
        let fill = FILLS.iter().find(|(in_use, ..)| *in_use == bar.in_use).map_or(REQUEST, |(_, fill, _)| *fill);
        if end <= start {
            // Shorter than a column: it is visible if nothing else is there. Of the shortest, only the array's work:
            // each command has some, and no column during a command may look idle.
            let is_shortest = 10 * (bar.end_ns - bar.start_ns) < step_ns;
            let under = if is_shortest { (bar.start_ns.max(from_ns) - from_ns) / step_ns } else { start as u64 };
            let cell = &mut cells[under as usize];
            if *cell == ' ' && (!is_shortest || bar.in_use == Use::Array) {
                *cell = fill;
            }
            continue;
        }
        let has_label = bar.in_use == Use::Array || (is_channel && !matches!(bar.in_use, Use::Cycles | Use::OtherDie));
        let label = if has_label { bar.label.as_str() } else { "" };
        write_bar(&mut cells[start..end], label, fill, has_label && bar.end_ns <= to_ns);
    }
    cells
}

fn write_bar(cells: &mut [char], label: &str, fill: char, has_end: bool) {
    cells.fill(fill);
    let last = cells.len() - 1;
    if has_end && last > 0 {
        cells[last] = '|';
    }
    // A label that is too long for the rest keeps its letter, which says what and for whom.
    let room = if label.len() <= cells.len() { label.len() } else { last.max(1) };
    for (cell, letter) in cells.iter_mut().zip(label.chars().take(room)) {
        *cell = letter;
    }
}
