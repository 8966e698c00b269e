//! Every device with every scheme, all invariants checked while they run.
//!
//! A drive keeps the channels, dies, planes, page size and times of its preset. Its planes have only 32 blocks of 8
//! pages, so that it is aged, and collects, within a second.

use std::process::Command;

fn copyback(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_copyback"));
    let output = command.args(arguments).env("NO_COLOR", "1").output().expect("the program starts");
    let (text, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
    text.into_owned()
}

/// Names in the first list that a command prints.
fn names(command: &str) -> Vec<String> {
    let text = copyback(&[command]);
    let rows = text.lines().skip(1).take_while(|line| !line.is_empty());
    // A long description continues in lines with a deeper indent.
    let rows = rows.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    rows.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// Runs a device with all schemes and returns how often each collected.
fn collections(device: &str, more: &[&str]) -> Vec<(String, u64)> {
    let mut schemes = names("schemes");
    assert!(schemes.len() >= 10, "{schemes:?}");
    // Parity takes a third of what data takes: other devices have no room for it.
    schemes.retain(|scheme| device.ends_with("-rain") || !["rain", "ttflash"].contains(&scheme.as_str()));
    let all = schemes.join(",");
    let common = ["compare", "--device", device, "--schemes", &all, "--check", "--json", "-", "--jobs", "2"];
    let results: serde_json::Value = serde_json::from_str(&copyback(&[&common[..], more].concat())).unwrap();
    let results = results["results"].as_array().unwrap();
    assert_eq!(results.len(), schemes.len());
    let collections = |result: &serde_json::Value| result["report"]["gc"]["collections"].as_u64().unwrap();
    schemes.into_iter().zip(results.iter().map(collections)).collect()
}

#[test]
fn invariants_hold_on_every_device_with_every_scheme() {
    let devices = names("devices");
    assert!(devices.len() >= 9, "{devices:?}");
    for device in &devices {
        // Some have more free blocks to use up before they collect.
        let has_many_free = matches!(device.as_str(), "ispass11" | "tc12" | "hpdc18" | "hpdc18-4plane" | "tlc-nvme");
        let requests = if has_many_free { "5000" } else { "3000" };
        let mut more = vec!["--workload", "mixed-70-30", "--requests", requests];
        let mut set = |key| more.extend(["--set", key]);
        set("geometry.blocks_per_plane=32");
        set("geometry.pages_per_block=8");
        match device.as_str() {
            // Its capacity is a number of bytes, its trigger keeps a quarter free, its preconditioning fills all blocks
            // but two.
            "atc18" | "atc18-rain" => {
                // Parity takes a part of the spare space.
                let has_parity = device == "atc18-rain";
                set(if has_parity { "capacity.over_provisioning=1.0" } else { "capacity.over_provisioning=0.6" });
                set("precondition.mode=random");
                // A run begins with up to `stop` free blocks, on these devices 256. From there, schemes that fill their
                // pages write too little to reach 128, below which they collect.
                set("trigger.stop=136");
            }
            // A few thousand writes overflow only a small buffer. A steady state is refused for superpages:
            // their units are valid together.
            "tlc-nvme" => {
                set("buffer.size=64 KiB");
                set("capacity.over_provisioning=0.4");
                set("precondition.mode=random");
                // Several units share a page, so that few writes take a free block.
                set("geometry.mapping_unit=16 KiB");
            }
            "bench-64g" => set("capacity.over_provisioning=0.28"),
            "tpds20" | "tpds20-4plane" | "tpds20-4plane-free" => {
                set("buffer.size=64 KiB");
                set("capacity.over_provisioning=0.4");
            }
            // With 32 blocks a plane, their own reserve is smaller than what collection in idle time keeps free.
            "ispass11" | "tc12" | "hpdc18" | "hpdc18-4plane" => set("capacity.reserved=0.2"),
            _ => {}
        }
        for (scheme, collections) in collections(device, &more) {
            assert!(collections > 0, "{scheme} never collects on {device}: nothing was tested");
        }
    }
}

/// One drive as it ships, aged to its steady state, on the recorded trace.
#[test]
fn invariants_hold_on_the_default_device_at_its_size() {
    for (scheme, collections) in collections("small", &["--requests", "4000"]) {
        assert!(collections > 0, "{scheme} never collects");
    }
}
