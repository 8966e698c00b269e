//! Compose: what goes into one flash command?
//!
//! Contract: when a die is ready, the order selects a transaction to lead the next command. The engine calls the
//! builders of the list in turn. Each reads the command so far, the die's queues and the write points of its planes (a
//! `ComposeView`), and returns queued transactions that join: all reads at once, but writes plane by plane. A write
//! binds other writes that fill its page, and the remaining writes for the next plane are known only then. Without
//! partners, the lead is issued alone. A second list applies to commands of collection. Builders change nothing: the
//! drive binds the transactions and issues the command, and independent code checks it.
//!
//! A builder is a file of this folder, a variant of [`BuilderName`] or [`GcBuilderName`], and an arm in their methods
//! below.

mod align;
pub(crate) mod gc_host;
pub mod list;
mod log;
pub(crate) mod merge;
mod multi_plane;

use crate::config::device::PLANES_MAX;
use crate::config::{CommandsConfig, KeyError, axis};
use crate::dispatch::queues::Queues;
use crate::dispatch::txn::Txns;
use crate::flash::command::{CommandPlane, Rules};
use crate::flash::geometry::Geometry;
use crate::ftl::core::Ftl;
use crate::ftl::write_ordering::Newest;
use crate::sim::index::{DieId, PageId, PlaneId, TxnId};
use copyback_workload::units::counted;
pub use list::{BuilderName, GcBuilderName};

axis! {
    /// `[compose]`
    ComposeConfig, "compose", "what goes into one flash command?", default List,
    { "list" => list: List }
}

impl ComposeConfig {
    /// The builders that are tried.
    pub fn builders(&self) -> &[BuilderName] {
        let Self::List(p) = self;
        &p.builders
    }

    /// Which builders for commands of collection are tried.
    pub fn gc_builders(&self) -> &[GcBuilderName] {
        let Self::List(p) = self;
        &p.gc
    }

    /// Transactions of a queue that are searched for a partner: for a command of the host, and for one of collection.
    pub fn scan_max(&self) -> [u32; 2] {
        let Self::List(p) = self;
        [p.scan_max, p.gc_scan_max]
    }

    /// The notes on changed search limits without effect: neither the limit nor its default would end a search.
    /// `looked`: the most transactions that a search for a host command examined. `peak`: the most that a drive had at
    /// once.
    pub fn notes_of_scans(&self, [looked, peak]: [usize; 2]) -> Vec<String> {
        let whys = [
            format!("no search looked at more than {}", counted(looked as u64, "transaction")),
            format!("no drive had more than {} at once", counted(peak as u64, "transaction")),
        ];
        let rows = ["scan_max", "gc_scan_max"].into_iter().zip(self.scan_max()).zip(Self::default().scan_max());
        let unused =
            rows.zip([looked, peak].into_iter().zip(whys)).filter_map(|(((key, most), usual), (reached, why))| {
                let is_unused = most != usual && reached <= most.min(usual) as usize;
                is_unused.then(|| format!("`compose.{key}` has no effect: {why}"))
            });
        unused.collect()
    }

    /// Time to look for a partner before each read of a collection, if the scheme looks for one.
    pub fn gc_scan_ns(&self) -> u64 {
        let Self::List(p) = self;
        if p.gc.contains(&GcBuilderName::GcHost) { p.gc_scan.0 } else { 0 }
    }

    /// Whether planes skip pages, so that programs of the host share a command.
    pub fn aligns(&self) -> bool {
        let Self::List(p) = self;
        p.align == list::Align::Greedy
    }

    /// Whether pages of reads that joined a read of a collection leave after its program is loaded.
    pub fn holds_partners(&self) -> bool {
        let Self::List(p) = self;
        p.gc.contains(&GcBuilderName::GcHost) && p.gc_transfers == list::GcTransfers::First
    }

    /// Checks the parameters.
    pub fn check(&self, commands: &CommandsConfig) -> Result<(), KeyError> {
        let Self::List(p) = self;
        p.check(commands)
    }
}

/// The pages left for admitted writes.
pub(crate) trait HostPages {
    /// Pages of a plane that admitted host writes can use now.
    fn host_pages_left(&self, plane: PlaneId) -> u32;
    /// Pages of a plane that no reservation, admitted write or move needs.
    fn spare_pages(&self, plane: PlaneId) -> u32;
}

/// The view of a builder.
pub(crate) struct ComposeView<'a, R> {
    /// The die that is ready.
    pub die: DieId,
    /// The waiting transactions.
    pub queues: &'a Queues,
    /// Transactions.
    pub txns: &'a Txns,
    /// The location of data, and the write points of planes.
    pub ftl: &'a Ftl,
    /// The newest write of each unit.
    pub newest: &'a Newest,
    /// The combinations that the device accepts.
    pub rules: &'a Rules,
    /// The shape of the drive.
    pub geometry: &'a Geometry,
    /// The plane that takes no read now, and the plane that takes no write.
    pub excluded: [PlaneId; 2],
    /// Transactions of a queue that are searched for a partner of a host command.
    pub scan_max: usize,
    /// Whether planes may skip pages, so that programs of the host share a command.
    pub aligns: bool,
    /// Pages that are left.
    pub host_pages: &'a R,
}

