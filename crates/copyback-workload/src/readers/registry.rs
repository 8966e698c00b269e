//! The registry of trace formats: their properties, and the type [`Format`](super::Format) that names one.
//!
//! A format is a file of `readers` with a [`FormatRow`], and a row of the list in `readers/mod.rs`. The registry
//! provides everything else: its word in files and on the command line, detection, its reader, the pages that list
//! formats, the fuzz corpus.

use super::lines::LineReader;
use super::records::{BinaryReader, RecordFormat};
use super::{LineFormat, ReaderOptions, RecordReader};
use crate::Error;
use crate::input::ByteStream;
use crate::spec::REORDER_WINDOW_DEFAULT;

/// A file that is about to be read.
pub(crate) struct Opening<'a> {
    /// Its name, for messages.
    pub file: &'a str,
    /// Its content, decompressed.
    pub stream: ByteStream,
    /// The beginning of its content.
    pub head: &'a [u8],
    /// The settings of the user.
    pub options: &'a ReaderOptions,
    /// The reason why the file is read in this format.
    pub taken: String,
}

/// The reader of a file.
pub(crate) type Opened = Result<Box<dyn RecordReader>, Error>;

/// How a file of a format is recognised and read.
pub(crate) enum Content {
    /// Text, a record a line. It is recognised if most of its first lines parse.
    Lines {
        /// A parser of its lines.
        parser: fn(&ReaderOptions) -> Box<dyn LineFormat>,
        /// The reader.
        open: fn(Opening<'_>) -> Opened,
    },
    /// Binary records, or a table: recognised by the beginning of a file.
    Known {
        /// Whether a file with this beginning is of this format.
        recognises: fn(&[u8]) -> bool,
        /// Continues "it was read as format `lcs`, ".
        why: &'static str,
        /// The reader.
        open: fn(Opening<'_>) -> Opened,
    },
    /// Decided before the content is examined: `auto`, and Parquet, which needs random access.
    Settled,
}

/// The properties of a format.
pub(crate) struct FormatRow {
    /// Its name in files and on the command line.
    pub word: &'static str,
    /// How it is recognised and read.
    pub content: Content,
    /// Whether its addresses are in files or blobs, which are packed unless the user sets another layout.
    pub has_addresses_of_files: bool,
    /// The options that its reader takes, among `event`, `zero_means`, `columns` and `operations` of `[workload]`.
    pub options: &'static [&'static str],
    /// Records that are held for sorting by default.
    pub reorder_window: usize,
    /// A remedy, other than sorting the trace, if a record is too late in the file to be sorted.
    pub help_if_late: Option<&'static str>,
}

impl FormatRow {
    /// A format with default properties.
    pub(crate) const fn new(word: &'static str, content: Content) -> Self {
        Self {
            word,
            content,
            has_addresses_of_files: false,
            options: &[],
            reorder_window: REORDER_WINDOW_DEFAULT,
            help_if_late: None,
        }
    }

    /// The parser of a line, if it is a format of lines.
    pub(crate) fn parser(&self, options: &ReaderOptions) -> Option<Box<dyn LineFormat>> {
        match self.content {
            Content::Lines { parser, .. } => Some(parser(options)),
            Content::Known { .. } | Content::Settled => None,
        }
    }
}

/// Reads a file line by line.
pub(crate) fn open_lines<F: LineFormat + 'static>(opening: Opening<'_>, format: F) -> Opened {
    let Opening { file, stream, options, taken, .. } = opening;
    Ok(Box::new(LineReader::new(file.to_owned(), stream, format, options.skip_bad, taken)))
}

/// Reads a file of binary records.
pub(crate) fn open_records<F: RecordFormat + 'static>(opening: Opening<'_>, format: F) -> Opened {
    let Opening { file, stream, options, taken, .. } = opening;
    Ok(Box::new(BinaryReader::new(file.to_owned(), stream, format, options.skip_bad, taken)))
}

/// A format of one record a line: its word, and the parser for these options.
macro_rules! lines {
    ($word:literal, |$options:pat_param| $parser:expr) => {
        $crate::readers::registry::FormatRow::new(
            $word,
            $crate::readers::registry::Content::Lines {
                parser: |$options| Box::new($parser),
                open: |opening| {
                    let $options = opening.options;
                    let parser = $parser;
                    $crate::readers::registry::open_lines(opening, parser)
                },
            },
        )
    };
}
pub(crate) use lines;

/// Generates the type that names a format, from the rows in the order in which formats are listed and tried.
macro_rules! formats {
    ($($(#[doc = $doc:expr])* $(#[cfg($($cfg:tt)+)])? $variant:ident => $row:expr,)+) => {
        /// How a trace file is laid out. The content decides under `auto`; a file's name never does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Format {
            $($(#[doc = $doc])* $(#[cfg($($cfg)+)])? $variant,)+
        }

        impl Format {
            /// Every format, in the order in which they are listed to a user.
            pub const ALL: &'static [Self] = &[$($(#[cfg($($cfg)+)])? Self::$variant),+];

            /// Whether it is text with one record a line.
            pub fn is_of_lines(self) -> bool {
                matches!(self.row().content, Content::Lines { .. })
            }

            /// Its properties.
            pub(crate) fn row(self) -> &'static FormatRow {
                match self {
                    $($(#[cfg($($cfg)+)])? Self::$variant => {
                        static ROW: FormatRow = $row;
                        &ROW
                    })+
                }
            }
        }
    };
}
pub(crate) use formats;

#[cfg(test)]
mod tests {
    use crate::spec::{Format, WorkloadSpec};
    use crate::{Op, open};

    /// The example of docs/policies.md, which consists of its file and its row, is named, recognised, and read.
    #[test]
    fn a_format_is_a_file_and_a_row() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trace");
        let text = "t=12.5 disk=0 op=W sector=2048 sectors=8\nt=13 disk=1 op=R sector=8 sectors=1\n";
        std::fs::write(&path, text).expect("it is written");
        let named: Format = "named-values".parse().expect("it has a row");
        for format in [None, Some(named)] {
            let spec = WorkloadSpec { format, ..WorkloadSpec::of_trace(&path) };
            let mut source = open(&spec, 1, 1 << 30).expect("it is read");
            assert!(source.notes().contains(&"format `named-values`".to_owned()), "{:?}", source.notes());
            let mut next = || source.next_request().expect("it is well formed");
            let [first, second] = [next(), next()].map(|request| request.expect("there are two"));
            assert_eq!(
                (first.arrival_ns, first.op, first.offset_bytes, first.len_bytes),
                (0, Op::Write, 1 << 20, 4096)
            );
            assert_eq!((second.arrival_ns, second.op, second.offset_bytes, second.device), (500, Op::Read, 4096, 1));
            assert!(next().is_none());
        }
    }
}
