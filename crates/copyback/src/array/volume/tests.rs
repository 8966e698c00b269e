use super::*;

/// Four drives of sixteen units in RAID-5.
fn volume(more: &str) -> Volume {
    let text = format!("level = \"raid-5\"\ndrives = 4\n{more}");
    Volume::new(&crate::config::from_toml(&text).expect("an array"), 16 * 4096, 4096, true)
}

fn ask(volume: &mut Volume, id: u32, op: Op, unit: u64, units: u64) {
    let asked = Request {
        arrival_ns: 0,
        offset_bytes: unit * 4096,
        len_bytes: units * 4096,
        device: 0,
        op,
        priority: Priority::Normal,
    };
    let request = HostRequest { asked, index: u64::from(id), arrival_ns: 0, was_held: false, tenant: 0 };
    volume.begin(RequestId(id), &request, None, 0, 0);
}

fn write(volume: &mut Volume, id: u32, unit: u64, units: u64) {
    ask(volume, id, Op::Write, unit, units);
}

fn read(volume: &mut Volume, id: u32, unit: u64) {
    ask(volume, id, Op::Read, unit, 1);
}

/// The requests whose parts have begun since the last call.
fn who_begins(volume: &mut Volume) -> (Vec<RequestId>, Vec<u32>) {
    let parts: Vec<RequestId> = begun(volume).into_iter().map(|(id, ..)| id).collect();
    let mut who: Vec<u32> = parts.iter().map(|&id| volume.request_of(id).0).collect();
    who.dedup();
    (parts, who)
}

fn end(volume: &mut Volume, parts: Vec<RequestId>) -> Vec<u32> {
    let ended = parts.into_iter().filter_map(|id| volume.on_part_end(id, false, &[0; CAUSES], 0, 0));
    ended.map(|ended| ended.request.0).collect()
}

/// Parts that have begun: operation, drive.
fn begun(volume: &mut Volume) -> Vec<(RequestId, Op, u32)> {
    let mut parts = Vec::new();
    while let Some(id) = volume.next_part() {
        parts.push((id, volume.part(id).asked.op, volume.part(id).drive));
    }
    parts
}

/// Ends all parts in their order, until none begins any more; returns the requests that ended.
fn end_all(volume: &mut Volume) -> Vec<u32> {
    let mut ended = Vec::new();
    loop {
        let parts = begun(volume);
        if parts.is_empty() {
            return ended;
        }
        for (id, ..) in parts {
            ended.extend(volume.on_part_end(id, false, &[0; CAUSES], 0, 0).map(|ended| ended.request.0));
        }
    }
}

/// A closed loop issues a request later than its trace says. A drive counts the controller delay from then on, not from
/// the trace's arrival.
#[test]
fn the_delay_counts_from_the_arrival_in_the_loop() {
    let mut volume = volume("delay = \"5 us\"");
    let asked = Request {
        arrival_ns: 100,
        offset_bytes: 0,
        len_bytes: 4096,
        device: 0,
        op: Op::Read,
        priority: Priority::Normal,
    };
    let request = HostRequest { asked, index: 0, arrival_ns: 40_000, was_held: false, tenant: 0 };
    assert_eq!(volume.begin(RequestId(0), &request, None, 0, 40_000), Some(45_000));
    assert_eq!(volume.on_delay(0, 45_000), None);
    let part = volume.next_part().expect("it is for one drive");
    assert_eq!(volume.part(part).asked.arrival_ns, 40_000);
}

/// A trim of less than a unit discards nothing. Its address is the volume's, beyond the end of the drive that completes
/// it.
#[test]
fn an_empty_trim_is_within_its_drive() {
    let mut volume = volume("");
    let asked = Request {
        arrival_ns: 0,
        offset_bytes: 40 * 4096 + 512,
        len_bytes: 512,
        device: 0,
        op: Op::Trim,
        priority: Priority::Normal,
    };
    let request = HostRequest { asked, index: 0, arrival_ns: 0, was_held: false, tenant: 0 };
    volume.begin(RequestId(0), &request, None, 0, 0);
    let part = volume.next_part().expect("a drive completes it");
    let Request { offset_bytes, len_bytes, .. } = volume.part(part).asked;
    assert_eq!((offset_bytes, len_bytes), (0, 0));
}

