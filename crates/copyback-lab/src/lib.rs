//! Experiments on simulated SSDs: what `copyback` does on its command line, for programs in Rust.
//!
//! An [`Experiment`] names a device, schemes of garbage collection, a workload and settings, as the options of
//! `copyback compare` do. Each has a default. It returns [`results::Results`], or a [`Failure`] with the place and the
//! value of a mistake, and a remedy:
//!
//! ```
//! use copyback_lab::{Experiment, Failure};
//!
//! fn main() -> Result<(), Failure> {
//!     let schemes = vec!["baseline".to_owned(), "pgc".to_owned()];
//!     let workload = Some("mixed-70-30".to_owned());
//!     let experiment = Experiment { schemes, workload, requests: Some(5_000), ..Experiment::default() };
//!     for result in experiment.compare()?.schemes() {
//!         if let Some(read) = result.read {
//!             println!("{}: 99 % of reads took at most {} us", result.scheme, read.p99_ns / 1_000);
//!         }
//!     }
//!     Ok(())
//! }
//! ```
//!
//! The program `copyback` and the package for Python call the same functions. Nothing here prints, or reads the command
//! line.
//!
//! | task | type |
//! |---|---|
//! | simulate one scheme, or compare several | [`Experiment`] |
//! | supply a policy of your own | [`SuppliedPolicy`], in [`Experiment::policies`] or [`Sweep::policies`] |
//! | run a grid of experiments, and continue after a stop | [`Sweep`], [`sweep::journal::Journal`] |
//! | run the cells of a grid in other processes | [`sweep::remote_cells::Cluster`] |
//! | compare the simulator with theory | [`Validation`] |
//! | judge the claims of a paper | [`reproduce::runner::Reproduction`], [`reproduce::runner::judged`] |
//! | judge its headlines under draws of the decisions that it leaves open | [`reproduce::worlds::WorldStudy`] |
//! | report progress, stop a run | [`progress::ProgressSink`], [`progress::Watch`], in [`execute::ExecutionOptions`] |
//! | show a mistake | [`Failure::message`], [`Failure::place`], [`Failure::help`] |

pub mod advice;
pub mod columns;
pub mod execute;
pub mod experiment;
pub mod failure;
pub mod files;
pub mod fio;
pub mod flat;
pub mod format;
pub mod matched;
pub mod memory;
pub mod notes;
pub mod outputs;
pub mod overload;
pub mod plan;
pub mod policies;
pub mod preconditioned;
pub mod progress;
pub mod reproduce;
pub mod requests;
pub mod results;
pub mod small_writes;
pub mod steady;
pub mod sweep;
pub mod tables;
pub mod validate;
pub mod work_order;
pub mod workloads;

pub use experiment::Experiment;
pub use failure::Failure;
pub use policies::SuppliedPolicy;
pub use sweep::Sweep;
pub use validate::Validation;
