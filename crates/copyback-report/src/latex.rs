//! Tables for LaTeX, with the package booktabs.

/// A table of texts: the first column left-aligned, the others right-aligned. Of two heading rows, the first has group
/// titles, which span the empty cells after them. A row of one text is a heading; a row without a name continues the
/// row above.
pub fn table(rows: &[Vec<String>], headings: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let mut text = format!(
        "% needs \\usepackage{{booktabs}}\n\\begin{{tabular}}{{l{}}}\n\\toprule\n",
        "r".repeat(columns.saturating_sub(1))
    );
    let (heads, body) = rows.split_at(headings.min(rows.len()));
    for (at, row) in heads.iter().enumerate() {
        text += &if at + 1 < heads.len() { groups(row, columns) } else { line(row, columns) };
    }
    if !heads.is_empty() {
        text += "\\midrule\n";
    }
    for (at, row) in body.iter().enumerate() {
        if row.len() == 1 && columns > 1 {
            let space = if at > 0 { "\\addlinespace\n" } else { "" };
            text += &format!("{space}\\multicolumn{{{columns}}}{{l}}{{\\emph{{{}}}}} \\\\\n", escape(row[0].trim()));
        } else {
            text += &line(row, columns);
        }
    }
    text + "\\bottomrule\n\\end{tabular}\n"
}

fn line(row: &[String], columns: usize) -> String {
    let cells = (0..columns).map(|at| row.get(at).map_or_else(String::new, |cell| escape(cell.trim())));
    format!("{} \\\\\n", cells.collect::<Vec<_>>().join(" & "))
}

/// Headings over several columns, each with a rule below it.
fn groups(row: &[String], columns: usize) -> String {
    let starts: Vec<usize> = (1..columns).filter(|&at| row.get(at).is_some_and(|text| !text.is_empty())).collect();
    let first = starts.first().copied().unwrap_or(columns);
    let mut cells: Vec<String> = (0..first).map(|at| row.get(at).map_or_else(String::new, |t| escape(t))).collect();
    let mut rules = String::new();
    for (number, &start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(columns);
        cells.push(format!("\\multicolumn{{{}}}{{c}}{{{}}}", end - start, escape(&row[start])));
        rules += &format!("\\cmidrule(lr){{{}-{end}}}", start + 1);
    }
    format!("{} \\\\\n{rules}{}", cells.join(" & "), if rules.is_empty() { "" } else { "\n" })
}

/// A text with LaTeX's special characters escaped. A hyphen before a number is a minus; a hyphen alone is a dash.
pub fn escape(text: &str) -> String {
    if text == "-" {
        return "--".to_owned();
    }
    let mut escaped = String::new();
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        let is_sign = before == ' ' && text[at + letter.len_utf8()..].starts_with(|next: char| next.is_ascii_digit());
        match letter {
            '-' if is_sign => escaped.push_str("$-$"),
            '+' if is_sign => escaped.push_str("$+$"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '|' => escaped.push_str("\\textbar{}"),
            '"' => escaped.push_str("\\textquotedbl{}"),
            '\u{b5}' | '\u{3bc}' => escaped.push_str("$\\mu$"),
            '\u{b1}' => escaped.push_str("$\\pm$"),
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
        before = letter;
    }
    escaped.replace("+/$-$", "$\\pm$").replace("+/-", "$\\pm$")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(texts: &[&[&str]]) -> Vec<Vec<String>> {
        texts.iter().map(|row| row.iter().map(|text| (*text).to_owned()).collect()).collect()
    }

    #[test]
    fn what_latex_would_read_is_escaped() {
        for (text, escaped) in [
            ("a_b & 5 % of $1 #2 {x}", "a\\_b \\& 5 \\% of \\$1 \\#2 \\{x\\}"),
            ("\\input{/etc/passwd}", "\\textbackslash{}input\\{/etc/passwd\\}"),
            ("~^<>|\"", "\\textasciitilde{}\\textasciicircum{}\\textless{}\\textgreater{}\\textbar{}\\textquotedbl{}"),
            ("-85.0 %", "$-$85.0 \\%"),
            ("+204.9 %", "$+$204.9 \\%"),
            ("gc-par-2", "gc-par-2"),
            ("-", "--"),
            ("3 us +/- 1 us", "3 us $\\pm$ 1 us"),
            ("two\nlines\u{7}", "two lines "),
        ] {
            assert_eq!(escape(text), escaped);
        }
    }

    #[test]
    fn groups_span_their_columns_and_every_row_has_all_cells() {
        let table = table(
            &rows(&[
                &["", "reads", "", "flash"],
                &["scheme", "mean", "p99", "WA"],
                &["a_1", "1 ms", "2 ms", "3.0"],
                &["", "-1 %", "-", ""],
                &["cell 2"],
                &["b", "1"],
            ]),
            2,
        );
        let expected = "% needs \\usepackage{booktabs}\n\\begin{tabular}{lrrr}\n\\toprule\n \
                        & \\multicolumn{2}{c}{reads} & \\multicolumn{1}{c}{flash} \\\\\n\
                        \\cmidrule(lr){2-3}\\cmidrule(lr){4-4}\nscheme & mean & p99 & WA \\\\\n\\midrule\n\
                        a\\_1 & 1 ms & 2 ms & 3.0 \\\\\n & $-$1 \\% & -- &  \\\\\n\
                        \\addlinespace\n\\multicolumn{4}{l}{\\emph{cell 2}} \\\\\nb & 1 &  &  \\\\\n\
                        \\bottomrule\n\\end{tabular}\n";
        assert_eq!(table, expected);
    }

    #[test]
    fn a_table_of_nothing_is_a_table() {
        assert!(table(&[], 1).ends_with("\\toprule\n\\bottomrule\n\\end{tabular}\n"));
    }
}
