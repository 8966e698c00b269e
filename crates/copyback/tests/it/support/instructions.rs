//! Counts the instructions of parts of this program under callgrind.
//!
//! A test runs this program again under callgrind, which counts from each [`start`] to the next [`stop`] only. Work
//! before that, such as preconditioning, runs several times as fast as if it were counted. The start of valgrind with
//! this program takes half a second: a test counts all its parts in one run. Without valgrind, or on another processor
//! than x86-64, nothing is counted.

use copyback::workload::{Error, Request, RequestSource};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Requests to the tool, as `valgrind/callgrind.h` numbers them: 'C', 'T', and the number.
const START_INSTRUMENTATION: u64 = 0x4354_0004;
const STOP_INSTRUMENTATION: u64 = 0x4354_0005;
/// Writes the counts since the last time to a file, and begins at 0 again.
const DUMP_STATS: u64 = 0x4354_0000;

/// Counts from here on; does nothing without callgrind.
pub fn start() {
    ask(START_INSTRUMENTATION);
}

/// Counts no longer: a part ends.
pub fn stop() {
    ask(STOP_INSTRUMENTATION);
    ask(DUMP_STATS);
}

#[cfg(target_arch = "x86_64")]
fn ask(request: u64) {
    let arguments = [request, 0, 0, 0, 0, 0];
    // SAFETY: the four rotations turn `rdi` by 128 bits in all, and the exchange does nothing. Valgrind knows the
    // sequence, reads the arguments that `rax` points to, and writes its answer to `rdx`.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") 0_u64 => _,
            out("rdi") _,
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn ask(_request: u64) {}

/// Runs an ignored test of this program, by its full name, which counts `N` parts. Returns the instructions of each, in
/// order; none if nothing can be counted here; with `COPYBACK_NEEDS_VALGRIND` set, as in CI, that is a failure.
pub fn counted<const N: usize>(test: &str) -> Option<[u64; N]> {
    if !cfg!(target_arch = "x86_64") {
        eprintln!("not tested: instructions are counted on x86-64 only");
        return None;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "counts-{}-{}",
        std::process::id(),
        test.replace("::", "-")
    ));
    std::fs::create_dir_all(&folder).expect("the folder of temporary files is writable");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--instr-atstart=no"])
        .arg(format!("--callgrind-out-file={}", folder.join("part").display()))
        .arg(std::env::current_exe().expect("this program"))
        .args(["--ignored", "--exact", test])
        .output();
    let parts: Vec<_> = (1..).map_while(|at| std::fs::read_to_string(folder.join(format!("part.{at}"))).ok()).collect();
    std::fs::remove_dir_all(&folder).expect("it was created");
    let Ok(output) = output else {
        assert!(std::env::var_os("COPYBACK_NEEDS_VALGRIND").is_none(), "valgrind is missing; install it");
        eprintln!("not tested: there is no valgrind");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stdout));
    let count = |part: &String| -> u64 {
        let total = part.lines().find_map(|line| line.strip_prefix("totals: ")).expect("callgrind counts");
        total.trim().parse().expect("a number")
    };
    let counts: Vec<u64> = parts.iter().map(count).collect();
    assert!(counts.iter().all(|&count| count > 0), "nothing was counted: {counts:?}\n{text}");
    Some(counts.try_into().unwrap_or_else(|counts| panic!("{N} parts were to be counted, not {counts:?}\n{text}")))
}

/// Which requests are counted: from the one of number `from` to the one of number `to`, in the order in which they are
/// fetched from all sources that share the meter.
pub struct Meter {
    fetched: AtomicU64,
    from: u64,
    to: u64,
}

impl Meter {
    pub fn new(from: u64, to: u64) -> Arc<Self> {
        Arc::new(Self { fetched: AtomicU64::new(0), from, to })
    }
}

/// A source of requests that starts and stops the counting.
pub struct Metered<S> {
    pub source: S,
    pub meter: Arc<Meter>,
}

impl<S: RequestSource> RequestSource for Metered<S> {
    fn next_request(&mut self) -> Result<Option<Request>, Error> {
        let request = self.source.next_request()?;
        let number = self.meter.fetched.fetch_add(u64::from(request.is_some()), Ordering::Relaxed);
        if request.is_some() && number == self.meter.from {
            start();
        }
        if request.is_some() && number == self.meter.to {
            stop();
        }
        Ok(request)
    }
}
