//! Integration tests of the program `copyback`. Each module answers one question, stated in its first line.
//!
//! All modules are linked into one test program. `cargo test --package copyback-cli --test it MODULE::` runs one of
//! them.

mod advised_sets;
mod arrays;
mod cases;
mod commands;
mod common;
mod documentation;
mod drawings;
mod effects;
mod fio;
mod fuzz_corpus;
mod guide_lists;
#[cfg(unix)]
mod harm;
mod hints;
mod key_reference;
mod latex;
mod layering;
mod matched;
mod measured;
#[cfg(target_os = "linux")]
mod memory;
mod microscope;
mod mistakes;
mod numbers;
mod objectives;
mod output_page;
mod presets;
mod program;
mod python_functions;
mod remedies;
mod renamed;
mod report;
mod reproduce;
mod scheme_pages;
#[cfg(unix)]
mod scripts;
mod settings;
mod sweep;
mod tails;
mod terminal;
mod times;
mod trace_files;
mod traces;
mod validate;
mod verdicts;
mod warmup;
mod widths;
mod worlds;
