//! Bandwidth of a device whose dies always have work, compared with the limits of its channels and dies.
//!
//! Requests are sequential, each a stripe over all planes, so that every command finds its partners. A closed loop has
//! many requests outstanding. A drive keeps its channels, dies, pages, times and commands. It has few blocks, which
//! changes nothing without collection. Buffers and windows are omitted, because they are not part of the flash.

use super::gate::{Case, Figure, Gate, Group, Theory};
use super::subject::{Device, Requests, Scope, request, simulate};
use crate::failure::Failure;
use copyback::observe::report::RequestRecord;
use copyback::run::config::RunConfig;
use copyback_theory::bandwidth::{Bandwidth, Channel};
use copyback_workload::Op;

/// n: dies of a channel; k: planes of a command; t_x: transfer time of a page; t_array: array time of its operation.
const SOURCE: &str = "min(page/t_x, n·k·page/(t_array + k·t_x)); with cache n·k·page/max(t_array, k·t_x)";
const REASON: &str = "deterministic; measured from a quarter to three quarters of the run, without filling and \
                      draining; one command more or less at these ends";

/// Outstanding requests.
const DEPTH: u64 = 16;

/// One device's flash with this number of planes per die, and one kind of command.
#[derive(Clone)]
struct Drive {
    device: Device,
    planes: u32,
    has_cache: bool,
    op: Op,
}

impl Drive {
    fn config(&self) -> Result<RunConfig, Failure> {
        let mut builders = Vec::new();
        if self.device.config.commands.multi_plane {
            builders.push("\"multi-plane\"");
        }
        if self.has_cache {
            builders.push("\"cache\"");
        }
        let scheme = format!(
            "precondition = {{ mode = \"sequential\" }}\ntrigger = {{ policy = \"watermark\", soft = 2 }}\n\
             capacity = {{ over_provisioning = 0.6 }}\npreemption = {{ policy = \"ideal\" }}\n\
             host = {{ mode = \"closed\", queue_depth = {DEPTH} }}\n\
             compose = {{ policy = \"list\", builders = [{}] }}",
            builders.join(", ")
        );
        self.device.with(&scheme, |g| {
            g.planes_per_die = self.planes;
            (g.blocks_per_plane, g.pages_per_block) = (16, g.pages_per_block.clamp(8, 64));
            g.mapping_unit = None;
        })
    }

    /// Bytes in a second of all channels.
    fn theory(&self, config: &RunConfig) -> Result<Bandwidth, Failure> {
        let (geometry, timing) = (&config.geometry, &config.timing);
        let k = self.device.planes_a_command(self.planes);
        let command_ns = timing.command.0 as f64;
        let data_ns = timing.channel.transfer_ns(geometry.page_size.0) as f64;
        let kinds = if self.op == Op::Read { timing.read.list() } else { timing.program.list() };
        // A block may end in the middle of a group of kinds.
        let pages = (0..geometry.pages_per_block as usize).map(|page| kinds[page % kinds.len()] as f64);
        // The cycles of a cached read are part of its array time, and not on the channel.
        let hidden_ns = f64::from(k) * command_ns + timing.cache_busy.0 as f64;
        let is_cached_read = self.has_cache && self.op == Op::Read;
        let channel = Channel {
            dies: geometry.chips_per_channel * geometry.dies_per_chip,
            planes_a_command: k,
            page_bytes: geometry.page_size.0 as f64,
            array_ns: pages.map(|ns| if is_cached_read { ns + hidden_ns } else { ns }).collect(),
            transfer_ns: if is_cached_read { data_ns } else { data_ns + command_ns },
        };
        let of_channel = if self.has_cache { channel.cached()? } else { channel.plain()? };
        let all = |rate: f64| rate * f64::from(geometry.channels);
        Ok(Bandwidth { lockstep: all(of_channel.lockstep), ceiling: all(of_channel.ceiling) })
    }

