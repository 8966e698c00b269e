//! A few small drives behind a volume, each described block by block, and what happens to requests of the volume.

use copyback::array::coordination::CoordinationConfig;
use copyback::array::{ArrayConfig, Volume};
use copyback::observe::array_report::{CoordinationTotals, VolumeTotals};
use copyback::observe::microscope::{Focus, MicroscopeView};
use copyback::observe::report::RequestRecord;
use copyback::run::Warmup;
use copyback::run::config::RunConfig;
use copyback::run::simulation::{Setup, Simulation};
use copyback::scene::{Block, Contents};
use copyback::sim::index::PlaneId;
use copyback::workload::{Op, Priority, Request};

/// One die of one plane with the times of tc12's Table 7: 4 KiB at 25 ns/B. It collects only on order.
pub const DRIVE: &str = r#"
capacity = { logical = "64 KiB" }
timing = { read = "25 us", program = "200 us", erase = "1.5 ms", channel = "25 ns/B" }
trigger = { policy = "watermark", soft = 0 }
order = { policy = "priority", first = "gc-read-write" }
compose = { policy = "list", builders = [] }
precondition = { mode = "empty" }
geometry = { channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 1, blocks_per_plane = 10, pages_per_block = 4, page_size = "4 KiB" }
"#;

/// Times of that drive.
pub const READ: u64 = 127_400;
pub const PROGRAM: u64 = 302_400;

/// Time of a collection that moves so many pages.
pub const fn collection_ns(pages: u64) -> u64 {
    pages * (READ + PROGRAM) + 1_500_000
}

/// A stage.
pub struct Stage {
    /// The configuration that all drives have.
    pub drive: String,
    pub array: String,
    /// `policy = "..."` and its parameters.
    pub coordination: String,
    /// Blocks of each plane of each drive.
    pub planes: Vec<Vec<Block>>,
    /// Planes that a drive has.
    pub planes_per_drive: usize,
    /// Drives that begin a collection at time 0.
    pub collecting: Vec<usize>,
}

#[derive(Debug, PartialEq)]
pub struct Played {
    /// Requests in the order of arrival.
    pub requests: Vec<RequestRecord>,
    pub totals: VolumeTotals,
    /// Page reads and programs of each drive for the host.
    pub reads: Vec<u64>,
    pub programs: Vec<u64>,
    /// Collections of each drive: start and end.
    pub collections: Vec<Vec<(u64, u64)>>,
    pub coordination: Vec<Option<CoordinationTotals>>,
    /// What was looked at.
    pub seen: Option<MicroscopeView>,
}

impl Played {
    pub fn responses(&self) -> Vec<u64> {
        self.requests.iter().map(|r| r.response_ns).collect()
    }
}

/// Requests for units of 4 KiB: arrival, operation, first unit, units.
pub type Asked = (u64, Op, u64, u64);

pub fn requests(asked: &[Asked]) -> Vec<Request> {
    let request = |&(arrival_ns, op, unit, units): &Asked| Request {
        arrival_ns,
        op,
        offset_bytes: unit * 4096,
        len_bytes: units * 4096,
        device: 0,
        priority: Priority::Normal,
    };
    asked.iter().map(request).collect()
}

impl Stage {
    pub fn config(&self) -> RunConfig {
        copyback::config::from_toml(&self.drive).unwrap_or_else(|e| panic!("{e}\n{}", self.drive))
    }

    pub fn array_config(&self) -> ArrayConfig {
        copyback::config::from_toml(&self.array).unwrap_or_else(|e| panic!("{e}\n{}", self.array))
    }

    fn coordination_config(&self) -> CoordinationConfig {
        if self.coordination.is_empty() {
            return CoordinationConfig::default();
        }
        copyback::config::from_toml(&self.coordination).unwrap_or_else(|e| panic!("{e}\n{}", self.coordination))
    }

    pub fn play(&self, asked: &[Asked]) -> Played {
        self.play_under(None, Warmup::Requests(0), asked)
    }

    pub fn play_under(&self, focus: Option<Focus>, warmup: Warmup, asked: &[Asked]) -> Played {
        let config = self.config();
        let array = self.array_config();
        array.check().expect("an array");
        let contents = |planes: &[Vec<Block>]| {
            let planes: Vec<&[Block]> = planes.iter().map(Vec::as_slice).collect();
            (&config, Contents::new(&config, &planes).ftl)
        };
        let drives = self.planes.chunks(self.planes_per_drive).map(contents).collect();
        let mut source = requests(asked).into_iter();
        let setup = Setup {
            host: config.host.clone(),
            source: &mut source,
            requests: None,
            check: true,
            keep_gc_events: true,
            keep_requests: true,
        };
        let mut simulation = Simulation::new(drives, setup);
        simulation.form_array(&array, &self.coordination_config());
        simulation.warm_up(warmup);
        focus.iter().for_each(|focus| simulation.record_window(*focus));
        for &drive in &self.collecting {
            let (drive, events) = simulation.back_end_and_events(drive);
            assert!(drive.collect_once(PlaneId(0), events), "there is something to collect");
        }
        simulation.run(&mut |_| {}).expect("the run ends well");
        let mut requests = simulation.collector.take_records();
        requests.sort_by_key(|record| record.index);
        let work: Vec<_> = simulation.back_ends().map(|d| d.counters().work().clone()).collect();
        Played {
            requests,
            totals: simulation.volume().map(Volume::totals).expect("there is a volume"),
            reads: work.iter().map(|w| w.host_page_reads).collect(),
            programs: work.iter().map(|w| w.host_page_programs).collect(),
            collections: simulation
                .back_ends()
                .map(|d| d.counters().gc_events().iter().map(|e| (e.start_ns, e.end_ns)).collect())
                .collect(),
            coordination: simulation.back_ends().map(|d| d.coordination_totals()).collect(),
            seen: simulation.take_microscope(),
        }
    }
}
