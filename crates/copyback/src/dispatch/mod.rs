//! Dispatch: which waiting transaction or step of a job becomes which command.

pub mod admit;
pub mod compose;
pub(crate) mod index;
pub mod order;
pub(crate) mod queues;
pub mod txn;
