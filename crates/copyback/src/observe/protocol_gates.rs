//! Is a command, a transfer, an array time legal at t, and illegal at t - 1?
//!
//! The protocol checker gets sequences by hand. Each gate is one moment of a legal sequence: shifted by a nanosecond
//! towards the preceding event, it must be refused, under the name of the rule that it breaks.

mod skipped;

use super::protocol::ProtocolChecker;
use crate::flash::Carries;
use crate::flash::command::FlashOp::{self, Copyback, Erase, Program, Read};
use crate::run::config::RunConfig;
use crate::sim::index::{PageId, PlaneId};
use crate::sim::invariant::Invariant;
use std::panic::{AssertUnwindSafe, catch_unwind};

const CYCLES_NS: u64 = 100;
const READ_NS: u64 = 50_000;
/// Of even and of odd pages.
const PROGRAM_NS: [u64; 2] = [400_000, 700_000];
const ERASE_NS: u64 = 3_000_000;
const REST_NS: u64 = 3_000;
/// A unit of 2 KiB at 100 MB/s; a page has two.
const UNIT_NS: u64 = 20_480;
const PAGE_NS: u64 = 2 * UNIT_NS;
const PAGES_PER_BLOCK: u32 = 8;
const BLOCKS_PER_PLANE: u32 = 8;

/// A channel with two dies of four planes; the first three pages of each plane's block 1 are programmed.
fn protocol_checker(commands: &str) -> ProtocolChecker {
    let config: RunConfig = crate::config::from_toml(&format!(
        r#"
        capacity = {{ over_provisioning = 1.0 }}
        timing = {{ read = "50 us", program = ["400 us", "700 us"], erase = "3 ms", channel = "100 MB/s", command = "100 ns", cache_busy = "3 us" }}
        commands = {{ {commands} }}
        geometry = {{ channels = 1, chips_per_channel = 2, dies_per_chip = 1, planes_per_die = 4, blocks_per_plane = 8, pages_per_block = 8, page_size = "4 KiB", mapping_unit = "2 KiB" }}
        "#
    ))
    .expect("the test's configuration parses");
    let programmed = (0..8 * BLOCKS_PER_PLANE).map(|block| if block % BLOCKS_PER_PLANE == 1 { 3 } else { 0 });
    ProtocolChecker::new(&config.device(), programmed.collect())
}

/// A page by plane, block of the plane, and offset.
fn page(plane: u32, block: u32, offset: u32) -> (PlaneId, PageId) {
    (PlaneId(plane), PageId((plane * BLOCKS_PER_PLANE + block) * PAGES_PER_BLOCK + offset))
}

/// The rule that a sequence breaks.
fn broken(commands: &str, sequence: impl Fn(&mut ProtocolChecker)) -> Option<Invariant> {
    let mut protocol_checker = protocol_checker(commands);
    let panic = catch_unwind(AssertUnwindSafe(|| sequence(&mut protocol_checker))).err()?;
    let text = panic.downcast_ref::<String>().expect("a broken invariant says so");
    Some(Invariant::named_in(text).unwrap_or_else(|| panic!("`{text}` names no invariant")))
}

/// The sequence is legal if `early_ns` is 0, and breaks the rule if it is 1.
fn gate(expected: Invariant, sequence: impl Fn(&mut ProtocolChecker, u64)) {
    assert_eq!(broken("", |w| sequence(w, 0)), None, "{expected:?} at t");
    assert_eq!(broken("", |w| sequence(w, 1)), Some(expected), "{expected:?} at t - 1");
}

/// A read of one page by die 0 in its place 0, from time 0 to the end of its array time, which is returned.
fn sense(w: &mut ProtocolChecker) -> u64 {
    w.on_command(0, 0, 0, Read, &[page(0, 1, 0)]);
    w.on_transfer(0, 0, Carries::Cycles, 0, CYCLES_NS);
    w.on_array(0, 0, CYCLES_NS, CYCLES_NS + READ_NS);
    CYCLES_NS + READ_NS
}

/// A program of page 3 by die 0 in its place 0, from time 0; returns when data is in and when the array ends.
fn program(w: &mut ProtocolChecker) -> (u64, u64) {
    let in_ns = CYCLES_NS + PAGE_NS;
    w.on_command(0, 0, 0, Program, &[page(0, 1, 3)]);
    w.on_transfer(0, 0, Carries::DataIn, 0, in_ns);
    w.on_array(0, 0, in_ns, in_ns + PROGRAM_NS[1]);
    (in_ns, in_ns + PROGRAM_NS[1])
}

