//! Random writes to a drive in its steady state, compared with the limits of its dies and channels.
//!
//! The workload writes single pages at uniformly random places, in a closed loop with many outstanding requests.
//! Collection blocks its die, and moves and erases on one plane at a time. Write amplification A, and the mean number k
//! of pages in a command of the host, are measured in the same run; all other values are the device's.

use super::gate::{Case, Figure, Gate, Group, Theory};
use super::subject::{Device, Requests, Scope, request, simulate};
use crate::failure::Failure;
use copyback::config::PageTimes;
use copyback::observe::report::{Outcome, Report, Sample};
use copyback::run::config::RunConfig;
use copyback_theory::sustained::Costs;
use copyback_workload::units::Nanos;
use copyback_workload::{Op, rng};

/// t: die time of a page of the host; t_R, t_P, t_B: read, program and erase times; t_x: time of a page and its command
/// cycles on the channel; b: pages of a block; N_die, N_ch: numbers of dies and channels.
const EQUAL: &str = "N_die/t, t = t_P/k + t_x + (A − 1)(t_R + t_P + 2t_x) + A·t_B/b";
const ONE_DIE: &str = "a die with 64 waiting writes is never idle; a collection that an end of the run cuts off counts \
                       either in A or in time";
const BOUND: &str = "ceiling min(N_die/t, N_ch/((2A − 1)t_x)); floor: dies as M/G/1 queues, waits for the channel";
const WHOLE: &str = "measured in the middle half of the run; A and k are those of the whole run";

/// Outstanding requests for each die.
const DEPTH_OF_DIE: u32 = 64;

/// The drive and its writes.
#[derive(Clone)]
struct Drive {
    config: RunConfig,
    requests: u32,
    writes: u64,
}

impl Drive {
    /// `is_lone`: one die with a channel of its own.
    fn new(device: &Device, is_lone: bool, is_quick: bool) -> Result<Self, Failure> {
        let dies = if is_lone { 1 } else { device.dies() };
        // The drive takes 65,536 pages in at once.
        let requests = (DEPTH_OF_DIE * dies).min(60_000);
        let op = device.over_provisioning()?;
        // What is held back, and the watermark of collection, need four spare blocks of a plane.
        let spare = (5.0 * (1.0 + op) / op).ceil();
        let blocks = if spare < 4096.0 { (spare as u32).max(64) } else { 4096 };
        let builders = if device.config.commands.multi_plane { "\"multi-plane\"" } else { "" };
        let scheme = format!(
            "precondition = {{ mode = \"random\" }}\ntrigger = {{ policy = \"watermark\", soft = 2 }}\n\
             capacity = {{ over_provisioning = {op:?} }}\npreemption = {{ policy = \"none\" }}\n\
             host = {{ mode = \"closed\", queue_depth = {requests} }}\n\
             compose = {{ policy = \"list\", builders = [{builders}] }}",
        );
        let mut config = device.with(&scheme, |g| {
            if is_lone {
                (g.channels, g.chips_per_channel, g.dies_per_chip) = (1, 1, 1);
            }
            (g.blocks_per_plane, g.pages_per_block) = (blocks, g.pages_per_block.clamp(8, 64));
            g.mapping_unit = None;
        })?;
        config.timing.read = mean_of_kinds(&config.timing.read);
        config.timing.program = mean_of_kinds(&config.timing.program);
        let planes = u64::from(dies * config.geometry.planes_per_die);
        let pages = planes * u64::from(blocks) * u64::from(config.geometry.pages_per_block);
        let times = if is_quick { 1 } else { 6 };
        let writes = (times * pages).clamp(20_000, if is_quick { 400_000 } else { 3_000_000 });
        Ok(Self { config, requests, writes })
    }

    fn costs(&self) -> Costs {
        let (geometry, timing) = (&self.config.geometry, &self.config.timing);
        Costs {
            dies: f64::from(geometry.channels * geometry.chips_per_channel * geometry.dies_per_chip),
            channels: f64::from(geometry.channels),
            pages_per_block: f64::from(geometry.pages_per_block),
            read_ns: timing.read.list()[0] as f64,
            program_ns: timing.program.list()[0] as f64,
            erase_ns: timing.erase.0 as f64,
            transfer_ns: timing.channel.transfer_ns(geometry.page_size.0) as f64,
            command_ns: timing.command.0 as f64,
        }
    }

