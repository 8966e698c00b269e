//! Files that people have: devices by their names, tables without headers, several files of one recording, pipes
//! without end, and configurations of other simulators.

use crate::common::*;
use std::io::Write;
use std::process::{Command, Stdio};

/// A folder with a file of this content, and the file's path.
fn file(name: &str, content: &[u8]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

fn refused(arguments: &[&str], says: &[&str]) {
    let output = copyback(arguments);
    assert_eq!(code(&output), 2, "{arguments:?}: {}", output_text(&output));
    says.iter()
        .for_each(|part| assert!(error_text(&output).contains(part), "{arguments:?}: {part}: {}", error_text(&output)));
}

/// Files of several CPUs are one trace: each command suggests their base name.
#[test]
fn a_mistyped_recording_is_corrected_to_its_base_name() {
    let folder = tempfile::tempdir().unwrap();
    for cpu in 0..2 {
        std::fs::write(folder.path().join(format!("sdx.blktrace.{cpu}")), "x").unwrap();
    }
    let wrong = folder.path().join("sdx.").to_str().unwrap().to_owned();
    for words in [&["trace", "info", &wrong][..], &["run", "--trace", &wrong]] {
        let base = wrong.trim_end_matches('.');
        refused(words, &[&format!("there is no trace {wrong}"), &format!("did you mean {base}?")]);
    }
    // Another file is suggested by its whole name. If no file has a similar name, nothing is suggested.
    std::fs::write(folder.path().join("mail.csv"), "x").unwrap();
    let named = |name: &str| error_text(&copyback(&["run", "--trace", folder.path().join(name).to_str().unwrap()]));
    assert!(named("mial.csv").contains("mail.csv?"), "{}", named("mial.csv"));
    assert!(!named("qqqq").contains("did you mean"), "{}", named("qqqq"));
}

#[test]
fn devices_are_listed_with_their_shares_and_chosen_as_linux_names_them() {
    let lines = "259,0 7 9 0.000379278 100 D WS 2048 + 8 [app]\n8,16 7 10 0.000479278 100 D R 100 + 8 [app]\n\
                 259,0 7 11 0.000579278 100 D WS 2056 + 8 [app]\n";
    let (_folder, path) = file("two.txt", lines.as_bytes());
    let text = output_text(&copyback(&["trace", "info", &path]));
    let listed = "2: 259,0 (66.7 %), 8,16 (33.3 %); choose one with --device 259,0 here, with --set \
                  workload.device=259,0 in `run` and `compare`";
    assert!(text.contains(listed), "{text}");
    let json = output_text(&copyback(&["trace", "info", &path, "--device", "259,0", "--json"]));
    assert!(json.contains("\"requests\": 2") && json.contains("\"name\": \"259,0\""), "{json}");
    let run = |device: &str| {
        output_text(&copyback(&["run", "--trace", &path, "--set", &format!("workload.device={device}"), "--json", "-"]))
    };
    assert!(run("259,0").contains("\"writes\": 2") && run("271581184").contains("\"writes\": 2"));
    assert!(run("8,16").contains("\"writes\": 0"));
    let both = output_text(&copyback(&["run", "--trace", &path, "--quiet"]));
    assert!(both.contains("2 devices share one address space; choose one with --set workload.device=8,16"), "{both}");
    refused(&["run", "--trace", &path, "--set", "workload.device=8,1"], &["none of the workload's is for device 8,1"]);
    let toml = file("one.toml", format!("[workload]\ntrace = {path:?}\ndevice = \"8,16\"\n").as_bytes());
    assert!(output_text(&copyback(&["trace", "info", &toml.1])).contains("requests    1"));
    let config = output_text(&copyback(&["run", "--print-config", "--trace", &path, "--set", "workload.device=8,16"]));
    assert!(config.contains("device = \"8,16\""), "{config}");
}

#[test]
fn a_table_without_header_has_its_columns_named_in_the_command() {
    let (_folder, path) = file("t.csv", b"0,2a,0,4096,vol-a\n10,28,4096,4096,vol-b\n20,x,0,0,vol-a\n");
    let columns = ["--columns", "time_us,op,offset,length,device"];
    let sets = ["2a=write", "28=read", "x=ignore"].map(|set| format!("workload.operations.{set}"));
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set.as_str()]).collect();
    let info = output_text(&copyback(&[&["trace", "info", &path], &columns[..], &sets].concat()));
    assert!(info.contains("requests    2") && info.contains("2: vol-a (50.0 %), vol-b (50.0 %)"), "{info}");
    assert!(info.contains("1 row left out, as `workload.operations` says"), "{info}");
    let run = output_text(&copyback(&[&["run", "--quiet", "--trace", &path], &columns[..], &sets].concat()));
    assert!(run.contains("format `csv`"), "{run}");
    let one = output_text(&copyback(&[&["trace", "info", &path, "--device", "vol-b"], &columns[..], &sets].concat()));
    assert!(one.contains("requests    1"), "{one}");
    let (_folder, plain) = file("p.csv", b"0,W,0,4096\n10,R,4096,4096\n");
    refused(
        &["trace", "info", &plain],
        &["it looks like a table without a header", "--columns arrival_us,op,offset_bytes,length_bytes"],
    );
}

