//! Waits of requests for one die, compared with queueing theory.
//!
//! The drive is one die of one plane; the cases draw Poisson arrivals; collection takes no time. A wait is the response
//! time minus the time of the request's own command.

use super::gate::{Case, Figure, Gate, Group};
use super::points;
use super::subject::{Device, Requests, Scope, request, simulate};
use crate::failure::Failure;
use copyback::observe::report::{Cause, Latency, Report};
use copyback::run::config::RunConfig;
use copyback_theory::waiting::{self as theory, Class};
use copyback_workload::units::{Bytes, Nanos};
use copyback_workload::{Op, rng};

pub(super) const MEAN: &str = "about twice the 95 % interval of so many arrivals: successive waits are correlated, more so \
                               at higher loads";
const PERCENTILE: &str = "as for means, but a percentile counts only a hundredth or a thousandth of the arrivals; the \
                          simulator's histogram adds an error of at most 0.1 % of the response time";

const P_K: &str = "M/D/1: ρ/(2(1 − ρ)) (Pollaczek 1930; Khinchine 1932)";
const FRANX: &str = "M/D/1 distribution of waits (Franx 2001)";
const M_G_1: &str = "M/G/1: ½·Σ λ_i·E[S_i²]/(1 − ρ) (Pollaczek 1930; Khinchine 1932)";
const COBHAM: &str = "non-preemptive priority: W_R = W0/(1 − ρ_R), W_W = W0/((1 − ρ_R)(1 − ρ)) (Cobham 1954)";
const VACATIONS: &str = "multiple vacations: ½·λ·E[S²]/(1 − ρ) + E[V²]/(2·E[V]) (Levy and Yechiali 1975)";

/// One plane that is filled in order; collection takes no time.
const QUEUE: &str = r#"
    precondition = { mode = "sequential" }
    trigger = { policy = "watermark", soft = 2 }
    capacity = { over_provisioning = 0.6 }
    preemption = { policy = "ideal" }
    compose = { policy = "list", builders = [] }
"#;

/// One die, and the times of its commands.
#[derive(Clone)]
pub(super) struct Die {
    pub(super) config: RunConfig,
    unit_bytes: u64,
    pub(super) page_bytes: u64,
}

impl Die {
    pub(super) fn new(device: &Device, order: &str, whole_pages: bool) -> Result<Self, Failure> {
        let config = device.with(&format!("{QUEUE}\norder = {order}"), |g| {
            (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
            (g.blocks_per_plane, g.pages_per_block) = (16, g.pages_per_block.clamp(8, 64));
            if whole_pages {
                g.mapping_unit = None;
            }
        })?;
        let (unit_bytes, page_bytes) = (config.geometry.unit_bytes(), config.geometry.page_size.0);
        Ok(Self { config, unit_bytes, page_bytes })
    }

    /// A read of the first page of a block.
    pub(super) fn read_ns(&self, units: u64) -> f64 {
        let timing = &self.config.timing;
        (timing.command.0 + timing.read.list()[0] + timing.channel.transfer_ns(units * self.unit_bytes)) as f64
    }

    fn program_ns(&self) -> f64 {
        let timing = &self.config.timing;
        (timing.command.0 + timing.channel.transfer_ns(self.page_bytes) + timing.program.list()[0]) as f64
    }

    /// Bytes that writes overwrite in turn: half of the blocks, which leaves room to collect.
    fn written_bytes(&self) -> u64 {
        let g = &self.config.geometry;
        u64::from(g.blocks_per_plane / 2) * u64::from(g.pages_per_block) * self.page_bytes
    }
}

/// Poisson arrivals with a rate in events a nanosecond.
pub(super) struct Poisson {
    stream: rng::Xoshiro256PlusPlus,
    mean_ns: f64,
    now_ns: f64,
}

impl Poisson {
    pub(super) fn new(rate: f64, seed: u64) -> Self {
        Self { stream: rng::stream(seed, "validate.arrivals"), mean_ns: 1.0 / rate, now_ns: 0.0 }
    }

