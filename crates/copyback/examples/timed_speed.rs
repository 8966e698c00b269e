//! prints
use copyback::config::RunConfig;
use copyback::run::{Options, precondition, simulate};
use copyback::workload::{Op, Priority, Request, RequestSource, rng};
use rand::RngExt;
struct Random {
    left: u64,
    units: u64,
    rng: rand_xoshiro::Xoshiro256PlusPlus,
    read: f64,
}
impl RequestSource for Random {
    fn next_request(&mut self) -> Result<Option<Request>, copyback::workload::Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let op = if self.rng.random_range(0.0..1.0) < self.read { Op::Read } else { Op::Write };
        Ok(Some(Request {
            arrival_ns: 0,
            offset_bytes: self.rng.random_range(0..self.units) * 4096,
            len_bytes: 4096,
            device: 0,
            op,
            priority: Priority::Normal,
        }))
    }
}
fn main() {
    let arg = |i: usize, d: f64| std::env::args().nth(i).map_or(d, |a| a.parse().unwrap());
    let text = r#"
        trigger = { policy = "watermark", soft = 0.05 }
        capacity = { over_provisioning = 0.15 }
        timing = { read = "75 us", program = "750 us", erase = "3800 us", channel = "333 MB/s" }
        geometry = { channels = 4, chips_per_channel = 4, dies_per_chip = 2, planes_per_die = 2, blocks_per_plane = 1024, pages_per_block = 256, page_size = "4 KiB" }
        host = { mode = "closed", queue_depth = 32 }
        precondition = { mode = "random", overwrites = 1.5 }
        "#;
    let config: RunConfig = toml::from_str(text).unwrap();
    let t = std::time::Instant::now();
    let image = precondition(&config, 1).unwrap();
    println!("precondition {:?}", t.elapsed());
    let g = copyback::nand::geometry::Geometry::new(&config);
    let source =
        Random { left: arg(1, 1e6) as u64, units: g.logical_units.into(), rng: rng::stream(1, "x"), read: arg(2, 0.0) };
    let t = std::time::Instant::now();
    let o = simulate(
        &config,
        image,
        Box::new(source),
        &Options { check: arg(3, 0.0) > 0.0, ..Options::default() },
        &mut |_| {},
    )
    .unwrap();
    let s = t.elapsed().as_secs_f64();
    let f = &o.report.flash;
    let ops = f.host_page_reads + f.host_page_programs + f.gc_page_reads + f.gc_page_programs;
    println!("{:.2} M flash ops/s ({ops} in {s:.2} s)", ops as f64 / s / 1e6);
    println!("{:#?}", o.report);
}
