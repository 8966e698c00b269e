//! The steps of a job, and their order.

use super::*;
use crate::flash::geometry::Geometry;
use crate::run::config::RunConfig;
use crate::sim::index::LogicalUnit;

/// Blocks of 8 units, two a page: 4 pages a block.
fn next_step(job: &mut Job, stale: &[u32]) -> Option<Step> {
    let page_of = |unit: PhysicalUnit| PageId(unit.0 / 2);
    job.next_step(2, page_of, |unit| unit.0 / 2 % 4, |m| !stale.contains(&m.from.0))
}

fn job(footprint: Footprint, places: &[u32]) -> Job {
    let purpose = Purpose { source: Source::GC, picks_victim: false, reserves_die: true };
    let mut job = Job::new(purpose, DieId(0), footprint, 1).filling(JobFill::Pages, 2);
    let mut moves: Vec<_> = places.iter().map(|&at| Move { from: PhysicalUnit(at), unit: LogicalUnit(at) }).collect();
    order_by_rows(&mut moves, |unit| unit.0 / 2 % 4);
    job.begin(BlockId(0), moves, 0, 1);
    job
}

/// Two planes; the second begins with block 8, and unit 64.
pub(crate) fn geometry() -> Geometry {
    let config: RunConfig = crate::config::from_toml(
        "geometry = { channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 8,
                      pages_per_block = 4, page_size = \"8 KiB\", mapping_unit = \"4 KiB\" }
         timing = { read = \"1 us\", program = \"1 us\", erase = \"1 us\", channel = \"1 GB/s\" }
         capacity = { over_provisioning = 1.0 }",
    )
    .expect("it is a configuration");
    Geometry::new(&config.device())
}

/// The reads and programs, row by row, until the erase; each step ends before the next is requested. At each step, the
/// counts of remaining pages equal a recount.
fn steps(job: &mut Job, stale: &[u32]) -> Vec<Vec<u32>> {
    let (mut steps, geometry) = (Vec::new(), geometry());
    job.keep_pages_left(&geometry);
    loop {
        for plane in job.footprint().planes() {
            assert_eq!(job.pages_left_on(plane), job.count_pages_left_on(plane, &geometry), "{plane:?}: {steps:?}");
        }
        let (from, to) = match next_step(job, stale).expect("none is under way") {
            Step::Read { end } => (std::mem::replace(&mut job.next, end), end),
            Step::Program { units } => {
                job.take_for_program(units, PlaneId(0));
                (job.programmed - units, job.programmed)
            }
            Step::Erase => {
                assert!(job.footprint().planes().all(|plane| job.pages_left_on(plane) == 0), "{steps:?}");
                return steps;
            }
        };
        steps.push(job.moves[from..to].iter().map(|m| m.from.0).collect());
    }
}

#[test]
fn a_row_is_read_and_programmed_as_it_was() {
    let blocks = Footprint::one(PlaneId(0), BlockId(0)).and(PlaneId(1), BlockId(8));
    // Pages 0 of both blocks, page 1 of the second, page 3 of the first.
    let mut row = job(blocks, &[0, 1, 6, 64, 67]);
    assert_eq!(steps(&mut row, &[]), [vec![0, 1, 64], vec![0, 1, 64], vec![67], vec![67], vec![6], vec![6]]);
    let mut row = job(blocks, &[0, 1, 6, 64, 67]);
    assert_eq!(steps(&mut row, &[0, 67]), [vec![1, 64], vec![1, 64], vec![6], vec![6]]);
    assert_eq!(row.dropped, 2, "what was written meanwhile is not moved");
}

#[test]
fn one_block_gathers_units_of_several_pages() {
    let mut one = job(Footprint::one(PlaneId(0), BlockId(0)), &[0, 2, 3]);
    assert_eq!(steps(&mut one, &[]), [vec![0], vec![2, 3], vec![0, 2], vec![3]]);
}

#[test]
fn no_step_follows_one_that_is_under_way() {
    let mut one = job(Footprint::one(PlaneId(0), BlockId(0)), &[0]);
    one.is_stepping = true;
    assert_eq!(next_step(&mut one, &[]), None);
}

/// A job with cold moves from the places `cold` and hot moves from the places `hot`.
fn job_with_hot(footprint: Footprint, cold: &[u32], hot: &[u32]) -> Job {
    let mut with_hot = job(footprint, cold);
    let moves = hot.iter().map(|&at| Move { from: PhysicalUnit(at), unit: LogicalUnit(at) });
    with_hot.hot_mut().extend(moves);
    with_hot
}

#[test]
fn hot_units_follow_the_others_and_share_no_page_with_them() {
    let block = Footprint::one(PlaneId(0), BlockId(0));
    let mut one = job_with_hot(block, &[0, 2, 3], &[1, 6]);
    assert_eq!((one.moves_left(), one.pages_left(2)), (5, 3));
    let cold = [vec![0], vec![2, 3], vec![0, 2], vec![3]];
    let hot = [vec![1], vec![6], vec![1, 6]];
    assert_eq!(steps(&mut one, &[]), [&cold[..], &hot].concat());
    // Units that were written meanwhile are moved in neither part.
    let mut one = job_with_hot(block, &[0, 2], &[1, 6]);
    assert_eq!(steps(&mut one, &[0, 2, 1]), [vec![6], vec![6]]);
    assert_eq!(one.dropped, 3);
    let mut one = job_with_hot(block, &[], &[1]);
    assert_eq!(steps(&mut one, &[1]), Vec::<Vec<u32>>::new());
}

#[test]
fn rows_of_hot_units_follow_the_others() {
    let blocks = Footprint::one(PlaneId(0), BlockId(0)).and(PlaneId(1), BlockId(8));
    let mut row = job_with_hot(blocks, &[0, 64], &[1, 6]);
    assert_eq!(steps(&mut row, &[]), [vec![0, 64], vec![0, 64], vec![1], vec![1], vec![6], vec![6]]);
    // Its page 0 needs a program for each kind.
    let mut row = job_with_hot(blocks, &[0, 64], &[1, 6]);
    row.keep_pages_left(&geometry());
    assert_eq!([0, 1].map(|plane| row.pages_left_on(PlaneId(plane))), [3, 1]);
}
