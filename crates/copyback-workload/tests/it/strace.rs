//! Does the reader of strace's output take the calls that state an offset, and name other calls that move data?

use crate::common::{corpus, error, rows};
use copyback_workload::Op;

#[test]
fn strace_with_calls_cut_in_two() {
    let content = b"100 1700000000.000001 pwrite64(5</data/a, b>, \"x, 1) = 2\"..., 4096, 8192) = 4096\n\
        101 1700000000.000002 pread64(6</data/c>,  <unfinished ...>\n\
        100 1700000000.000003 fsync(5</data/a, b>) = 0\n\
        [pid   101] 1700000000.000009 <... pread64 resumed>\"\\0\\1\"..., 512, 0) = 512\n\
        100 1700000000.000010 pread64(6</data/c>, \"\", 512, 99999999) = 0\n\
        100 1700000000.000011 pread64(6</data/c>, 0x7f, 512, 0) = -1 EIO (Input/output error)\n\
        100 1700000000.000012 +++ exited with 0 +++\n";
    let (read, notes) = rows(content);
    // Packed: the second file's first extent follows the first file's.
    assert_eq!(read, [(0, Op::Write, 8192, 4096, 0), (1000, Op::Read, 1 << 20, 512, 1)]);
    for says in ["1 call that failed left out", "device 0 is `/data/a, b`", "device 1 is `/data/c`", "1 flush left out"]
    {
        assert!(notes.iter().any(|note| note.contains(says)), "no {says}: {notes:?}");
    }
}

/// Arrivals and lengths of one file's calls.
fn strace(content: &str) -> (Vec<(u64, u64)>, Vec<String>) {
    let (read, notes) = rows(content.as_bytes());
    assert!(read.iter().all(|row| row.4 == 0), "{read:?}");
    (read.iter().map(|row| (row.0, row.3)).collect(), notes)
}

#[test]
fn strace_with_any_option_of_time_and_process() {
    let call = "pread64(5</data/a>, \"x\"..., 4096, 8192) = ";
    for (first, second, gap_ns) in [
        ("1700000000.000001", "1700000000.000003", 2000),
        ("12:34:56", "12:34:57", 1_000_000_000),
        ("12:34:56.000001", "12:34:57.000002", 1_000_001_000),
        ("23:59:59.5", "00:00:01", 1_500_000_000),
    ] {
        for process in ["", "100 ", "100   ", "[pid   100] "] {
            let (read, _) = strace(&format!("{process}{first} {call}512\n{process}{second} {call}1024\n"));
            assert_eq!(read, [(0, 512), (gap_ns, 1024)], "{process}{first}");
        }
    }
    for process in ["", "100 ", "[pid 100] "] {
        let (read, notes) = strace(&format!("{process}{call}512\n{process}{call}1024\n"));
        assert_eq!(read, [(0, 512), (0, 1024)]);
        assert!(notes.iter().any(|note| note.contains("the calls have no times")), "{notes:?}");
    }
    // A thread's line that comes late over midnight does not begin another day.
    let late = format!("23:59:59 {call}1\n00:00:01 {call}2\n23:59:58 {call}3\n00:00:02 {call}4\n");
    let (read, notes) = strace(&late);
    assert_eq!(read, [(0, 3), (1_000_000_000, 1), (3_000_000_000, 2), (4_000_000_000, 4)]);
    assert!(notes.iter().any(|note| note.ends_with("1 later day")), "{notes:?}");
    let wrong = error(format!("1.0 {call}1\n12:61:00 {call}1\n1.1 {call}1\n").as_bytes());
    assert!(wrong.message.contains("line 2: `12:61:00` is no time"), "{wrong}");
}

