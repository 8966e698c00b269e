//! Admit: which requests may enter a die's window?
//!
//! Contract: host transactions enter the queue of their die through its window. A program is admitted only with a page
//! to land on, so transactions inside a window can always finish; background jobs take a slot like anybody else, and go
//! first when one becomes free.
//!
//! A choice is a number of slots so far. One that decides by what a transaction is, and changes its mind as time passes
//! (a token scheduler), needs a view of the die, state, and a timer of the drive's; the four places that compare
//! `slots_used` with it are in `ssd::admission` and `ssd::issue`.

pub mod all;
pub mod window;

use crate::config::{KeyError, axis};

axis! {
    /// `[admit]`
    AdmitConfig, "admit", "which requests may enter a die's window?", default All,
    { "all" => all: All, "window" => window: Window }
}

impl AdmitConfig {
    /// Checks the parameters.
    pub fn check(&self) -> Result<(), KeyError> {
        match self {
            Self::All(_) => Ok(()),
            Self::Window(p) => p.check(),
        }
    }

    /// Slots of a die's window.
    pub fn slots(&self) -> u32 {
        match self {
            Self::All(_) => u32::MAX,
            Self::Window(p) => p.slots,
        }
    }
}
