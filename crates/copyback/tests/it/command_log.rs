//! The log of commands has all commands of the flash, and draws them.
//!
//! The drive of `common::config`: one die of two planes, read 50 µs, program 500 µs, erase 3 ms, a page's transfer
//! 40,960 ns, command cycles 100 ns a plane. Pages 0, 2, 4, … are on plane 0.

use crate::common::*;
use copyback::flash::Carries;
use copyback::flash::command::{FlashOp, Source};
use copyback::flash::geometry::Geometry;
use copyback::observe::commands::{CommandFilter, CommandRecord, PartRecord, WINDOWS};
use copyback::observe::timeline::{Timeline, text};
use copyback::run::config::RunConfig;
use copyback::run::{Options, precondition, simulate};
use copyback::workload::Op::{Read, Trim, Write};
use copyback::workload::Request;
use copyback::workload::rng::splitmix64;

const LATER: u64 = 1_000_000_000;

fn log(config: &RunConfig, script: Vec<Request>, filter: CommandFilter, check: bool) -> Vec<CommandRecord> {
    let options = Options { check, keep_commands: Some(filter), ..Options::default() };
    let source = Box::new(script.into_iter());
    let image = precondition(config, 1).expect("preconditioning works");
    simulate(config, image, source, &options, &mut |_| {}).expect("the run ends well").commands
}

fn all(config: &RunConfig, script: Vec<Request>) -> Vec<CommandRecord> {
    log(config, script, CommandFilter::default(), true)
}

/// Start, end and a letter of each transfer.
fn transfers(record: &CommandRecord) -> Vec<(u64, u64, char)> {
    let letter = |carries| match carries {
        Carries::Cycles => 'c',
        Carries::DataIn => 'i',
        Carries::DataOut { .. } => 'o',
    };
    record.transfers.iter().map(|t| (t.start_ns, t.end_ns, letter(t.carries))).collect()
}

#[test]
fn a_program_and_a_read_of_two_planes_are_told_to_the_nanosecond() {
    let commands = all(&config(""), vec![pages(Write, 7, 0, 2), pages(Read, LATER, 0, 2)]);
    let part = |plane, request| PartRecord { plane, block: 0, page: 0, request: Some(request), source: Source::HOST };
    let [program, read] = &commands[..] else { panic!("{commands:?}") };
    assert_eq!((program.number, program.op, program.issued_ns), (0, FlashOp::Program, 7));
    assert_eq!(program.parts, [part(0, 0), part(1, 0)]);
    let loaded_ns = 7 + 2 * COMMAND_NS + 2 * TRANSFER_NS;
    assert_eq!(transfers(program), [(7, loaded_ns, 'i')]);
    assert_eq!((program.array_ns(), program.end_ns()), ((loaded_ns, loaded_ns + PROGRAM_NS), loaded_ns + PROGRAM_NS));

    assert_eq!((read.number, read.op, read.issued_ns), (1, FlashOp::Read, LATER));
    assert_eq!(read.parts, [part(0, 1), part(1, 1)]);
    let sensed_ns = LATER + 2 * COMMAND_NS + READ_NS;
    let first_out_ns = sensed_ns + TRANSFER_NS;
    let outs = [(sensed_ns, first_out_ns, 'o'), (first_out_ns, first_out_ns + TRANSFER_NS, 'o')];
    assert_eq!(transfers(read), [&[(LATER, LATER + 2 * COMMAND_NS, 'c')], &outs[..]].concat());
    assert_eq!((read.array_ns(), read.end_ns()), ((LATER + 2 * COMMAND_NS, sensed_ns), outs[1].1));
}

/// Random writes and reads of a full drive; some writes cause collections.
fn busy() -> (RunConfig, Vec<Request>) {
    let config = config("geometry = { chips_per_channel = 2 }\nprecondition = { mode = \"random\" }");
    let request = |i: u64| {
        let op = if i.is_multiple_of(3) { Read } else { Write };
        pages(op, 300_000 * i, splitmix64(i) % 280, 1 + splitmix64(i) % 2)
    };
    (config, (0..600).map(request).collect())
}

