//! The rows of a sweep's table that meet the conditions, and the best of them.

use super::journal::RunResult;
use super::objective::standing::{Judged, Standing};
use super::objective::{Columns, Objective, ShownColumn, Source, Test, TextColumn};
use super::quantity::{Format, Unit};
use super::seeds::{Mean, SeedGroup};
use super::table::SweepResults;
use crate::failure::Failure;
use crate::flat::Number;
use crate::format::{TooFew, count, counted, names};
use crate::matched;
use crate::table::{self, BOLD, Cell};
use copyback::observe::steady::Verdict;
use copyback_lab::steady::{is_unsettled, short_of_runs};
use std::collections::BTreeSet;

/// A scheme in cells that differ in their seeds only.
struct Row<'a> {
    group: &'a SeedGroup<'a>,
    scheme: &'a str,
    /// Its index among the schemes.
    at: usize,
    /// One for each seed that the conditions select.
    runs: Vec<&'a RunResult>,
}

/// Whether the conditions on `seed` select this seed.
fn is_asked_for(seed: u64, tests: &[Test]) -> bool {
    let of_seeds = tests.iter().filter(|test| test.column.source == Source::Seed);
    of_seeds.into_iter().all(|test| test.comparison.holds(seed.to_string().as_str(), test.text.as_str()))
}

impl Row<'_> {
    /// The mean over seeds; `None` if a run has no such number.
    fn number(&self, source: &Source) -> Option<Mean> {
        let mean = Mean::of(self.runs.iter().map(|run| source.number(self.group.first, run)))?;
        Some(if let Source::Number(name) = source { mean.of_bins(name) } else { mean })
    }

    /// The shortage of the run with the fewest requests, if there are too few for a percentile.
    fn too_few(&self, source: &Source) -> Option<TooFew> {
        let Source::Number(name) = source else { return None };
        self.runs.iter().filter_map(|run| run.too_few(name)).min()
    }

    /// Whether it meets a condition: a number by its mean over seeds, a text if the texts of all seeds meet it.
    fn standing_to(&self, test: &Test) -> Standing {
        let source = &test.column.source;
        let holds =
            |run: &&RunResult| test.comparison.holds(source.text(self.group.first, run).as_str(), test.text.as_str());
        match test.number {
            // Runs of other seeds are in no row.
            _ if *source == Source::Seed => Standing::Meets,
            Some(wanted) => Standing::of(self.number(source).map(|mean| mean.value), test.comparison, wanted),
            None => Standing::of_text(self.runs.iter().all(holds)),
        }
    }

    /// Its standing to all conditions together.
    fn standing(&self, tests: &[Test]) -> Standing {
        tests.iter().fold(Standing::Meets, |worst, test| worst.and(self.standing_to(test)))
    }

    fn meets(&self, test: &Test) -> bool {
        self.standing_to(test) == Standing::Meets
    }

    /// Whether it misses conditions, and lacks the number of each missed condition: it may meet them or not.
    fn is_unjudged(&self, tests: &[Test]) -> bool {
        let mut missed = tests.iter().filter(|test| !self.meets(test)).peekable();
        let lacks = |test: &Test| test.number.is_some() && self.number(&test.column.source).is_none();
        missed.peek().is_some() && missed.all(lacks)
    }

    /// Whether its mean over seeds meets a condition, but not both ends of the mean's interval.
    fn reaches_beyond(&self, test: &Test) -> bool {
        let (Some(wanted), Some(mean)) = (test.number, self.number(&test.column.source)) else { return false };
        let half_width = mean.half_width.unwrap_or(0.0);
        self.meets(test)
            && [mean.value - half_width, mean.value + half_width].iter().any(|end| !test.comparison.holds(*end, wanted))
    }

    /// Whether its drives had settled under every seed, and it meets the conditions at both ends of its intervals.
    fn is_sure(&self, tests: &[Test]) -> bool {
        let meets = |test: &Test| self.meets(test) && !self.reaches_beyond(test);
        !self.runs.iter().any(|run| is_unsettled(run.steady)) && tests.iter().all(meets)
    }

    /// The text of a column whose numbers have this format: means with their errors.
    fn shown(&self, asked: &ShownColumn, format: Format) -> String {
        let Some(unit) = asked.unit else {
            if asked.source == Source::Seed {
                let seeds: Vec<String> = self.group.cells.iter().map(|(seed, _)| seed.to_string()).collect();
                return seeds.join(", ");
            }
            if asked.source == STEADY {
                return short_of_runs(&self.runs.iter().map(|run| run.steady).collect::<Vec<_>>());
            }
            let mut texts: Vec<String> = self.runs.iter().map(|run| asked.source.text(self.group.first, run)).collect();
            texts.dedup();
            return texts.join(", ");
        };
        let Some(mean) = self.number(&asked.source) else { return "-".into() };
        if matches!(asked.source, Source::Varied(_)) {
            return unit.shown_setting(mean.value);
        }
        let error = mean.half_width.map(|half_width| format!(" +/- {}", format.shown_error(half_width)));
        format!("{}{}", format.shown(mean.value), error.unwrap_or_default())
    }

    /// Whether a real drive can follow the scheme: not if its collections take no time.
    fn can_be_built(&self) -> bool {
        let run = self.group.first.plan.runs.get(self.at);
        run.is_none_or(|planned| !planned.resolved.run.preemption.is_timeless())
    }

    /// Whether its drives cannot keep up with their requests under at least one seed: waits then grow with the run.
    fn is_overloaded(&self) -> bool {
        self.runs.iter().any(|run| run.steady == Verdict::Overloaded)
    }

    fn name(&self) -> String {
        format!("`{}` in {}", self.scheme, self.group.label)
    }
}

