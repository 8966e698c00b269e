//! Theory of flash drives, to compare the simulator with.
//!
//! Closed forms, numerical solutions of equations, and a small Monte Carlo simulation for cases without either. The
//! crate shares no code, no type and no random generator with the simulator.
//!
//! Symbols: α = physical over logical capacity = 1 + OP, where OP is the over-provisioning. The physical capacity
//! excludes the reserve and the open blocks of each plane. b = mapping units a block. A = write amplification, under
//! uniformly random writes unless a function says otherwise. S = a service time, λ = a rate of arrivals, ρ = λ·E\[S\] =
//! a load.

pub mod bandwidth;
pub mod confidence;
pub mod monte_carlo;
mod numeric;
pub mod sustained;
pub mod waiting;
pub mod write_amplification;

pub use numeric::{DomainError, lambert_w0};

/// A value, or the reason why a formula has none.
pub type Result<T> = std::result::Result<T, DomainError>;
