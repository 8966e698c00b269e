//! Checks that the parts of a configuration fit together. Each policy checks its own parameters against the device;
//! conditions on two axes, or an axis and the host, are checked here, with all of them known.

use super::config::RunConfig;
use super::precondition::PreconditionConfig;
use crate::config::{GeometryConfig, KeyError, ShareOrCount};
use crate::dispatch::compose::GcBuilderName;
use crate::ftl::GC_RESERVE_BLOCKS;
use crate::ftl::allocation::Known;
use crate::ftl::core::Ftl;
use crate::ftl::mapping::cached::ENTRY_BYTES;
use crate::tasks::gc::granularity::GranularityPolicy;

impl RunConfig {
    /// Whether the host sees a part of the flash, and a whole mapping unit at least.
    pub(super) fn check_capacity(&self) -> Result<(), KeyError> {
        let logical_bytes = self.capacity.logical_bytes(self.physical_bytes())?;
        let unit_bytes = self.geometry.unit_bytes();
        if logical_bytes >= unit_bytes {
            return Ok(());
        }
        let key = if self.capacity.logical.is_some() { "capacity.logical" } else { "capacity" };
        let why = format!("{logical_bytes} bytes are less than a mapping unit of {unit_bytes} bytes");
        Err(KeyError::new(key, why).with_help("use a larger capacity, or a smaller `geometry.mapping_unit`"))
    }

    /// Bytes of the flash. The geometry was checked.
    fn physical_bytes(&self) -> u64 {
        let GeometryConfig { channels, chips_per_channel, dies_per_chip, planes_per_die, .. } = self.geometry;
        let planes =
            [channels, chips_per_channel, dies_per_chip, planes_per_die].map(u64::from).iter().product::<u64>();
        let GeometryConfig { blocks_per_plane, pages_per_block, page_size, .. } = self.geometry;
        planes * u64::from(blocks_per_plane) * u64::from(pages_per_block) * page_size.0
    }

    /// Checks that moves of other dies cannot fill a die to which writes are bound.
    pub(super) fn check_allocation(&self) -> Result<(), KeyError> {
        let moves_leave = self.granularity.build().leaves_plane() && !self.preemption.is_timeless();
        if self.allocation.knows() == Known::Die && moves_leave {
            let why = "moves of other dies (`granularity.destination = \"global\"`) might fill the die to which a \
                 write is bound";
            return Err(KeyError::new("allocation.policy", why)
                .with_help("use \"static\" or \"dynamic\", or set `granularity.destination = \"local\"`"));
        }
        Ok(())
    }

    /// A buffer with lists for dies or planes must know the destination of a page when it comes in.
    pub(super) fn check_buffer(&self) -> Result<(), KeyError> {
        let (what, help) = match self.buffer.needs() {
            needs if needs <= self.allocation.knows() => return Ok(()),
            Known::Plane => ("plane", "set `allocation.policy` to \"static\""),
            _ => ("die", "set `allocation.policy` to \"static\" or \"static-die\""),
        };
        let why =
            format!("its lists need the {what} of each page when it comes in, and `allocation.policy` decides later");
        Err(KeyError::new("buffer.policy", why).with_help(help))
    }

    /// A map whose entries live in flash: commands read, write and move its pages, like data.
    pub(super) fn check_map(&self) -> Result<(), KeyError> {
        let Some(cache) = self.mapping.cache() else { return Ok(()) };
        cache.check(&self.geometry, self.units_per_superpage().is_some())?;
        let refuse = |why: &str, help: &str| Err(KeyError::new("mapping.policy", why).with_help(help));
        if self.preemption.is_timeless() {
            let why = "collections in zero time (`preemption.policy = \"ideal\"`) would move data without an update of \
                       its translation pages";
            return refuse(why, "set `mapping.policy = \"page\"`, or choose another `preemption.policy`");
        }
        if self.compose.gc_builders().contains(&GcBuilderName::Merge) {
            let why = "`compose.gc` would merge a moved translation page with a write of it, and their contents \
                       differ";
            return refuse(why, "set `mapping.policy = \"page\"`, or remove the builder `merge`");
        }
        Ok(())
    }

