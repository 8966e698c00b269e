//! The time window of a drawing: named, or around the slowest request. To find that request, the run is simulated
//! twice.

use super::Slowest;
use copyback::observe::commands::{CommandFilter, CommandRecord};
use copyback::observe::report::{Outcome, RequestRecord};
use copyback::observe::timeline::MarkedRequest;
use copyback_lab::Failure;
use copyback_lab::execute::{self, ExecutionOptions};
use copyback_lab::plan::Plan;
use copyback_workload::units::exact_time;
use std::collections::BTreeMap;

/// A time window, in simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first nanosecond.
    pub from_ns: u64,
    /// The first nanosecond after it.
    pub to_ns: u64,
    /// The request that it is about, if it is about one.
    pub request: Option<MarkedRequest>,
}

/// The time window that a user requests.
#[derive(Clone, Copy, Debug)]
pub enum Window {
    /// These times.
    Span(Span),
    /// From the start of measuring on.
    Measured {
        /// Its length.
        for_ns: u64,
    },
    /// The time around a request.
    Around(Slowest),
}

impl Window {
    /// The times that it has in a run that has ended.
    pub fn in_run(self, outcome: &Outcome) -> Result<Span, Failure> {
        match self {
            Self::Span(span) => Ok(span),
            Self::Measured { for_ns } => {
                let from_ns = outcome.report.warmup.map_or(0, |warmup| warmup.end_ns);
                Ok(Span { from_ns, to_ns: from_ns.saturating_add(for_ns), request: None })
            }
            Self::Around(slowest) => Span::around(slowest, &outcome.requests).ok_or_else(|| {
                let what = if slowest == Slowest::WorstRead { "reads" } else { "writes" };
                Failure::input(format!("the run has no {what} to draw the slowest of"))
            }),
        }
    }
}

/// The time drawn before a request, and after it, is its response time divided by this.
const MARGIN: u64 = 5;

impl Span {
    /// Whether a die works on a command in it.
    pub fn contains(&self, command: &CommandRecord) -> bool {
        command.is_within([self.from_ns, self.to_ns])
    }

    /// The time of the slowest read or write, and a fifth of it on both sides; `None` if there is no such request. Of
    /// several with one response time, it is the first.
    pub fn around(slowest: Slowest, requests: &[RequestRecord]) -> Option<Self> {
        let (op, word) = match slowest {
            Slowest::WorstRead => (0, "read"),
            Slowest::WorstWrite => (1, "write"),
        };
        let key = |request: &&RequestRecord| (request.response_ns, std::cmp::Reverse(request.index));
        let request = requests.iter().filter(|request| request.op == op).max_by_key(key)?;
        let margin_ns = request.response_ns / MARGIN;
        let from_ns = request.arrival_ns.saturating_sub(margin_ns);
        let RequestRecord { index, arrival_ns, response_ns, .. } = *request;
        let end_ns = arrival_ns + response_ns;
        let mark = MarkedRequest { request: index, op: word, arrival_ns, end_ns };
        Some(Self { from_ns, to_ns: end_ns + margin_ns + 1, request: Some(mark) })
    }
}

/// The times of drawings. If only a run can determine them, it is simulated first, with the options `usual`.
pub fn spans(plan: &Plan, usual: ExecutionOptions, windows: [Option<Window>; 2]) -> Result<[Option<Span>; 2], Failure> {
    let known = windows.map(|window| match window {
        Some(Window::Span(span)) => Some(span),
        _ => None,
    });
    if windows.iter().flatten().all(|window| matches!(window, Window::Span(_))) {
        return Ok(known);
    }
    let keep_requests = windows.iter().flatten().any(|window| matches!(window, Window::Around(_)));
    let finished = execute::execute(plan, &ExecutionOptions { keep_requests, keep_commands: None, ..usual })?;
    let in_run = |window: Window| window.in_run(&finished[0].outcome);
    let [timeline, perfetto] = windows.map(|window| window.map(in_run).transpose());
    Ok([timeline?, perfetto?])
}

/// The commands that drawings need, and the first ones after the timeline; `None` if nothing is drawn.
/// `looks_for_work`: the timeline may move to a time at which dies work.
pub fn filter(spans: [Option<Span>; 2], looks_for_work: bool) -> Option<CommandFilter> {
    let [timeline, perfetto] = spans.map(|span| span.map_or([0, 0], |span| [span.from_ns, span.to_ns]));
    let is_drawn = spans.iter().any(Option::is_some);
    let after = spans[0].map_or([0, 0], |span| [span.to_ns, u64::MAX]);
    let most = [DRAWN_MAX + 1, DRAWN_MAX + 1, if looks_for_work { SEARCHED_MAX } else { 1 }];
    is_drawn.then(|| CommandFilter { windows: [timeline, perfetto, after], most, ..CommandFilter::default() })
}

