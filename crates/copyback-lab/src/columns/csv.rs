//! The same tables as text (RFC 4180): a line of names, and a line for each row.

use super::Column;
use std::io::{Result, Write};

impl Column {
    fn name(&self) -> &str {
        match self {
            Self::Text(name, _) | Self::U64(name, _) | Self::F64(name, _) => name,
            Self::Named(name, _) | Self::NamedText(name, _) | Self::MaybeU64(name, _) | Self::MaybeF64(name, _) => name,
        }
    }

    fn rows(&self) -> usize {
        match self {
            Self::Text(_, values) | Self::NamedText(_, values) => values.len(),
            Self::U64(_, values) | Self::Named(_, values) => values.len(),
            Self::F64(_, values) => values.len(),
            Self::MaybeU64(_, values) => values.len(),
            Self::MaybeF64(_, values) => values.len(),
        }
    }

    /// The value of a row; empty for null. Numbers have the fewest digits that read back as the same number.
    fn value(&self, row: usize) -> String {
        let shown = |value: Option<String>| value.unwrap_or_default();
        match self {
            Self::Text(_, values) | Self::NamedText(_, values) => values[row].clone(),
            Self::U64(_, values) | Self::Named(_, values) => values[row].to_string(),
            Self::F64(_, values) => values[row].to_string(),
            Self::MaybeU64(_, values) => shown(values[row].map(|value| value.to_string())),
            Self::MaybeF64(_, values) => shown(values[row].map(|value| value.to_string())),
        }
    }
}

/// Writes a table.
pub fn write(out: impl Write, columns: &[Column]) -> Result<()> {
    let mut out = csv::Writer::from_writer(out);
    out.write_record(columns.iter().map(Column::name))?;
    for row in 0..columns.first().map_or(0, Column::rows) {
        out.write_record(columns.iter().map(|column| column.value(row)))?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_they_need_it_and_null_is_nothing() {
        let texts = ["plain", "a, b", "say \"so\"", "two\nlines"].map(str::to_owned).to_vec();
        let columns = [
            Column::text("a", texts),
            Column::MaybeF64("b,c".into(), vec![Some(0.1), None, Some(1e-9), Some(3.0)]),
            Column::U64("d", vec![0, u64::MAX, 2, 3]),
        ];
        let mut out = Vec::new();
        write(&mut out, &columns).unwrap();
        let expected = "a,\"b,c\",d\nplain,0.1,0\n\"a, b\",,18446744073709551615\n\"say \"\"so\"\"\",0.000000001,2\n\
                        \"two\nlines\",3,3\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
