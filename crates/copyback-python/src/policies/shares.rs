//! Share policies of Python.

use super::thread::attach;
use super::{Maker, Object};
use copyback::dispatch::admit::shares::State;
use copyback::dispatch::admit::shares::plugin::{Percent, Plugin};
use copyback::run::policies::PolicyMaker;
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::Arc;

/// The state of the drive at the end of a period.
#[pyclass(frozen, get_all, module = "copyback")]
pub struct SharesView {
    /// The clock.
    now_ns: u64,
    /// Erased blocks of the drive.
    free_blocks: u64,
    /// Erased blocks below which collection starts.
    free_blocks_target: u64,
    /// Flash requests of the host that wait or are under way.
    outstanding: u64,
    /// Logical pages of the reads that have arrived so far.
    reads: u64,
    /// Logical pages of the writes that have arrived so far.
    writes: u64,
    /// The highest read count of a block, if reads are counted.
    reads_max: u64,
    /// The read count above which scrubbing starts.
    reads_target: u64,
    /// The share of collection up to now, in percent of the slots.
    gc: f64,
    /// The share of scrubbing up to now, in percent of the slots.
    scrub: f64,
}

pub(super) fn maker(maker: Maker) -> PolicyMaker {
    let make = move || attach(|py| Box::new(Policy(maker.make(py))) as Box<dyn Plugin>);
    PolicyMaker::Shares(Arc::new(make))
}

/// The shares of a drive.
struct Policy(Object);

impl Plugin for Policy {
    fn update(&mut self, state: &State, before: Percent) -> Percent {
        let State { free_blocks, free_blocks_target, reads_max, reads_target, host } = *state;
        let shown = SharesView {
            now_ns: host.now_ns,
            free_blocks,
            free_blocks_target,
            outstanding: host.outstanding,
            reads: host.reads,
            writes: host.writes,
            reads_max,
            reads_target,
            gc: before.gc,
            scrub: before.scrub,
        };
        attach(|py| {
            let (answer, ()) = self.0.asked(py, intern!(py, "update"), (shown,), || ());
            let wanted = "update() answers with the share of collection in percent, or with (gc, scrub)";
            if let Ok((gc, scrub)) = answer.extract::<(f64, f64)>() {
                return Percent { gc, scrub };
            }
            Percent { gc: self.0.value(&answer, wanted), scrub: before.scrub }
        })
    }
}
