//! Write amplification of every victim policy with a value from theory or from its Monte-Carlo simulation.
//!
//! Runs the translation layer of the simulator on one plane, with uniformly random writes or with hot and cold ones,
//! under victim policies from `greedy` to `random`.

use super::gate::{Case, Figure, Gate, Group};
use super::subject::{Device, Scope, parsed};
use crate::failure::Failure;
use crate::progress::stop_thread_if_requested;
use copyback::run::RunError;
use copyback::run::config::RunConfig;
use copyback::run::preconditioning::Preconditioner;
use copyback::sim::index::LogicalUnit;
use copyback_theory::monte_carlo::{self, REFERENCE_BLOCKS, Victim, WEAR_AWARE, WINDOW};
use copyback_theory::write_amplification::{self as theory, Heat};
use copyback_workload::rng;

/// Blocks that hold data; the plane's reserve is additional.
const BLOCKS: u32 = REFERENCE_BLOCKS;

const FORMULA: &str = "sampling error of 0.1 to 0.4 %, and 2048 blocks instead of the theory's infinitely many: one block \
                       more or less changes A by 0.7 % at OP 7 %, less elsewhere";
const TABLE: &str =
    "sampling error of 0.1 to 0.3 % here, and below 0.2 % in the Monte-Carlo value; both have 2048 blocks of data";
const DESNOYERS: &str = "Desnoyers 2014: A = α/(α + W(−α·e^−α))";
const GREEDY: &str = "mean field (Bux and Iliadis 2010; Van Houdt 2013): α = A(H_b − H_m + p/m), A = b/(b − m + p)";
const VAN_HOUDT: &str = "Van Houdt 2013, d choices: λ·i·x_i = 1 − (s_{i+1} + x_i)^d";
const MONTE_CARLO: &str = "Monte-Carlo of copyback-theory: no formula known";

/// How a plane is written.
#[derive(Clone, Copy)]
struct Effort {
    /// Overwrites of everything before the measurement.
    before: u64,
    /// Overwrites of everything that are measured.
    during: u64,
}

/// With `--quick`.
const QUICK: Effort = Effort { before: 3, during: 2 };

/// One plane and what is written to it.
#[derive(Clone)]
struct Plane {
    /// The name of the policy, and its table.
    name: &'static str,
    victim: &'static str,
    units_per_block: u32,
    over_provisioning: f64,
    two_frontiers: bool,
    /// Share s of the writes that go to a share 1 − s of the units; 0.5 is uniform.
    skew: f64,
}

impl Plane {
    fn new(name: &'static str, victim: &'static str, units_per_block: u32, over_provisioning: f64) -> Self {
        Self { name, victim, units_per_block, over_provisioning, two_frontiers: false, skew: 0.5 }
    }

    fn title(&self) -> String {
        let mut title = format!("{}, b={}, OP {:.3}", self.name, self.units_per_block, 100.0 * self.over_provisioning);
        title.truncate(title.trim_end_matches('0').trim_end_matches('.').len());
        title.push_str(" %");
        if self.skew > 0.5 {
            let hot = (100.0 * self.skew).round();
            let frontiers = if self.two_frontiers { "GC apart" } else { "one frontier" };
            title.push_str(&format!(", {hot}/{}, {frontiers}", 100.0 - hot));
        }
        title
    }

    fn config(&self) -> Result<RunConfig, Failure> {
        let frontier = if self.two_frontiers { "split" } else { "single" };
        let mut config = parsed(&format!(
            "precondition = {{ mode = \"empty\" }}\nvictim = {}\nfrontier = {{ policy = \"{frontier}\" }}\n\
             trigger = {{ policy = \"watermark\", soft = 2 }}\n[capacity]\nlogical = \"{} KiB\"",
            self.victim,
            4 * (f64::from(BLOCKS * self.units_per_block) / (1.0 + self.over_provisioning)).round() as u64
        ));
        config.geometry.pages_per_block = self.units_per_block;
        config.geometry.blocks_per_plane = BLOCKS + config.blocks_held_back();
        config.check().map_err(RunError::from)?;
        Ok(config)
    }

