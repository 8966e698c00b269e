//! Does the policy that docs/policies.md adds compile against the library, and choose as its page says?
//!
//! The file is compiled here as it would be in the victims' folder: `super` and `crate` lead to the same names. The
//! tests of documentation check that the page shows this file, and lines of the registry that exist.

use crate::{common, flash, ftl, sim};
use copyback::ftl::victim::{Parameters, PlaneRange, VictimPolicy, VictimView};

#[path = "../../../../docs/examples/cost_age_times.rs"]
mod cost_age_times;

use cost_age_times::{Params, Policy};
use flash::geometry::Geometry;
use ftl::blocks::{BlockState, Blocks};
use sim::index::PlaneId;

/// The policy's choice on a plane whose first blocks are full: valid units, erases and time of filling of each.
fn picked(full: &[(u16, u32, u64)]) -> Option<u32> {
    let geometry = Geometry::new(&common::config("").device());
    let mut blocks = Blocks::new(&geometry);
    let plane = PlaneId(1);
    for (offset, &(valid, erases, closed_at)) in full.iter().enumerate() {
        let block = blocks.id(plane, offset as u32);
        let block = &mut blocks[block];
        (block.state, block.written) = (BlockState::Closed, geometry.units_per_block as u16);
        (block.valid, block.erases, block.closed_at) = (valid, erases, closed_at);
    }
    let mut policy = Policy::new(&Params::default(), &geometry, 1);
    let block = policy.pick(VictimView {
        blocks: &blocks,
        planes: PlaneRange::one(plane),
        now: 100,
        read_offsets: &[],
        valid: &[],
        geometry: &geometry,
    })?;
    assert_eq!(geometry.plane_of(block), plane);
    Some(geometry.block_offset(block))
}

#[test]
fn it_weighs_cost_wear_and_age() {
    assert_eq!(picked(&[]), None, "no block is full");
    assert_eq!(picked(&[(4, 1, 50), (3, 1, 50), (8, 0, 0)]), Some(1), "fewer valid units");
    assert_eq!(picked(&[(4, 2, 50), (4, 1, 50)]), Some(1), "less worn");
    assert_eq!(picked(&[(4, 1, 50), (4, 1, 20)]), Some(1), "older");
    assert_eq!(picked(&[(8, 0, 0), (7, 9, 99)]), Some(1), "a block without an invalid unit comes last");
}
