//! Bandwidth and waiting times agree with closed forms.
//!
//! Expected values come from `copyback-theory`. Bandwidth: tolerance 1 %; filling and draining the pipeline costs less
//! over a few thousand pages. Waiting: M/D/1, tolerance 2 %; a million arrivals have a standard error of about 0.5 % at
//! ρ = 0.7.

use crate::common::*;
use copyback::run::config::RunConfig;
use copyback::run::{Options, precondition, simulate};
use copyback::workload::Op::{Read, Write};
use copyback::workload::{Error, Op, Priority, Request, RequestSource, rng};
use copyback_theory::bandwidth::Channel;
use copyback_theory::waiting::m_d_1_mean_wait;

struct Channels {
    dies: u32,
    planes: u32,
    cache: bool,
    command_ns: u64,
}

impl Channels {
    fn config(&self) -> RunConfig {
        let Self { dies, planes, cache, command_ns } = self;
        let builders = if *cache { r#"["multi-plane", "cache"]"# } else { r#"["multi-plane"]"# };
        config(&format!(
            "geometry = {{ channels = 2, chips_per_channel = {dies}, planes_per_die = {planes}, pages_per_block = 256 }}
             timing = {{ command = \"{command_ns} ns\", read = \"70 us\" }}
             host = {{ mode = \"closed\", queue_depth = 64 }}
             precondition = {{ mode = \"sequential\" }}
             preemption = {{ policy = \"ideal\" }}
             compose = {{ policy = \"list\", builders = {builders} }}"
        ))
    }

    /// Bytes in a second of both channels.
    fn theory(&self, array_ns: f64) -> f64 {
        let (transfer_ns, command_ns) = (TRANSFER_NS as f64, self.command_ns as f64);
        let channel = Channel {
            dies: self.dies,
            planes_a_command: self.planes,
            page_bytes: 4096.0,
            array_ns: vec![array_ns],
            transfer_ns: transfer_ns + command_ns,
        };
        2.0 * if self.cache { channel.cached() } else { channel.plain() }.unwrap().ceiling
    }

    /// Sequential requests of a whole stripe each, so that every command finds its partners.
    fn measured(&self, op: Op) -> f64 {
        let config = self.config();
        let stripe = u64::from(2 * self.dies * self.planes);
        let script = (0..1_500).map(|i| pages(op, 0, i % 256 * stripe, stripe)).collect::<Vec<_>>();
        let image = precondition(&config, 1).unwrap();
        let outcome = simulate(&config, image, Box::new(script.into_iter()), &Options::default(), &mut |_| {});
        outcome.unwrap().report.bytes_per_s.expect("time passes")
    }
}

fn is_met(drive: &Channels) {
    let Channels { dies, planes, cache, command_ns } = drive;
    for (op, array_ns) in [(Read, 70_000.0), (Write, 500_000.0)] {
        let (theory, measured) = (drive.theory(array_ns), drive.measured(op));
        let deviation = measured / theory - 1.0;
        let what = format!("{op:?}, {dies} dies, {planes} planes, cache {cache}, cycles of {command_ns} ns");
        println!("{what}: {theory:.4e} {measured:.4e} {:+.2} %", 100.0 * deviation);
        assert!(deviation.abs() < 0.01, "{what}: {deviation:+.4}");
    }
}

#[test]
fn bandwidth_ceilings_are_met() {
    for dies in [1, 2, 4, 8] {
        for planes in [1, 2, 4] {
            for cache in [false, true] {
                is_met(&Channels { dies, planes, cache, command_ns: 0 });
            }
        }
    }
}

/// Command cycles once waited behind the data of all other dies. All dies then sensed at the same time, while the
/// channel was idle: a few nanoseconds of cycles cost a quarter of the bandwidth.
#[test]
fn command_cycles_cost_no_more_than_their_time() {
    for dies in [1, 2, 4, 8] {
        for planes in [1, 2] {
            for command_ns in [1, 200, 2_000] {
                is_met(&Channels { dies, planes, cache: false, command_ns });
            }
        }
    }
}

/// Reads of one page at Poisson arrivals.
struct Poisson {
    left: u64,
    mean_ns: f64,
    now_ns: f64,
    stream: rng::Xoshiro256PlusPlus,
}

impl RequestSource for Poisson {
    fn next_request(&mut self) -> Result<Option<Request>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.now_ns += rng::exponential(&mut self.stream, self.mean_ns);
        let arrival_ns = self.now_ns.round() as u64;
        Ok(Some(Request {
            arrival_ns,
            offset_bytes: 0,
            len_bytes: 4096,
            device: 0,
            op: Read,
            priority: Priority::Normal,
        }))
    }
}

#[test]
fn one_die_under_poisson_reads_is_an_m_d_1_queue() {
    let config = config("geometry = { planes_per_die = 1 }\nprecondition = { mode = \"sequential\" }");
    let service_ns = (COMMAND_NS + READ_NS + TRANSFER_NS) as f64;
    for load in [0.3, 0.5, 0.7] {
        let stream = rng::stream(11, "test.poisson");
        let source = Poisson { left: 1_000_000, mean_ns: service_ns / load, now_ns: 0.0, stream };
        let image = precondition(&config, 1).unwrap();
        let outcome = simulate(&config, image, Box::new(source), &Options::default(), &mut |_| {}).unwrap();
        let wait = (outcome.report.response.read.mean_ns - service_ns) / service_ns;
        let theory = m_d_1_mean_wait(load).unwrap();
        println!("load {load}: theory {theory:.4}, measured {wait:.4}");
        assert!((wait / theory - 1.0).abs() < 0.02, "load {load}: theory {theory}, measured {wait}");
    }
}

/// A drive takes 65,536 pages of requests at once, and counts requests that waited for that. Two writes of 40,000 pages
/// each fit only in part, a later write waits for both, and a request that arrives after all of them does not wait.
#[test]
fn requests_that_wait_for_the_limit_of_transactions_are_counted() {
    let geometry = "[geometry]\nchannels = 4\nblocks_per_plane = 1024\npages_per_block = 64\n";
    let config = config(&format!("capacity = {{ over_provisioning = 0.3 }}\n{geometry}"));
    let script = |waits: bool| {
        let late_ns = if waits { 1 } else { 1 << 40 };
        vec![
            pages(Op::Write, 0, 0, 40_000),
            pages(Op::Write, late_ns, 100_000, 40_000),
            pages(Op::Write, 2 * late_ns, 7, 1),
            pages(Op::Read, 1 << 42, 7, 1),
        ]
    };
    assert_eq!(run(&config, script(true)).report.held_by_transaction_limit, 2);
    assert_eq!(run(&config, script(false)).report.held_by_transaction_limit, 0);
}
