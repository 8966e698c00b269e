//! The flash: its shape, its times, its commands and its channels.

pub mod channel;
pub mod command;
pub mod geometry;
pub mod timing;
