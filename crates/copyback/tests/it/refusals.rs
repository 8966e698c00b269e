//! Are configurations that contradict themselves refused, by the key that is wrong, and their neighbours not?

use crate::common::unchecked;

/// Lines that replace tables of the drive of `common`, and the refused key; `None` if the drive is possible.
const ROWS: &[(&str, Option<&str>)] = &[
    ("", None),
    // Allocation.
    ("allocation = { policy = \"static\", order = \"PDWC\" }", None),
    ("allocation = { policy = \"static\", order = \"CWDD\" }", Some("allocation.order")),
    ("allocation = { policy = \"static\", order = \"CWDPX\" }", Some("allocation.order")),
    ("allocation = { policy = \"static-die\" }", None),
    (
        "allocation = { policy = \"static-die\" }\ngranularity = { policy = \"block\", destination = \"global\" }",
        Some("allocation.policy"),
    ),
    // Units.
    ("granularity = { policy = \"block\", copyback = true }", None),
    ("granularity = { policy = \"block\", copyback = true, destination = \"global\" }", Some("granularity.copyback")),
    (
        "granularity = { policy = \"block\", copyback = true }\ncommands = { copyback = false }",
        Some("granularity.copyback"),
    ),
    (
        "granularity = { policy = \"block\", copyback = true }\ngeometry = { mapping_unit = \"2 KiB\" }",
        Some("granularity.copyback"),
    ),
    // Log blocks.
    ("mapping = { policy = \"fast\" }", None),
    ("mapping = { policy = \"fast\", log_share = 0 }", Some("mapping.log_share")),
    ("mapping = { policy = \"fast\", log_share = 1.0 }", Some("mapping.log_share")),
    ("mapping = { policy = \"fast\", log_share = 2 }", None),
    ("mapping = { policy = \"fast\", log_share = 3 }", Some("mapping.log_share")),
    ("mapping = { policy = \"fast\" }\nallocation = { policy = \"dynamic\" }", Some("mapping.policy")),
    ("mapping = { policy = \"fast\" }\nallocation = { policy = \"static-die\" }", None),
    ("mapping = { policy = \"fast\" }\nfrontier = { policy = \"split\" }", Some("frontier.policy")),
    (
        "mapping = { policy = \"fast\" }\nfrontier = { policy = \"single\", hot_window = \"1 s\" }",
        Some("frontier.hot_window"),
    ),
    ("mapping = { policy = \"fast\" }\nfrontier = { policy = \"twin\" }\ngranularity = { policy = \"twin\" }", None),
    ("mapping = { policy = \"fast\" }\nfrontier = { policy = \"row\" }\ngranularity = { policy = \"aligned\" }", None),
    ("mapping = { policy = \"fast\" }\ngranularity = { policy = \"paired\" }", Some("granularity.policy")),
    (
        "mapping = { policy = \"fast\" }\ngranularity = { policy = \"block\", destination = \"global\" }",
        Some("granularity.destination"),
    ),
    (
        "mapping = { policy = \"fast\" }\ngranularity = { policy = \"block\", copyback = true }",
        Some("granularity.copyback"),
    ),
    ("mapping = { policy = \"fast\" }\npreemption = { policy = \"ideal\" }", Some("mapping.policy")),
    ("mapping = { policy = \"fast\" }\ncompose = { policy = \"list\", gc = [\"gc+host\"] }", Some("compose.gc")),
    (
        "mapping = { policy = \"fast\" }\ntrigger = { policy = \"watermark\", soft = 2, idle = { after = \"1 ms\" } }",
        Some("trigger.idle"),
    ),
    (
        "mapping = { policy = \"fast\" }\nprecondition = { mode = \"random\", overwrites = 1.0 }",
        Some("precondition.mode"),
    ),
    // A page of each plane has to fit, or sets are padded (tpds20 Section 4.2.2).
    (
        "frontier = { policy = \"row\" }\ngranularity = { policy = \"aligned\" }\n\
         buffer = { policy = \"die-writes\", size = \"8 KiB\", short_set = \"wait\" }",
        None,
    ),
    (
        "frontier = { policy = \"row\" }\ngranularity = { policy = \"aligned\" }\n\
         buffer = { policy = \"die-writes\", size = \"4 KiB\", short_set = \"wait\" }",
        Some("buffer.size"),
    ),
    (
        "frontier = { policy = \"row\" }\ngranularity = { policy = \"aligned\" }\n\
         buffer = { policy = \"die-writes\", size = \"4 KiB\", short_set = \"pad\" }",
        None,
    ),
    // Watermarks.
    ("trigger = { policy = \"watermark\", soft = 2, stop = 2 }", None),
    ("trigger = { policy = \"watermark\", soft = 2, stop = 1 }", Some("trigger.stop")),
    ("trigger = { policy = \"watermark\", soft = 16 }", Some("trigger.soft")),
    ("trigger = { policy = \"watermark\", soft = 2, hard = 1.0 }", None),
    ("trigger = { policy = \"watermark\", soft = 2, hard = 1.5 }", Some("trigger.hard")),
    ("trigger = { policy = \"watermark\", scope = \"die\", soft = 4 }", None),
    ("trigger = { policy = \"watermark\", scope = \"die\", soft = 4, stagger = 1 }", Some("trigger.stagger")),
    ("trigger = { policy = \"watermark\", soft = 2, stagger = 14 }", Some("trigger.stagger")),
    ("trigger = { policy = \"watermark\", scope = \"device\", soft = 4 }", None),
    ("trigger = { policy = \"watermark\", scope = \"device\", soft = 4, count = \"pages\" }", Some("trigger.count")),
    // Requests that preempt a collection.
    ("preemption = { policy = \"points\" }\nadmit = { policy = \"window\", slots = 2 }", None),
    ("preemption = { policy = \"points\" }\nadmit = { policy = \"window\", slots = 1 }", Some("admit.slots")),
    ("preemption = { policy = \"deadline\", chunk = 1 }", None),
    ("preemption = { policy = \"deadline\", chunk = 0 }", Some("preemption.chunk")),
    // Collections that reserve no die.
    ("preemption = { policy = \"always\" }", None),
    ("preemption = { policy = \"always\", victims = 0 }", Some("preemption.victims")),
    ("preemption = { policy = \"always\", buffer = 1 }", Some("preemption.buffer")),
    ("preemption = { policy = \"always\" }\ncompose = { policy = \"list\", gc = [\"merge\"] }", Some("compose.gc")),
    (
        "preemption = { policy = \"always\" }\ngranularity = { policy = \"block\", destination = \"global\" }",
        Some("granularity.policy"),
    ),
    ("preemption = { policy = \"always\" }\ngranularity = { policy = \"block\", copyback = true }", None),
    (
        "preemption = { policy = \"always\" }\ngranularity = { policy = \"block\", copyback = true }\n\
         allocation = { policy = \"dynamic\" }",
        Some("granularity.copyback"),
    ),
    ("preemption = { policy = \"always\" }\nfrontier = { policy = \"second-active\" }", Some("frontier.policy")),
    (
        "preemption = { policy = \"always\" }\ntrigger = { policy = \"watermark\", soft = 2, when = \"waiting\" }",
        Some("trigger.when"),
    ),
    (
        "preemption = { policy = \"always\" }\ntrigger = { policy = \"watermark\", soft = 2, collections = \"one\" }",
        Some("trigger.collections"),
    ),
    (
        "preemption = { policy = \"always\" }\ntrigger = { policy = \"watermark\", soft = 2, idle = { after = \"1 ms\" } }",
        Some("trigger.idle"),
    ),
    // Who enters windows.
    ("admit = { policy = \"debit\" }", Some("admit.policy")),
    ("admit = { policy = \"vanilla\" }\npreemption = { policy = \"ideal\" }", None),
    ("admit = { policy = \"strict\", slots = 0 }\npreemption = { policy = \"always\" }", Some("admit.slots")),
    ("admit = { policy = \"qosfc\", gc = 0.0 }\npreemption = { policy = \"always\" }", Some("admit.gc")),
    (
        "admit = { policy = \"debit\", shares = { policy = \"fixed\", gc = 101 } }\npreemption = { policy = \"always\" }",
        Some("admit.shares.gc"),
    ),
    (
        "admit = { policy = \"debit\", shares = { policy = \"feedback\", gc_i = 1.0 } }\n\
         preemption = { policy = \"always\" }",
        Some("admit.shares.gc_i"),
    ),
    (
        "admit = { policy = \"debit\", shares = { policy = \"feedback\", period = \"999 ns\" } }\n\
         preemption = { policy = \"always\" }",
        Some("admit.shares.period"),
    ),
    (
        "admit = { policy = \"debit\", map = \"own\", shares = { policy = \"fixed\", map = 0 } }\n\
         preemption = { policy = \"always\" }",
        Some("admit.shares.map"),
    ),
    // Background tasks.
    ("tasks = { scrub = {} }", None),
    ("tasks = { scrub = { start = 0 } }", Some("tasks.scrub.start")),
    ("tasks = { scrub = { start = 100, stop = 101 } }", Some("tasks.scrub.stop")),
    ("tasks = { scrub = { start = 100, stop = 0 } }", Some("tasks.scrub.stop")),
    ("tasks = { scrub = { first_max = 1000000001 } }", Some("tasks.scrub.first_max")),
    ("tasks = { delays = { mode = \"serial\", gc = [\"0 ns\", \"1 s\"] } }", None),
    ("tasks = { delays = { host = [\"2 us\", \"1 us\"] } }", Some("tasks.delays.host")),
    ("tasks = { delays = { lookup = [\"2 us\", \"2 s\"] } }", Some("tasks.delays.lookup")),
    ("tasks = { scrub = {} }\nmapping = { policy = \"fast\" }", Some("tasks")),
    (
        "tasks = { scrub = {} }\npreemption = { policy = \"always\" }\n\
         admit = { policy = \"debit\", shares = { policy = \"fixed\", scrub = 0 } }",
        Some("admit.shares.scrub"),
    ),
    // Pages that fill.
    ("frontier = { policy = \"split\", fill_limit = \"1 ms\", fill_ends = \"flash\" }", None),
    ("frontier = { policy = \"single\", fill_ends = \"flash\" }", Some("frontier.fill_ends")),
    ("frontier = { policy = \"single\", fill_pages = 8 }", Some("frontier.fill_pages")),
    ("frontier = { policy = \"single\", fill_limit = \"1 ms\", fill_pages = 0 }", Some("frontier.fill_pages")),
    ("frontier = { policy = \"single\", fill_limit = \"1 min\" }", Some("frontier.fill_limit")),
    (
        "frontier = { policy = \"single\", fill_limit = \"1 ms\" }\ncompose = { policy = \"list\", gc = [\"merge\"] }",
        Some("frontier.fill_limit"),
    ),
    // Builders.
    ("compose = { policy = \"list\", builders = [\"cache\"] }\ncommands = { cache_read = true }", None),
    ("compose = { policy = \"list\", builders = [\"cache\"] }\ncommands = { cache_program = true }", None),
    (
        "compose = { policy = \"list\", builders = [\"cache\"] }\ncommands = { cache_read = false, cache_program = false }",
        Some("compose.builders"),
    ),
    ("compose = { policy = \"list\", builders = [\"multi-plane\", \"multi-plane\"] }", Some("compose.builders")),
    ("compose = { policy = \"list\", scan_max = 1, gc_scan_max = 65536 }", None),
    ("compose = { policy = \"list\", scan_max = 0 }", Some("compose.scan_max")),
    ("compose = { policy = \"list\", gc_scan_max = 65537 }", Some("compose.gc_scan_max")),
    ("compose = { policy = \"list\", align = \"greedy\" }", None),
    ("compose = { policy = \"list\", align = \"greedy\" }\nfrontier = { policy = \"split\" }", None),
    ("compose = { policy = \"list\", align = \"greedy\", builders = [] }", Some("compose.align")),
    ("compose = { policy = \"list\", align = \"greedy\", builders = [\"cache\"] }", Some("compose.align")),
    ("compose = { policy = \"list\", align = \"greedy\" }\nmapping = { policy = \"fast\" }", Some("compose.align")),
    (
        "compose = { policy = \"list\", align = \"greedy\" }\nfrontier = { policy = \"row\" }\n\
         granularity = { policy = \"aligned\" }",
        Some("compose.align"),
    ),
    (
        "compose = { policy = \"list\", align = \"greedy\" }\nfrontier = { policy = \"twin\" }\n\
         granularity = { policy = \"twin\" }",
        Some("compose.align"),
    ),
    (
        "compose = { policy = \"list\", align = \"greedy\" }\nfrontier = { policy = \"second-active\" }",
        Some("compose.align"),
    ),
    (
        "compose = { policy = \"list\", align = \"greedy\" }\nallocation = { policy = \"dynamic\" }",
        Some("compose.align"),
    ),
    (
        "compose = { policy = \"list\", align = \"greedy\" }\nallocation = { policy = \"static-die\" }",
        Some("compose.align"),
    ),
    ("compose = { policy = \"list\", gc = [\"gc+host\"] }", None),
    ("compose = { policy = \"list\", gc = [\"merge\"] }", None),
    ("compose = { policy = \"list\", gc = [\"gc+host\"] }\ngeometry = { planes_per_die = 1 }", Some("compose.gc")),
    ("compose = { policy = \"list\", gc = [\"merge\"] }\npreemption = { policy = \"ideal\" }", Some("compose.gc")),
    ("compose = { policy = \"list\", gc = [\"pipeline\"] }\ncommands = { cache_read = true }", Some("compose.gc")),
    (
        "compose = { policy = \"list\", gc = [\"merge\"] }\nadmit = { policy = \"window\", slots = 1 }",
        Some("compose.gc"),
    ),
    (
        "compose = { policy = \"list\", gc = [\"merge\"] }\ngranularity = { policy = \"block\", copyback = true }",
        Some("compose.gc"),
    ),
    // Victims.
    ("victim = { policy = \"read-match\", candidates = 1024 }", None),
    ("victim = { policy = \"read-match\", candidates = 0 }", Some("victim.candidates")),
    ("victim = { policy = \"read-match\", candidates = 1025 }", Some("victim.candidates")),
];

