//! Parity of stripes.

pub(super) mod parity;
