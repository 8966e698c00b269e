//! Tests of watermarks: when they start a collection, and which keys they write out.

use super::*;
use crate::sim::index::DieId;

/// A drive that watermarks do not read.
struct Unseen;

impl DriveView for Unseen {
    fn geometry(&self) -> &Geometry {
        unreachable!("watermarks read only the given free quantity")
    }
    fn free_blocks(&self, _: PlaneId) -> u32 {
        unreachable!("watermarks read only the given free quantity")
    }
    fn queued(&self, _: DieId) -> u32 {
        unreachable!("watermarks read only the given free quantity")
    }
}

/// Watermarks of planes differ by `stagger`, also above a first one of 0.
#[test]
fn each_plane_starts_below_its_own_watermark() {
    let watermarks = |soft| Policy {
        scope: Scope::Plane,
        count: Count::Blocks,
        collections: Collections::UntilStop,
        when: When::Below,
        soft_watermark: soft,
        stop_watermark: soft,
        hard_watermark: 0,
        stagger: 2,
        idle: None,
        coordination: CoordinationLevels::default(),
    };
    for soft in [0, 1, 3] {
        for plane in 0..4 {
            let watermark = soft + 2 * plane;
            let wants = |free: &u32| watermarks(soft).wants_plane(*free, plane, false, &Unseen);
            let starts: Vec<u32> = (0..12).filter(wants).collect();
            assert_eq!(starts, (0..watermark).collect::<Vec<u32>>(), "plane {plane} of a drive with watermark {soft}");
        }
    }
}

/// A drive of one plane of 16 blocks.
fn config() -> crate::run::config::RunConfig {
    let table = "[geometry]\nchannels = 1\nchips_per_channel = 1\ndies_per_chip = 1\nplanes_per_die = 1\n\
                 blocks_per_plane = 16\npages_per_block = 8\npage_size = 4096\n[capacity]\nreserved = 0.2\n\
                 [timing]\nread = \"1 us\"\nprogram = \"1 us\"\nerase = \"1 us\"\nchannel = \"1 MB/s\"\n";
    crate::config::from_toml(table).unwrap()
}

/// Only a watermark waits for a request; idle time and requested collections do not.
#[test]
fn a_collection_that_waits_starts_with_a_request() {
    let geometry = Geometry::new(&config().device());
    let starts = |when, start, request_waits| {
        Policy::new(&Params { when, ..Params::default() }, &geometry).starts_now(Wanted { start, request_waits })
    };
    for start in [Start::Watermark, Start::Space, Start::Idle, Start::Requested] {
        assert!(starts(When::Below, start, false) && starts(When::Waiting, start, true), "{start:?}");
        assert_eq!(starts(When::Waiting, start, false), start != Start::Watermark, "{start:?}");
    }
}

/// The printed settings of a scheme are its actual ones.
#[test]
fn unset_keys_are_not_written_out() {
    let written = toml::Table::try_from(Params::default()).unwrap();
    assert_eq!(written.keys().collect::<Vec<_>>(), ["hard", "scope", "soft"]);
}

/// A hard watermark is a share of the soft one, rounded up, or a count that does not exceed it.
#[test]
fn the_hard_watermark_takes_shares_and_counts() {
    let geometry = Geometry::new(&config().device());
    let params = |hard: &str| -> Params {
        crate::config::from_toml(&format!("soft = 7\nhard = {hard}")).unwrap_or_else(|e| panic!("{e}"))
    };
    for (hard, blocks) in [("0.2", 2), ("1.0", 7), ("0.0", 0), ("0", 0), ("1", 1), ("3", 3), ("7", 7)] {
        let params = params(hard);
        params.check(&config().geometry).unwrap_or_else(|e| panic!("{hard}: {e}"));
        assert_eq!(Policy::new(&params, &geometry).hard_watermark(), blocks, "{hard}");
    }
    for hard in ["8", "1.1", "-0.5", "nan"] {
        let error = params(hard).check(&config().geometry).expect_err(hard);
        assert!(error.key == "trigger.hard" && error.help.is_some(), "{error:?}");
    }
}
