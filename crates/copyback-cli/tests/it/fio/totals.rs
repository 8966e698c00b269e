//! Jobs end after as many requests and bytes as in fio. Tested: sizes that depend on the order of addresses
//! (`bs_is_seq_rand`), with and without fio's map of blocks; and trims that precede writes.

use super::{fio, written};
use crate::common::{code, copyback, error_text, output_text};
use serde_json::Value;
use std::path::Path;

/// Requests and bytes of reads, writes and trims.
type Totals = [(u64, u64); 3];

fn totals(document: &Value) -> Totals {
    let jobs = document["jobs"].as_array().expect("jobs");
    ["read", "write", "trim"].map(|op| {
        let sum = |name: &str| jobs.iter().map(|job| job[op][name].as_u64().unwrap_or(0)).sum();
        (sum("total_ios"), sum("io_bytes"))
    })
}

/// What both programs report about a job; `None` for fio if it is not installed.
fn of_both(folder: &Path, options: &str) -> (Totals, Option<Totals>) {
    let file = written(folder, &format!("[j]\nioengine=null\n{options}\n"));
    let read = |name: &str| serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap();
    let json = folder.join("own.json");
    let ran = copyback(&["run", "--quiet", "--fio", &file, "--fio-json", json.to_str().unwrap()]);
    assert_eq!(code(&ran), 0, "{options}: {}", error_text(&ran));
    let theirs = fio(folder, &["--output-format=json", "--output=fio.json", &file]).map(|output| {
        assert!(output.status.success(), "{options}: {output:?}");
        totals(&read("fio.json"))
    });
    (totals(&read("own.json")), theirs)
}