/// Shown in every row, so that a transient is not mistaken for a result.
const STEADY: Source = Source::Text(TextColumn::Steady);

/// The answer, as a person reads it, and the rows of its table.
pub fn text(objective: &Objective, results: &SweepResults<'_>) -> Result<(String, Vec<Vec<Cell>>), Failure> {
    let columns = Columns::of(results.file, results.cells, results.results.iter());
    let (tests, best) = (objective.tests(&columns)?, objective.best(&columns)?);
    let mut groups = SeedGroup::all(results);
    groups.iter_mut().for_each(|group| group.cells.retain(|(seed, _)| is_asked_for(*seed, &tests)));
    groups.retain(|group| !group.cells.is_empty());
    let rows = rows(&groups, results);
    let all = Judged::new(rows.iter(), |row| row.standing(&tests));
    // Drives that can be built come before the others.
    let of_built = Judged::new(rows.iter().filter(|row| row.can_be_built()), |row| row.standing(&tests));
    let kept = all.meet;
    let mut asked: Vec<ShownColumn> = best.iter().map(|(asked, _)| asked.clone()).collect();
    for column in tests.iter().map(|test| &test.column).chain(&objective.shown(&columns)?) {
        if asked.iter().all(|other| other.title != column.title) {
            // A scheme's own requests stand beside the matched ones.
            let partner = asked.iter().position(|other| matched::are_pair(&other.title, &column.title));
            asked.insert(partner.map_or(asked.len(), |at| at + 1), column.clone());
        }
    }
    if asked.iter().all(|asked| asked.source != STEADY) {
        asked.push(ShownColumn { title: "steady".into(), source: STEADY, unit: None });
    }
    // Without a condition and without an extreme, the rows are no recommendation.
    let is_recommended = !tests.is_empty() || best.is_some();
    let mut text = heading(objective, &rows, &tests);
    let nearest: Vec<&Row<'_>> = of_built.nearest.or(all.nearest).filter(|_| kept.is_empty()).into_iter().collect();
    // Rows that cannot be judged are shown if there is no other, so that the missing number can be seen.
    let shown: Vec<&Row<'_>> = match (kept.is_empty(), nearest.is_empty()) {
        (false, _) => kept.clone(),
        (true, false) => nearest.clone(),
        (true, true) => rows.iter().filter(|row| row.is_unjudged(&tests)).collect(),
    };
    if !nearest.is_empty() {
        text.push_str(&format!("Nearest: {}\n", missed(nearest[0], &tests)));
    }
    let cells = cells(&shown, &asked, is_recommended);
    if !shown.is_empty() {
        // Columns that do not fit are in further tables below.
        text.push_str(&format!("\n{}", table::split(&cells, table::terminal_columns(table::PAGE))));
        text.push_str(&note_of_intervals(&shown, &tests));
    }
    if !kept.is_empty() && is_recommended {
        if of_built.meet.is_empty() {
            text.push_str("\nNo drive of this sweep that can be built meets it\n");
        } else if let Some((asked, is_most)) = &best {
            text.push_str(&best_of_built((&rows, &of_built.meet), asked, *is_most, &tests));
        }
        if let Some(row) = of_built.nearest {
            text.push_str(&format!("Nearest that can be built: {}\n", missed(row, &tests)));
        }
        text.push_str(&note_of_ideals(&kept));
    }
    if matched::are_requested(asked.iter().map(|asked| &*asked.title)) {
        text.push_str(&matched::note("the first scheme of a cell", None));
    }
    let text = text + &note_of_too_few(&rows, &asked, &tests) + &note_of_missing(&rows, &asked, &tests);
    Ok((text, cells))
}

