//! prints
use copyback::ftl::aging::Ager;
use copyback::workload::rng;
fn main() {
    let text = r#"
        trigger = { policy = "watermark", soft = 4 }
        capacity = { over_provisioning = 0.28 }
        timing = { read = "50 us", program = "500 us", erase = "3 ms", channel = "400 MB/s" }
        geometry = { channels = 4, chips_per_channel = 4, dies_per_chip = 2, planes_per_die = 2, blocks_per_plane = 1024, pages_per_block = 256, page_size = "4 KiB" }
        "#;
    let config = toml::from_str(text).unwrap();
    let mut ager = Ager::new(&config, 7);
    let units = ager.ftl.geometry.logical_units;
    let mut stream = rng::stream(7, "test.overwrites");
    let t = std::time::Instant::now();
    ager.overwrite(units, 2 * u64::from(units), &mut stream).unwrap();
    println!("fill {:?}", t.elapsed());
    let start = ager.ftl.counts();
    let t = std::time::Instant::now();
    let n = 3 * u64::from(units);
    ager.overwrite(units, n, &mut stream).unwrap();
    let s = t.elapsed().as_secs_f64();
    println!(
        "{:.2} M host pages/s, wa {:?}",
        n as f64 / s / 1e6,
        ager.ftl.counts().since(&start).write_amplification()
    );
}
