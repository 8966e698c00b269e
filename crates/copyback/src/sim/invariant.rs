//! The invariants of a run, by name.
//!
//! The cheap invariants are checked in every run, in line, with `hold!`; the others under `--check`, by
//! [`crate::observe`]. A broken one stops the run and names itself.

use std::fmt;

/// Whether this program omits the cheap checks, to measure their cost: it was built with `COPYBACK_UNCHECKED` set.
pub const IS_UNCHECKED: bool = option_env!("COPYBACK_UNCHECKED").is_some();

/// Stops the run with the name of an invariant and the observed state, unless the condition holds.
macro_rules! hold {
    ($condition:expr, $invariant:ident, $($found:tt)+) => {
        if !$crate::sim::invariant::IS_UNCHECKED && !$condition {
            $crate::sim::invariant::broken($crate::sim::invariant::Invariant::$invariant, format_args!($($found)+));
        }
    };
}
pub(crate) use hold;

/// Defines each invariant once: its name in code, the name that a user sees, when it is checked, and its statement.
macro_rules! invariants {
    ($($name:ident $when:ident $shown:literal $says:literal;)+) => {
        /// A condition that must hold during a run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Invariant {
            $(#[doc = $says] $name,)+
        }

        impl Invariant {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The name that a report of a broken one begins with.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $shown,)+ }
            }

            /// The statement.
            pub const fn says(self) -> &'static str {
                match self { $(Self::$name => $says,)+ }
            }

            /// When it is checked.
            pub const fn when(self) -> When {
                match self { $(Self::$name => When::$when,)+ }
            }
        }
    };
}

/// When an invariant is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// In every run, at the event that it concerns.
    Always,
    /// In every run, when it ends.
    AtEnd,
    /// Under `--check`.
    Check,
}