#[test]
fn what_is_kept_agrees_with_what_is_counted_and_checks_change_nothing() {
    let (config, script) = busy();
    let report = run(&config, script.clone()).report;
    let commands = all(&config, script.clone());
    let parts = |op, source| {
        let of_op = commands.iter().filter(|c| c.op == op).flat_map(|c| &c.parts);
        of_op.filter(|part| part.source == source).count() as u64
    };
    let flash = &report.flash;
    assert!(report.gc.collections > 0);
    assert_eq!(parts(FlashOp::Read, Source::HOST), flash.host_page_reads);
    assert_eq!(parts(FlashOp::Program, Source::HOST), flash.host_page_programs);
    assert_eq!(parts(FlashOp::Read, Source::GC), flash.gc_page_reads);
    assert_eq!(parts(FlashOp::Program, Source::GC), flash.gc_page_programs);
    assert_eq!(parts(FlashOp::Erase, Source::GC), flash.block_erases);
    assert_eq!(commands.iter().filter(|c| c.parts.len() > 1).count() as u64, flash.multi_plane_commands);
    assert!(commands.iter().enumerate().all(|(i, c)| c.number == i as u64));
    assert!(commands.windows(2).all(|pair| pair[0].issued_ns <= pair[1].issued_ns));
    assert!(commands.iter().flat_map(|c| &c.parts).all(|p| p.request.is_some() == (p.source == Source::HOST)));
    assert_eq!(log(&config, script, CommandFilter::default(), false), commands);
}

#[test]
fn a_filter_keeps_what_touches_its_window_and_its_die() {
    let (config, script) = busy();
    let commands = all(&config, script.clone());
    let middle = &commands[commands.len() / 2];
    let (from_ns, to_ns) = (middle.issued_ns, middle.issued_ns + 20_000_000);
    let filter =
        CommandFilter { windows: [[from_ns, to_ns], [0, 0], [0, 0]], die: Some(1), ..CommandFilter::default() };
    let expected: Vec<_> =
        commands.into_iter().filter(|c| c.end_ns() > from_ns && c.issued_ns < to_ns && c.die == 1).collect();
    assert!(expected.len() > 5);
    assert_eq!(log(&config, script, filter, false), expected);
}

/// A full window does not use up the commands of another one, whichever comes first. Windows that overlap share
/// commands.
#[test]
fn each_window_has_its_own_limit() {
    const MOST: usize = 10;
    let (config, script) = busy();
    let commands = all(&config, script.clone());
    let [early, late] = [commands.len() / 4, 3 * commands.len() / 4].map(|at| commands[at].issued_ns);
    let end_ns = commands.last().map_or(0, CommandRecord::end_ns);
    for [first, second] in [[[0, early], [late, end_ns]], [[late, end_ns], [0, early]]] {
        let (windows, most) = ([first, second, [0, 0]], [MOST; WINDOWS]);
        let kept = log(&config, script.clone(), CommandFilter { windows, most, ..CommandFilter::default() }, false);
        for window in [first, second] {
            assert!(commands.iter().filter(|command| command.is_within(window)).count() > MOST);
            assert_eq!(kept.iter().filter(|command| command.is_within(window)).count(), MOST, "{window:?}");
        }
        assert!(kept.iter().all(|command| commands[command.number as usize] == *command));
    }
    let both = CommandFilter { windows: [[0, late], [early, end_ns], [0, 0]], ..CommandFilter::default() };
    assert_eq!(log(&config, script, both, false), commands);
}

/// Block 0 of plane 0 loses all but page 7; the next write brings the plane below its watermark, and a read of the page
/// arrives while it is moved.
fn collection() -> (RunConfig, Vec<CommandRecord>) {
    let config = config(
        "geometry = { planes_per_die = 1 }\ntrigger = { policy = \"watermark\", soft = 3 }\n\
         capacity = { over_provisioning = 0.5 }\ntiming = { command = \"0 ns\", channel = \"409.6 MB/s\" }",
    );
    let mut script: Vec<Request> = (0..80).map(|p| pages(Write, p, p, 1)).collect();
    script.extend((0..7).map(|p| pages(Trim, LATER / 2, p, 1)));
    let overwritten = (1..10).flat_map(|block| [8 * block, 8 * block + 1]).chain((1..7).map(|block| 8 * block + 2));
    script.extend(overwritten.map(|p| pages(Write, LATER / 2 + p, p, 1)));
    script.push(pages(Write, LATER, 79, 1));
    script.push(pages(Read, LATER + 520_000, 7, 1));
    let filter = CommandFilter { windows: [[LATER, u64::MAX], [0, 0], [0, 0]], ..CommandFilter::default() };
    let commands = log(&config, script, filter, true);
    (config, commands)
}

#[test]
fn a_timeline_in_characters() {
    let (config, commands) = collection();
    let timeline = Timeline::new(&commands, &Geometry::new(&config.device()), &[0], LATER, Some(LATER + 1_200_000));
    let drawn = text::draw(&timeline, text::Scale { columns: 80, ns_per_column: Some(10_000) });
    // A page's transfer takes 10 µs, a column.
    let expected = "\
die 0, 1000 to 1001.2 ms, a column is 0.01 ms

ms         1000      1000.1    1000.2    1000.3    1000.4    1000.5    1000.6    1000.7
           |---------|---------|---------|---------|---------|---------|---------|---------
channel 0  w                                                       RW
plane 0    >w111=============================================|R7==|<>W1====================

ms         1000.8    1000.9    1001      1001.1
           |---------|---------|---------|---------
channel 0
plane 0    ===========================|E===========
";
    assert_eq!(drawn.lines().take(11).collect::<Vec<_>>().join("\n") + "\n", expected, "{drawn}");
}