    fn measured(&self, effort: Effort, seed: u64) -> Result<f64, Failure> {
        let mut preconditioner = Preconditioner::new(&self.config()?, seed);
        let units = preconditioner.ftl.geometry.logical_units;
        for unit in 0..units {
            preconditioner.write(LogicalUnit(unit)).map_err(RunError::from)?;
        }
        let mut stream = rng::stream(seed, "validate.overwrites");
        let mut overwrite = |preconditioner: &mut Preconditioner, times: u64| -> Result<(), Failure> {
            if self.skew == 0.5 {
                for _ in 0..times {
                    stop_thread_if_requested();
                    preconditioner.overwrite(units, units.into(), &mut stream).map_err(RunError::from)?;
                }
                return Ok(());
            }
            let hot_units = ((1.0 - self.skew) * f64::from(units)).round() as u64;
            for at in 0..times * u64::from(units) {
                if at.is_multiple_of(units.into()) {
                    stop_thread_if_requested();
                }
                let unit = if rng::unit_f64(&mut stream) < self.skew {
                    rng::below(&mut stream, hot_units)
                } else {
                    hot_units + rng::below(&mut stream, u64::from(units) - hot_units)
                };
                preconditioner.write(LogicalUnit(unit as u32)).map_err(RunError::from)?;
            }
            Ok(())
        };
        overwrite(&mut preconditioner, effort.before)?;
        let start = preconditioner.ftl.counts();
        overwrite(&mut preconditioner, effort.during)?;
        let counts = preconditioner.ftl.counts().since(&start);
        Ok(counts.write_amplification().expect("the host wrote"))
    }

    fn case(self, effort: Effort, theory: f64, source: &'static str, reason: &'static str) -> Case {
        let gates = vec![Gate { name: self.title(), source, tolerance: 0.01, reason }];
        let run = move |seed| Ok(vec![Figure::equal(self.measured(effort, seed)?, theory)]);
        Case { group: Group::WriteAmplification, gates, is_random: true, run: Box::new(run) }
    }
}

/// The group's cases.
pub fn cases(scope: &Scope) -> Result<Vec<Case>, Failure> {
    if scope.is_one_device {
        return Ok(vec![of_device(scope.first(), scope.is_quick)?]);
    }
    let (effort, ops): (_, &[f64]) =
        if scope.is_quick { (QUICK, &[0.15, 0.28]) } else { (Effort { before: 15, during: 15 }, &[0.07, 0.15, 0.28]) };
    let mut cases = Vec::new();
    formulas(&mut cases, effort, ops, scope.is_quick)?;
    choices(&mut cases, effort, ops, scope.is_quick)?;
    references(&mut cases, effort, ops, scope.is_quick)?;
    hot_cold(&mut cases, effort, scope.is_quick)?;
    Ok(cases)
}

/// FIFO, random, greedy.
fn formulas(cases: &mut Vec<Case>, effort: Effort, ops: &[f64], is_quick: bool) -> Result<(), Failure> {
    for &op in ops {
        let fifo = Plane::new("FIFO", "{ policy = \"fifo\" }", 64, op);
        cases.push(fifo.case(effort, theory::fifo(op)?, DESNOYERS, FORMULA));
    }
    for &op in ops {
        let random = Plane::new("random", "{ policy = \"random\" }", 64, op);
        cases.push(random.case(effort, theory::random(op)?, "A = (1 + OP)/OP (Van Houdt 2013, d = 1)", FORMULA));
    }
    let block_sizes: &[u32] = if is_quick { &[64] } else { &[16, 64, 256] };
    for &b in block_sizes {
        for &op in ops {
            let greedy = Plane::new("greedy", "{ policy = \"greedy\" }", b, op);
            cases.push(greedy.case(effort, theory::greedy(b, op)?, GREEDY, FORMULA));
        }
    }
    Ok(())
}

/// d-choices.
fn choices(cases: &mut Vec<Case>, effort: Effort, ops: &[f64], is_quick: bool) -> Result<(), Failure> {
    let sizes: &[(u32, &str, &str)] = &[
        (2, "d-choices, d=2", "{ policy = \"d-choices\", d = 2 }"),
        (5, "d-choices, d=5", "{ policy = \"d-choices\", d = 5 }"),
        (10, "d-choices, d=10", "{ policy = \"d-choices\", d = 10 }"),
        (30, "d-choices, d=30", "{ policy = \"d-choices\", d = 30 }"),
    ];
    for &(d, name, victim) in sizes {
        let ops = if is_quick { &ops[..1] } else { ops };
        for &op in ops {
            let plane = Plane::new(name, victim, 64, op);
            cases.push(plane.case(effort, theory::d_choices(d, 64, op)?, VAN_HOUDT, FORMULA));
        }
        if !is_quick && (d == 2 || d == 10) {
            let plane = Plane::new(name, victim, 256, 0.15);
            cases.push(plane.case(effort, theory::d_choices(d, 256, 0.15)?, VAN_HOUDT, FORMULA));
        }
    }
    Ok(())
}

