//! Does each kind of job file run, or say why it does not?

use super::written;
use crate::common::{code, copyback, error_text, output_text};

/// A device that is large enough for all of them.
const DEVICE: &str = "bench-64g";

/// What a job becomes, as `--print-config` shows it.
fn understood(folder: &std::path::Path, text: &str) -> String {
    let file = written(folder, text);
    let shown = copyback(&["run", "--fio", &file, "--device", DEVICE, "--print-config"]);
    assert_eq!(code(&shown), 0, "{text}: {}", error_text(&shown));
    output_text(&shown)
}

/// Kinds of job files, each with lines that the configuration has then.
const RUN: &[(&str, &[&str])] = &[
    // JESD219's enterprise workload, as fio's own example of it is written.
    (
        "[JESD219]\nioengine=libaio\ndirect=1\nrw=randrw\nnorandommap\nrandrepeat=0\nrwmixread=40\nrwmixwrite=60\n\
         iodepth=256\nnumjobs=4\nbssplit=512/4:1024/1:1536/1:2048/1:2560/1:3072/1:3584/1:4k/67:8k/10:16k/7:32k/3:64k/3\n\
         blockalign=4k\nrandom_distribution=zoned:50/5:30/15:20/80\nfilename=/dev/nvme0n1\ngroup_reporting\n",
        &["[workloads.JESD219-4]", "offset_align = \"4 KiB\"", "[0.5, 0.05]", "read_share = 0.4", "align = \"512 B\""],
    ),
    // A rate of bytes is one of requests: 1 MiB of 4 KiB.
    ("[a]\nrw=read\nsize=32m\nrate=1m\nratemin=1024\nstartdelay=4\n", &["rate = 256.0", "not_before = \"4 s\""]),
    // With several sizes fio counts bytes: 100 requests of the smallest.
    ("[a]\nrw=randread\nsize=1m\nbssplit=4k/50:12k/50\nrate_iops=100\n", &["rate = 50.0"]),
    ("[a]\nrw=randread\nsize=1m\nbssplit=4k/50:12k/50\nrate_iops=100\nrate_process=poisson\n", &["rate = 100.0"]),
    ("[a]\nrw=read:-8k\nfilename=128m\nsize=128m\n", &["skip_back = \"8 KiB\"", "sequential_share = 1.0"]),
    ("[a]\nrw=write:4k\nsize=1m\n", &["skip = \"4 KiB\""]),
    ("[a]\nrw=randread:8\nsize=1m\n", &["run_length = 8", "sequential_by_op = true"]),
    ("[a]\nrw=randread:8\nrw_sequencer=identical\nsize=1m\n", &["run_repeats = true"]),
    ("[a]\nrw=randread\npercentage_random=30\nsize=1m\n", &["sequential_share = 0.7", "kind = \"uniform\""]),
    ("[a]\nrw=randread\nbsrange=4k-64k\nsize=1m\n", &["kind = \"range\"", "max = \"64 KiB\""]),
    ("[a]\nrw=randread\nbs=8k,64k\nbs_is_seq_rand=1\nsize=1m\n", &["mean = \"64 KiB\"", "kind = \"numbered\""]),
    ("[a]\nrw=randread\nsize=1m\nbs=4k,16k\nbs_is_seq_rand=1\nrate_iops=400\n", &["rate = 100.0"]),
    ("[a]\nrw=trimwrite\nsize=1m\n", &["trim_before_write = true", "requests = 512"]),
    // fio doubles it.
    ("[a]\nrw=trimwrite\nsize=1m\nnumber_ios=10\n", &["trim_before_write = true", "requests = 20"]),
    ("[a]\nrw=randread\nsize=1m\nrandom_distribution=zoned:50/5:30/15:20/\n", &["[0.2, 0.8]"]),
    ("[a]\nrw=randread\nsize=1g\nrandom_distribution=zoned_abs:60/256m:40/\n", &["[0.4, 0.75]"]),
    // The rest of the job is left alone, as fio does.
    (
        "[a]\nrw=randread\nsize=64m\nio_size=4m\nrandom_distribution=zoned_abs:60/2m:30/20m:10/40m\n",
        &["[0.6, 0.03125]", "[0.0, 0.03125]"],
    ),
    ("[a]\nrw=randread\nsize=1m\nioengine=aio\niodepth=4\n", &["queue_depth = 4"]),
    ("[a]\nrw=randread\nsize=1m\nioengine=linuxaio\niodepth=4\n", &["queue_depth = 4"]),
    // Bytes end jobs of several sizes, not a number of requests.
    ("[a]\nrw=randwrite\nsize=16m\nbsrange=4k-64k\n", &["passes = 1.0"]),
    ("[a]\nrw=randrw\nsize=1m\nbs=4k,16k\nio_size=3m\nnorandommap\n", &["passes = 3.0"]),
    ("[a]\nrw=randrw\nsize=1m\nbs=4k,16k\n", &["kind = \"numbered\"", "ends = true", "passes = 1.0"]),
    // The map counts blocks of the smallest size of all operations.
    ("[a]\nrw=randrw\nsize=1m\nbs=12k,20k\n", &["map_unit = \"12 KiB\"", "align = \"4 KiB\""]),
    ("[a]\nrw=randread\nsize=1m\nbs=16k,4k\n", &["map_unit = \"4 KiB\"", "align = \"16 KiB\""]),
    // Shares count from the size of the file, and round up to the smallest block; as fio 3.33 on a file of 1 MiB.
    ("[a]\nrw=read\nfilesize=1m\noffset=33%\n", &["region_start = \"340 KiB\"", "requests = 171"]),
    ("[a]\nrw=read\nbs=16k\nfilesize=1m\noffset=33%\n", &["region_start = \"352 KiB\"", "requests = 42"]),
    ("[a]\nrw=read\nfilesize=1m\noffset=33%\noffset_align=64k\n", &["region_start = \"384 KiB\"", "requests = 160"]),
    ("[a]\nrw=read\nfilesize=1m\nsize=50%\noffset=50%\n", &["region_start = \"512 KiB\"", "requests = 128"]),
    ("[a]\nrw=read\nfilesize=1m\nsize=25%\noffset=50%\n", &["region_start = \"512 KiB\"", "requests = 64"]),
    ("[a]\nrw=read\nfilesize=1m\nsize=80%\noffset=33%\n", &["region_start = \"340 KiB\"", "requests = 171"]),
    ("[a]\nrw=read\nfilesize=1m\nsize=768k\noffset=50%\n", &["region_start = \"512 KiB\"", "requests = 128"]),
    ("[a]\nrw=read\nsize=1m\noffset=33%\n", &["region_start = \"340 KiB\"", "requests = 256"]),
    // The third of three files of 1 MiB: 2 MiB, and 372 KiB.
    (
        "[a]\nrw=read\nfilesize=1m\noffset=10%\noffset_increment=13%\nnumjobs=3\n",
        &["region_start = \"2420 KiB\"", "requests = 163"],
    ),
    // With a size, the one file of all jobs is no drive; as fio 3.33 on such a file.
    ("[a]\nrw=read\nfilename=/d\nfilesize=1m\noffset=33%\n", &["region_start = \"340 KiB\"", "requests = 171"]),
    (
        "[a]\nrw=read\nfilename=/d\nfilesize=1m\noffset=10%\noffset_increment=13%\nnumjobs=3\n",
        &["region_start = \"372 KiB\"", "requests = 163"],
    ),
    (
        "[a]\nrw=read\nfilename=/d\nfilesize=1m\noffset=256k\noffset_increment=25%\nnumjobs=2\n",
        &["region_start = \"512 KiB\"", "requests = 128"],
    ),
    // The next file begins at a whole MiB.
    ("[a]\nrw=write\nsize=5k\n[b]\nrw=write\nsize=4k\n", &["region_start = \"1 MiB\""]),
    (
        "[a]\nrw=write\nfilename=/d\nsize=10%\nnumjobs=3\noffset_increment=25%\n",
        &["region_start = 0.25", "region_start = 0.5"],
    ),
    // The first copy begins at `offset`, the second `offset_increment` later.
    (
        "[a]\nrw=write\nfilename=/d\nsize=4m\nnumjobs=2\noffset=1m\noffset_increment=8m\n",
        &["region_start = \"1 MiB\"", "region_start = \"9 MiB\""],
    ),
    ("[a]\nrw=randwrite\nfilesize=1m\nsize=4m\n", &["region_size = \"1 MiB\"", "requests = 256"]),
    ("[a]\nrw=randwrite\nsize=1m\nio_size=200%\n", &["requests = 512", "repeat_after = \"1 MiB\""]),
    ("[a]\nrw=randwrite\nfilename=/d\nio_size=300%\n", &["passes = 3.0", "repeat_after = 1.0"]),
    (
        "[a]\nrw=read\nbs=64k\nfilename=/d\nzonemode=strided\nzonesize=256m\nzoneskip=768m\n",
        &["skip_every", "passes = 1.0"],
    ),
    ("[a]\nrw=write\nfilename=/d\nfill_device=1\nverify=meta\ndo_verify=0\n", &["passes = 1.0"]),
    (
        "[a]\nrw=randwrite\nfilename=/d\nverify=crc32c\n[b]\nstonewall\nrw=read\nfilename=/d\n",
        &["[workloads.a-verify]"],
    ),
    (
        "[a]\nrw=randread\nsize=1m\nprioclass=3\ncmdprio_percentage=20\ncmdprio_class=1\n",
        &["high_priority_share = 0.2"],
    ),
    (
        "[global]\nname=x\nfilename=/d\nruntime=1\n[a]\n[b]\n[b]\n",
        &["[workloads.x]", "[workloads.x-b]", "[workloads.x-b-again-2]"],
    ),
    ("[a]\nsize=1m\nfilename_format=f.$jobnum\nnumjobs=2\n[b]\nsize=1m\nfilename_format=f.1\n", &["[workloads.b]"]),
    (
        "[a]\nrw=randread\nfilename=/dev/bsg/0\\:0\\:0\\:0\nioengine=io_uring_cmd\ncmd_type=bsg\nsize=1m\n",
        &["queue_depth = 1"],
    ),
    ("[a]\nioengine=spdk\niodepth=7\nsize=1m\n", &["queue_depth = 7"]),
    ("[a]\nioengine=external:/tmp/x.o\niodepth=7\nsize=1m\n", &["queue_depth = 7"]),
    (
        "[a]\nioengine=libblkio\nlibblkio_driver=io_uring\nlibblkio_path=/d\nruntime=1\ntime_based\n",
        &["stop = \"1 s\""],
    ),
    ("[a]\nioengine=xnvme\nxnvme_async=io_uring\nsize=1m\nsync=1\nfsync=8\nwrite_iolog=x\n", &["queue_depth"]),
    (
        "[a]\nrw=randread\nthreads=1\nfilename=/dev/null\nsize=1m\n[b]\nfilename=/dev/zero\nsize=1m\nss=iops:10%\n",
        &["[workloads.b]"],
    ),
    (
        "[a]\nrw=randread\nsize=48k\nio_size=24k\nrandom_distribution=sequence:2,0,1\nrandom_sequence_stride=1\n",
        &["blocks = [2, 0, 1]", "advance = true", "requests = 6"],
    ),
    ("[a]\nrw=read\nsize=64*$pagesize\n", &["region_size = \"256 KiB\""]),
];

