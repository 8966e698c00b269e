//! What tests of the built program need.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::process::{Command, Output};

pub fn copyback(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_copyback"));
    command.args(arguments).env("NO_COLOR", "1").env("RUST_BACKTRACE", "0");
    command.output().expect("the program starts")
}

pub fn code(output: &Output) -> i32 {
    output.status.code().expect("the program ends by itself")
}

/// The text of standard error in one line: the reporter wraps at the terminal's width.
pub fn error_text(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).replace('│', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub fn output_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
