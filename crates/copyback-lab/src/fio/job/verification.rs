//! Verification of data: `verify`, `do_verify`.

use super::Subject;
use super::value_parser::ValueParser;
use crate::failure::Failure;
use crate::fio::parse::Opt;

/// Whether data is verified, and whether by reading it back.
#[derive(Clone, Debug)]
pub struct Verification {
    pub is_on: bool,
    pub is_done: bool,
}

impl Default for Verification {
    fn default() -> Self {
        Self { is_on: false, is_done: true }
    }
}

impl Subject for Verification {
    fn set(&mut self, name: &str, opt: &Opt, read: ValueParser, _: &mut Vec<String>) -> Result<bool, Failure> {
        match name {
            "verify" => self.is_on = !matches!(opt.text()?, "0" | "null"),
            "do_verify" => self.is_done = read.flag(opt)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}