#[test]
fn each_kind_of_job_is_understood() {
    let folder = tempfile::tempdir().unwrap();
    for (text, lines) in RUN {
        let shown = understood(folder.path(), text);
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        // Lists of zones may span several lines.
        let flat = plain(&shown).replace("[ ", "[").replace(", ]", "]");
        for line in *lines {
            assert!(flat.contains(line), "{text}: no {line} in\n{shown}");
        }
    }
}

/// Jobs that no simulated drive can run, each with parts of the error that its user reads.
const REFUSED: &[(&str, &str)] = &[
    ("nrfiles=30\nsize=1m", "only nrfiles=1 is understood"),
    ("ioengine=cpuio\ncpuload=50", "keeps a processor busy"),
    ("ioengine=net\nport=8888\nsize=1m", "sends data over a network"),
    ("ioengine=libaoi\nsize=1m", "did you mean `libaio`"),
    ("zonemode=zbd\nsize=1m", "no zones that are written in order"),
    ("size=8z", "`z` counts zones"),
    ("fdp=1\nsize=1m", "places data by itself"),
    ("flow=2\nsize=1m", "waits for the progress of another"),
    ("latency_target=500\nsize=1m", "does not follow the latency"),
    ("rw=randwrite\nsize=1m\nloops=2\nverify=md5", "add do_verify=0"),
    ("rw=randwrite\nsize=1m\nverify=md5\nverify_backlog=8", "after all writes"),
    ("rate=1m\nrate_iops=10\nsize=1m", "exclude each other"),
    ("rw=randrw\nrate_iops=10,\nsize=1m", "a rate for only one of a job's operations"),
    ("random_distribution=normal:20\nsize=1m", "no normal distribution"),
    ("rw=randrw\nrandom_distribution=zoned:50/50:50/50,90/10:10/90\nsize=1m", "differ"),
    ("write_mode=zeroes\nsize=1m", "only plain reads, writes and trims"),
    ("bs=4160\nsize=1m", "no whole sectors"),
    ("bs=${COPYBACK_NO_SUCH}\nsize=1m", "no variable `COPYBACK_NO_SUCH`"),
    ("numjobs=$ncpus\nsize=1m", "depends on the machine"),
    ("rw=write\nsize=1m\nfill_device=1", "no device to fill"),
    ("size=1m\noffsett=4k", "did you mean `offset`"),
    ("filename=a:b\nsize=1m", "several files"),
    ("bs=64k\nsize=4k", "too large"),
    ("filesize=4k-8k", "random sizes"),
    ("size=1m\nstartdelay=1-2", "a delay that is drawn"),
    ("rw=randtrimwrit\nsize=1m", "no such pattern"),
    ("wriet_iolog=x\nsize=1m", "did you mean `write_iolog`"),
    ("bs=1q", "no number of fio"),
    ("bs=(4*x)", "no expression of fio"),
    ("size=50%", "size in bytes"),
    ("bssplit=4k/60:8k/60", "add up to 120"),
    ("filename=/d\noffset=120k\noffset_increment=25%\nsize=1m", "both in bytes"),
    ("rw=read:-8k\nsize=64k\noffset=32k\nfilesize=128k", "bytes before the end of the file"),
    ("rw=trimwrite:8k\nsize=64k\nio_size=32k", "trimwrite with holes"),
    ("rw=read:40k\noffset=32k\nfilesize=128k", "goes on at twice the offset"),
    ("rw=randrw\nbs=4k,16k\nsize=1m\nloops=2", "ends each pass after a different number of bytes"),
    ("rw=randrw\nbs=4k,16k\nsize=1m\nio_size=3m", "ends each pass after a different number of bytes"),
];