    fn measured(&self, config: &RunConfig, is_quick: bool) -> Result<f64, Failure> {
        let pages = u64::from(self.device.dies() * self.planes);
        let stripe_bytes = pages * config.geometry.page_size.0;
        // Whole blocks of pages, so that each kind of page counts alike in the half that is measured.
        let per_block = u64::from(config.geometry.pages_per_block);
        let blocks = if is_quick { 256_u64 } else { 1024 }.div_ceil(per_block);
        // Of 16 blocks a plane at 60 % over-provisioning, 10 hold data.
        let round = 10 * per_block;
        let (op, stripes, mut at) = (self.op, blocks * per_block, 0);
        let source = Requests(move || {
            at += 1;
            (at <= stripes).then(|| request(op, 0, (at - 1) % round * stripe_bytes, stripe_bytes))
        });
        let outcome = simulate(config, Box::new(source), 1, true)?;
        Ok(steady_rate(&outcome.requests))
    }

    fn case(self, is_quick: bool) -> Result<Case, Failure> {
        let config = self.config()?;
        let theory = self.theory(&config)?;
        let planes = if self.planes == 1 { "1 plane".to_owned() } else { format!("{} planes", self.planes) };
        let op = if self.op == Op::Read { "read" } else { "write" };
        let cache = if self.has_cache { ", cache" } else { "" };
        let name = format!("{}, {planes}, {op}{cache}", self.device.name);
        let gates = vec![Gate { name, source: SOURCE, tolerance: 0.005, reason: REASON }];
        let theory = if theory.lockstep == theory.ceiling {
            Theory::Equal(theory.ceiling / 1e6)
        } else {
            Theory::Between { floor: theory.lockstep / 1e6, ceiling: theory.ceiling / 1e6 }
        };
        let run = move |_| Ok(vec![Figure { simulated: self.measured(&config, is_quick)? / 1e6, theory }]);
        Ok(Case { group: Group::Bandwidth, gates, is_random: false, run: Box::new(run) })
    }
}

/// Bytes in a second from the end of a quarter of the requests to the end of three quarters.
fn steady_rate(requests: &[RequestRecord]) -> f64 {
    let mut ends: Vec<(u64, u64)> = requests.iter().map(|r| (r.arrival_ns + r.response_ns, r.len_bytes)).collect();
    ends.sort_unstable();
    let (first, last) = (ends.len() / 4, 3 * ends.len() / 4);
    let bytes: u64 = ends[first + 1..=last].iter().map(|(_, bytes)| bytes).sum();
    1e9 * bytes as f64 / (ends[last].0 - ends[first].0) as f64
}

/// The cases of the group: each device as it is. Without `--quick`, or for a device that the user names, also with one
/// and two planes per die, and with cache commands if it has them. Devices that differ in nothing that matters here are
/// run once.
pub fn cases(scope: &Scope) -> Result<Vec<Case>, Failure> {
    let mut seen = std::collections::BTreeSet::new();
    let mut cases = Vec::new();
    for device in &scope.devices {
        let own = device.config.geometry.planes_per_die;
        let mut planes = if scope.is_quick && !scope.is_one_device { vec![own] } else { vec![1, 2, own] };
        planes.sort_unstable();
        planes.dedup();
        for planes in planes {
            for has_cache in [false, true] {
                for op in [Op::Read, Op::Write] {
                    let commands = &device.config.commands;
                    let knows = if op == Op::Read { commands.cache_read } else { commands.cache_program };
                    let is_left_out = has_cache && (scope.is_quick && !scope.is_one_device || !knows);
                    let drive = Drive { device: device.clone(), planes, has_cache, op };
                    if !is_left_out && seen.insert(drive.key()?) {
                        cases.push(drive.case(scope.is_quick)?);
                    }
                }
            }
        }
    }
    Ok(cases)
}

impl Drive {
    /// All that its bandwidth depends on.
    fn key(&self) -> Result<String, Failure> {
        let config = self.config()?;
        let k = self.device.planes_a_command(self.planes);
        Ok(format!("{:?} {:?} {k} {} {:?}", config.geometry, config.timing, self.has_cache, self.op))
    }
}
