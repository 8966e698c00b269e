//! Arguments of `copyback trace` and `copyback device`.

use clap::{Args, Subcommand};
use copyback_workload::spec::Device;
use std::path::PathBuf;

/// `copyback trace`
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Print a workload's statistics, as in tables of papers: requests, read share, sizes, rate, footprint, and
    /// histograms
    Info(InfoArgs),
    /// Write a workload as a trace file; the output's name (.parquet, .csv, ...) or --to selects the format
    Convert(ConvertArgs),
}

/// The workload, and the part of it to read.
#[derive(Debug, Args)]
pub struct TraceArgs {
    /// A trace file (`-`: standard input; BASE: BASE.blktrace.0 and so on), a workload file (TOML), or a workload
    /// preset
    pub workload: String,
    /// The trace's format [default: recognised from its content]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// The columns of a table without a header, in order: time_us (_ns, _ms, _s) or date and time, op, offset, length
    /// (sector, sectors), device, priority, and any other name for a column to ignore
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Only requests of this device, volume or LUN of the trace: its number or its name, such as 259,0
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<Device>,
    /// Number of malformed records to skip before one is an error
    #[arg(long, value_name = "N")]
    pub skip_bad: Option<u64>,
    /// Set one key of the workload, for example workload.event=Q (repeatable)
    #[arg(long = "set", value_name = "workload.KEY=VALUE")]
    pub sets: Vec<String>,
    /// Read at most this many requests
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,
    /// Seed, for generated workloads [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
}

/// `copyback trace info`
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// The workload to describe.
    #[command(flatten)]
    pub what: TraceArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `copyback trace convert`
#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// The workload to write.
    #[command(flatten)]
    pub what: TraceArgs,
    /// The file to write
    pub output: PathBuf,
    /// The output's format: parquet, csv (a table with a header), msr, fio-v2, fio-v3, disksim or spc [default: by
    /// the output's name; .csv means msr]
    #[arg(long, value_name = "FORMAT")]
    pub to: Option<String>,
}

/// `copyback device ...`
#[derive(Debug, Subcommand)]
pub enum DeviceCommand {
    /// Convert MQSim's ssdconfig.xml to a device's TOML and print it; settings that cannot be converted become comments
    FromMqsim {
        /// MQSim's drive configuration
        file: PathBuf,
    },
}
