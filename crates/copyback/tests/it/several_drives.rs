//! A drive among others has exactly the results that it has alone.
//!
//! Drives of one run share only a clock, as long as the host admits every request when it arrives. Therefore each
//! drive's requests must take exactly as long, with exactly the same latency breakdown, as in a run of their own; that
//! run provides the expected values. The drives differ in shape and scheme.

use crate::support::{Setting, configuration, fitted, request};
use copyback::flash::geometry::Geometry;
use copyback::ftl::core::Ftl;
use copyback::host::config::HostConfig;
use copyback::observe::report::{FlashWork, RequestRecord};
use copyback::run::RunError;
use copyback::run::config::RunConfig;
use copyback::run::preconditioning;
use copyback::run::simulation::{Setup, Simulation};
use copyback::workload::{Op, Request, rng};
use rand::RngExt;

const TIMES: Setting =
    "timing.read = \"50 us\"\ntiming.program = \"500 us\"\ntiming.erase = \"3 ms\"\ntiming.channel = \"200 MB/s\"";
const DRIVES: &[&[Setting]] = &[
    &[
        TIMES,
        "geometry.channels = 2\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 2\ngeometry.planes_per_die = 2",
        "geometry.blocks_per_plane = 12\ngeometry.pages_per_block = 8\ngeometry.page_size = \"4 KiB\"",
        "trigger.policy = \"watermark\"\ntrigger.soft = 2",
    ],
    &[
        TIMES,
        "geometry.channels = 1\ngeometry.chips_per_channel = 2\ngeometry.dies_per_chip = 1\ngeometry.planes_per_die = 4",
        "geometry.blocks_per_plane = 16\ngeometry.pages_per_block = 6",
        "geometry.page_size = \"16 KiB\"\ngeometry.mapping_unit = \"4 KiB\"",
        "trigger.policy = \"watermark\"\ntrigger.soft = 3\ntrigger.scope = \"device\"\nallocation.policy = \"dynamic\"",
        "precondition.mode = \"random\"\nprecondition.overwrites = 3.0",
        "granularity.policy = \"block\"\ngranularity.destination = \"global\"\n\
         frontier.policy = \"split\"\nvictim.policy = \"random\"",
        "buffer.policy = \"lru\"\nbuffer.size = \"256 KiB\"\nbuffer.latency = \"7 us\"",
        "compose.policy = \"list\"\ncompose.builders = [\"multi-plane\", \"cache\"]",
    ],
    &[
        TIMES,
        "geometry.channels = 1\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 2\ngeometry.planes_per_die = 1",
        "geometry.blocks_per_plane = 24\ngeometry.pages_per_block = 8\ngeometry.page_size = \"8 KiB\"",
        "trigger.policy = \"watermark\"\ntrigger.soft = 2\npreemption.policy = \"ideal\"\norder.policy = \"fifo\"",
        "buffer.policy = \"lru\"\nbuffer.size = \"64 KiB\"\nbuffer.latency = \"2 us\"",
        "admit.policy = \"window\"\nadmit.slots = 2",
    ],
];
const REQUESTS: usize = 2_000;

struct Results {
    records: Vec<RequestRecord>,
    work: Vec<FlashWork>,
}

fn run(drives: Vec<(&RunConfig, Ftl)>, requests: &[Request]) -> Result<Results, RunError> {
    let mut source = Vec::from(requests).into_iter();
    let setup = Setup {
        host: HostConfig::default(),
        source: &mut source,
        requests: None,
        check: true,
        keep_gc_events: true,
        keep_requests: true,
    };
    let mut simulation = Simulation::new(drives, setup);
    simulation.run(&mut |_| {})?;
    let work = simulation.back_ends().map(|d| d.counters().work().clone()).collect();
    Ok(Results { records: simulation.collector.take_records(), work })
}

/// Requests of one drive: a mix that keeps its planes collecting.
fn workload(geometry: &Geometry, device: u32) -> Vec<Request> {
    let mut stream = rng::stream(u64::from(device), "test.requests");
    let mut arrival_ns = u64::from(device) * 13;
    (0..REQUESTS)
        .map(|_| {
            arrival_ns += stream.random_range(0..900_000);
            let op = [Op::Write, Op::Write, Op::Write, Op::Read, Op::Read, Op::Trim][stream.random_range(0..6usize)];
            let len_bytes = [512, 4096, 5000, 40_000][stream.random_range(0..4usize)];
            let place = stream.random_range(0..=u32::MAX);
            Request { device, ..fitted(geometry, op, place, 512, len_bytes, arrival_ns) }
        })
        .collect()
}

fn each_as_if_alone(drives: &[usize]) {
    let configs: Vec<RunConfig> = drives.iter().map(|&d| configuration(DRIVES[d], 4).0).collect();
    configs.iter().for_each(|c| c.check().unwrap());
    let ftls: Vec<Ftl> = configs.iter().map(|c| preconditioning::preconditioned(c, 11).unwrap()).collect();
    let own: Vec<Vec<Request>> = ftls.iter().zip(0..).map(|(ftl, device)| workload(&ftl.geometry, device)).collect();
    // Requests of one moment are in the order of their drives. The order among drives must not matter, but each drive's
    // own order stays.
    let mut all: Vec<Request> = own.iter().flatten().copied().collect();
    all.sort_by_key(|r| r.arrival_ns);

    let together = run(configs.iter().zip(ftls.iter().cloned()).collect(), &all).unwrap();
    assert_eq!(together.records.len(), all.len());
    for (device, requests) in own.iter().enumerate() {
        let alone = run(vec![(&configs[device], ftls[device].clone())], requests).unwrap();
        assert!(alone.work[0].block_erases > 0, "drive {device} never collected");
        assert_eq!(together.work[device], alone.work[0], "work of drive {device}");
        // Numbers count over all drives there and over one here; order and everything else must agree.
        let number = |index: u64| all[..index as usize].iter().filter(|r| r.device as usize == device).count() as u64;
        let among: Vec<RequestRecord> = (together.records.iter())
            .filter(|r| all[r.index as usize].device as usize == device)
            .map(|r| RequestRecord { index: number(r.index), ..*r })
            .collect();
        let mut by_number = [among, alone.records];
        by_number.iter_mut().for_each(|records| records.sort_by_key(|r| r.index));
        let [among, alone] = by_number;
        for (a, b) in among.iter().zip(&alone) {
            assert_eq!(a, b, "drive {device} of {drives:?}");
        }
        assert_eq!(among.len(), alone.len());
    }
}

#[test]
fn two_equal_drives() {
    each_as_if_alone(&[0, 0]);
}

#[test]
fn two_drives_with_buffers_of_different_latency() {
    each_as_if_alone(&[1, 2]);
}

#[test]
fn three_different_drives() {
    each_as_if_alone(&[2, 0, 1]);
}

#[test]
fn a_request_for_a_drive_that_is_not_there_is_refused() {
    let (config, _) = configuration(DRIVES[0], 4);
    let ftl = || preconditioning::preconditioned(&config, 11).unwrap();
    let asked = [request(0, Op::Read, 0, 4096, 1), request(5, Op::Read, 0, 4096, 2)];
    let refused = run(vec![(&config, ftl()), (&config, ftl())], &asked).err().expect("there are two drives");
    assert!(matches!(refused, RunError::NoSuchDrive { index: 1, device: 2, drives: 2 }), "{refused}");
}
