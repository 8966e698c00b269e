//! Policies that the calling program supplies: do they decide, do they decide as built-in ones do, and is a wrong
//! answer named?

use crate::common::{pages, unchecked};
use copyback::dispatch::admit::shares::State;
use copyback::dispatch::admit::shares::plugin::{self as shares, Percent};
use copyback::dispatch::order::{self, OrderPolicy};
use copyback::flash::geometry::Geometry;
use copyback::ftl::blocks::Blocks;
use copyback::ftl::victim::plugin::Plugin;
use copyback::ftl::victim::{VictimPolicy, VictimView, greedy};
use copyback::observe::report::Outcome;
use copyback::run::policies::{Policies, PolicyMaker};
use copyback::run::{Options, RunError, precondition, simulate};
use copyback::sim::index::{BlockId, PlaneId};
use copyback::tasks::gc::preemption::{Candidate, PreemptionView, plugin as preemption};
use copyback::tasks::gc::trigger::plugin::{self as trigger, TriggerQuery};
use copyback::tasks::view::Class;
use copyback::workload::Op;
use std::sync::{Arc, Mutex};

/// `greedy` as a separate implementation.
#[derive(Clone)]
struct Greedy(greedy::Policy);

impl VictimPolicy for Greedy {
    fn on_close(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId) {
        self.0.on_close(blocks, plane, block);
    }
    fn on_invalidate(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId) {
        self.0.on_invalidate(blocks, plane, block);
    }
    fn on_take(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId) {
        self.0.on_take(blocks, plane, block);
    }
    fn pick(&mut self, view: VictimView<'_>) -> Option<BlockId> {
        self.0.pick(view)
    }
}

impl Plugin for Greedy {
    fn copied(&self) -> Box<dyn Plugin> {
        Box::new(self.clone())
    }
}

/// Names one block, whatever it is.
struct Always(u32);

impl VictimPolicy for Always {
    fn on_close(&mut self, _: &Blocks, _: PlaneId, _: BlockId) {}
    fn on_invalidate(&mut self, _: &Blocks, _: PlaneId, _: BlockId) {}
    fn on_take(&mut self, _: &Blocks, _: PlaneId, _: BlockId) {}
    fn pick(&mut self, _: VictimView<'_>) -> Option<BlockId> {
        Some(BlockId(self.0))
    }
}

impl Plugin for Always {
    fn copied(&self) -> Box<dyn Plugin> {
        Box::new(Self(self.0))
    }
}

/// One page after the other is overwritten, until blocks were collected.
fn overwritten(tables: &str) -> Result<Outcome, RunError> {
    overwritten_with(tables, &Policies::default())
}

/// The same with a supplied policy, whose table also has `keys`.
fn supplied(name: &str, maker: PolicyMaker, keys: &str) -> Result<Outcome, RunError> {
    let mut policies = Policies::default();
    let name = policies.add(name, &maker);
    overwritten_with(&format!("{} = {{ policy = \"plugin\", name = \"{name}\"{keys} }}", maker.axis()), &policies)
}

fn overwritten_with(tables: &str, policies: &Policies) -> Result<Outcome, RunError> {
    let requests: Vec<_> = (0..600).map(|i| pages(Op::Write, i * 300_000, i * 7 % 40, 1)).collect();
    let mut config = unchecked(tables);
    policies.supply(&mut config);
    let options = Options { check: true, ..Options::default() };
    simulate(&config, precondition(&config, 1)?, Box::new(requests.into_iter()), &options, &mut |_| {})
}

#[test]
fn a_supplied_victim_decides_as_the_same_policy_does() {
    let make = |geometry: &Geometry, seed| {
        Box::new(Greedy(greedy::Policy::new(&greedy::Params::default(), geometry, seed))) as Box<dyn Plugin>
    };
    let own = overwritten("victim = { policy = \"greedy\" }").expect("it runs");
    let handed = supplied("greedy-by-hand", PolicyMaker::Victim(Arc::new(make)), "").expect("it runs");
    assert!(own.report.gc.collections > 10, "there is something to decide");
    assert_eq!(format!("{:?}", own.report), format!("{:?}", handed.report));
}

#[test]
fn a_wrong_victim_is_named() {
    for (name, block, what) in [
        ("far", 99, "picked block 99, and the drive has 32"),
        ("erased", 15, "picked block 15 of plane 0, which is erased"),
        ("elsewhere", 16, "picked block 16 of plane 1, and was asked for plane 0"),
    ] {
        let make = move |_: &Geometry, _| Box::new(Always(block)) as Box<dyn Plugin>;
        let error = supplied(name, PolicyMaker::Victim(Arc::new(make)), "").expect_err("it does not run").to_string();
        assert_eq!(error, format!("`victim` plugin `{name}` {what}"));
    }
}

#[test]
fn a_plugin_that_is_not_supplied_is_refused() {
    for axis in ["victim", "order", "trigger", "preemption", "allocation"] {
        let error = unchecked(&format!("{axis} = {{ policy = \"plugin\", name = \"nobody\" }}")).check();
        assert_eq!(
            error.err().map(|error| error.to_string()),
            Some(format!("`{axis}.name`: there is no plugin `nobody`"))
        );
    }
}

