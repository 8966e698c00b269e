//! How addresses are drawn: distributions, zones, and the order of a new pass.

use super::Subject;
use super::value_parser::ValueParser;
use crate::failure::Failure;
use crate::fio::distribution::{self, Distribution};
use crate::fio::parse::Opt;

/// Strides: ranges of addresses that are read or written, and the gaps between them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strides {
    pub size: Option<u64>,
    pub range: Option<u64>,
    pub skip: u64,
    /// Whether `zonemode=none` says that there are none.
    pub are_off: bool,
}

/// Places of requests.
#[derive(Clone, Debug)]
pub struct Places {
    /// Of each operation.
    pub distribution: [Distribution; 3],
    pub random_percent: [u64; 3],
    pub has_map: bool,
    /// Whether each round of a block sequence continues after the previous round.
    pub advances: bool,
    /// Whether each pass draws the same requests.
    pub repeats_passes: bool,
    pub seed: Option<u64>,
    pub strides: Strides,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            distribution: [const { Distribution::Uniform }; 3],
            random_percent: [100; 3],
            has_map: true,
            advances: false,
            repeats_passes: true,
            seed: None,
            strides: Strides::default(),
        }
    }
}

impl Subject for Places {
    fn set(&mut self, name: &str, opt: &Opt, read: ValueParser, _: &mut Vec<String>) -> Result<bool, Failure> {
        let bytes = || read.number(opt, 0..=u64::MAX);
        match name {
            "random_distribution" => self.distribution = distribution::distribution(opt, read.kb_base)?,
            "percentage_random" => read.numbers(opt, &mut self.random_percent, 0..=100)?,
            "random_sequence_stride" => self.advances = read.flag(opt)?,
            "norandommap" => self.has_map = !read.flag(opt)?,
            "randrepeat" => self.repeats_passes = read.flag(opt)?,
            "randseed" => self.seed = Some(read.number(opt, 0..=i64::MAX as u64)?),
            "zonemode" => self.set_zone_mode(opt)?,
            "zonesize" => self.strides.size = Some(bytes()?).filter(|bytes| *bytes > 0),
            "zonerange" => self.strides.range = Some(bytes()?).filter(|bytes| *bytes > 0),
            "zoneskip" => self.strides.skip = bytes()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Places {
    fn set_zone_mode(&mut self, opt: &Opt) -> Result<(), Failure> {
        self.strides.are_off = match opt.text()? {
            "none" => true,
            "strided" => false,
            "zbd" => {
                let why = "the drive has no zones that are written in order";
                return Err(opt.wrong(why, "leave it out, with zonesize, for a drive without zones"));
            }
            _ => return Err(opt.wrong("fio knows none, strided and zbd", "write zonemode=strided")),
        };
        Ok(())
    }
}
