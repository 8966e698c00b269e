//! Tasks other than the host's requests: jobs, relocations, and the policies that start them.

pub mod background;
pub mod delays;
mod footprint;
pub mod gc;
pub mod job;
pub mod relocation;
pub mod view;
