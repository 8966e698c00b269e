//! Are jobs that are larger than the drive told so in fio's words, and can the drive follow them?

use super::written;
use crate::common::{code, copyback, printed, said};

#[test]
fn a_job_larger_than_the_drive_names_its_size_and_a_device() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), "[r]\nrw=randread\nbs=4k\nsize=10g\nfilename=/mnt/f\n");
    for more in [&[][..], &["--print-config"]] {
        let ran = copyback(&[&["run", "--fio", &file], more].concat());
        assert_eq!(code(&ran), 2, "{}", said(&ran));
        let text = said(&ran);
        for says in ["`size=10g`", "job `r`", "10.0 GiB", "job.fio:4", "lower size=", "--device ", "--fit 0.9"] {
            assert!(text.contains(says), "no {says}: {text}");
        }
        assert!(!text.contains("region_"), "no key that the file does not have: {text}");
    }
    // The device that it names holds it.
    let text = said(&copyback(&["run", "--fio", &file]));
    let device = text.split("--device ").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    let ran = copyback(&["run", "--fio", &file, "--device", device, "--print-config"]);
    assert_eq!(code(&ran), 0, "{device}: {}", said(&ran));
    let file = written(folder.path(), "[r]\nrw=read\nfilename=/d\noffset=100%\n");
    assert!(said(&copyback(&["run", "--fio", &file])).contains("has no address"));
}

#[test]
fn the_drive_is_sized_for_jobs() {
    let folder = tempfile::tempdir().unwrap();
    // Two files behind each other, 256 and 128 MiB: at 0.9 the drive has a ninth more, and a block of each plane at
    // most.
    let file =
        written(folder.path(), "[a]\nrw=randread\nsize=256m\nnumber_ios=10\n[b]\nrw=read\nsize=128m\nnumber_ios=10\n");
    let ran = copyback(&["run", "--fio", &file, "--fit", "0.9", "--quiet"]);
    assert_eq!(code(&ran), 0, "{}", said(&ran));
    let text = printed(&ran);
    assert!(text.contains("the workloads address 384 MiB of the drive's 4"), "{text}");
    let shares = written(folder.path(), "[a]\nrw=randread\nfilename=/d\nsize=50%\n");
    let ran = copyback(&["run", "--fio", &shares, "--fit", "0.9"]);
    assert!(code(&ran) == 2 && said(&ran).contains("size=BYTES"), "{}", said(&ran));
}
