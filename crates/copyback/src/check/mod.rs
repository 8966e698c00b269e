//! What must be true while a run goes on, and who watches it.
//!
//! Each invariant has a name ([`Invariant`]). The cheap ones are looked at in every run, in line, with `hold!`; the
//! others under `--check`, by watchers that know nothing of the code which they watch: [`shadow`] knows what every place
//! in flash holds, [`onfi`] what the flash may be told. A broken invariant stops the run and names itself.

pub mod invariant;
pub mod onfi;
#[cfg(test)]
mod onfi_gates;
pub mod shadow;

pub use invariant::{Invariant, broken};

/// Whether a program that was built with `COPYBACK_UNCHECKED` set leaves the cheap checks out: only to measure what they
/// cost.
pub const IS_UNCHECKED: bool = option_env!("COPYBACK_UNCHECKED").is_some();

/// Stops the run with the name of an invariant and what was found, unless the condition holds.
macro_rules! hold {
    ($condition:expr, $invariant:ident, $($found:tt)+) => {
        if !$crate::check::IS_UNCHECKED && !$condition {
            $crate::check::broken($crate::check::Invariant::$invariant, format_args!($($found)+));
        }
    };
}
pub(crate) use hold;