    pub(super) fn next_ns(&mut self) -> u64 {
        self.now_ns += rng::exponential(&mut self.stream, self.mean_ns);
        self.now_ns.round() as u64
    }
}

/// The group's cases.
pub fn cases(scope: &Scope) -> Result<Vec<Case>, Failure> {
    let device = scope.first();
    let mut cases = Vec::new();
    let loads = [(0.3, 140_000, 1_000_000), (0.5, 140_000, 2_000_000), (0.7, 350_000, 4_000_000), (0.9, 0, 12_000_000)];
    for (load, quick, full) in loads {
        let requests = if scope.is_quick { quick } else { full };
        if requests > 0 {
            cases.push(m_d_1(device, load, requests)?);
        }
    }
    if scope.is_one_device {
        return Ok(cases);
    }
    let requests = if scope.is_quick { 170_000 } else { 2_000_000 };
    let loads: &[f64] = if scope.is_quick { &[0.6] } else { &[0.4, 0.6, 0.8] };
    for &load in loads {
        cases.push(read_sizes(device, load, requests)?);
        cases.push(reads_and_writes(device, load, requests, Order::Fifo)?);
        cases.push(reads_and_writes(device, load, requests, Order::ReadsFirst)?);
    }
    let steps: &[(f64, f64)] = if scope.is_quick { &[(0.5, 4.0)] } else { &[(0.3, 8.0), (0.5, 4.0), (0.7, 2.0)] };
    for &(load, step) in steps {
        // Fewer than the drive takes in at once.
        cases.push(vacations(device, load, step, if scope.is_quick { 20_000 } else { 60_000 })?);
        let requests = if scope.is_quick { 70_000 } else { 2_000_000 };
        for is_fenced in [false, true] {
            cases.push(points::points(device, load, step, is_fenced, requests)?);
        }
    }
    Ok(cases)
}

pub(super) fn gate(name: String, source: &'static str, tolerance: f64, reason: &'static str) -> Gate {
    Gate { name, source, tolerance, reason }
}

/// Reads of one page: mean wait, and its 99 and 99.9 % points.
fn m_d_1(device: &Device, load: f64, requests: u64) -> Result<Case, Failure> {
    let die = Die::new(device, "{ policy = \"fifo\" }", true)?;
    let theory = [
        theory::m_d_1_mean_wait(load)?,
        theory::m_d_1_wait_percentile(load, 0.99)?,
        theory::m_d_1_wait_percentile(load, 0.999)?,
    ];
    let tolerances = match (load > 0.8, requests < 1_000_000 || load > 0.6 && requests < 4_000_000) {
        (true, _) => [0.02, 0.03, 0.06],
        (false, true) => [0.02, 0.04, 0.05],
        (false, false) => [0.01, 0.02, 0.03],
    };
    let gates = vec![
        gate(format!("M/D/1, load {load}, mean"), P_K, tolerances[0], MEAN),
        gate(format!("M/D/1, load {load}, p99"), FRANX, tolerances[1], PERCENTILE),
        gate(format!("M/D/1, load {load}, p99.9"), FRANX, tolerances[2], PERCENTILE),
    ];
    let run = move |seed| {
        let service_ns = die.read_ns(die.page_bytes / die.unit_bytes);
        let mut arrivals = Poisson::new(load / service_ns, seed);
        let (page_bytes, mut left) = (die.page_bytes, requests);
        let source = Requests(move || {
            left = u64::checked_sub(left, 1)?;
            Some(request(Op::Read, arrivals.next_ns(), 0, page_bytes))
        });
        let report = simulate(&die.config, Box::new(source), seed, false)?.report;
        let read = &report.response.read;
        let waits = [read.mean_ns, read.p99_ns as f64, read.p99_9_ns as f64].map(|ns| ns / service_ns - 1.0);
        Ok(waits.into_iter().zip(theory).map(|(wait, theory)| Figure::equal(wait, theory)).collect())
    };
    Ok(Case { group: Group::Waiting, gates, is_random: true, run: Box::new(run) })
}

/// The mean wait of a class of requests: its response time without the time of its own commands.
fn mean_wait_ns(response: &Latency, breakdown: &[(Cause, f64)]) -> f64 {
    let own = breakdown.iter().filter(|(cause, _)| matches!(cause, Cause::Flash | Cause::Transfer));
    response.mean_ns - own.map(|(_, ns)| ns).sum::<f64>()
}

pub(super) fn read_wait_ns(report: &Report) -> f64 {
    mean_wait_ns(&report.response.read, &report.latency_breakdown.read_mean_ns)
}

fn write_wait_ns(report: &Report) -> f64 {
    mean_wait_ns(&report.response.write, &report.latency_breakdown.write_mean_ns)
}

/// Services of several lengths spread waits more.
fn mixed_tolerance(load: f64, requests: u64) -> f64 {
    if load > 0.7 || requests < 1_000_000 { 0.03 } else { 0.015 }
}

/// Reads of a quarter, half or all of a page: services of three lengths. A slow channel spreads them.
fn read_sizes(device: &Device, load: f64, requests: u64) -> Result<Case, Failure> {
    const SHARES: [(f64, u64); 3] = [(0.6, 1), (0.3, 2), (0.1, 4)];
    let mut slow = device.clone();
    slow.config.geometry.mapping_unit = Some(Bytes(device.config.geometry.page_size.0 / 4));
    slow.config.timing.channel = copyback::config::Rate { bytes_per_s: 40_000_000 };
    let die = Die::new(&slow, "{ policy = \"fifo\" }", false)?;
    let class = Class::mixed(1.0, &SHARES.map(|(share, units)| (share, die.read_ns(units))));
    let class = Class { rate: load / class.mean, ..class };
    let theory = theory::m_g_1_mean_wait(&[class])? / class.mean;
    let name = format!("M/G/1, reads of three sizes, load {load}");
    let gates = vec![gate(name, M_G_1, mixed_tolerance(load, requests), MEAN)];
    let run = move |seed| {
        let mut arrivals = Poisson::new(class.rate, seed);
        let mut sizes = rng::stream(seed, "validate.sizes");
        let (unit_bytes, mut left) = (die.unit_bytes, requests);
        let source = Requests(move || {
            left = u64::checked_sub(left, 1)?;
            let draw = rng::unit_f64(&mut sizes);
            let units = if draw < 0.6 {
                1
            } else if draw < 0.9 {
                2
            } else {
                4
            };
            Some(request(Op::Read, arrivals.next_ns(), 0, units * unit_bytes))
        });
        let report = simulate(&die.config, Box::new(source), seed, false)?.report;
        Ok(vec![Figure::equal(read_wait_ns(&report) / class.mean, theory)])
    };
    Ok(Case { group: Group::Waiting, gates, is_random: true, run: Box::new(run) })
}

/// The order of a die's requests.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Fifo,
    ReadsFirst,
}

