//! Are reads of a collecting chip rebuilt as in timeline A6 (see `dispatching`), to the nanosecond?
//!
//! Four channels of one chip each, pages of 16 KiB, times of atc18's Table 1. Group 0 of the stripes has its data on
//! channels 0, 1 and 2, and its parity on channel 3.

use crate::dispatch::txn::{Role, Txn};
use crate::flash::command::{FlashOp, Source};
use crate::ftl::core::Ftl;
use crate::observe::commands::CommandFilter;
use crate::run::config::RunConfig;
use crate::run::preconditioning::preconditioned;
use crate::sim::index::{BlockId, ChannelId, DieId, LogicalUnit, PlaneId};
use crate::sim::queue::{EventQueue, kind};
use crate::ssd::alarms::{ALARMS, Alarm, Alarms, Timers};
use crate::ssd::back_end::BackEnd;

const READ_NS: u64 = 60_240;
const PROGRAM_NS: u64 = 540_960;
const ERASE_NS: u64 = 5_000_000;
/// A unit of the third page of group 0, which is on channel 2.
const UNIT: LogicalUnit = LogicalUnit(8);

/// A drive whose chip of channel 2 has just begun an erase.
fn erasing(redundancy: &str) -> (BackEnd, EventQueue) {
    at_work(redundancy, erase, write_group)
}

/// Units of a page of the host.
fn page(page: u32) -> Vec<LogicalUnit> {
    (4 * page..4 * page + 4).map(LogicalUnit).collect()
}

/// A block of channel 2 without valid data, so that its collection is only an erase.
fn erase(ftl: &mut Ftl) {
    for _ in 0..9 {
        ftl.write_page(PlaneId(2), &page(14), 0);
    }
}

/// A block of channel 2 with eight valid pages.
fn eight_pages(ftl: &mut Ftl) {
    let stripes = ftl.geometry.stripes;
    let is_of_chip =
        |page: &u32| stripes.is_none_or(|stripes| stripes.channel(LogicalUnit(4 * page)) == Some(ChannelId(2)));
    for number in (3..).filter(is_of_chip).take(8) {
        ftl.write_page(PlaneId(2), &page(number), 0);
    }
}

/// Group 0 at the places of its stripes.
fn write_group(ftl: &mut Ftl) {
    for plane in 0..3 {
        ftl.write_page(PlaneId(plane), &page(plane), 0);
    }
    if let Some(stripes) = ftl.geometry.stripes {
        let parity: Vec<_> = stripes.parity_of_group(UNIT).collect();
        ftl.write_page(PlaneId(3), &parity, 0);
    }
}

/// A drive that has just begun to collect the first block of channel 2. `first_block` has written this block, and then
/// `write` other data.
fn at_work(redundancy: &str, first_block: fn(&mut Ftl), write: fn(&mut Ftl)) -> (BackEnd, EventQueue) {
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
    let config: RunConfig = crate::config::from_toml(&text).expect("a configuration");
    config.check().expect("the configuration is possible");
    let mut ftl = preconditioned(&config, 1).expect("an empty drive");
    first_block(&mut ftl);
    let block = BlockId(2 * config.geometry.blocks_per_plane);
    write(&mut ftl);
    let timers = Timers { alarms: Alarms(0), first: ALARMS };
    let mut events = EventQueue::new((ALARMS + BackEnd::timers(&ftl.geometry)) as usize);
    let mut back_end = BackEnd::new(&config.back_end(), ftl, timers, true, false);
    back_end.keep_commands(0, CommandFilter::default());
    back_end.begin_relocation(block, Source::GC, &mut events);
    back_end.dispatch_ready(&mut events);
    (back_end, events)
}

