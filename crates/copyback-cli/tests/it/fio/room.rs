//! Jobs larger than the drive get an error in fio's terms, and jobs that follow its advice fit.

use super::written;
use crate::common::{code, copyback, error_text, output_text};

#[test]
fn a_job_larger_than_the_drive_names_its_size_and_a_device() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), "[r]\nrw=randread\nbs=4k\nsize=10g\nfilename=/mnt/f\n");
    for more in [&[][..], &["--print-config"]] {
        let ran = copyback(&[&["run", "--fio", &file], more].concat());
        assert_eq!(code(&ran), 2, "{}", error_text(&ran));
        let text = error_text(&ran);
        for says in ["`size=10g`", "job `r`", "10.0 GiB", "job.fio:4", "lower size=", "--device ", "--fit 0.9"] {
            assert!(text.contains(says), "no {says}: {text}");
        }
        assert!(!text.contains("region_"), "no key that the file does not have: {text}");
    }
    // The device that it names holds it.
    let text = error_text(&copyback(&["run", "--fio", &file]));
    let device = text.split("--device ").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    let ran = copyback(&["run", "--fio", &file, "--device", device, "--print-config"]);
    assert_eq!(code(&ran), 0, "{device}: {}", error_text(&ran));
    let file = written(folder.path(), "[r]\nrw=read\nfilename=/d\noffset=100%\n");
    assert!(error_text(&copyback(&["run", "--fio", &file])).contains("has no address"));
}

/// A job that would fit without its offset is told to lower that, not its size.
#[test]
fn an_offset_beyond_the_drive_names_the_option_that_moves_the_job() {
    let job = "--name=a --rw=randread --bs=4k --size=1m";
    for (more, option, at) in [
        ("--offset=900m", "offset=900m", 42),
        ("--filename=/dev/d --offset=900m", "offset=900m", 60),
        ("--filename=/dev/d --numjobs=3 --offset_increment=500m", "offset_increment=500m", 72),
        ("--filename=/dev/d --offset=120%", "offset=120%", 0),
        ("--size=900m --offset=16m", "size=900m", 42),
    ] {
        let ran = copyback(&["run", "--fio-args", &format!("{job} {more}"), "--print-config"]);
        let text = error_text(&ran);
        assert_eq!(code(&ran), 2, "{more}: {text}");
        assert!(text.contains(&format!("error: `{option}`: ")), "{more}: {text}");
        assert!(at == 0 || text.contains(&format!("--fio-args:1:{at} ")), "{more}: {text}");
        let (key, _) = option.split_once('=').unwrap();
        assert!(at == 0 || text.contains(&format!("help: lower {key}=")), "{more}: {text}");
    }
    // The largest offset that the help names fits: 800 MiB without 1 MiB.
    let text = error_text(&copyback(&["run", "--fio-args", &format!("{job} --offset=900m")]));
    assert!(text.contains("begins at most 799 MiB after"), "{text}");
    let ran = copyback(&["run", "--fio-args", &format!("{job} --offset=799m"), "--print-config"]);
    assert_eq!(code(&ran), 0, "{}", error_text(&ran));
}

/// Notes and advice on jobs name options of fio.
#[test]
fn notes_on_jobs_name_options_of_fio() {
    let ran = copyback(&["run", "--fio-args", "--name=a --rw=randwrite --bs=4k --size=1m --offset=3k"]);
    let text = output_text(&ran);
    assert_eq!(code(&ran), 0, "{}", error_text(&ran));
    assert!(text.contains("Note: `offset` of `a` is no multiple of the mapping unit"), "{text}");
    assert!(!text.contains("region_start") && !text.contains("`requests`"), "{text}");
}

#[test]
fn the_drive_is_sized_for_jobs() {
    let folder = tempfile::tempdir().unwrap();
    // Two files behind each other, 256 and 128 MiB: at 0.9 the drive has a ninth more, and a block of each plane at
    // most.
    let file =
        written(folder.path(), "[a]\nrw=randread\nsize=256m\nnumber_ios=10\n[b]\nrw=read\nsize=128m\nnumber_ios=10\n");
    let ran = copyback(&["run", "--fio", &file, "--fit", "0.9", "--quiet"]);
    assert_eq!(code(&ran), 0, "{}", error_text(&ran));
    let text = output_text(&ran);
    assert!(text.contains("the workloads address 384 MiB of the drive's 4"), "{text}");
    let shares = written(folder.path(), "[a]\nrw=randread\nfilename=/d\nsize=50%\n");
    let ran = copyback(&["run", "--fio", &shares, "--fit", "0.9"]);
    assert!(code(&ran) == 2 && error_text(&ran).contains("size=BYTES"), "{}", error_text(&ran));
}

/// An error about fio's command line shows the missing option in that form, and its example works.
#[test]
fn a_command_line_without_a_size_is_told_how_to_give_one() {
    let job = "--rw=randwrite --bs=4k";
    let ran = copyback(&["run", "--fio-args", job]);
    assert_eq!(code(&ran), 2, "{}", output_text(&ran));
    let text = error_text(&ran);
    assert!(text.contains("--size=256m") && text.contains("--filename=/dev/drive with --number_ios"), "{text}");
    for more in [" --size=256m", " --filename=/dev/drive --number_ios=10000"] {
        let ran = copyback(&["run", "--fio-args", &format!("{job}{more}"), "--print-config"]);
        assert_eq!(code(&ran), 0, "{more}: {}", error_text(&ran));
    }
}

/// A refusal points at the option, not at the job.
#[test]
fn a_refusal_stands_at_its_option() {
    let folder = tempfile::tempdir().unwrap();
    for (options, at, says) in [
        ("rw=randread\nzonesize=1m\nzoneskip=1m", "zonesize=1m", "random requests within strides"),
        ("rw=read\nzonesize=2m\nzonerange=1m", "zonerange=1m", "smaller than zonesize"),
        ("rw=read\nzoneskip=1m", "zoneskip=1m", "needs a zonesize"),
        ("rw=read\nzonemode=none\nzonesize=1m", "zonesize=1m", "zonemode=none has no zonesize"),
        ("rw=read\nrate_iops=5\nrate=1m", "rate=1m", "exclude each other"),
        ("rw=randrw\npercentage_random=10,20", "percentage_random=10,20", "differ"),
        ("rw=rw\nrate_iops=,5", "rate_iops=,5", "for only one of a job's operations"),
        ("rw=read\nwait_for=z", "wait_for=z", "no job above it has the name `z`"),
    ] {
        let line = 3 + options.lines().position(|line| line == at).expect("an option of it");
        let file = written(folder.path(), &format!("[r]\nsize=8m\n{options}\n"));
        let text = error_text(&copyback(&["run", "--fio", &file, "--print-config"]));
        assert!(text.contains(&format!("`{at}`: ")) && text.contains(says), "{options}: {text}");
        assert!(text.contains(&format!("job.fio:{line}:")), "{options}: {text}");
    }
}
