//! Resolved times of the flash, in nanoseconds.

use super::command::FlashOp;
use crate::config::TimingConfig;

/// Times of one drive.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Array time of each operation on a page, if all pages of a block take the same.
    array_ns: [u64; 4],
    is_uniform: bool,
    read_ns: Vec<u64>,
    program_ns: Vec<u64>,
    /// tBERS.
    pub erase_ns: u64,
    /// Command and address cycles for one plane.
    pub command_ns: u64,
    /// tRCBSY.
    pub cache_busy_ns: u64,
    /// Data transfer of `n` mapping units at index `n`, each size rounded up by itself.
    transfer_ns: Vec<u64>,
    /// Data transfer of a page.
    pub page_transfer_ns: u64,
}

impl Timing {
    /// The times of a checked configuration.
    pub fn new(config: &TimingConfig, unit_bytes: u32, units_per_page: u32) -> Self {
        let transfer = |units| config.channel.transfer_ns(u64::from(units) * u64::from(unit_bytes));
        let (read_ns, program_ns) = (config.read.list(), config.program.list());
        let mut array_ns = [0; 4];
        for (op, ns) in [
            (FlashOp::Read, read_ns[0]),
            (FlashOp::Program, program_ns[0]),
            (FlashOp::Copyback, read_ns[0] + program_ns[0]),
        ] {
            array_ns[op as usize] = ns;
        }
        let transfer_ns: Vec<u64> = (0..=units_per_page).map(transfer).collect();
        Self {
            array_ns,
            is_uniform: read_ns.len() == 1 && program_ns.len() == 1,
            read_ns,
            program_ns,
            erase_ns: config.erase.0,
            command_ns: config.command.0,
            cache_busy_ns: config.cache_busy.0,
            page_transfer_ns: transfer_ns[units_per_page as usize],
            transfer_ns,
        }
    }

    /// tR of the page at this offset of its block.
    #[inline(always)]
    pub fn read_ns(&self, page_offset: u32) -> u64 {
        pick(&self.read_ns, page_offset)
    }

    /// tPROG of the page at this offset of its block.
    #[inline(always)]
    pub fn program_ns(&self, page_offset: u32) -> u64 {
        pick(&self.program_ns, page_offset)
    }

    /// Whether all pages of a block take the same times.
    #[inline(always)]
    pub fn is_uniform(&self) -> bool {
        self.is_uniform
    }

    /// Array time of an operation on any page, if all pages of a block take the same times.
    #[inline(always)]
    pub fn uniform_ns(&self, op: FlashOp) -> Option<u64> {
        match op {
            FlashOp::Erase => Some(self.erase_ns),
            _ => self.is_uniform.then(|| self.array_ns[op as usize]),
        }
    }

    /// [`Self::uniform_ns`] of an operation other than an erase, if the times are known to be uniform.
    #[inline(always)]
    pub fn known_uniform_ns(&self, op: FlashOp) -> u64 {
        debug_assert!(self.is_uniform && op != FlashOp::Erase);
        self.array_ns[op as usize]
    }

    /// Array time of an operation on the page at this offset of its block.
    #[inline(always)]
    pub fn page_ns(&self, op: FlashOp, page_offset: u32) -> u64 {
        match op {
            FlashOp::Read => self.read_ns(page_offset),
            FlashOp::Program => self.program_ns(page_offset),
            FlashOp::Copyback => self.read_ns(page_offset) + self.program_ns(page_offset),
            FlashOp::Erase => self.erase_ns,
        }
    }

    /// Time of `units` mapping units on the channel.
    #[inline(always)]
    pub fn transfer_ns(&self, units: u32) -> u64 {
        self.transfer_ns[units as usize]
    }
}

#[inline(always)]
fn pick(times_ns: &[u64], page_offset: u32) -> u64 {
    if times_ns.len() == 1 { times_ns[0] } else { times_ns[page_offset as usize % times_ns.len()] }
}
