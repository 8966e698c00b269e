//! Do orders choose as their pages say, including the example of docs/policies.md?

use super::example;
use super::{Class, Heads, Order, OrderConfig, OrderPolicy, OrderView, fifo, priority};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use crate::run::config::RunConfig;
use crate::sim::index::{PlaneId, TxnId};
use crate::tasks::view::{FixedDie, Waiting};

fn drive() -> (RunConfig, Geometry, Timing) {
    let text = r#"
        capacity = { over_provisioning = 0.5 }
        timing = { read = "50 us", program = "500 us", erase = "3 ms", channel = "100 MB/s" }
        [geometry]
        channels = 1
        chips_per_channel = 1
        dies_per_chip = 1
        planes_per_die = 2
        blocks_per_plane = 8
        pages_per_block = 4
        page_size = "4 KiB"
    "#;
    let config: RunConfig = crate::config::from_toml(text).expect("a configuration");
    let geometry = Geometry::new(&config.device());
    let timing = Timing::new(&config.timing, geometry.unit_bytes, geometry.units_per_page);
    (config, geometry, timing)
}

/// A die at 10 ms with waiting requests that arrived at these times, urgent or not, and this many free blocks in each
/// plane.
fn die(requests: &[(Class, u64, bool)], free_blocks: [u32; 2]) -> FixedDie {
    let waiting = |(at, &(class, arrival_ns, is_urgent)): (usize, &(Class, u64, bool))| {
        (class, Waiting { came: at as u64, arrival_ns, units: 1, is_urgent, plane: PlaneId(0) })
    };
    let requests = requests.iter().enumerate().map(waiting).collect();
    FixedDie { now_ns: 10_000_000, geometry: drive().1, requests, free_blocks: free_blocks.to_vec(), work_left: None }
}

/// The classes that may run: a job with its arrival, if any, and the first request of each class.
fn heads(die: &FixedDie, job: Option<u64>) -> Heads {
    let mut heads =
        Heads { came: [job.unwrap_or(u64::MAX), u64::MAX, u64::MAX], txns: [TxnId::NONE; 3], waited_before: 0 };
    for class in [Class::Read, Class::Write] {
        if let Some(at) = die.requests.iter().position(|(of, _)| *of == class) {
            (heads.came[class as usize], heads.txns[class as usize]) = (at as u64, TxnId(at as u32));
        }
    }
    heads
}

/// The class that an order picks.
fn pick(order: &mut impl OrderPolicy, die: &FixedDie, job: Option<u64>) -> Option<Class> {
    order.pick(&OrderView { heads: &heads(die, job), die })
}

#[test]
fn the_example_takes_the_earliest_deadline_and_collects_while_none_is_near() {
    use Class::{Gc, Read, Write};
    let (_, geometry, timing) = drive();
    let mut policy = example::Policy::new(&example::Params::default(), &geometry, &timing);
    let mut picked = |requests: &[_], job, free| pick(&mut policy, &die(requests, free), job);
    const MS: u64 = 1_000_000;
    let rows = [
        // requests; job; free blocks of both planes: the class that is served
        (&[][..], None, [8, 8], None),
        (&[], Some(0), [8, 8], Some(Gc)),
        (&[(Write, 5 * MS, false), (Read, 10 * MS, false)], None, [8, 8], Some(Read)),
        (&[(Write, 5 * MS, true), (Read, 10 * MS, false)], None, [8, 8], Some(Write)),
        (&[(Write, 5 * MS, false)], Some(9), [8, 8], Some(Gc)),
        (&[(Write, 2 * MS, false)], Some(9), [8, 8], Some(Write)),
        (&[(Write, 2 * MS, false)], Some(9), [8, 2], Some(Gc)),
    ];
    for (requests, job, free, expected) in rows {
        assert_eq!(picked(requests, job, free), expected, "{requests:?} {job:?} {free:?}");
    }
}

#[test]
fn heads_are_described_when_they_may_run() {
    let die = die(&[(Class::Read, 3, true), (Class::Read, 4, false)], [8, 8]);
    let mut heads = heads(&die, Some(7));
    let view = OrderView { heads: &heads, die: &die };
    assert_eq!(view.head(Class::Read).map(|head| (head.arrival_ns, head.is_urgent)), Some((3, true)));
    assert_eq!((view.head(Class::Write), view.head(Class::Gc)), (None, None), "no write, and a job is no request");
    heads.came[Class::Read as usize] = u64::MAX;
    assert_eq!(OrderView { heads: &heads, die: &die }.head(Class::Read), None, "it may not run");
}

#[test]
fn registered_orders_choose_as_documented() {
    let (_, geometry, timing) = drive();
    let die = die(&[(Class::Write, 0, false), (Class::Read, 0, false)], [8, 8]);
    let picked = |config: &OrderConfig, job| pick(&mut Order::new(config, &geometry, &timing), &die, job);
    let fifo = OrderConfig::Fifo(fifo::Params {});
    assert_eq!([picked(&fifo, None), picked(&fifo, Some(5))], [Some(Class::Write); 2]);
    let gc_first = OrderConfig::Priority(priority::Params::default());
    assert_eq!([picked(&gc_first, None), picked(&gc_first, Some(5))], [Some(Class::Read), Some(Class::Gc)]);
    assert!(Order::new(&gc_first, &geometry, &timing).puts_gc_first());
    assert!(!Order::new(&fifo, &geometry, &timing).puts_gc_first());
}

/// Each order of classes, with and without a job, on a die with a waiting write, and on one with a waiting read, too.
#[test]
fn classes_go_in_the_order_that_the_name_says() {
    use super::priority::First;
    use Class::{Gc, Read, Write};
    let (_, geometry, timing) = drive();
    let (write, both) = (&[(Write, 0, false)][..], &[(Write, 0, false), (Read, 0, false)][..]);
    let rows = [
        // with a job: a write waits, a write and a read wait; without a job: the same
        (First::GcReadWrite, [Gc, Gc, Write, Read]),
        (First::ReadGcWrite, [Gc, Read, Write, Read]),
        (First::ReadWriteGc, [Write, Read, Write, Read]),
        // The job arrived last.
        (First::Read, [Write, Read, Write, Read]),
    ];
    for (first, expected) in rows {
        let config = OrderConfig::Priority(priority::Params { first, ..priority::Params::default() });
        let mut order = Order::new(&config, &geometry, &timing);
        let mut picked = |requests, job| pick(&mut order, &die(requests, [8, 8]), job);
        let seen = [picked(write, Some(9)), picked(both, Some(9)), picked(write, None), picked(both, None)];
        assert_eq!(seen, expected.map(Some), "{first:?}");
    }
    let as_they_came = OrderConfig::Priority(priority::Params { first: First::Read, ..priority::Params::default() });
    let mut order = Order::new(&as_they_came, &geometry, &timing);
    let mut picked = |requests, job| pick(&mut order, &die(requests, [8, 8]), Some(job));
    assert_eq!([picked(write, 0), picked(both, 0)], [Some(Gc), Some(Read)], "the job came first");
}
