//! The command line.

mod trace;

use crate::plan::Share;
use crate::progress::{Audience, Watch};
use crate::sweep::crew::Hired;
use crate::tables::Asked;
use clap::{Args, Parser, Subcommand, ValueEnum};
use copyback::run::Warmup;
use copyback_workload::units::parse_duration_ns;
use std::path::PathBuf;
use std::sync::Arc;
pub use trace::{ConvertArgs, DeviceCommand, InfoArgs, TraceArgs, TraceCommand};

/// A simulator of NAND flash SSDs: what garbage collection costs, and which way of scheduling it costs least.
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
    /// Simulate a drive, or an array of them, with one scheme, and print a summary
    Run(Box<RunArgs>),
    /// Simulate a drive, or an array of them, with several schemes side by side, and print them in one table
    Compare(CompareArgs),
    /// Run a grid of devices, schemes, workloads, settings and seeds, and put every number into one table
    Sweep(SweepArgs),
    /// Run a paper's experiments and compare with what it claims; claims that miss are a result, exit code 0
    Reproduce(ReproduceArgs),
    /// Compare the simulator with closed forms and published values; exit code 1 where they disagree
    Validate(ValidateArgs),
    /// Make one page for a browser of results: tables, distributions, what happened over time, die by die
    Report(ReportArgs),
    /// Describe or convert a workload
    #[command(subcommand)]
    Trace(TraceCommand),
    /// List the schemes and the axes they choose along; or explain one scheme, axis or policy
    Schemes {
        /// A scheme (`baseline`), an axis (`victim`) or a policy (`greedy`, `victim.fifo`)
        name: Option<String>,
        /// Write a page of each scheme, with a drawing of who uses a die when, into this folder
        #[arg(long, value_name = "DIR", conflicts_with = "name")]
        pages: Option<PathBuf>,
    },
    /// List the devices; or print one
    Devices {
        /// A device's name
        name: Option<String>,
    },
    /// Convert another simulator's configuration of a drive to a device
    #[command(subcommand)]
    Device(DeviceCommand),
    /// List the workloads; or print one
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
    /// Print the configuration with every default filled in, as TOML, and stop
    #[arg(long)]
    pub print_config: bool,
    /// Write the results as JSON in fio's own layout, for tools that read that
    #[arg(long, value_name = "FILE")]
    pub fio_json: Option<PathBuf>,
    /// What is drawn
    #[command(flatten)]
    pub timeline: TimelineArgs,
    /// What Perfetto is to show
    #[command(flatten)]
    pub perfetto: PerfettoArgs,
    /// What is drawn of an array
    #[command(flatten)]
    pub microscope: MicroscopeArgs,
    /// What both commands share
    #[command(flatten)]
    pub common: Common,
}

/// The drawing of `copyback run`.
#[derive(Debug, Args)]
pub struct TimelineArgs {
    /// Draw who used a die when, into a file .svg or .txt (`-`: text on standard output, instead of the summary)
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// Where the drawing begins, for example "1.5 ms" [default: at the start]
    #[arg(long, value_name = "TIME", requires = "timeline", value_parser = parse_duration_ns)]
    pub timeline_from: Option<u64>,
    /// Where it ends [default: 10 ms later]
    #[arg(long, value_name = "TIME", requires = "timeline", value_parser = parse_duration_ns)]
    pub timeline_to: Option<u64>,
    /// Draw a while around the slowest read or write; the run is done twice
    #[arg(long, requires = "timeline", conflicts_with_all = ["timeline_from", "timeline_to"])]
    pub timeline_around: Option<Slowest>,
    /// A die that is drawn, counted over the drive (repeatable) [default: the one that works most; around a request,
    /// those that served it]
    #[arg(long, value_name = "N", requires = "timeline")]
    pub timeline_die: Vec<u32>,
}

/// The slowest of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Slowest {
    /// The read with the longest response time
    WorstRead,
    /// The write with the longest response time
    WorstWrite,
}

