//! Is a temporary file gone, however it ends? A program of its own: `remove_all` removes the files of other tests, too.

use copyback_workload::temporary::{Temporary, remove_all};

#[test]
fn files_are_gone_when_dropped_when_named_and_when_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let count = || std::fs::read_dir(folder.path()).unwrap().count();
    let make = || Temporary::new_in(folder.path(), (".test-", "")).unwrap();
    drop(make());
    assert_eq!(count(), 0);
    let kept = folder.path().join("kept");
    make().persist(&kept).unwrap();
    assert!(make().persist(&folder.path().join("none/kept")).is_err());
    assert_eq!(count(), 1);
    let (_one, _two) = (make(), make());
    assert_eq!(count(), 3);
    let held = remove_all();
    assert_eq!(count(), 1, "only what has its final name is left");
    let later = std::thread::scope(|scope| {
        let making = scope.spawn(make);
        std::thread::yield_now();
        assert_eq!(count(), 1, "none is made while the program ends");
        drop(held);
        making.join().unwrap()
    });
    assert!(later.path().is_file() && kept.is_file());
}

/// A copy of a user's trace is nobody else's; an output is what the user's mask says.
#[cfg(unix)]
#[test]
fn copies_of_data_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let mode = |file: &Temporary| file.as_file().metadata().unwrap().permissions().mode() & 0o777;
    let private = Temporary::private_in(folder.path(), (".test-", "")).unwrap();
    assert_eq!(mode(&private), 0o600);
    assert_eq!(mode(&Temporary::new_in(folder.path(), (".test-", "")).unwrap()) & 0o600, 0o600);
}