#[test]
fn a_channel_carries_one_transfer_at_a_time() {
    gate(Invariant::OnfiBus, |w, early_ns| {
        sense(w);
        w.on_command(1, 0, 0, Read, &[page(4, 1, 0)]);
        let start_ns = CYCLES_NS - early_ns;
        w.on_transfer(1, 0, Carries::Cycles, start_ns, start_ns + CYCLES_NS);
    });
}

#[test]
fn transfers_take_as_long_as_their_bytes() {
    for late in [false, true] {
        let off = |t: u64, by: u64| if late { t + by } else { t - by };
        gate(Invariant::OnfiTransferTime, |w, by| {
            w.on_command(0, 0, 0, Read, &[page(0, 1, 0), page(1, 1, 0)]);
            w.on_transfer(0, 0, Carries::Cycles, 7, off(7 + 2 * CYCLES_NS, by));
        });
        gate(Invariant::OnfiTransferTime, |w, by| {
            w.on_command(0, 0, 0, Program, &[page(0, 0, 0), page(1, 0, 0)]);
            w.on_transfer(0, 0, Carries::DataIn, 7, off(7 + 2 * (CYCLES_NS + PAGE_NS), by));
        });
        gate(Invariant::OnfiTransferTime, |w, by| {
            let end_ns = sense(w);
            w.on_transfer(0, 0, Carries::DataOut { units: 1 }, end_ns, off(end_ns + UNIT_NS, by));
        });
    }
}

#[test]
fn the_array_takes_as_long_as_the_slowest_page() {
    for late in [false, true] {
        let off = |t: u64, by: u64| if late { t + by } else { t - by };
        for (op, offset, array_ns) in [(Read, 2, READ_NS), (Erase, 0, ERASE_NS), (Copyback, 3, READ_NS + PROGRAM_NS[1])]
        {
            gate(Invariant::OnfiArrayTime, |w, by| {
                w.on_command(0, 0, 0, op, &[page(0, 1, offset)]);
                w.on_transfer(0, 0, Carries::Cycles, 0, CYCLES_NS);
                w.on_array(0, 0, CYCLES_NS, off(CYCLES_NS + array_ns, by));
            });
        }
        for (block, offset, array_ns) in [(0, 0, PROGRAM_NS[0]), (1, 3, PROGRAM_NS[1])] {
            gate(Invariant::OnfiArrayTime, |w, by| {
                w.on_command(0, 0, 0, Program, &[page(0, block, offset)]);
                let in_ns = CYCLES_NS + PAGE_NS;
                w.on_transfer(0, 0, Carries::DataIn, 0, in_ns);
                w.on_array(0, 0, in_ns, off(in_ns + array_ns, by));
            });
        }
    }
}

#[test]
fn the_array_waits_for_cycles_and_data() {
    for op in [Read, Erase, Copyback] {
        gate(Invariant::OnfiDataReady, |w, early_ns| {
            w.on_command(0, 0, 0, op, &[page(0, 1, if op == Read { 0 } else { 3 })]);
            w.on_transfer(0, 0, Carries::Cycles, 0, CYCLES_NS);
            let start_ns = CYCLES_NS - early_ns;
            let array_ns = match op {
                Read => READ_NS,
                Erase => ERASE_NS,
                _ => READ_NS + PROGRAM_NS[1],
            };
            w.on_array(0, 0, start_ns, start_ns + array_ns);
        });
    }
    gate(Invariant::OnfiDataReady, |w, early_ns| {
        w.on_command(0, 0, 0, Program, &[page(0, 0, 0)]);
        let in_ns = CYCLES_NS + PAGE_NS;
        w.on_transfer(0, 0, Carries::DataIn, 0, in_ns);
        w.on_array(0, 0, in_ns - early_ns, in_ns - early_ns + PROGRAM_NS[0]);
    });
    let without = broken("", |w| {
        w.on_command(0, 0, 0, Program, &[page(0, 0, 0)]);
        w.on_array(0, 0, 1_000_000, 1_000_000 + PROGRAM_NS[0]);
    });
    assert_eq!(without, Some(Invariant::OnfiDataReady), "a program without data");
}