/// The trace of `copyback run` for Perfetto.
#[derive(Debug, Args)]
pub struct PerfettoArgs {
    /// Write a while of the run as a trace for https://ui.perfetto.dev: commands by channel, die and plane, requests,
    /// collections, counters
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Where it begins, in simulated time [default: at the start, or where the warm-up ends, for which the run is done
    /// twice]
    #[arg(long, value_name = "TIME", requires = "perfetto", value_parser = parse_duration_ns)]
    pub perfetto_from: Option<u64>,
    /// How long it is [default: 100 ms]
    #[arg(long, value_name = "TIME", requires = "perfetto", value_parser = parse_duration_ns)]
    pub perfetto_for: Option<u64>,
    /// Write a while around the slowest read or write; the run is done twice
    #[arg(long, requires = "perfetto", conflicts_with_all = ["perfetto_from", "perfetto_for"])]
    pub perfetto_around: Option<Slowest>,
}

/// The drawing of an array of `copyback run`.
#[derive(Debug, Args)]
pub struct MicroscopeArgs {
    /// Draw a while of an array: response times of its volume and of its drives, and when these collect, into a file
    /// .svg or .txt (`-`: text on standard output, instead of the summary); with --out also as a table
    #[arg(long, value_name = "FILE")]
    pub microscope: Option<PathBuf>,
    /// Where that while begins, in simulated time [default: at the end of the warm-up, else at the start]
    #[arg(long, value_name = "TIME", requires = "microscope", value_parser = parse_duration_ns)]
    pub microscope_from: Option<u64>,
    /// How long it is
    #[arg(long, value_name = "TIME", requires = "microscope", default_value = "300 ms", value_parser = parse_duration_ns)]
    pub microscope_for: u64,
    /// How many drives are drawn, from drive 0 on [default: 2]
    #[arg(long, value_name = "N", requires = "microscope")]
    pub microscope_drives: Option<u32>,
}

/// `copyback compare`
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Schemes, the first is what the others are compared with [default: baseline,pgc,gc-par,gc-par-pgc,ideal-no-gc];
    /// NAME=SCHEME calls one otherwise
    #[arg(long, short = 'S', value_name = "A,B,...", value_delimiter = ',')]
    pub schemes: Vec<String>,
    /// What both commands share
    #[command(flatten)]
    pub common: Common,
}

/// What `run` and `compare` share.
#[derive(Clone, Debug, Args)]
pub struct Common {
    /// TOML file with `device`, `scheme`, `workload` and any overriding tables
    pub experiment: Option<PathBuf>,
    /// Device: a preset's name or a TOML file [default: small]
    #[arg(long, short = 'd', value_name = "DEVICE")]
    pub device: Option<String>,
    /// Array of such drives behind one volume: a preset's name (raid-0, raid-1, raid-10, raid-5, raid-6) or a TOML file
    /// with a table `[array]` [default: one drive]
    #[arg(long, short = 'a', value_name = "ARRAY")]
    pub array: Option<String>,
    /// Workload: a preset's name or a TOML file [default: oltp]
    #[arg(long, short = 'w', value_name = "WORKLOAD", conflicts_with = "trace")]
    pub workload: Option<String>,
    /// Replay this trace file instead (`-`: standard input; BASE: BASE.blktrace.0 and so on); its format is found out
    /// from its content
    #[arg(long, short = 't', value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Let a job file of fio say what is asked of the drive: each job is a workload with results of its own
    #[arg(long, value_name = "JOB", conflicts_with_all = ["workload", "trace"])]
    pub fio: Option<PathBuf>,
    /// Run the jobs of a fio command line, for example '--name=a --rw=randwrite --bs=4k --size=64m'
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true, conflicts_with_all = ["workload", "trace", "fio"])]
    pub fio_args: Option<String>,
    /// The trace's format [default: recognised from its content]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// The columns of a table without a header, in order: time_us (_ns, _ms, _s), op, offset, length (sector, sectors),
    /// device, priority, and any other name for a column to ignore
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Malformed trace records that may be left out before one stops the run
    #[arg(long, value_name = "N")]
    pub skip_bad: Option<u64>,
    /// Give each plane as many blocks that what the trace, or the jobs of fio, address is this share of the drive, for
    /// example 0.9; with `--set workload.layout=compact` that is the trace's footprint
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub fit: Option<Share>,
    /// Set one key of the configuration, for example trigger.soft=0.05, or that of one scheme: pgc:trigger.soft=0.05
    /// (repeatable)
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    pub sets: Vec<String>,
    /// Requests arrive when the workload says, whatever the device's file has: host.mode=open
    #[arg(long, conflicts_with = "closed")]
    pub open: bool,
    /// A request arrives when another ends, `host.queue_depth` of them at a time: host.mode=closed
    #[arg(long)]
    pub closed: bool,
    /// Seed of every random stream; several, with mean and interval: `seeds` of a sweep [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Stop after so many requests; those of the warm-up are not counted
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,
    /// Simulate this first and leave it out of all results: a number of requests (10000), a simulated time (10s), or
    /// `steady`: until the rule of the SNIA PTS holds [default: what the workload says, else nothing]
    #[arg(long, value_name = "REQUESTS|TIME|steady")]
    pub warmup: Option<Warmup>,
    /// Write the results as JSON (`-`: to standard output, instead of the summary)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the printed table, of `run` that of response times, for LaTeX with booktabs (`-`: to standard output)
    #[arg(long, value_name = "FILE.tex")]
    pub latex: Option<PathBuf>,
    /// Write Parquet tables, the JSON and the resolved configuration into a folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Show these numbers of the results: read.p99_99, iops, of one of several workloads NAME.write.p99. In `compare`
    /// they replace the usual columns; in `run` mean, p50, p99.99 and their like choose the columns of response times
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub show: Vec<String>,
    /// Let the folder have a table of every request, too
    #[arg(long, requires = "out")]
    pub out_requests: bool,
    /// Let the folder have a table of every flash command, too: who used which die when
    #[arg(long, requires = "out")]
    pub out_commands: bool,
    /// Tables that a program which calls this one wants, beside those that all runs have.
    #[arg(skip)]
    pub asked: Asked,
    /// Check every invariant of the simulation while it runs (slower)
    #[arg(long)]
    pub check: bool,
    /// Runs that go side by side; results do not depend on it [default: number of cores]
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Receives progress updates.
    #[command(flatten)]
    pub hearing: Hearing,
}