/// Counts and rates look as those of a run.
#[test]
fn large_numbers_of_a_trace_have_separators() {
    let rows: String = (0..12_000).map(|at| format!("{},{},{},512\n", at / 100, "W", at * 512)).collect();
    let (_folder, path) =
        file("t.csv", format!("time_us,op,offset,length\n{rows}{}", "9,W,0,0\n".repeat(1500)).as_bytes());
    let info = output_text(&copyback(&["trace", "info", &path]));
    assert!(info.contains("requests    12,000"), "{info}");
    // 12,000 requests in 119 us.
    let rate = info.lines().find(|line| line.contains("arrivals")).expect("a rate");
    assert!(rate.contains(" M a second"), "{rate}");
    assert!(info.contains("1,500 requests of zero bytes left out"), "{info}");
}

/// An event of blktrace that issues a write of 4 KiB.
fn event(time_ns: u64, sector: u64) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let (time, sector) = (time_ns.to_le_bytes().to_vec(), sector.to_le_bytes().to_vec());
    [words(&[0x6561_7407, 1]), time, sector, words(&[4096, (1 << 17) | 7, 77, 259 << 20, 0, 0])].concat()
}

/// A recording of two CPUs, and its base name.
fn two_cpus() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    for cpu in 0..2 {
        std::fs::write(folder.path().join(format!("big.blktrace.{cpu}")), event(1000 * cpu, 8 * cpu)).unwrap();
    }
    let base = folder.path().join("big").to_str().unwrap().to_owned();
    (folder, base)
}

#[test]
fn several_traces_of_a_command_line_are_refused_with_the_way_to_give_them() {
    let (_folder, base) = two_cpus();
    let (one, other) = (format!("{base}.blktrace.0"), format!("{base}.blktrace.1"));
    let says = ["a command reads one trace", "BASE.blktrace.0", "[workloads.NAME]"];
    refused(&["run", "--trace", &one, "--trace", &other], &says);
    refused(&["run", "--trace", &one, &other], &says);
    refused(&["compare", "-t", &one, &other, &other], &says);
    refused(&["trace", "info", &one, &other], &says);
    refused(&["run", "--trace", &one, "--seed", "1", "--seed", "2"], &["--seed", "cannot be used multiple times"]);
    // Both ways work.
    assert!(output_text(&copyback(&["trace", "info", &base])).contains("requests    2"));
    let text = format!("[workloads.a]\ntrace = {one:?}\n[workloads.b]\ntrace = {other:?}\n");
    let (_both, both) = file("both.toml", text.as_bytes());
    let run = copyback(&["run", &both, "--quiet", "--json", "-"]);
    assert!(output_text(&run).contains("\"writes\": 2"), "{}", error_text(&run));
}

