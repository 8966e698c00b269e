//! A small drive that collects, for tests of the cost and the source of requests.

use copyback::run::config::RunConfig;

/// Four dies, preconditioned.
pub const FOUR_DIES: &str = r#"
    precondition = { mode = "random", overwrites = 1.0 }
    capacity = { over_provisioning = 0.28 }
    timing = { read = "50 us", program = "500 us", erase = "3 ms", channel = "200 MB/s" }
    [geometry]
    channels = 2
    chips_per_channel = 2
    dies_per_chip = 1
    planes_per_die = 2
    blocks_per_plane = 24
    pages_per_block = 64
    page_size = "4 KiB"
"#;

/// The drive, with more configuration.
pub fn four_dies(more: &str) -> RunConfig {
    copyback::config::from_toml(&format!("{more}\n{FOUR_DIES}")).expect("a configuration")
}
