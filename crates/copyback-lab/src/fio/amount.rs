//! How many requests a job has, and in how many passes over its addresses: as fio 3.33 was seen to do it.

use super::job::{Job, Part, READ, TRIM, WRITE};
use crate::failure::Failure;
use toml::{Table, Value};

/// Requests of a job that its time ends, and not their number.
const WITHOUT_END: u64 = 1 << 50;

/// Whole numbers of requests are computed with an error that is smaller.
const ROUNDING: f64 = 1e-9;

/// Whether a pass ends with the job's part: without a map of blocks fio writes on, as far as it has to.
fn has_passes(job: &Job) -> bool {
    !job.pattern.is_random || job.ends_with_map()
}

/// What a job asks for in all; `size` and `amount`, its part and what `io_size` says, are both bytes or both shares.
fn all(job: &Job, size: f64, amount: f64) -> f64 {
    let loops = job.extent.loops as f64;
    match has_passes(job) {
        true => (loops * amount).min((loops * size).max((amount / size).ceil() * size)),
        false => loops * amount,
    }
}

/// What ends a job: fio ends it when as many bytes as its size are done, or with its time.
pub fn insert(table: &mut Table, job: &Job, read_share: f64, align: u64, is_drive: bool) -> Result<(), Failure> {
    let mean = |op: usize| job.sizes.blocks[op].mean();
    let mean_bytes = match job.pattern.ops {
        [_, _, true] => mean(TRIM),
        _ => read_share * mean(READ) + (1.0 - read_share) * mean(WRITE),
    };
    // A trim and its write are two.
    let times = if job.pattern.trims_first { 2 } else { 1 };
    let count = |requests: f64| (requests.max(1.0) as u64).saturating_mul(times);
    // A pass over a region has the blocks that fit; what ends by its bytes goes on until it has as many.
    let of_pass = |bytes: f64| count((bytes / mean_bytes).floor());
    let of_amount = |bytes: f64| count((bytes / mean_bytes - ROUNDING).ceil());
    // Sizes that are drawn add up to these bytes after a number of requests that is not known before.
    let mut sizes = job.used(|op| job.sizes.blocks[op].only());
    let first = sizes.next().flatten();
    let is_mixed = first.is_none() || sizes.any(|own| own != first);
    let (mut requests, mut passes, mut repeat) = (None, None, None);
    if !job.is_endless() {
        match (job.part_size(), job.amount()) {
            (Some(Part::Bytes(size)), amount) => {
                if size < job.used(|op| job.sizes.blocks[op].least()).min().unwrap_or(0) {
                    let opt = job.extent.sized_by.as_ref().unwrap_or(&job.whole);
                    return Err(opt.wrong("the block size is too large for it", "raise the size, or lower bs"));
                }
                let whole = (size - size % align).max(align);
                let has_passes = has_passes(job);
                let amount = match amount {
                    None if has_passes => whole as f64,
                    None => size as f64,
                    Some(Part::Bytes(bytes)) => bytes as f64,
                    Some(Part::Share(share)) => share * whole as f64,
                };
                let all = all(job, whole as f64, amount);
                repeat = (all > whole as f64).then(|| Value::from(format!("{whole} B")));
                if is_mixed {
                    passes = Some(all * times as f64 / size as f64);
                } else {
                    let passes = if has_passes { (all / whole as f64).floor() } else { 0.0 };
                    let rest = all - passes * whole as f64;
                    let rest = if rest > 0.0 { of_amount(rest) } else { 0 };
                    let whole_passes =
                        if passes > 0.0 { of_pass(whole as f64).saturating_mul(passes as u64) } else { 0 };
                    requests = Some(whole_passes.saturating_add(rest));
                }
            }
            (_, Some(Part::Bytes(amount))) => {
                requests = Some(of_amount(amount as f64).saturating_mul(job.extent.loops));
                repeat = Some(Value::from(1.0));
            }
            (_, amount) if is_drive => {
                let share = if let Some(Part::Share(share)) = amount { share } else { 1.0 };
                let all = all(job, 1.0, share);
                passes = Some(all * times as f64);
                repeat = (all > 1.0).then(|| Value::from(1.0));
            }
            _ => {}
        }
    }
    let most = job.extent.number_ios.map(|most| most.saturating_mul(job.extent.loops).saturating_mul(times));
    let requests = match (requests, most) {
        (Some(requests), Some(most)) => requests.min(most),
        (Some(requests), None) | (None, Some(requests)) => requests,
        (None, None) if job.is_endless() || passes.is_some() => WITHOUT_END,
        (None, None) => {
            let help = match job.whole.is_of_command_line() {
                true => "add for example --size=256m, --io_size=256m, --number_ios=10000 or --runtime=1s",
                false => "add size in bytes, io_size, number_ios or runtime",
            };
            return Err(job.whole.wrong("nothing says when the job ends", help));
        }
    };
    table.insert("requests".into(), Value::from(i64::try_from(requests).unwrap_or(i64::MAX)));
    table.extend(passes.map(|passes| ("passes".to_owned(), Value::from(passes))));
    // A new pass draws the same requests, unless randrepeat=0.
    if job.places.repeats_passes && job.pattern.is_random && job.ends_with_map() {
        table.extend(repeat.map(|repeat| ("repeat_after".to_owned(), repeat)));
    }
    Ok(())
}