/// A base name represents several files; an output may replace none of them.
#[test]
fn no_output_replaces_a_file_of_a_recording() {
    let (_folder, base) = two_cpus();
    let part = format!("{base}.blktrace.1");
    let before = std::fs::read(&part).unwrap();
    for option in ["--json", "--latex", "--fio-json"] {
        refused(&["run", "--trace", &base, option, &part, "--quiet"], &["would be overwritten"]);
    }
    refused(
        &["run", "--trace", &base, "--json", &part],
        &["would be overwritten", "big.blktrace.1, which this command"],
    );
    refused(&["trace", "convert", &base, &part, "--to", "csv"], &["would be overwritten"]);
    assert_eq!(std::fs::read(&part).unwrap(), before);
}

#[test]
fn files_of_all_cpus_are_one_trace() {
    let folder = tempfile::tempdir().unwrap();
    for cpu in 0..3_u64 {
        let events: Vec<Vec<u8>> = (0..2000).map(|at| event(1000 * (3 * at + cpu), 8 * at)).collect();
        std::fs::write(folder.path().join(format!("big.blktrace.{cpu}")), events.concat()).unwrap();
    }
    let base = folder.path().join("big");
    let base = base.to_str().unwrap();
    let info = output_text(&copyback(&["trace", "info", base]));
    assert!(info.contains("requests    6,000") && info.contains("merged by time"), "{info}");
    let run = copyback(&["run", "--quiet", "--trace", base, "--requests", "100", "--json", "-"]);
    assert!(output_text(&run).contains("\"writes\": 100"), "{}", error_text(&run));
    // The hash is that of all files.
    let hashes = |json: &str| -> Vec<String> {
        json.lines().filter(|line| line.contains("\"hash\": ")).map(str::to_owned).collect()
    };
    let before = hashes(&output_text(&run));
    std::fs::write(folder.path().join("big.blktrace.1"), event(7, 0)).unwrap();
    let run = copyback(&["run", "--quiet", "--trace", base, "--requests", "100", "--json", "-"]);
    assert_ne!(hashes(&output_text(&run)), before);
}

/// The program, with standard input that stays open, and a folder for temporary files.
fn with_pipe(arguments: &[&str], folder: &std::path::Path, limit: Option<&str>) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_copyback"));
    command.args(arguments).env("NO_COLOR", "1").env("TMPDIR", folder).stdin(Stdio::piped());
    limit.into_iter().for_each(|limit| _ = command.env("COPYBACK_STDIN_LIMIT", limit));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn standard_input_has_a_limit_that_can_be_raised() {
    let folder = tempfile::tempdir().unwrap();
    let lines = "10,a,0,Write,0,8192,1\n".repeat(100);
    let read = |limit: &str| {
        let mut child = with_pipe(&["trace", "info", "-"], folder.path(), Some(limit));
        // It may have stopped reading.
        let _ = child.stdin.take().unwrap().write_all(lines.as_bytes());
        child.wait_with_output().unwrap()
    };
    let less = read("2199 B");
    assert_eq!(code(&less), 2, "{}", output_text(&less));
    let says = ["standard input: it has more than 2199 B", "raise the limit in the environment variable", "64 GiB"];
    says.iter().for_each(|part| assert!(error_text(&less).contains(part), "{part}: {}", error_text(&less)));
    let enough = read("2200 B");
    assert!(output_text(&enough).contains("requests    100"), "{}", error_text(&enough));
    let wrong = read("much");
    assert!(code(&wrong) == 2 && error_text(&wrong).contains("COPYBACK_STDIN_LIMIT"), "{}", error_text(&wrong));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

/// The copy of a trace that a user pipes in has no name: other users cannot open it, and nothing remains of it even if
/// the program is killed.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_program_leaves_no_copy_of_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    let mut child = with_pipe(&["trace", "info", "-"], folder.path(), None);
    let mut pipe = child.stdin.take().unwrap();
    // More than a pipe holds: the program has begun to copy when all is written.
    pipe.write_all("10,a,0,Write,0,8192,1\n".repeat(10_000).as_bytes()).unwrap();
    let open = std::path::PathBuf::from(format!("/proc/{}/fd", child.id()));
    let folder_path = folder.path().canonicalize().unwrap();
    let is_kept = std::fs::read_dir(open)
        .unwrap()
        .any(|entry| std::fs::read_link(entry.unwrap().path()).is_ok_and(|target| target.starts_with(&folder_path)));
    assert!(is_kept && child.try_wait().unwrap().is_none(), "it copies its input into the folder");
    assert_eq!(files(), 0, "while it copies");
    child.kill().unwrap();
    child.wait().unwrap();
    drop(pipe);
    assert_eq!(files(), 0, "after it was killed");
    // A copy without a name is read as another file is, several times.
    let mut child = with_pipe(&["run", "--quiet", "--trace", "-", "--json", "-"], folder.path(), None);
    child.stdin.take().unwrap().write_all("10,a,0,Write,0,8192,1\n".repeat(10).as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output_text(&output).contains("\"writes\": 10"), "{}", error_text(&output));
}

