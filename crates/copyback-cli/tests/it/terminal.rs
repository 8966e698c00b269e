//! Text of a file, an argument or a trace cannot change the terminal, or forge a line of the program's output.

use std::path::Path;
use std::process::Command;

/// A terminal's title and colour, movements of its cursor, marks of direction, and a line. Unit tests check that each
/// control character is written out.
fn hostile() -> String {
    "a\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}31m\r\u{8}\t\u{7f}\u{85}\u{202e}\u{2028}\nNote: forged".to_owned()
}

/// The program's messages, with the styles that they have on a terminal.
fn messages(folder: &Path, words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_copyback"));
    let command = command.args(words).current_dir(folder).env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR");
    let output = command.output().expect("the program starts");
    assert!(output.status.code().is_some_and(|code| code < 3), "{words:?}: {:?}", output.status);
    [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("it is text")).concat()
}

/// Takes styles out: `ESC [ numbers m`.
fn without_styles(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        assert!(rest.starts_with('m'), "no style: {part:?}");
        plain.push_str(&rest[1..]);
    }
    plain
}

fn is_harmless(words: &[&str], text: &str) {
    assert!(text.contains(|c: char| c.is_alphabetic()), "{words:?} says nothing");
    let is_wrong = |c: char| (c.is_control() && c != '\n') || "\u{2028}\u{2029}\u{202e}\u{2066}".contains(c);
    let plain = without_styles(text);
    assert!(!plain.contains(is_wrong), "{words:?}: {plain:?}");
    assert!(!plain.lines().any(|line| line.trim_start().starts_with("Note: forged")), "{words:?}: {plain}");
}

#[test]
fn words_stay_words() {
    let folder = tempfile::tempdir().unwrap();
    let word = hostile();
    let file = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        name.to_owned()
    };
    let trace = file(&format!("{word}.csv"), "arrival_us,op,offset_bytes,length_bytes\n0,W,0,4096\n9,R,0,4096\n");
    let broken = file("broken.csv", &format!("arrival_us,op,offset_bytes,length_bytes\n0,{word},0,4096\n"));
    let scheme = file(&format!("{word}.toml"), "[victim]\npolicy = \"fifo\"\n");
    let sweep =
        file(&format!("sweep {word}.toml"), "requests = 20\nschemes = [\"baseline\"]\nworkload = \"mixed-70-30\"\n");
    let escaped: String = word.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let named = file("named.toml", &format!("name = \"{escaped}\"\n"));
    let load = file("load.toml", &format!("[workload]\nname = \"{escaped}\"\n"));
    let key = file("key.toml", &format!("[workloads.\"{escaped}\"]\nrequests = 5\nread_share = 0.5\n"));
    let case = file("case.toml", &format!("[[case]]\nname = \"{escaped}\"\n"));
    let set = format!("victim.{word}=1");
    let value = format!("victim.policy={word}");
    let option = format!("--{word}");
    let converted = format!("{word}.parquet");
    let out = format!("out {word}");
    let page = format!("{word}.html");
    let drive = ["--set", "precondition.mode=empty", "--requests", "20"];
    let run = ["run", "-S", &scheme, "-t", &trace, "--out", &out];
    let compare = ["compare", "-S", &format!("baseline,{scheme}"), "-t", &trace];
    let of_several = ["run", &key];
    for words in [
        &[&run[..], &drive].concat()[..],
        &[&compare[..], &drive].concat(),
        &["report", &out, "-o", &page],
        &["sweep", &sweep, "--set", "precondition.mode=empty"],
        &["sweep", &sweep, "--list"],
        &["trace", "info", &trace],
        &["trace", "convert", &trace, &converted],
        &["trace", "info", &broken],
        &["run", "-t", &broken],
        &["run", &named],
        &["run", "-w", &load],
        &of_several,
        &["sweep", &case],
        &["run", &word],
        &["run", "-d", &word],
        &["run", "-S", &word],
        &["run", "-w", &word],
        &["run", "-t", &word],
        &["run", "-a", &word],
        &["run", "--show", &word],
        &["run", "--set", &set],
        &["run", "--set", &value],
        &["run", "--set", &word],
        &["run", "--format", &word, "-t", &trace],
        &["run", "--timeline", &word],
        &["run", &option],
        &["run", "--seed", &word],
        &[&word],
        &["schemes", &word],
        &["devices", &word],
        &["workloads", &word],
        &["validate", "--only", &word],
        &["reproduce", &word],
        &["report", &word, "-o", "page.html"],
    ] {
        is_harmless(words, &messages(folder.path(), words));
    }
    for made in ["out.svg", &page] {
        let Ok(text) = std::fs::read_to_string(folder.path().join(made)) else { continue };
        let is_wrong = |c: char| c.is_control() && !"\n\r\t".contains(c);
        assert!(!text.contains(is_wrong), "{made} has control characters");
    }
}
