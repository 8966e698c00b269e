//! Which operations a job has, and in which order of addresses: `rw` and its mix.

use super::Subject;
use super::value_parser::ValueParser;
use crate::failure::Failure;
use crate::fio::block_sizes;
use crate::fio::number::number;
use crate::fio::parse::Opt;

/// What follows the pattern of `rw` behind a colon.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Modifier {
    /// Requests per drawn address, for random jobs.
    pub run_length: Option<u64>,
    /// Bytes between the end of a request and the next one, for sequential jobs.
    pub skip_bytes: i64,
}

/// Operations and their order.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Whether the job has reads, writes and trims.
    pub ops: [bool; 3],
    /// Whether addresses are random.
    pub is_random: bool,
    /// Whether each write follows a trim of its addresses.
    pub trims_first: bool,
    pub modifier: Modifier,
    /// Whether requests of one draw repeat the address instead of continuing.
    pub repeats_places: bool,
    pub read_percent: u64,
}

impl Default for Pattern {
    fn default() -> Self {
        Self {
            ops: [true, false, false],
            is_random: false,
            trims_first: false,
            modifier: Modifier::default(),
            repeats_places: false,
            read_percent: 50,
        }
    }
}

impl Subject for Pattern {
    fn set(&mut self, name: &str, opt: &Opt, read: ValueParser, _: &mut Vec<String>) -> Result<bool, Failure> {
        match name {
            "rw" => self.set_ops(opt, read)?,
            "rw_sequencer" => {
                self.repeats_places = match opt.text()? {
                    "sequential" => false,
                    "identical" => true,
                    _ => return Err(opt.wrong("fio knows sequential and identical", "write one of them")),
                }
            }
            "rwmixread" => self.read_percent = read.number(opt, 0..=100)?,
            "rwmixwrite" => self.read_percent = 100 - read.number(opt, 0..=100)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Pattern {
    fn set_ops(&mut self, opt: &Opt, read: ValueParser) -> Result<(), Failure> {
        let text = opt.text()?;
        let (pattern, modifier) = text.split_once(':').map_or((text, None), |(pattern, more)| (pattern, Some(more)));
        let (ops, is_random) = match pattern {
            "read" => ([true, false, false], false),
            "write" | "trimwrite" => ([false, true, false], false),
            "trim" => ([false, false, true], false),
            "randread" => ([true, false, false], true),
            "randwrite" | "randtrimwrite" => ([false, true, false], true),
            "randtrim" => ([false, false, true], true),
            "rw" | "readwrite" => ([true, true, false], false),
            "randrw" => ([true, true, false], true),
            _ => {
                let help = "use read, write, trim, trimwrite or rw, or randread, randwrite, randtrim, randtrimwrite or \
                            randrw";
                return Err(opt.wrong("fio has no such pattern", help));
            }
        };
        (self.ops, self.is_random) = (ops, is_random);
        self.trims_first = pattern.ends_with("trimwrite");
        self.modifier = match modifier {
            None => Modifier::default(),
            Some(text) if is_random => {
                let wrong =
                    || opt.wrong("the colon must be followed by a number of requests", "write for example randread:8");
                let run_length = number(opt, text, read.kb_base)?;
                Modifier {
                    run_length: Some(run_length).filter(|length| *length > 0).ok_or_else(wrong)?.into(),
                    skip_bytes: 0,
                }
            }
            Some(text) => {
                let (digits, sign) = text.strip_prefix('-').map_or((text, 1), |digits| (digits, -1));
                let bytes = i64::try_from(block_sizes::sectors(opt, digits, read.kb_base)?).unwrap_or(i64::MAX);
                Modifier { run_length: None, skip_bytes: sign * bytes }
            }
        };
        Ok(())
    }
}