#[test]
fn what_cannot_be_simulated_is_refused_with_its_place_and_reason() {
    let folder = tempfile::tempdir().unwrap();
    for (options, says) in REFUSED {
        let file = written(folder.path(), &format!("[j]\n{options}\n"));
        let own = copyback(&["run", "--fio", &file, "--print-config"]);
        assert_eq!(code(&own), 2, "{options}: {}", error_text(&own));
        let text = error_text(&own);
        assert!(text.contains(says) && text.contains("job.fio:"), "{options}: {text}");
        // The error lists the nearest names only, not all known ones.
        assert!(text.len() < 700, "{options}: {text}");
    }
}

/// These options do not affect a drive's data; a note says so for each.
#[test]
fn options_that_no_drive_sees_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let options = [
        "fsync=1",
        "sync=1",
        "sync_file_range=wait_before:8",
        "exitall",
        "log_prio=1",
        "cmd_type=nvme",
        "write_iolog=x",
        "cpus_allowed=1",
        "ss=iops:1%",
    ];
    let file = written(folder.path(), &format!("[j]\nrw=write\nsize=64k\nverify=0\n{}\n", options.join("\n")));
    let ran = copyback(&["run", "--fio", &file, "--quiet"]);
    assert_eq!(code(&ran), 0, "{}", error_text(&ran));
    let text = output_text(&ran).split_whitespace().collect::<Vec<_>>().join(" ");
    for option in options {
        let name = option.split('=').next().unwrap();
        assert!(text.contains(&format!("`{name}` has no effect")), "{name}: {text}");
    }
    assert!(!text.contains("`verify`"), "what is off asks for nothing: {text}");
}

