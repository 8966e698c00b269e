//! What must be true while a run goes on, by name.
//!
//! The cheap invariants are looked at in every run, in line, with `hold!`; the others under `--check`, by
//! [`crate::observe`]. A broken one stops the run and names itself.

use std::fmt;

/// Whether a program that was built with `COPYBACK_UNCHECKED` set leaves the cheap checks out: only to measure what
/// they cost.
pub const IS_UNCHECKED: bool = option_env!("COPYBACK_UNCHECKED").is_some();

/// Stops the run with the name of an invariant and what was found, unless the condition holds.
macro_rules! hold {
    ($condition:expr, $invariant:ident, $($found:tt)+) => {
        if !$crate::sim::invariant::IS_UNCHECKED && !$condition {
            $crate::sim::invariant::broken($crate::sim::invariant::Invariant::$invariant, format_args!($($found)+));
        }
    };
}
pub(crate) use hold;

/// Writes down each invariant once: its name in code, the name that a user sees, when it is looked at, and what it
/// says.
macro_rules! invariants {
    ($($name:ident $when:ident $shown:literal $says:literal;)+) => {
        /// Something that must be true while a run goes on.
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

            /// What it says.
            pub const fn says(self) -> &'static str {
                match self { $(Self::$name => $says,)+ }
            }

            /// When it is looked at.
            pub const fn when(self) -> When {
                match self { $(Self::$name => When::$when,)+ }
            }
        }
    };
}

/// When an invariant is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// In every run, when what it is about happens.
    Always,
    /// In every run, when it ends.
    AtEnd,
    /// Under `--check`.
    Check,
}

invariants! {
    TimeOrder Always "time-order" "no event is scheduled before the one at hand";
    TransferHeard Always "transfer-heard" "a channel that is asked for a transfer has none under way, and the end of its last one was heard";
    LegalCommand Always "legal-command" "the parts of a command lie on the planes that they name, and go together on this device";
    PageRoom Always "page-room" "a page takes as many units as it holds, behind a whole page";
    FreeBlock Always "free-block" "a plane that opens a block has an erased one";
    VictimFull Always "victim-full" "what the victim policy picks is a full block of the plane that was asked for";
    VictimRoom Always "victim-room" "what is valid in a victim fits into the pages that its plane has left";
    VictimEmpty Always "victim-empty" "only a victim is erased, and only when none of its units is valid";
    OneJob Always "one-job" "a plane has one job at a time, and a die no more waiting ones than it has room for";
    DieReservation Always "die-reservation" "a die that a collection has takes the commands of that collection, moves of other collections while its step is under way elsewhere, and work of the host only where the collection lets it go first";
    PlaneExcluded Always "plane-excluded" "while a page of a collection waits in a plane's register, at its first preemption point, no request uses that plane but those that may at this point";
    HardWatermark Always "hard-watermark" "below the hard watermark nothing that consumes free blocks goes before a collection, and nothing at all while a write of high priority waits, or where the scheme stops all";
    TimeExplained Always "time-explained" "the parts of a request's response time, and those of a command's, add up to the nanosecond";
    RequestOnce Always "request-once" "a request ends once";
    Window Always "window" "a slot of a die's window is given back once";
    CollectionsReclaim Always "collections-reclaim" "where a plane is collected again and again, a collection frees a page in the end";
    DecisionsEnd Always "decisions-end" "decisions of one moment come to an end";
    StripeLock Always "stripe-lock" "a stripe of a volume is written by one operation at a time";
    RunEnds Always "run-ends" "when nothing more is to come, nobody waits";
    AllReturned AtEnd "all-returned" "at the end no transaction, slot, page reservation, die reservation or job is left";
    ProgramsAddUp AtEnd "programs-add-up" "places programmed are those of the host, of jobs, and padding: by the translation layer's books, by commands, and in the report";
    BusyTime AtEnd "busy-time" "no plane, die or channel was in use for longer than the run took";
    BlocksAddUp AtEnd "blocks-add-up" "valid, invalid and free units are all units: each block's state fits its counts, and free lists hold the free blocks";
    MeasuredShares Check "measured-shares" "in the measured part of a run no plane, die or channel was in use for longer than that part took, and no plane of a die that collects for longer than the die did";
    MapBothWays Check "map-both-ways" "the map, the reverse map, the valid bits and the blocks' counts agree";
    TranslationCurrent Check "translation-current" "where a map lives in flash, a translation page there, a changed entry in DRAM or an update under way tells where each unit is";
    StripesWhole Check "stripes-whole" "where there is parity, each unit of a stripe is on its channel, and of a stripe that holds data the parity is in flash or on its way";
    StripeParity Check "stripe-parity" "after each write of a volume's stripe, and after its rebuild, the members that are there are what its data says, made of nothing but what was read";
    LogBlocks Check "log-blocks" "where pages are merged, each block is a data block, one log block, one that is gathered or one to be erased; data blocks hold pages of their logical block in place, and random log blocks are no more than there may be";
    MovesCounted Check "moves-counted" "a collection of several blocks keeps as many pages left on each plane as its moves take";
    ReservationsCovered Check "reservations-covered" "each page that is reserved is there, or being made";
    NewestRead Check "newest-read" "a read returns the newest version of what was written";
    NewestWritten Check "newest-written" "of two writes of a unit, or of a write and a trim, the one that arrived later counts, whichever is bound first";
    NewestMoved Check "newest-moved" "a move copies the newest version, and never replaces a newer one";
    ProgrammedOnce Check "programmed-once" "a place is programmed once between erases";
    RowAligned Check "row-aligned" "where a drive is written in rows, all planes of a die are programmed up to the same page before each program";
    NothingLost Check "nothing-lost" "when a block is erased, the newest version of each unit that it held is in flash elsewhere, programmed";
    OnfiOneCommand Check "onfi-one-command" "a die that works on a command takes another only through its cache register: of the same type, one, and where the device can";
    OnfiAddress Check "onfi-address" "a command names one to four planes of one die, each once, at one page offset, and block offsets and pairs as the device asks";
    OnfiBus Check "onfi-bus" "a channel carries one transfer at a time";
    OnfiTransferTime Check "onfi-transfer-time" "a transfer takes the command cycles of its planes and the time of its bytes";
    OnfiArrayBusy Check "onfi-array-busy" "a die's array works on one command at a time, and rests for tRCBSY between cached reads";
    OnfiArrayTime Check "onfi-array-time" "a read, a program, an erase keep the array for tR, tPROG, tBERS of their slowest page";
    OnfiDataReady Check "onfi-data-ready" "the array starts after cycles and data are in, and data leaves after the array is done, once for each plane";
    OnfiRegister Check "onfi-register" "data enters a register that is empty, and a page waits in its register until the one before has left";
    OnfiPageOrder Check "onfi-page-order" "pages of a block are programmed in order";
    OnfiEraseFirst Check "onfi-erase-first" "no page is programmed twice between erases";
    OnfiReadProgrammed Check "onfi-read-programmed" "a page that is read is programmed";
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
        let table = format!("| name | looked at | what it says |\n|---|---|---|\n{}", rows.collect::<String>());
        assert!(text.contains(&table), "docs/validation.md should have\n{table}");
    }
}