/// The best of the rows that are steady and meet the conditions with their whole intervals, and the best of all that
/// keep up with their requests.
fn best_of_built(
    (all, built): (&[Row<'_>], &[&Row<'_>]),
    asked: &ShownColumn,
    is_most: bool,
    tests: &[Test],
) -> String {
    let able: Vec<&Row<'_>> = built.iter().copied().filter(|row| !row.is_overloaded()).collect();
    let overloaded = counted((built.len() - able.len()) as u64, "row");
    if able.is_empty() {
        let why = "the longer the run, the longer requests wait";
        return match tests.is_empty() {
            true => format!("{}All of these drives are overloaded: {why}\n", best_of(built, asked, is_most)),
            false => format!("\nNo row that meets it keeps up with its requests: {why}\n"),
        };
    }
    let sure: Vec<&Row<'_>> = built.iter().copied().filter(|row| row.is_sure(tests)).collect();
    let first = if sure.is_empty() { &able } else { &sure };
    let one_seed = built.iter().all(|row| row.runs.len() == 1);
    let whole = if tests.is_empty() || one_seed { "" } else { " over its whole interval" };
    let of_all = best_of(&able, asked, is_most);
    let of_sure = best_of(&sure, asked, is_most);
    let mut text = if sure.is_empty() {
        // The numbers of rows that are not steady change in longer runs: they are no answer.
        let (none, all) = match tests.is_empty() {
            true => ("No row is steady".to_owned(), ""),
            false => (format!("No steady row meets it{whole}"), " that meet it"),
        };
        format!("\n{none}. Of all rows{all}:{of_all}")
    } else {
        of_sure.clone()
    };
    if !tests.is_empty() {
        text.push_str(&note_of_end((all, first), asked, is_most));
    }
    if !sure.is_empty() && of_all != of_sure {
        let or = if whole.is_empty() { "" } else { ", or meet it only in their means" };
        text.push_str(&format!("With rows that are not steady{or}: {}", of_all.trim_start()));
    }
    if able.len() < built.len() {
        text.push_str(&format!(
            "Not counted: {overloaded} with overloaded drives, whose requests wait longer in longer runs\n"
        ));
    }
    text
}

/// The values of a row that miss the conditions.
fn missed(row: &Row<'_>, tests: &[Test]) -> String {
    let misses = |test: &Test| {
        let (title, unit) = (&test.column.title, test.column.unit.unwrap_or(Unit::Plain));
        let mean = row.number(&test.column.source).filter(|_| !row.meets(test))?;
        Some(format!("`{title}` is {}, not {} {}", unit.shown(mean.value), test.comparison.sign(), test.text))
    };
    format!("{}: {}", row.name(), tests.iter().filter_map(misses).collect::<Vec<_>>().join(", "))
}

