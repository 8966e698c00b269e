//! Write amplification under uniform random writes agrees with theory, for each victim policy that has one.
//!
//! Expected values are the closed forms, mean-field solutions and Monte Carlo results of `copyback-theory`. One plane
//! of 2048 blocks; the physical capacity excludes the blocks that a plane holds back: its open block and the free block
//! that collection keeps. Tolerance 1 %: the second half of 30 times the capacity's writes is measured, with a sampling
//! error below 0.2 %. The rest is the difference between 2048 blocks and the infinite plane of the theory.

use copyback::run::config::RunConfig;
use copyback::run::preconditioning::Preconditioner;
use copyback::workload::rng;
use copyback_theory::monte_carlo::{WINDOW, reference_for};
use copyback_theory::write_amplification::{d_choices, fifo, greedy, random};

const BLOCKS: u32 = 2048;
const HELD_BACK: u32 = 2;

/// A plane with `pages` pages a block whose usable capacity is `1 + over_provisioning` times its logical one.
fn measured(victim: &str, pages: u32, over_provisioning: f64) -> f64 {
    let usable_pages = f64::from(BLOCKS - HELD_BACK) * f64::from(pages);
    let logical_pages = (usable_pages / (1.0 + over_provisioning)).round() as u64;
    let text = format!(
        r#"
        precondition = {{ mode = "empty" }}
        victim = {victim}
        trigger = {{ policy = "watermark", soft = 2 }}
        capacity = {{ logical = "{} KiB" }}
        timing = {{ read = "50 us", program = "500 us", erase = "3 ms", channel = "400 MB/s" }}
        [geometry]
        channels = 1
        chips_per_channel = 1
        dies_per_chip = 1
        planes_per_die = 1
        blocks_per_plane = {BLOCKS}
        pages_per_block = {pages}
        page_size = "4 KiB"
        "#,
        logical_pages * 4
    );
    let config: RunConfig = copyback::config::from_toml(&text).expect("the test's configuration parses");
    config.check().expect("the test's configuration is possible");
    let mut preconditioner = Preconditioner::new(&config, 7);
    let units = preconditioner.ftl.geometry.logical_units;
    let mut stream = rng::stream(7, "test.overwrites");
    preconditioner.overwrite(units, 15 * u64::from(units), &mut stream).unwrap();
    let start = preconditioner.ftl.counts();
    preconditioner.overwrite(units, 15 * u64::from(units), &mut stream).unwrap();
    preconditioner.ftl.check_all().unwrap();
    preconditioner.ftl.counts().since(&start).write_amplification().unwrap()
}

fn agrees(victim: &str, pages: u32, over_provisioning: f64, expected: f64) {
    let measured = measured(victim, pages, over_provisioning);
    let deviation = measured / expected - 1.0;
    println!(
        "{victim} b={pages} OP={over_provisioning}: theory {expected:.4}, measured {measured:.4}, {:+.2} %",
        100.0 * deviation
    );
    assert!(
        deviation.abs() < 0.01,
        "{victim}, b={pages}, OP={over_provisioning}: theory {expected}, measured {measured}"
    );
}

#[test]
fn greedy_agrees_with_the_mean_field() {
    for (b, op) in [(64, 0.07), (64, 0.15), (64, 0.28), (256, 0.15)] {
        agrees(r#"{ policy = "greedy" }"#, b, op, greedy(b, op).unwrap());
    }
}

#[test]
fn fifo_agrees_with_its_closed_form() {
    for op in [0.07, 0.15, 0.28] {
        agrees(r#"{ policy = "fifo" }"#, 64, op, fifo(op).unwrap());
    }
}

#[test]
fn random_agrees_with_its_closed_form() {
    for op in [0.07, 0.15, 0.28] {
        agrees(r#"{ policy = "random" }"#, 64, op, random(op).unwrap());
    }
}

#[test]
fn d_choices_agree_with_van_houdts_equations() {
    for (d, op) in [(2, 0.15), (10, 0.07), (10, 0.28)] {
        agrees(&format!("{{ policy = \"d-choices\", d = {d} }}"), 64, op, d_choices(d, 64, op).unwrap());
    }
}

#[test]
fn windowed_greedy_agrees_with_the_monte_carlo_value() {
    let expected = reference_for(WINDOW, false, 0.5, 0.15).unwrap().write_amplification;
    agrees(r#"{ policy = "windowed-greedy", window = 0.1 }"#, 64, 0.15, expected);
}
