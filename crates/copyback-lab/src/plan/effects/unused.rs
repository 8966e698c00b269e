//! Settings that only some policies of other axes use.

use copyback::array::{ArrayConfig, RaidLevel};
use copyback::dispatch::admit::debit::MapTask;
use copyback::dispatch::admit::{AdmitConfig, shares::SharesConfig};
use copyback::dispatch::compose::{BuilderName, GcBuilderName};
use copyback::flash::command::Source;
use copyback::flash::geometry::Geometry;
use copyback::ftl::victim::VictimConfig;
use copyback::host::config::Target;
use copyback::run::config::RunConfig;
use copyback::run::precondition::PreconditionConfig;
use copyback::tasks::gc::granularity::{GranularityConfig, GranularityPolicy};
use copyback::tasks::gc::preemption::PreemptionConfig;
use copyback::tasks::gc::preemption::points::{AtRegister, Serves};
use copyback::tasks::gc::preemption::suspend::Suspends;
use copyback::tasks::gc::trigger::{Scope, TriggerConfig};
use copyback_workload::units::format_duration_ns;

/// Settings and the reason why a run does not use them.
pub(super) struct UnusedSetting {
    /// Keys, or a table with a dot at its end (`trigger.`): all of its keys except `policy`.
    pub keys: &'static [&'static str],
    /// Why no component uses them; `None` if one does.
    pub why: fn(&RunConfig) -> Option<String>,
}

impl UnusedSetting {
    /// Whether a key is one of these.
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|own| *own == key || (own.ends_with('.') && key.starts_with(own)))
    }
}

/// All of them.
pub(super) const UNUSED_SETTINGS: &[UnusedSetting] = &[
    UnusedSetting { keys: &["trigger.", "victim."], why: why_with_log_blocks },
    UnusedSetting { keys: &["trigger.hard"], why: why_without_preemption },
    UnusedSetting { keys: &["trigger.collections"], why: why_with_coordinator },
    UnusedSetting { keys: &["trigger.count"], why: why_with_one_open_block },
    UnusedSetting { keys: &["trigger.report", "trigger.last_resort"], why: why_without_coordinator },
    UnusedSetting { keys: &["trigger.stagger"], why: why_with_one_plane },
    UnusedSetting { keys: &["preemption.at_hard"], why: why_without_hard_watermark },
    UnusedSetting {
        keys: &["commands.suspend.", "preemption.suspends", "preemption.min_left"],
        why: why_without_suspensions,
    },
    UnusedSetting { keys: &["compose.align"], why: why_without_planes_to_align },
    UnusedSetting { keys: &["compose.gc_scan"], why: why_without_partners_of_reads },
    UnusedSetting { keys: &["compose.gc_transfers"], why: why_without_pages_of_partners },
    UnusedSetting { keys: &["compose.gc_scan_max"], why: why_without_partners_of_collections },
    UnusedSetting {
        keys: &["timing.cache_busy", "commands.cache_read", "commands.cache_program"],
        why: why_without_cache_commands,
    },
    UnusedSetting { keys: &["commands.copyback"], why: why_without_copyback },
    UnusedSetting { keys: &["commands.multi_plane"], why: why_without_multi_plane_commands },
    UnusedSetting { keys: &["commands.same_block"], why: why_without_plane_rules },
    UnusedSetting { keys: &["commands.plane_pairs"], why: why_without_plane_pairs },
    UnusedSetting { keys: &["admit.map", "admit.shares.map"], why: why_without_map_share },
    UnusedSetting {
        keys: &["admit.scrub", "admit.shares.scrub", "admit.shares.scrub_p", "admit.shares.scrub_i"],
        why: |run| why_without_task(run, Source::SCRUB, "scrub"),
    },
    UnusedSetting {
        keys: &["admit.wear", "admit.shares.wear"],
        why: |run| why_without_task(run, Source::WEAR, "wear"),
    },
    UnusedSetting {
        keys: &["tasks.delays.gc"],
        why: |run| why_without_task_requests(run, "each collection reserves its"),
    },
    UnusedSetting {
        keys: &["tasks.delays.scrub"],
        why: |run| {
            why_without_task(run, Source::SCRUB, "scrub")
                .or_else(|| why_without_task_requests(run, "scrubbing reserves its"))
        },
    },
    UnusedSetting {
        keys: &["tasks.delays.wear"],
        why: |run| {
            why_without_task(run, Source::WEAR, "wear")
                .or_else(|| why_without_task_requests(run, "wear levelling reserves its"))
        },
    },
    UnusedSetting { keys: &["precondition.steady"], why: why_with_counted_overwrites },
    UnusedSetting { keys: &["precondition.footprint"], why: why_without_overwrites },
    UnusedSetting { keys: &["order."], why: why_with_timeless_collections },
    UnusedSetting { keys: &["frontier.fill_ends"], why: why_with_buffer },
    UnusedSetting { keys: &["frontier.fill_awaited"], why: why_without_map_pages },
    UnusedSetting { keys: &["granularity.gather"], why: why_with_superpages },
    UnusedSetting { keys: &["granularity.destination"], why: why_with_timeless_moves },
    UnusedSetting { keys: &["granularity.copyback"], why: why_without_timed_moves },
    UnusedSetting { keys: &["granularity.pairs", "granularity.partner"], why: why_without_pairs },
    UnusedSetting { keys: &["array.partial", "array.write_after"], why: why_without_parity },
    UnusedSetting {
        keys: &["array.stripe_unit"],
        why: |run| why_without_volume(run).or_else(|| why_with_undivided_drive(run)),
    },
    UnusedSetting { keys: &["array.seeds"], why: why_without_other_drives },
    UnusedSetting { keys: &["coordination.scope", "coordination.pause_on"], why: why_with_one_drive },
];

