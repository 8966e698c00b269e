//! Does a drive behind another program's event loop answer as in a simulation? A server whose requests reach a running
//! drive needs no more than this loop.

use crate::added_task::refresh;
use crate::common::{config, pages, run, unchecked};
use copyback::host::TRANSACTIONS_MAX;
use copyback::host::config::SubpageWrites;
use copyback::host::splitter::Splitter;
use copyback::run::config::RunConfig;
use copyback::run::policies::Policies;
use copyback::run::preconditioning::preconditioned;
use copyback::sim::index::RequestId;
use copyback::sim::queue::{EventQueue, Timer};
use copyback::ssd::Ssd;
use copyback::workload::{Op, Request};
use std::collections::VecDeque;

/// The loop's own timer: the next arrival.
const ARRIVAL: Timer = Timer(0);
/// No script here needs as many events.
const EVENTS_MAX: u32 = 10_000_000;
/// The drive's first timer: its timers follow the loop's own.
const FIRST_OF_DRIVE: u32 = 1;

/// A drive, and the requests that arrive at it.
struct Host<'a> {
    ssd: Ssd,
    events: EventQueue,
    script: &'a [Request],
    begun: usize,
    /// Requests that began, and the rest of each: the drive was full.
    rest: VecDeque<(RequestId, Splitter)>,
    /// Response times, by request.
    responses_ns: Vec<Option<u64>>,
}

impl<'a> Host<'a> {
    fn new(config: &RunConfig, script: &'a [Request]) -> Self {
        let ftl = preconditioned(config, 1).expect("preconditioning works");
        let timers = FIRST_OF_DRIVE + Ssd::timers(&ftl.geometry);
        let ssd = Ssd::new(&config.ssd(SubpageWrites::ReadModifyWrite), ftl, FIRST_OF_DRIVE, true, false);
        let events = EventQueue::new(timers as usize);
        Self { ssd, events, script, begun: 0, rest: VecDeque::new(), responses_ns: vec![None; script.len()] }
    }

    /// Handles all events, each with what follows from it. Returns the response times, and the blocks that background
    /// tasks relocated.
    fn run(mut self) -> (Vec<u64>, u64) {
        self.ssd.begin_run(&mut self.events);
        self.begin_due();
        self.settle();
        for handled in 0.. {
            let Some((_, timer)) = self.events.pop() else { break };
            assert!(handled < EVENTS_MAX, "the drive does not come to rest");
            if timer != ARRIVAL {
                self.ssd.on_event(timer.0 - FIRST_OF_DRIVE, &mut self.events);
                self.take_completions();
            }
            self.submit_rest();
            self.begin_due();
            self.settle();
        }
        let relocated = self.ssd.back_end().counters().work().blocks_relocated;
        let responses_ns = self.responses_ns.into_iter().map(|response_ns| response_ns.expect("each request ends"));
        (responses_ns.collect(), relocated)
    }

    /// Submits the requests that have arrived, and sets the timer for the next one.
    fn begin_due(&mut self) {
        while let Some(request) = self.script.get(self.begun) {
            let now_ns = self.events.now_ns();
            if request.arrival_ns > now_ns {
                self.events.schedule(ARRIVAL, request.arrival_ns);
                return;
            }
            let id = RequestId(self.begun as u32);
            self.ssd.begin(id, request.arrival_ns, request.priority, self.begun as u64);
            self.begun += 1;
            let geometry = self.ssd.back_end().geometry();
            let splitter = Splitter::new(request, geometry.unit_bytes, geometry.units_per_logical_page);
            self.rest.push_back((id, splitter));
            self.submit_rest();
        }
    }

