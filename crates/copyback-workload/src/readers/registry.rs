//! Every text format of one record a line: its word, in the order in which detection tries it, and its reader.

use super::five_column::FiveColumn;
use super::lines::LineReader;
use super::{LineFormat, ReaderOptions, RecordReader};
use super::{biosnoop, blkparse, cloud, etw, fio, fiu, iosnoop, msr, spc, strace, systor, tectonic, tracepoints};
use crate::input::ByteStream;
use crate::spec::Format;

macro_rules! text_formats {
    ($options:ident; $($format:ident => $parser:expr,)+) => {
        /// Every text format, in the order in which they are tried: the stricter of two that are alike comes first.
        pub(crate) const TEXT_FORMATS: &[Format] = &[$(Format::$format),+];

        /// The parser of a text format's lines.
        pub(crate) fn parser(format: Format, $options: &ReaderOptions) -> Option<Box<dyn LineFormat>> {
            match format {
                $(Format::$format => Some(Box::new($parser)),)+
                _ => None,
            }
        }

        /// The reader of a text format. `taken` says why the file is read in it.
        pub(crate) fn reader(
            format: Format,
            file: &str,
            stream: ByteStream,
            $options: &ReaderOptions,
            taken: String,
        ) -> Option<Box<dyn RecordReader>> {
            match format {
                $(Format::$format => {
                    Some(Box::new(LineReader::new(file.to_owned(), stream, $parser, $options.skip_bad, taken)))
                })+
                _ => None,
            }
        }
    };
}

text_formats! {
    options;
    Msr => msr::Msr::default(),
    Spc => spc::Spc,
    Ssdsim => FiveColumn::ssdsim(options.zero_means),
    Disksim => FiveColumn::disksim(options.zero_means),
    Blkparse => blkparse::Blkparse::new(options.event),
    Tracepoints => tracepoints::Tracepoints::new(options.event),
    Biosnoop => biosnoop::Biosnoop::default(),
    Iosnoop => iosnoop::Iosnoop::default(),
    Fiu => fiu::Fiu,
    Systor => systor::Systor,
    Tencent => cloud::Tencent,
    Alibaba => cloud::Alibaba,
    Fio => fio::Fio::default(),
    Tectonic => tectonic::Tectonic::default(),
    Etw => etw::Etw::default(),
    Strace => strace::Strace::default(),
}