#[test]
fn strace_with_data_that_look_like_something_else() {
    for data in [
        r#""<html>, \"a\">, 1, 2) = 3"..."#,
        r#""<<<<<<""#,
        r#""\\""#,
        r#""a\\\", 1, 1) = 1""#,
        r#""\x3c\x00"..."#,
        r#"""..."#,
        "0x7ffd0a",
        r#"") = 7 <unfinished ...>""#,
        r#""<... pread64 resumed>""#,
    ] {
        for descriptor in ["5", "5</data/a, b>", "5</a>b>", "5</data/a>(deleted)", "5</dev/null<char 1:3>>"] {
            let call = format!("1.5 pwrite64({descriptor}, {data}, 4096, 8192)");
            let (read, _) = strace(&format!("{call} = 4096\n{call}      = 512 <0.000012>\n"));
            assert_eq!(read, [(0, 4096), (0, 512)], "{call}");
        }
    }
}

#[test]
fn strace_with_calls_that_never_ended() {
    let content = "100 1.0 pread64(5,  <unfinished ...>\n\
        101 1.1 pwrite64(5, \"a\", 1, 0 <unfinished ...>\n\
        101 1.2 <... pwrite64 resumed>) = 1\n\
        100 1.3 <... pread64 resumed> <unfinished ...>) = ?\n\
        102 1.4 pread64(5,  <unfinished ...>) = ?\n\
        102 1.5 +++ killed by SIGKILL +++\n";
    let (read, notes) = strace(content);
    assert_eq!(read, [(0, 1)], "it arrived when it was called");
    assert!(notes.iter().any(|note| note == "2 calls that failed left out"), "{notes:?}");
}

#[test]
fn strace_with_vectors_and_calls_that_say_no_place() {
    let (read, notes) = rows(&corpus("strace/vectors-and-others.txt"));
    assert_eq!(read, [(0, Op::Write, 8192, 4097, 0), (50_000, Op::Read, 0, 512, 0)]);
    // The write to a pipe is no write to a file, and the call that failed moved nothing.
    let left_out = "2 calls left out that move data (io_submit 1, write 1)";
    assert!(notes.iter().any(|note| note.starts_with(left_out)), "{notes:?}");
    let without = error(b"1 0.1 write(3, \"x\", 4096) = 4096\n1 0.2 fsync(3) = 0\n");
    assert!(without.message.contains("it was read as format `strace`"), "{without}");
    assert!(without.help.is_some_and(|help| help.contains("(write 1)")));
}

/// Arguments of unfinished calls are kept up to 64 MiB in all: 70 lines of 1 MiB exceed that, and calls that resume
/// free their part.
#[test]
fn strace_with_much_unfinished_data_is_refused() {
    let data = "a".repeat(1_000_000);
    let begin = |pid: u64| format!("{pid} 1700000001.0 pwrite64(5, \"{data}\", <unfinished ...>\n");
    let end = |pid: u64| format!("{pid} 1700000001.1 <... pwrite64 resumed> 4096, 0) = 4096\n");
    // By its first line the format is detected.
    let first = "99 1700000000.5 pread64(5, \"\", 1, 0) = 1\n";
    let all_open: String = std::iter::once(first.to_owned()).chain((100..170).map(begin)).collect();
    let refused = error(all_open.as_bytes());
    assert!(refused.message.contains("have more than 64 MiB; record with strace's option -s 0"), "{refused}");
    let one_by_one: String = (100..170).map(|pid| begin(pid) + &end(pid)).collect();
    assert_eq!(strace(&(first.to_owned() + &one_by_one)).0.len(), 71);
}

/// The line of a process that ends has no time of its own, and says nothing of the calls' times.
#[test]
fn the_end_of_a_process_is_no_call_without_a_time() {
    let text = "1234 1700000000.000001 pwrite64(3</d>, \"\"..., 4096, 0) = 4096\n1234 +++ exited with 0 +++\n\
                1234 --- SIGCHLD {si_signo=SIGCHLD} ---\n";
    let (read, notes) = rows(text.as_bytes());
    assert_eq!(read.len(), 1);
    assert!(!notes.iter().any(|note| note.contains("no times")), "{notes:?}");
    let one = text.to_owned() + "1234 1700000000.000002 write(3</d>, \"\"..., 4096) = 4096\n";
    let (_, notes) = rows(one.as_bytes());
    assert!(notes.iter().any(|note| note.starts_with("1 call left out that moves data")), "{notes:?}");
}

