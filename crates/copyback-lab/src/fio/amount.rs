//! The number of requests of a job, and of passes over its addresses, as measured with fio 3.33.

use super::job::{BytesOrShare, Job, READ, TRIM, WRITE};
use crate::failure::Failure;
use toml::{Table, Value};

/// The number of requests of a job that ends by time.
const WITHOUT_END: u64 = 1 << 50;

/// Largest rounding error of a computed number of requests.
const ROUNDING: f64 = 1e-9;

/// Whether the job has passes over its region. Without a map of blocks, fio has one pass of any length.
fn has_passes(job: &Job) -> bool {
    !job.pattern.is_random || job.ends_with_map()
}

/// The total amount of a job over all loops. `size` (its region) and `amount` (`io_size`) are both bytes or shares.
/// `rest` is so small an amount that fio does not begin another pass for it.
fn all(job: &Job, (size, amount): (f64, f64), rest: f64) -> f64 {
    let loops = job.extent.loops as f64;
    match has_passes(job) {
        // Beyond its size, fio counts trims and writes together, in whole passes.
        true if job.pattern.trims_first && amount > size => {
            let of_pass = 2.0 * size;
            let whole = (amount / of_pass).floor();
            let passes = if amount - whole * of_pass > rest { whole + 1.0 } else { whole };
            passes.max(loops) * size
        }
        true => (loops * amount).min((loops * size).max((amount / size).ceil() * size)),
        false => loops * amount,
    }
}

/// Whether fio ends a job with holes (`rw=read:8k`) at the end of its file, before the job has moved its size.
///
/// fio does so if the last request ends exactly there, and for some offsets: fio then compares an end that includes the
/// offset with one that does not.
pub fn ends_with_file(job: &Job, clone: u64) -> bool {
    let Some(BytesOrShare::Bytes(size)) = job.part_size(clone) else { return false };
    of_holed_pass(job, clone, size).is_some()
}

/// Requests of one operation up to the end of the file, if a job with holes ends there; `part`: bytes of its region.
fn of_holed_pass(job: &Job, clone: u64, part: u64) -> Option<u64> {
    match holed_pass(job, clone, part)? {
        HoledPass::Ends(requests) => Some(requests),
        HoledPass::GoesOn(_) => None,
    }
}

/// What fio does with holes at the end of the file, after this number of requests of an operation.
enum HoledPass {
    /// It ends the job.
    Ends(u64),
    /// It goes on, at twice the offset: it adds the offset once more.
    GoesOn(u64),
}

/// The pass of a job with holes; `part`: bytes of its region.
fn holed_pass(job: &Job, clone: u64, part: u64) -> Option<HoledPass> {
    // With `io_size`, fio begins again at the start until it is reached.
    if job.pattern.is_random || job.stride().is_some() || job.extent.io_size.is_some() || job.is_endless() {
        return None;
    }
    let block = job.only_size()?;
    let hole = match job.pattern.modifier.skip_bytes {
        0 => return None,
        forwards if forwards > 0 => forwards.unsigned_abs(),
        // A step back to before the start of the file ends the job.
        backwards => return (backwards.unsigned_abs() > part).then_some(HoledPass::Ends(1)),
    };
    let part = part - part % block;
    let step = block.checked_add(hole)?;
    let last = part.checked_sub(block)? / step;
    let offset = job.file_offset_of(clone).unwrap_or(0);
    let ends_there = last * step + block == part;
    let ends_behind_offset = offset > 0 && (last + 1).saturating_mul(step) < part.saturating_add(offset);
    match (ends_there || ends_behind_offset, offset) {
        (true, _) => Some(HoledPass::Ends(last + 1)),
        (false, 0) => None,
        (false, _) => Some(HoledPass::GoesOn(last + 1)),
    }
}