#[test]
fn data_leaves_after_the_array_is_done_and_once() {
    gate(Invariant::OnfiDataReady, |w, early_ns| {
        let start_ns = sense(w) - early_ns;
        w.on_transfer(0, 0, Carries::DataOut { units: 2 }, start_ns, start_ns + PAGE_NS);
    });
    let twice = broken("", |w| {
        let start_ns = sense(w);
        w.on_transfer(0, 0, Carries::DataOut { units: 2 }, start_ns, start_ns + PAGE_NS);
        w.on_transfer(0, 0, Carries::DataOut { units: 2 }, start_ns + PAGE_NS, start_ns + 2 * PAGE_NS);
    });
    assert_eq!(twice, Some(Invariant::OnfiDataReady));
}

#[test]
fn a_die_works_on_one_command_at_a_time() {
    // An erase ends with the array's work; a read ends when its data has left.
    gate(Invariant::OnfiOneCommand, |w, early_ns| {
        w.on_command(0, 0, 0, Erase, &[page(0, 1, 0)]);
        w.on_transfer(0, 0, Carries::Cycles, 0, CYCLES_NS);
        w.on_array(0, 0, CYCLES_NS, CYCLES_NS + ERASE_NS);
        w.on_command(0, 1, CYCLES_NS + ERASE_NS - early_ns, Read, &[page(1, 1, 0)]);
    });
    gate(Invariant::OnfiOneCommand, |w, early_ns| {
        let out_ns = sense(w);
        w.on_transfer(0, 0, Carries::DataOut { units: 2 }, out_ns, out_ns + PAGE_NS);
        w.on_command(0, 1, out_ns + PAGE_NS - early_ns, Program, &[page(1, 0, 0)]);
    });
    gate(Invariant::OnfiOneCommand, |w, early_ns| {
        let (_, end_ns) = program(w);
        w.on_command(0, 1, end_ns - early_ns, Copyback, &[page(0, 0, 0)]);
    });
    // The rule is for one die: another die takes commands meanwhile.
    assert_eq!(
        broken("", |w| {
            sense(w);
            w.on_command(1, 0, 0, Erase, &[page(4, 1, 0)]);
        }),
        None
    );
}

/// A read of two planes: when its first page has left, a program may go to another plane than the second's.
#[test]
fn a_program_goes_beside_a_page_that_waits_in_another_register() {
    let begins = |w: &mut ProtocolChecker, early_ns: u64, plane: u32| {
        w.on_command(0, 0, 0, Read, &[page(0, 1, 0), page(1, 1, 0)]);
        w.on_transfer(0, 0, Carries::Cycles, 0, 2 * CYCLES_NS);
        let sensed_ns = 2 * CYCLES_NS + READ_NS;
        w.on_array(0, 0, 2 * CYCLES_NS, sensed_ns);
        w.on_transfer(0, 0, Carries::DataOut { units: 2 }, sensed_ns, sensed_ns + PAGE_NS);
        w.on_command(0, 1, sensed_ns + PAGE_NS - early_ns, Program, &[page(plane, 0, 0)]);
        sensed_ns + PAGE_NS
    };
    gate(Invariant::OnfiOneCommand, |w, early_ns| {
        begins(w, early_ns, 0);
    });
    let full = broken("", |w| {
        begins(w, 0, 1);
    });
    assert_eq!(full, Some(Invariant::OnfiOneCommand), "the register is full");
    let leaves = broken("", |w| {
        let out_ns = begins(w, 0, 2);
        let in_ns = out_ns + CYCLES_NS + PAGE_NS;
        w.on_transfer(0, 1, Carries::DataIn, out_ns, in_ns);
        w.on_array(0, 1, in_ns, in_ns + PROGRAM_NS[0]);
        w.on_transfer(0, 0, Carries::DataOut { units: 2 }, in_ns, in_ns + PAGE_NS);
    });
    assert_eq!(leaves, None);
}

#[test]
fn a_device_without_cache_commands_gets_none() {
    for (commands, op) in [("cache_read = false", Read), ("cache_program = false", Program)] {
        let second = |w: &mut ProtocolChecker| {
            if op == Read {
                sense(w);
                w.on_command(0, 1, CYCLES_NS + READ_NS, Read, &[page(1, 1, 0)]);
            } else {
                let (in_ns, _) = program(w);
                w.on_command(0, 1, in_ns, Program, &[page(0, 1, 4)]);
            }
        };
        assert_eq!(broken("", second), None, "{op:?}");
        assert_eq!(broken(commands, second), Some(Invariant::OnfiOneCommand), "{op:?}");
    }
}