/// Three reads for each write, of one page each.
fn reads_and_writes(device: &Device, load: f64, requests: u64, order: Order) -> Result<Case, Failure> {
    const READ_SHARE: f64 = 0.75;
    let text = match order {
        Order::Fifo => "{ policy = \"fifo\" }",
        Order::ReadsFirst => "{ policy = \"priority\", first = \"read-write-gc\" }",
    };
    let die = Die::new(device, text, true)?;
    let (read_ns, program_ns) = (die.read_ns(1), die.program_ns());
    let rate = load / (READ_SHARE * read_ns + (1.0 - READ_SHARE) * program_ns);
    let classes = [Class::constant(READ_SHARE * rate, read_ns), Class::constant((1.0 - READ_SHARE) * rate, program_ns)];
    let (name, source, theory) = match order {
        Order::Fifo => {
            let wait = theory::m_g_1_mean_wait(&classes)?;
            ("M/G/1, reads and writes", M_G_1, [wait, wait])
        }
        Order::ReadsFirst => {
            let waits = theory::priority_mean_waits(&classes)?;
            ("reads before writes", COBHAM, [waits[0], waits[1]])
        }
    };
    let gates = ["reads", "writes"].map(|op| {
        let name = format!("{name}, load {load}, {op}");
        gate(name, source, mixed_tolerance(load, requests), MEAN)
    });
    let run = move |seed| {
        let mut arrivals = Poisson::new(rate, seed);
        let mut kinds = rng::stream(seed, "validate.kinds");
        let (page_bytes, written_bytes, mut written, mut left) = (die.page_bytes, die.written_bytes(), 0, requests);
        let source = Requests(move || {
            left = u64::checked_sub(left, 1)?;
            let arrival_ns = arrivals.next_ns();
            if rng::unit_f64(&mut kinds) < READ_SHARE {
                return Some(request(Op::Read, arrival_ns, 0, page_bytes));
            }
            written = (written + page_bytes) % written_bytes;
            Some(request(Op::Write, arrival_ns, written, page_bytes))
        });
        let report = simulate(&die.config, Box::new(source), seed, false)?.report;
        let waits = [read_wait_ns(&report), write_wait_ns(&report)];
        let figure = |(wait, theory): (f64, f64)| Figure::equal(wait / read_ns, theory / read_ns);
        Ok(waits.into_iter().zip(theory).map(figure).collect())
    };
    Ok(Case { group: Group::Waiting, gates: gates.to_vec(), is_random: true, run: Box::new(run) })
}