    /// Submits requests in the order of their arrival, as far as the drive has room for their transactions.
    fn submit_rest(&mut self) {
        while let Some((id, mut splitter)) = self.rest.pop_front() {
            let op = splitter.op();
            if op == Op::Trim {
                let (first, units) = splitter.rest();
                self.ssd.trim(first, units, &mut self.events);
            } else {
                while !self.ssd.is_full() {
                    let Some(part) = splitter.next() else { break };
                    self.ssd.submit(id, part, op, &mut self.events);
                }
                if self.ssd.is_full() {
                    self.rest.push_front((id, splitter));
                    return self.take_completions();
                }
            }
            self.take_completions();
            if let Some(completion) = self.ssd.end_of_split(id, self.events.now_ns()) {
                self.end(completion.request);
            }
        }
    }

    /// Lets dies take work until none can take more.
    fn settle(&mut self) {
        while self.ssd.is_marked() {
            self.ssd.dispatch_ready(&mut self.events);
            self.take_completions();
        }
    }

    fn take_completions(&mut self) {
        while let Some(completion) = self.ssd.take_completion(&mut self.events) {
            self.end(completion.request);
        }
    }

    fn end(&mut self, id: RequestId) {
        let request = id.0 as usize;
        let response_ns = self.events.now_ns() - self.script[request].arrival_ns;
        assert!(self.responses_ns[request].replace(response_ns).is_none(), "request {request} ended twice");
        if self.responses_ns.iter().all(Option::is_some) {
            self.ssd.end_of_requests(&mut self.events);
        }
    }
}

/// Writes, reads and trims in bursts, so that they wait for each other and for collections.
fn script() -> Vec<Request> {
    let request = |i: u64| {
        let op = [Op::Write, Op::Write, Op::Read, Op::Write, Op::Trim][i as usize % 5];
        pages(op, i / 8 * 2_000_000, i * 7 % 90, 1 + i % 3)
    };
    (0..400).map(request).collect()
}

#[test]
fn a_drive_behind_another_loop_answers_as_in_a_simulation() {
    let script = script();
    for tables in [
        "",
        "preemption = { policy = \"points\" }\nprecondition = { mode = \"random\", overwrites = 1.0 }",
        "preemption = { policy = \"always\" }\nadmit = { policy = \"strict\" }",
        "buffer = { policy = \"lru\", size = \"64 KiB\", latency = \"2 us\", idle_after = \"1 ms\" }",
    ] {
        let config = config(tables);
        let simulated = run(&config, script.clone());
        assert!(simulated.report.gc.collections > 0, "nothing is collected: {tables}");
        let expected: Vec<u64> = simulated.requests.iter().map(|request| request.response_ns).collect();
        assert_eq!(Host::new(&config, &script).run(), (expected, 0), "{tables}");
    }
}

/// Requests of more pages than a drive takes at a time: the rest is submitted as others end.
#[test]
fn a_full_drive_gets_the_rest_later() {
    let config = config("precondition = { mode = \"sequential\" }");
    let script: Vec<Request> = (0..24_000).map(|i| pages(Op::Read, 0, i * 3 % 90, 3)).collect();
    assert!(script.len() * 3 > TRANSACTIONS_MAX);
    let expected: Vec<u64> = run(&config, script.clone()).requests.iter().map(|request| request.response_ns).collect();
    assert!(Host::new(&config, &script).run() == (expected, 0), "responses differ");
}

/// `Ssd::begin_run` sets the first alarm of a background task: blocks are refreshed before the first request.
#[test]
fn a_background_task_works_behind_another_loop() {
    let mut policies = Policies::default();
    let name = policies.add("refresh", &refresh::maker(20_000_000));
    let mut config = unchecked(&format!(
        "precondition = {{ mode = \"sequential\" }}\ntasks = {{ plugin = {{ name = \"{name}\" }} }}"
    ));
    policies.supply(&mut config);
    let script = [pages(Op::Read, 30_000_000, 0, 1)];
    let simulated = run(&config, script.to_vec());
    let relocated = simulated.report.flash.blocks_relocated;
    assert!(relocated > 0, "nothing is refreshed");
    assert_eq!(Host::new(&config, &script).run(), (vec![simulated.requests[0].response_ns], relocated));
}