    /// Units of a superpage, if there are superpages of several pages.
    fn units_per_superpage(&self) -> Option<u64> {
        let has_superpages = self.mapping.has_superpages() && self.geometry.planes_per_die > 1;
        has_superpages.then(|| self.shape().units_per_page())
    }

    /// Hot and cold data apart: each page of a collection goes to one of two blocks of its plane.
    pub(super) fn check_hot_cold(&self) -> Result<(), KeyError> {
        if !self.frontier.keeps_hot_apart() {
            return Ok(());
        }
        let refuse = |why: &str, help: &str| Err(KeyError::new("frontier.hot_window", why).with_help(help));
        if self.preemption.is_timeless() {
            let why = "collections in zero time (`preemption.policy = \"ideal\"`) do not distinguish hot and cold data";
            return refuse(why, "leave it out, or choose another `preemption.policy`");
        }
        if !self.compose.gc_builders().is_empty() {
            let why = "requests that join a collection's commands (`compose.gc`) decide to which block their page goes";
            return refuse(why, "leave it out, or set `compose.gc = []`");
        }
        if self.granularity.build().leaves_plane() {
            let why = "moves to other dies (`granularity.destination = \"global\"`) do not distinguish hot and cold \
                       data";
            return refuse(why, "leave it out, or set `granularity.destination = \"local\"`");
        }
        Ok(())
    }

    /// Pages that fill: their writes wait in the controller, which the other policies do not examine.
    pub(super) fn check_fill(&self) -> Result<(), KeyError> {
        if self.frontier.fill().is_none() {
            return Ok(());
        }
        let refuse = |why: &str, help: &str| Err(KeyError::new("frontier.fill_limit", why).with_help(help));
        if self.compose.gc_builders().contains(&GcBuilderName::Merge) {
            let why = "`compose.gc` merges single writes with moves of a collection, and pages that fill hold several \
                       writes";
            return refuse(why, "remove it, or remove the builder `merge`");
        }
        if self.mapping.log_blocks().is_some() {
            let why = "`mapping.policy` places each page by its address, and pages that fill hold units of any page";
            return refuse(why, "leave it out, or set `mapping.policy = \"page\"`");
        }
        Ok(())
    }

    /// Planes that skip pages: each has one write point, and takes the writes of its own addresses.
    pub(super) fn check_alignment(&self) -> Result<(), KeyError> {
        if !self.compose.aligns() {
            return Ok(());
        }
        let (frontier, mapping, allocation) = (self.frontier.name(), self.mapping.name(), self.allocation.name());
        let (why, help) = if self.mapping.log_blocks().is_some() {
            let why = format!("`mapping.policy = \"{mapping}\"` places each page by its address, and none is skipped");
            (why, "set `mapping.policy = \"page\"`")
        } else if self.frontier.is_in_rows() || self.frontier.opens_twins() || self.frontier.has_second_active() {
            let why = format!(
                "planes skip pages of the one block that the host writes, and `frontier.policy = \"{frontier}\"` \
                 aligns their write points in another way"
            );
            (why, "set `frontier.policy` to \"single\" or \"split\"")
        } else if self.allocation.knows() != Known::Plane {
            let why = format!(
                "a plane skips pages for a write of another plane, and under `allocation.policy = \"{allocation}\"` \
                 writes that wait belong to no plane"
            );
            (why, "set `allocation.policy = \"static\"`")
        } else {
            return Ok(());
        };
        Err(KeyError::new("compose.align", why).with_help(format!("{help}, or `compose.align = \"none\"`")))
    }