/// Collections go last, whatever waits.
struct GcLast;

impl OrderPolicy for GcLast {
    fn pick(&mut self, view: &order::OrderView<'_>) -> Option<Class> {
        [Class::Read, Class::Write, Class::Gc].into_iter().find(|&class| view.may_run(class))
    }
}

/// Names what may not run.
struct ReadsOnly;

impl OrderPolicy for ReadsOnly {
    fn pick(&mut self, _: &order::OrderView<'_>) -> Option<Class> {
        Some(Class::Read)
    }
}

#[test]
fn a_supplied_order_decides_and_is_checked() {
    let last = |_: &Geometry| Box::new(GcLast) as Box<dyn OrderPolicy + Send>;
    let own = overwritten("order = { policy = \"priority\", first = \"read-write-gc\" }").expect("it runs");
    let handed = supplied("gc-last", PolicyMaker::Order(Arc::new(last)), "").expect("it runs");
    assert_eq!(format!("{:?}", own.report), format!("{:?}", handed.report));
    let reads = |_: &Geometry| Box::new(ReadsOnly) as Box<dyn OrderPolicy + Send>;
    let error = supplied("reads", PolicyMaker::Order(Arc::new(reads)), "");
    let message = error.expect_err("it does not run").to_string();
    assert_eq!(message, "`order` plugin `reads` picked Read where Write may run");
}

/// Requests a collection if fewer blocks are free than this.
struct Below(u32);

impl trigger::Plugin for Below {
    fn wants(&self, query: &TriggerQuery<'_>) -> bool {
        assert_eq!(query.free, query.drive.free_blocks(PlaneId(query.plane_offset.expect("planes are the scope"))));
        query.free < self.0
    }
}

#[test]
fn a_supplied_trigger_decides() {
    let make = |_: &Geometry| Box::new(Below(4)) as Box<dyn trigger::Plugin>;
    let own = overwritten("trigger = { policy = \"watermark\", soft = 4 }").expect("it runs");
    // Preconditioning and checks still use the watermark's parameters.
    let handed = supplied("below-4", PolicyMaker::Trigger(Arc::new(make)), ", soft = 2").expect("it runs");
    assert_eq!(own.report.gc.collections, handed.report.gc.collections);
    let lower = overwritten("trigger = { policy = \"watermark\", soft = 2 }").expect("it runs");
    assert!(lower.report.gc.collections < handed.report.gc.collections, "watermarks alone would say something else");
}

/// Part of a per cent that is exact in binary.
const STEP: f64 = 1.0 / 64.0;

/// Gives collection a step more at each update, and keeps the shares that it was called with.
struct Rising(Arc<Mutex<Vec<Percent>>>);

impl shares::Plugin for Rising {
    fn update(&mut self, _: &State, before: Percent) -> Percent {
        self.0.lock().expect("one thread").push(before);
        Percent { gc: before.gc + STEP, ..before }
    }
}

/// The first update receives the shares that were set, each later one those of the update before it.
#[test]
fn supplied_shares_receive_the_shares_in_force() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let own = Arc::clone(&seen);
    let make = move || Box::new(Rising(Arc::clone(&own))) as Box<dyn shares::Plugin>;
    let mut policies = Policies::default();
    let name = policies.add("rising", &PolicyMaker::Shares(Arc::new(make)));
    let shares = format!("{{ policy = \"plugin\", name = \"{name}\", gc = 30, scrub = 7 }}");
    let tables = format!(
        "admit = {{ policy = \"debit\", shares = {shares} }}
         preemption = {{ policy = \"always\" }}
         trigger = {{ policy = \"watermark\", soft = 4 }}"
    );
    overwritten_with(&tables, &policies).expect("it runs");
    let seen = seen.lock().expect("one thread");
    assert!(seen.len() > 5, "{} updates", seen.len());
    let expected = (0..seen.len()).map(|at| Percent { gc: 30.0 + STEP * at as f64, scrub: 7.0 });
    assert!(seen.iter().copied().eq(expected), "{seen:?}");
}

/// Lets all requests preempt that the points admit, or none.
struct All(bool);

impl preemption::Plugin for All {
    fn admits(&self, _: &PreemptionView<'_>, _: Candidate) -> bool {
        self.0
    }
}

#[test]
fn a_supplied_preemption_decides_among_requests_that_points_admit() {
    let points = overwritten("preemption = { policy = \"points\" }").expect("it runs");
    let handed = |name: &str, admits: bool| {
        let make = move |_: &Geometry| Box::new(All(admits)) as Box<dyn preemption::Plugin>;
        supplied(name, PolicyMaker::Preemption(Arc::new(make)), "").expect("it runs")
    };
    let (all, none) = (handed("all", true), handed("none", false));
    assert!(points.report.flash.preemptions > 0, "requests preempt");
    assert_eq!(format!("{:?}", points.report), format!("{:?}", all.report));
    assert_eq!(none.report.flash.preemptions, 0);
}