#[test]
fn variables_have_the_values_of_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), "[j]\nrw=randread\nbs=${COPYBACK_BS}\nsize=1m\n");
    let run = |more: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_copyback"));
        command.args(["run", "--quiet", "--fio", &file]).args(more).env("COPYBACK_BS", "16k").env("NO_COLOR", "1");
        let ran = command.output().unwrap();
        assert_eq!(code(&ran), 0, "{}", error_text(&ran));
        output_text(&ran)
    };
    assert!(run(&[]).contains("bs=16k"), "a note says what it was");
    assert!(run(&["--print-config"]).contains("requests = 64"));
}

/// A share of a file needs a file with a size: what fio does with a new one is noted.
#[test]
fn a_share_of_a_file_is_of_one_that_exists() {
    let note = "a share in `offset` counts from the size of the job's file";
    let ran = |jobs: &str| output_text(&copyback(&["run", "-q", "--fio-args", jobs]));
    let text = ran("--name=a --rw=read --bs=4k --filesize=1m --offset=50%");
    assert!(text.contains(note), "{text}");
    let text = ran("--name=a --rw=read --bs=4k --filename=/dev/d --filesize=1m --offset=50%");
    assert!(text.contains(note), "{text}");
    for plain in ["--filesize=1m --offset=512k", "--filename=/dev/d --size=1m --offset=50%"] {
        let text = ran(&format!("--name=a --rw=read --bs=4k {plain}"));
        assert!(!text.contains(note), "{plain}: {text}");
    }
}