#[test]
fn a_third_command_waits() {
    let third = broken("", |w| {
        let end_ns = sense(w);
        w.on_command(0, 1, end_ns, Read, &[page(0, 1, 1)]);
        w.on_array(0, 1, end_ns + CYCLES_NS + REST_NS, end_ns + CYCLES_NS + REST_NS + READ_NS);
        w.on_command(0, 0, end_ns + CYCLES_NS + REST_NS + READ_NS, Read, &[page(0, 1, 2)]);
    });
    assert_eq!(third, Some(Invariant::OnfiOneCommand));
}

#[test]
fn cached_programs_follow_each_other_in_the_array() {
    gate(Invariant::OnfiArrayBusy, |w, early_ns| {
        let (in_ns, end_ns) = program(w);
        w.on_command(0, 1, in_ns, Program, &[page(0, 1, 4)]);
        w.on_transfer(0, 1, Carries::DataIn, in_ns, in_ns + CYCLES_NS + PAGE_NS);
        let start_ns = end_ns - early_ns;
        w.on_array(0, 1, start_ns, start_ns + PROGRAM_NS[0]);
    });
    // Data of the second enters the cache register when that of the first has left it for the array.
    gate(Invariant::OnfiRegister, |w, early_ns| {
        let in_ns = CYCLES_NS + PAGE_NS;
        let begins_ns = in_ns + 5;
        w.on_command(0, 0, 0, Program, &[page(0, 1, 3)]);
        w.on_transfer(0, 0, Carries::DataIn, 0, in_ns);
        w.on_command(0, 1, in_ns, Program, &[page(0, 1, 4)]);
        w.on_array(0, 0, begins_ns, begins_ns + PROGRAM_NS[1]);
        let start_ns = begins_ns - early_ns;
        w.on_transfer(0, 1, Carries::DataIn, start_ns, start_ns + in_ns);
    });
}

#[test]
fn cached_reads_rest_between_pages_and_leave_in_turn() {
    gate(Invariant::OnfiArrayBusy, |w, early_ns| {
        // The cycles of the second read ended long before: tRCBSY decides.
        let end_ns = sense(w);
        w.on_command(0, 1, end_ns - 2 * CYCLES_NS, Read, &[page(0, 1, 1)]);
        let start_ns = end_ns + REST_NS - early_ns;
        w.on_array(0, 1, start_ns, start_ns + READ_NS);
    });
    gate(Invariant::OnfiDataReady, |w, early_ns| {
        // The second read came late: its cycles decide.
        let came_ns = sense(w) + 10 * REST_NS;
        w.on_command(0, 1, came_ns, Read, &[page(0, 1, 1)]);
        let start_ns = came_ns + CYCLES_NS - early_ns;
        w.on_array(0, 1, start_ns, start_ns + READ_NS);
    });
    let out_of_order = broken("", |w| {
        let end_ns = sense(w);
        w.on_command(0, 1, end_ns, Read, &[page(0, 1, 1)]);
        let start_ns = end_ns + CYCLES_NS + REST_NS;
        w.on_array(0, 1, start_ns, start_ns + READ_NS);
        let out_ns = start_ns + READ_NS;
        w.on_transfer(0, 1, Carries::DataOut { units: 2 }, out_ns, out_ns + PAGE_NS);
    });
    assert_eq!(out_of_order, Some(Invariant::OnfiRegister));
}

