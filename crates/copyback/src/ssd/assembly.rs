//! Makes a drive from its configuration.

use super::admission::Admission;
use super::admission::die_choice::DieSearches;
use super::admission::gate::Gate;
use super::admission::page_reservations::PageReservations;
use super::admission::shared_space::SharedSpace;
use super::admission::task_shares::TaskShares;
use super::config::DriveConfig;
use super::dies::die_table::DieTable;
use super::drive::Drive;
use super::gc::background_tasks::BackgroundTasks;
use super::gc::collection_scopes::CollectionScopes;
use super::gc::collector::Collector;
use super::gc::idle_collection::Idleness;
use super::gc::job_table::JobTable;
use super::gc::relocation_queues::Relocations;
use super::map::Translation;
use super::map::data_map::DataMap;
use super::map::hotness::Hotness;
use super::records::{BeforeRun, FewestFree, Records};
use super::redundancy::parity::Parity;
use super::requests::endings::Endings;
use super::requests::filling_pages::FillingPages;
use super::requests::firmware_delays::FirmwareDelays;
use super::requests::host_data::HostData;
use super::scheme::Scheme;
use super::settings::Settings;
use super::timers::{ALARMS, Alarm, Timers};
use crate::dispatch::admit::{Admit, Setup};
use crate::dispatch::order::Order;
use crate::dispatch::queues::Queues;
use crate::dispatch::txn::Txns;
use crate::dispatch::windows::Windows;
use crate::flash::Flash;
use crate::flash::command::Rules;
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use crate::ftl::core::Ftl;
use crate::ftl::space::Space;
use crate::ftl::write_ordering::Newest;
use crate::observe::counters::Counters;
use crate::observe::observers::Observers;
use crate::observe::protocol::ProtocolChecker;
use crate::observe::shadow::Shadow;
use crate::sim::queue::Timer;
use crate::tasks::gc::granularity::GranularityPolicy;
use crate::tasks::gc::preemption::Preemption;

impl Drive {
    /// A preconditioned drive, whose events use these timers.
    pub fn new(config: &DriveConfig<'_>, ftl: Ftl, timers: Timers, check: bool, keep_gc_events: bool) -> Self {
        let Timers { alarms, first: first_timer } = timers;
        let geometry = ftl.geometry.clone();
        let flash_geometry = Geometry::new(&config.device);
        let timing = Timing::new(config.device.timing, geometry.unit_bytes, geometry.units_per_flash_page);
        let preemption = Preemption::new(config.preemption, &geometry, &timing);
        let order = Order::new(config.order, &geometry, &timing);
        let urgent_first = order.puts_gc_first();
        let mut settings = Settings::new(config, &ftl, &preemption);
        let rules = Rules::new(config.device.commands);
        let mut flash =
            Flash::new(&flash_geometry, timing, rules, urgent_first, settings.observes_loads(), first_timer);
        if check {
            flash.observe(Box::new(Observers::watching(ProtocolChecker::new(&config.device, ftl.pages_programmed()))));
        }
        let splits_rows = geometry.row_planes > 2 && config.device.commands.plane_pairs;
        let granularity = config.granularity.build();
        let is_simple = !granularity.leaves_plane() && !granularity.copies_back() && !geometry.is_in_rows();
        let is_simple =
            is_simple && !ftl.has_log_blocks() && config.mapping.cache().is_none() && ftl.hot_cold().is_none();
        let made = alarms.timer(Alarm::Made);
        let delays = config.tasks.delays.as_ref().map(|params| Box::new(FirmwareDelays::new(params, ftl.seed(), made)));
        let background =
            BackgroundTasks::new(config.tasks.build(ftl.blocks(), ftl.seed()), alarms.timer(Alarm::Background));
        let is_simple = is_simple && background.is_empty();
        let idle_timer = Timer(first_timer + geometry.dies + geometry.channels);
        let gc = Collector {
            jobs: JobTable::new(geometry.planes),
            relocations: Relocations::new(config.preemption.as_task(), config.redundancy.turns(), &ftl),
            scopes: CollectionScopes::new(geometry.dies, geometry.planes, geometry.blocks_per_plane),
            coordination: None,
            background,
            idleness: Idleness::new(idle_timer),
        };
        settings.collection.steps_alone = settings.allows_lone_steps() && is_simple && flash.has_lone_commands();
        let mut newest = Newest::new(geometry.mapped_units);
        let merges_parts = settings.compose.merge && geometry.units_per_page > 1;
        if !ftl.allocation().is_static() || merges_parts {
            newest.track();
        }
        let queues = Queues::new(&geometry, settings.required_index(&preemption, &ftl));
        let hotness = ftl.hot_cold().map(|hot| Box::new(Hotness::new(hot, geometry.mapped_units)));
        // Whole flash pages that wait for a row enter it together, unless a collection takes them one by one.
        let shares_rows = geometry.shares_rows() && geometry.units_per_flash_page == 1 && !settings.compose.combines;
        let writes_per_page = if shares_rows { geometry.row_planes } else { 1 };
        let known = ftl.allocation().knows();
        let filling = config
            .frontier
            .fill()
            .map(|fill| Box::new(FillingPages::new(fill, known, &geometry, alarms.timer(Alarm::FillLimit))));
        if filling.is_some() || delays.is_some() {
            newest.track();
        }
        let translation = config.mapping.cache().map(|cache| Box::new(Translation::new(cache, &ftl, check)));
        let map = DataMap::new(newest, translation, hotness, &queues);
        let windows = Windows::new(config.admit.slots(), geometry.dies);
        let policy = Admit::new(config.admit, &Setup { dies: geometry.dies, seed: ftl.seed() });
        let timers = [alarms.0..alarms.0 + ALARMS, first_timer..first_timer + Self::timers(&geometry)];
        let as_task = config.preemption.as_task();
        let shared = as_task.filter(|_| ftl.allocation().chooses_die() && ftl.shares_block());
        let searches = DieSearches::of(ftl.allocation(), as_task.is_some());
        let admission = Admission {
            searches,
            gate: Gate::new(windows, policy, config.admit.distinguishes_tasks()),
            shares: TaskShares::new(alarms.timer(Alarm::Shares), timers),
            reservations: PageReservations::new(
                Space::new(&geometry, writes_per_page),
                shared.map(|task| SharedSpace::new(&ftl, task.victims)),
            ),
        };
        let host_data = HostData {
            buffer: None,
            delays,
            filling,
            parity: Parity::new(config.redundancy, &geometry),
            endings: Endings::new(),
        };
        let records = Records {
            counters: Counters::new(keep_gc_events),
            shadow: check.then(|| Shadow::new(&ftl)),
            flash_requests: None,
            fewest_free: FewestFree::from_now(&ftl),
            before: BeforeRun::new(&ftl),
        };
        Self {
            flash,
            scheme: Scheme { order, preemption, trigger: config.trigger.build(&geometry), granularity, settings },
            dies: DieTable::new(geometry.dies, splits_rows),
            txns: Txns::new(64),
            queues,
            admission,
            gc,
            map,
            host_data,
            records,
            ftl,
            geometry,
        }
    }

    /// Timers of the event queue that a drive of this shape needs.
    pub fn timers(geometry: &Geometry) -> u32 {
        Flash::<Observers>::timers(geometry) + 1
    }
}