/// MQSim's parameters of a drive, some with two kinds of pages.
const SSD_CONFIG: &str = "<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n<Execution_Parameter_Set>\n\
    <Host_Parameter_Set><PCIe_Lane_Count>4</PCIe_Lane_Count></Host_Parameter_Set>\n<Device_Parameter_Set>\n\
    <!-- <Flash_Channel_Count>99</Flash_Channel_Count> -->\n\
    <GC_Block_Selection_Policy>RGA</GC_Block_Selection_Policy>\n<Overprovisioning_Ratio>0.127</Overprovisioning_Ratio>\n\
    <GC_Exec_Threshold>0.05000</GC_Exec_Threshold>\n<GC_Hard_Threshold>0.005000</GC_Hard_Threshold>\n\
    <Flash_Channel_Count>2</Flash_Channel_Count>\n<Flash_Channel_Width>2</Flash_Channel_Width>\n\
    <Channel_Transfer_Rate>333</Channel_Transfer_Rate>\n<Chip_No_Per_Channel>4</Chip_No_Per_Channel>\n\
    <Flash_Parameter_Set>\n<Flash_Technology>MLC</Flash_Technology>\n\
    <CMD_Suspension_Support>ERASE</CMD_Suspension_Support>\n<Suspend_Erase_Time>700000</Suspend_Erase_Time>\n\
    <Page_Read_Latency_LSB>75000</Page_Read_Latency_LSB>\n<Page_Read_Latency_CSB>1</Page_Read_Latency_CSB>\n\
    <Page_Read_Latency_MSB>75000</Page_Read_Latency_MSB>\n<Page_Program_Latency_LSB>750000</Page_Program_Latency_LSB>\n\
    <Page_Program_Latency_MSB>1500000</Page_Program_Latency_MSB>\n<Block_Erase_Latency>3800000</Block_Erase_Latency>\n\
    <Die_No_Per_Chip>2</Die_No_Per_Chip>\n<Plane_No_Per_Die>2</Plane_No_Per_Die>\n\
    <Block_No_Per_Plane>64</Block_No_Per_Plane>\n<Page_No_Per_Block>32</Page_No_Per_Block>\n\
    <Page_Capacity>8192</Page_Capacity>\n</Flash_Parameter_Set></Device_Parameter_Set></Execution_Parameter_Set>\n";

