//! Integration tests of traces and generators. Each module answers one question, stated in its first line.

mod ambiguous;
mod common;
mod detection;
mod devices;
mod parquet_files;
mod patterns;
mod per_cpu;
mod presets;
mod read_arrivals;
mod readers;
mod round_trip;
mod strace;
mod table_advice;
mod table_dates;
mod table_forms;
mod tables;
mod tracepoints;
mod transformations;
