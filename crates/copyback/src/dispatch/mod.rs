//! Dispatch: which waiting transaction or step of a job becomes which command.
//!
//! Three questions, one behind the other. `admit`: whose request enters a chip's window? `order`: which of those that a
//! chip has goes first? `compose`: what goes with it into one command?

pub mod admit;
pub mod compose;
pub(crate) mod index;
pub mod order;
pub(crate) mod queues;
pub mod txn;
pub(crate) mod windows;
