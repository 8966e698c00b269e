//! Dispatch: which waiting transaction or step of a job becomes which command.
//!
//! Three decisions follow each other. `admit`: whose request enters a die's window? `order`: which of a die's ready
//! requests is issued first? `compose`: which requests join it in one command?

pub mod admit;
pub mod compose;
pub(crate) mod index;
pub mod order;
pub(crate) mod queues;
pub mod txn;
pub(crate) mod windows;
