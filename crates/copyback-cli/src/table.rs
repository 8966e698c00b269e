//! Tables of aligned columns.

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

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

/// Bold, for headings.
pub const BOLD: Style = Style::new().bold();
/// Dimmed, for what is secondary.
pub const DIM: Style = Style::new().dimmed();

/// Lays rows out: the first column to the left, the others to the right, with two spaces between. A row may be shorter
/// than others.
pub fn lay_out(rows: &[Vec<Cell>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(Cell::width).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let gap = " ".repeat(widths[column] - cell.width());
            let styled = format!("{}{}{}", cell.style.render(), cell.text, cell.style.render_reset());
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

/// How wide a table of these rows is.
pub fn width(rows: &[Vec<Cell>]) -> usize {
    lay_out(rows).lines().map(|line| anstream::adapter::strip_str(line).to_string().chars().count()).max().unwrap_or(0)
}

/// Columns where there is no terminal, for what need not stand on a page.
pub const WIDE: usize = 120;

/// Columns of the terminal; `others` where there is none, as in a pipe or a file.
pub fn terminal_columns(others: usize) -> usize {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(others, |(width, _)| usize::from(width.0))
}
