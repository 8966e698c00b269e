//! An isolated command, and a short sequence of commands, take exactly the sum of the times of their parts.
//!
//! Expected values are sums of the device's times, written out; see `common::config` for the times. Pages 0, 2, 4, …
//! are on plane 0 and 1, 3, 5, … on plane 1 of the one die, unless a test says otherwise.

use crate::common::*;
use copyback::workload::Op::{Read, Trim, Write};

const CACHED: &str = r#"compose = { policy = "list", builders = ["multi-plane", "cache"] }"#;
const SINGLE: &str = r#"compose = { policy = "list", builders = [] }"#;
const LATER: u64 = 1_000_000_000;

#[test]
fn an_isolated_program_is_its_cycles_its_transfer_and_its_array_time() {
    let outcome = run(&config(""), vec![pages(Write, 7, 0, 1)]);
    assert_eq!(responses(&outcome), [COMMAND_NS + TRANSFER_NS + PROGRAM_NS]);
    let parts = [("flash", PROGRAM_NS), ("transfer", COMMAND_NS + TRANSFER_NS)];
    assert_eq!(breakdown(&outcome.requests[0]), parts);
}

#[test]
fn an_isolated_read_is_its_cycles_its_array_time_and_its_transfer() {
    let outcome = run(&config(""), vec![pages(Write, 0, 0, 1), pages(Read, LATER, 0, 1)]);
    assert_eq!(responses(&outcome)[1], COMMAND_NS + READ_NS + TRANSFER_NS);
}

#[test]
fn a_read_of_what_was_never_written_or_was_trimmed_needs_no_flash() {
    let script = vec![pages(Read, 0, 5, 1), pages(Write, 0, 0, 1), pages(Trim, LATER, 0, 1), pages(Read, LATER, 0, 1)];
    let outcome = run(&config(""), script);
    assert_eq!([responses(&outcome)[0], responses(&outcome)[3]], [0, 0]);
    assert_eq!(outcome.report.unwritten_units_read, 2);
}

#[test]
fn a_two_plane_program_transfers_in_turn_and_programs_once() {
    let outcome = run(&config(""), vec![pages(Write, 0, 0, 2)]);
    assert_eq!(responses(&outcome), [2 * COMMAND_NS + 2 * TRANSFER_NS + PROGRAM_NS]);
    assert_eq!((outcome.report.flash.multi_plane_commands, outcome.report.flash.host_page_programs), (1, 2));
    // Requests that arrive together share commands: pages 0 and 1, then pages 2 and 3.
    let outcome = run(&config(""), (0..4).map(|page| pages(Write, 0, page, 1)).collect());
    let pair = 2 * COMMAND_NS + 2 * TRANSFER_NS + PROGRAM_NS;
    assert_eq!(responses(&outcome), [pair, pair, 2 * pair, 2 * pair]);
    let others = COMMAND_NS + TRANSFER_NS;
    let parts = [("flash", PROGRAM_NS), ("transfer", COMMAND_NS + TRANSFER_NS), ("channel", others), ("host_io", pair)];
    assert_eq!(breakdown(&outcome.requests[3]), parts);
}

#[test]
fn a_two_plane_read_senses_once_and_leaves_in_turn() {
    let outcome = run(&config(""), vec![pages(Write, 0, 0, 2), pages(Read, LATER, 0, 2)]);
    assert_eq!(responses(&outcome)[1], 2 * COMMAND_NS + READ_NS + 2 * TRANSFER_NS);
}

#[test]
fn without_multi_plane_commands_pages_follow_each_other() {
    let outcome = run(&config(SINGLE), vec![pages(Write, 0, 0, 2), pages(Read, LATER, 0, 2)]);
    assert_eq!(responses(&outcome)[0], 2 * (COMMAND_NS + TRANSFER_NS + PROGRAM_NS));
    assert_eq!(responses(&outcome)[1], 2 * (COMMAND_NS + READ_NS + TRANSFER_NS));
}

#[test]
fn cached_programs_overlap_transfers_with_array_times() {
    // Three pages of plane 0: the second and third are loaded while the one before is programmed.
    let script = [0, 2, 4].map(|p| pages(Write, 0, p, 1)).to_vec();
    let outcome = run(&config(CACHED), script.clone());
    let loaded = COMMAND_NS + TRANSFER_NS;
    assert_eq!(responses(&outcome), [loaded + PROGRAM_NS, loaded + 2 * PROGRAM_NS, loaded + 3 * PROGRAM_NS]);
    assert_eq!(outcome.report.flash.cached_commands, 2);
    let plain = run(&config(""), script);
    assert_eq!(responses(&plain)[2], 3 * (loaded + PROGRAM_NS));
}

