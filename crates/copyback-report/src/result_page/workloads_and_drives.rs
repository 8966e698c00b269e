//! The data of several workloads, and of the drives of an array, for the page.

use serde_json::{Map, Value, json};

/// Most workloads, and most drives, that a page shows; the document has all.
const SHOWN_MAX: usize = 100;

/// The rates and response times of each workload.
pub fn workloads(report: &Value) -> Value {
    let all = report["workloads"].as_object();
    let rows: Vec<Value> = all.into_iter().flatten().take(SHOWN_MAX).map(|(name, own)| workload(name, own)).collect();
    json!({ "rows": rows, "left_out": left_out(all.map_or(0, Map::len)) })
}

fn workload(name: &str, own: &Value) -> Value {
    let parts = &own["latency_breakdown"];
    json!({
        "name": name,
        "iops": own["iops"],
        "bytes_per_s": own["bytes_per_s"],
        "read": class(&own["response"]["read"], &parts["read_mean_ns"]),
        "write": class(&own["response"]["write"], &parts["write_mean_ns"]),
    })
}

/// The numbers of a class that the page shows, with the part of the mean that requests waited for collection.
fn class(latency: &Value, parts: &Value) -> Value {
    let mut parts = parts.as_array().into_iter().flatten();
    let gc_ns = parts.find(|part| part[0] == "gc").map_or(Value::Null, |part| part[1].clone());
    let mut shown = numbers(latency, &["count", "mean_ns", "p99_ns", "p99_9_ns"]);
    shown.insert("gc_ns".to_owned(), gc_ns);
    Value::Object(shown)
}

/// The numbers of an array and of each of its drives; null without an array.
pub fn array(report: &Value) -> Value {
    let own = &report["array"];
    let Some(drives) = own["drives"].as_array() else { return Value::Null };
    let names = ["drive", "gc_share", "busy_share", "collections", "erases", "units_moved", "min_free_blocks"];
    let classes = ["count", "mean_ns", "p99_ns", "p99_9_ns"];
    let row = |drive: &Value| {
        let mut row = numbers(drive, &names);
        row.extend(["read", "write"].map(|op| (op.to_owned(), Value::Object(numbers(&drive[op], &classes)))));
        Value::Object(row)
    };
    let rows: Vec<Value> = drives.iter().take(SHOWN_MAX).map(row).collect();
    let rounds = &own["rounds"]["rounds"];
    json!({
        "level": own["level"],
        "gc_share": own["gc_share"],
        "degraded_share": own["degraded_share"],
        "rounds": rounds,
        "rows": rows,
        "left_out": left_out(drives.len()),
    })
}

fn numbers(from: &Value, names: &[&str]) -> Map<String, Value> {
    names.iter().map(|name| ((*name).to_owned(), from[*name].clone())).collect()
}

fn left_out(all: usize) -> usize {
    all.saturating_sub(SHOWN_MAX)
}
