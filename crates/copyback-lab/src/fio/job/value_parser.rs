//! Values of options that several subjects have: numbers, parts, switches.

use super::BytesOrShare;
use crate::failure::Failure;
use crate::fio::number::{each, number};
use crate::fio::parse::Opt;
use std::ops::RangeInclusive;

/// Reads values of a job's options.
#[derive(Clone, Copy, Debug)]
pub struct ValueParser {
    /// Bytes of a `k`.
    pub kb_base: u64,
}

impl Default for ValueParser {
    fn default() -> Self {
        Self { kb_base: 1024 }
    }
}

impl ValueParser {
    /// As `kb_base` says.
    pub fn of_kb_base(opt: &Opt) -> Result<Self, Failure> {
        match opt.text()? {
            "1024" => Ok(Self { kb_base: 1024 }),
            "1000" => Ok(Self { kb_base: 1000 }),
            _ => Err(opt.wrong("fio knows 1000 and 1024", "write kb_base=1024, or leave it out")),
        }
    }

    /// A number.
    pub fn number(self, opt: &Opt, range: RangeInclusive<u64>) -> Result<u64, Failure> {
        let value = number(opt, opt.text()?, self.kb_base)?;
        if range.contains(&value) {
            return Ok(value);
        }
        let (least, most) = (range.start(), range.end());
        let help =
            if *most == u64::MAX { format!("write {least} or more") } else { format!("write {least} to {most}") };
        Err(opt.wrong("it is out of range", help))
    }

    /// Bytes, or a percentage: a share of the drive, of a file, or of a region.
    pub fn part(self, opt: &Opt, percent_max: u64) -> Result<BytesOrShare, Failure> {
        let text = opt.text()?;
        let Some(percent) = text.strip_suffix('%') else {
            return Ok(BytesOrShare::Bytes(number(opt, text, self.kb_base)?));
        };
        match percent.trim().parse::<u64>() {
            Ok(percent) if percent <= percent_max => Ok(BytesOrShare::Share(percent as f64 / 100.0)),
            Ok(_) => Err(opt.wrong(format!("it is above {percent_max}%"), "write for example 50%")),
            _ => Err(opt.wrong("it is no percentage", "write for example 50%")),
        }
    }

    /// Numbers of reads, writes and trims; what is left out stays as it is.
    pub fn numbers(self, opt: &Opt, values: &mut [u64; 3], range: RangeInclusive<u64>) -> Result<(), Failure> {
        for (value, text) in values.iter_mut().zip(each(opt, opt.text()?)?) {
            if !text.is_empty() {
                let own = Opt { value: Some(text.to_owned()), ..opt.clone() };
                *value = self.number(&own, range.clone())?;
            }
        }
        Ok(())
    }

    /// Whether a switch is on: it has no value, or the value 1.
    pub fn flag(self, opt: &Opt) -> Result<bool, Failure> {
        match opt.value.as_deref() {
            None | Some("1") => Ok(true),
            Some("0") => Ok(false),
            Some(_) => Err(opt.wrong("it is either on or off", "write 1 or 0, or the name alone")),
        }
    }

    /// Refuses a range (`1-5`), from which fio would draw a value.
    pub fn refuse_range(self, opt: &Opt, why: &str) -> Result<(), Failure> {
        match opt.text()?.contains(['-', ':']) {
            true => Err(opt.wrong(why, "write one value")),
            false => Ok(()),
        }
    }
}