#[test]
fn a_configuration_that_contradicts_itself_is_refused_by_its_key() {
    for (tables, key) in ROWS {
        let refused = unchecked(tables).check().err().map(|e| e.key);
        assert_eq!(refused.as_deref(), *key, "{tables}");
    }
}

/// What a drive with parity needs. A row below replaces the line of its table.
const WITH_PARITY: &[(&str, &str)] = &[
    ("redundancy", "{ policy = \"rain\" }"),
    ("geometry", "{ channels = 4 }"),
    ("allocation", "{ policy = \"dynamic\" }"),
    ("preemption", "{ policy = \"always\" }"),
    ("admit", "{ policy = \"strict\" }"),
    ("frontier", "{ policy = \"single\", fill_limit = \"1 ms\" }"),
    ("order", "{ policy = \"fifo\" }"),
    ("capacity", "{ over_provisioning = 2.5 }"),
];

const PARITY_ROWS: &[(&str, Option<&str>)] = &[
    ("redundancy = { policy = \"rain\" }", None),
    ("geometry = { channels = 1 }", Some("redundancy.policy")),
    ("geometry = { channels = 2 }", None),
    ("geometry = { channels = 31 }", None),
    ("geometry = { channels = 32 }", Some("redundancy.policy")),
    ("allocation = { policy = \"static\", order = \"CWDP\" }", None),
    ("allocation = { policy = \"static\", order = \"CPDW\" }", None),
    ("allocation = { policy = \"static\", order = \"WCDP\" }", Some("allocation.policy")),
    ("allocation = { policy = \"static-die\" }", Some("allocation.policy")),
    ("frontier = { policy = \"single\" }", Some("frontier.fill_limit")),
    ("admit = { policy = \"window\" }", Some("admit.policy")),
    ("preemption = { policy = \"none\" }", Some("admit.policy")),
    ("preemption = { policy = \"ideal\" }", Some("preemption.policy")),
    // If collections reserve their dies, admission need not distinguish tasks. But no request may preempt them.
    ("preemption = { policy = \"none\" }\nadmit = { policy = \"all\" }", None),
    ("preemption = { policy = \"points\" }\nadmit = { policy = \"all\" }", Some("preemption.policy")),
    (
        "preemption = { policy = \"none\" }\nadmit = { policy = \"all\" }\n\
         granularity = { policy = \"block\", destination = \"global\" }",
        Some("granularity.destination"),
    ),
    ("buffer = { policy = \"lru\" }", Some("buffer.policy")),
    ("precondition = { mode = \"aged\" }", Some("precondition.mode")),
    // Turns depend on the places of a stripe's members, which only addresses determine in advance.
    ("redundancy = { policy = \"ttflash\" }", Some("allocation.policy")),
    ("redundancy = { policy = \"ttflash\" }\nallocation = { policy = \"static\" }", None),
    ("redundancy = { policy = \"ttflash\", group = \"plane\" }\nallocation = { policy = \"static\" }", None),
];

#[test]
fn parity_that_a_drive_cannot_keep_is_refused_by_its_key() {
    for (row, key) in PARITY_ROWS {
        let changes: toml::Table = toml::from_str(row).expect("a row parses");
        let kept = WITH_PARITY.iter().filter(|(table, _)| !changes.contains_key(*table));
        let tables: String = kept.map(|(table, text)| format!("{table} = {text}\n")).collect();
        let refused = unchecked(&format!("{tables}{row}")).check().err().map(|e| e.key);
        assert_eq!(refused.as_deref(), *key, "{row}");
    }
}