/// If the drawing changes on purpose, look at the new one and replace the old one with it.
#[test]
fn the_drawing_is_the_one_that_was_reviewed() {
    // The drawn die has a program and a read of both planes and a read of one; the other die shares the channel.
    let config = config("geometry = { chips_per_channel = 2 }");
    let script = vec![pages(Write, 0, 0, 4), pages(Read, 650_000, 0, 4), pages(Read, 1_100_000, 2, 1)];
    let commands = all(&config, script);
    let timeline = Timeline::new(&commands, &Geometry::new(&config.device()), &[0], 20_000, Some(1_150_000));
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("timeline.txt");
    let drawn = text::draw(&timeline, text::Scale::default());
    std::fs::write(&file, &drawn).expect("the build's folder can be written to");
    let reviewed = include_str!("drawings/timeline.txt");
    assert!(drawn == reviewed, "{} is not tests/it/drawings/timeline.txt", file.display());
}

#[test]
fn a_timeline_in_characters_leaves_out_lines_in_which_nothing_happens() {
    let config = config("");
    let commands = all(&config, vec![pages(Write, 0, 0, 1), pages(Read, 990_000, 0, 1)]);
    let timeline = Timeline::new(&commands, &Geometry::new(&config.device()), &[0], 0, None);
    let drawn = text::draw(&timeline, text::Scale { columns: 20, ns_per_column: Some(10_000) });
    // The program is over after 541 us; lines of 200 us.
    assert_eq!(drawn.matches("idle until").count(), 1, "{drawn}");
    assert!(drawn.contains("\nidle until 0.8 ms\n\n"), "{drawn}");
}

/// A die that works from 2.3 ms on.
#[test]
fn a_drawing_begins_with_the_first_command() {
    let config = config("");
    let commands = all(&config, vec![pages(Write, 2_300_000, 0, 1)]);
    let timeline = Timeline::new(&commands, &Geometry::new(&config.device()), &[0], 0, Some(10_000_000));
    let text = text::draw(&timeline, text::Scale::default());
    let header = text.lines().next().unwrap_or_default();
    assert!(
        header.starts_with("die 0, 2") && header.contains(" ms, a column is 0.") && header.ends_with(" ms"),
        "{text}"
    );
    let plane = text.lines().find(|line| line.starts_with("plane 0")).unwrap_or_default();
    assert!(plane.contains("w0="), "{text}");
    assert!(text.contains("idle: 0 to 2") && text.contains(" to 10 ms"), "{text}");
}

#[test]
fn a_timeline_whose_scale_nobody_chose_is_no_longer_than_forty_lines() {
    let config = config("");
    let commands = all(&config, vec![pages(Write, 0, 0, 1), pages(Read, 990_000_000, 0, 1)]);
    // 990 ms in 40 lines of 100 columns: 248 us a column, and 500 us are the next round time.
    let timeline = Timeline::new(&commands, &Geometry::new(&config.device()), &[0], 0, Some(1_000_000_000));
    let drawn = text::draw(&timeline, text::Scale::default());
    let header = drawn.lines().next().unwrap_or_default();
    assert!(header.starts_with("die 0, 0 to 990.") && header.ends_with(" ms, a column is 0.5 ms"), "{drawn}");
    assert!(drawn.contains("\nidle: 990."), "{drawn}");
}

/// However long a column is, no die that worked under it looks idle; and no time wraps around.
#[test]
fn a_command_under_a_long_column_is_marked() {
    let config = config("");
    let commands = all(&config, vec![pages(Write, 0, 0, 1), pages(Read, 990_000, 0, 1)]);
    let drawn = |to_ns: u64, ns_per_column: Option<u64>| {
        let timeline = Timeline::new(&commands, &Geometry::new(&config.device()), &[0], 0, Some(to_ns));
        text::draw(&timeline, text::Scale { ns_per_column, ..text::Scale::default() })
    };
    let row = |drawn: &str, name: &str| {
        let line = drawn.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.trim_start_matches(name).trim().to_owned()
    };
    let long = drawn(500_000_000_000, Some(200_000_000));
    assert_eq!(row(&long, "plane 0"), "=", "{long}");
    let last = drawn(u64::MAX, None);
    let idle = last.lines().find(|line| line.starts_with("idle: ")).unwrap_or_default();
    assert!(idle.ends_with(" to 18446744073709.55 ms"), "{last}");
}