/// Windowed greedy and its two limits, and cost-benefit, under uniform writes.
fn references(cases: &mut Vec<Case>, effort: Effort, ops: &[f64], is_quick: bool) -> Result<(), Failure> {
    const NARROW: &str = "{ policy = \"windowed-greedy\", window = 1 }";
    const TENTH: &str = "{ policy = \"windowed-greedy\", window = 0.1 }";
    const WHOLE: &str = "{ policy = \"windowed-greedy\", window = 2048 }";
    let op = ops[ops.len() - 1];
    if !is_quick {
        let narrow = Plane::new("windowed greedy, 1 block", NARROW, 64, op);
        cases.push(narrow.case(effort, theory::fifo(op)?, "its limit is FIFO (Desnoyers 2014)", FORMULA));
        let whole = Plane::new("windowed greedy, all", WHOLE, 64, op);
        cases.push(whole.case(effort, theory::greedy(64, op)?, "its limit is greedy (mean field)", FORMULA));
    }
    for &op in ops {
        let plane = Plane::new("windowed greedy, 10 %", TENTH, 64, op);
        cases.push(plane.case(effort, kept(WINDOW, false, 0.5, op)?, MONTE_CARLO, TABLE));
    }
    for &op in ops {
        let plane = Plane::new("cost-benefit", "{ policy = \"cost-benefit\" }", 64, op);
        cases.push(plane.case(effort, kept(Victim::CostBenefit, false, 0.5, op)?, MONTE_CARLO, TABLE));
    }
    Ok(())
}

/// Hot and cold writes.
fn hot_cold(cases: &mut Vec<Case>, effort: Effort, is_quick: bool) -> Result<(), Failure> {
    const OP: f64 = 0.15;
    // Hot and cold data separate slowly: after 3 overwrites FIFO would deviate by 0.3 %.
    let effort = Effort { before: effort.before.max(5), ..effort };
    let skews: &[f64] = if is_quick { &[0.8] } else { &[0.8, 0.9] };
    for &skew in skews {
        let classes = [(1.0 - skew, skew), (skew, 1.0 - skew)].map(|(space, traffic)| Heat { space, traffic });
        let fifo = Plane { skew, ..Plane::new("FIFO", "{ policy = \"fifo\" }", 64, OP) };
        let source = "Desnoyers 2014: A = Σ f_i/(1 − e^−(f_i/s_i)(α/A))";
        cases.push(fifo.case(effort, theory::fifo_hot_cold(&classes, OP)?, source, FORMULA));
        for two_frontiers in [false, true] {
            let greedy = Plane { skew, two_frontiers, ..Plane::new("greedy", "{ policy = \"greedy\" }", 64, OP) };
            cases.push(greedy.case(effort, kept(WEAR_AWARE, two_frontiers, skew, OP)?, MONTE_CARLO, TABLE));
        }
        let victim = "{ policy = \"cost-benefit\" }";
        let plane = Plane { skew, two_frontiers: true, ..Plane::new("cost-benefit", victim, 64, OP) };
        cases.push(plane.case(effort, kept(Victim::CostBenefit, true, skew, OP)?, MONTE_CARLO, TABLE));
    }
    Ok(())
}

fn kept(victim: Victim, two_frontiers: bool, skew: f64, over_provisioning: f64) -> Result<f64, Failure> {
    let found = monte_carlo::reference_for(victim, two_frontiers, skew, over_provisioning);
    let missing = || Failure::run(format!("no Monte-Carlo value is kept for {victim:?} at OP {over_provisioning}"));
    found.map(|reference| reference.write_amplification).ok_or_else(missing)
}

/// Greedy with a device's block and over-provisioning. Blocks of more than 256 units are cut to that.
fn of_device(device: &Device, is_quick: bool) -> Result<Case, Failure> {
    const UNITS_MAX: u32 = 256;
    let g = &device.config.geometry;
    let units = (u64::from(g.pages_per_block) * g.units_per_page()).min(u64::from(UNITS_MAX)) as u32;
    let op = device.over_provisioning()?;
    let effort = if is_quick { QUICK } else { Effort { before: 15, during: 15 } };
    let plane = Plane::new("greedy", "{ policy = \"greedy\" }", units, op);
    Ok(plane.case(effort, theory::greedy(units, op)?, GREEDY, FORMULA))
}

#[cfg(test)]
mod tests {
    use super::super::gate::{JudgeOptions, Verdict, judge_all};
    use super::*;

    /// A real run against the right value, and against values that are off by 3 %.
    #[test]
    fn a_run_fails_where_theory_is_wrong() {
        let right = theory::greedy(16, 0.28).unwrap();
        let case = |theory| {
            let plane = Plane::new("greedy", "{ policy = \"greedy\" }", 16, 0.28);
            plane.case(Effort { before: 4, during: 3 }, theory, GREEDY, FORMULA)
        };
        let cases = [case(right), case(1.03 * right), case(0.97 * right)];
        let judged = judge_all(
            &cases,
            &JudgeOptions { jobs: 1, seed: 1, seeds: 2, sink: crate::progress::ProgressSink::Discard },
        )
        .unwrap();
        let verdicts: Vec<Verdict> = judged.iter().map(|gate| gate.verdict).collect();
        assert_eq!(verdicts, [Verdict::Pass, Verdict::Fail, Verdict::Fail], "{judged:?}");
    }
}