    fn run(&self, seed: u64) -> Result<Outcome, Failure> {
        let geometry = copyback::flash::geometry::Geometry::new(&self.config.device());
        let page_bytes = u64::from(geometry.page_bytes());
        let pages = geometry.logical_bytes() / page_bytes;
        let mut stream = rng::stream(seed, "validate.addresses");
        let mut left = self.writes;
        let source = Requests(move || {
            left = left.checked_sub(1)?;
            Some(request(Op::Write, 0, rng::below(&mut stream, pages) * page_bytes, page_bytes))
        });
        simulate(&self.config, Box::new(source), seed, false)
    }
}

/// The kinds of pages taken together: the formula knows one time, and which kinds share a command is left to chance.
fn mean_of_kinds(times: &PageTimes) -> PageTimes {
    let kinds = times.list();
    PageTimes::Same(Nanos(kinds.iter().sum::<u64>() / kinds.len() as u64))
}

/// Pages written in a second, from a quarter to three quarters of the run's time: at its end, some dies become idle
/// before others.
fn steady_pages_per_s(series: &[Sample]) -> f64 {
    // The last interval ends with the run and is shorter than the others.
    let even = series.len() - 1;
    let (first, last) = (even / 4, 3 * even / 4);
    let pages: u64 = series[first + 1..=last].iter().map(|sample| sample.requests_done).sum();
    1e9 * pages as f64 / (series[last].time_ns - series[first].time_ns) as f64
}

/// Write amplification, and mean pages in a command of the host.
fn measured(report: &Report) -> (f64, f64) {
    let flash = &report.flash;
    let programs = flash.host_page_programs;
    let commands = programs - flash.multi_plane_page_programs + flash.multi_plane_commands;
    (report.write_amplification.total.unwrap_or(1.0), programs as f64 / commands as f64)
}

/// One die of the device: never idle, so its rate is known.
fn one_die(device: &Device, is_quick: bool) -> Result<Case, Failure> {
    let drive = Drive::new(device, true, is_quick)?;
    let name = format!("{}, one die", device.name);
    let gates = vec![Gate { name, source: EQUAL, tolerance: 0.01, reason: ONE_DIE }];
    let run = move |seed| {
        let report = drive.run(seed)?.report;
        let (a, k) = measured(&report);
        let costs = drive.costs();
        let pages_per_s = costs.rate_of_dies(costs.die_ns(a, k)?);
        let page_mb = drive.config.geometry.page_size.0 as f64 / 1e6;
        Ok(vec![Figure::equal(report.bytes_per_s.expect("time passes") / 1e6, pages_per_s * page_mb)])
    };
    Ok(Case { group: Group::Sustained, gates, is_random: true, run: Box::new(run) })
}

/// The whole device: below its ceiling, and above its floor.
fn whole(device: &Device, is_quick: bool) -> Result<Case, Failure> {
    let drive = Drive::new(device, false, is_quick)?;
    let name = format!("{}, {} dies on {} channels", device.name, device.dies(), device.config.geometry.channels);
    let gates = vec![Gate { name, source: BOUND, tolerance: 0.01, reason: WHOLE }];
    let run = move |seed| {
        let outcome = drive.run(seed)?;
        let (a, k) = measured(&outcome.report);
        let costs = drive.costs();
        let page_mb = drive.config.geometry.page_size.0 as f64 / 1e6;
        let ceiling = costs.ceiling(a, k)? * page_mb;
        let floor = costs.floor(a, k, f64::from(drive.requests))? * page_mb;
        let simulated = steady_pages_per_s(&outcome.series) * page_mb;
        Ok(vec![Figure { simulated, theory: Theory::Between { floor, ceiling } }])
    };
    Ok(Case { group: Group::Sustained, gates, is_random: true, run: Box::new(run) })
}

/// The group's cases.
pub fn cases(scope: &Scope) -> Result<Vec<Case>, Failure> {
    let count = if scope.is_quick { 2 } else { scope.devices.len() };
    let mut cases = Vec::new();
    for device in scope.devices.iter().take(count) {
        cases.push(one_die(device, scope.is_quick)?);
        cases.push(whole(device, scope.is_quick)?);
    }
    Ok(cases)
}
