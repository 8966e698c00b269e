//! A victim policy of a program that calls Copyback: a class of Python, for example.
//!
//! The program reads the same state as every victim policy, and returns a full block of the requested planes, or none
//! if no full block has an invalid unit; another answer ends the run. Each drive has its own policy, and a copy of a
//! drive has a copy of it.
//!
//! Source: none of its own; docs/python.md shows how a policy is written and supplied.
//!
//! Parameters:
//! - `name`: the policy's name, as the caller supplied it.

use super::{Block, Blocks, Parameters, PlaneRange, VictimPolicy, VictimView};
use crate::config::plugins::{Supplied, fail};
use crate::config::{Device, KeyError};
use crate::flash::geometry::Geometry;
use crate::ftl::blocks::BlockState;
use crate::sim::index::{BlockId, PlaneId};
use serde::{Deserialize, Serialize};

/// A policy of the calling program.
pub trait Plugin: VictimPolicy + Send + Sync {
    /// A policy in the same state, for a copy of the drive.
    fn copied(&self) -> Box<dyn Plugin>;
}

/// Makes a policy of a drive of this shape in a run of this seed.
pub type Make = dyn Fn(&Geometry, u64) -> Box<dyn Plugin> + Send + Sync;

/// See the page above.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The policy, by its name.
    pub name: Supplied<Make>,
}

impl Parameters for Params {
    fn check(&self, _: &Device<'_>) -> Result<(), KeyError> {
        self.name.check("victim")
    }
}

/// The policy of a run.
pub struct Policy {
    name: String,
    plugin: Box<dyn Plugin>,
}

impl Policy {
    /// The policy for a drive.
    pub fn new(params: &Params, geometry: &Geometry, seed: u64) -> Self {
        Self { name: params.name.name().to_owned(), plugin: params.name.maker()(geometry, seed) }
    }

    /// The mistake of an answer, if any.
    fn refusal(view: VictimView<'_>, picked: BlockId) -> Option<String> {
        let blocks = view.geometry.blocks;
        if picked.0 >= blocks {
            return Some(format!("picked block {}, and the drive has {blocks}", picked.0));
        }
        let plane = view.geometry.plane_of(picked);
        let PlaneRange { first, count } = view.planes;
        if !view.planes.has(plane) {
            let asked =
                if count == 1 { format!("plane {first}") } else { format!("planes {first} to {}", first + count - 1) };
            return Some(format!("picked block {} of plane {}, and was asked for {asked}", picked.0, plane.0));
        }
        let state = match view.blocks[picked].state {
            BlockState::Closed => return None,
            BlockState::Free => "erased",
            BlockState::Open => "open, and not full",
            BlockState::Victim => "being collected",
        };
        Some(format!("picked block {} of plane {}, which is {state}", picked.0, plane.0))
    }
}

impl Clone for Policy {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), plugin: self.plugin.copied() }
    }
}

impl VictimPolicy for Policy {
    fn on_close(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId) {
        self.plugin.on_close(blocks, plane, block);
    }

    fn on_invalidate(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId) {
        self.plugin.on_invalidate(blocks, plane, block);
    }

    fn on_take(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId) {
        self.plugin.on_take(blocks, plane, block);
    }

    fn pick(&mut self, view: VictimView<'_>) -> Option<BlockId> {
        let Some(picked) = self.plugin.pick(view) else {
            // A policy may name no block only if no full block has an invalid unit.
            let frees = |block: &Block| u32::from(block.valid) < view.geometry.units_per_block;
            let count = view.full_blocks().filter(|(_, block)| frees(block)).count();
            if count > 0 {
                let why = format!("picked no block, although {count} full blocks have invalid units");
                fail(
                    "victim",
                    &self.name,
                    why,
                    Some("name one of them; a trigger decides whether anything is collected"),
                );
            }
            return None;
        };
        if let Some(why) = Self::refusal(view, picked) {
            fail("victim", &self.name, why, Some("name a full block of the requested planes, or none"));
        }
        Some(picked)
    }

    fn matches_reads(&self) -> bool {
        self.plugin.matches_reads()
    }

    fn choice_ns(&self) -> u64 {
        self.plugin.choice_ns()
    }
}
