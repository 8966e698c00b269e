//! Arguments of `copyback sweep` and `copyback reproduce`.

use super::ProgressArgs;
use crate::plan::FitShare;
use clap::Args;
use copyback::run::Warmup;
use std::path::PathBuf;

/// `copyback sweep`
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// TOML file: device(s), schemes, workload(s) or `case`, `set`, `vary`, seed(s), requests, warmup
    pub file: PathBuf,
    /// The table to write, a row for each run; the same table as .csv and the journal are written next to it [default:
    /// the sweep file's name, in the working folder]
    #[arg(long, value_name = "FILE.parquet")]
    pub out: Option<PathBuf>,
    /// Schemes of every cell instead of the file's: names, TOML files, or NAME=SCHEME for a renamed copy; `--set
    /// NAME:trigger.soft=0.05` applies to the scheme of that name only
    #[arg(long, value_name = "SCHEME,...", value_delimiter = ',')]
    pub schemes: Vec<String>,
    /// Run cells on the workers of a Dask cluster: the scheduler's address, tcp://HOST:PORT (needs the Python package,
    /// `pip install '.[dask]'`)
    #[arg(long, value_name = "ADDRESS", conflicts_with = "list")]
    pub dask: Option<String>,
    /// Show the cells and stop
    #[arg(long)]
    pub list: bool,
    /// Write the printed table, with all of its columns, for LaTeX with booktabs
    #[arg(long, value_name = "FILE.tex", conflicts_with = "list")]
    pub latex: Option<PathBuf>,
    /// Conditions and objectives on the table.
    #[command(flatten)]
    pub objective: ObjectiveArgs,
    /// Stop each run after this many requests, whatever the file says; requests of the warm-up are not counted
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,
    /// Settings of all cells.
    #[command(flatten)]
    pub cells: CellArgs,
}

/// Conditions and objectives of a sweep.
#[derive(Debug, Args)]
pub struct ObjectiveArgs {
    /// Show only rows that meet this condition, instead of the table: 'response.read.p99_9 < 5ms' (repeatable: all must
    /// hold). Names are columns of the table, varied keys included; with several seeds it applies to means over them
    #[arg(long = "where", value_name = "NAME < VALUE", conflicts_with = "list")]
    pub conditions: Vec<String>,
    /// Report the shown row with the least value of this number: capacity.over_provisioning
    #[arg(long, value_name = "NAME", conflicts_with_all = ["list", "max"])]
    pub min: Option<String>,
    /// Report the shown row with the greatest value of this number
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
    /// Only this figure, table or section, named as in the list of claims or in an experiment's file (repeatable)
    #[arg(long = "figure", short = 'f', value_name = "FIGURE")]
    pub figures: Vec<String>,
    /// Judge only the headlines (claims of abstract, introduction and conclusion), with quotes and causes of misses
    #[arg(long, conflicts_with_all = ["figures", "drawn_into"])]
    pub headlines: bool,
    /// Judge each headline in this many worlds (random choices of the paper's open decisions); `--seed` draws others
    #[arg(long, value_name = "N", conflicts_with_all = ["figures", "drawn_into", "headlines", "quick", "fit"])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub worlds: Option<u32>,
    /// Run worlds on the whole drive with all requests of the headlines
    #[arg(long, requires = "worlds")]
    pub full_size: bool,
    /// Run fewer requests, to test that everything runs; the results are rough
    #[arg(long)]
    pub quick: bool,
    /// Write the claims and their verdicts as JSON (`-`: to standard output, instead of the table)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Draw each figure as the paper does, published values next to measured, as SVG and PDF; needs the Python package
    #[arg(long = "figures", value_name = "DIR")]
    pub drawn_into: Option<PathBuf>,
    /// Folder of the tables and of the journal by which a rerun skips finished cells [default: reproduction]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Settings of all cells.
    #[command(flatten)]
    pub cells: CellArgs,
}

/// Settings of all cells of `sweep` and `reproduce`.
#[derive(Debug, Args)]
pub struct CellArgs {
    /// Set one key of the configuration in every cell, overriding the file (repeatable)
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    pub sets: Vec<String>,
    /// Set the number of blocks of each plane so that a cell's trace addresses this share of its drive, for example
    /// 0.9: cells of one trace then hold the same data, each at its own over-provisioning
    #[arg(long, value_name = "SHARE")]
    pub fit: Option<FitShare>,
    /// Seed of every random stream, overriding the file
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Simulate this first and exclude it from all results: a number of requests (10000), a simulated time (10s), or
    /// `steady`: until the rule of the SNIA PTS holds [default: the file's warm-up, else the workload's if the whole
    /// workload runs, else none]
    #[arg(long, value_name = "REQUESTS|TIME|steady")]
    pub warmup: Option<Warmup>,
    /// Folder of the recorded traces that files name [default: the file's own folder; a paper's experiments skip
    /// recorded traces]
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
    /// Ignore earlier results: run every cell again
    #[arg(long)]
    pub fresh: bool,
    /// Cells to run in parallel, each with a drive in memory; results do not depend on it [default: number of cores]
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Receives progress updates.
    #[command(flatten)]
    pub progress: ProgressArgs,
}
