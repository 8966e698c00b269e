//! Results for people and other programs: drawings, pages, and files in the layout of other tools.
//!
//! Each function takes results of [`copyback_lab`], or of the simulator, and returns a text or bytes; [`result_page`]
//! and [`scheme_pages`] also write their files. Nothing here prints, or reads the command line. The same results make
//! the same bytes.
//!
//! | what | module |
//! |---|---|
//! | one page of results for a browser (`copyback report`) | [`result_page`] |
//! | a die's commands over time, an array's collections over time, as SVG or in characters | [`drawings`] |
//! | a part of a run for <https://ui.perfetto.dev> | [`drawings::perfetto`] |
//! | results in the JSON layout of fio | [`fio_json`] |
//! | a table for LaTeX | [`latex`] |
//! | the page of each scheme (`docs/schemes`) | [`scheme_pages`] |
//! | the tables and pictures of reproduced papers (`docs/reproduction`) | [`reproduction`] |
//!
//! ```
//! use copyback_lab::execute::{ExecutionOptions, execute};
//! use copyback_lab::{Experiment, Failure};
//! use copyback_report::drawings::{Drawings, Pictures, TimelineOptions};
//!
//! fn main() -> Result<(), Failure> {
//!     let plan = Experiment { requests: Some(200), ..Experiment::default() }.plan_of_one()?;
//!     let timeline = TimelineOptions { path: Some("die.svg".into()), ..TimelineOptions::default() };
//!     let drawings = Drawings { timeline, ..Drawings::default() };
//!     let pictures = Pictures::new(&drawings, &plan)?;
//!     let spans = pictures.spans(&plan, ExecutionOptions::default())?;
//!     let finished = execute(&plan, &pictures.options(spans, ExecutionOptions::default()))?;
//!     let (path, svg) = &pictures.encoded(spans, &finished[0].outcome)[0];
//!     assert!(path.ends_with("die.svg") && svg.starts_with(b"<svg "));
//!     Ok(())
//! }
//! ```
//!
//! There are two kinds of drawings. SVG is made here, with the colours and elements of [`svg`]. The charts of
//! [`result_page`] are made in the browser, by the scripts in `result_page/assets`. [`styles`] gives a scheme the same
//! colour and dash in both, and in the figures of the Python package.

pub mod drawings;
pub mod fio_json;
pub mod latex;
pub mod reproduction;
pub mod result_page;
pub mod scheme_pages;
pub mod styles;
pub mod svg;
