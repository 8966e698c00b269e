//! Results of runs, and their JSON document.

use crate::execute::Finished;
use crate::failure::Failure;
use crate::files::{self, Input};
use crate::notes;
use crate::plan::Plan;
use copyback::observe::matched::Matched;
use copyback::observe::report::{Bin, Latency, Report};
use copyback::observe::steady::Verdict;
use copyback::run::Warmup;
use copyback::run::config::Resolved;
use serde::Serialize;

/// Tables that results have only on request.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeptTables {
    /// Of every collection; a folder of results always has it.
    pub gc_events: bool,
    /// Of every request.
    pub requests: bool,
    /// Of every flash command.
    pub commands: bool,
    /// Of the microscope's window.
    pub microscope: bool,
}

impl KeptTables {
    /// Everything.
    pub const ALL: Self = Self { gc_events: true, requests: true, commands: true, microscope: true };
}

/// A command that has results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultCommand {
    /// One scheme in depth.
    Run,
    /// Several schemes on the same requests.
    Compare,
}

impl ResultCommand {
    /// Its word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Compare => "compare",
        }
    }
}

/// Results of a command.
pub struct Results {
    /// The command.
    pub command: ResultCommand,
    /// The runs.
    pub plan: Plan,
    /// How they went, in the plan's order.
    pub finished: Vec<Finished>,
    /// Tables that were kept of them.
    pub tables: KeptTables,
}

impl std::fmt::Debug for Results {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let schemes: Vec<&str> = self.plan.runs.iter().map(|planned| planned.scheme.as_str()).collect();
        f.debug_struct("Results").field("command", &self.command).field("schemes", &schemes).finish_non_exhaustive()
    }
}

/// The program, as results name it.
#[derive(Serialize)]
pub struct Program {
    name: &'static str,
    version: &'static str,
}

impl Program {
    /// This one.
    pub const THIS: Self = Self { name: "copyback", version: env!("CARGO_PKG_VERSION") };
}

#[derive(Serialize)]
struct Document<'a> {
    schema: String,
    program: Program,
    command: &'static str,
    name: Option<&'a str>,
    seed: u64,
    requests: Option<u64>,
    warmup: Option<Warmup>,
    inputs: &'a [Input],
    results: Vec<SchemeDocument<'a>>,
    wall: Vec<SchemeWall<'a>>,
}

#[derive(Serialize)]
struct SchemeDocument<'a> {
    scheme: &'a str,
    hash: String,
    config: &'a Resolved,
    report: &'a Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<&'a Matched>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<&'a [Bin]>,
    notes: Vec<&'a String>,
}

#[derive(Serialize)]
struct SchemeWall<'a> {
    scheme: &'a str,
    #[serde(flatten)]
    wall: crate::execute::Wall,
}

/// The result of one scheme.
#[derive(Clone, Copy, Debug)]
pub struct SchemeResult<'a> {
    /// Its name.
    pub scheme: &'a str,
    /// Response times of reads: their number, mean and percentiles, in nanoseconds; `None` without reads.
    pub read: Option<&'a Latency>,
    /// Those of writes; `None` without writes.
    pub write: Option<&'a Latency>,
    /// Units programmed for each unit that the host wrote; `None` if it wrote nothing.
    pub write_amplification: Option<f64>,
    /// Whether the drive had settled, by the rule of the SNIA PTS.
    pub steady: Verdict,
    /// Everything that is measured.
    pub report: &'a Report,
    /// Reads and writes that collection affects under the first scheme; `None` if it is the only one, or if there are
    /// several workloads.
    pub matched: Option<&'a Matched>,
}

impl Results {
    /// The results by scheme, in the order of the command.
    pub fn schemes(&self) -> impl Iterator<Item = SchemeResult<'_>> {
        self.plan.runs.iter().zip(&self.finished).map(|(planned, done)| {
            let report = &done.outcome.report;
            let of_requests = |latency: &'_ Latency| latency.count > 0;
            SchemeResult {
                scheme: &planned.scheme,
                read: Some(&report.response.read).filter(|latency| of_requests(latency)),
                write: Some(&report.response.write).filter(|latency| of_requests(latency)),
                write_amplification: report.write_amplification.total,
                steady: report.steady.verdict,
                report,
                matched: done.matched.as_ref(),
            }
        })
    }

    /// Notes on how far to trust the results, a line or more each, as `copyback compare` prints them below its table.
    pub fn notes(&self) -> String {
        notes::notes(&self.plan, &self.finished)
    }

    /// The JSON document. All of it but `wall` is a function of the inputs.
    pub fn json(&self) -> Result<String, Failure> {
        let Self { plan, finished, .. } = self;
        let command = self.command.name();
        let both = || plan.runs.iter().zip(finished);
        let document = Document {
            schema: format!("copyback/{command}/1"),
            program: Program::THIS,
            command,
            name: plan.name.as_deref(),
            seed: plan.seed,
            requests: plan.requests,
            warmup: plan.warmup,
            inputs: &plan.inputs,
            results: both()
                .enumerate()
                .map(|(at, (planned, done))| SchemeDocument {
                    scheme: &planned.scheme,
                    hash: run_hash(plan, at),
                    config: &planned.resolved,
                    report: &done.outcome.report,
                    matched: done.matched.as_ref(),
                    window: done.outcome.window.as_deref(),
                    notes: plan.notes.iter().chain(planned.notes()).chain(&done.outcome.notes).collect(),
                })
                .collect(),
            wall: both().map(|(planned, done)| SchemeWall { scheme: &planned.scheme, wall: done.wall }).collect(),
        };
        let text = serde_json::to_string_pretty(&document);
        text.map(|text| text + "\n").map_err(|error| Failure::run(format!("cannot write the results as JSON: {error}")))
    }
}

/// Hash of what one run's results depend on, except the program. A trace counts with its bytes, not with its path.
pub fn run_hash(plan: &Plan, at: usize) -> String {
    // A warm-up of no requests is no warm-up.
    let warmup = plan.warmup.filter(|warmup| !warmup.is_none());
    let mut resolved = plan.runs[at].resolved.clone();
    resolved.workload.trace = None;
    resolved.tenants.values_mut().for_each(|tenant| tenant.spec.trace = None);
    let traces = plan.inputs.iter().filter(|input| input.role == "trace").map(|input| input.hash.as_str());
    let trace = traces.collect::<Vec<_>>().join("\n");
    // Drives that an override changes: the configuration does not contain a file that the override names.
    let others = plan.runs[at].members.iter().filter(|member| member.config != resolved.run);
    let others: Vec<String> = others.map(|member| format!("{:?}", member.config)).collect();
    let others = others.join("\n");
    let parts = format!("{}\n{trace}\n{}\n{:?} {warmup:?}{others}", resolved.to_toml(), plan.seed, plan.requests);
    files::hash_bytes(parts.as_bytes())
}
