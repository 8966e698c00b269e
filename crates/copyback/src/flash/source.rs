//! The sources of flash commands: the host and other tasks. A source is data, so a new task needs no change in the code
//! that handles sources.

use std::fmt;
use std::ptr;

/// The number of sources that a drive can have, which is the length of tables by source.
pub const SOURCES_MAX: usize = 8;

/// The account of a source in results and settings: a column of the latency breakdown, a share, a weight, a delay.
/// Several sources may use one account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Account {
    /// The host.
    Host,
    /// Garbage collection.
    Gc,
    /// Traffic of a map that lives in flash.
    Map,
    /// Read scrubbing, and what else keeps data readable.
    Scrub,
    /// Wear levelling.
    Wear,
    /// Parity, rebuild.
    Parity,
}

impl Account {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 6] = [Self::Host, Self::Gc, Self::Map, Self::Scrub, Self::Wear, Self::Parity];

    /// Its place in a table by account.
    #[inline(always)]
    pub const fn at(self) -> usize {
        self as usize
    }
}

/// The properties of a source.
#[derive(Debug)]
pub struct SourceData {
    /// Its place in tables by source, below [`SOURCES_MAX`]. Invariant: no other source of a drive has it.
    pub number: u8,
    /// Its name in drawings, traces and tables of commands.
    pub name: &'static str,
    /// The account that is charged for its time and its requests.
    pub account: Account,
    /// Its rank under fixed priorities; the lowest precedes the others.
    pub priority: u8,
}

/// The source of a flash command. Two sources are equal if they are the same row.
#[derive(Clone, Copy)]
pub struct Source(&'static SourceData);

static HOST: SourceData = SourceData { number: 0, name: "host", account: Account::Host, priority: 0 };
static GC: SourceData = SourceData { number: 1, name: "GC", account: Account::Gc, priority: 2 };
static MAP: SourceData = SourceData { number: 2, name: "map", account: Account::Map, priority: 1 };
static SCRUB: SourceData = SourceData { number: 3, name: "scrub", account: Account::Scrub, priority: 3 };
static WEAR: SourceData = SourceData { number: 4, name: "wear", account: Account::Wear, priority: 4 };
static PARITY: SourceData = SourceData { number: 5, name: "parity", account: Account::Parity, priority: 5 };

impl Source {
    /// The host.
    pub const HOST: Self = Self(&HOST);
    /// Garbage collection.
    pub const GC: Self = Self(&GC);
    /// Traffic of a map that lives in flash.
    pub const MAP: Self = Self(&MAP);
    /// Read scrubbing.
    pub const SCRUB: Self = Self(&SCRUB);
    /// Wear levelling.
    pub const WEAR: Self = Self(&WEAR);
    /// Parity, rebuild.
    pub const PARITY: Self = Self(&PARITY);
    /// The sources that every drive has, in the order of their numbers. Background tasks may add others
    /// (`tasks::background::SOURCES`).
    pub const BUILT_IN: [Self; 6] = [Self::HOST, Self::GC, Self::MAP, Self::SCRUB, Self::WEAR, Self::PARITY];

    /// The source of this row.
    pub const fn new(row: &'static SourceData) -> Self {
        assert!((row.number as usize) < SOURCES_MAX, "a source's number is below SOURCES_MAX");
        Self(row)
    }

    /// Its place in a table by source.
    #[inline(always)]
    pub const fn at(self) -> usize {
        self.0.number as usize
    }

    /// Its name in drawings, traces and tables of commands.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// The account that is charged for its time and its requests.
    #[inline(always)]
    pub const fn account(self) -> Account {
        self.0.account
    }

    /// Its place under fixed priorities.
    pub const fn priority(self) -> u8 {
        self.0.priority
    }
}

impl PartialEq for Source {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.0, other.0)
    }
}

impl Eq for Source {}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