/// The time window of the same length that begins with the first command after `span`, rounded down to a microsecond.
/// `None` if `span` has a command, or if no command follows it.
fn of_first_work(span: Span, commands: &[CommandRecord]) -> Option<Span> {
    const WHOLE_NS: u64 = 1_000;
    if commands.iter().any(|command| span.contains(command)) {
        return None;
    }
    let first_ns = commands.iter().map(|command| command.issued_ns).filter(|at_ns| *at_ns >= span.to_ns).min()?;
    let from_ns = first_ns - first_ns % WHOLE_NS;
    Some(Span { from_ns, to_ns: from_ns.saturating_add(span.to_ns - span.from_ns), request: None })
}

/// Most commands after the usual window that are searched for a time with more work.
const SEARCHED_MAX: usize = 20_000;

/// Share of the time that a die works in a window that shows work.
const WORK_MIN: f64 = 0.25;

/// A window that shows a die at work better than `span`: the first window in which a die works for a quarter of the
/// time, or else the window in which a die works longest. It must show twice as much work as the first window with a
/// command. Otherwise that first window is returned, or `None` if it is `span`.
pub fn of_work(span: Span, commands: &[CommandRecord]) -> Option<Span> {
    let first = of_first_work(span, commands);
    let start = first.unwrap_or(span);
    let length_ns = start.to_ns - start.from_ns;
    let mut busy_ns: BTreeMap<u64, BTreeMap<(u32, u32), u64>> = BTreeMap::new();
    for command in commands {
        for &(begin_ns, end_ns) in &command.array_times_ns {
            let mut at_ns = begin_ns.max(start.from_ns);
            while at_ns < end_ns {
                let window = (at_ns - start.from_ns) / length_ns;
                let to_ns = end_ns.min(start.from_ns.saturating_add((window + 1).saturating_mul(length_ns)));
                *busy_ns.entry(window).or_default().entry((command.drive, command.die)).or_default() += to_ns - at_ns;
                at_ns = to_ns;
            }
        }
    }
    let most = |dies: &BTreeMap<_, u64>| dies.values().copied().max().unwrap_or(0);
    let own_ns = busy_ns.get(&0).map_or(0, most);
    let wanted_ns = (length_ns as f64 * WORK_MIN) as u64;
    let busiest = || busy_ns.iter().max_by_key(|(window, dies)| (most(dies), std::cmp::Reverse(**window)));
    let (window, dies) = busy_ns.iter().find(|(_, dies)| most(dies) >= wanted_ns).or_else(busiest)?;
    if *window == 0 || most(dies) < 2 * own_ns {
        return first;
    }
    let from_ns = start.from_ns + window * length_ns;
    Some(Span { from_ns, to_ns: from_ns.saturating_add(length_ns), request: None })
}

/// Most commands of a window. They take up to 1 GB of memory while a trace is written.
const DRAWN_MAX: usize = 250_000;

/// Refuses a time window with more than `DRAWN_MAX` commands.
pub fn refuse_too_many(spans: [Option<Span>; 2], commands: &[CommandRecord]) -> Result<(), Failure> {
    for (what, narrow, span) in
        [("--timeline", "--timeline-from and --timeline-to", spans[0]), ("--perfetto", "--perfetto-for", spans[1])]
    {
        let Some(span) = span else { continue };
        if commands.iter().filter(|command| span.contains(command)).nth(DRAWN_MAX).is_some() {
            let what = format!("{what}: there are more than {DRAWN_MAX} commands in the window");
            return Err(Failure::input(what).with_help(format!("choose a shorter one with {narrow}")));
        }
    }
    Ok(())
}

/// A drawing in which no flash command runs.
pub enum EmptyDrawing {
    /// It begins when the run is over: there is nothing to draw.
    AfterRun(Failure),
    /// It shows a pause of the run.
    NoCommand(String),
}

fn after_end(option: &str, from: &str, end: &str) -> Failure {
    Failure::input(format!("{option}: nothing runs from {from} on: the run ends at {end}"))
        .with_help(format!("name an earlier time with {option}-from; nothing was drawn"))
}

