//! Is each setting that an error or a note advises accepted?

use crate::common::*;

const DEVICE: &str = "timing = { read = \"50 us\", program = \"600 us\", erase = \"3 ms\", channel = \"800 MB/s\" }\n\
                      capacity = { over_provisioning = 0.2 }\n\
                      geometry = { channels = 2, chips_per_channel = 1, dies_per_chip = 2, planes_per_die = 2, \
                      blocks_per_plane = 32, pages_per_block = 16, page_size = \"4 KiB\" }\n";
const TRACE: &str = "arrival_us,op,offset_bytes,length_bytes\n0,W,0,4096\n100,R,0,4096\n200,W,8192,4096\n";
const READS: &str = "[workloads.a]\nshare = 0.5\nrequests = 20\nread_share = 0.5\n\
                     size = { kind = \"fixed\", mean = \"4 KiB\" }\n";

/// The values of `--set` in a text, broken into lines or not.
fn advised(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let behind = words.windows(2).filter(|pair| pair[0].ends_with("--set"));
    behind.map(|pair| pair[1].trim_end_matches([',', ';', ')', '.']).to_owned()).collect()
}

/// Every advice of a run that is too short for its warm-up, for one workload, several, and jobs of fio.
#[test]
fn every_advised_setting_is_accepted() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("the file can be written");
        path.to_str().expect("names of tests are UTF-8").to_owned()
    };
    let (device, trace) = (write("d.toml", DEVICE), write("t.csv", TRACE));
    let several = write("two.toml", &format!("{READS}[workloads.b]\nshare = 0.5\ntrace = \"t.csv\"\n"));
    let passes = write("passes.toml", &format!("{READS}passes = 0.01\n"));
    let many: String =
        (0..6).map(|number| READS.replace(".a]", &format!(".w{number}]")).replace("0.5", "0.1")).collect();
    let many = write("many.toml", &many);
    let job = "--name=a --rw=randwrite --bs=4k --size=64k";
    for workload in [
        &["--trace", &*trace][..],
        &["--workload", "mixed-70-30", "--set", "workload.requests=50"],
        &[&*several],
        &[&*passes],
        &[&*many],
        &["--fio-args", job],
    ] {
        for warmup in ["500", "10s", "steady"] {
            let base = ["run", "-q", "--device", &device, "--set", "precondition.mode=empty", "--warmup", warmup];
            let words = [&base[..], workload].concat();
            let output = copyback(&words);
            let help = error_text(&output);
            assert_eq!(code(&output), 2, "{words:?}: {}", output_text(&output));
            let sets = advised(&help);
            assert!(!sets.is_empty() || help.contains("raise their") || warmup == "10s", "{words:?}: {help}");
            if workload[0] == "--fio-args" {
                assert!(help.contains("multiply their `loops` by") || warmup == "steady", "{help}");
            }
            for set in sets.iter().filter(|set| !set.starts_with("precondition.")) {
                let with = [&words[..], &["--set", set, "--print-config"]].concat();
                let with: Vec<&str> = with.into_iter().filter(|word| *word != "workload.requests=50").collect();
                let with: Vec<&str> = match workload[0] {
                    // The option whose value was left out above.
                    "--workload" => {
                        let at = with.iter().position(|word| *word == "mixed-70-30").expect("it is named") + 1;
                        with.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, word)| *word).collect()
                    }
                    _ => with,
                };
                let tried = copyback(&with);
                assert_eq!(code(&tried), 0, "{with:?}: {}", error_text(&tried));
            }
        }
    }
    // All settings together suffice.
    let base = ["run", "-q", "--device", &device, "--set", "precondition.mode=empty", "--warmup", "500", &several];
    let sets = advised(&error_text(&copyback(&base)));
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let output = copyback(&[&base[..], &sets].concat());
    assert_eq!(code(&output), 0, "{sets:?}: {}", error_text(&output));
}

/// A write that has not ended is a write.
#[test]
fn a_workload_of_one_write_has_a_write() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let one = folder.path().join("one.csv");
    std::fs::write(&one, "time_us,op,offset,length\n1,W,0,4096\n").expect("the file can be written");
    let output = copyback(&["run", "-q", "--trace", one.to_str().expect("it is UTF-8"), "--warmup", "steady"]);
    let text = error_text(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("ended after 1 request before the drive was steady: it takes 5 rounds"), "{text}");
    assert!(!text.contains("inf") && !text.contains("without a write"), "{text}");
}

/// An error on a file in the wrong position says what kind of file it is.
#[test]
fn files_in_the_wrong_position_are_named_for_what_they_are() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let write = |name: &str, text: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("the file can be written");
        path.to_str().expect("names of tests are UTF-8").to_owned()
    };
    let trace = write("t.csv", TRACE.as_bytes());
    let experiment = write("exp.toml", b"device = \"small\"\nscheme = \"baseline\"\n");
    let sweep = write("sw.toml", b"schemes = [\"baseline\"]\n[vary]\ntrigger.soft = [0.05, 0.1]\n");
    let own = write("own.toml", b"schemes = [\"baseline\"]\n[workload]\nrequests = 10\n");
    let job = write("j.fio", b"[a]\nrw=write\nsize=4k\nfilename=\xff\n");
    let huge = write("huge.toml", b"[workload]\nrequests = 99999999999999999999999\n");
    let same = folder.path().join("same");
    let same = same.to_str().expect("names of tests are UTF-8");
    let of_sweep = format!("copyback sweep {sweep}");
    for (words, says) in [
        (
            &["run", "--trace", &trace, "--device", "259,0"][..],
            &["unknown device `259,0`", "workload.device=259,0"][..],
        ),
        (&["run", "--device", &experiment], &["`device` belongs in an experiment", "pass it as such", "copyback run"]),
        (&["run", &sweep], &["is a sweep", &of_sweep, "sw.toml:2:1"]),
        (&["sweep", &own, "--list"], &["`[workload]` is a table of an experiment", "names its workloads"]),
        (&["run", &job], &["job file of fio is text"]),
        (&["run", "--workload", &huge], &["the number 99999999999999999999999 is too large"]),
        (&["run", "--requests", "10", "--json", same, "--out", same], &["have one name: a file and a folder"]),
        (&["run", "--trace", &trace, "--set", "workload.time_scale=1e308", "-q"], &["time_scale 1e308 moves"]),
    ] {
        let output = copyback(words);
        let text = error_text(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(code(&output), 2, "{words:?}: {text}");
        says.iter().for_each(|part| assert!(text.contains(part), "{words:?} does not say `{part}`: {text}"));
        assert!(!std::path::Path::new(same).exists(), "nothing is written");
    }
}

/// The drive is sized for the whole trace, and `--requests` runs a part of it: both notes say what they count.
#[test]
fn a_fit_says_that_it_is_for_the_whole_trace() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let far: String = (0..3_000_u64).map(|at| format!("{at},W,{},4096\n", at * 7_919 % 4_096 * 1_048_576)).collect();
    let path = folder.path().join("far.csv");
    std::fs::write(&path, format!("arrival_us,op,offset_bytes,length_bytes\n{far}")).expect("the file can be written");
    let path = path.to_str().expect("names of tests are UTF-8");
    let base = ["run", "-q", "--trace", path, "--set", "workload.layout=compact", "--fit", "0.1"];
    let text = |more: &[&str]| output_text(&copyback(&[&base[..], more].concat()));
    assert!(text(&["--requests", "100"]).contains("the whole trace addresses"));
    assert!(text(&[]).contains(": the trace addresses"));
}