/// The same job by a file and by fio's command line is the same configuration.
#[test]
fn a_command_line_is_a_job_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(
        folder.path(),
        "[global]\nrw=randwrite\nbs=4k\n[a]\nsize=1m\nioengine=libaio\n[b]\nsize=2m\nstonewall\n",
    );
    let of_file = output_text(&copyback(&["run", "--fio", &file, "--print-config"]));
    let words = "fio --rw=randwrite --bs 4k --name=a --size=1m --ioengine=libaio --name=b --size=2m --stonewall";
    let shown = copyback(&["run", "--fio-args", words, "--print-config"]);
    assert_eq!(code(&shown), 0, "{}", error_text(&shown));
    assert_eq!(output_text(&shown), of_file);
    let wrong = copyback(&["run", "--fio-args", "--name=a --rw=randwriet --size=1m", "--print-config"]);
    assert_eq!(code(&wrong), 2);
    assert!(
        error_text(&wrong).contains("--fio-args:1:10") && error_text(&wrong).contains("no such pattern"),
        "{}",
        error_text(&wrong)
    );
}

/// An option that changes no request of its job says so; one of `[global]` may be for another job.
#[test]
fn options_without_effect_are_noted() {
    let notes = |jobs: &str| {
        let ran = copyback(&["run", "-q", "--fio-args", jobs]);
        assert_eq!(code(&ran), 0, "{jobs}: {}", error_text(&ran));
        output_text(&ran)
    };
    for (pattern, options) in [
        (
            "randwrite",
            &[
                "rwmixread=70",
                "thinktime_blocks=4",
                "zonerange=1m",
                "rate_process=poisson",
                "offset_increment=1m",
                "replay_time_scale=50",
                "offset_align=8k",
                "bs_is_seq_rand=1",
            ][..],
        ),
        ("read", &["random_distribution=zipf:1.2", "ba=8k", "percentage_random=50", "norandommap=1", "verify=crc32c"]),
    ] {
        for option in options {
            let text = notes(&format!("--name=a --rw={pattern} --bs=4k --size=256k --{option}"));
            let name = option.split('=').next().unwrap();
            assert!(text.contains(&format!("job `a`: `{name}` has no effect")), "{option}: {text}");
            let global = notes(&format!("--{option} --name=a --rw={pattern} --bs=4k --size=256k"));
            assert!(!global.contains(&format!("`{name}` has no effect")), "{option}: {global}");
        }
    }
    let mixed = notes("--name=a --rw=randrw --bs=4k --size=256k --rwmixread=70 --norandommap=1");
    assert!(!mixed.contains("has no effect"), "{mixed}");
}
