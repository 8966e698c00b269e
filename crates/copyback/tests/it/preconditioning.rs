//! Is a steady state that is made at once the same as one after many overwrites? Is the reported remaining work right?
//!
//! The engine's unit tests look at details of the planes (`src/run/preconditioning/tests.rs`). These are drives of
//! hundreds of thousands of units or more, here because the library that this program links is optimised.

use copyback::run::config::RunConfig;
use copyback::run::preconditioning::{Preconditioner, Work, preconditioned, preconditioned_with_progress};
use copyback::workload::rng;

/// A drive of eight planes, with further settings.
fn eight_planes(more: &str) -> RunConfig {
    let table = format!(
        "timing = {{ read = \"50 us\", program = \"500 us\", erase = \"3 ms\", channel = \"100 MB/s\" }}
         geometry = {{ channels = 2, chips_per_channel = 2, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 128, pages_per_block = 64, page_size = \"16 KiB\", mapping_unit = \"4 KiB\" }}
         capacity = {{ over_provisioning = 0.2 }}
         trigger = {{ policy = \"watermark\", soft = 3 }}
         {more}"
    );
    let config: RunConfig = copyback::config::from_toml(&table).expect("a configuration");
    config.check().expect("it is possible");
    config
}

/// After a steady state that is made at once, a capacity's worth of writes takes as many programs as after many
/// overwrites (`random`): within 1 %, under every victim policy, frontier and padding.
fn compare_with_the_long_way(cases: &[String]) {
    for more in cases {
        let [quick, long] = ["mode = \"steady-state\"", "mode = \"random\", overwrites = 5.0"].map(|mode| {
            let config = eight_planes(&format!("{more}\nprecondition = {{ {mode} }}"));
            let ftl = preconditioned(&config, 3).unwrap();
            ftl.check_all().unwrap();
            let mut on = Preconditioner::resume(&config, ftl);
            let (units, start) = (on.ftl.geometry.logical_units, on.ftl.counts());
            on.overwrite(units, units.into(), &mut rng::stream(9, "test.overwrites")).unwrap();
            on.ftl.counts().since(&start).write_amplification().unwrap()
        });
        println!("{quick:.4} {long:.4} {:+.2} % {more}", 100.0 * (quick / long - 1.0));
        assert!((quick / long - 1.0).abs() < 0.01, "{more}: {quick} after the short way, {long} after the long one");
    }
}

const FILLS: &str = "frontier = { policy = \"single\", fill_limit = \"1 ms\" }";

#[test]
fn a_steady_state_that_is_made_at_once_is_that_of_the_long_way() {
    let victim = |policy: &str| format!("{FILLS}\nvictim = {{ policy = \"{policy}\" }}");
    compare_with_the_long_way(
        &["greedy", "d-choices", "fifo", "random", "cost-benefit", "windowed-greedy"].map(victim),
    );
}

#[test]
fn steady_states_of_other_frontiers_and_maps_are_those_of_the_long_way() {
    let row = "frontier = { policy = \"row\" }\nbuffer = { policy = \"lru\" }\ngranularity = { policy = \"aligned\" }";
    let twin = "frontier = { policy = \"twin\" }\nbuffer = { policy = \"lru\" }\ngranularity = { policy = \"twin\" }";
    compare_with_the_long_way(&[
        "buffer = { policy = \"none\" }".to_owned(),
        "frontier = { policy = \"split\", fill_limit = \"1 ms\" }".to_owned(),
        format!("{FILLS}\nallocation = {{ policy = \"dynamic\" }}"),
        "frontier = { policy = \"second-active\" }\nbuffer = { policy = \"lru\" }".to_owned(),
        row.to_owned(),
        twin.to_owned(),
        format!("{FILLS}\nmapping = {{ policy = \"map-cache\", cache = \"16 KiB\" }}"),
    ]);
}

/// The progress reports of a preconditioning.
fn progress(config: &RunConfig) -> Vec<Work> {
    let mut told = Vec::new();
    preconditioned_with_progress(config, 1, &mut |work| told.push(work)).expect("the drive is preconditioned");
    told
}

/// Reports cover all of the work, from its beginning on: an uncounted part would make all later parts look slow.
#[test]
fn the_work_that_is_told_grows_from_the_beginning_to_the_end() {
    for frontier in ["single", "row"] {
        let mut config = config_of_two_million_units();
        config.frontier = copyback::config::from_toml(&format!("policy = \"{frontier}\"")).expect("a frontier's table");
        let told = progress(&config);
        assert!(told.is_sorted_by_key(|work| work.done), "{frontier}: {told:?}");
        let (first, last) = (told[0].share(), told[told.len() - 1].share());
        // The listing alone takes a tenth, and its end is reported.
        assert!(first < 0.1 && last > 0.9 && told.len() >= 32, "{frontier}: {told:?}");
    }
}

/// Each report's estimate of all work is within a factor of two of the work that was counted in the end. So is its
/// estimate of the rest, if it calls that known: how many passes follow depends on noise, except near the beginning.
/// With `steady = 0.05`, few passes follow, and the first estimate may be up to three times the work.
#[test]
fn the_work_is_estimated_within_a_factor_of_two() {
    for (precondition, over_provisioning, more) in [
        ("mode = \"sequential\"", 0.1, ""),
        ("mode = \"aged\"", 0.3, ""),
        ("mode = \"random\"", 0.07, ""),
        ("mode = \"random\"", 0.28, ""),
        ("mode = \"random\", steady = 0.05", 0.07, ""),
        ("mode = \"random\", steady = 0.05", 0.28, "victim = { policy = \"fifo\" }"),
        ("mode = \"random\"", 1.0, ""),
        ("mode = \"random\"", 3.0, ""),
        ("mode = \"random\"", 0.15, "victim = { policy = \"random\" }"),
        ("mode = \"random\", overwrites = 3.0", 0.15, ""),
        ("mode = \"random\", footprint = 0.3", 0.15, ""),
        ("mode = \"snia\"", 0.15, ""),
        ("mode = \"steady-state\"", 0.07, ""),
        ("mode = \"steady-state\"", 0.28, ""),
        ("mode = \"steady-state\"", 0.28, "frontier = { policy = \"row\" }"),
    ] {
        let case = format!("{precondition}, {over_provisioning} {more}");
        let text = format!(
            "precondition = {{ {precondition} }}
             capacity = {{ over_provisioning = {over_provisioning} }}
             geometry = {{ channels = 2, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2,
                           blocks_per_plane = 120, pages_per_block = 64, page_size = \"4 KiB\" }}
             timing = {{ read = \"50 us\", program = \"500 us\", erase = \"3 ms\", channel = \"100 MB/s\" }}
             {more}"
        );
        let told = progress(&copyback::config::from_toml(&text).unwrap_or_else(|error| panic!("{case}: {error:?}")));
        let all = told.last().expect("there are reports").done;
        assert!(told.len() > 20, "{case}: {told:?}");
        for work in &told {
            let (share, ratio) = (work.done / all, (work.done + work.left) / all);
            let most = if precondition.contains("steady =") { 3.0 } else { 2.0 };
            assert!(
                (0.5..=most).contains(&ratio),
                "{case}: {ratio:.2} times the work, expected after {share:.2} of it"
            );
            // What follows the last report is not counted.
            let rest = all - work.done;
            if work.is_rest_known() && share >= 0.25 && rest > 0.05 * all {
                let ratio = work.left / rest;
                assert!((0.5..=2.0).contains(&ratio), "{case}: {ratio:.2} times the rest after {share:.2} of the work");
            }
        }
        let known = told.iter().filter(|work| work.is_rest_known()).count();
        let is_counted = ["random\"", "snia\"", "steady-state\""].iter().all(|mode| !precondition.ends_with(mode));
        let is_counted = is_counted && !precondition.contains("footprint") && !precondition.contains("steady =");
        assert!(known == told.len() || !is_counted && known > 0, "{case}: {known} of {}", told.len());
    }
}

/// A drive of 2.1 million logical units, of 32 planes.
fn config_of_two_million_units() -> RunConfig {
    let text = r#"
        precondition = { mode = "steady-state" }
        trigger = { policy = "watermark", soft = 3 }
        capacity = { over_provisioning = 0.15 }
        commands = { multi_plane = true }
        geometry = { channels = 4, chips_per_channel = 2, dies_per_chip = 2, planes_per_die = 2, blocks_per_plane = 150, pages_per_block = 128, page_size = "16 KiB", mapping_unit = "4 KiB" }
        timing = { read = "50 us", program = "500 us", erase = "3 ms", channel = "100 MB/s", command = "100 ns" }
    "#;
    toml::from_str::<toml::Table>(text).expect("a table").try_into().expect("a configuration")
}
