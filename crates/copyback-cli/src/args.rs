//! The command line.

mod sweep;
mod trace;

use crate::bars::Terminal;
use crate::plan::FitShare;
use crate::progress::{ProgressSink, Watch};
use clap::{Args, Parser, Subcommand, ValueEnum};
use copyback::run::Warmup;
use copyback_report::drawings;
use copyback_workload::units::parse_duration_ns;
use std::path::PathBuf;
use std::sync::Arc;
pub use sweep::{CellArgs, ObjectiveArgs, ReproduceArgs, SweepArgs};
pub use trace::{ConvertArgs, DeviceCommand, InfoArgs, TraceArgs, TraceCommand};

/// A simulator of NAND flash SSDs: what garbage collection costs, and which GC scheme costs least
#[derive(Debug, Parser)]
#[command(name = "copyback", version, propagate_version = true, max_term_width = 110)]
#[command(
    after_help = "Start with `copyback compare`: five schemes on a small drive and a recorded database workload."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a drive, or an array of drives, with one scheme, and print a summary
    Run(Box<RunArgs>),
    /// Simulate a drive, or an array of drives, with several schemes, and print them in one table
    Compare(CompareArgs),
    /// Run a grid of devices, schemes, workloads, settings and seeds, and write every number to one table
    Sweep(SweepArgs),
    /// Run a paper's experiments and judge its claims; a claim that does not hold is a result, too (exit code 0)
    Reproduce(ReproduceArgs),
    /// Compare the simulator with closed forms and queueing theory; exit code 1 if they disagree
    Validate(ValidateArgs),
    /// Make a page of results for a browser: tables, distributions, and events over time of each die
    Report(ReportArgs),
    /// Describe or convert a workload
    #[command(subcommand)]
    Trace(TraceCommand),
    /// List the schemes and their axes, or explain one scheme, axis or policy
    Schemes {
        /// A scheme (`baseline`), an axis (`victim`) or a policy (`greedy`, `victim.fifo`)
        name: Option<String>,
        /// Write a page for each scheme, with a drawing of the die's use over time, into this folder
        #[arg(long, value_name = "DIR", conflicts_with = "name")]
        pages: Option<PathBuf>,
    },
    /// List the devices, or print one
    Devices {
        /// A device's name
        name: Option<String>,
    },
    /// Convert another simulator's drive configuration to a device
    #[command(subcommand)]
    Device(DeviceCommand),
    /// List the workloads, or print one
    Workloads {
        /// A workload's name
        name: Option<String>,
    },
}

/// `copyback run`
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Scheme: a preset's name or a TOML file [default: baseline]
    #[arg(long, short = 'S', value_name = "SCHEME")]
    pub scheme: Option<String>,
    /// Print the configuration with its defaults filled in, as TOML, and stop
    #[arg(long)]
    pub print_config: bool,
    /// Write the results as JSON in fio's layout, for tools that read it
    #[arg(long, value_name = "FILE")]
    pub fio_json: Option<PathBuf>,
    /// The drawing of a die
    #[command(flatten)]
    pub timeline: TimelineArgs,
    /// The trace for Perfetto
    #[command(flatten)]
    pub perfetto: PerfettoArgs,
    /// The drawing of an array
    #[command(flatten)]
    pub microscope: MicroscopeArgs,
    /// Arguments that `run` and `compare` share
    #[command(flatten)]
    pub common: Common,
}

/// The drawing of `copyback run`.
#[derive(Clone, Debug, Default, Args)]
pub struct TimelineArgs {
    /// Draw the commands of a die over time, into a file .svg or .txt (`-`: text on standard output, instead of the
    /// summary)
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// Start of the drawing, in simulated time, for example "1.5 ms" [default: the run's start, or the start of a later
    /// window in which a die works more]
    #[arg(long, value_name = "TIME", requires = "timeline", value_parser = parse_duration_ns)]
    pub timeline_from: Option<u64>,
    /// End of the drawing [default: 10 ms later]
    #[arg(long, value_name = "TIME", requires = "timeline", value_parser = parse_duration_ns)]
    pub timeline_to: Option<u64>,
    /// Draw the time around the slowest read or write; this simulates the run twice
    #[arg(long, requires = "timeline", conflicts_with_all = ["timeline_from", "timeline_to"])]
    pub timeline_around: Option<Slowest>,
    /// A die to draw, by its number in the drive, from 0 (repeatable) [default: the busiest; around a request, the dies
    /// that served it]
    #[arg(long, value_name = "N", requires = "timeline")]
    pub timeline_die: Vec<u32>,
}

/// The slowest request of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Slowest {
    /// The read with the longest response time
    WorstRead,
    /// The write with the longest response time
    WorstWrite,
}

