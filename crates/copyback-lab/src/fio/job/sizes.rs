//! Sizes of requests: `bs` and similar options.

use super::Subject;
use super::value_parser::ValueParser;
use crate::failure::Failure;
use crate::fio::block_sizes::{self, Blocks};
use crate::fio::number::each;
use crate::fio::parse::Opt;

/// Sizes of requests of each operation.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// Sizes as options give them, before `bs_is_seq_rand` and `trimwrite` choose among them. fio's map of blocks has
    /// their units.
    pub given: [Blocks; 3],
    /// Sizes that requests have.
    pub blocks: [Blocks; 3],
    /// Random requests begin at multiples of this, if the job sets it.
    pub align: [Option<u64>; 3],
    /// Whether sizes are those of sequential and random requests, not of reads and writes.
    pub are_by_order: bool,
}

impl Default for Sizes {
    fn default() -> Self {
        let blocks = [4096; 3].map(Blocks::one);
        Self { given: blocks.clone(), blocks, align: [None; 3], are_by_order: false }
    }
}

impl Subject for Sizes {
    fn set(&mut self, name: &str, opt: &Opt, read: ValueParser, _: &mut Vec<String>) -> Result<bool, Failure> {
        match name {
            "bs" => self.set_blocks(opt, read, block_sizes::sectors, Blocks::one)?,
            "bsrange" => self.set_blocks(opt, read, block_sizes::range, |blocks| blocks)?,
            "bssplit" => self.set_blocks(opt, read, block_sizes::split, |blocks| blocks)?,
            "ba" => {
                for (align, text) in self.align.iter_mut().zip(each(opt, opt.text()?)?) {
                    *align =
                        if text.is_empty() { *align } else { Some(block_sizes::sectors(opt, text, read.kb_base)?) };
                }
            }
            "bs_is_seq_rand" => self.are_by_order = read.flag(opt)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Sizes {
    /// Sets the sizes of reads, writes and trims: `form` parses each, and `made` converts it.
    fn set_blocks<T>(
        &mut self,
        opt: &Opt,
        read: ValueParser,
        form: fn(&Opt, &str, u64) -> Result<T, Failure>,
        made: fn(T) -> Blocks,
    ) -> Result<(), Failure> {
        for (blocks, text) in self.blocks.iter_mut().zip(each(opt, opt.text()?)?) {
            if !text.is_empty() {
                *blocks = made(form(opt, text, read.kb_base)?);
            }
        }
        Ok(())
    }
}
