//! Flash: geometry, times, legal commands; dies, their registers, and channels.
//!
//! A command goes in ([`Flash::issue`]), events come out. This module knows no host, map or garbage collection.

pub mod channel;
mod chips;
pub mod command;
mod die;
pub mod geometry;
mod observer;
pub mod source;
pub mod stripes;
pub mod timing;

pub use chips::{ArrayEnd, Flash, PageOut, TransferEnd};
pub use die::Follow;
#[cfg(test)]
pub(crate) use die::{FlashDie, NO_COMMAND, Phase};
pub use observer::{Carries, Observer};
