//! Integration tests of traces and generators. A module asks one question: its first line.

mod presets;
mod read_arrivals;
mod readers;
mod round_trip;
mod tables;
mod temporary;
mod transformations;
