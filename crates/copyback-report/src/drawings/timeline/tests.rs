//! Drawings of a drive with one die of two planes: read 50 us, program 500 us, erase 3 ms, a page's transfer 40,960 ns,
//! command cycles 100 ns a plane. Pages 0, 2, 4, … are on plane 0.

use super::svg;
use copyback::config::from_toml;
use copyback::flash::geometry::Geometry;
use copyback::observe::commands::{CommandFilter, CommandRecord};
use copyback::observe::timeline::{MarkedRequest, Timeline, Use};
use copyback::run::config::RunConfig;
use copyback::run::{Options, precondition, simulate};
use copyback_workload::Op::{self, Read, Trim, Write};
use copyback_workload::{Priority, Request};

const LATER: u64 = 1_000_000_000;

/// The drive with these tables in addition, and these keys of the geometry.
fn config(geometry: &str, tables: &str) -> RunConfig {
    let text = format!(
        "precondition = {{ mode = \"empty\" }}\n{tables}\n[geometry]\nchannels = 1\ndies_per_chip = 1\n\
         blocks_per_plane = 16\npages_per_block = 8\npage_size = \"4 KiB\"\n{geometry}\n"
    );
    from_toml(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

const TABLES: &str = r#"
trigger = { policy = "watermark", soft = 2 }
capacity = { over_provisioning = 0.6 }
timing = { read = "50 us", program = "500 us", erase = "3 ms", channel = "100 MB/s", command = "100 ns" }
"#;

/// The drive with this number of dies.
fn drive(dies: u32) -> RunConfig {
    config(&format!("chips_per_channel = {dies}\nplanes_per_die = 2"), TABLES)
}

fn pages(op: Op, arrival_ns: u64, first: u64, count: u64) -> Request {
    let (offset_bytes, len_bytes) = (first * 4096, count * 4096);
    Request { arrival_ns, offset_bytes, len_bytes, device: 0, op, priority: Priority::Normal }
}

/// The commands from this time on.
fn commands(config: &RunConfig, script: Vec<Request>, from_ns: u64) -> Vec<CommandRecord> {
    let filter = CommandFilter { windows: [[from_ns, u64::MAX], [0, 0], [0, 0]], ..CommandFilter::default() };
    let options = Options { check: true, keep_commands: Some(filter), ..Options::default() };
    let image = precondition(config, 1).expect("preconditioning works");
    let source = Box::new(script.into_iter());
    simulate(config, image, source, &options, &mut |_| {}).expect("the run ends well").commands
}

/// Block 0 of plane 0 loses all but page 7; the next write brings the plane below its watermark, and a read of the page
/// arrives while it is moved.
fn collection() -> (Geometry, Vec<CommandRecord>) {
    let config = config(
        "chips_per_channel = 1\nplanes_per_die = 1",
        "trigger = { policy = \"watermark\", soft = 3 }\ncapacity = { over_provisioning = 0.5 }\n\
         timing = { read = \"50 us\", program = \"500 us\", erase = \"3 ms\", command = \"0 ns\", \
         channel = \"409.6 MB/s\" }",
    );
    let mut script: Vec<Request> = (0..80).map(|p| pages(Write, p, p, 1)).collect();
    script.extend((0..7).map(|p| pages(Trim, LATER / 2, p, 1)));
    let overwritten = (1..10).flat_map(|block| [8 * block, 8 * block + 1]).chain((1..7).map(|block| 8 * block + 2));
    script.extend(overwritten.map(|p| pages(Write, LATER / 2 + p, p, 1)));
    script.push(pages(Write, LATER, 79, 1));
    script.push(pages(Read, LATER + 520_000, 7, 1));
    (Geometry::new(&config.device()), commands(&config, script, LATER))
}

#[test]
fn a_drawing_has_every_command() {
    let (geometry, commands) = collection();
    let drawn = svg::draw(&Timeline::new(&commands, &geometry, &[0], LATER, None));
    assert!(commands.len() > 4, "{commands:?}");
    for command in &commands {
        assert!(drawn.contains(&format!("<title>command {}: ", command.number)), "{command:?}");
    }
    assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"));
    assert_eq!(drawn.matches("<g>").count(), drawn.matches("</g>").count());
}

/// The width that a drawing states.
fn width_px(svg: &str) -> f64 {
    let width = svg.split("width=\"").nth(1).and_then(|rest| rest.split('"').next());
    width.and_then(|width| width.parse().ok()).expect("a drawing has a width")
}

/// Commands of half a millisecond and of days: each array time has its label, and what is idle takes no room.
#[test]
fn a_drawing_is_as_wide_as_its_content() {
    let (geometry, commands) = collection();
    let drawn = |from_ns, to_ns| svg::draw(&Timeline::new(&commands, &geometry, &[0], from_ns, to_ns));
    let (all, long) = (drawn(LATER, None), drawn(0, Some(1_000_000 * LATER)));
    assert!(!all.contains("idle: ") && long.contains("idle: 0 to 1000 ms, "), "{long}");
    assert_eq!(width_px(&all), width_px(&long));
    let labels = Timeline::new(&commands, &geometry, &[0], 0, None).rows;
    let arrays = labels.iter().flat_map(|row| &row.bars).filter(|bar| bar.in_use == Use::Array);
    for bar in arrays {
        let own = long.split("<g>").find(|drawn| drawn.contains(&bar.detail) && drawn.contains("opacity=\"1\""));
        assert!(own.is_some_and(|own| own.contains(&format!(">{}</text>", bar.label))), "{}", bar.detail);
    }
    // A window in which nothing happens is as wide as the words, however long it is.
    assert_eq!(width_px(&drawn(0, Some(LATER))), 600.0);
    // A window within one program has its own scale: the drawing is no wider than the words below its rows.
    assert!(width_px(&drawn(LATER + 100_000, Some(LATER + 400_000))) <= 600.0);
}

/// The drawn die has a program and a read of both planes and a read of one; the other die shares the channel. If the
/// drawing changes on purpose, look at the new one and replace the old one with it.
#[test]
fn the_drawing_is_the_one_that_was_reviewed() {
    let config = drive(2);
    let script = vec![pages(Write, 0, 0, 4), pages(Read, 650_000, 0, 4), pages(Read, 1_100_000, 2, 1)];
    let commands = commands(&config, script, 0);
    let timeline = Timeline::new(&commands, &Geometry::new(&config.device()), &[0], 20_000, Some(1_150_000));
    let drawn = svg::draw(&timeline);
    let file = std::env::temp_dir().join("copyback-timeline.svg");
    let is_expected = drawn == include_str!("expected.svg");
    if !is_expected {
        std::fs::write(&file, &drawn).expect("the folder of temporary files can be written to");
    }
    assert!(is_expected, "{} is not src/drawings/timeline/expected.svg", file.display());
}

/// A die that works from 2.3 ms on.
#[test]
fn a_drawing_begins_with_the_first_command() {
    let config = drive(1);
    let commands = commands(&config, vec![pages(Write, 2_300_000, 0, 1)], 0);
    let timeline = Timeline::new(&commands, &Geometry::new(&config.device()), &[0], 0, Some(10_000_000));
    let drawn = svg::draw(&timeline);
    assert!(drawn.contains("idle: 0 to 2") && drawn.contains(" to 10 ms"), "{drawn}");
}

/// A window with more commands than a picture has room for labels: it is three screens wide, and says what it omits. A
/// request of milliseconds is described in milliseconds.
#[test]
fn a_long_picture_has_a_bounded_width() {
    let config = drive(1);
    let mut script = vec![pages(Write, 0, 0, 1)];
    script.extend((1..100).map(|at| pages(Read, 1_000_000 * at, 0, 1)));
    let commands = commands(&config, script, 0);
    let mark = MarkedRequest { request: 0, op: "write", arrival_ns: 20_974_213, end_ns: 20_974_213 + 58_111_662 };
    let timeline = Timeline::new(&commands, &Geometry::new(&config.device()), &[0], 0, Some(100_000_000));
    let drawn = svg::draw(&timeline);
    assert!(width_px(&drawn) < 4_300.0 && width_px(&drawn) > 3_000.0, "{}", width_px(&drawn));
    assert!(drawn.contains("labels without room are omitted"), "{drawn}");
    let about = svg::draw(&timeline.about(mark));
    let says = "write 0 arrives at 20.974 ms and takes 58.112 ms";
    assert_eq!(about.matches(says).count(), 2, "in its title, and where the pointer is: {about}");
}
