//! Makes a drive from its configuration.

use super::admission::Admission;
use super::admission::control::AdmissionControl;
use super::admission::die_choice::DieSearches;
use super::admission::page_reservations::PageReservations;
use super::admission::shared_space::SharedSpace;
use super::admission::task_shares::TaskShares;
use super::alarms::{ALARMS, Alarm, Alarms, Timers};
use super::back_end::BackEnd;
use super::config::BackEndConfig;
use super::derived_settings::Settings;
use super::dies::die_table::DieTable;
use super::gc::background_tasks::BackgroundTasks;
use super::gc::collection_scopes::CollectionScopes;
use super::gc::gc_state::Collector;
use super::gc::idle_collection::Idleness;
use super::gc::job_table::JobTable;
use super::gc::relocation_table::Relocations;
use super::map::Translation;
use super::map::data_map::DataMap;
use super::map::hotness::Hotness;
use super::redundancy::parity::Parity;
use super::requests::ended_transactions::Endings;
use super::requests::filling_pages::FillingPages;
use super::requests::firmware_delays::FirmwareDelays;
use super::requests::host_side::HostSide;
use super::run_records::{BeforeRun, FewestFree, Records};
use super::scheme::Scheme;
use crate::dispatch::admit::{Admit, Setup};
use crate::dispatch::order::{Order, OrderPolicy};
use crate::dispatch::queues::Queues;
use crate::dispatch::txn::Txns;
use crate::dispatch::windows::DieWindows;
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
use crate::tasks::gc::granularity::{Granularity, GranularityPolicy};
use crate::tasks::gc::preemption::Preemption;

impl BackEnd {
    /// A preconditioned drive, whose events use these timers.
    pub fn new(config: &BackEndConfig<'_>, ftl: Ftl, timers: Timers, check: bool, keep_gc_events: bool) -> Self {
        let Timers { alarms, first: first_timer } = timers;
        let geometry = ftl.geometry.clone();
        let timing = Timing::new(config.device.timing, geometry.unit_bytes, geometry.units_per_flash_page);
        let preemption = Preemption::new(config.preemption, &geometry, &timing);
        let order = Order::new(config.order, &geometry, &timing);
        let mut settings = Settings::new(config, &ftl, &preemption);
        let mut flash = Flash::new(
            &Geometry::new(&config.device),
            timing,
            Rules::new(config.device.commands),
            order.puts_gc_first(),
            settings.observes_loads(),
            first_timer,
        );
        if check {
            flash.observe(Box::new(Observers::watching(ProtocolChecker::new(&config.device, ftl.pages_programmed()))));
        }
        let gc = collector(config, &ftl, timers);
        let granularity = config.granularity.build();
        let is_simple = gc.background.is_empty() && !settings.collection.leaves_plane;
        let is_simple = is_simple && takes_plain_steps(config, &ftl, &granularity);
        settings.collection.steps_alone = settings.allows_lone_steps() && is_simple && flash.has_lone_commands();
        let dies = DieTable::new(geometry.dies, geometry.row_planes > 2 && config.device.commands.plane_pairs);
        settings.issues_pages_in_place = gc.background.is_empty()
            && config.mapping.cache().is_none()
            && !(dies.splits_commands() || flash.is_observed());
        let queues = Queues::new(&geometry, settings.required_index(&preemption, &ftl));
        let host_side = host_side(config, &ftl, alarms);
        let serves_parts_of_pages = settings.compose.serves_from_moves && geometry.units_per_page > 1;
        let tracks_newest = serves_parts_of_pages || host_side.filling.is_some() || host_side.delays.is_some();
        Self {
            flash,
            dies,
            txns: Txns::new(64),
            admission: admission(config, &ftl, timers, settings.compose.combines),
            gc,
            map: data_map(config, &ftl, &queues, tracks_newest, check),
            queues,
            host_side,
            records: Records {
                counters: Counters::new(keep_gc_events),
                shadow: check.then(|| Shadow::new(&ftl)),
                flash_requests: None,
                fewest_free: FewestFree::from_now(&ftl),
                before: BeforeRun::new(&ftl),
            },
            scheme: Scheme { order, preemption, trigger: config.trigger.build(&geometry), granularity, settings },
            ftl,
            geometry,
        }
    }