/// Refuses more requests than a pass has if fio begins the next one at twice the offset.
fn refuse_twice_the_offset(job: &Job, clone: u64, part: u64, requests: u64) -> Result<(), Failure> {
    match holed_pass(job, clone, part) {
        Some(HoledPass::GoesOn(of_pass)) if requests > of_pass => {
            let message = "its holes (`rw`) are larger than its offset: at the end of the file, fio 3.33 goes on at twice \
                           the offset, which is not simulated";
            let help = "lower what follows the colon of rw to the offset or less, or remove the offset";
            Err(job.at(&["offset", "offset_increment"]).wrong(message, help))
        }
        _ => Ok(()),
    }
}

/// Mean number of requests of a mix before one operation exceeds `each` requests.
fn until_one_ends(each: u64, read_share: f64) -> f64 {
    let [reads, writes] = [read_share, 1.0 - read_share];
    if reads <= 0.0 || writes <= 0.0 {
        return each as f64;
    }
    // The mean of the earlier of two times is half of their mean sum, less half of their mean distance. The distance is
    // estimated from two lower bounds, as the root of the sum of their squares: the distance of the means, and the mean
    // distance of a normal distribution around zero.
    let ends = each as f64 + 1.0;
    let means = [reads, writes].map(|share| ends / share);
    let deviation: f64 = [reads, writes].map(|share| (ends * (1.0 - share)).sqrt() / share).iter().sum();
    let (sum, apart) = (means[0] + means[1], means[0] - means[1]);
    let apart = (apart * apart + deviation * deviation * std::f64::consts::FRAC_2_PI).sqrt();
    (0.5 * (sum - apart) - 1.0).max(each as f64)
}

/// Converts bytes of a job to numbers of requests.
struct Counting {
    /// Mean bytes of a request.
    mean_bytes: f64,
    /// Requests of each write: 2 with a trim before it.
    times: u64,
}

impl Counting {
    fn new(job: &Job, read_share: f64) -> Self {
        let mean = |op: usize| job.sizes.blocks[op].mean();
        let mean_bytes = match job.pattern.ops {
            [_, _, true] => mean(TRIM),
            _ => read_share * mean(READ) + (1.0 - read_share) * mean(WRITE),
        };
        Self { mean_bytes, times: if job.pattern.trims_first { 2 } else { 1 } }
    }

    fn requests(&self, number: f64) -> u64 {
        (number.max(1.0) as u64).saturating_mul(self.times)
    }

    /// A pass over a region has the blocks that fit.
    fn of_pass(&self, bytes: f64) -> u64 {
        self.requests((bytes / self.mean_bytes).floor())
    }

    /// An amount in bytes is rounded up to whole requests.
    fn of_amount(&self, bytes: f64) -> u64 {
        self.requests((bytes / self.mean_bytes - ROUNDING).ceil())
    }
}

/// The end of a job: the first of its limits.
#[derive(Default)]
struct End {
    requests: Option<u64>,
    passes: Option<f64>,
    /// The value of `repeat_after`, if there are several passes.
    repeat_after: Option<Value>,
}

/// Inserts the keys that end a clone of a job: `requests`, `passes` and `repeat_after`.
///
/// fio ends a job after the bytes of its size, or by time.
pub fn insert(
    table: &mut Table,
    (job, clone): (&Job, u64),
    read_share: f64,
    align: u64,
    is_drive: bool,
) -> Result<(), Failure> {
    let counting = Counting::new(job, read_share);
    let end = match (job.part_size(clone), job.amount(clone)) {
        _ if job.is_endless() => End::default(),
        (Some(BytesOrShare::Bytes(size)), amount) => {
            refuse_small(job, size)?;
            end_in_bytes((job, clone), (size, amount), (&counting, read_share), align)?
        }
        (_, Some(BytesOrShare::Bytes(amount))) => End {
            requests: Some(counting.of_amount(amount as f64).saturating_mul(job.extent.loops)),
            repeat_after: Some(Value::from(1.0)),
            ..End::default()
        },
        (_, amount) if is_drive => end_in_shares(job, amount, counting.times),
        _ => End::default(),
    };
    let requests = requests_of(job, &end, counting.times)?;
    table.insert("requests".into(), Value::from(i64::try_from(requests).unwrap_or(i64::MAX)));
    table.extend(end.passes.map(|passes| ("passes".to_owned(), Value::from(passes))));
    // A new pass draws the same requests, unless randrepeat=0.
    if job.places.repeats_passes && job.pattern.is_random && job.ends_with_map() {
        table.extend(end.repeat_after.map(|repeat| ("repeat_after".to_owned(), repeat)));
    }
    Ok(())
}

