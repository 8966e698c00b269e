//! What should a simulator of flash drives say, where theory knows the answer?
//!
//! Closed forms, numerical solutions of equations, and for what has neither a small Monte-Carlo simulation. Nothing
//! here is shared with the simulator that it judges: no code, no types, no random generator.
//!
//! Symbols: α = physical over logical capacity = 1 + OP, where OP is the over-provisioning; the physical capacity
//! leaves out what a plane always holds back (its reserve and its open blocks). b = mapping units a block. A = write
//! amplification under uniformly random writes unless a function says otherwise. S = a service time, λ = a rate of
//! arrivals, ρ = λ·E\[S\] = a load.

pub mod bandwidth;
pub mod confidence;
pub mod monte_carlo;
mod numeric;
pub mod sustained;
pub mod waiting;
pub mod write_amplification;

pub use numeric::{DomainError, lambert_w0};

/// A value, or why a formula has none.
pub type Result<T> = std::result::Result<T, DomainError>;
