//! Cases that found a defect, kept whole: a case's number means another case as soon as a knob gets a new setting.
//!
//! A failure writes one, together with files that the program can run (`target/tmp/swarm/`). Copy it to the folder
//! `kept`, and it runs with all other tests.

use crate::runs::{Case, Relocation};
use crate::supplied::supplied;
use copyback::run::config::RunConfig;
use copyback::workload::{Op, Priority, Request};
use serde::{Deserialize, Serialize};

/// A case as a file holds it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<u64>,
    /// Number of events, block, and the requesting task.
    relocations: Vec<(u64, u32, u8)>,
    /// Arrival in nanoseconds, operation, first byte, bytes, priority.
    requests: Vec<(u64, String, u64, u64, String)>,
    config: RunConfig,
}

const OPS: [(&str, Op); 3] = [("read", Op::Read), ("write", Op::Write), ("trim", Op::Trim)];
const PRIORITIES: [(&str, Priority); 2] = [("normal", Priority::Normal), ("high", Priority::High)];

fn name<T: PartialEq>(names: &[(&str, T)], value: &T) -> String {
    names.iter().find(|(_, of)| of == value).expect("all are listed").0.to_owned()
}

fn named<T: Copy>(names: &[(&str, T)], name: &str) -> T {
    names.iter().find(|(of, _)| *of == name).unwrap_or_else(|| panic!("`{name}` is no such thing")).1
}

/// A case as text.
pub fn written(case: &Case) -> Result<String, toml::ser::Error> {
    let request =
        |r: &Request| (r.arrival_ns, name(&OPS, &r.op), r.offset_bytes, r.len_bytes, name(&PRIORITIES, &r.priority));
    toml::to_string(&Kept {
        seed: case.seed,
        cut: case.cut,
        relocations: case.relocations.iter().map(|r| (r.after_events, r.block, r.source)).collect(),
        requests: case.requests.iter().map(request).collect(),
        config: case.config.clone(),
    })
}

/// Reads a case from its text.
pub fn read(text: &str) -> Result<Case, toml::de::Error> {
    let kept: Kept = toml::from_str(text)?;
    let request = |(arrival_ns, op, offset_bytes, len_bytes, priority): (u64, String, u64, u64, String)| Request {
        arrival_ns,
        offset_bytes,
        len_bytes,
        device: 0,
        op: named(&OPS, &op),
        priority: named(&PRIORITIES, &priority),
    };
    let relocation = |(after_events, block, source)| Relocation { after_events, block, source };
    Ok(Case {
        text: String::new(),
        marks: Vec::new(),
        seed: kept.seed,
        requests: kept.requests.into_iter().map(request).collect(),
        cut: kept.cut,
        relocations: kept.relocations.into_iter().map(relocation).collect(),
        config: supplied(kept.config),
    })
}