fn if_so(is_so: bool, why: impl Into<String>) -> Option<String> {
    is_so.then(|| why.into())
}

fn why_with_log_blocks(run: &RunConfig) -> Option<String> {
    let why = "merges of log blocks (`mapping.policy = \"fast\"`) have their own rules of starting and of selecting \
               blocks";
    if_so(run.mapping.log_blocks().is_some(), why)
}

fn why_without_preemption(run: &RunConfig) -> Option<String> {
    let policy = run.preemption.name();
    let why = format!(
        "below it the host no longer preempts collections, and under `preemption.policy = \"{policy}\"` it \
         never does"
    );
    if_so(!run.preemption.lets_host_first(), why)
}

fn why_without_coordinator(run: &RunConfig) -> Option<String> {
    let policy = run.coordination.name();
    let why = format!("only coordinated drives use it, and `coordination.policy = \"{policy}\"` coordinates none");
    if_so(run.coordination.common().is_none(), why)
}

fn why_with_coordinator(run: &RunConfig) -> Option<String> {
    let policy = run.coordination.name();
    let why =
        format!("the coordinator decides which collection follows another (`coordination.policy = \"{policy}\"`)");
    if_so(run.coordination.common().is_some(), why)
}

/// A block is opened when its first page is written. With one open block, the free pages are therefore below those of n
/// blocks exactly if fewer than n blocks are free.
fn why_with_one_open_block(run: &RunConfig) -> Option<String> {
    let TriggerConfig::Watermark(params) = &run.trigger else { return None };
    let is_of_plane = match params.scope {
        Scope::Plane => true,
        Scope::Die => run.shape().planes_per_die == 1,
        Scope::Device => false,
    };
    let has_one = run.frontier.open_blocks() == 1 && !run.frontier.opens_twins();
    // Shares by feedback may depend on how far the watermarks are.
    let is_watermark_alone = !matches!(run.admit, AdmitConfig::Debit(_));
    let why = "a plane has one open block, so that its free pages fall below a watermark when its free blocks do";
    if_so(is_of_plane && has_one && is_watermark_alone, why)
}

fn why_with_one_plane(run: &RunConfig) -> Option<String> {
    if_so(run.shape().planes_per_die == 1, "the planes of a die are written together, or the die has only one")
}

fn why_without_hard_watermark(run: &RunConfig) -> Option<String> {
    if_so(!run.trigger.has_hard_watermark(), "there is no hard watermark: `trigger.hard` is 0")
}

/// An operation is suspended if more time is left than the device needs to suspend it.
fn why_without_suspensions(run: &RunConfig) -> Option<String> {
    let (PreemptionConfig::Suspend(params), Some(device)) = (&run.preemption, run.commands.suspend) else {
        return None;
    };
    let erase_ns = [run.timing.erase.0].into_iter().filter(|_| device.erase && params.suspends != Suspends::Programs);
    let program_ns = run.timing.program.list().into_iter();
    let program_ns = program_ns.filter(|_| device.program && params.suspends != Suspends::Erases);
    let longest_ns = erase_ns.chain(program_ns).max()?;
    let why = format!(
        "no read suspends an operation: each one ends within `commands.suspend.latency` = {}, before the die could \
         take a read",
        format_duration_ns(device.latency.0)
    );
    if longest_ns > device.latency.0 && longest_ns <= params.min_left.0 {
        let why = "no read suspends an operation: each one ends sooner than `preemption.min_left`";
        return Some(why.to_owned());
    }
    if_so(longest_ns <= device.latency.0, why)
}

