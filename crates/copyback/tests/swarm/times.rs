//! Compares a run with the timing oracle's prediction.

use crate::runs::Case;
use crate::timing_oracle::{self, BlocksOfPlane, Counts, Place, Preconditioning, Predicted};
use copyback::ftl::blocks::BlockState;
use copyback::ftl::core::Ftl;
use copyback::observe::report::Outcome;
use copyback::sim::index::{BlockId, LogicalUnit, PlaneId};
use proptest::prelude::*;

/// Compares with the timing oracle's prediction, if it knows the drive; returns how much it predicted.
pub fn check_times(case: &Case, ftl: &Ftl, outcome: &Outcome) -> Result<Option<Predicted>, TestCaseError> {
    if !timing_oracle::understands(&case.config) || !case.is_plain() {
        return Ok(None);
    }
    let g = &ftl.geometry;
    let at_first = (0..g.logical_units).filter_map(|unit| {
        let place = ftl.lookup(LogicalUnit(unit));
        let (page, offset) = ((place.0 / g.units_per_page) as usize, (place.0 % g.units_per_page) as usize);
        let (pages, blocks) = (g.pages_per_block as usize, g.blocks_per_plane as usize);
        let (block, page) = (page / pages, page % pages);
        place.is_some().then_some((unit as usize, Place { plane: block / blocks, block: block % blocks, page, offset }))
    });
    let blocks = (0..g.planes).map(|plane| blocks_of(ftl, PlaneId(plane))).collect();
    let preconditioning = Preconditioning { place_of: at_first.collect(), blocks };
    let predicted = timing_oracle::predict(&case.config, preconditioning, case.asked(), &outcome.gc_events);
    if !predicted.counts_for(&case.config, &outcome.report) {
        return Ok(None);
    }
    for record in &outcome.requests {
        let (end_ns, expected_ns) = (record.arrival_ns + record.response_ns, predicted.end_ns[record.index as usize]);
        prop_assert!(
            end_ns == expected_ns,
            "by the timing oracle it ends at {} ns, not {}: {:?}",
            expected_ns,
            end_ns,
            record
        );
    }
    if predicted.collects {
        prop_assert_eq!(&outcome.gc_events, &predicted.collections, "collections, and those of the timing oracle");
    }
    prop_assert_eq!(Counts::of(&outcome.report), predicted.counts, "the work, and the timing oracle's work");
    Ok(Some(predicted.of_kinds))
}

/// The blocks of a plane before the run. A copy of the drive opens all free blocks, to show their order.
fn blocks_of(ftl: &Ftl, plane: PlaneId) -> BlocksOfPlane {
    let g = &ftl.geometry;
    let number = |block: BlockId| (block.0 % g.blocks_per_plane) as usize;
    let of_state = |wanted| {
        let blocks = ftl.blocks().of_plane(plane).iter().enumerate();
        blocks.filter(move |(_, block)| block.state == wanted).map(|(at, _)| at).collect::<Vec<usize>>()
    };
    let is_open = of_state(BlockState::Open);
    let open = [0, 1].map(|at| {
        let block = ftl.next_block_in(plane, at).map(number).filter(|block| is_open.contains(block))?;
        Some((block, ftl.next_offset_in(plane, at) as usize))
    });
    let (mut other, mut free) = (ftl.clone(), Vec::new());
    while free.len() < ftl.free_blocks_of(plane) as usize {
        let block = other.next_block_in(plane, 0).map(number).expect("there are free blocks");
        if !is_open.contains(&block) && free.last() != Some(&block) {
            free.push(block);
        }
        other.write_page_in(plane, 0, &[LogicalUnit(0)], 0);
    }
    // A drive with a preconditioning has set its second active block apart, as if it had collected before.
    let apart = (ftl.has_second_active() && open[1].is_some()).then_some(1);
    BlocksOfPlane { free, open, apart, full: of_state(BlockState::Closed) }
}
