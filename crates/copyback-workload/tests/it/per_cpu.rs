//! Are the files that blktrace writes, one for each CPU, one trace by their base name?

use crate::common::{read_spec, read_with};
use copyback_workload::passed_traces::PassedTrace;
use copyback_workload::per_cpu;
use copyback_workload::spec::{BlockAction, WorkloadSpec};
use copyback_workload::temporary::Temporary;
use std::path::Path;

const WRITE_ISSUED: u32 = (1 << 17) | 7;
const WRITE_COMPLETED: u32 = (1 << 17) | 8;

/// An event of 4 KiB on 259,0.
fn event(time_ns: u64, sector: u64, action: u32) -> Vec<u8> {
    let head: Vec<u8> = [0x6561_7407_u32, 1].iter().flat_map(|word| word.to_le_bytes()).collect();
    let words = [4096, action, 77, 259 << 20, 0, 0].iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
    [head, time_ns.to_le_bytes().to_vec(), sector.to_le_bytes().to_vec(), words].concat()
}

/// Events of four CPUs, of which one is idle and one only completes.
fn recorded(folder: &Path) {
    let write = |cpu: u32, events: Vec<Vec<u8>>| {
        std::fs::write(folder.join(format!("big.blktrace.{cpu}")), events.concat()).unwrap();
    };
    let issued = |at: &[u64]| at.iter().map(|at| event(1000 * at, 8 * at, WRITE_ISSUED)).collect::<Vec<_>>();
    write(0, issued(&[1, 4, 5000]));
    write(1, issued(&[2, 3, 4, 6]));
    write(2, Vec::new());
    write(10, vec![event(7000, 16, WRITE_COMPLETED)]);
    std::fs::write(folder.join("big.blktrace.txt"), "no number").unwrap();
    std::fs::write(folder.join("bigger.blktrace.0"), issued(&[9]).concat()).unwrap();
}

#[test]
fn files_of_all_cpus_are_merged_by_time() {
    let folder = tempfile::tempdir().unwrap();
    recorded(folder.path());
    let base = folder.path().join("big");
    let names: Vec<_> = per_cpu::files(&base).iter().map(|file| file.extension().unwrap().to_owned()).collect();
    assert_eq!(names, ["0", "1", "2", "10"], "in the order of the CPUs");
    let spec = WorkloadSpec::of_trace(&base);
    let gap = "there is no `big.blktrace.3` and 6 files more, though there is `big.blktrace.10`";
    assert!(read_spec(&spec).unwrap().1.iter().any(|note| note.starts_with(gap)), "a gap is noted");
    let whole: Vec<_> = [0, 1, 2].map(|cpu| folder.path().join(format!("big.blktrace.{cpu}"))).to_vec();
    assert_eq!(per_cpu::note_of_gap(&whole), None);
    assert!(per_cpu::note_of_gap(&[whole[0].clone(), whole[2].clone()]).is_some_and(|note| !note.contains("more")));
    // Times are in order without any sorting, however far apart the CPUs' files are.
    let spec = WorkloadSpec { reorder_window: Some(1), ..WorkloadSpec::of_trace(&base) };
    let (requests, notes) = read_spec(&spec).unwrap();
    let at: Vec<(u64, u64)> = requests.iter().map(|r| (r.arrival_ns / 1000, r.offset_bytes / 4096)).collect();
    assert_eq!(at, [(0, 1), (1, 2), (2, 3), (3, 4), (3, 4), (5, 6), (4999, 5000)]);
    assert!(notes.iter().any(|note| note.contains("4 files of") && note.contains("merged by time")), "{notes:?}");
    let completed = WorkloadSpec { event: Some(BlockAction::Completed), ..spec.clone() };
    assert_eq!(read_spec(&completed).unwrap().0.len(), 1);
    let queued = read_spec(&WorkloadSpec { event: Some(BlockAction::Queued), ..spec }).unwrap_err();
    assert!(queued.message.contains("no request in 4 files"), "{queued}");
    assert!(queued.help.is_some_and(|help| help.contains("workload.event=D")));
    std::fs::write(folder.path().join("big.blktrace.3"), b"no trace").unwrap();
    let damaged = read_spec(&WorkloadSpec::of_trace(&base)).unwrap_err();
    assert!(damaged.message.contains("big.blktrace.3: it does not begin as blktrace's files do"), "{damaged}");
    std::fs::write(&base, b"a file of that name").unwrap();
    assert!(per_cpu::files(&base).is_empty());
}

/// A worker of a cluster has the content of the client's files under their names.
#[test]
fn files_that_were_handed_over_count() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("elsewhere/big");
    let kept: Vec<PassedTrace> = (0..2)
        .map(|cpu: u64| {
            let file = Temporary::new_in(folder.path(), ("kept-", "")).unwrap();
            std::fs::write(file.path(), event(1000 * cpu, 8 * cpu, WRITE_ISSUED)).unwrap();
            PassedTrace::in_place_of(&base.with_file_name(format!("big.blktrace.{cpu}")), file)
        })
        .collect();
    assert_eq!(per_cpu::files(&base).len(), 2);
    assert_eq!(read_spec(&WorkloadSpec::of_trace(&base)).unwrap().0.len(), 2);
    drop(kept);
    assert!(per_cpu::files(&base).is_empty());
}

#[test]
fn one_file_after_the_other_is_advised_to_be_merged() {
    let joined = [event(9_000_000, 0, WRITE_ISSUED), event(1000, 0, WRITE_ISSUED)].concat();
    let refused = read_with(&joined, |spec| spec.reorder_window = Some(1)).unwrap_err();
    let help = refused.help.unwrap();
    assert!(help.contains("one file for each CPU") && help.contains("blkparse -i BASE -d FILE"), "{help}");
    let (_, notes) = read_with(&joined, |_| ()).unwrap();
    assert!(notes.iter().any(|note| note.contains("their base name takes all of them")), "{notes:?}");
}