/// Reads before an endless backlog of writes: each program is a step that a read cannot interrupt, like the steps of a
/// collection between its preemption points. Programs take `step` times as long as reads; `writes` of them wait from
/// the start.
fn vacations(device: &Device, load: f64, step: f64, writes: u64) -> Result<Case, Failure> {
    let mut stepped = device.clone();
    let timing = &mut stepped.config.timing;
    let first = Die::new(device, "{ policy = \"fifo\" }", true)?;
    let (read_ns, cycles_ns) = (first.read_ns(1) as u64, first.program_ns() as u64 - timing.program.list()[0]);
    let step_ns = (step * read_ns as f64).round() as u64;
    let program_ns = step_ns.checked_sub(cycles_ns).filter(|&ns| ns > 0);
    let program_ns = program_ns.ok_or_else(|| Failure::run(format!("a step of {step_ns} ns holds no program")))?;
    timing.program = copyback::config::PageTimes::Same(Nanos(program_ns));
    let die = Die::new(&stepped, "{ policy = \"priority\", first = \"read-write-gc\" }", true)?;
    let (service_ns, vacation_ns) = (die.read_ns(1), die.program_ns());
    let reads = Class::constant(load / service_ns, service_ns);
    let theory = theory::vacations_mean_wait(reads, Class::constant(0.0, vacation_ns))? / service_ns;
    // Programs use the time that reads leave; a fifth of the programs is still waiting when the last read comes.
    let span_ns = 0.8 * writes as f64 * vacation_ns / (1.0 - load);
    let name = format!("steps of {step} services, load {load}");
    let gates = vec![gate(name, VACATIONS, if load > 0.6 { 0.02 } else { 0.01 }, MEAN)];
    let run = move |seed| {
        let mut arrivals = Poisson::new(reads.rate, seed);
        let (page_bytes, written_bytes, mut written) = (die.page_bytes, die.written_bytes(), 0);
        let source = Requests(move || {
            if written < writes {
                written += 1;
                return Some(request(Op::Write, 0, written * page_bytes % written_bytes, page_bytes));
            }
            let arrival_ns = arrivals.next_ns();
            (arrival_ns as f64 <= span_ns).then(|| request(Op::Read, arrival_ns, 0, page_bytes))
        });
        let report = simulate(&die.config, Box::new(source), seed, false)?.report;
        if (report.simulated_ns as f64) < span_ns + vacation_ns {
            return Err(Failure::run("the steps of background work ended before the reads did"));
        }
        Ok(vec![Figure::equal(read_wait_ns(&report) / service_ns, theory)])
    };
    Ok(Case { group: Group::Waiting, gates, is_random: true, run: Box::new(run) })
}