impl From<Slowest> for drawings::Slowest {
    fn from(slowest: Slowest) -> Self {
        match slowest {
            Slowest::WorstRead => Self::WorstRead,
            Slowest::WorstWrite => Self::WorstWrite,
        }
    }
}

/// The trace of `copyback run` for Perfetto.
#[derive(Clone, Debug, Default, Args)]
pub struct PerfettoArgs {
    /// Write a part of the run as a trace for https://ui.perfetto.dev: commands by channel, die and plane, requests,
    /// collections, counters
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Start of the trace, in simulated time [default: the run's start; with a warm-up, its end, for which the run is
    /// simulated twice]
    #[arg(long, value_name = "TIME", requires = "perfetto", value_parser = parse_duration_ns)]
    pub perfetto_from: Option<u64>,
    /// Length of the trace [default: 100 ms]
    #[arg(long, value_name = "TIME", requires = "perfetto", value_parser = parse_duration_ns)]
    pub perfetto_for: Option<u64>,
    /// Write the time around the slowest read or write; this simulates the run twice
    #[arg(long, requires = "perfetto", conflicts_with_all = ["perfetto_from", "perfetto_for"])]
    pub perfetto_around: Option<Slowest>,
}

/// The drawing of an array of `copyback run`.
#[derive(Clone, Debug, Default, Args)]
pub struct MicroscopeArgs {
    /// Draw a part of a run of an array: response times of the volume and of its drives, and the times at which these
    /// collect, into a file .svg or .txt (`-`: text on standard output, instead of the summary); with --out also as a
    /// table
    #[arg(long, value_name = "FILE")]
    pub microscope: Option<PathBuf>,
    /// Start of the drawing, in simulated time [default: the end of the warm-up, else the run's start]
    #[arg(long, value_name = "TIME", requires = "microscope", value_parser = parse_duration_ns)]
    pub microscope_from: Option<u64>,
    /// Length of the drawing
    #[arg(long, value_name = "TIME", requires = "microscope", default_value = "300 ms", value_parser = parse_duration_ns)]
    pub microscope_for: u64,
    /// Number of drives to draw, from drive 0 on [default: 2]
    #[arg(long, value_name = "N", requires = "microscope")]
    pub microscope_drives: Option<u32>,
}

/// `copyback compare`
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Schemes; the others are compared with the first [default: baseline,pgc,gc-par,gc-par-pgc,ideal-no-gc];
    /// NAME=SCHEME adds a renamed copy
    #[arg(long, short = 'S', value_name = "A,B,...", value_delimiter = ',')]
    pub schemes: Vec<String>,
    /// Arguments that `run` and `compare` share
    #[command(flatten)]
    pub common: Common,
}

