//! Dispatch: which waiting transaction or step of a job becomes which command.

pub mod admit;
pub mod compose;
pub mod order;
pub mod txn;
