//! Runs cases on all cores.

use crate::cases::{Failure, Kind, Strategies, run_case};
use crate::keep;
use crate::tally::Tally;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How many cases are run, and from which on.
#[derive(Clone, Copy)]
pub struct Budget {
    pub first: u64,
    pub cases: u64,
    pub time: Option<Duration>,
    /// Cases of other kinds are passed over.
    pub kind: Option<Kind>,
}

/// Time between two looks of the watch at the workers.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// A case that the watch sees this often, shrinking included, hangs: cases take milliseconds. Looks are counted, not
/// seconds, because the clock may go on while a machine is suspended.
const LOOKS_MAX: u32 = 3_000;

/// A worker's state: the number of its case, and how often the watch has seen it.
type Doing = Mutex<Option<(u64, u32)>>;

/// Runs cases on all cores until the budget is used up or one fails. Which worker runs which case changes nothing: the
/// tallies of the workers are sums, and of several failures the one with the lowest number counts.
pub fn swarm(budget: Budget, is_talking: bool) -> Result<Tally, Failure> {
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let doing: Vec<Doing> = (0..workers).map(|_| Mutex::new(None)).collect();
    let tallies: Vec<Mutex<Tally>> = (0..workers).map(|_| Mutex::new(Tally::new())).collect();
    let failures: Mutex<Vec<Failure>> = Mutex::new(Vec::new());
    let started = Instant::now();
    let is_over = || budget.time.is_some_and(|time| started.elapsed() >= time);
    let work = |worker: usize| {
        let strategies = Strategies::new();
        while !stop.load(Ordering::Relaxed) && !is_over() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= budget.cases {
                break;
            }
            let number = budget.first.wrapping_add(at);
            let kind = Kind::of(number);
            if budget.kind.is_some_and(|wanted| wanted != kind) {
                continue;
            }
            *doing[worker].lock().expect("no worker panics") = Some((number, 0));
            let result = run_case(number, &strategies);
            *doing[worker].lock().expect("no worker panics") = None;
            match result {
                Ok(verdict) => tallies[worker].lock().expect("no worker panics").add(kind, &verdict),
                Err(failure) => {
                    failures.lock().expect("no worker panics").push(failure);
                    stop.store(true, Ordering::Relaxed);
                }
            }
        }
    };
    let summed = || {
        let mut sum = Tally::new();
        tallies.iter().for_each(|tally| sum.merge(&tally.lock().expect("no worker panics")));
        sum
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|worker| scope.spawn(move || work(worker))).collect();
        let mut said = Instant::now();
        while handles.iter().any(|h| !h.is_finished()) {
            std::thread::sleep(LOOK_EVERY);
            watch(&doing);
            if is_talking && said.elapsed() >= Duration::from_secs(10) {
                said = Instant::now();
                eprintln!("{} s: {}", started.elapsed().as_secs(), summed());
            }
        }
    });
    let sum = summed();
    let failures = failures.into_inner().expect("no worker panics");
    failures.into_iter().min_by_key(|f| f.number).map_or(Ok(sum), Err)
}

/// Ends the program if a worker hangs: nothing else can.
fn watch(doing: &[Doing]) {
    for doing in doing {
        if let Some((number, looks)) = doing.lock().expect("no worker panics").as_mut() {
            *looks += 1;
            if *looks > LOOKS_MAX {
                eprintln!("case {number} or its shrinking hangs\n{}", keep::command(*number));
                std::process::exit(1);
            }
        }
    }
}
