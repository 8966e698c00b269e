//! Tables and pictures of reproduced papers, for `docs/reproduction` and the README.

pub mod claims_page;
pub mod curve;
pub mod headlines;
mod phrases;
#[cfg(test)]
mod tests;
pub mod worlds;

pub use phrases::{described, in_words, reasons_of, share};