#[test]
fn cached_reads_overlap_sensing_with_the_transfer_before() {
    let mut script = [0, 2, 4].map(|p| pages(Write, 0, p, 1)).to_vec();
    script.extend([0, 2, 4].map(|p| pages(Read, LATER, p, 1)));
    let outcome = run(&config(CACHED), script);
    let first = COMMAND_NS + READ_NS + TRANSFER_NS;
    // Sensing (50 µs) takes longer than leaving (41 µs), so each further page costs its sensing and its cycles.
    let next = COMMAND_NS + READ_NS;
    assert_eq!(responses(&outcome)[3..], [first, first + next, first + 2 * next]);
}

#[test]
fn lsb_and_msb_pages_take_their_own_times() {
    let config = config(r#"timing = { read = ["40 us", "60 us"], program = ["300 us", "900 us"] }"#);
    let mut script = vec![pages(Write, 0, 0, 1), pages(Write, LATER, 2, 1)];
    script.extend([pages(Read, 2 * LATER, 0, 1), pages(Read, 3 * LATER, 2, 1)]);
    let fixed = COMMAND_NS + TRANSFER_NS;
    let expected = [300_000, 900_000, 40_000, 60_000].map(|array_ns| fixed + array_ns);
    assert_eq!(responses(&run(&config, script)), expected);
}

#[test]
fn a_second_command_waits_for_the_die_until_the_nanosecond_it_is_free() {
    let alone = COMMAND_NS + TRANSFER_NS + PROGRAM_NS;
    // At t - 1 the die is busy for one nanosecond more; at t it is free.
    for (arrival_ns, waited_ns) in [(alone - 1, 1), (alone, 0), (alone + 1, 0)] {
        let outcome = run(&config(""), vec![pages(Write, 0, 0, 1), pages(Read, arrival_ns, 0, 1)]);
        assert_eq!(responses(&outcome)[1], waited_ns + COMMAND_NS + READ_NS + TRANSFER_NS, "arrival {arrival_ns}");
    }
}

#[test]
fn small_units_move_only_what_is_asked_and_pack_into_pages() {
    let four_units = r#"geometry = { page_size = "16 KiB", mapping_unit = "4 KiB" }"#;
    // Four small writes of one plane that wait together share one page; a read moves one unit of it.
    let mut script = vec![pages(Write, 0, 8, 1)];
    script.extend([0, 1, 2, 3].map(|unit| pages(Write, 1, unit, 1)));
    script.push(pages(Read, LATER, 2, 1));
    let outcome = run(&config(four_units), script);
    let page = COMMAND_NS + 163_840 + PROGRAM_NS;
    assert_eq!(responses(&outcome)[..5], [page, 2 * page - 1, 2 * page - 1, 2 * page - 1, 2 * page - 1]);
    assert_eq!(responses(&outcome)[5], COMMAND_NS + READ_NS + TRANSFER_NS);
    assert_eq!((outcome.report.flash.host_page_programs, outcome.report.flash.padding_units), (2, 3));
}

#[test]
fn a_partial_write_reads_the_rest_first_unless_told_otherwise() {
    let part = |arrival_ns| copyback::workload::Request { len_bytes: 512, ..pages(Write, arrival_ns, 0, 1) };
    let outcome = run(&config(""), vec![part(0), part(LATER)]);
    let (read, write) = (COMMAND_NS + READ_NS + TRANSFER_NS, COMMAND_NS + TRANSFER_NS + PROGRAM_NS);
    assert_eq!(responses(&outcome), [write, read + write], "the first finds nothing to keep");
    assert_eq!(outcome.report.flash.update_page_reads, 1);
    let overwrite = config(r#"host = { subpage_writes = "overwrite" }"#);
    assert_eq!(responses(&run(&overwrite, vec![part(0), part(LATER)])), [write, write]);
}

#[test]
fn a_buffered_write_ends_in_dram_and_its_data_can_be_read_there() {
    let config = config(r#"buffer = { policy = "lru", size = "8 KiB", latency = "2 us" }"#);
    let script = vec![
        pages(Write, 0, 0, 1),
        pages(Read, 100_000, 0, 1),
        pages(Write, 200_000, 2, 1),
        pages(Write, 300_000, 4, 1),
    ];
    let outcome = run(&config, script);
    // The third page has to wait until the least recently used one is in flash.
    let evicted = COMMAND_NS + TRANSFER_NS + PROGRAM_NS;
    assert_eq!(responses(&outcome), [2_000, 2_000, 2_000, evicted + 2_000]);
    assert_eq!(outcome.report.buffer_units_left, 2);
}