    /// Timers of the event queue that a drive of this shape needs.
    pub fn timers(geometry: &Geometry) -> u32 {
        Flash::<Observers>::timers(geometry) + 1
    }
}

/// Whether each step of a collection is a plain read, program or erase.
fn takes_plain_steps(config: &BackEndConfig<'_>, ftl: &Ftl, granularity: &Granularity) -> bool {
    !granularity.copies_back()
        && !ftl.geometry.is_in_rows()
        && !ftl.has_log_blocks()
        && config.mapping.cache().is_none()
        && ftl.hot_cold().is_none()
}

fn collector(config: &BackEndConfig<'_>, ftl: &Ftl, timers: Timers) -> Collector {
    let geometry = &ftl.geometry;
    let tasks = config.tasks.build(ftl.blocks(), ftl.seed());
    Collector {
        jobs: JobTable::new(geometry.planes),
        relocations: Relocations::new(config.preemption.as_task(), config.redundancy.turns(), ftl),
        scopes: CollectionScopes::new(geometry.dies, geometry.planes, geometry.blocks_per_plane),
        coordination: None,
        background: BackgroundTasks::new(tasks, timers.alarms.timer(Alarm::Background)),
        idleness: Idleness::new(Timer(timers.first + geometry.dies + geometry.channels)),
    }
}

/// The host's side of the controller; the buffer is added later.
fn host_side(config: &BackEndConfig<'_>, ftl: &Ftl, alarms: Alarms) -> HostSide {
    let geometry = &ftl.geometry;
    let delays = config.tasks.delays.as_ref();
    let delays =
        delays.map(|params| Box::new(FirmwareDelays::new(params, ftl.seed(), alarms.timer(Alarm::FirmwareDone))));
    let known = ftl.allocation().knows();
    let limit = alarms.timer(Alarm::FillLimit);
    let filling = config.frontier.fill().map(|fill| Box::new(FillingPages::new(fill, known, geometry, limit)));
    let parity = Parity::new(config.redundancy, geometry);
    HostSide { buffer: None, delays, filling, parity, endings: Endings::new() }
}

/// The map of logical units; `tracks_newest`: whether writes of one unit may overtake each other.
fn data_map(config: &BackEndConfig<'_>, ftl: &Ftl, queues: &Queues, tracks_newest: bool, check: bool) -> DataMap {
    let units = ftl.geometry.mapped_units;
    let mut newest = Newest::new(units);
    if tracks_newest || !ftl.allocation().is_static() {
        newest.track();
    }
    let hotness = ftl.hot_cold().map(|hot| Box::new(Hotness::new(hot, units)));
    let translation = config.mapping.cache().map(|cache| Box::new(Translation::new(cache, ftl, check)));
    DataMap::new(newest, translation, hotness, queues)
}

/// The admission to dies; `combines`: whether writes that wait at a die share rows with a collection's moves.
fn admission(config: &BackEndConfig<'_>, ftl: &Ftl, timers: Timers, combines: bool) -> Admission {
    let Timers { alarms, first } = timers;
    let geometry = &ftl.geometry;
    // Whole flash pages that wait for a row enter it together, unless a collection takes them one by one.
    let shares_rows = geometry.shares_rows() && geometry.units_per_flash_page == 1 && !combines;
    let writes_per_page = if shares_rows { geometry.row_planes } else { 1 };
    let policy = Admit::new(config.admit, &Setup { dies: geometry.dies, seed: ftl.seed() });
    let timers = [alarms.0..alarms.0 + ALARMS, first..first + BackEnd::timers(geometry)];
    let as_task = config.preemption.as_task();
    let shared = as_task.filter(|_| ftl.allocation().chooses_die() && ftl.shares_block());
    Admission {
        searches: DieSearches::of(ftl.allocation(), as_task.is_some()),
        control: AdmissionControl::new(
            DieWindows::new(config.admit.slots(), geometry.dies),
            policy,
            config.admit.distinguishes_tasks(),
        ),
        shares: TaskShares::new(alarms.timer(Alarm::Shares), timers),
        reservations: PageReservations::new(
            Space::new(geometry, writes_per_page),
            shared.map(|task| SharedSpace::new(ftl, task.victims)),
        ),
    }
}
