//! Integration tests of the simulator. Each module answers one question, stated in its first line.
//!
//! All modules are linked into one test program. `cargo test --package copyback-it --test it MODULE::` runs one of
//! them.

// `docs/examples/cost_age_times.rs` uses these modules by the paths that it would have in the library.
use copyback::{flash, ftl, sim};

mod added_policy;
mod added_task;
mod aged;
mod alignment;
mod arrays;
mod background;
mod buffering;
mod collection;
mod command_log;
mod common;
mod delays;
mod figures;
mod filling;
mod flash_requests;
mod full_windows;
mod guard;
mod hot_cold;
mod instructions;
mod layering;
mod map_cache;
mod measures;
mod merges;
mod own_event_loop;
mod plugins;
mod preconditioning;
mod queueing;
mod rain;
mod refusals;
mod regressions;
mod several_drives;
mod sharing;
mod steady_state;
mod support;
mod suspension;
mod tasks;
mod tenants;
mod timing;
mod ttflash;
mod warmup;
mod write_amplification;
