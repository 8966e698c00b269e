//! Do errors and notes name the key that the reader has to change, and a remedy that works?

use crate::common::*;
use tempfile::TempDir;

const GEOMETRY: &str = "[geometry]\nchannels = 2\nchips_per_channel = 1\ndies_per_chip = 2\nplanes_per_die = 2\n\
                        blocks_per_plane = 32\npages_per_block = 16\npage_size = \"4 KiB\"\n";
const DEVICE: &str = "timing = { read = \"50 us\", program = \"600 us\", erase = \"3 ms\", channel = \"800 MB/s\" }\n\
                      capacity = { over_provisioning = 0.2 }\n";
const TRACE: &str = "arrival_us,op,offset_bytes,length_bytes\n0,W,0,4096\n100,R,0,4096\n200,W,8192,4096\n";

/// A folder with a drive of 16 MiB, `s.toml`, and a trace of three requests, `t.csv`.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().expect("a folder can be made"));
        place.write("s.toml", &format!("{DEVICE}{GEOMETRY}"));
        place.write("t.csv", TRACE);
        place
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("names of tests are UTF-8").to_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).expect("the file can be written");
        self.path(name)
    }

    /// The output of `copyback run` on the drive.
    fn run(&self, words: &[&str]) -> String {
        let base = ["run", "-q", "--device", &self.path("s.toml"), "--set", "precondition.mode=empty"];
        let output = copyback(&[&base[..], words].concat());
        assert_eq!(code(&output), 0, "{words:?}: {}", error_text(&output));
        output_text(&output).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// A command that is refused, whose error has all of these.
    fn refused(&self, words: &[&str], says: &[&str]) {
        let output = copyback(words);
        assert_eq!(code(&output), 2, "{words:?}: {}", output_text(&output));
        says.iter().for_each(|part| assert!(error_text(&output).contains(part), "`{part}`: {}", error_text(&output)));
    }
}

/// Two workloads, each on a half of the drive.
const TWO: &str = "[workloads.a]\nshare = 0.5\nrequests = 20\nread_share = 0.5\n\
                   size = { kind = \"fixed\", mean = \"4 KiB\" }\n\
                   [workloads.b]\nshare = 0.5\nrequests = 20\nread_share = 0.5\n\
                   size = { kind = \"fixed\", mean = \"4 KiB\" }\n";

#[test]
fn a_run_that_ends_before_the_requested_number_of_requests_is_noted() {
    let place = Place::new();
    let (trace, two) = (place.path("t.csv"), place.write("two.toml", TWO));
    let job = "--name=a --rw=write --bs=4k --size=64k";
    // Three lines of the trace, two times 20 requests, and 64 KiB in pieces of 4 KiB.
    for (words, note) in [
        (&["--trace", &*trace][..], "the workload has 3 requests, but 5,000 are requested; set `workload.loop`"),
        (
            &["--trace", &trace, "--set", "workload.loop=2"],
            "the workload has 6 requests, but 5,000 are requested; raise `workload.loop`",
        ),
        (&[&*two], "the workloads have 40 requests, but 5,000 are requested; raise their `requests`"),
        (&["--fio-args", job], "the jobs have 16 requests, but 5,000 are requested; raise their `size`"),
    ] {
        let text = place.run(&[words, &["--requests", "5000"]].concat());
        assert!(text.contains(note), "{words:?}: {text}");
        assert!(!place.run(&[words, &["--requests", "3"]].concat()).contains("are requested"), "{words:?}");
    }
}

#[test]
fn keys_of_one_of_several_workloads_are_named_as_its_file_has_them() {
    let place = Place::new();
    // 4 GiB are beyond any half of 16 MiB.
    let far = place.write("far.csv", "arrival_us,op,offset_bytes,length_bytes\n0,W,4294967296,4096\n");
    let file = "[workloads.a]\nshare = 0.5\ntrace = \"far.csv\"\n[workloads.b]\nshare = 0.5\ntrace = \"t.csv\"\n";
    let file = place.write("both.toml", file);
    let device = place.path("s.toml");
    let words = ["run", "-q", "--device", &device, &file];
    let says = ["workload `a`: ", "--set workloads.a.layout=compact", "set `workloads.a.beyond_capacity` to `fold`"];
    place.refused(&words, &says);
    assert!(std::path::Path::new(&far).exists());
    // The remedies are accepted.
    place.run(&[&file, "--set", "workloads.a.layout=compact"]);
    place.run(&[&file, "--set", "workloads.a.beyond_capacity=fold"]);
    let text = place.run(&[&file, "--set", "workloads.a.layout=compact", "--set", "workloads.b.reorder_window=5"]);
    assert!(text.contains("workload `b`: `workloads.b.reorder_window` has no effect"), "{text}");
}