#[test]
fn mqsims_configuration_is_converted() {
    let (folder, path) = file("ssdconfig.xml", SSD_CONFIG.as_bytes());
    let output = copyback(&["device", "from-mqsim", &path]);
    let text = output_text(&output);
    for line in [
        "channels = 2 # Flash_Channel_Count",
        "page_size = \"8 KiB\" # Page_Capacity",
        "read = \"75 us\" # Page_Read_Latency_LSB, Page_Read_Latency_MSB",
        "program = [\"750 us\", \"1.5 ms\"] # Page_Program_Latency_LSB, Page_Program_Latency_MSB",
        "channel = \"666 MB/s\" # Channel_Transfer_Rate, of Flash_Channel_Width = 2 bytes",
        "reserved = 0.127 # Overprovisioning_Ratio, a share of the flash in MQSim and here",
        "soft = 0.05 # GC_Exec_Threshold, of a plane's blocks",
        "hard = 0.1 # GC_Hard_Threshold = 0.005, here as a share of `soft`",
        "# GC_Block_Selection_Policy = RGA: victim.policy: GREEDY is greedy; RGA is d-choices, with victim.d; RANDOM \
         is random; FIFO is fifo",
        "# CMD_Suspension_Support = ERASE: commands.suspend.latency; for ERASE, also commands.suspend.program=false; \
         for PROGRAM, also commands.suspend.erase=false; used by preemption.policy=suspend, for operations of \
         collections and background tasks only",
        "# Suspend_Erase_Time = 700000: nanoseconds; commands.suspend.latency, which holds for programs, too",
        "# PCIe_Lane_Count = 4: no such setting here",
        "# Page_Read_Latency_CSB = 1: blocks of this Flash_Technology lack such pages",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}: {text}{}", error_text(&output));
    }
    let device = folder.path().join("mine.toml");
    std::fs::write(&device, &text).unwrap();
    let device = device.to_str().unwrap();
    let run =
        copyback(&["run", "--device", device, "--workload", "random-write", "--requests", "50", "--print-config"]);
    let config = output_text(&run);
    assert!(
        config.contains("reserved = 0.127") && config.contains("blocks_per_plane = 64"),
        "{config}{}",
        error_text(&run)
    );
    let (_folder, part) = file("part.xml", PART);
    let text = output_text(&copyback(&["device", "from-mqsim", &part]));
    assert!(text.contains("# chips_per_channel: the file has no Chip_No_Per_Channel"), "{text}");
    assert!(
        text.contains(
            "# Set the keys of these parameters before the device is used: Chip_No_Per_Channel, Die_No_Per_Chip"
        ),
        "{text}"
    );
    for (content, says) in [
        (&b"channels = 8"[..], "it has no `<Device_Parameter_Set>`"),
        (
            b"<Device_Parameter_Set><Flash_Channel_Count>x</Flash_Channel_Count></Device_Parameter_Set>",
            "`Flash_Channel_Count` is `x`, and no whole",
        ),
        (
            b"<Device_Parameter_Set><Overprovisioning_Ratio>-1</Overprovisioning_Ratio></Device_Parameter_Set>",
            "is `-1`; it must be a number, 0 or more",
        ),
        (
            b"<Device_Parameter_Set><Overprovisioning_Ratio>1</Overprovisioning_Ratio></Device_Parameter_Set>",
            "is `1`; it is a share of the flash, below 1",
        ),
        (b"<Device_Parameter_Set><Flash_Channel_Count>8</Flash_Channel_Count>", "the file was cut off"),
        (b"<Device_Parameter_Set><!-- ", "a comment has no end"),
        (b"<Device_Parameter_Set><a", "the tag `<a` has no end"),
        (
            b"<Device_Parameter_Set><Channel_Transfer_Rate>333</Channel_Transfer_Rate>\
              <Flash_Channel_Width>0</Flash_Channel_Width></Device_Parameter_Set>",
            "of 0 bytes: no rate that a channel can have",
        ),
    ] {
        let (_folder, wrong) = file("wrong.xml", content);
        refused(&["device", "from-mqsim", &wrong], &[says]);
    }
}

/// No parameter is lost: each element of the file that holds a value is the source of a key, or a comment explains it.
#[test]
fn each_parameter_of_mqsim_is_converted_or_explained() {
    let without = |name: &str| {
        SSD_CONFIG
            .replace(&format!("<{name}>"), &format!("<Old_{name}>"))
            .replace(&format!("</{name}>"), &format!("</Old_{name}>"))
    };
    let configurations = [
        SSD_CONFIG.to_owned(),
        SSD_CONFIG.replace("MLC", "SLC"),
        SSD_CONFIG.replace("MLC", "TLC"),
        SSD_CONFIG.replace(">0.005000<", ">0.5<"),
        SSD_CONFIG.replace(">0.05000<", ">0<"),
        without("GC_Exec_Threshold"),
        without("Channel_Transfer_Rate"),
        without("Flash_Technology"),
    ];
    for content in configurations {
        let (_folder, path) = file("ssdconfig.xml", content.as_bytes());
        let output = copyback(&["device", "from-mqsim", &path]);
        let text = output_text(&output);
        // `key = value # NAME, NAME` or `# NAME = value: reason`.
        let is_source = |line: &str, name: &str| {
            let of_key =
                line.split_once(" # ").is_some_and(|(_, names)| names.split([',', ' ']).any(|word| word == name));
            of_key || line.starts_with(&format!("# {name} = "))
        };
        let mut count = 0;
        let without_comments = content.replace("<!-- <Flash_Channel_Count>99</Flash_Channel_Count> -->", "");
        for element in without_comments.split("</").skip(1) {
            let name = element.split('>').next().unwrap();
            // The technology decides which times of pages are converted.
            if !name.ends_with("_Set") && name != "Flash_Technology" {
                assert!(text.lines().any(|line| is_source(line, name)), "{name}: {text}{}", error_text(&output));
                count += 1;
            }
        }
        assert!(count >= 20, "{count} parameters in {content}");
    }
}