    /// Whether a row fits the limits of a page and a block, and no setting needs single planes of a row.
    pub(super) fn check_rows(&self) -> Result<(), KeyError> {
        let (in_rows, rows_needed) = (self.frontier.is_in_rows(), self.granularity.needs_rows());
        if in_rows != rows_needed {
            let (why, help) = match in_rows {
                true => (
                    "the drive is written in rows, and `granularity.policy` collects single blocks",
                    "use `granularity.policy = \"aligned\"`, or another `frontier.policy`",
                ),
                false => (
                    "it collects rows, and `frontier.policy` writes no rows",
                    "use `frontier.policy = \"row\"`, or `granularity.policy = \"block\"`",
                ),
            };
            return Err(KeyError::new("granularity.policy", why).with_help(help));
        }
        if self.mapping.has_superpages() && !in_rows {
            let (key, help) = self.mapping.superpage_setting();
            return Err(KeyError::new(key, "superpages need rows, and `frontier.policy` writes none")
                .with_help(format!("set `frontier.policy = \"row\"`, or {help}")));
        }
        if !in_rows {
            return Ok(());
        }
        let refuse = |why: String, help: &str| Err(KeyError::new("frontier.policy", why).with_help(help));
        if let Err(error) = self.shape().check() {
            let why = format!("a row is a page of {} planes here: {}", self.geometry.planes_per_die, error.message);
            return refuse(why, "use larger mapping units, smaller blocks, or another `frontier.policy`");
        }
        if !self.commands.multi_plane && self.geometry.planes_per_die > 1 {
            let why = "a row is written with multi-plane commands, and this device has none".to_owned();
            return refuse(why, "set `commands.multi_plane = true`, or use another `frontier.policy`");
        }
        if !self.compose.gc_builders().is_empty() {
            let why = "commands of collections name all planes of their die, so that no request can join".to_owned();
            return refuse(why, "set `compose.gc = []`, or use another `frontier.policy`");
        }
        if self.mapping.has_superpages() && self.granularity.build().combines() {
            return Err(KeyError::new("granularity.combine", "a row of a superpage has no room for other writes")
                .with_help(format!("set `granularity.combine = false`, or {}", self.mapping.superpage_setting().1)));
        }
        let is_split = self.commands.plane_pairs && self.geometry.planes_per_die > 2;
        if is_split && self.preemption.is_timeless() {
            let why = "a row takes two commands on a device that pairs planes, and collections that take no time \
                       (`preemption.policy = \"ideal\"`) might erase a block between them"
                .to_owned();
            return refuse(why, "set `commands.plane_pairs = false`, or choose another `preemption.policy`");
        }
        if self.granularity.build().copies_back() {
            let why = "a row is gathered in the controller, and a copyback bypasses it".to_owned();
            return refuse(why, "set `granularity.copyback = false`, or use another `frontier.policy`");
        }
        Ok(())
    }

    /// Collections of blocks of several planes, whose pages go to any of them.
    fn check_companions(&self) -> Result<(), KeyError> {
        let refuse = |key: &str, why: &str, help: &str| Err(KeyError::new(key, why).with_help(help));
        if !self.compose.gc_builders().is_empty() {
            let why = "each command of a collection of several planes names all of them, so that no request can join";
            return refuse("compose.gc", why, "set `compose.gc = []`, or `granularity.policy = \"block\"`");
        }
        if self.preemption.excludes_plane() {
            let why = "a collection of several planes has pages in the registers of all of them, and requests would \
                       have to avoid all these planes";
            return refuse("preemption.at_register", why, "set `preemption.at_register = \"none\"`");
        }
        if !self.frontier.shares_block() && !self.frontier.keeps_hot_apart() {
            let why = "pages of a collection go to any plane of its die, and would take blocks there that host writes \
                       count on";
            return refuse("frontier.policy", why, "use `frontier.policy = \"single\"` or `\"twin\"`");
        }
        Ok(())
    }

    /// A collection takes a slot of its die's window; if that is the only slot, no request that could preempt waits at
    /// the die.
    pub(super) fn check_window(&self) -> Result<(), KeyError> {
        if !self.preemption.lets_host_first() || self.admit.slots() > 1 {
            return Ok(());
        }
        let why = "a collection takes the only slot of its die's window, so that no request can preempt it";
        Err(KeyError::new("admit.slots", why).with_help("use 2 or more slots, or set `preemption.policy = \"none\"`"))
    }