#[test]
fn planes_go_together_as_the_device_says() {
    let command = |commands: &str, op: FlashOp, pages: &[(PlaneId, PageId)]| {
        broken(commands, |w| w.on_command(0, 0, 0, op, pages))
    };
    let refused = Some(Invariant::OnfiAddress);
    let offsets_agree = [page(0, 1, 0), page(1, 1, 0), page(2, 1, 0), page(3, 1, 0)];
    assert_eq!(command("", Read, &offsets_agree), None);
    assert_eq!(command("multi_plane = false", Read, &offsets_agree), refused);
    assert_eq!(command("multi_plane = false", Read, &offsets_agree[..1]), None);
    assert_eq!(command("", Read, &[]), refused, "no plane");
    assert_eq!(command("", Read, &[page(0, 1, 0), page(1, 1, 1)]), refused, "two page offsets");
    assert_eq!(command("", Read, &[page(0, 1, 0), page(0, 1, 0)]), refused, "a plane twice");
    assert_eq!(command("", Read, &[page(0, 1, 0), page(4, 1, 0)]), refused, "two dies");
    assert_eq!(command("", Read, &[page(4, 1, 0)]), refused, "another die");
    assert_eq!(command("", Read, &[(PlaneId(1), page(0, 1, 0).1)]), refused, "another plane");
    let blocks_differ = [page(0, 0, 0), page(1, 2, 0)];
    assert_eq!(command("", Program, &blocks_differ), None);
    assert_eq!(command("same_block = true", Program, &blocks_differ), refused);
    assert_eq!(command("same_block = true", Program, &[page(0, 2, 0), page(1, 2, 0)]), None);
    assert_eq!(command("plane_pairs = true", Erase, &[page(2, 1, 0), page(3, 1, 0)]), None);
    assert_eq!(command("plane_pairs = true", Erase, &[page(1, 1, 0), page(2, 1, 0)]), refused);
    assert_eq!(command("plane_pairs = true", Erase, &offsets_agree), refused);
}

#[test]
fn pages_are_programmed_in_order_once_and_before_they_are_read() {
    let command = |op: FlashOp, offset: u32| broken("", |w| w.on_command(0, 0, 0, op, &[page(0, 1, offset)]));
    assert_eq!(command(Program, 3), None);
    assert_eq!(command(Copyback, 3), None);
    assert_eq!(command(Program, 2), Some(Invariant::OnfiEraseFirst));
    assert_eq!(command(Copyback, 2), Some(Invariant::OnfiEraseFirst));
    assert_eq!(command(Program, 4), Some(Invariant::OnfiPageOrder));
    assert_eq!(command(Read, 2), None);
    assert_eq!(command(Read, 3), Some(Invariant::OnfiReadProgrammed));
    let after_erase = |offset: u32| {
        broken("", |w| {
            w.on_command(0, 0, 0, Erase, &[page(0, 1, 0)]);
            w.on_transfer(0, 0, Carries::Cycles, 0, CYCLES_NS);
            w.on_array(0, 0, CYCLES_NS, CYCLES_NS + ERASE_NS);
            w.on_command(0, 0, CYCLES_NS + ERASE_NS, Program, &[page(0, 1, offset)]);
        })
    };
    assert_eq!(after_erase(0), None);
    assert_eq!(after_erase(3), Some(Invariant::OnfiPageOrder));
}

const SUSPEND: &str = "suspend = { latency = \"20 us\", resume = \"5 us\", limit = 2 }";
const SUSPEND_NS: u64 = 20_000;
const RESUME_NS: u64 = 5_000;
const STOP_NS: u64 = 1_000_000;

/// The gate of a device that suspends.
fn suspend_gate(expected: Invariant, sequence: impl Fn(&mut ProtocolChecker, u64)) {
    assert_eq!(broken(SUSPEND, |w| sequence(w, 0)), None, "{expected:?} at t");
    assert_eq!(broken(SUSPEND, |w| sequence(w, 1)), Some(expected), "{expected:?} at t - 1");
}

/// An erase of die 0 in its place 0 that stops at [`STOP_NS`]. Returns when the die takes a read.
fn suspended_erase(w: &mut ProtocolChecker) -> u64 {
    w.on_command(0, 0, 0, Erase, &[page(0, 1, 0)]);
    w.on_transfer(0, 0, Carries::Cycles, 0, CYCLES_NS);
    w.on_array(0, 0, CYCLES_NS, CYCLES_NS + ERASE_NS);
    w.on_array(0, 0, CYCLES_NS, STOP_NS + SUSPEND_NS);
    STOP_NS + SUSPEND_NS
}

/// A read in place 1 beside the erase. Returns when its data has left.
fn read_beside(w: &mut ProtocolChecker, start_ns: u64) -> u64 {
    w.on_command(0, 1, start_ns, Read, &[page(1, 1, 0)]);
    w.on_transfer(0, 1, Carries::Cycles, start_ns, start_ns + CYCLES_NS);
    let sensed_ns = start_ns + CYCLES_NS + READ_NS;
    w.on_array(0, 1, start_ns + CYCLES_NS, sensed_ns);
    w.on_transfer(0, 1, Carries::DataOut { units: 2 }, sensed_ns, sensed_ns + PAGE_NS);
    sensed_ns + PAGE_NS
}