invariants! {
    TimeOrder Always "time-order" "no event is scheduled before the one at hand";
    TransferEnded Always "transfer-ended" "a channel starts a transfer only after its previous transfer has ended and that end was processed";
    LegalCommand Always "legal-command" "the parts of a command lie on the planes that they name, and this device can combine them";
    PageRoom Always "page-room" "a page takes at most as many units as it holds, and the page before it is complete";
    FreeBlock Always "free-block" "a plane that opens a block has an erased block";
    VictimFull Always "victim-full" "the victim policy selects a full block of the requested plane";
    VictimRoom Always "victim-room" "the valid units of a victim, and those on each plane of several victims, fit into the remaining pages of their plane";
    VictimEmpty Always "victim-empty" "only a victim is erased, and only when it has no valid unit";
    OneJob Always "one-job" "a plane has at most one job at a time, and a die at most as many waiting jobs as its queue holds";
    DieReservation Always "die-reservation" "a die reserved for a collection executes only commands of that collection, work of the host that may preempt it, and, while that collection executes a step on another die, moves of other collections";
    PlaneExcluded Always "plane-excluded" "at the preemption point between the read and the program of a move, only requests that may preempt there use the plane of the collection";
    HardWatermark Always "hard-watermark" "below the hard watermark, no write preempts a collection; no read does either while a write of high priority waits, or if the preemption policy excludes all requests there";
    TimeExplained Always "time-explained" "the parts of a request's response time, and those of a command's, add up to the nanosecond";
    RequestOnce Always "request-once" "a request ends once";
    Window Always "window" "the admission policy admits a waiting transaction into a free slot; a slot is given back once";
    CollectionsReclaim Always "collections-reclaim" "if a plane is collected repeatedly, some collection frees a page";
    DecisionsEnd Always "decisions-end" "the decisions at one simulated time come to an end";
    StripeLock Always "stripe-lock" "a stripe of a volume is written by one operation at a time";
    RunEnds Always "run-ends" "when no event remains, no request waits";
    AllReturned AtEnd "all-returned" "at the end no transaction, slot, page reservation, die reservation or job remains";
    ProgramsAddUp AtEnd "programs-add-up" "programmed units are those of the host, of jobs, and padding; the translation layer, the commands and the report count the same number";
    BusyTime AtEnd "busy-time" "no plane, die or channel was in use for longer than the run took";
    BlocksAddUp AtEnd "blocks-add-up" "valid, invalid and free units add up to all units; each block's state fits its counts, and free lists hold the free blocks";
    MeasuredShares Check "measured-shares" "in the measured part of a run no plane, die or channel was in use for longer than that part took; during collections, no plane was in use for longer than its die was reserved";
    ClocksCurrent Check "clocks-current" "the time of a die without work is charged to no task";
    MapBothWays Check "map-both-ways" "the map, the reverse map, the valid bits and the blocks' counts agree";
    TranslationCurrent Check "translation-current" "if the map is in flash, a translation page, a changed entry in DRAM or an outstanding update locates each unit";
    StripesWhole Check "stripes-whole" "with parity, each unit of a stripe is on its channel; if a stripe holds data, its parity is in flash or being written";
    StripeParity Check "stripe-parity" "after each write or rebuild of a volume's stripe, each existing member holds the right data or parity; the operation computes it only from the members that it read";
    LogBlocks Check "log-blocks" "with log blocks, each block is a data block, a log block, the target of a merge or a block to be erased; data blocks hold pages of their logical block in place, and the number of random log blocks is within its limit";
    MovesCounted Check "moves-counted" "in a collection of several blocks, or of superpages, the recorded number of pages left to move on each plane agrees with the remaining moves";
    ReservationsCovered Check "reservations-covered" "each reserved page exists, or is being freed";
    BestDie Check "best-die" "if the allocation compares dies, each page goes to the die that a comparison of all dies selects";
    NewestRead Check "newest-read" "a read returns the newest version of what was written";
    NewestWritten Check "newest-written" "of two writes of a unit, or of a write and a trim, the later arrival determines the data, in any order of binding";
    NewestMoved Check "newest-moved" "a move copies the newest version, and never replaces a newer one";
    ProgrammedOnce Check "programmed-once" "a unit of flash is programmed once between erases";
    RowAligned Check "row-aligned" "if a drive is written in rows, all planes of a die are programmed up to the same page before each program";
    NothingLost Check "nothing-lost" "when a block is erased, the newest version of each unit that it held is programmed in another block";
    OnfiOneCommand Check "onfi-one-command" "a busy die accepts one more command: one of the same type through the cache register, or a read of a block that a suspended command does not change, if the device supports this; or a program beside a read whose first page has left, on planes whose registers hold no page of that read";
    OnfiAddress Check "onfi-address" "a command names one to four different planes of one die, at one page offset, with block offsets and plane pairs as the device requires";
    OnfiBus Check "onfi-bus" "a channel carries one transfer at a time";
    OnfiTransferTime Check "onfi-transfer-time" "a transfer takes the command cycles of its planes and the time of its bytes";
    OnfiArrayBusy Check "onfi-array-busy" "a die's array executes one command at a time, and pauses for tRCBSY between cached reads";
    OnfiArrayTime Check "onfi-array-time" "a read, a program and an erase occupy the array for tR, tPROG and tBERS of their slowest page; each suspension adds the latency of the suspension";
    OnfiDataReady Check "onfi-data-ready" "the array starts after cycles and data have arrived, and data leaves after the array is done, once for each plane";
    OnfiRegister Check "onfi-register" "data enters only an empty register, and a page waits in its register until the previous page has left";
    OnfiPageOrder Check "onfi-page-order" "pages of a block are programmed in order";
    OnfiEraseFirst Check "onfi-erase-first" "no page is programmed twice between erases";
    OnfiReadProgrammed Check "onfi-read-programmed" "only programmed pages are read";
}

impl Invariant {
    /// The invariant that a panic's text names.
    pub fn named_in(text: &str) -> Option<Self> {
        let (name, _) = text.split_once(": ")?;
        Self::ALL.iter().copied().find(|i| i.name() == name)
    }
}

/// Stops the run: an invariant broke.
///
/// # Panics
/// Always, with the invariant's name and what was found.
#[cold]
#[inline(never)]
#[track_caller]
pub fn broken(invariant: Invariant, found: fmt::Arguments<'_>) -> ! {
    panic!("{}: {found}", invariant.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        for invariant in Invariant::ALL {
            assert_eq!(Invariant::named_in(&format!("{}: x: y", invariant.name())), Some(*invariant));
        }
        assert_eq!(Invariant::named_in("index out of bounds: the len is 3"), None);
    }
    /// Is the table of the documentation that of the code?
    #[test]
    fn the_documentation_lists_all_of_them() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/validation.md");
        let text = std::fs::read_to_string(path).expect("docs/validation.md is there");
        let when = |i: &Invariant| match i.when() {
            When::Always => "always",
            When::AtEnd => "at the end of every run",
            When::Check => "under `--check`",
        };
        let rows = Invariant::ALL.iter().map(|i| format!("| `{}` | {} | {} |\n", i.name(), when(i), i.says()));
        let table = format!("| name | checked | what it requires |\n|---|---|---|\n{}", rows.collect::<String>());
        assert!(text.contains(&table), "docs/validation.md should have\n{table}");
    }
}
