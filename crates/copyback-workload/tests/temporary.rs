//! Is a temporary file removed, however its use ends? These tests are a separate program, because `remove_all` removes
//! the files of other tests, too.

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

/// The system removes what has no name, even if the program is killed. Each reader has an offset of its own.
#[cfg(target_os = "linux")]
#[test]
fn copies_of_data_have_no_name() {
    use std::io::{Read, Write};
    let folder = tempfile::tempdir().unwrap();
    let mut private = Temporary::private_in(folder.path(), (".test-", "")).unwrap();
    private.as_file_mut().write_all(b"0123456789").unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let mut readers = [(); 2].map(|()| std::fs::File::open(private.path()).unwrap());
    for reader in &mut readers {
        let mut half = [0; 5];
        reader.read_exact(&mut half).unwrap();
        assert_eq!(&half, b"01234");
    }
    drop(private.persist(&folder.path().join("kept")).unwrap_err());
    let mut rest = String::new();
    readers[0].read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "56789", "who has it open reads on");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// No other user may read a copy of a user's trace. The user's mask sets the permissions of an output.
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