/// Finds an empty microscope: one that begins after the run, or one without an event.
pub fn emptiness_of_microscope(from_ns: Option<u64>, outcome: &Outcome) -> Option<EmptyDrawing> {
    let end_ns = end_ns(outcome);
    if let Some(from_ns) = from_ns.filter(|from_ns| *from_ns >= end_ns) {
        let [from, end] = [from_ns, end_ns].map(exact_time);
        return Some(EmptyDrawing::AfterRun(after_end("--microscope", &from, &end)));
    }
    let is_empty = outcome.microscope.as_ref().is_some_and(|view| view.rows().is_empty());
    let note = "--microscope: no request is outstanding and no drive collects in the window; name another time with \
                --microscope-from";
    is_empty.then(|| EmptyDrawing::NoCommand(note.to_owned()))
}

/// When the last request ended.
fn end_ns(outcome: &Outcome) -> u64 {
    // Simulated time counts from the first arrival, or from the end of the warm-up.
    outcome.report.warmup.map_or(outcome.arrivals.first_ns, |warmup| warmup.end_ns) + outcome.report.simulated_ns
}

/// The note that a drawing ends after the run; `to_ns`: the end that the user names.
pub fn note_of_end(to_ns: Option<u64>, outcome: &Outcome) -> Option<String> {
    let last_ns = outcome.commands.iter().map(CommandRecord::end_ns).max().unwrap_or(0);
    let end_ns = end_ns(outcome).max(last_ns);
    let to_ns = to_ns.filter(|to_ns| *to_ns > end_ns)?;
    let [to, end] = [to_ns, end_ns].map(exact_time);
    Some(format!("--timeline-to: the run ends at {end}, before {to}; the rest of the drawing is empty"))
}

/// The reason why a drawing is empty; `None` if it has commands. `option`: the option of the drawing. `is_drawn`:
/// whether a command belongs to a drawn die.
pub fn emptiness(
    option: &str,
    span: Span,
    outcome: &Outcome,
    is_drawn: impl Fn(&CommandRecord) -> bool,
) -> Option<EmptyDrawing> {
    let inside = || outcome.commands.iter().filter(|command| span.contains(command));
    let [from, to] = [span.from_ns, span.to_ns].map(exact_time);
    let end_ns = end_ns(outcome);
    let end = exact_time(end_ns);
    if inside().next().is_none() && span.from_ns >= end_ns {
        return Some(EmptyDrawing::AfterRun(after_end(option, &from, &end)));
    }
    if inside().any(is_drawn) {
        return None;
    }
    let of = if inside().next().is_none() { "" } else { " of the drawn dies" };
    Some(EmptyDrawing::NoCommand(format!(
        "{option}: no flash command{of} runs from {from} to {to}; the run lasts from 0 ns to {end}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each drawing has its own limit of commands: if one drawing reaches its limit, the limit of the other stays.
    #[test]
    fn each_drawing_has_a_window_of_its_own() {
        let span = |from_ns, to_ns| Some(Span { from_ns, to_ns, request: None });
        let filter = |spans| filter(spans, false).map(|filter| (filter.windows, filter.most));
        assert_eq!(filter([None, None]), None);
        let most = [250_001, 250_001, 1];
        let windows = [[0, 1_000_000], [50_000_000, 60_000_000], [1_000_000, u64::MAX]];
        assert_eq!(filter([span(0, 1_000_000), span(50_000_000, 60_000_000)]), Some((windows, most)));
        assert_eq!(filter([None, span(5, 9)]), Some(([[0, 0], [5, 9], [0, 0]], most)));
    }

    #[test]
    fn the_slowest_request_is_in_the_midst() {
        let request = |index, op, arrival_ns, response_ns| RequestRecord {
            index,
            op,
            workload: 0,
            gc_affected: false,
            arrival_ns,
            offset_bytes: 0,
            len_bytes: 1,
            response_ns,
            breakdown_ns: Default::default(),
        };
        let requests = [request(0, 1, 5, 900), request(3, 0, 100, 50), request(2, 0, 60, 50), request(4, 0, 7, 10)];
        assert_eq!(
            Span::around(Slowest::WorstRead, &requests),
            Some(Span {
                from_ns: 50,
                to_ns: 121,
                request: Some(MarkedRequest { request: 2, op: "read", arrival_ns: 60, end_ns: 110 })
            })
        );
        assert_eq!(
            Span::around(Slowest::WorstWrite, &requests),
            Some(Span {
                from_ns: 0,
                to_ns: 1_086,
                request: Some(MarkedRequest { request: 0, op: "write", arrival_ns: 5, end_ns: 905 })
            })
        );
        assert_eq!(Span::around(Slowest::WorstRead, &requests[..1]), None);
    }
}