#[test]
fn a_key_of_a_table_inside_is_suggested() {
    let place = Place::new();
    let two = place.write("two.toml", TWO);
    for (words, says) in [
        (&["--set", "workload.sequential_share=0.5"][..], "did you mean `addresses.sequential_share`? keys: "),
        (&["--set", "workload.theta=0.9"], "did you mean `addresses.theta`?"),
        (&["--set", "workload.rate=100"], "did you mean `arrivals.rate` or `read_arrivals.rate`"),
        (&[&*two, "--set", "workloads.a.sequential_by_op=true"], "did you mean `addresses.sequential_by_op`?"),
        (&["--set", "trigger.after=1 ms"], "did you mean `idle.after`?"),
        // A misspelt key is still the nearest of its own table.
        (&["--set", "workload.read_shar=0.5"], "did you mean `read_share`?"),
    ] {
        place.refused(&[&["run", "-q"][..], words].concat(), &["unknown key", says]);
    }
}

#[test]
fn an_experiment_names_a_trace_as_a_sweep_does() {
    let place = Place::new();
    let top = place.write("top.toml", "trace = \"t.csv\"\nrequests = 3\n[workload]\ntime_scale = 2.0\n");
    let inside = place.write("inside.toml", "requests = 3\n[workload]\ntrace = \"t.csv\"\ntime_scale = 2.0\n");
    let [of_top, of_inside] = [&top, &inside].map(|file| place.run(&[file]));
    // The rest names the file and its hash.
    let times =
        |text: &str| text.split(" times class").nth(1).and_then(|rest| rest.split("Steady").next()).map(str::to_owned);
    assert!(times(&of_top).is_some() && times(&of_top) == times(&of_inside), "{of_top}");
    assert!(of_top.contains("format `csv`"), "{of_top}");
    let both = place.write("both.toml", "trace = \"t.csv\"\nworkload = \"oltp\"\n");
    place.refused(&["run", &both], &["`workload` and `trace` are both set", "both.toml:1:9", "remove one of the two"]);
    let twice = place.write("twice.toml", "trace = \"t.csv\"\n[workload]\ntrace = \"t.csv\"\n");
    place.refused(&["run", &twice], &["`trace` and `workload.trace` are both set", "twice.toml:1:1"]);
    let none = place.write("none.toml", "trace = \"none.csv\"\n");
    place.refused(&["run", &none], &["none.csv", "none.toml:1:9"]);
    place.refused(&["run", "--set", "trace=t.csv"], &["use `--trace`"]);
    let device = place.write("d.toml", &format!("trace = \"t.csv\"\n{DEVICE}{GEOMETRY}"));
    place.refused(&["run", "--device", &device], &["`trace` belongs in an experiment", "d.toml:1:1"]);
}