/// The note that some rows are neither counted nor recommended, because no real drive can do what they do.
fn note_of_ideals(kept: &[&Row<'_>]) -> String {
    let ideal: Vec<&Row<'_>> = kept.iter().copied().filter(|row| !row.can_be_built()).collect();
    let mut schemes: Vec<&str> = ideal.iter().map(|row| row.scheme).collect();
    let mut seen = BTreeSet::new();
    schemes.retain(|scheme| seen.insert(*scheme));
    if schemes.is_empty() {
        return String::new();
    }
    let (rows, schemes) = (counted(ideal.len() as u64, "row"), names(&schemes));
    format!("Not counted: {rows} of {schemes} (marked *), whose collections take zero time; no real drive can\n")
}

/// The note on rows whose mean meets a condition, while an end of its interval does not.
fn note_of_intervals(shown: &[&Row<'_>], tests: &[Test]) -> String {
    let mut text = String::new();
    for test in tests {
        let beyond: Vec<String> = shown.iter().filter(|row| row.reaches_beyond(test)).map(|row| row.name()).collect();
        if !beyond.is_empty() {
            let (title, sign) = (&test.column.title, test.comparison.sign());
            let (found, rows) = (beyond.len() as u64, first_of(beyond));
            let many = if found == 1 {
                "interval of 1 row reaches".into()
            } else {
                format!("intervals of {} rows reach", count(found))
            };
            text.push_str(&format!("\nThe {many} beyond `{title} {sign} {}`: {rows}\n", test.text));
        }
    }
    text
}

fn rows<'a>(groups: &'a [SeedGroup<'a>], results: &'a SweepResults<'_>) -> Vec<Row<'a>> {
    let of_group = |group: &'a SeedGroup<'a>| {
        (0..results.file.schemes.len()).map(move |at| {
            let runs = group.runs(results, at);
            Row { group, scheme: &runs[0].scheme, at, runs }
        })
    };
    groups.iter().flat_map(of_group).collect()
}

/// The first line: how many rows meet the conditions. Rows of drives that cannot be built do not count, unless there
/// are no others.
fn heading(objective: &Objective, rows: &[Row<'_>], tests: &[Test]) -> String {
    let seeds = rows.iter().map(|row| row.runs.len()).max().unwrap_or(1);
    let means = if seeds > 1 { format!(", as means over {seeds} seeds with 95 % intervals") } else { String::new() };
    let conditions: Vec<String> =
        objective.conditions.iter().map(|condition| format!("`{}`", condition.text())).collect();
    if conditions.is_empty() {
        return format!("{}, a scheme in a cell each{means}\n", counted(rows.len() as u64, "row"));
    }
    let judged = counted_rows(rows);
    let number = |is_so: &dyn Fn(&Row<'_>) -> bool| judged.iter().filter(|row| is_so(row)).count() as u64;
    let (meeting, unjudged) =
        (number(&|row| row.standing(tests) == Standing::Meets), number(&|row| row.is_unjudged(tests)));
    let all = counted(judged.len() as u64, "row");
    let conditions = conditions.join(" and ");
    if unjudged == judged.len() as u64 {
        return format!("None of {all} can be judged by {conditions}{means}\n");
    }
    let found = match meeting {
        0 => format!("None of {all} meets"),
        1 => format!("1 of {all} meets"),
        _ => format!("{} of {all} meet", count(meeting)),
    };
    let overloaded = number(&|row| row.standing(tests) == Standing::Meets && row.is_overloaded());
    let found = if overloaded > 0 { format!("{found} ({} overloaded)", count(overloaded)) } else { found };
    let not_judged = if unjudged > 0 { format!("; {} cannot be judged", count(unjudged)) } else { String::new() };
    format!("{found} {conditions}{not_judged}{means}\n")
}

/// The rows that the first line and the notes count: of drives that can be built, or all if there are none.
fn counted_rows<'a, 'b>(rows: &'a [Row<'b>]) -> Vec<&'a Row<'b>> {
    let built: Vec<&Row<'_>> = rows.iter().filter(|row| row.can_be_built()).collect();
    if built.is_empty() { rows.iter().collect() } else { built }
}

/// How the numbers of a column of these rows are printed. Counts stay counts, also as means over seeds.
fn format_of(rows: &[&Row<'_>], asked: &ShownColumn) -> Format {
    let is_count = |name: &String| {
        let numbers = || rows.iter().flat_map(|row| &row.runs).filter_map(|run| run.numbers.get(name));
        numbers().next().is_some() && numbers().all(|number| matches!(number, Number::U64(_)))
    };
    if let (Source::Number(name), Some(Unit::Plain)) = (&asked.source, asked.unit)
        && is_count(name)
    {
        return Format::Count;
    }
    let values = rows.iter().filter_map(|row| row.number(&asked.source)).map(|mean| mean.value);
    Format::in_unit(asked.unit.unwrap_or(Unit::Plain), values)
}

/// Titles, then a line for each row, below the name of its cell. `is_marked`: whether drives that cannot be built are
/// marked.
fn cells(rows: &[&Row<'_>], asked: &[ShownColumn], is_marked: bool) -> Vec<Vec<Cell>> {
    let bold = |text: &str| Cell::styled(text, BOLD);
    let heading = std::iter::once(Cell::default()).chain(asked.iter().map(|asked| bold(&asked.title)));
    let mut lines: Vec<Vec<Cell>> = vec![heading.collect()];
    let formats: Vec<Format> = asked.iter().map(|asked| format_of(rows, asked)).collect();
    let mut label = None;
    for row in rows {
        if label.replace(&row.group.label) != Some(&row.group.label) {
            lines.push(vec![bold(&row.group.label)]);
        }
        let mark = if is_marked && !row.can_be_built() { " *" } else { "" };
        let scheme = Cell::new(format!("  {}{mark}", row.scheme));
        let shown = |(asked, format): (&ShownColumn, &Format)| Cell::new(row.shown(asked, *format));
        lines.push(std::iter::once(scheme).chain(asked.iter().zip(&formats).map(shown)).collect());
    }
    lines
}

/// Rows that a line names.
const NAMED_MAX: usize = 5;

/// The first of these names, and how many more there are.
fn first_of(names: Vec<String>) -> String {
    let more = match names.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    names.into_iter().take(NAMED_MAX).collect::<Vec<_>>().join(", ") + &more
}

/// The least or the greatest value of these rows, and the rows that have it.
fn best_of(rows: &[&Row<'_>], asked: &ShownColumn, is_most: bool) -> String {
    let value = |row: &Row<'_>| row.number(&asked.source).map(|mean| mean.value);
    let what = if is_most { "Most" } else { "Least" };
    let Some(best) = extreme(rows.iter().copied(), asked, is_most) else {
        return format!("\n{what} `{}`: none of these rows has a value\n", asked.title);
    };
    let alike: Vec<String> = rows.iter().filter(|row| value(row) == Some(best)).map(|row| row.name()).collect();
    let shown = match asked.source {
        Source::Varied(_) => asked.unit.unwrap_or(Unit::Plain).shown_setting(best),
        _ => format_of(rows, asked).shown(best),
    };
    format!("\n{what} `{}`: {shown}, {}\n", asked.title, first_of(alike))
}

/// The best value of some rows; `None` if none has a number.
fn extreme<'a>(rows: impl Iterator<Item = &'a Row<'a>>, asked: &ShownColumn, is_most: bool) -> Option<f64> {
    let better = if is_most { f64::max } else { f64::min };
    rows.filter_map(|row| Some(row.number(&asked.source)?.value)).reduce(better)
}

/// The note that the best value of a varied key is the last one of the grid, so that the limit may be beyond it.
fn note_of_end((all, built): (&[Row<'_>], &[&Row<'_>]), asked: &ShownColumn, is_most: bool) -> String {
    let Source::Varied(_) = asked.source else { return String::new() };
    let best = extreme(built.iter().copied(), asked, is_most);
    if best.is_none() || best != extreme(all.iter(), asked, is_most) {
        return String::new();
    }
    let (end, beyond) = if is_most { ("highest", "higher") } else { ("lowest", "lower") };
    format!("This is the {end} value in the grid; {beyond} values may meet the conditions, too\n")
}

/// The note that rows have too few requests for a percentile, so that it has no value there and meets no condition.
fn note_of_too_few(rows: &[Row<'_>], asked: &[ShownColumn], tests: &[Test]) -> String {
    let mut text = String::new();
    for asked in asked {
        let shortages: Vec<TooFew> = counted_rows(rows).iter().filter_map(|row| row.too_few(&asked.source)).collect();
        if let Some(most) = shortages.iter().max() {
            let (title, found) = (&asked.title, counted(shortages.len() as u64, "row"));
            let judged = if is_tested(asked, tests) { ", so that its condition cannot be judged there" } else { "" };
            let at_most = if shortages.len() > 1 { "at most " } else { "" };
            text.push_str(&format!(
                "\nNote: `{title}` has no value in {found}{judged}: it needs {} requests in each run, and there are \
                 {at_most}{}\n",
                count(most.needed),
                count(most.count)
            ));
        }
    }
    text
}

/// Whether a condition is on this column.
fn is_tested(asked: &ShownColumn, tests: &[Test]) -> bool {
    tests.iter().any(|test| test.column.source == asked.source)
}

/// The note that some rows lack a number, and so meet no condition on it.
fn note_of_missing(rows: &[Row<'_>], asked: &[ShownColumn], tests: &[Test]) -> String {
    let mut text = String::new();
    for asked in asked.iter().filter(|asked| asked.unit.is_some()) {
        let is_missing = |row: &&&Row<'_>| row.number(&asked.source).is_none() && row.too_few(&asked.source).is_none();
        let missing = counted_rows(rows).iter().filter(is_missing).count();
        if missing > 0 {
            let so = if is_tested(asked, tests) { ", so that its condition cannot be judged there" } else { "" };
            let rows = counted(missing as u64, "row");
            text.push_str(&format!("\nNote: no `{}` in {rows}{so}\n", asked.title));
        }
    }
    text
}