fn why_without_planes_to_align(run: &RunConfig) -> Option<String> {
    if_so(run.geometry.planes_per_die == 1, "a die has one plane, which has nothing to align with")
}

fn why_without_partners_of_reads(run: &RunConfig) -> Option<String> {
    let why = "only `gc+host` looks for partners of a collection's reads, and `compose.gc` does not list it";
    if_so(!has(run, GcBuilderName::GcHost), why)
}

fn why_without_pages_of_partners(run: &RunConfig) -> Option<String> {
    let policy = run.preemption.name();
    let at_points = format!(
        "pages of reads that joined are transferred at the preemption points between the read and the program of a \
         page (`preemption.policy = \"{policy}\"`)"
    );
    let elsewhere = "programs of collections may go to other dies (`granularity.destination = \"global\"`)";
    why_without_partners_of_reads(run)
        .or_else(|| if_so(run.preemption.lets_host_first(), at_points))
        .or_else(|| if_so(run.granularity.build().leaves_plane(), elsewhere))
}

fn why_without_partners_of_collections(run: &RunConfig) -> Option<String> {
    let selects = match &run.preemption {
        // If every waiting read may preempt, the first one does: none behind it is looked at.
        PreemptionConfig::Points(points) => points.at_register != AtRegister::None || points.serves != Serves::Reads,
        other => other.lets_host_first(),
    };
    let is_used = [GcBuilderName::GcHost, GcBuilderName::Merge].into_iter().any(|builder| has(run, builder))
        || selects
        || matches!(run.victim, VictimConfig::ReadMatch(_));
    let why = "no collection looks beyond the first request that waits. Only these settings look further: `gc+host` or \
               `merge` in `compose.gc`, preemption points that exclude requests of a plane (`preemption.at_register`) \
               or serve writes (`preemption.serves = \"all\"`), and `victim.policy = \"read-match\"`";
    if_so(!is_used, why)
}

fn why_without_cache_commands(run: &RunConfig) -> Option<String> {
    let is_used = builds(run, BuilderName::Cache) || has(run, GcBuilderName::Pipeline);
    if_so(
        !is_used,
        "no builder uses the cache register: `cache` in `compose.builders` and `pipeline` in `compose.gc` do",
    )
}

fn why_without_copyback(run: &RunConfig) -> Option<String> {
    let why = "no collection moves pages by copyback: `granularity.copyback = true` does";
    if_so(!run.granularity.build().copies_back(), why)
}

fn why_without_multi_plane_commands(run: &RunConfig) -> Option<String> {
    if run.geometry.planes_per_die == 1 {
        return Some("a die has one plane".to_owned());
    }
    let collects_several = matches!(run.granularity, GranularityConfig::Twin(_) | GranularityConfig::Paired(_));
    let is_used = builds(run, BuilderName::MultiPlane)
        || has(run, GcBuilderName::GcHost)
        || run.frontier.is_in_rows()
        || collects_several
        || matches!(run.victim, VictimConfig::ReadMatch(_));
    if_so(
        !is_used,
        "no command names several planes: `multi-plane` in `compose.builders` does, and `gc+host` in `compose.gc`",
    )
}

fn why_without_plane_rules(run: &RunConfig) -> Option<String> {
    let why = "the device has no multi-plane commands (`commands.multi_plane = false`)";
    if_so(!run.commands.multi_plane, why).or_else(|| why_without_multi_plane_commands(run))
}

fn why_without_plane_pairs(run: &RunConfig) -> Option<String> {
    let why = "the two planes of a die are a pair";
    why_without_plane_rules(run).or(if_so(run.geometry.planes_per_die == 2, why))
}

fn why_without_map_share(run: &RunConfig) -> Option<String> {
    if run.mapping.cache().is_none() {
        let policy = run.mapping.name();
        return Some(format!("the map needs no requests: `mapping.policy = \"{policy}\"` keeps all of it in DRAM"));
    }
    let AdmitConfig::Debit(params) = &run.admit else { return None };
    let is_setting_of_shares = !matches!(params.shares, SharesConfig::Plugin(_));
    let why = "requests of the map count against the task that caused them: `admit.map = \"own\"` gives them a share";
    if_so(is_setting_of_shares && params.map == MapTask::Cause, why)
}

fn why_without_task(run: &RunConfig, source: Source, name: &str) -> Option<String> {
    let is_on = run.tasks.on().any(|(_, own)| own.account() == source.account());
    if_so(!is_on, format!("this task is off: `[tasks.{name}]` switches it on"))
}

/// Why background work has no requests: it reserves its dies. `reserves`: the subject and the verb of the reason.
fn why_without_task_requests(run: &RunConfig, reserves: &str) -> Option<String> {
    let has_requests = run.preemption.as_task().is_some() || why_without_map_share(run).is_none();
    let why = format!("{reserves} die and makes no requests; it does under `preemption.policy = \"always\"`");
    if_so(!has_requests, why)
}