/// Arguments that `run` and `compare` share.
#[derive(Clone, Debug, Args)]
pub struct Common {
    /// TOML file with `device`, `scheme`, `workload` and any overriding tables
    pub experiment: Option<PathBuf>,
    /// Device: a preset's name or a TOML file [default: small]
    #[arg(long, short = 'd', value_name = "DEVICE")]
    pub device: Option<String>,
    /// Array of drives behind one volume: a preset's name (raid-0, raid-1, raid-10, raid-5, raid-6) or a TOML file with
    /// a table `[array]` [default: one drive]
    #[arg(long, short = 'a', value_name = "ARRAY")]
    pub array: Option<String>,
    /// Workload: a preset's name or a TOML file [default: oltp]
    #[arg(long, short = 'w', value_name = "WORKLOAD", conflicts_with = "trace")]
    pub workload: Option<String>,
    /// Replay this trace file as workload (`-`: standard input; BASE: BASE.blktrace.0 and so on); its format is
    /// recognised from its content
    #[arg(long, short = 't', value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Run a job file of fio: each job is a workload with its own results
    #[arg(long, value_name = "JOB", conflicts_with_all = ["workload", "trace"])]
    pub fio: Option<PathBuf>,
    /// Run the jobs of a fio command line, for example '--name=a --rw=randwrite --bs=4k --size=64m'
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true, conflicts_with_all = ["workload", "trace", "fio"])]
    pub fio_args: Option<String>,
    /// The trace's format [default: recognised from its content]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// The columns of a table without a header, in order: time_us (_ns, _ms, _s) or date and time, op, offset, length
    /// (sector, sectors), device, priority, and any other name for a column to ignore
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Number of malformed trace records to skip before one stops the run
    #[arg(long, value_name = "N")]
    pub skip_bad: Option<u64>,
    /// Set the number of blocks of each plane so that the trace, or the jobs of fio, address this share of the drive,
    /// for example 0.9; with `--set workload.layout=compact` the trace's footprint is this share
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub fit: Option<FitShare>,
    /// Set one key of the configuration, for example trigger.soft=0.05, or for one scheme only: pgc:trigger.soft=0.05
    /// (repeatable)
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    pub sets: Vec<String>,
    /// Requests arrive at the workload's times, whatever the device sets: host.mode=open
    #[arg(long, conflicts_with = "closed")]
    pub open: bool,
    /// A request begins when another completes, so that `host.queue_depth` are outstanding: host.mode=closed
    #[arg(long)]
    pub closed: bool,
    /// Seed of every random stream; for several seeds, with mean and interval, use `seeds` of a sweep [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Stop after this many requests; requests of the warm-up are not counted
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,
    /// Simulate this first and exclude it from all results: a number of requests (10000), a simulated time (10s), or
    /// `steady`: until the rule of the SNIA PTS holds [default: the experiment's warm-up, else the workload's if the
    /// whole workload runs, else none]
    #[arg(long, value_name = "REQUESTS|TIME|steady")]
    pub warmup: Option<Warmup>,
    /// Write the results as JSON (`-`: to standard output, instead of the summary)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the printed table (of `run`: response times) for LaTeX with booktabs (`-`: to standard output)
    #[arg(long, value_name = "FILE.tex")]
    pub latex: Option<PathBuf>,
    /// Write Parquet tables, the JSON and the resolved configuration into a folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Show these numbers of the results, for example read.p99_99, iops, or NAME.write.p99 of the workload NAME. In
    /// `compare` they replace the usual columns; in `run`, the names mean, p50 and other percentiles select columns of
    /// response times
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub show: Vec<String>,
    /// Add a table of every request to the folder (some 0.4 KB of memory each until the end of the run)
    #[arg(long, requires = "out")]
    pub out_requests: bool,
    /// Add a table of every flash command, with its die and times, to the folder (some 1 KB of memory each until the
    /// end of the run)
    #[arg(long, requires = "out")]
    pub out_commands: bool,
    /// Check every invariant of the simulation while it runs (slower)
    #[arg(long)]
    pub check: bool,
    /// Runs to execute in parallel; results do not depend on it [default: number of cores]
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Receives progress updates.
    #[command(flatten)]
    pub progress: ProgressArgs,
}

/// The receiver of a command's progress updates.
#[derive(Clone, Debug, Default, Args)]
pub struct ProgressArgs {
    /// Show no progress on the terminal
    #[arg(long, short = 'q')]
    pub quiet: bool,
    /// The calling program's view of the work; `None` if the program `copyback` itself runs the command.
    #[arg(skip)]
    pub watch: Option<Arc<Watch>>,
}

impl ProgressArgs {
    /// The sink of the whole command.
    pub fn sink(&self) -> ProgressSink {
        match &self.watch {
            Some(watch) => ProgressSink::Program(watch.clone()),
            None if self.quiet => ProgressSink::Discard,
            None => ProgressSink::Screen(Arc::new(Terminal)),
        }
    }
}

/// `copyback validate`
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Validate one device: a preset's name or a TOML file [default: the policies, and the flash of all presets]
    #[arg(long, short = 'd', value_name = "DEVICE")]
    pub device: Option<String>,
    /// Fewer and shorter cases
    #[arg(long)]
    pub quick: bool,
    /// Only one group (write-amplification, waiting, bandwidth, sustained), or gates (comparisons) with this word in
    /// their names (repeatable)
    #[arg(long, value_name = "WORD")]
    pub only: Vec<String>,
    /// Seeds of each random case [default: 5; with --quick, whose cases are shorter, 6]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub seeds: Option<u32>,
    /// The first seed [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Write the results as JSON (`-`: to standard output, instead of the table)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Runs to execute in parallel; results do not depend on it [default: number of cores]
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Receives progress updates.
    #[command(flatten)]
    pub progress: ProgressArgs,
}

/// `copyback report`
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A folder of `run --out` or `compare --out`, or its JSON; the .parquet of a sweep; the folder or the JSON of a
    /// reproduction. Several are shown side by side
    #[arg(required = true, value_name = "RESULT")]
    pub results: Vec<PathBuf>,
    /// The page's title [default: derived from the results]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Draw a line at this limit, and report which results meet it: 'read.p99_9 < 5ms' (repeatable)
    #[arg(long = "where", value_name = "NAME < VALUE")]
    pub conditions: Vec<String>,
    /// The page to write, of at most 3 MB (`-`: to standard output)
    #[arg(long, short = 'o', value_name = "FILE.html")]
    pub out: PathBuf,
}
