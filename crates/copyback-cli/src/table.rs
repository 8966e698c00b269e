//! Tables of aligned columns.

use crate::matched;
use anstyle::Style;

/// One cell: a text and how it looks.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A plain cell.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), style: Style::new() }
    }

    /// A cell in a style.
    pub fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }

    /// Its text.
    pub fn into_text(self) -> String {
        self.text
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

/// Bold, for headings.
pub const BOLD: Style = Style::new().bold();
/// Dimmed, for what is secondary.
pub const DIM: Style = Style::new().dimmed();

/// A table of cells for LaTeX, of which the first rows are headings.
pub fn latex(rows: Vec<Vec<Cell>>, headings: usize) -> String {
    let rows: Vec<Vec<String>> = rows.into_iter().map(|row| row.into_iter().map(Cell::into_text).collect()).collect();
    let titles = || rows.iter().take(headings).flatten().map(String::as_str);
    // The caption must explain matched requests, and is not part of the table.
    let note = if matched::are_requested(titles()) { matched::COMMENT } else { "" };
    format!("{note}{}", copyback_report::latex::table(&rows, headings))
}

/// Aligns rows: first column left, others right, two blanks between. A row with one cell is a heading and widens no
/// column.
pub fn lay_out(rows: &[Vec<Cell>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let wide = || rows.iter().filter(|row| row.len() > 1 || columns == 1);
    let width = |column: usize| wide().filter_map(|row| row.get(column)).map(Cell::width).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let gap = " ".repeat(widths[column].saturating_sub(cell.width()));
            // A style around nothing would keep the blanks before it.
            let styled = match cell.text.is_empty() {
                true => String::new(),
                false => format!("{}{}{}", cell.style.render(), cell.text, cell.style.render_reset()),
            };
            match column {
                0 => line.push_str(&format!("{styled}{gap}")),
                _ => line.push_str(&format!("  {gap}{styled}")),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// How wide a table of these rows is; headings over rows do not count.
pub fn width(rows: &[Vec<Cell>]) -> usize {
    let rows: Vec<Vec<Cell>> = rows.iter().filter(|row| row.len() > 1).cloned().collect();
    lay_out(&rows).lines().map(|line| anstream::adapter::strip_str(line).to_string().chars().count()).max().unwrap_or(0)
}

/// The first column, and the columns at these indices.
fn chosen(rows: &[Vec<Cell>], columns: &[usize]) -> Vec<Vec<Cell>> {
    let all = || std::iter::once(&0).chain(columns);
    rows.iter().map(|row| all().filter_map(|&column| row.get(column).cloned()).collect()).collect()
}

/// Several tables, one below the other, with the first column in each: as few as the width allows, nothing left out.
pub fn split(rows: &[Vec<Cell>], terminal_columns: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(1);
    let title = |column: usize| rows.first().and_then(|row| row.get(column)).map_or("", |cell| cell.text.as_str());
    let mut tables: Vec<Vec<usize>> = vec![Vec::new()];
    let mut next = 1;
    while next < columns {
        // A number of matched requests never stands without the scheme's own.
        let is_pair = next + 1 < columns && matched::are_pair(title(next), title(next + 1));
        let together: Vec<usize> = (next..=next + usize::from(is_pair)).collect();
        next += together.len();
        let last = tables.last_mut().expect("there is one");
        let longer: Vec<usize> = last.iter().chain(&together).copied().collect();
        if last.is_empty() || width(&chosen(rows, &longer)) <= terminal_columns {
            *last = longer;
        } else {
            tables.push(together);
        }
    }
    tables.iter().map(|columns| lay_out(&chosen(rows, columns))).collect::<Vec<_>>().join("\n")
}

/// The columns that fit, in the order of the table; then the columns that do not fit. Columns are tried in the order of
/// `by_importance`.
pub fn fitting(rows: &[Vec<Cell>], by_importance: &[usize], terminal_columns: usize) -> (Vec<usize>, Vec<usize>) {
    let mut kept: Vec<usize> = Vec::new();
    for &column in by_importance {
        let mut more = kept.clone();
        more.push(column);
        more.sort_unstable();
        if width(&chosen(rows, &more)) <= terminal_columns {
            kept = more;
        }
    }
    let left_out = by_importance.iter().copied().filter(|column| !kept.contains(column)).collect();
    (kept, left_out)
}

/// The table of these columns.
pub fn lay_out_of(rows: &[Vec<Cell>], columns: &[usize]) -> String {
    lay_out(&chosen(rows, columns))
}

/// Columns of texts if there is no terminal.
pub const WIDE: usize = 120;
/// Columns of tables if there is no terminal.
pub const PAGE: usize = 80;

/// Columns of the terminal; `others` if there is none, as in a pipe or a file.
pub fn terminal_columns(others: usize) -> usize {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(others, |(width, _)| usize::from(width.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(texts: &[&[&str]]) -> Vec<Vec<Cell>> {
        texts.iter().map(|row| row.iter().map(|text| Cell::new(*text)).collect()).collect()
    }

    #[test]
    fn a_heading_over_rows_widens_no_column() {
        let table = rows(&[&["", "a"], &["a long heading"], &["x", "1"]]);
        assert_eq!(lay_out(&table), "   a\na long heading\nx  1\n");
        assert_eq!(width(&table), 4);
    }

    #[test]
    fn no_line_ends_with_blanks() {
        let empty = || Cell::styled("", DIM);
        let table = vec![vec![Cell::new("a"), Cell::new("1"), Cell::new("22")], vec![empty(), Cell::new("3"), empty()]];
        assert_eq!(lay_out(&table), "a  1  22\n   3\n");
    }

    /// Three columns of three characters: the name takes one character, and each column five, its gap included.
    #[test]
    fn what_does_not_fit_goes_into_another_table() {
        let table = rows(&[&["n", "aaa", "bbb", "ccc"], &["x", "1", "2", "3"]]);
        assert_eq!(split(&table, 16), "n  aaa  bbb  ccc\nx    1    2    3\n");
        assert_eq!(split(&table, 15), "n  aaa  bbb\nx    1    2\n\nn  ccc\nx    3\n");
        assert_eq!(split(&table, 1).lines().filter(|line| !line.is_empty()).count(), 6, "a column is never cut");
    }

    #[test]
    fn matched_requests_stay_beside_each_schemes_own() {
        let heading = ["n", "WA", "matched.a", "own.a", "matched.b", "own.b"];
        let table = rows(&[&heading, &["x", "1", "2", "3", "4", "5"]]);
        // The first number of matched requests alone would fit beside `WA`.
        let expected =
            "n  WA\nx   1\n\nn  matched.a  own.a\nx          2      3\n\nn  matched.b  own.b\nx          4      5\n";
        assert_eq!(split(&table, 20), expected);
        assert!(latex(table, 1).starts_with("% matched: "), "a caption has to say what the selection does");
        assert!(!latex(rows(&[&["n", "WA"], &["x", "1"]]), 1).contains("matched"));
    }

    #[test]
    fn what_matters_most_is_kept() {
        let table = rows(&[&["n", "aaa", "bbb", "ccc"], &["x", "1", "2", "3"]]);
        assert_eq!(fitting(&table, &[3, 1, 2], 16), (vec![1, 2, 3], vec![]));
        assert_eq!(fitting(&table, &[3, 1, 2], 11), (vec![1, 3], vec![2]));
        assert_eq!(lay_out_of(&table, &[1, 3]), "n  aaa  ccc\nx    1    3\n");
    }
}