fn why_with_counted_overwrites(run: &RunConfig) -> Option<String> {
    let is_counted = matches!(run.precondition, PreconditionConfig::Random { overwrites: Some(_), .. });
    if_so(is_counted, "`precondition.overwrites` says when the overwrites end")
}

fn why_without_overwrites(run: &RunConfig) -> Option<String> {
    let has_none = matches!(run.precondition, PreconditionConfig::Random { overwrites: Some(0.0), .. });
    if_so(has_none, "`precondition.overwrites = 0`: no unit is overwritten")
}

fn why_with_timeless_collections(run: &RunConfig) -> Option<String> {
    let why = "collections that take no time (`preemption.policy = \"ideal\"`) wait for nothing, and reads go before \
               writes in each order";
    if_so(run.preemption.is_timeless() && run.order.name() == "priority" && run.tasks.on().next().is_none(), why)
}

fn why_with_buffer(run: &RunConfig) -> Option<String> {
    let policy = run.buffer.name();
    if_so(policy != "none", format!("writes end in the buffer (`buffer.policy = \"{policy}\"`)"))
}

fn why_without_map_pages(run: &RunConfig) -> Option<String> {
    let policy = run.mapping.name();
    let why = format!("no page of the map is written to flash under `mapping.policy = \"{policy}\"`");
    if_so(run.mapping.cache().is_none(), why)
}

fn why_with_superpages(run: &RunConfig) -> Option<String> {
    let why = "each row holds one superpage, whose pages are valid together";
    if_so(run.mapping.has_superpages(), why)
}

fn why_with_timeless_moves(run: &RunConfig) -> Option<String> {
    let policy = run.preemption.name();
    let why = format!(
        "collections that take no time (`preemption.policy = \"{policy}\"`) move data within its plane, without commands"
    );
    if_so(run.preemption.is_timeless(), why)
}

fn why_without_pairs(run: &RunConfig) -> Option<String> {
    let policy = run.preemption.name();
    let timeless = format!("collections that take no time (`preemption.policy = \"{policy}\"`) collect single blocks");
    if_so(run.geometry.planes_per_die == 1, "a die has one plane, and no pairs")
        .or_else(|| if_so(run.preemption.is_timeless(), timeless))
        .or_else(|| if_so(!run.commands.multi_plane, "the device has no multi-plane commands, which collect pairs"))
}

/// Tasks relocate blocks with commands, even if collections take no time.
fn why_without_timed_moves(run: &RunConfig) -> Option<String> {
    why_with_timeless_moves(run).filter(|_| run.tasks.on().next().is_none())
}

fn why_without_parity(run: &RunConfig) -> Option<String> {
    let level = run.array.as_ref()?.level;
    let why = format!("{} has no parity that a write of a part of a stripe must keep", level.name());
    if_so(matches!(level, RaidLevel::Raid0 | RaidLevel::Raid1 | RaidLevel::Raid10), why)
}

fn why_without_volume(run: &RunConfig) -> Option<String> {
    let why = "requests address drives (`host.target = \"drive\"`), and there is no volume";
    if_so(run.array.is_some() && run.host.target == Target::Drive, why)
}

/// Stripe units of one drive only round its capacity down.
fn why_with_undivided_drive(run: &RunConfig) -> Option<String> {
    let array = run.array.as_ref().filter(|array| array.drives == 1 && array.overrides.is_empty())?;
    let (unit_bytes, drive_bytes) = (run.geometry.unit_bytes(), Geometry::new(&run.device()).logical_bytes());
    let usual = ArrayConfig { stripe_unit: None, ..array.clone() };
    let [own, usual] = [array, &usual].map(|array| drive_bytes - drive_bytes % array.stripe_unit_bytes(unit_bytes));
    if_so(own == usual, "the array has one drive, and this unit does not change its capacity")
}

fn why_without_other_drives(run: &RunConfig) -> Option<String> {
    let array = run.array.as_ref()?;
    if_so(array.drives == 1, "there is no other drive whose history could be the same")
}

fn why_with_one_drive(run: &RunConfig) -> Option<String> {
    let drives = run.array.as_ref().map_or(1, |array| array.drives);
    if_so(drives == 1, "there is one drive: only its own elements are coordinated")
}

/// Whether a collection's commands have a builder.
fn has(run: &RunConfig, builder: GcBuilderName) -> bool {
    run.compose.gc_builders().contains(&builder)
}

/// Whether the host's commands have a builder.
fn builds(run: &RunConfig, builder: BuilderName) -> bool {
    run.compose.builders().contains(&builder)
}