    /// Checks that each builder for collections finds the moves, planes, points and slots that it needs.
    pub(super) fn check_moves(&self) -> Result<(), KeyError> {
        if self.granularity.build().plane_rule().is_some() {
            self.check_companions()?;
        }
        let has = |name| self.compose.gc_builders().contains(&name);
        let refuse = |why: &str, help: &str| Err(KeyError::new("compose.gc", why).with_help(help));
        if self.granularity.build().copies_back() {
            let help = "set `granularity.copyback = false`, or remove the builder";
            if has(GcBuilderName::Merge) {
                return refuse("`merge` needs the transfer of a moved page, which a copyback does not have", help);
            }
            if has(GcBuilderName::GcHost) || has(GcBuilderName::Pipeline) {
                let why = "`gc+host` and `pipeline` need moves to be reads and programs, and a copyback is neither";
                return refuse(why, help);
            }
        }
        if has(GcBuilderName::GcHost) && self.geometry.planes_per_die == 1 {
            let help = "remove the builder, or choose a device with more planes";
            return refuse("`gc+host` needs a second plane in each die (`geometry.planes_per_die = 1`)", help);
        }
        if !self.compose.gc_builders().is_empty() && self.preemption.is_timeless() {
            let why = "collections that take no time (`preemption.policy = \"ideal\"`) have no commands \
                       that anything could join";
            return refuse(why, "set `compose.gc = []`, or choose another `preemption.policy`");
        }
        let needs_points = has(GcBuilderName::Pipeline) && !self.preemption.lets_host_first();
        if needs_points {
            let why = "`pipeline` overlaps requests that preempt a collection, and this `preemption.policy` lets none \
                       preempt";
            return refuse(why, "set `preemption.policy = \"points\"`, or remove the builder");
        }
        let needs_window = has(GcBuilderName::GcHost) || has(GcBuilderName::Merge);
        if needs_window && self.admit.slots() == 1 && !self.preemption.is_timeless() {
            let why = "a collection takes the only slot of its die's window, so that no queued request can join it";
            return refuse(why, "set `admit.slots` to 2 or more, or leave `gc+host` and `merge` out");
        }
        Ok(())
    }

    /// Checks that an aged drive keeps the block that collection needs, and that `steady-state` may copy one plane to
    /// the others.
    pub(super) fn check_preconditioning(&self) -> Result<(), KeyError> {
        if matches!(self.precondition, PreconditionConfig::SteadyState {}) {
            return self.check_steady_state();
        }
        let PreconditionConfig::Aged { used_max, .. } = self.precondition else { return Ok(()) };
        let blocks = self.geometry.blocks_per_plane;
        let used_blocks = ShareOrCount::Share(used_max).of(blocks);
        if used_blocks + GC_RESERVE_BLOCKS > blocks {
            return Err(KeyError::new(
                "precondition.used_max",
                format!("{used_max} of {blocks} blocks a plane leaves none to collect with"),
            )
            .with_help(format!(
                "use at most {}, or more blocks",
                f64::from(blocks - GC_RESERVE_BLOCKS) / f64::from(blocks)
            )));
        }
        if let Some(plane) = Ftl::plane_without_data(&self.ftl()) {
            let why =
                format!("`aged` fills every plane, but none of the drive's logical pages is on plane {}", plane.0);
            return Err(KeyError::new("precondition.mode", why)
                .with_help("give the drive at least one logical page for each plane, or use another mode"));
        }
        Ok(())
    }

    /// Checks that each die behaves like a drive of its own under uniform writes.
    fn check_steady_state(&self) -> Result<(), KeyError> {
        let why = if self.redundancy.has_parity() {
            "parity is overwritten more often than the data next to it"
        } else if self.mapping.has_superpages() {
            "the places of a superpage are valid together"
        } else if self.mapping.log_blocks().is_some() {
            "log blocks are merged, not collected"
        } else {
            return Ok(());
        };
        let why = format!("`steady-state` needs equal and independent dies, and here {why}");
        Err(KeyError::new("precondition.mode", why).with_help("set `precondition.mode = \"random\"`"))
    }

