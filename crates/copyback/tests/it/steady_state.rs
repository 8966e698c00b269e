//! The rule of the SNIA PTS distinguishes a drive that has settled from one that has not.
//!
//! Unit tests check the rule itself, at its limits (`src/observe/steady.rs`). These are whole runs: uniformly random
//! writes in a closed loop, on drives with different preconditioning.

use crate::common::*;
use copyback::flash::geometry::Geometry;
use copyback::observe::steady::{Steady, Verdict};
use copyback::run::config::RunConfig;
use copyback::run::{Image, Options, RunError, image_key, precondition, simulate};
use copyback::workload::Op;
use copyback::workload::rng;
use rand::RngExt;

fn drive(preconditioning: &str) -> RunConfig {
    config(&format!(
        "precondition = {preconditioning}
         host = {{ mode = \"closed\", queue_depth = 8 }}
         capacity = {{ over_provisioning = 0.28 }}
         trigger = {{ policy = \"watermark\", soft = 3 }}
         geometry = {{ chips_per_channel = 2, planes_per_die = 2, blocks_per_plane = 64, pages_per_block = 32 }}"
    ))
}

/// The verdict on random writes of `capacities` times the capacity.
fn verdict(preconditioning: &str, capacities: f64) -> Steady {
    let config = drive(preconditioning);
    let image = precondition(&config, 1).expect("the drive is preconditioned");
    let units = 6_000;
    let mut stream = rng::stream(5, "test.writes");
    let writes = (capacities * units as f64) as u64;
    let script: Vec<_> = (0..writes).map(|_| pages(Op::Write, 0, stream.random_range(0..units), 1)).collect();
    let outcome = simulate(&config, image, Box::new(script.into_iter()), &Options::default(), &mut |_| {});
    outcome.expect("the run ends well").report.steady
}

#[test]
fn a_drive_preconditioned_as_snia_says_is_steady_from_the_start() {
    let steady = verdict("{ mode = \"snia\" }", 3.0);
    println!("{steady:?}");
    assert_eq!(steady.verdict, Verdict::Steady);
    // Both figures of a closed loop are looked at, and are far inside the limits.
    assert_eq!(steady.figures.iter().map(|f| f.name).collect::<Vec<_>>(), ["write amplification", "throughput"]);
    assert!(steady.figures.iter().all(|f| f.slope.abs() < 0.05 && f.range < 0.1), "{steady:?}");
}

#[test]
fn a_drive_that_was_only_filled_in_order_is_not_steady() {
    // Its blocks lose their first units all at once: write amplification climbs from 1.
    let steady = verdict("{ mode = \"sequential\" }", 1.5);
    println!("{steady:?}");
    assert_eq!(steady.verdict, Verdict::NotYet);
    assert!(steady.figures[0].slope > 0.10, "{steady:?}");
}

#[test]
fn a_new_drive_is_not_steady_even_if_nothing_moves() {
    assert_eq!(verdict("{ mode = \"empty\" }", 3.0).verdict, Verdict::NotYet);
    assert_eq!(verdict("{ mode = \"empty\" }", 0.5).verdict, Verdict::NoErase);
}

#[test]
fn a_run_of_a_few_erases_is_not_judged() {
    assert_eq!(verdict("{ mode = \"snia\" }", 0.05).verdict, Verdict::TooShort);
}

#[test]
fn preconditioning_that_does_not_settle_is_an_error_that_says_how_far_it_is() {
    // A drive of sixteen pages: a round writes three, and moves none or some.
    let config = config(
        "precondition = { mode = \"snia\", round = 0.2 }
         capacity = { over_provisioning = 1.0 }
         geometry = { planes_per_die = 1, blocks_per_plane = 8, pages_per_block = 4 }",
    );
    match precondition(&config, 1) {
        Err(RunError::Config(error)) => {
            assert_eq!(error.key, "precondition.round");
            assert!(error.message.contains("25 rounds") && error.help.is_some(), "{error:?}");
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("the preconditioning settled"),
    }
    let refused = |round: &str| {
        let table: toml::Table =
            copyback::config::from_toml(&format!("precondition = {{ mode = \"snia\", round = {round} }}")).unwrap();
        let preconditioning =
            table["precondition"].clone().try_into::<copyback::run::precondition::PreconditionConfig>().unwrap();
        preconditioning.check().is_err()
    };
    assert!(refused("0.0") && refused("1000.0") && refused("nan") && !refused("0.5"));
}

#[test]
fn watermarks_share_an_image_only_if_preconditioning_collects_nothing() {
    let with_watermark = |preconditioning: &str, soft: u32| {
        let mut config = drive(preconditioning);
        let table = format!("policy = \"watermark\"\nsoft = {soft}");
        config.trigger = copyback::config::from_toml(&table).expect("a trigger's table");
        config
    };
    let run = |config: &RunConfig, image: Image| {
        let mut stream = rng::stream(5, "test.writes");
        let script: Vec<_> = (0..4_000).map(|_| pages(Op::Write, 0, stream.random_range(0..3_000), 1)).collect();
        let outcome = simulate(config, image, Box::new(script.into_iter()), &Options::default(), &mut |_| {});
        outcome.expect("the run ends well").report
    };
    let aged = "{ mode = \"aged\", used_min = 0.9, used_max = 0.93, valid = 0.5 }";
    let (early, late) = (with_watermark(aged, 4), with_watermark(aged, 3));
    assert_eq!(image_key(&early), image_key(&late));
    let own = run(&early, precondition(&early, 1).unwrap());
    assert!(own.gc.collections > 0);
    assert_eq!(run(&early, precondition(&late, 1).unwrap()), own);
    let random = "{ mode = \"random\", overwrites = 1.0 }";
    assert_ne!(image_key(&with_watermark(random, 4)), image_key(&with_watermark(random, 3)));
}

/// The fifths of a run end with its last request, even if preempted collections continue after it: the times of all
/// fifths add up to the run's.
#[test]
fn the_last_fifth_ends_with_the_last_request() {
    let config = config(
        "geometry = { planes_per_die = 4, blocks_per_plane = 64, pages_per_block = 64 }
         capacity = { over_provisioning = 0.15 }
         trigger = { policy = \"watermark\", soft = 5 }
         preemption = { policy = \"points\" }
         host = { mode = \"closed\", queue_depth = 16 }
         precondition = { mode = \"random\", overwrites = 2.0 }",
    );
    let units = u64::from(Geometry::new(&config.device()).logical_units);
    let script: Vec<_> = (0..5_000).map(|i| pages(Op::Write, 0, i * 7_919 % units, 1)).collect();
    let outcome = run(&config, script);
    let note = outcome.notes.iter().find(|note| note.contains("programs after the last request"));
    let percent: f64 = note.and_then(|note| note.split(' ').nth(5)?.parse().ok()).expect("what was put off is noted");
    let report = outcome.report;
    // The fifths have what was programmed until then, and so has write amplification: one number.
    let amplification = report.steady.figures.iter().find(|f| f.name == "write amplification").expect("it erases");
    let until_then = amplification.mean;
    assert_eq!(report.write_amplification.total, Some(until_then));
    assert!((amplification.rounds.iter().sum::<f64>() / 5.0 / until_then - 1.0).abs() < 0.01, "{amplification:?}");
    let all = (report.flash.host_units + report.flash.gc_units + report.flash.padding_units) as f64 / 5_000.0;
    let behind = report.write_amplification.after_last_request.expect("the host writes");
    assert!(behind > 0.1 && (until_then + behind - all).abs() < 1e-9, "{behind} behind {until_then}, {all} in all");
    assert!((percent / 100.0 - behind / until_then).abs() < 6e-4, "{percent} % of {until_then}, {all} in all");
    // So much work that is put off is a reserve that the run lives on.
    let reserve = report.steady.reserve.expect("the host writes");
    assert!((reserve.postponed - behind / until_then).abs() < 1e-9, "{reserve:?}");
    assert_eq!(report.steady.verdict, Verdict::NotYet);
    let throughput = report.steady.figures.iter().find(|figure| figure.name == "throughput").expect("a closed loop");
    let took_s: f64 = throughput.rounds.iter().map(|per_s| 1_000.0 / per_s).sum();
    // A fifth is off by half a spacing of marks, 4 requests, at either end.
    let simulated_s = report.simulated_ns as f64 / 1e9;
    assert!((took_s / simulated_s - 1.0).abs() < 0.01, "fifths of {took_s} s in {simulated_s} s: {throughput:?}");
}

/// A buffer that holds all written data: flash is idle, response times and write amplification do not change, and the
/// drive still has all of its work to do.
#[test]
fn a_run_that_lives_on_its_buffer_is_not_steady() {
    let of = |size: &str| {
        let mut config = drive("{ mode = \"random\", overwrites = 2.0 }");
        config.buffer =
            copyback::config::from_toml(&format!("policy = \"lru\"\nsize = \"{size}\"")).expect("a buffer's table");
        let script: Vec<_> = (0..6_000).map(|i| pages(Op::Write, 0, i * 7_919 % 6_000, 1)).collect();
        let image = precondition(&config, 1).expect("the drive is preconditioned");
        let outcome = simulate(&config, image, Box::new(script.into_iter()), &Options::default(), &mut |_| {});
        outcome.expect("the run ends well").report.steady.reserve.expect("the host writes")
    };
    // 6,000 units of 4 KiB are written: a tenth of them is 2.3 MiB.
    let (small, large) = (of("1 MiB"), of("8 MiB"));
    assert!(small.is_small() && (0.0..=256.0 / 6_000.0 * 1.5).contains(&small.buffered), "{small:?}");
    assert!(!large.is_small() && large.buffered > 0.3, "{large:?}");
}