#[test]
fn a_suspended_erase_lets_reads_go_when_the_array_has_stopped() {
    suspend_gate(Invariant::OnfiOneCommand, |w, early_ns| {
        let free_ns = suspended_erase(w);
        read_beside(w, free_ns - early_ns);
    });
    let takes = |op: FlashOp, (plane, page): (PlaneId, PageId)| {
        broken(SUSPEND, |w| {
            let free_ns = suspended_erase(w);
            w.on_command(0, 1, free_ns, op, &[(plane, page)]);
        })
    };
    assert_eq!(takes(Read, page(1, 1, 0)), None);
    assert_eq!(takes(Read, page(0, 1, 0)), Some(Invariant::OnfiOneCommand), "a read of the block that is erased");
    assert_eq!(takes(Program, page(1, 0, 0)), Some(Invariant::OnfiOneCommand), "a program");
}

#[test]
fn a_suspended_erase_resumes_behind_reads_for_the_time_that_is_left() {
    let left_ns = CYCLES_NS + ERASE_NS - STOP_NS;
    let resumes = |w: &mut ProtocolChecker, early_ns: u64, left_ns: u64| {
        let free_ns = suspended_erase(w);
        let start_ns = read_beside(w, free_ns) + RESUME_NS - early_ns;
        w.on_array(0, 0, start_ns, start_ns + left_ns);
        start_ns + left_ns
    };
    suspend_gate(Invariant::OnfiArrayBusy, |w, early_ns| {
        resumes(w, early_ns, left_ns);
    });
    for off in [-1, 1] {
        suspend_gate(Invariant::OnfiArrayTime, |w, by| {
            resumes(w, 0, left_ns.wrapping_add_signed(off * by as i64));
        });
    }
    // At its end the die takes any command.
    suspend_gate(Invariant::OnfiOneCommand, |w, early_ns| {
        let end_ns = resumes(w, 0, left_ns);
        w.on_command(0, 1, end_ns - early_ns, Program, &[page(1, 0, 0)]);
    });
    // Without a read, too, the array rests for both latencies.
    suspend_gate(Invariant::OnfiArrayBusy, |w, early_ns| {
        let start_ns = suspended_erase(w) + RESUME_NS - early_ns;
        w.on_array(0, 0, start_ns, start_ns + left_ns);
    });
}

#[test]
fn only_what_the_device_can_suspend_stops_and_as_often_as_it_can() {
    let erase_stops = |commands: &str| {
        broken(commands, |w| {
            suspended_erase(w);
        })
    };
    let refused = Some(Invariant::OnfiArrayTime);
    assert_eq!(erase_stops(SUSPEND), None);
    assert_eq!(erase_stops(""), refused);
    assert_eq!(erase_stops("suspend = { latency = \"20 us\", erase = false }"), refused);
    assert_eq!(erase_stops("suspend = { latency = \"1020 us\" }"), refused, "it has not begun when it is to stop");
    let program_stops = |program_too: bool| {
        broken(&format!("suspend = {{ latency = \"20 us\", program = {program_too} }}"), |w| {
            let (begun_ns, end_ns) = program(w);
            w.on_array(0, 0, begun_ns, end_ns - 1);
        })
    };
    assert_eq!((program_stops(true), program_stops(false)), (None, refused));
    // An operation that ends no later than the die would take a read is not stopped.
    suspend_gate(Invariant::OnfiArrayTime, |w, by| {
        let (begun_ns, end_ns) = program(w);
        w.on_array(0, 0, begun_ns, end_ns - 1 + by);
    });
    let times = |count: u64| {
        broken(SUSPEND, |w| {
            let mut free_ns = suspended_erase(w);
            let mut left_ns = CYCLES_NS + ERASE_NS - STOP_NS;
            for _ in 1..count {
                let start_ns = free_ns + RESUME_NS;
                w.on_array(0, 0, start_ns, start_ns + left_ns);
                (free_ns, left_ns) = (start_ns + 1_000 + SUSPEND_NS, left_ns - 1_000);
                w.on_array(0, 0, start_ns, free_ns);
            }
        })
    };
    assert_eq!([1, 2, 3].map(times), [None, None, refused]);
}