/// A configuration of MQSim that lacks nearly all parameters.
const PART: &[u8] = b"<Device_Parameter_Set>\n<Flash_Channel_Count>8</Flash_Channel_Count>\n</Device_Parameter_Set>\n";

#[test]
fn configurations_of_other_simulators_are_named() {
    let (_folder, device) = file("ssdconfig.xml", SSD_CONFIG.as_bytes());
    refused(&["run", "--device", &device], &["it is MQSim's configuration of a drive, in XML", "device from-mqsim"]);
    refused(&["run", "--trace", &device], &["it is MQSim's configuration in XML", "which is no trace"]);
    let scenario = b"<?xml version=\"1.0\"?>\n<MQSim_IO_Scenarios><IO_Scenario></IO_Scenario></MQSim_IO_Scenarios>\n";
    let (_folder, workload) = file("workload.xml", scenario);
    let says = ["it is MQSim's definition of workloads, in XML", "`File_Path`"];
    refused(&["run", "--workload", &workload], &says);
    refused(&["trace", "info", &workload], &["it is MQSim's configuration in XML"]);
    let (_folder, simple) = file("intel750.cfg", b"[nvme]\nWorkInterval = 50000\n[pal]\nChannel = 8\nPackage = 4\n");
    refused(&["run", "--device", &simple], &["it is SimpleSSD's configuration", "`geometry`"]);
    refused(&["run", "--workload", &simple], &["it is SimpleSSD's configuration"]);
    refused(&["run", "--trace", &simple], &["it is SimpleSSD's configuration", "which is no trace", "--device"]);
    // The same holds for an experiment: the error does not advise to run the file as a trace.
    for (other, says) in [(&workload, "MQSim's definition of workloads"), (&simple, "SimpleSSD's configuration")] {
        refused(&["run", other], &[&format!("{other} is {says}")]);
    }
}

/// Keys of a file that describe a trace apply to the trace of the command line, unless they describe the file's trace.
#[test]
fn keys_of_a_file_describe_the_first_trace() {
    let (folder, trace) = file("d.csv", b"arrival_us,kind,offset_bytes,length_bytes\n0,W,0,4096\n50,R,409600,4096\n");
    let run = |name: &str, text: &str, more: &[&str]| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let fixed = ["run", path.to_str().unwrap(), "-q", "--set", "precondition.mode=empty"];
        let output = copyback(&[&fixed[..], more].concat());
        assert_eq!(code(&output), 0, "{name}: {}", error_text(&output));
        output_text(&output)
    };
    let keys = "[workload]\nlayout = 'compact'\ncolumns = { op = 'kind' }\n";
    let kept = run("a.toml", keys, &["--trace", &trace]);
    assert!(kept.contains("addresses packed") && !kept.contains("has no effect"), "{kept}");
    let with_trace = format!("trace = 'd.csv'\n{keys}");
    let named = ["--set", "workload.columns.op=kind"];
    let dropped = run("b.toml", &with_trace, &[&["--trace", &trace][..], &named].concat());
    let note = "`workload.layout` (";
    let why = "b.toml) has no effect: --trace names another trace; set it with --set if it applies";
    assert!(dropped.contains(note) && dropped.contains(why), "{dropped}");
    // What the command line sets again is not lost.
    assert!(!dropped.contains("`workload.columns` ("), "{dropped}");
    let generated = run("b.toml", &with_trace, &["-w", "mixed-70-30", "--requests", "10"]);
    assert!(generated.contains("it belongs to a trace, and ") && generated.contains("describes a generator"));
}
