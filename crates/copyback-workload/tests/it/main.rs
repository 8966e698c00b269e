//! Integration tests of traces and generators. Each module answers one question, stated in its first line.

mod patterns;
mod presets;
mod read_arrivals;
mod readers;
mod round_trip;
mod tables;
mod transformations;
