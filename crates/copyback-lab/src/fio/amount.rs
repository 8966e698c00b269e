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

/// Whether fio ends a job whose requests have holes behind them at the end of its file, though it has not moved its
/// size: the last request ends there, or an offset is before the file, because fio compares ends with and without it.
pub fn ends_with_file(job: &Job, clone: u64) -> bool {
    let Some(Part::Bytes(size)) = job.part_size(clone) else { return false };
    of_holed_pass(job, clone, size).is_some()
}

/// Requests of one operation up to the end of the file, if a job with holes ends there; `part`: bytes of its part.
fn of_holed_pass(job: &Job, clone: u64, part: u64) -> Option<u64> {
    // With `io_size`, fio begins again at the start until it is reached.
    if job.pattern.is_random || job.stride().is_some() || job.extent.io_size.is_some() || job.is_endless() {
        return None;
    }
    let hole = u64::try_from(job.pattern.modifier.skip_bytes).ok().filter(|bytes| *bytes > 0)?;
    let mut sizes = job.used(|op| job.sizes.blocks[op].only());
    let block = sizes.next().flatten().filter(|first| sizes.all(|own| own == Some(*first)))?;
    let part = part - part % block;
    let step = block.checked_add(hole)?;
    let last = part.checked_sub(block)? / step;
    let offset = job.file_offset_of(clone).unwrap_or(0);
    let ends_there = last * step + block == part;
    let ends_behind_offset = offset > 0 && (last + 1).saturating_mul(step) < part.saturating_add(offset);
    (ends_there || ends_behind_offset).then_some(last + 1)
}

/// Requests of a mix until one more would be of an operation that has had `each`: the mean number.
fn until_one_ends(each: u64, read_share: f64) -> f64 {
    let [reads, writes] = [read_share, 1.0 - read_share];
    if reads <= 0.0 || writes <= 0.0 {
        return each as f64;
    }
    // The earlier of two times, of which one is the later, the earlier the other: half of their sum, less half of the
    // mean of what they are apart, which lies between that of their means and that of a normal law around zero.
    let ends = each as f64 + 1.0;
    let means = [reads, writes].map(|share| ends / share);
    let deviation: f64 = [reads, writes].map(|share| (ends * (1.0 - share)).sqrt() / share).iter().sum();
    let (sum, apart) = (means[0] + means[1], means[0] - means[1]);
    let apart = (apart * apart + deviation * deviation * std::f64::consts::FRAC_2_PI).sqrt();
    (0.5 * (sum - apart) - 1.0).max(each as f64)
}

/// What ends a clone of a job: fio ends it when as many bytes as its size are done, or with its time.
pub fn insert(
    table: &mut Table,
    (job, clone): (&Job, u64),
    read_share: f64,
    align: u64,
    is_drive: bool,
) -> Result<(), Failure> {
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
        match (job.part_size(clone), job.amount(clone)) {
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
                    if let Some(each) = of_holed_pass(job, clone, size) {
                        let of_loop = count(until_one_ends(each, read_share)).min(of_amount(amount));
                        requests = Some(of_loop.saturating_mul(job.extent.loops));
                    }
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