impl Common {
    /// What the short options set, as `--set` takes it.
    pub fn spelled_out(mut self) -> Self {
        let modes = [("open", self.open), ("closed", self.closed)];
        self.sets.extend(modes.iter().filter(|(_, is_set)| *is_set).map(|(mode, _)| format!("host.mode={mode}")));
        self
    }
}

/// The receiver of a command's progress updates.
#[derive(Clone, Debug, Default, Args)]
pub struct Hearing {
    /// No progress on the terminal
    #[arg(long, short = 'q')]
    pub quiet: bool,
    /// A program that called this one.
    #[arg(skip)]
    pub watch: Option<Arc<Watch>>,
}

impl Hearing {
    /// Those who hear of the whole.
    pub fn audience(&self) -> Audience {
        match &self.watch {
            Some(watch) => Audience::Program(watch.clone()),
            None => Audience::of(self.quiet),
        }
    }
}

/// `copyback sweep`
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// TOML file: device(s), schemes, workload(s) or `case`, `set`, `vary`, seed(s), requests, warmup
    pub file: PathBuf,
    /// The table to write, a row for each run; the same as .csv and the journal stand beside it [default: the file's
    /// name in this folder]
    #[arg(long, value_name = "FILE.parquet")]
    pub out: Option<PathBuf>,
    /// Schemes of every cell instead of the file's: names, TOML files, or NAME=SCHEME for one under another name;
    /// `--set NAME:trigger.soft=0.05` is a setting of the scheme of that name alone
    #[arg(long, value_name = "SCHEME,...", value_delimiter = ',')]
    pub schemes: Vec<String>,
    /// Run cells on the workers of a Dask cluster: the scheduler's address, tcp://HOST:PORT (needs the Python package,
    /// `pip install '.[dask]'`)
    #[arg(long, value_name = "ADDRESS", conflicts_with = "list")]
    pub dask: Option<String>,
    /// Show the cells and stop
    #[arg(long)]
    pub list: bool,
    /// Write the table that is printed, with all of its columns, for LaTeX with booktabs
    #[arg(long, value_name = "FILE.tex", conflicts_with = "list")]
    pub latex: Option<PathBuf>,
    /// What is asked of the table.
    #[command(flatten)]
    pub objective: ObjectiveArgs,
    /// Stop each run after so many requests, whatever the file says; those of the warm-up are not counted
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,
    /// Settings of all cells.
    #[command(flatten)]
    pub cells: CellArgs,
}

