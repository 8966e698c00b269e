//! The use of a die over time, in one scene that is played with every scheme.
//!
//! Two dies of two planes; plane 0 is collected from time 0 on, and five requests for its die arrive while the first
//! page is read. Most schemes leave the second die idle.

use copyback::config::layers::Layer;
use copyback::config::presets::Preset;
use copyback::ftl::victim::VictimConfig;
use copyback::observe::commands::CommandRecord;
use copyback::observe::timeline::{Timeline, text};
use copyback::run::config::RunConfig;
use copyback::run::config::Stack;
use copyback::scene::Block::{self, Free, Full, Holds};
use copyback::scene::SceneOp::{self, Read, Write};
use copyback::scene::{Played, Scene};
use copyback_lab::Failure;
use copyback_lab::files::forget_descriptions;

/// The drive, in round times; everything that the schemes leave open is as it is by default.
const DRIVE: &str = r#"
trigger = { policy = "watermark", soft = 1 }
precondition = { mode = "empty" }
capacity = { logical = "3 MiB" }
commands = { cache_read = true, cache_program = true }
# A page takes 200 us on the channel.
timing = { read = "400 us", program = "800 us", erase = "2 ms", channel = "81920 KB/s" }

[geometry]
channels = 1
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 2
blocks_per_plane = 10
pages_per_block = 8
page_size = "16 KiB"
"#;

/// Blocks 2 and 3 have the fewest valid pages. Block 2 is collected unless a scheme looks at more than that.
const PLANE_0: [Block; 10] = [Full, Full, Holds(&[1, 3, 5]), Holds(&[1, 3, 6]), Free, Free, Free, Free, Free, Free];
const OTHER_PLANE: [Block; 10] = [Full, Full, Full, Full, Free, Free, Free, Free, Free, Free];

/// Each request: its name, its relation to the collection, and its operation.
pub const REQUESTS: [(&str, &str, SceneOp); 5] = [
    ("read of plane 0, page 1 of block 2", "the page that is being moved", Read(0, 2, 1)),
    ("read of plane 1, page 3 of a block", "a page at this offset is moved later", Read(1, 1, 3)),
    ("read of plane 1, page 6 of a block", "no page at this offset is moved", Read(1, 2, 6)),
    ("write to plane 1", "the other plane", Write(1)),
    ("write to plane 0", "the plane that is collected", Write(0)),
];

/// When the requests come.
pub const ARRIVAL_NS: u64 = 200_000;
/// Time of a column of the drawing.
const COLUMN_NS: u64 = 100_000;

/// The scene's drive with a scheme.
fn config(scheme: &Preset) -> Result<RunConfig, Failure> {
    let mut stack = Stack::new();
    for (name, text) in [("scene", DRIVE), (scheme.name, scheme.text)] {
        let mut layer = Layer::parse(name, text)?;
        forget_descriptions(&mut layer)?;
        stack.push(layer);
    }
    Ok(stack.resolve_parts()?.run)
}

/// Whether the requests already wait when the collection begins, for schemes whose victim depends on waiting requests.
pub fn is_early(scheme: &Preset) -> Result<bool, Failure> {
    Ok(matches!(config(scheme)?.victim, VictimConfig::ReadMatch(_)))
}

/// Plays a scheme's scene.
pub fn play(scheme: &Preset) -> Result<Played, Failure> {
    play_as(scheme, is_early(scheme)?)
}

/// Plays the scene with requests that come before the collection, or during its first read.
pub fn play_as(scheme: &Preset, is_early: bool) -> Result<Played, Failure> {
    let config = config(scheme)?;
    let requests = REQUESTS.map(|(_, _, asks)| (if is_early { 0 } else { ARRIVAL_NS }, asks));
    let scene = Scene {
        config: &config,
        planes: &[&PLANE_0, &OTHER_PLANE, &OTHER_PLANE, &OTHER_PLANE],
        collects: &[0],
        requests: &requests,
    };
    Ok(scene.play()?)
}

/// The first die, and the second if it is in use, from the beginning to the end of the last command.
pub fn timeline(played: &Played) -> Timeline {
    let end_ns = played.commands.iter().map(CommandRecord::end_ns).max().unwrap_or(0);
    let is_used = |die: &u32| *die == 0 || played.commands.iter().any(|command| command.die == *die);
    let dies: Vec<u32> = (0..played.geometry.dies).filter(is_used).collect();
    Timeline::new(&played.commands, &played.geometry, &dies, 0, Some(end_ns))
}

/// The timeline in characters.
pub fn drawing(played: &Played, columns: usize) -> String {
    text::draw(&timeline(played), text::Scale { columns, ns_per_column: Some(COLUMN_NS) })
}
