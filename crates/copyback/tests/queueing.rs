//! Do bandwidth and waiting times agree with closed forms?
//!
//! Bandwidth (`docs/fidelity.md`): for each channel the smaller of its own rate and n·k·page / (t_array + k·t_x) for n dies
//! and k planes a command, and with cache commands n·k·page / max(t_array, k·t_x). Tolerance 1 %: what filling and
//! draining the pipeline costs over a few thousand pages is below that. Waiting: M/D/1, Wq/S = ρ / (2(1 − ρ)). Tolerance 2 %:
//! a million arrivals leave a standard error of about 0.5 % at ρ = 0.7.

mod common;

use common::*;
use copyback::config::RunConfig;
use copyback::run::{Options, precondition, simulate};
use copyback::workload::Op::{Read, Write};
use copyback::workload::{Error, Op, Priority, Request, RequestSource, rng};

struct Channels {
    dies: u32,
    planes: u32,
    cache: bool,
}

impl Channels {
    fn config(&self) -> RunConfig {
        let Self { dies, planes, cache } = self;
        let builders = if *cache { r#"["multi-plane", "cache"]"# } else { r#"["multi-plane"]"# };
        config(&format!(
            "geometry = {{ channels = 2, chips_per_channel = {dies}, planes_per_die = {planes}, pages_per_block = 256 }}
             timing = {{ command = \"0 ns\", read = \"70 us\" }}
             host = {{ mode = \"closed\", queue_depth = 64 }}
             precondition = {{ mode = \"sequential\" }}
             yield = {{ policy = \"ideal\" }}
             compose = {{ policy = \"list\", builders = {builders} }}"
        ))
    }

    /// Bytes in a second of both channels.
    fn theory(&self, array_ns: f64) -> f64 {
        let (dies, k, transfer_ns) = (f64::from(self.dies), f64::from(self.planes), TRANSFER_NS as f64);
        let period_ns = if self.cache { array_ns.max(k * transfer_ns) } else { array_ns + k * transfer_ns };
        let of_dies = dies * k * 4096.0 / period_ns;
        2e9 * of_dies.min(4096.0 / transfer_ns)
    }

    /// Sequential requests of a whole stripe each, so that every command finds its partners.
    fn measured(&self, op: Op) -> f64 {
        let config = self.config();
        let stripe = u64::from(2 * self.dies * self.planes);
        let script = (0..1_500).map(|i| pages(op, 0, i % 256 * stripe, stripe)).collect::<Vec<_>>();
        let image = precondition(&config, 1).unwrap();
        let outcome = simulate(&config, image, Box::new(Script(script.into_iter())), &Options::default(), &mut |_| {});
        outcome.unwrap().report.bytes_per_s
    }
}

#[test]
fn bandwidth_ceilings_are_met() {
    for dies in [1, 2, 4, 8] {
        for planes in [1, 2, 4] {
            for cache in [false, true] {
                let drive = Channels { dies, planes, cache };
                for (op, array_ns) in [(Read, 70_000.0), (Write, 500_000.0)] {
                    let (theory, measured) = (drive.theory(array_ns), drive.measured(op));
                    let deviation = measured / theory - 1.0;
                    println!(
                        "{op:?} {dies} dies, {planes} planes, cache {cache}: {theory:.4e} {measured:.4e} {:+.2} %",
                        100.0 * deviation
                    );
                    assert!(
                        deviation.abs() < 0.01,
                        "{op:?}, {dies} dies, {planes} planes, cache {cache}: {deviation:+.4}"
                    );
                }
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
        let theory = load / (2.0 * (1.0 - load));
        println!("load {load}: theory {theory:.4}, measured {wait:.4}");
        assert!((wait / theory - 1.0).abs() < 0.02, "load {load}: theory {theory}, measured {wait}");
    }
}