/// Refuses a region that is smaller than a block.
fn refuse_small(job: &Job, size: u64) -> Result<(), Failure> {
    if size >= job.least_size() {
        return Ok(());
    }
    let opt = job.extent.size_option.as_ref().unwrap_or(&job.whole);
    Err(opt.wrong("the block size is too large for it", "raise the size, or lower bs"))
}

/// The end of a job whose region has a size in bytes.
fn end_in_bytes(
    (job, clone): (&Job, u64),
    (size, amount): (u64, Option<BytesOrShare>),
    (counting, read_share): (&Counting, f64),
    align: u64,
) -> Result<End, Failure> {
    let whole = (size - size % align).max(align);
    let amount = match amount {
        None if has_passes(job) => whole as f64,
        None => size as f64,
        Some(BytesOrShare::Bytes(bytes)) => bytes as f64,
        Some(BytesOrShare::Share(share)) => share * whole as f64,
    };
    // fio ends a job if less than its largest request is left.
    let all = all(job, (whole as f64, amount), job.largest_size().saturating_sub(1) as f64);
    let repeat_after = (all > whole as f64).then(|| Value::from(format!("{whole} B")));
    // If sizes are drawn, or shortened by fio's map, the number of requests that add up to these bytes is unknown.
    if job.only_size().is_none() || job.counts_by_own_size() {
        let passes = Some(all * counting.times as f64 / size as f64);
        return Ok(End { passes, repeat_after, ..End::default() });
    }
    let in_passes = requests_in_passes(job, (whole as f64, all), counting);
    refuse_twice_the_offset(job, clone, size, job.extent.number_ios.map_or(in_passes, |most| most.min(in_passes)))?;
    let requests = match of_holed_pass(job, clone, size) {
        Some(each) => {
            let of_loop = counting.requests(until_one_ends(each, read_share)).min(counting.of_amount(amount));
            of_loop.saturating_mul(job.extent.loops)
        }
        None => in_passes,
    };
    Ok(End { requests: Some(requests), repeat_after, ..End::default() })
}

/// The requests of `all` bytes in passes of `whole` bytes, and a rest.
fn requests_in_passes(job: &Job, (whole, all): (f64, f64), counting: &Counting) -> u64 {
    let passes = if has_passes(job) { (all / whole).floor() } else { 0.0 };
    let rest = all - passes * whole;
    let rest = if rest > 0.0 { counting.of_amount(rest) } else { 0 };
    let whole_passes = if passes > 0.0 { counting.of_pass(whole).saturating_mul(passes as u64) } else { 0 };
    whole_passes.saturating_add(rest)
}

/// The end of a job whose region is a share of the drive.
fn end_in_shares(job: &Job, amount: Option<BytesOrShare>, times: u64) -> End {
    let share = if let Some(BytesOrShare::Share(share)) = amount { share } else { 1.0 };
    let all = all(job, (1.0, share), ROUNDING);
    let repeat_after = (all > 1.0).then(|| Value::from(1.0));
    End { passes: Some(all * times as f64), repeat_after, ..End::default() }
}

/// The number of requests, with the limit of `number_ios`. A job without any end is refused.
fn requests_of(job: &Job, end: &End, times: u64) -> Result<u64, Failure> {
    let most = job.extent.number_ios.map(|most| most.saturating_mul(job.extent.loops).saturating_mul(times));
    if let Some(requests) = end.requests.into_iter().chain(most).min() {
        return Ok(requests);
    }
    if job.is_endless() || end.passes.is_some() {
        return Ok(WITHOUT_END);
    }
    let help = match job.whole.is_of_command_line() {
        true => "add for example --size=256m, --io_size=256m, --number_ios=10000 or --runtime=1s",
        false => "add size in bytes, io_size, number_ios or runtime",
    };
    Err(job.whole.wrong("nothing says when the job ends", help))
}