/// Three data units and a parity unit in each stripe. A write of one unit reads the old data and the old parity: two
/// units, as many as reconstruction reads, and a tie is a read-modify-write. A write of two units reads the third one.
/// A write of all three reads nothing.
#[test]
fn partial_writes_are_counted_by_what_they_read() {
    let mut volume = volume("");
    for (id, units) in [1, 2, 3].into_iter().enumerate() {
        write(&mut volume, id as u32, 3 * id as u64, units);
        assert_eq!(end_all(&mut volume), [id as u32]);
    }
    let totals = volume.totals();
    assert_eq!((totals.read_modify_writes, totals.reconstruct_writes, totals.full_stripe_writes), (1, 1, 1));
    assert_eq!(totals.reads_before_writes, 2 + 1);
}

#[test]
fn a_stripe_has_one_writer_at_a_time_in_the_order_of_arrival() {
    let mut volume = volume("");
    (0..3).for_each(|id| write(&mut volume, id, u64::from(id), 1));
    // The writes above are in the first stripe. This one is in the second, and does not wait.
    write(&mut volume, 3, 3, 3);
    let drives: Vec<_> =
        begun(&mut volume).into_iter().map(|(id, op, drive)| (volume.request_of(id).0, op, drive)).collect();
    let (read, write) = (Op::Read, Op::Write);
    let second = [(3, write, 3), (3, write, 0), (3, write, 1), (3, write, 2)];
    assert_eq!(drives[..2], [(0, read, 0), (0, read, 3)]);
    assert_eq!(drives[2..], second);
    assert_eq!(volume.totals().stripe_waits, 2);
}

/// Reads that arrive while a stripe is written begin together, up to the next write, which locks it exclusively after
/// them.
#[test]
fn readers_share_a_stripe_and_writers_do_not() {
    let mut volume = volume("");
    write(&mut volume, 0, 0, 3);
    (1..4).for_each(|id| read(&mut volume, id, 1));
    write(&mut volume, 4, 0, 3);
    (5..7).for_each(|id| read(&mut volume, id, 2));
    let mut order = Vec::new();
    for _ in 0..4 {
        let (parts, who) = who_begins(&mut volume);
        order.push(who);
        end(&mut volume, parts);
    }
    assert_eq!(order, [vec![0], vec![1, 2, 3], vec![4], vec![5, 6]]);
    volume.check_end();
    // The stripe is free, and no operation waits any more.
    (7..9).for_each(|id| read(&mut volume, id, 0));
    assert_eq!(who_begins(&mut volume).1, [7, 8]);
    assert_eq!(volume.totals().stripe_waits, 6);
}

/// Reads that rebuild a unit share the stripe with other reads, and a write waits for all of them.
#[test]
fn rebuilt_reads_share_their_stripe() {
    let mut volume = volume("failed = [0]");
    (0..3).for_each(|id| read(&mut volume, id, 0));
    write(&mut volume, 3, 1, 1);
    // The second member of the stripe exists; a read of it that follows a write waits for the write.
    read(&mut volume, 4, 1);
    let (mut parts, who) = who_begins(&mut volume);
    assert_eq!((parts.len(), who), (9, vec![0, 1, 2]));
    let last = parts.split_off(6);
    assert_eq!(end(&mut volume, parts), [0, 1]);
    assert_eq!(who_begins(&mut volume).1, Vec::<u32>::new());
    assert_eq!(end(&mut volume, last), [2]);
    assert_eq!(who_begins(&mut volume).1, [3]);
}

/// A waiting operation takes over the stripe holder's share of waits: 600 of the 1,000 ns of a write were collection's.
#[test]
fn collection_is_behind_a_stripe_that_waits_for_it() {
    let mut volume = volume("");
    (0..2).for_each(|id| write(&mut volume, id, 0, 3));
    let mut breakdown_ns = [0; CAUSES];
    (breakdown_ns[Cause::Gc as usize], breakdown_ns[Cause::Flash as usize]) = (600, 400);
    for (part, ..) in begun(&mut volume) {
        volume.on_part_end(part, true, &breakdown_ns, 0, 1_000);
    }
    let mut ended = None;
    for (part, ..) in begun(&mut volume) {
        ended = volume.on_part_end(part, false, &[0; CAUSES], 0, 1_000).or(ended);
    }
    let ended = ended.expect("it is done");
    let of = |cause: Cause| ended.breakdown_ns[cause as usize];
    assert_eq!((ended.gc_affected, of(Cause::Gc), of(Cause::HostIo)), (true, 600, 400));
}

