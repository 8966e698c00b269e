//! The cost of preemption points, with real collections in progress.
//!
//! One die, Poisson reads, and successive collections: a block is copied back page by page and erased. Before each of
//! these steps, all of one length, the collection polls whether reads wait. Waiting reads then preempt. Without a
//! fence (`preemption.fence`), reads that arrive during their service preempt, too: in queueing theory, a server that
//! takes vacations when no read waits. With a fence for all, later reads wait for the next poll: gated service with
//! vacations.

use super::gate::{Case, Figure, Group};
use super::subject::{Device, Requests, request};
use super::waiting::{Die, MEAN, Poisson, gate, read_wait_ns};
use crate::failure::Failure;
use crate::progress::stop_thread_if_requested;
use copyback::config::PageTimes;
use copyback::flash::command::Source;
use copyback::observe::report::Report;
use copyback::run::config::RunConfig;
use copyback::run::preconditioning;
use copyback::run::simulation::{Setup, Simulation};
use copyback::run::{RunError, outcome_of};
use copyback::sim::index::{BlockId, PlaneId};
use copyback_theory::waiting::{self as theory, Class};
use copyback_workload::units::Nanos;
use copyback_workload::{Op, RequestSource};

const EXHAUSTIVE: &str = "multiple vacations: ½·λ·E[S²]/(1 − ρ) + E[V²]/(2·E[V]) (Levy and Yechiali 1975)";
const GATED: &str =
    "gated service, multiple vacations: ½·λ·E[S²]/(1 − ρ) + E[V²]/(2·E[V]) + ρ·E[V]/(1 − ρ) (Takagi 1991)";

/// Two planes, so that the next collection waits for the die when one ends.
const PLANES: u32 = 2;

/// Reads during collections of copybacks, whose steps take `step` times as long as a read; `is_fenced`: reads that
/// arrive while others preempt wait for the next step.
pub fn points(device: &Device, load: f64, step: f64, is_fenced: bool, requests: u64) -> Result<Case, Failure> {
    let first = Die::new(device, "{ policy = \"fifo\" }", true)?;
    let read_ns = first.read_ns(1);
    let config = collection_config(&first, (step * read_ns).round() as u64, is_fenced)?;
    let (service_ns, page_bytes) = (read_ns, first.page_bytes);
    let step_ns = (config.timing.command.0 + config.timing.erase.0) as f64;
    let reads = Class::constant(load / service_ns, service_ns);
    let step_class = Class::constant(0.0, step_ns);
    let (theory_ns, formula, fence) = match is_fenced {
        true => (theory::gated_vacations_mean_wait(reads, step_class)?, GATED, "all"),
        false => (theory::vacations_mean_wait(reads, step_class)?, EXHAUSTIVE, "none"),
    };
    let theory = theory_ns / service_ns;
    let name = format!("points, fence {fence}, steps of {step}, load {load}");
    let tolerance = if load > 0.6 || requests < 1_000_000 { 0.02 } else { 0.01 };
    let gates = vec![gate(name, formula, tolerance, MEAN)];
    let run = move |seed| {
        let mut arrivals = Poisson::new(reads.rate, seed);
        let mut left = requests;
        let mut source = Requests(move || {
            left = u64::checked_sub(left, 1)?;
            Some(request(Op::Read, arrivals.next_ns(), 0, page_bytes))
        });
        let (report, took_ns) = simulate_under_collections(&config, &mut source, requests, seed)?;
        let steps = report.flash.other_page_programs + report.flash.block_erases;
        if took_ns != steps * step_ns as u64 + report.reads * service_ns as u64 {
            return Err(Failure::run("the die was idle between two collections, or a step took another time"));
        }
        Ok(vec![Figure::equal(read_wait_ns(&report) / service_ns, theory)])
    };
    Ok(Case { group: Group::Waiting, gates, is_random: true, run: Box::new(run) })
}

/// The die with times such that a copyback and an erase, command cycles included, both take `step_ns`.
fn collection_config(die: &Die, step_ns: u64, is_fenced: bool) -> Result<RunConfig, Failure> {
    let mut config = die.config.clone();
    let timing = &mut config.timing;
    let (read_ns, cycles_ns) = (timing.read.list()[0], timing.command.0);
    let program_ns = step_ns.checked_sub(cycles_ns + read_ns).filter(|&ns| ns > 0);
    let program_ns = program_ns.ok_or_else(|| Failure::run(format!("a step of {step_ns} ns holds no copyback")))?;
    timing.read = PageTimes::Same(Nanos(read_ns));
    timing.program = PageTimes::Same(Nanos(program_ns));
    timing.erase = Nanos(step_ns - cycles_ns);
    config.geometry.planes_per_die = PLANES;
    // Reads wait in the queue of the die, not in front of its window.
    let fence = if is_fenced { "all" } else { "none" };
    let tables = "granularity = { policy = \"block\", copyback = true }\n\
                  order = { policy = \"priority\", first = \"gc-read-write\" }\nadmit = { policy = \"window\", slots = 4096 }";
    let scheme = super::subject::parsed(&format!(
        "preemption = {{ policy = \"points\", poll = \"0 ns\", fence = \"{fence}\" }}\n{tables}\n\
         capacity = {{ over_provisioning = 0.6 }}"
    ));
    (config.preemption, config.granularity, config.order, config.admit) =
        (scheme.preemption, scheme.granularity, scheme.order, scheme.admit);
    config.check().map_err(RunError::from)?;
    Ok(config)
}

/// Runs requests on a drive with a collection in progress until the last request ends; the report, and the time that
/// passed.
fn simulate_under_collections(
    config: &RunConfig,
    source: &mut dyn RequestSource,
    requests: u64,
    seed: u64,
) -> Result<(Report, u64), Failure> {
    let ftl = preconditioning::preconditioned_with_progress(config, seed, &mut |_| stop_thread_if_requested())
        .map_err(RunError::from)?;
    let preconditioning = ftl.counts();
    let host = config.host.clone();
    let setup = Setup { host, source, requests: None, check: false, keep_gc_events: false, keep_requests: false };
    let mut simulation = Simulation::new(vec![(config, ftl)], setup);
    let mut next = [0; PLANES as usize];
    // A plane can begin its next collection once the last one has erased its block.
    let mut erases = None;
    simulation.start()?;
    loop {
        let erases_now = simulation.back_ends().next().expect("there is a drive").counters().work().block_erases;
        if erases != Some(erases_now) && simulation.collector.done[Op::Read as usize] < requests {
            erases = Some(erases_now);
            for (plane, next) in (0..PLANES).zip(&mut next) {
                start_a_collection(&mut simulation, PlaneId(plane), next)?;
            }
        }
        if !simulation.step()? {
            break;
        }
        stop_thread_if_requested();
    }
    simulation.check_end();
    let took_ns = simulation.now_ns();
    Ok((outcome_of(simulation, preconditioning).report, took_ns))
}

/// Starts to relocate the next full block of a plane that has no collection; `next` counts over the plane's blocks.
fn start_a_collection(simulation: &mut Simulation<'_>, plane: PlaneId, next: &mut u32) -> Result<(), Failure> {
    let blocks = simulation.back_ends().next().expect("there is a drive").geometry().blocks_per_plane;
    for _ in 0..blocks {
        let block = BlockId(plane.0 * blocks + *next);
        if simulation.relocate(0, block, Source::SCRUB)? {
            return Ok(());
        }
        *next = (*next + 1) % blocks;
    }
    Ok(())
}
