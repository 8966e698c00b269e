//! Tests of the parts together.

mod by_hand;
mod dispatching;
mod rebuilding;
mod tampering;
