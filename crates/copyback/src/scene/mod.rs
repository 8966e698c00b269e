//! Scenes: a scheme on a small drive that is described page by page.
//!
//! A scene is such a drive, planes of it whose collections begin at time 0, and a few requests. Played with a scheme,
//! it returns the commands of the flash and the end of each request: for a paper's worked figure, or for a page's
//! drawing of a scheme.

mod contents;

pub use contents::{Block, Contents};

use crate::flash::geometry::Geometry;
use crate::ftl::core::Counts;
use crate::observe::commands::CommandRecord;
use crate::observe::report::{FlashWork, RequestRecord};
use crate::run::RunError;
use crate::run::config::RunConfig;
use crate::run::simulation::{Setup, Simulation};
use crate::sim::index::PlaneId;
use copyback_workload::{Op, Priority, Request};

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SceneOp {
    /// The data of a page, wherever it is when it is read: plane, block, page.
    Read(u32, u32, u32),
    /// New data for a page at this location: plane, block, page.
    Overwrite(u32, u32, u32),
    /// Data for a logical page of a plane that held nothing.
    Write(u32),
    /// The same, marked urgent.
    UrgentWrite(u32),
}

/// A scene.
pub struct Scene<'a> {
    /// The drive and the scheme: mapping units of whole pages.
    pub config: &'a RunConfig,
    /// Blocks of each plane.
    pub planes: &'a [&'a [Block]],
    /// The planes whose collections begin at time 0, one after the other if they share a die.
    pub collects: &'a [u32],
    /// Arrival in nanoseconds, and the request, in the order of arrival.
    pub requests: &'a [(u64, SceneOp)],
}

/// The record of a scene.
pub struct Played {
    /// The flash's geometry: the locations of dies and planes.
    pub geometry: Geometry,
    /// The commands, in the order of their issue.
    pub commands: Vec<CommandRecord>,
    /// The requests, in the order of their arrival.
    pub requests: Vec<RequestRecord>,
    /// The counters of the translation layer.
    pub counts: Counts,
    /// The counts of the flash's work.
    pub work: FlashWork,
}

impl Scene<'_> {
    /// Plays it, with all checks on.
    ///
    /// # Errors
    /// If the configuration is inconsistent.
    ///
    /// # Panics
    /// If the blocks do not fit the drive, a request needs a page that holds nothing, or there is nothing to collect.
    pub fn play(&self) -> Result<Played, RunError> {
        self.config.check()?;
        let mut contents = Contents::new(self.config, self.planes);
        let requests: Vec<Request> = self.requests.iter().map(|asked| request(&mut contents, asked)).collect();
        let mut source = requests.into_iter();
        let (host, source) = (self.config.host.clone(), &mut source);
        let setup = Setup { host, source, requests: None, check: true, keep_gc_events: false, keep_requests: true };
        let mut simulation = Simulation::new(vec![(self.config, contents.ftl)], setup);
        simulation.keep_commands(Default::default());
        let (drive, events) = simulation.back_end_and_events(0);
        let geometry = drive.flash_geometry().clone();
        for &plane in self.collects {
            let plane = drive.geometry().plane_of_flash(PlaneId(plane));
            assert!(drive.collect_once(plane, events), "there is something to collect on {plane:?}");
        }
        simulation.run(&mut |_| {})?;
        let commands = simulation.take_commands();
        let mut requests = simulation.collector.take_records();
        requests.sort_by_key(|record| record.index);
        let of_drive = simulation.back_ends().map(|drive| (drive.counts(), drive.work())).next();
        let (counts, work) = of_drive.expect("there is a drive");
        Ok(Played { geometry, commands, requests, counts, work })
    }
}

fn request(contents: &mut Contents, &(arrival_ns, asks): &(u64, SceneOp)) -> Request {
    let (op, unit) = match asks {
        SceneOp::Read(plane, block, page) => (Op::Read, contents.held_at(plane, block, page)),
        SceneOp::Overwrite(plane, block, page) => (Op::Write, contents.held_at(plane, block, page)),
        SceneOp::Write(plane) | SceneOp::UrgentWrite(plane) => {
            (Op::Write, contents.unused_unit(contents.ftl.geometry.plane_of_flash(PlaneId(plane)).0))
        }
    };
    let unit_bytes = u64::from(contents.ftl.geometry.unit_bytes);
    let priority = if matches!(asks, SceneOp::UrgentWrite(_)) { Priority::High } else { Priority::Normal };
    Request { arrival_ns, offset_bytes: u64::from(unit.0) * unit_bytes, len_bytes: unit_bytes, device: 0, op, priority }
}
