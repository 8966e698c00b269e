//! Checks that a configuration does not contradict the decisions of a mapping with log blocks.

use super::config::RunConfig;
use super::precondition::PreconditionConfig;
use crate::config::KeyError;
use crate::flash::geometry::Geometry;
use crate::ftl::allocation::Known;
use crate::ftl::core::Ftl;
use crate::ftl::log_blocks::{BLOCKS_BESIDE, logical_blocks, random_blocks};
use crate::tasks::gc::granularity::{Granularity, GranularityPolicy};

impl RunConfig {
    /// Checks that only merges decide the destination of pages.
    pub(super) fn check_log_blocks(&self) -> Result<(), KeyError> {
        let Some(params) = self.mapping.log_blocks() else { return Ok(()) };
        let refuse = |key: &str, why: &str, help: &str| Err(KeyError::new(key, why).with_help(help));
        if !params.log_share.is_possible() || params.log_share.of(self.geometry.blocks_per_plane) == 0 {
            let why = "every write needs a random log block, and not all blocks can be log blocks";
            let help = "use a share between 0 and 1 such as 0.03, or a number of blocks such as 1, without a point";
            return refuse("mapping.log_share", why, help);
        }
        if self.allocation.knows() < Known::Die {
            let why = "data blocks belong to planes by their addresses, and `allocation.policy` decides for each write";
            return refuse(
                "mapping.policy",
                why,
                "set `allocation.policy = \"static\"`, or `mapping.policy = \"page\"`",
            );
        }
        self.check_frontier_of_merges()?;
        self.check_granularity_of_merges()?;
        if self.preemption.is_timeless() {
            let why = "merges consist of commands, and collections in zero time (`preemption.policy = \
                       \"ideal\"`) have none";
            return refuse("mapping.policy", why, "set `mapping.policy = \"page\"`, or another `preemption.policy`");
        }
        if !self.compose.gc_builders().is_empty() {
            let why = "pages of a merge have fixed locations, and no other page joins them";
            return refuse("compose.gc", why, "set `compose.gc = []`, or `mapping.policy = \"page\"`");
        }
        if self.trigger.watermarks().idle.is_some() {
            let why = "merges start when log blocks are used up, not when the drive is idle";
            return refuse("trigger.idle", why, "leave it out, or set `mapping.policy = \"page\"`");
        }
        let fills_in_order =
            matches!(self.precondition, PreconditionConfig::Empty {} | PreconditionConfig::Sequential { .. });
        if !fills_in_order {
            let why = "a drive with log blocks begins empty or filled in order: there are no merges in zero time";
            return refuse(
                "precondition.mode",
                why,
                "use \"sequential\" or \"empty\", and warm the drive up: `--warmup`",
            );
        }
        Ok(())
    }

    /// The settings of a scheme that have no effect if its data blocks are merged.
    pub(super) fn notes_of_merges(&self) -> Vec<String> {
        let Some(params) = self.mapping.log_blocks() else { return Vec::new() };
        let granularity = self.granularity.build();
        let left_out = [
            (granularity.plane_rule().is_some(), "collections of several planes' blocks together"),
            (granularity.combines(), "writes in rows that a collection programs (`granularity.combine`)"),
            (
                self.allocation.knows() == Known::Die,
                "planes in turn (`allocation.policy`), because each address has its own",
            ),
            (self.victim.name() != "greedy", "a choice of victims (`victim.policy`)"),
        ];
        let left_out: Vec<&str> = left_out.iter().filter(|(is_asked, _)| *is_asked).map(|(_, what)| *what).collect();
        let mut notes = Vec::new();
        if !left_out.is_empty() {
            let left_out = left_out.join(", ");
            notes.push(format!("`mapping.policy = \"fast\"` keeps pages at fixed offsets, and ignores {left_out}"));
        }
        let (random, most) = (random_blocks(params, &self.shape_of_merges()), self.random_log_blocks_max());
        if random < most {
            notes.push(format!(
                "{} of each plane's blocks are never used: `mapping.log_share` could be {most} instead of {random}",
                most - random
            ));
        }
        notes
    }

    fn check_frontier_of_merges(&self) -> Result<(), KeyError> {
        use crate::ftl::frontier::FrontierConfig::{Row, Single, Twin};
        let is_possible = matches!(self.frontier, Single(_) | Row(_) | Twin(_));
        if is_possible && !self.frontier.keeps_hot_apart() {
            return Ok(());
        }
        if is_possible {
            let why = "hot and cold data share the log blocks of `mapping.policy = \"fast\"`";
            let help = "leave it out, or set `mapping.policy = \"page\"`";
            return Err(KeyError::new("frontier.hot_window", why).with_help(help));
        }
        let why = "`mapping.policy = \"fast\"` decides which open block takes a page: a log block, or one that is \
                   merged";
        Err(KeyError::new("frontier.policy", why)
            .with_help("use \"single\", \"row\" or \"twin\", or `mapping.policy = \"page\"`"))
    }

    fn check_granularity_of_merges(&self) -> Result<(), KeyError> {
        let granularity = self.granularity.build();
        let (key, why) = if granularity.leaves_plane() {
            ("granularity.destination", "data blocks do not leave their plane")
        } else if granularity.copies_back() {
            ("granularity.copyback", "a merge gathers pages of several blocks in the controller")
        } else if matches!(granularity, Granularity::Paired(_)) {
            ("granularity.policy", "it pairs blocks that a victim policy picks, and merges have no victims")
        } else {
            return Ok(());
        };
        Err(KeyError::new(key, why).with_help("use `granularity.policy = \"block\"`, or `mapping.policy = \"page\"`"))
    }

    /// Whether each plane has the blocks that its merges need.
    pub(super) fn check_spare_of_merges(&self) -> Result<(), KeyError> {
        let params = self.mapping.log_blocks().expect("only such mappings merge");
        let random = random_blocks(params, &self.shape_of_merges());
        let most = self.random_log_blocks_max();
        if random <= most {
            return Ok(());
        }
        let blocks = self.geometry.blocks_per_plane;
        let data = logical_blocks(&self.shape_of_merges());
        let why = format!(
            "each plane has {blocks} blocks: too few for {data} data blocks, {random} random log blocks and \
             {BLOCKS_BESIDE} for merges"
        );
        Err(match most {
            0 => KeyError::new("capacity", why).with_help("raise `capacity.over_provisioning`"),
            _ => KeyError::new("mapping.log_share", why)
                .with_help(format!("use {most} at most, or raise `capacity.over_provisioning`")),
        })
    }

    /// The most random log blocks that a plane has room for.
    fn random_log_blocks_max(&self) -> u32 {
        let data = logical_blocks(&self.shape_of_merges());
        self.geometry.blocks_per_plane.saturating_sub(data + BLOCKS_BESIDE)
    }

    fn shape_of_merges(&self) -> Geometry {
        Ftl::geometry_of(&self.ftl())
    }
}