    /// Whether the drive can collect at all: beyond the data, each plane must have more blocks than its open blocks and
    /// its reserve take, and more than the watermark at which collection stops.
    pub(super) fn check_spare(&self) -> Result<(), KeyError> {
        self.check_room().map_err(|error| match self.help_for_parity() {
            Some(help) if error.key == "capacity" => error.with_help(help),
            _ => error,
        })
    }

    /// As [`Self::check_spare`], without the remedy for drives with parity.
    pub(super) fn check_room(&self) -> Result<(), KeyError> {
        let (data_blocks, units_per_block) = self.data_blocks()?;
        if self.mapping.log_blocks().is_some() {
            return self.check_spare_of_merges();
        }
        let spare = u64::from(self.geometry.blocks_per_plane).saturating_sub(data_blocks);
        let watermark = u64::from(self.trigger.stop_blocks_per_plane(&self.geometry));
        let needed = u64::from(self.blocks_held_back()).max(watermark) + 1;
        if spare < needed {
            return Err(KeyError::new(
                "capacity",
                format!(
                    "each plane has {} blocks, of which {} takes {data_blocks}; the {spare} left are fewer than the \
                     {needed} that garbage collection needs (open blocks and reserve: {}, trigger.stop: {watermark})",
                    self.geometry.blocks_per_plane,
                    if self.redundancy.has_parity() { "data with its parity" } else { "data" },
                    self.blocks_held_back(),
                ),
            )
            .with_help(
                "raise `capacity.over_provisioning`, lower the trigger's watermarks, or use more, smaller blocks",
            ));
        }
        self.check_reclaimable(data_blocks, units_per_block)
    }

    /// Blocks of each plane that its data takes, including parity and a map in flash, if any; and the units of a block.
    pub(super) fn data_blocks(&self) -> Result<(u64, u64), KeyError> {
        let shape = self.shape();
        let units_per_block = u64::from(shape.pages_per_block) * shape.units_per_page();
        let planes = u64::from(shape.channels)
            * u64::from(shape.chips_per_channel)
            * u64::from(shape.dies_per_chip)
            * u64::from(shape.planes_per_die);
        let physical = planes * u64::from(shape.blocks_per_plane) * units_per_block * shape.unit_bytes();
        let logical = self.capacity.logical_bytes(physical)?;
        let together = self.units_per_superpage().unwrap_or(1);
        // Parity takes a unit of each stripe.
        let data_members = u64::from(shape.channels - 1).max(1);
        let logical = if self.redundancy.has_parity() { logical + logical.div_ceil(data_members) } else { logical };
        // A map in flash takes a unit for as many entries as it has room for. A superpage has one entry, and the units
        // of the map are as many as fill superpages.
        let entries = shape.unit_bytes() / ENTRY_BYTES * together;
        let map = self.mapping.cache().map_or(0, |_| logical / entries + (together - 1) * shape.unit_bytes());
        let logical = logical + map;
        let data_blocks = logical.div_ceil(self.geometry.unit_bytes()).div_ceil(planes).div_ceil(units_per_block);
        Ok((data_blocks, units_per_block))
    }

    /// Whether a full plane always has a block whose collection frees a page. In the worst case, all blocks that may be
    /// collected share the invalid units evenly; each must then have a page's worth.
    fn check_reclaimable(&self, data_blocks: u64, units_per_block: u64) -> Result<(), KeyError> {
        let units_per_page = self.shape().units_per_page();
        let full_blocks = u64::from(self.geometry.blocks_per_plane - self.blocks_held_back() + 1);
        let least_invalid = (full_blocks - data_blocks) * units_per_block;
        if least_invalid > full_blocks * (units_per_page - 1) {
            return Ok(());
        }
        Err(KeyError::new(
            "capacity",
            format!(
                "{} spare blocks a plane are too few for pages of {} mapping units: each block might hold less than a \
                 page of invalid data, and garbage collection would gain nothing",
                full_blocks - data_blocks,
                units_per_page,
            ),
        )
        .with_help("raise `capacity.over_provisioning`, or use more pages a block"))
    }
}