/// Submits a transaction of the host, and returns the time at which it ends.
fn end_of(back_end: &mut BackEnd, events: &mut EventQueue, txn: Txn) -> u64 {
    let id = back_end.add_txn(txn);
    back_end.submit(id, events);
    back_end.dispatch_ready(events);
    loop {
        let (now_ns, timer) = events.pop().expect("the request ends");
        match timer.0.checked_sub(ALARMS) {
            Some(local) => drop(back_end.on_event::<{ kind::ANY }>(local, events)),
            None => back_end.on_alarm(Alarm::at(timer.0), events),
        }
        back_end.dispatch_ready(events);
        while let Some(ended) = back_end.take_done() {
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
        let (mut back_end, mut events) = erasing(redundancy);
        assert_eq!(end_of(&mut back_end, &mut events, read()), ERASE_NS + READ_NS, "{redundancy}");
    }
}

#[test]
fn a_read_is_rebuilt_from_three_chips() {
    let (mut back_end, mut events) = erasing("policy = \"rain\"");
    assert_eq!(end_of(&mut back_end, &mut events, read()), READ_NS);
    let totals = back_end.parity_totals().expect("there is parity");
    assert_eq!((totals.rebuilt, totals.rebuild_reads), (1, 3));
}

/// A window of four is full of a collection's reads of 90,960 ns each. A read that is rebuilt needs no slot, and ends
/// after 60,240. A read that is not rebuilt enters when the first of these reads has ended. It is served after the
/// other three, so that it ends after four times 90,960, plus 60,240.
#[test]
fn a_read_of_a_chip_whose_window_is_full_is_rebuilt_on_arrival() {
    const PAGE_READ_NS: u64 = 90_960;
    for (redundancy, expected_ns) in [
        ("policy = \"none\"", 4 * PAGE_READ_NS + READ_NS),
        ("policy = \"rain\", rebuild = \"never\"", 4 * PAGE_READ_NS + READ_NS),
        ("policy = \"rain\"", READ_NS),
    ] {
        let (mut back_end, mut events) = at_work(redundancy, eight_pages, write_group);
        let of_collection = back_end.admission.control.windows().debit(Source::GC);
        assert_eq!((of_collection, back_end.admission.control.has_room(DieId(2))), (4, false), "{redundancy}");
        assert_eq!(end_of(&mut back_end, &mut events, read()), expected_ns, "{redundancy}");
        if let Some(totals) = back_end.parity_totals().filter(|_| expected_ns == READ_NS) {
            assert_eq!((totals.rebuilt, totals.rebuild_reads, totals.not_rebuilt), (1, 3, 0));
        }
    }
}

/// Group 0 with each unit in a page of its own, except for the third data page, which is whole. Units 2 and 5 were
/// never written.
fn write_group_apart(ftl: &mut Ftl) {
    ftl.write_page(PlaneId(2), &page(2), 0);
    let parity: Vec<_> = ftl.geometry.stripes.expect("there is parity").parity_of_group(UNIT).collect();
    for (plane, units) in [(0, page(0)), (1, page(1)), (3, parity)] {
        for unit in units.into_iter().filter(|unit| ![2, 5].contains(&unit.0)) {
            ftl.write_page(PlaneId(plane), &[unit], 0);
        }
    }
}

/// Units 9 to 11 are rebuilt from the other members of their stripes, wherever each of those lies: units 1 and 3 of the
/// first page, 6 and 7 of the second, and the last three of parity, all of different pages; units 2 and 5, which would
/// be members, hold nothing. The chip of parity reads its three pages one after the other.
#[test]
fn a_read_of_several_units_is_rebuilt_from_the_members_of_each_stripe() {
    let (mut back_end, mut events) = at_work("policy = \"rain\"", erase, write_group_apart);
    let parity = back_end.geometry.logical_units;
    let mut expected: Vec<_> = [1, 3, 6, 7, parity + 1, parity + 2, parity + 3]
        .map(|unit| {
            let page = back_end.geometry.page_of(back_end.ftl.lookup(LogicalUnit(unit)));
            let (plane, pages_per_plane) = (back_end.geometry.plane_of_page(page), 16 * 8);
            let of_plane = page.0 - plane.0 * pages_per_plane;
            (plane.0, of_plane / 8, of_plane % 8)
        })
        .into();
    let txn = Txn::new(Role::Read, LogicalUnit(9), 3, DieId(2), PlaneId::NONE);
    assert_eq!(end_of(&mut back_end, &mut events, txn), 3 * READ_NS);
    let commands = back_end.take_commands();
    let reads = || commands.iter().filter(|command| command.op == FlashOp::Read);
    let mut read: Vec<_> = reads().flat_map(|c| &c.parts).map(|part| (part.plane, part.block, part.page)).collect();
    expected.sort_unstable();
    read.sort_unstable();
    assert_eq!(read, expected);
    assert!(reads().all(|command| command.end_ns() - command.array_ns().1 == 10_240), "each brings one unit");
}

/// The paper's "blocked again".
#[test]
fn a_read_that_is_rebuilt_waits_for_a_program_of_the_host() {
    let (mut back_end, mut events) = erasing("policy = \"rain\"");
    // A whole page of channel 0.
    let write = back_end.add_txn(Txn::new(Role::Write, LogicalUnit(16), 4, DieId::NONE, PlaneId::NONE));
    back_end.send_write(write, &mut events);
    back_end.dispatch_ready(&mut events);
    assert_eq!(end_of(&mut back_end, &mut events, read()), PROGRAM_NS + READ_NS);
}

/// As long as parity of the stripe is on its way, the rest of it does not give the data.
#[test]
fn nothing_is_rebuilt_while_parity_is_on_its_way() {
    let (mut back_end, mut events) = erasing("policy = \"rain\"");
    let request = [UNIT.0 - 4, UNIT.0 - 3];
    let sub_request = crate::host::splitter::SubRequest {
        first: LogicalUnit(request[0]),
        units: 1,
        first_is_partial: false,
        last_is_partial: false,
        request,
    };
    back_end.write_parity(&sub_request, &mut events);
    assert_eq!(end_of(&mut back_end, &mut events, read()), ERASE_NS + READ_NS);
}