#[test]
fn a_device_without_one_of_its_tables_is_named_with_its_place() {
    let place = Place::new();
    let device = place.write("half.toml", GEOMETRY);
    let says =
        ["the device has no [timing] and no [capacity]", "half.toml:1:2", "add [timing] and [capacity]", "device = "];
    place.refused(&["run", "-q", "--device", &device], &says);
    // The second remedy: an experiment over a device.
    let over = place.write("over.toml", &format!("device = \"small\"\n{GEOMETRY}"));
    let output = copyback(&["run", "-q", &over, "--requests", "10", "--set", "precondition.mode=empty"]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
}

/// A name that is copied from two lines is another name.
#[test]
fn names_are_not_broken_at_their_hyphens() {
    let output = copyback(&["compare", "--schemes", "nosuch"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("`pgc-pipeline`") && text.contains("`ggc-reactive-selective`"), "{text}");
    assert!(text.lines().all(|line| !line.trim_end().ends_with('-')), "{text}");
}

#[test]
fn limits_that_were_never_reached_are_noted() {
    let place = Place::new();
    let trace = place.path("t.csv");
    let with_buffer = |words: &[&str]| place.run(&[&["--set", "buffer.policy=lru"], words].concat());
    // Two writes of 4 KiB do not fill 2 MiB; 2,000 writes fill 64 KiB.
    let few = with_buffer(&["--trace", &trace, "--set", "buffer.size=2 MiB", "--set", "buffer.low_water=0.9"]);
    for key in ["size", "low_water"] {
        assert!(few.contains(&format!("`buffer.{key}` has no effect: no buffer was ever full")), "{few}");
    }
    let many = ["--workload", "random-write", "--closed", "--requests", "2000", "--set", "buffer.size=64 KiB"];
    assert!(!with_buffer(&many).contains("was ever full"));
    assert!(!with_buffer(&["--trace", &trace]).contains("was ever full"), "the user set no limit");
    // One request at a time has few transactions; a search of one transaction is too short for two that wait.
    let scan = |most: &str, depth: &str| {
        let (most, depth) = (format!("compose.scan_max={most}"), format!("host.queue_depth={depth}"));
        let load = ["--workload", "random-write", "--closed", "--requests", "200"];
        place.run(&[&load[..], &["--set", &most, "--set", &depth]].concat())
    };
    let note = "`compose.scan_max` has no effect: no search looked at more than ";
    assert!(scan("64", "1").contains(note) && !scan("1", "32").contains(note), "{}", scan("64", "1"));
    // 32 writes wait, but the next one for another plane is among the first few. Reads of one offset are rare: a search
    // examines more than 16, the usual limit.
    assert!(scan("20", "32").contains(note), "{}", scan("20", "32"));
    let load = ["--workload", "random-read", "--closed", "--requests", "400", "--set", "precondition.mode=sequential"];
    let reads = place.run(&[&load[..], &["--set", "host.queue_depth=200", "--set", "compose.scan_max=400"]].concat());
    assert!(!reads.contains(note), "{reads}");
    assert!(!scan("16", "1").contains(note), "the default is no setting");
    let sorted = place.run(&["--trace", &trace, "--set", "workload.reorder_window=5"]);
    assert!(sorted.contains("`workload.reorder_window` has no effect"), "{sorted}");
    let late = place.write("late.csv", "arrival_us,op,offset_bytes,length_bytes\n5,W,0,4096\n0,W,8192,4096\n");
    let late = place.run(&["--trace", &late, "--set", "workload.reorder_window=5"]);
    assert!(!late.contains("has no effect"), "{late}");
}

#[test]
fn names_of_files_with_the_ending_of_another_format_are_refused() {
    let place = Place::new();
    let trace = place.path("t.csv");
    for (name, to, remedy) in
        [("o.parquet", "msr", "--to parquet"), ("o.csv", "parquet", "--to msr"), ("o.spc", "csv", "--to spc")]
    {
        let output = place.path(name);
        place.refused(&["trace", "convert", &trace, &output, "--to", to], &["another format", remedy]);
        assert!(!std::path::Path::new(&output).exists());
    }
    let document = place.path("r.json");
    place.run(&["--trace", &trace, "--json", &document]);
    let page = place.path("r.pdf");
    place.refused(&["report", &document, "-o", &page], &["a report is a page in HTML", "r.html"]);
}

#[test]
fn a_geometry_that_no_drive_has_is_not_converted() {
    let place = Place::new();
    for (count, says) in
        [("0", "use a number from 1 to 256"), ("999999", "use a number from 1 to 256"), ("99999999999", "too large")]
    {
        let xml =
            format!("<Device_Parameter_Set><Flash_Channel_Count>{count}</Flash_Channel_Count></Device_Parameter_Set>");
        let file = place.write("wrong.xml", &xml);
        place.refused(&["device", "from-mqsim", &file], &["`Flash_Channel_Count`", says]);
    }
}

#[test]
fn values_in_other_words_have_the_value_to_write_as_remedy() {
    let place = Place::new();
    for (set, says) in [
        ("capacity.over_provisioning=20%", "write over_provisioning = 0.2"),
        ("trigger.soft=5%", "write soft = 0.05"),
        ("workload.read_share=70 %", "write read_share = 0.7"),
    ] {
        place.refused(&["run", "-q", "--set", set], &[says]);
    }
    place.refused(
        &["run", "-q", "--set", "array.stripe_unit=1 TiB"],
        &["1.00 TiB are more than the ", "MiB of drive 0"],
    );
    let split = ["run", "-q", "--set", "buffer.size=2", "MiB"];
    place.refused(&split, &["there is no experiment MiB", "put a value with a blank in quotes: 'KEY=2 MiB'"]);
    let document = place.path("r.json");
    place.run(&["--trace", &place.path("t.csv"), "--json", &document]);
    let page = place.path("r.html");
    let words = ["report", &document, "-o", &page, "--where", "steady = yes"];
    place.refused(&words, &["no number `steady`", "`copyback sweep FILE --where` also compares texts"]);
    let job = "--name=a --rw=write --bs=4KiB --size=1m";
    place.refused(&["run", "-q", "--fio-args", job], &["4000 bytes", "fio's KiB has 1000 bytes", "write 4k"]);
}

#[test]
fn a_run_of_trims_alone_says_why_it_has_no_times() {
    let place = Place::new();
    let text = place.run(&["--fio-args", "--name=a --rw=randtrim --bs=4k --size=64k"]);
    assert!(text.contains("all requests are trims, which take no time here"), "{text}");
    assert!(text.contains("Response times none: no request reads or writes Where"), "{text}");
    // A comparison has no columns of response times.
    let compared = copyback(&["compare", "-q", "--fio-args", "--name=a --rw=randtrim --bs=4k --size=64k"]);
    let compared = output_text(&compared);
    assert!(!compared.contains("no reads") && !compared.contains("p99"), "{compared}");
    let row = ["baseline", "16", "no", "writes", "0", "-"];
    assert!(compared.lines().any(|line| line.split_whitespace().eq(row)), "{compared}");
    assert!(!place.run(&["--trace", &place.path("t.csv")]).contains("all requests are trims"));
}
