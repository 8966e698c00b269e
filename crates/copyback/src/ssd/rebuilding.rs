//! Are reads of a chip that collects rebuilt as timeline A6 of atc18 has it, to the nanosecond?
//!
//! Four channels of one chip each, pages of 16 KiB, times of atc18's Table 1. Group 0 of the stripes has its data on
//! channels 0, 1 and 2, and its parity on channel 3.

use super::alarms::{ALARMS, Alarm, Alarms, Timers};
use super::drive::Drive;
use crate::dispatch::txn::{Role, Txn};
use crate::flash::command::Source;
use crate::run::config::RunConfig;
use crate::run::preconditioning::preconditioned;
use crate::sim::index::{BlockId, DieId, LogicalUnit, PlaneId};
use crate::sim::queue::EventQueue;

const READ_NS: u64 = 60_240;
const PROGRAM_NS: u64 = 540_960;
const ERASE_NS: u64 = 5_000_000;
/// A unit of the third page of group 0, which is on channel 2.
const UNIT: LogicalUnit = LogicalUnit(8);

/// A drive of which the chip of channel 2 has just begun an erase.
fn erasing(redundancy: &str) -> (Drive, EventQueue) {
    let text = format!(
        r#"
        preemption = {{ policy = "always" }}
        allocation = {{ policy = "dynamic" }}
        order = {{ policy = "fifo" }}
        compose = {{ policy = "list", builders = [] }}
        frontier = {{ policy = "single", fill_limit = "1 ms" }}
        trigger = {{ policy = "watermark", soft = 1 }}
        capacity = {{ over_provisioning = 2.0 }}
        timing = {{ read = "50 us", program = "500 us", erase = "5 ms", channel = "400 MB/s" }}
        precondition = {{ mode = "empty" }}
        admit = {{ policy = "strict" }}
        redundancy = {{ {redundancy} }}
        [geometry]
        channels = 4
        chips_per_channel = 1
        dies_per_chip = 1
        planes_per_die = 1
        blocks_per_plane = 16
        pages_per_block = 8
        page_size = "16 KiB"
        mapping_unit = "4 KiB"
        "#
    );
    let config: RunConfig = toml::from_str(&text).expect("a configuration");
    config.check().expect("the configuration is possible");
    let mut ftl = preconditioned(&config, 1).expect("an empty drive");
    // A block of channel 2 that holds nothing any more, and group 0 where its stripes have it.
    let page = |first: u32| -> Vec<LogicalUnit> { (first..first + 4).map(LogicalUnit).collect() };
    for _ in 0..9 {
        ftl.write_page(PlaneId(2), &page(4 * 14), 0);
    }
    let block = BlockId(2 * config.geometry.blocks_per_plane);
    assert_eq!(ftl.blocks()[block].valid, 0);
    for plane in 0..3 {
        ftl.write_page(PlaneId(plane), &page(4 * plane), 0);
    }
    if let Some(stripes) = ftl.geometry.stripes {
        let parity: Vec<_> = stripes.parity_of_group(UNIT).collect();
        ftl.write_page(PlaneId(3), &parity, 0);
    }
    let timers = Timers { alarms: Alarms(0), first: ALARMS };
    let mut events = EventQueue::new((ALARMS + Drive::timers(&ftl.geometry)) as usize);
    let mut drive = Drive::new(&config.drive(), ftl, timers, true, false);
    drive.begin_relocation(block, Source::Gc, &mut events);
    drive.dispatch_ready(&mut events);
    (drive, events)
}

/// When a transaction of the host ends that is handed over now.
fn end_of(drive: &mut Drive, events: &mut EventQueue, txn: Txn) -> u64 {
    let id = drive.add_txn(txn);
    drive.submit(id, events);
    drive.dispatch_ready(events);
    loop {
        let (now_ns, timer) = events.pop().expect("the request ends");
        match timer.0.checked_sub(ALARMS) {
            Some(local) => drop(drive.on_event(local, events)),
            None => drive.on_alarm(Alarm::at(timer.0), events),
        }
        drive.dispatch_ready(events);
        while let Some(ended) = drive.take_done() {
            if ended == id {
                return now_ns;
            }
        }
    }
}

fn read() -> Txn {
    Txn::new(Role::Read, UNIT, 1, DieId(2), PlaneId::NONE)
}

#[test]
fn a_read_waits_for_the_erase_where_nothing_is_rebuilt() {
    for redundancy in ["policy = \"none\"", "policy = \"rain\", rebuild = \"never\""] {
        let (mut drive, mut events) = erasing(redundancy);
        assert_eq!(end_of(&mut drive, &mut events, read()), ERASE_NS + READ_NS, "{redundancy}");
    }
}

#[test]
fn a_read_is_rebuilt_from_three_chips() {
    let (mut drive, mut events) = erasing("policy = \"rain\"");
    assert_eq!(end_of(&mut drive, &mut events, read()), READ_NS);
    let totals = drive.parity_totals().expect("there is parity");
    assert_eq!((totals.rebuilt, totals.rebuild_reads), (1, 3));
}

/// The paper's "blocked again".
#[test]
fn a_read_that_is_rebuilt_waits_for_a_program_of_the_host() {
    let (mut drive, mut events) = erasing("policy = \"rain\"");
    // A whole page of channel 0.
    let write = drive.add_txn(Txn::new(Role::Write, LogicalUnit(16), 4, DieId::NONE, PlaneId::NONE));
    drive.send_write(write, &mut events);
    drive.dispatch_ready(&mut events);
    assert_eq!(end_of(&mut drive, &mut events, read()), PROGRAM_NS + READ_NS);
}

/// As long as parity of the stripe is on its way, the rest of it does not give the data.
#[test]
fn nothing_is_rebuilt_while_parity_is_on_its_way() {
    let (mut drive, mut events) = erasing("policy = \"rain\"");
    let request = [UNIT.0 - 4, UNIT.0 - 3];
    let sub_request = crate::host::splitter::SubRequest {
        first: LogicalUnit(request[0]),
        units: 1,
        first_is_partial: false,
        last_is_partial: false,
        request,
    };
    drive.write_parity(&sub_request, &mut events);
    assert_eq!(end_of(&mut drive, &mut events, read()), ERASE_NS + READ_NS);
}
