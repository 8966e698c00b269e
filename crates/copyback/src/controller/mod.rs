pub mod admit;
pub mod compose;
pub mod order;
