use super::*;

/// Four drives of sixteen units behind RAID-5.
fn volume(more: &str) -> Volume {
    let text = format!("level = \"raid-5\"\ndrives = 4\n{more}");
    Volume::new(&toml::from_str(&text).expect("an array"), 16 * 4096, 4096, true)
}

fn write(volume: &mut Volume, id: u32, unit: u64, units: u64) {
    let asked = Request {
        arrival_ns: 0,
        offset_bytes: unit * 4096,
        len_bytes: units * 4096,
        device: 0,
        op: Op::Write,
        priority: Priority::Normal,
    };
    let request = HostRequest { asked, index: u64::from(id), arrival_ns: 0, was_held: false };
    volume.begin(RequestId(id), &request, None, 0, 0);
}

/// Parts that have begun: operation, drive.
fn begun(volume: &mut Volume) -> Vec<(RequestId, Op, u32)> {
    let mut parts = Vec::new();
    while let Some(id) = volume.next_part() {
        parts.push((id, volume.part(id).asked.op, volume.part(id).drive));
    }
    parts
}

/// Ends all parts in their order, until none begins any more; the requests that ended.
fn end_all(volume: &mut Volume) -> Vec<u32> {
    let mut ended = Vec::new();
    loop {
        let parts = begun(volume);
        if parts.is_empty() {
            return ended;
        }
        for (id, ..) in parts {
            ended.extend(volume.on_part_end(id, false, &[0; CAUSES], 0).map(|ended| ended.request.0));
        }
    }
}

#[test]
fn a_stripe_has_one_writer_at_a_time_in_the_order_of_arrival() {
    let mut volume = volume("");
    (0..3).for_each(|id| write(&mut volume, id, u64::from(id), 1));
    // Of the first stripe; the second one's writes wait for nobody.
    write(&mut volume, 3, 3, 3);
    let drives: Vec<_> =
        begun(&mut volume).into_iter().map(|(id, op, drive)| (volume.request_of(id).0, op, drive)).collect();
    let (read, write) = (Op::Read, Op::Write);
    let second = [(3, write, 3), (3, write, 0), (3, write, 1), (3, write, 2)];
    assert_eq!(drives[..2], [(0, read, 0), (0, read, 3)]);
    assert_eq!(drives[2..], second);
    assert_eq!(volume.totals().stripe_waits, 2);
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

/// What the check of parity would notice.
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
    // A drive's bits change, of data or of parity.
    let written_after = |volume: &mut Volume, member: u32| {
        volume.contents.as_mut().expect("it is checked").tamper(0, member, 0);
        write(volume, 1, 0, 1);
    };
    is_caught("stripe-parity: ", &|volume| written_after(volume, 1));
    is_caught("stripe-parity: ", &|volume| written_after(volume, 3));
    // Parity is written without reading the old.
    is_caught("stripe-parity: ", &|volume| {
        write(volume, 1, 0, 1);
        let reads = begun(volume);
        // The write goes on when one of two reads has ended.
        let operation = volume.parts.get(reads[1].0).operation;
        volume.operations[operation].reads_open -= 1;
        volume.on_part_end(reads[0].0, false, &[0; CAUSES], 0);
    });
    // Two writes have the stripe at once.
    is_caught("stripe-lock: ", &|volume| {
        write(volume, 1, 0, 1);
        volume.locks = Some(Locks::new(16));
        write(volume, 2, 1, 1);
    });
}
