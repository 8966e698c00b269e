//! The controller: transactions, what lets them in, what puts them into commands, and the engine that acts.

mod admission;
pub mod admit;
mod audit;
#[cfg(test)]
mod by_hand;
pub mod clocks;
mod collection;
mod company;
pub mod compose;
mod destination;
pub mod drive;
mod flow;
mod idleness;
mod issue;
pub mod order;
mod overtaking;
pub mod reading;
mod sharing;
mod steps;
#[cfg(test)]
mod tampering;
pub mod txn;