/// Sums over 40 clones of a job of 1 MiB are those of fio 3.33, within a sixth: both draw other addresses. fio's map
/// counts blocks in the smallest size of the operation, whatever size its random requests have. Smaller requests leave
/// no number for others, larger ones take several numbers, and end before a taken one.
#[test]
fn sizes_by_order_end_with_fios_map() {
    const NONE: (u64, u64) = (0, 0);
    const JOBS: &[(&str, Totals)] = &[
        ("rw=randread\nbs=64k,4k", [(480, 1_966_080), NONE, NONE]),
        ("rw=randread\nbs=8k,64k", [(377, 21_225_472), NONE, NONE]),
        ("rw=randwrite\nbs=4k,64k", [NONE, (480, 31_457_280), NONE]),
        ("rw=randwrite\nbs=64k,4k", [NONE, (10_240, 41_943_040), NONE]),
        ("rw=randrw\nbs=32k,4k", [(868, 3_555_328), (938, 3_842_048), NONE]),
        ("rw=randrw\nbs=4k,32k", [(467, 13_160_448), (446, 14_614_528), NONE]),
        // The last blocks, from which no request fits, are taken with others: draws go on at the first free block.
        ("rw=randread\nbs=12k,20k", [(1_400, 26_500_000), NONE, NONE]),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (options, expected) in JOBS {
        let options = format!("{options}\nbs_is_seq_rand=1\nsize=1m\nnumjobs=40\ngroup_reporting");
        let (seen, theirs) = of_both(folder.path(), &options);
        for found in [Some(seen), theirs].into_iter().flatten() {
            for (own, wanted) in found.iter().zip(expected) {
                for (own, wanted) in [(own.0, wanted.0), (own.1, wanted.1)] {
                    assert!(own.abs_diff(wanted) * 6 <= wanted, "{options}: {found:?}, not {expected:?}");
                }
            }
        }
    }
    // Three of four first requests do not fit: these jobs make none.
    let options = "rw=randread\nbs=4k,768k\nbs_is_seq_rand=1\nsize=1m\nnumjobs=40\ngroup_reporting";
    let (seen, theirs) = of_both(folder.path(), options);
    for found in [Some(seen), theirs].into_iter().flatten() {
        assert!((4..20).contains(&found[0].0), "{found:?}");
    }
    let none = "--name=a --rw=randread --bs=4k,1020k --bs_is_seq_rand=1 --size=1m";
    let refused = copyback(&["run", "--quiet", "--fio-args", none]);
    assert_eq!(code(&refused), 2, "{}", output_text(&refused));
    let says = "no request fits behind the first address that fio's map draws";
    for says in ["there is no request in `a`", says, "fio ends such a job without I/O", "raise `size`"] {
        assert!(error_text(&refused).contains(says), "{}", error_text(&refused));
    }
    let printed = |jobs: &str| {
        let ran = copyback(&["run", "--quiet", "--fio-args", jobs]);
        assert_eq!(code(&ran), 0, "{jobs}: {}", error_text(&ran));
        output_text(&ran).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let job = "--name=a --rw=randread --bs=8k,64k --bs_is_seq_rand=1 --size=1m --randseed=2";
    assert!(printed(job).contains("The map shortens requests that reach into a taken block"), "{}", printed(job));
    let free = format!("{job} --norandommap=1");
    assert!(printed(&free).contains("fio ends the job when a random request reaches beyond its file"), "{free}");
}

/// Operations that are sequential have the sequential size; what mixes both sizes is refused.
#[test]
fn sizes_by_order_are_those_of_the_order() {
    let folder = tempfile::tempdir().unwrap();
    for (options, expected) in [
        ("rw=read", (64, 1 << 20)),
        ("rw=randread\npercentage_random=0", (64, 1 << 20)),
        ("rw=randread\nnorandommap", (256, 1 << 20)),
    ] {
        let (seen, theirs) = of_both(folder.path(), &format!("{options}\nbs=16k,4k\nbs_is_seq_rand=1\nsize=1m"));
        assert_eq!(seen[0], expected, "{options}");
        assert!(theirs.is_none_or(|theirs| theirs[0] == expected), "fio: {options}: {theirs:?}");
    }
    for mixed in ["--rw=randread:8", "--rw=randread --percentage_random=50"] {
        let jobs = format!("--name=a {mixed} --bs=16k,4k --bs_is_seq_rand=1 --size=1m");
        let refused = copyback(&["run", "--fio-args", &jobs]);
        assert_eq!(code(&refused), 2, "{mixed}");
        let says = "not simulated for a job that mixes random and sequential requests";
        assert!(error_text(&refused).contains(says), "{mixed}: {}", error_text(&refused));
    }
}

/// Behind `size`, fio counts trims and writes together, in whole passes; up to it, it counts writes only.
#[test]
fn trims_before_writes_count_in_passes_behind_the_size() {
    const JOBS: &[(&str, u64)] = &[
        ("bs=4k\nio_size=32k", 8),
        ("bs=4k\nio_size=64k", 16),
        ("bs=4k\nio_size=96k", 16),
        ("bs=4k\nio_size=128k", 16),
        ("bs=4k\nio_size=160k", 32),
        ("bs=4k\nio_size=192k", 32),
        ("bs=4k\nio_size=256k", 32),
        ("bs=4k\nio_size=320k", 48),
        ("bs=4k\nio_size=32k\nloops=2", 16),
        ("bs=4k\nio_size=96k\nloops=2", 32),
        ("bs=4k\nio_size=256k\nloops=2", 32),
        ("bs=4k\nio_size=320k\nloops=2", 48),
        ("bs=4k\nio_size=320k\nloops=3", 48),
        ("bs=4k\nio_size=128k\nnumber_ios=5", 5),
        // Less than a request is left.
        ("bs=12k\nio_size=128k", 5),
        ("bs=12k\nio_size=160k", 10),
        ("bs=12k\nio_size=256k", 15),
        ("bs=4k\nloops=2", 32),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (options, expected) in JOBS {
        let (seen, theirs) = of_both(folder.path(), &format!("rw=trimwrite\nsize=64k\n{options}"));
        for found in [Some(seen), theirs].into_iter().flatten() {
            assert_eq!([found[1].0, found[2].0], [*expected; 2], "{options}");
        }
    }
    for (options, expected) in [("io_size=160k", 32), ("norandommap\nio_size=160k", 40)] {
        let (seen, theirs) = of_both(folder.path(), &format!("rw=randtrimwrite\nbs=4k\nsize=64k\n{options}"));
        for found in [Some(seen), theirs].into_iter().flatten() {
            assert_eq!([found[1].0, found[2].0], [expected; 2], "{options}");
        }
    }
}