impl<R: HostPages> ComposeView<'_, R> {
    /// The write point of a plane whose next page can be in one command with these parts.
    #[inline(always)]
    fn partner_write_point(&self, parts: &[CommandPlane], plane: PlaneId, is_paired: bool) -> Option<usize> {
        let offset = self.geometry.block_and_offset(parts[0].page).1;
        let write_point = self.ftl.write_point_at(plane, offset, is_paired)?;
        self.fits_at(parts, plane, write_point).then_some(write_point)
    }

    /// Whether a plane can share a command with these parts: with the page at their offset in the block that its
    /// program takes next.
    #[inline(always)]
    fn fits_at(&self, parts: &[CommandPlane], plane: PlaneId, write_point: usize) -> bool {
        let offset = self.geometry.block_and_offset(parts[0].page).1;
        if self.host_pages.host_pages_left(plane) == 0 {
            return false;
        }
        let Some(block) = self.ftl.next_block_in(plane, write_point) else { return false };
        let page = PageId(block.0 * self.geometry.pages_per_block + offset);
        parts.iter().all(|part| self.rules.go_together(self.geometry, part.page, page))
    }
}

/// Queued reads that join a command, in their order.
#[derive(Clone, Copy)]
pub(crate) struct JoiningReads {
    txns: [TxnId; PLANES_MAX as usize - 1],
    count: usize,
}

impl JoiningReads {
    /// No partner.
    pub const NONE: Self = Self { txns: [TxnId::NONE; PLANES_MAX as usize - 1], count: 0 };

    #[inline(always)]
    fn push(&mut self, txn: TxnId) {
        self.txns[self.count] = txn;
        self.count += 1;
    }

    fn sort_by_key(&mut self, key: impl Fn(TxnId) -> u64) {
        self.txns[..self.count].sort_unstable_by_key(|&txn| key(txn));
    }

    /// The reads.
    #[inline(always)]
    pub fn as_slice(&self) -> &[TxnId] {
        &self.txns[..self.count]
    }
}

/// A queued write that joins a command, the writes that fill its page, and the open block that takes them. Its page has
/// the offset of the command's other pages: pages before it are skipped.
#[derive(Clone, Copy)]
pub(crate) struct JoiningWrite {
    /// The first write of the page.
    pub txn: TxnId,
    /// The index of the plane's open block.
    pub write_point: usize,
}

impl BuilderName {
    /// Queued reads of the die that join the read of a page.
    #[inline(always)]
    pub(crate) fn reads<R: HostPages>(self, view: &ComposeView<'_, R>, lead: PageId) -> JoiningReads {
        match self {
            Self::MultiPlane => multi_plane::reads(view, lead),
            // This builder decides when a command may follow another, not what a command contains.
            Self::Cache => JoiningReads::NONE,
        }
    }

    /// A queued write that joins a program of these parts on a further plane.
    #[inline(always)]
    pub(crate) fn write<R: HostPages>(
        self,
        view: &ComposeView<'_, R>,
        parts: &[CommandPlane],
        plane: PlaneId,
    ) -> Option<JoiningWrite> {
        match self {
            Self::MultiPlane => multi_plane::write(view, parts, plane),
            Self::Cache => None,
        }
    }

    /// The page offset of a program of the host that one of a plane's open blocks takes next. Pages before it are
    /// skipped.
    pub(crate) fn offset_of_lead<R: HostPages>(
        self,
        view: &ComposeView<'_, R>,
        plane: PlaneId,
        write_point: usize,
    ) -> u32 {
        match self {
            Self::MultiPlane => align::offset_of_lead(view, plane, write_point),
            Self::Cache => view.ftl.next_offset_in(plane, write_point),
        }
    }
}

impl GcBuilderName {
    /// Queued reads of the die that join a read of collection.
    pub(crate) fn reads<R: HostPages>(self, view: &ComposeView<'_, R>, lead: PageId) -> JoiningReads {
        match self {
            Self::GcHost => gc_host::reads(view, lead),
            // These builders decide which requests a page serves, and when a command may follow another.
            Self::Merge | Self::Pipeline => JoiningReads::NONE,
        }
    }

    /// A queued write that joins a program of collection on a further plane.
    pub(crate) fn write<R: HostPages>(
        self,
        view: &ComposeView<'_, R>,
        parts: &[CommandPlane],
        plane: PlaneId,
        is_paired: bool,
    ) -> Option<JoiningWrite> {
        match self {
            Self::GcHost => gc_host::write(view, parts, plane, is_paired),
            Self::Merge | Self::Pipeline => None,
        }
    }
}