/// What a sweep is asked beside its table.
#[derive(Debug, Args)]
pub struct ObjectiveArgs {
    /// Show only rows that meet this, instead of the table: 'response.read.p99_9 < 5ms' (repeatable: all have to hold).
    /// Names are columns of the table, varied keys among them; with several seeds the mean over them counts
    #[arg(long = "where", value_name = "NAME < VALUE", conflicts_with = "list")]
    pub conditions: Vec<String>,
    /// Of the rows that are shown, say which has the least of this: capacity.over_provisioning
    #[arg(long, value_name = "NAME", conflicts_with_all = ["list", "max"])]
    pub min: Option<String>,
    /// Say which has the most of this
    #[arg(long, value_name = "NAME", conflicts_with = "list")]
    pub max: Option<String>,
    /// Show these columns instead of the usual ones: read.p99_99,write.mean
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', conflicts_with = "list")]
    pub show: Vec<String>,
}

/// `copyback reproduce`
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// The paper (ispass11, tc12, hpdc18, atc18, tpds20), or a sweep file with `claim` tables
    pub paper: String,
    /// Only this figure, table or section, as the list of claims or an experiment's file names it (repeatable)
    #[arg(long = "figure", short = 'f', value_name = "FIGURE")]
    pub figures: Vec<String>,
    /// Fewer requests: shows that all runs, and roughly where it goes
    #[arg(long)]
    pub quick: bool,
    /// Write the claims and their verdicts as JSON (`-`: to standard output, instead of the table)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Draw each figure as the paper does, published values beside measured, as SVG and PDF; needs the package for
    /// Python
    #[arg(long = "figures", value_name = "DIR")]
    pub drawn_into: Option<PathBuf>,
    /// Folder of the tables and of the journal by which a rerun skips finished cells [default: reproduction]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Settings of all cells.
    #[command(flatten)]
    pub cells: CellArgs,
}

/// What `sweep` and `reproduce` ask of all their cells.
#[derive(Debug, Args)]
pub struct CellArgs {
    /// Set one key of the configuration in every cell, over what the file says (repeatable)
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    pub sets: Vec<String>,
    /// Give each plane so many blocks that what a cell's trace addresses is this share of its drive, for example 0.9:
    /// cells of one trace then hold the same data, each at its own over-provisioning
    #[arg(long, value_name = "SHARE")]
    pub fit: Option<Share>,
    /// Seed of every random stream, whatever the file says
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Simulate this first and leave it out of all results: a number of requests (10000), a simulated time (10s), or
    /// `steady`: until the rule of the SNIA PTS holds [default: what the file or the workload says]
    #[arg(long, value_name = "REQUESTS|TIME|steady")]
    pub warmup: Option<Warmup>,
    /// Folder of recorded traces that files name; a paper's experiments leave them out without it [default: the file's
    /// own folder]
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
    /// Forget earlier results: run every cell anew
    #[arg(long)]
    pub fresh: bool,
    /// Cells that go side by side, each with a drive in memory; results do not depend on it [default: number of cores]
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Who runs cells instead of this process.
    #[arg(skip)]
    pub crew: Option<Hired>,
    /// Receives progress updates.
    #[command(flatten)]
    pub hearing: Hearing,
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
    /// Only one group (write-amplification, waiting, bandwidth, sustained), or gates with this in their names
    /// (repeatable)
    #[arg(long, value_name = "WORD")]
    pub only: Vec<String>,
    /// Seeds of each random case [default: 5, with --quick 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub seeds: Option<u32>,
    /// The first seed [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Write the results as JSON (`-`: to standard output, instead of the table)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Runs that go side by side; results do not depend on it [default: number of cores]
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Receives progress updates.
    #[command(flatten)]
    pub hearing: Hearing,
}

/// `copyback report`
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A folder of `run --out` or `compare --out`, or its JSON; the .parquet of a sweep; the folder or the JSON of a
    /// reproduction. Several are shown side by side
    #[arg(required = true, value_name = "RESULT")]
    pub results: Vec<PathBuf>,
    /// The page's title [default: what the results are of]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Draw a line at this, and say which results meet it: 'read.p99_9 < 5ms' (repeatable)
    #[arg(long = "where", value_name = "NAME < VALUE")]
    pub conditions: Vec<String>,
    /// The page to write, of at most 3 MB (`-`: to standard output)
    #[arg(long, short = 'o', value_name = "FILE.html")]
    pub out: PathBuf,
}
