//! The program `copyback`.

fn main() {}
