//! Traces that users bring: from standard input, with columns of their own, and onto drives that do not fit them.

use crate::common::*;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::io::Write;
use std::process::{Command, Stdio};

const TABLE: &str = "ts,rw,lba,size\n0,W,0,8192\n9,R,0,512\n";

const COLUMNS: [&str; 4] = ["arrival_us=ts", "op=rw", "offset_bytes=lba", "length_bytes=size"];

/// The program, with a text on its standard input.
fn piped(arguments: &[&str], text: &str) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_copyback"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// A file of this content, and its path.
fn file(name: &str, content: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn a_trace_comes_from_standard_input() {
    let msr = "10,a,0,Write,0,8192,1\n20,a,0,Read,0,4096,1\n";
    let info = output_text(&piped(&["trace", "info", "-"], msr));
    assert!(info.contains("format `msr`") && info.contains("requests    2"), "{info}");
    let run = output_text(&piped(&["compare", "--trace", "-", "--schemes", "baseline,ideal-no-gc"], msr));
    assert!(run.contains("2 requests of -"), "{run}");
    let wrong = piped(&["trace", "info", "-"], &format!("{msr}nonsense\n"));
    assert!(code(&wrong) == 2 && error_text(&wrong).contains("standard input, line 3"), "{}", error_text(&wrong));
}

/// A remedy that is already applied is no remedy: packed addresses cannot be packed again.
#[test]
fn a_packed_trace_is_not_told_to_pack() {
    let (_folder, path) = file("tiny.csv", "10,a,0,Write,0,8192,1\n20,a,0,Write,65536,4096,1\n");
    let help = |more: &[&str]| error_text(&copyback(&[&["run", "--trace", &path, "--fit", "1e-300"], more].concat()));
    let pack = "workload.layout=compact";
    assert!(help(&[]).contains(pack), "{}", help(&[]));
    let packed = help(&["--set", pack]);
    assert!(packed.contains("take a device with") && !packed.contains("pack the used"), "{packed}");
}

/// A mistyped column is corrected, too, not only refused.
#[test]
fn a_mistyped_column_is_corrected() {
    let (_folder, path) = file("bare.txt", "0,W,0,4096\n10,R,4096,4096\n");
    let wrong = error_text(&copyback(&["trace", "info", &path, "--columns", "time_us,op,offsett,length"]));
    assert!(wrong.contains("did you mean `offset` instead of `offsett`"), "{wrong}");
}

/// The advice names a number that is still above one.
#[test]
fn a_drive_that_is_too_large_is_to_have_fewer_planes() {
    let (_folder, path) = file("tiny.csv", "10,a,0,Write,0,8192,1\n20,a,0,Write,65536,4096,1\n");
    let run = |more: &[&str]| {
        error_text(&copyback(&[&["run", "--trace", &path, "--fit", "0.9"], more].concat())).replace("\n        ", " ")
    };
    assert!(run(&[]).contains("or take a drive with fewer planes (--set geometry.channels=1)"), "{}", run(&[]));
    let one = run(&["--set", "geometry.channels=1"]);
    assert!(one.contains("or take a drive with fewer planes (--set geometry.chips_per_channel=1)"), "{one}");
}

/// The note comes before a drive is filled that need not be so large.
#[test]
fn a_sparse_trace_is_noted_before_its_drive_is_made() {
    let far = 64 << 20;
    let (_folder, path) = file("far.csv", &format!("10,a,0,Write,0,8192,1\n20,a,0,Write,{far},4096,1\n"));
    let run = |more: &[&str]| error_text(&copyback(&[&["run", "--trace", &path, "--fit", "0.3"], more].concat()));
    let told = "The trace uses 12.0 KiB of what it addresses: with --set workload.layout=compact";
    assert!(run(&[]).contains(told), "{}", run(&[]));
    assert!(!run(&["--quiet"]).contains(told));
}

#[test]
fn columns_are_named_on_the_command_line_or_in_a_file() {
    let (folder, path) = file("mine.csv", TABLE);
    let settings = COLUMNS.map(|setting| format!("workload.columns.{setting}"));
    let mut arguments = vec!["run", "--trace", &path];
    settings.iter().for_each(|setting| arguments.extend(["--set", setting]));
    let run = output_text(&copyback(&arguments));
    assert!(run.contains("format `csv`"), "{run}");
    let columns = COLUMNS.map(|setting| setting.replace('=', " = \"") + "\"").join("\n");
    let workload = folder.path().join("mine.toml");
    std::fs::write(&workload, format!("[workload]\ntrace = \"mine.csv\"\n[workload.columns]\n{columns}\n")).unwrap();
    let info = output_text(&copyback(&["trace", "info", workload.to_str().unwrap()]));
    assert!(info.contains("9.00 us"), "the times are in microseconds: {info}");
    let mut arguments = vec!["trace", "info", &path];
    settings.iter().for_each(|setting| arguments.extend(["--set", setting]));
    assert!(output_text(&copyback(&arguments)).contains("9.00 us"));
    let drive = copyback(&["trace", "info", &path, "--set", "geometry.channels=2"]);
    assert!(code(&drive) == 2 && error_text(&drive).contains("uses keys of `workload` only"), "{}", error_text(&drive));
    let wrong = copyback(&["run", "--trace", &path, "--set", "workload.columns.offset=lba"]);
    assert!(code(&wrong) == 2 && error_text(&wrong).contains("did you mean `offset_"), "{}", error_text(&wrong));
}

/// Writes of 16 KiB, 1 GiB apart from each other: a sparse trace.
fn sparse(pages: u64) -> String {
    (0..pages).map(|page| format!("{},a,0,Write,{},16384,1\n", 10 * page, page << 30)).collect()
}

#[test]
fn a_drive_is_sized_for_a_trace() {
    let (_folder, path) = file("sparse.csv", &sparse(2048));
    let compact = ["--trace", &path, "--set", "workload.layout=compact"];
    let run = |more: &[&str]| copyback(&[&["compare", "-S", "baseline,pgc"], &compact[..], more].concat());
    // 32 MiB are a fifth of 160 MiB. The device's 800 MiB are made of 128 blocks a plane, each 6.25 MiB: 26 are enough
    // and 25 are not.
    let text = output_text(&run(&["--fit", "0.2"]));
    let note = "--fit 0.2 gave each plane 26 blocks: the trace addresses 32.0 MiB of the drive's";
    assert!(text.contains(note) && !text.contains("far smaller drive"), "{text}");
    assert!(text.contains("--fit 0.2 --set workload.layout=compact --scheme baseline"), "the same drive next: {text}");
    let config = output_text(&copyback(&[&["run", "--print-config", "--fit", "0.2"], &compact[..]].concat()));
    assert!(config.contains("blocks_per_plane = 26"), "{config}");
    for (more, says) in [
        (
            &["--fit", "0.9"][..],
            &["--fit 0.9 for a trace that addresses 32.0 MiB makes", "lower the share of --fit, for example to 0.36"][..],
        ),
        (&["--fit", "0.9"], &["planes (--set geometry.channels=1)"]),
        (&["--fit", "1e-300"], &["--fit 1e-300 for", "4,294,967,295 blocks or more", "for example to 4.9e-6"]),
        (&["--fit", "1.5"], &["a share is above 0 and at most 1; write for example 0.9"]),
        (&["--fit", "0"], &["a share is above 0 and at most 1; write for example 0.9"]),
        (&["--fit", "nan"], &["a share is above 0 and at most 1; write for example 0.9"]),
        (&["--fit", "-1"], &["invalid value '-1'", "a share is above 0 and at most 1; write for example 0.9"]),
        (&["--fit", "-0.5"], &["invalid value '-0.5'"]),
        (&["--fit", "0.5"], &["--fit 0.5 for a trace that addresses 32.0 MiB makes 11 blocks in a plane"]),
        (&["--fit", "90"], &["for 90 per cent write 0.9"]),
        (&["--fit", "0.5", "--set", "capacity.logical=64 MiB"], &["`capacity.logical` has set its capacity to 64 MiB"]),
        (
            &["--fit", "0.5", "--set", "geometry.blocks_per_plane=64"],
            &["which --set sets, too", "leave one of them out"],
        ),
    ] {
        let output = run(more);
        assert_eq!(code(&output), 2, "{more:?}: {}", output_text(&output));
        assert!(
            !error_text(&output).contains("--set:"),
            "the user did not type the number of blocks: {}",
            error_text(&output)
        );
        says.iter().for_each(|part| assert!(error_text(&output).contains(part), "{more:?}: {}", error_text(&output)));
    }
    let advised = run(&["--fit", "0.36"]);
    assert!(
        output_text(&advised).contains("--fit 0.36 gave each plane 15 blocks"),
        "the remedy helps: {}",
        error_text(&advised)
    );
    let generated = copyback(&["run", "--workload", "financial-like", "--fit", "0.9"]);
    assert!(error_text(&generated).contains("this workload is generated for the drive"), "{}", error_text(&generated));
    // Two writes of 16 KiB, the second at the end of 40 MiB: 100 MiB are 16 blocks of each plane.
    let (_folder, path) = file("wide.csv", "10,a,0,Write,0,16384,1\n20,a,0,Write,41926656,16384,1\n");
    let text = output_text(&copyback(&["run", "--trace", &path, "--fit", "0.4"]));
    assert!(text.contains("gave each plane 16 blocks") && text.contains("It uses 32.0 KiB of that"), "{text}");
    // The trace's own addresses end at 32 TiB, and no such drive has planes so small.
    let (_folder, path) = file("far.csv", &format!("10,a,0,Write,{},4096,1\n", (1_u64 << 45) - 4096));
    let as_is = copyback(&["run", "--trace", &path, "--fit", "0.9"]);
    assert!(error_text(&as_is).contains("no share makes it small enough"), "{}", error_text(&as_is));
    assert!(code(&as_is) == 2 && error_text(&as_is).contains("workload.layout=compact"), "{}", error_text(&as_is));
}

/// Each cell holds the same data at its own over-provisioning: 32 MiB are 0.4 of 80 MiB, and a block of each plane of
/// one channel is 2 MiB of flash.
#[test]
fn a_sweep_sizes_the_drive_of_each_cell() {
    let (folder, trace) = file("sparse.csv", &sparse(2048));
    let grid = |more: &str| {
        let text = format!(
            "scheme = \"baseline\"\nrequests = 2048\ntrace = {trace:?}\n\
             set.workload.layout = \"compact\"\nset.geometry.channels = 1\n{more}"
        );
        let path = folder.path().join("grid.toml");
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let out = folder.path().join("grid.parquet");
    let sweep = |file: &str, more: &[&str]| {
        copyback(&[&["sweep", file, "--quiet", "--out", out.to_str().unwrap()], more].concat())
    };
    let vary = "[vary]\ncapacity.over_provisioning = [0.25, 0.5]\n";
    let file = grid(vary);
    let asked = ["--fit", "0.4", "--min", "capacity.over_provisioning"];
    let output = sweep(&file, &asked);
    let text = output_text(&output);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    assert!(
        text.contains("Note: --fit 0.4 gave each plane ") && text.contains(" blocks, so that each cell's"),
        "{text}"
    );
    assert!(text.contains("Least `capacity.over_provisioning`: 0.25"), "{text}");
    let capacities = |share: f64| {
        let reader = SerializedFileReader::new(std::fs::File::open(&out).unwrap()).unwrap();
        let configs = reader.get_row_iter(None).unwrap().map(|row| {
            let row = row.unwrap();
            match row.get_column_iter().find(|(name, _)| *name == "config") {
                Some((_, Field::Str(config))) => config.clone(),
                other => panic!("no configuration: {other:?}"),
            }
        });
        let blocks = |config: String| {
            let config: toml::Table = config.parse().unwrap();
            let (geometry, capacity) = (&config["geometry"], &config["capacity"]);
            let blocks = geometry["blocks_per_plane"].as_integer().unwrap();
            (blocks, capacity["over_provisioning"].as_float().unwrap())
        };
        let all: Vec<(i64, f64)> = configs.map(blocks).collect();
        // As few blocks as leave the trace its share.
        for (blocks, spare) in &all {
            let logical = |blocks: i64| 2.0 * blocks as f64 / (1.0 + spare);
            assert!(logical(*blocks) * share >= 31.9 && logical(blocks - 1) * share <= 32.1, "{blocks} at {spare}");
        }
        all
    };
    let [small, large] = capacities(0.4)[..] else { panic!("two cells") };
    assert!(small.1 < large.1 && small.0 < large.0, "{small:?} {large:?}");
    // The journal knows a cell by the drive that the share made.
    assert!(output_text(&sweep(&file, &asked)).contains("2 of 2 cells were done before"));
    let other = output_text(&sweep(&file, &["--fit", "0.3"]));
    assert!(!other.contains("were done before"), "{other}");
    capacities(0.3);

    let refused = |file: &str, more: &[&str], says: &[&str]| {
        let output = sweep(file, more);
        assert_eq!(code(&output), 2, "{more:?}: {}", output_text(&output));
        says.iter().for_each(|part| assert!(error_text(&output).contains(part), "{part}: {}", error_text(&output)));
    };
    let set = ["--fit", "0.4", "--set", "geometry.blocks_per_plane=64"];
    refused(&file, &set, &["`geometry.blocks_per_plane`, which --set sets, too", "leave one of them out"]);
    let tight = grid("[vary]\ncapacity.over_provisioning = [0.5, 0.05]\n");
    refused(
        &tight,
        &["--fit", "0.9"],
        &["capacity.over_provisioning=0.05: --fit 0.9 for a trace that addresses 32.0 MiB"],
    );
    let blocks = grid(&format!("set.geometry.blocks_per_plane = 64\n{vary}"));
    refused(&blocks, &["--fit", "0.4"], &["grid.toml:6:", "which the file chooses here, too"]);
    let blocks = grid("[vary]\ngeometry.blocks_per_plane = [64, 80]\n");
    refused(&blocks, &["--fit", "0.4"], &["grid.toml:7:", "which the file chooses here, too"]);
    let generated = folder.path().join("generated.toml");
    std::fs::write(&generated, "scheme = \"baseline\"\nworkload = \"random-write\"\nrequests = 50\n").unwrap();
    refused(generated.to_str().unwrap(), &["--fit", "0.4"], &["this workload is generated for the drive"]);
}

/// 32 MiB of a drive of 162 MiB, which has 26 blocks in a plane, 5 of them spare.
#[test]
fn what_is_large_for_a_small_drive_is_noted() {
    let (_folder, path) = file("sparse.csv", &sparse(2048));
    let notes = |set: &[&str]| {
        let base =
            ["run", "--trace", &path, "--set", "workload.layout=compact", "--fit", "0.2", "--scheme", "baseline"];
        let sets = set.iter().flat_map(|set| ["--set", set]);
        output_text(&copyback(&base.into_iter().chain(sets).collect::<Vec<_>>()))
    };
    let kept = "`trigger.soft = 3` counts blocks, however few a drive has: collection keeps 3 of the 5 spare blocks";
    assert!(notes(&["trigger.soft=3"]).contains(kept));
    let kept = "`trigger.stop = 4` counts blocks, however few a drive has: collection keeps 4 of the 5 spare blocks";
    assert!(notes(&["trigger.soft=2", "trigger.stop=4"]).contains(kept));
    let kept = "`trigger.soft = 0.1` is a share of all blocks: collection keeps 3 of the 5 spare blocks";
    assert!(notes(&["trigger.soft=0.1"]).contains(kept));
    for soft in ["trigger.soft=2", "trigger.soft=0.07"] {
        assert!(!notes(&[soft]).contains("spare blocks of each plane"), "{soft}");
    }
    let buffered = |size: &str| notes(&["buffer.policy=lru", &format!("buffer.size={size} MiB")]);
    let large = "the buffer holds 163 MiB (`buffer.size`), and the drive 162.5 MiB";
    assert!(buffered("163").contains(large));
    assert!(!buffered("162").contains("the buffer holds"));
    let idle = ["buffer.policy=lru", "buffer.size=163 MiB", "buffer.idle_after=10 ms"];
    assert!(!notes(&idle).contains("the buffer holds"));
    // The second plane's watermark is a block above that of the first.
    let kept = "`trigger.soft = 2` counts blocks, however few a drive has: collection, with `trigger.stagger`, \
                keeps 3 of the 5 spare blocks";
    assert!(notes(&["trigger.soft=2", "trigger.stagger=1"]).contains(kept));
}

#[test]
fn what_does_not_fit_is_told_of_the_compact_layout_and_fits_with_it() {
    let (_folder, path) = file("sparse.csv", &sparse(20));
    let refused = copyback(&["run", "--trace", &path]);
    assert!(
        code(&refused) == 2 && error_text(&refused).contains("--set workload.layout=compact"),
        "{}",
        error_text(&refused)
    );
    let text = output_text(&copyback(&["run", "--trace", &path, "--set", "workload.layout=compact"]));
    assert!(text.contains("addresses packed into 320 KiB"), "{text}");
}

#[test]
fn the_old_name_of_the_event_is_refused_with_the_new_one() {
    let (_folder, path) = file("queued.txt", "8,0 0 1 0.1 7 Q R 0 + 8 [x]\n");
    let old = copyback(&["run", "--trace", &path, "--set", "workload.block_action=Q"]);
    assert!(error_text(&old).contains("`workload.block_action` is now `workload.event`"), "{}", error_text(&old));
    let none = copyback(&["run", "--trace", &path]);
    assert!(error_text(&none).contains("--set workload.event=Q"), "{}", error_text(&none));
    let run = copyback(&["run", "--trace", &path, "--set", "workload.event=Q"]);
    assert_eq!(code(&run), 0, "{}", error_text(&run));
}

#[test]
fn a_format_that_is_not_read_is_refused_by_name() {
    let (_folder, path) = file("a.csv", &sparse(2));
    let refused = copyback(&["run", "--trace", &path, "--format", "oracleGeneral"]);
    assert_eq!(code(&refused), 2);
    assert!(
        error_text(&refused).contains("neither whether it reads or writes nor where its object lies"),
        "{}",
        error_text(&refused)
    );
}

/// On an empty drive, with policies that draw nothing, a replayed trace is the same with each seed.
#[test]
fn seeds_that_change_nothing_are_told() {
    let (folder, trace) = file("sparse.csv", &sparse(400));
    let sweep = |text: &str| {
        let path = folder.path().join("grid.toml");
        let common = "scheme = \"baseline\"\nrequests = 300\nset.workload.layout = \"compact\"\n";
        std::fs::write(&path, format!("{common}{text}")).unwrap();
        let out = folder.path().join("grid.parquet");
        let output = copyback(&["sweep", path.to_str().unwrap(), "--quiet", "--fresh", "--out", out.to_str().unwrap()]);
        assert_eq!(code(&output), 0, "{text}: {}", error_text(&output));
        output_text(&output)
    };
    let (says, empty) = ("Note: all seeds give the same results", "set.precondition.mode = \"empty\"\n");
    let replayed = format!("trace = {trace:?}\n");
    let text = sweep(&format!("{replayed}seeds = [1, 2]\n{empty}"));
    assert!(text.contains(&format!("{says}: the requests are the trace's")), "{text}");
    assert!(!sweep(&format!("{replayed}seed = 1\n{empty}")).contains(says), "one seed");
    let some = "[vary]\nprecondition.mode = [\"empty\", \"random\"]\n";
    let text = sweep(&format!("{replayed}seeds = [1, 2]\nset.geometry.channels = 1\n{some}"));
    assert!(text.contains(&format!("{says} in 1 of 2 groups of cells that differ only in the seed")), "{text}");
}
