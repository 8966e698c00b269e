//! Compares a run with what the timing oracle says.

use crate::runs::Case;
use crate::timing_oracle::{self, Counts, Foretold, Place, Preconditioning};
use copyback::ftl::core::Ftl;
use copyback::ftl::frontier::Stream;
use copyback::observe::report::Outcome;
use copyback::sim::index::{LogicalUnit, PlaneId};
use proptest::prelude::*;

/// What the timing oracle says, where it understands the drive; how much it foretold.
pub fn check_times(case: &Case, ftl: &Ftl, outcome: &Outcome) -> Result<Option<Foretold>, TestCaseError> {
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
    let programmed = |p| ftl.next_page_offset(PlaneId(p), Stream::Host) as usize;
    let preconditioning =
        Preconditioning { place_of: at_first.collect(), programmed: (0..g.planes).map(programmed).collect() };
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
    prop_assert_eq!(Counts::of(&outcome.report), predicted.counts, "what was done, and that of the timing oracle");
    Ok(Some(predicted.foretold))
}
