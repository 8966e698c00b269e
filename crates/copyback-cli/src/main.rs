//! The program `copyback`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(copyback_cli::main_of(std::env::args_os().skip(1), None))
}