/// Each failed drive is rebuilt at the rate, also if two of them are in different pairs. The rebuild ends with the last
/// stripe that a failed drive has.
#[test]
fn each_failed_drive_is_rebuilt_at_the_rate() {
    let ends_ns = |failed: &str| {
        let text = format!("level = \"raid-10\"\ndrives = 4\nfailed = {failed}\nrebuild = \"4.096 MB/s\"");
        let mut volume = Volume::new(&crate::config::from_toml(&text).expect("an array"), 16 * 4096, 4096, true);
        let mut now_ns = 0;
        loop {
            volume.on_rebuild_due(now_ns);
            loop {
                let parts = begun(&mut volume);
                if parts.is_empty() {
                    break;
                }
                for (id, ..) in parts {
                    volume.on_part_end(id, false, &[0; CAUSES], 0, now_ns);
                }
            }
            let Some(due_ns) = volume.take_rebuild_due() else {
                let totals = volume.totals();
                return (totals.units_rebuilt, totals.rebuilt_at_ns, now_ns);
            };
            now_ns = due_ns;
        }
    };
    // 16 rows, a millisecond each; the parts of this test take no time.
    assert_eq!(ends_ns("[0]"), (16, 15_000_000, 16_000_000));
    assert_eq!(ends_ns("[2]"), (16, 15_000_000, 16_000_000));
    assert_eq!(ends_ns("[0, 2]"), (32, 15_000_000, 16_000_000));
}

#[test]
fn requests_end_once_and_leave_nothing() {
    let mut volume = volume("");
    (0..20).for_each(|id| write(&mut volume, id, u64::from(id) % 7, 1 + u64::from(id) % 5));
    let mut ended = end_all(&mut volume);
    ended.sort_unstable();
    assert_eq!(ended, (0..20).collect::<Vec<_>>());
    volume.check_end();
    assert!(volume.totals().stripe_waits > 10);
}

/// Checks that the check of parity detects a change.
fn is_caught(by: &str, break_it: &dyn Fn(&mut Volume)) {
    let tried = std::panic::AssertUnwindSafe(|| {
        let mut volume = volume("");
        write(&mut volume, 0, 0, 3);
        end_all(&mut volume);
        break_it(&mut volume);
        end_all(&mut volume);
    });
    let caught = std::panic::catch_unwind(tried);
    let text = *caught.expect_err("it is noticed").downcast::<String>().expect("with a text");
    assert!(text.starts_with(by), "{text}");
}

#[test]
fn parity_that_is_not_that_of_the_data_is_noticed() {
    // The bits of a drive change, of data or of parity.
    let written_after = |volume: &mut Volume, member: u32| {
        volume.contents.as_mut().expect("it is checked").tamper(0, member, 0);
        write(volume, 1, 0, 1);
    };
    is_caught("stripe-parity: ", &|volume| written_after(volume, 1));
    is_caught("stripe-parity: ", &|volume| written_after(volume, 3));
    // Parity is written without a read of the old parity.
    is_caught("stripe-parity: ", &|volume| {
        write(volume, 1, 0, 1);
        let reads = begun(volume);
        // The write continues when one of two reads has completed.
        let operation = volume.parts.get(reads[1].0).operation;
        volume.operations[operation].reads_open -= 1;
        volume.on_part_end(reads[0].0, false, &[0; CAUSES], 0, 0);
    });
    // A read of a lost unit is rebuilt from the others, one of which has changed.
    let tried = std::panic::AssertUnwindSafe(|| {
        let mut volume = volume("failed = [0]");
        write(&mut volume, 0, 0, 3);
        end_all(&mut volume);
        volume.contents.as_mut().expect("it is checked").tamper(0, 2, 0);
        read(&mut volume, 1, 0);
        end_all(&mut volume);
    });
    let caught = std::panic::catch_unwind(tried).expect_err("it is noticed");
    let text = caught.downcast::<String>().expect("with a text");
    assert!(text.starts_with("stripe-parity: data of member 0"), "{text}");
    // Two writes hold the stripe at once.
    is_caught("stripe-lock: ", &|volume| {
        write(volume, 1, 0, 1);
        volume.locks = Some(Locks::new(16));
        write(volume, 2, 1, 1);
    });
}