/// Lines as strace 6.1 prints them with `-r`: the time since the line before, in a field of 13 characters.
#[test]
fn relative_times_are_added_up() {
    let call = |offset: u64| format!("pread64(3</d>, \"\"..., 4096, {offset}) = 4096");
    let read = |text: &str| {
        let (read, notes) = rows(text.as_bytes());
        let read: Vec<(u64, u64)> = read.iter().map(|row| (row.0, row.2)).collect();
        (read, notes.iter().any(|note| note.contains("since the line before") || note.contains("strace -r")))
    };
    for process in ["", "1234  ", "20594 ", "[pid 20594] ", "[pid     7] "] {
        let text = format!(
            "{process}     0.000000 {}\n{process}     0.500000 {}\n{process}     0.000050 fsync(3</d>) = 0\n\
             {process}     0.000050 {}\n{process}     0.001000 --- SIGCHLD {{}} ---\n{process}123456.000000 {}\n\
             {process}     0.000001 +++ exited with 0 +++\n",
            call(8192),
            call(4096),
            call(12288),
            call(16384),
        );
        let expected = [(0, 8192), (500_000_000, 4096), (500_100_000, 12288), (123_456_501_100_000, 16384)];
        assert_eq!(read(&text), (expected.to_vec(), true), "`{process}`");
    }
    // Both times, as -t and -r together print: the first is absolute.
    let both = format!("1700000000.5 (+     0.000000) {}\n1700000001.0 (+     0.500000) {}\n", call(0), call(8192));
    assert_eq!(read(&both), (vec![(0, 0), (500_000_000, 8192)], false));
    // A call arrives at its first part, and the line that resumes it takes time, too.
    let cut = format!(
        "1234       0.000000 {}\n1234       0.000010 pread64(3</d>,  <unfinished ...>\n\
         1235       0.000020 {}\n1234       0.000030 <... pread64 resumed>\"\"..., 4096, 4096) = 4096\n\
         1234       0.000040 {}\n",
        call(0),
        call(8192),
        call(12288)
    );
    assert_eq!(read(&cut).0, [(0, 0), (10_000, 4096), (30_000, 8192), (100_000, 12288)]);
    // Without the blanks they might be absolute; times that fall are not.
    let trimmed = error(format!("0.0 {}\n0.5 {}\n0.000100 {}\n", call(0), call(0), call(0)).as_bytes());
    assert!(trimmed.message.contains("line 3: its time is 499.9 ms before"), "{trimmed}");
    assert!(trimmed.message.contains("(strace -r): record with strace's option -ttt"), "{trimmed}");
}

/// `-i` prints the instruction's address, `-n` the call's number.
#[test]
fn numbers_in_brackets_are_ignored() {
    for brackets in ["[00007f7d9c6b2f9a]", "[  17]", "[  17] [00007f7d9c6b2f9a]", "[????????????????]"] {
        let call = format!("1234 1700000000.5 {brackets} pread64(5</data/a>, \"x\"..., 4096, 8192) = 512\n");
        assert_eq!(strace(&call).0, [(0, 512)], "{brackets}");
    }
}

#[test]
fn holes_that_are_punched_are_counted() {
    let text = "1.0 pwrite64(3</d>, \"\"..., 4096, 0) = 4096\n\
                1.1 fallocate(3</d>, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 0, 4096) = 0\n\
                1.2 fallocate(3</d>, 0, 0, 4096) = 0\n";
    let (read, notes) = strace(text);
    assert_eq!(read, [(0, 4096)]);
    assert!(notes.iter().any(|note| note.starts_with("1 fallocate left out")), "{notes:?}");
}
