//! Flash: geometry, times, legal commands; dies, their registers, and channels.
//!
//! A command goes in ([`Flash::issue`]), events come out. This module knows no host, map or garbage collection.

pub mod channel;
pub mod command;
mod dies;
pub mod geometry;
mod observer;
pub mod source;
pub mod stripes;
pub mod timing;

pub use dies::{ArrayEnd, Flash, Follow, PageOut, TransferEnd};
#[cfg(test)]
pub(crate) use dies::{FlashDie, NO_COMMAND, Phase};
pub use observer::{Carries, Observer};
