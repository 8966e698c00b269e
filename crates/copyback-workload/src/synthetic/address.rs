//! Addresses of generated requests.

mod numbers;

use super::zipf::{Scatter, Zipf};
use crate::Op;
use crate::rng::{self, Xoshiro256PlusPlus, below, unit_f64};
use crate::spec::{AddressKind, AddressSpec, HotScope};
use crate::units::counted;
use numbers::Numbers;

/// A distribution of addresses over the footprint, and the end of the last request.
pub(crate) struct Addresses {
    law: AddressLaw,
    sequential_share: f64,
    rng: Xoshiro256PlusPlus,
    sequential_rng: Xoshiro256PlusPlus,
    align_bytes: u64,
    footprint_bytes: u64,
    /// The end of the last request: one for each operation if these continue separately, otherwise one for all.
    last_end_bytes: [u64; 3],
    are_apart: bool,
    /// Distance from the end of a request to the start of the request that continues it; negative if it goes back.
    skip_bytes: i64,
    /// Bytes between two skips, and bytes since the last skip.
    skip_every_bytes: u64,
    since_skip_bytes: [u64; 3],
    /// The current run, if one address is drawn for several requests.
    run: Option<Run>,
    spilled: u64,
    /// Requests of listed blocks, or of each block once, that would reach beyond the footprint.
    moved: u64,
}

/// The addresses of a request, and its device.
pub(crate) struct Extent {
    pub(crate) offset_bytes: u64,
    pub(crate) len_bytes: u64,
    pub(crate) device: u32,
}

/// A run: requests for which one address is drawn.
struct Run {
    length: u64,
    left: u64,
    repeats: bool,
    last_start_bytes: [u64; 3],
}

impl Run {
    /// Counts the next request, and returns whether it gets a new address.
    fn count_request(&mut self) -> bool {
        self.left -= 1;
        let is_new = self.left == 0;
        if is_new {
            self.left = self.length;
        }
        is_new
    }
}

enum AddressLaw {
    Uniform,
    Once(Round),
    Numbered(Numbers),
    Zipf { law: Zipf, scatter: Scatter },
    SelfSimilar { blocks: u64, exponent: f64, scatter: Scatter },
    Zones(Vec<Zone>),
    Listed(Listed),
    HotCold { hot_share: f64, hot_bytes: u64, scope: HotScope },
    Array(ArraySkew),
}

/// Each block once, in a new order in each round.
struct Round {
    scatter: Scatter,
    blocks: u64,
    first_seed: u64,
    seed: u64,
    taken: u64,
}

impl Round {
    fn new(blocks: u64, seed: u64) -> Self {
        Self { scatter: Scatter::new(blocks, seed), blocks, first_seed: seed, seed, taken: 0 }
    }

    fn next(&mut self) -> u64 {
        if self.taken == self.blocks {
            let seed = rng::splitmix64(self.seed);
            *self = Self { first_seed: self.first_seed, ..Self::new(self.blocks, seed) };
        }
        self.taken += 1;
        self.scatter.place(self.taken - 1)
    }
}

/// Blocks in turn, separately for reads, writes and trims.
struct Listed {
    blocks: Vec<u64>,
    /// Whether each round is shifted by the length of the list.
    advances: bool,
    taken: [u64; 3],
}

impl Listed {
    fn next(&mut self, op: Op) -> u64 {
        let length = self.blocks.len() as u64;
        let taken = &mut self.taken[op as usize];
        let (round, at) = (*taken / length, *taken % length);
        *taken += 1;
        self.blocks[at as usize].saturating_add(if self.advances { round * length } else { 0 })
    }
}

/// A part of the footprint.
struct Zone {
    /// The share of the requests to it and to all zones before it.
    until_share: f64,
    start_bytes: u64,
    end_bytes: u64,
}

struct ArraySkew {
    drive: u64,
    drives: u64,
    drive_share: f64,
    stripe_bytes: u64,
    per_drive: bool,
}

impl Addresses {
    /// The distribution of a spec that passed its check.
    pub(crate) fn new(spec: Option<&AddressSpec>, align_bytes: u64, footprint_bytes: u64, seed: u64) -> Self {
        Self {
            law: spec.map_or(AddressLaw::Uniform, |spec| address_law(spec, align_bytes, footprint_bytes, seed)),
            sequential_share: spec.and_then(|spec| spec.sequential_share).unwrap_or(0.0),
            rng: rng::stream(seed, "workload.address"),
            sequential_rng: rng::stream(seed, "workload.sequential"),
            align_bytes,
            footprint_bytes,
            last_end_bytes: [0; 3],
            are_apart: spec.and_then(|spec| spec.sequential_by_op).unwrap_or(false),
            skip_bytes: spec.map_or(0, skip),
            skip_every_bytes: spec.and_then(|spec| spec.skip_every).map_or(0, |every| every.0),
            since_skip_bytes: [0; 3],
            run: spec
                .and_then(|spec| Some((spec.run_length?, spec.run_repeats.unwrap_or(false))))
                .map(|(length, repeats)| Run { length, left: 1, repeats, last_start_bytes: [0; 3] }),
            spilled: 0,
            moved: 0,
        }
    }

    /// Draws the same addresses again, as [`Self::new`] with this seed would.
    pub(crate) fn begin_again(&mut self, seed: u64) {
        self.rng = rng::stream(seed, "workload.address");
        self.sequential_rng = rng::stream(seed, "workload.sequential");
        self.last_end_bytes = [0; 3];
        self.since_skip_bytes = [0; 3];
        if let Some(run) = &mut self.run {
            (run.left, run.last_start_bytes) = (1, [0; 3]);
        }
        match &mut self.law {
            AddressLaw::Once(round) => *round = Round::new(round.blocks, round.first_seed),
            AddressLaw::Numbered(numbers) => numbers.free_all(),
            AddressLaw::Listed(listed) => listed.taken = [0; 3],
            _ => {}
        }
    }

    /// The extent of a request; `None` if there is none left. `len_bytes` is at most the footprint; if the request does
    /// not continue the last one, it begins at a multiple of `offset_align_bytes`. `least_bytes`: the smallest size of
    /// the operation.
    pub(crate) fn draw(
        &mut self,
        op: Op,
        (least_bytes, mut len_bytes): (u64, u64),
        offset_align_bytes: u64,
    ) -> Option<Extent> {
        if let AddressLaw::Array(array) = &self.law {
            let (offset_bytes, drive) = array.draw(&mut self.rng, self.align_bytes, self.footprint_bytes, len_bytes);
            self.spilled += u64::from(!array.per_drive && len_bytes > array.stripe_bytes);
            return Some(Extent { offset_bytes, len_bytes, device: u32::try_from(drive).unwrap_or(u32::MAX) });
        }
        let of = if self.are_apart { op as usize } else { 0 };
        // A run that reaches the end of the footprint gets a new address there.
        let fits = self.last_end_bytes[of] + len_bytes <= self.footprint_bytes;
        let run = self.run.as_mut().map(|run| (run.count_request(), run.repeats, run.last_start_bytes[of]));
        let in_run = run.is_some_and(|(is_new, repeats, _)| !is_new && (repeats || fits));
        let sequential =
            in_run || (self.sequential_share > 0.0 && unit_f64(&mut self.sequential_rng) < self.sequential_share);
        let offset_bytes = match run {
            Some((_, true, last_start_bytes)) if in_run => last_start_bytes.min(self.footprint_bytes - len_bytes),
            _ if sequential => self.continued(of, len_bytes),
            _ => {
                let drawn_bytes = self.random(op, (least_bytes, &mut len_bytes), offset_align_bytes)?;
                drawn_bytes - drawn_bytes % offset_align_bytes
            }
        };
        self.last_end_bytes[of] = offset_bytes + len_bytes;
        self.since_skip_bytes[of] += len_bytes;
        if let Some(run) = &mut self.run {
            run.last_start_bytes[of] = offset_bytes;
        }
        Some(Extent { offset_bytes, len_bytes, device: 0 })
    }

    /// The start of a request that continues the last one: its end, plus the skip if one is due. If this request would
    /// not fit, it begins at the footprint's start. If a skip back would pass the footprint's start, it counts from the
    /// footprint's end instead.
    fn continued(&mut self, of: usize, len_bytes: u64) -> u64 {
        let last_end_bytes = self.last_end_bytes[of];
        if self.since_skip_bytes[of] < self.skip_every_bytes {
            return if last_end_bytes + len_bytes <= self.footprint_bytes { last_end_bytes } else { 0 };
        }
        self.since_skip_bytes[of] = 0;
        if self.skip_bytes < 0 && last_end_bytes > 0 {
            let back_bytes = self.skip_bytes.unsigned_abs();
            let start_bytes = last_end_bytes.checked_sub(back_bytes);
            let start_bytes = start_bytes.unwrap_or(self.footprint_bytes.saturating_sub(back_bytes));
            return start_bytes.min(self.footprint_bytes - len_bytes);
        }
        let start_bytes = match last_end_bytes {
            0 => 0,
            end_bytes => end_bytes.saturating_add_signed(self.skip_bytes),
        };
        if start_bytes.saturating_add(len_bytes) <= self.footprint_bytes { start_bytes } else { 0 }
    }

    /// The next address of the distribution, or of its list. Shortens a request that would reach into a block that
    /// `numbered` has taken.
    fn random(&mut self, op: Op, (least_bytes, len_bytes): (u64, &mut u64), own_align: u64) -> Option<u64> {
        let align = self.align_bytes;
        let last_start = self.footprint_bytes - *len_bytes;
        Some(match &mut self.law {
            AddressLaw::Numbered(numbers) => {
                let count = (self.footprint_bytes / own_align).max(1);
                let numbered = [least_bytes, *len_bytes].map(|bytes| bytes.div_ceil(own_align).clamp(1, count));
                let (first, length) = numbers.next(&mut self.rng, count, numbered)?;
                *len_bytes = (*len_bytes).min(length * own_align);
                (first * own_align).min(self.footprint_bytes - *len_bytes)
            }
            AddressLaw::Once(round) => {
                let start = round.next() * align;
                self.moved += u64::from(start > last_start);
                start.min(last_start)
            }
            AddressLaw::Zipf { law, scatter } => {
                let block = scatter.place(law.draw(&mut self.rng) - 1);
                (block * align).min(last_start)
            }
            AddressLaw::SelfSimilar { blocks, exponent, scatter } => {
                let rank = (*blocks as f64 * libm::pow(unit_f64(&mut self.rng), *exponent)) as u64;
                (scatter.place(rank.min(*blocks - 1)) * align).min(last_start)
            }
            AddressLaw::Zones(zones) => {
                let share = unit_f64(&mut self.rng);
                let at = zones.partition_point(|zone| zone.until_share <= share).min(zones.len() - 1);
                let Zone { start_bytes, end_bytes, .. } = zones[at];
                (start_bytes + below(&mut self.rng, (end_bytes - start_bytes) / align) * align).min(last_start)
            }
            AddressLaw::Listed(listed) => {
                let start = listed.next(op).saturating_mul(align);
                self.moved += u64::from(start > last_start);
                start.min(last_start)
            }
            AddressLaw::HotCold { hot_share, hot_bytes, scope } => {
                let is_cold_draw = unit_f64(&mut self.rng) >= *hot_share;
                let everywhere = *scope == HotScope::Writes && op == Op::Read;
                let (start, end) = match (everywhere, is_cold_draw) {
                    (true, _) => (0, self.footprint_bytes),
                    (false, false) => (0, *hot_bytes),
                    (false, true) => (*hot_bytes, self.footprint_bytes),
                };
                // A request that begins near a part's end may reach into the next.
                (start + below(&mut self.rng, (end - start) / align) * align).min(last_start)
            }
            AddressLaw::Uniform | AddressLaw::Array(_) => below(&mut self.rng, last_start / align + 1) * align,
        })
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        let spilled = (self.spilled > 0).then(|| {
            format!(
                "{} longer than the stripe unit: the first bytes are on the drive that was drawn, others on the next",
                counted(self.spilled, "request")
            )
        });
        let moved = (self.moved > 0).then(|| {
            format!(
                "{} moved to the end of `footprint`: at its block of `align`, a request would cross that end. Set \
                 `align` to the size of requests, or (kind `listed`) lower `addresses.blocks`",
                counted(self.moved, "request")
            )
        });
        spilled.into_iter().chain(moved).collect()
    }
}

impl ArraySkew {
    /// An address, and the drive that it is on.
    fn draw(&self, rng: &mut Xoshiro256PlusPlus, align: u64, footprint_bytes: u64, len_bytes: u64) -> (u64, u64) {
        let favoured = unit_f64(rng) < self.drive_share;
        let other = below(rng, self.drives - 1);
        let drive = if favoured { self.drive } else { other + u64::from(other >= self.drive) };
        if self.per_drive {
            let drive_bytes = (footprint_bytes / self.drives).max(len_bytes);
            return (below(rng, (drive_bytes - len_bytes) / align + 1) * align, drive);
        }
        let row_bytes = self.stripe_bytes * self.drives;
        let row_count = (footprint_bytes / row_bytes).max(1);
        let in_unit = below(rng, (self.stripe_bytes.saturating_sub(len_bytes)) / align + 1) * align;
        let offset_bytes = below(rng, row_count) * row_bytes + drive * self.stripe_bytes + in_unit;
        // Near the end the request moves down by whole rows, so that it still starts on its drive.
        let over_bytes = (offset_bytes + len_bytes).saturating_sub(footprint_bytes);
        let rows_down = over_bytes.div_ceil(row_bytes);
        let moved = offset_bytes.checked_sub(rows_down * row_bytes);
        (moved.unwrap_or(footprint_bytes - len_bytes), drive)
    }
}

/// Zones one behind the other, of whole units each.
fn zones(shares: &[[f64; 2]], align: u64, footprint_bytes: u64) -> Vec<Zone> {
    let units = (footprint_bytes / align).max(1);
    let (mut until_share, mut until_space, mut start) = (0.0, 0.0, 0);
    let zone = |[requests, space]: &[f64; 2]| {
        until_share += requests;
        until_space += space;
        // A zone has its own unit if there are enough units, or shares the last one.
        let end = (libm::round(until_space * units as f64) as u64).clamp((start + 1).min(units), units);
        let zone = Zone { until_share, start_bytes: start.min(units - 1) * align, end_bytes: end * align };
        start = end;
        zone
    };
    shares.iter().map(zone).collect()
}

/// The distance from the end of a request to the start of the request that continues it; negative if it goes back.
fn skip(spec: &AddressSpec) -> i64 {
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    spec.skip.map_or(0, |skip| signed(skip.0)) - spec.skip_back.map_or(0, |skip| signed(skip.0))
}

fn address_law(spec: &AddressSpec, align: u64, footprint_bytes: u64, seed: u64) -> AddressLaw {
    match spec.kind {
        AddressKind::Uniform => AddressLaw::Uniform,
        AddressKind::Once => {
            let seed = rng::splitmix64(seed ^ rng::fnv1a64(b"workload.once"));
            AddressLaw::Once(Round::new(footprint_bytes / align, seed))
        }
        AddressKind::Numbered => {
            let unit = spec.map_unit.map_or(align, |unit| unit.0);
            AddressLaw::Numbered(Numbers::new((footprint_bytes / unit).max(1), spec.ends.unwrap_or(false)))
        }
        AddressKind::Zipf => {
            let block_count = footprint_bytes / align;
            let scatter_seed = rng::splitmix64(seed ^ rng::fnv1a64(b"workload.scatter"));
            let law = Zipf::new(block_count, spec.theta.unwrap_or(1.0));
            AddressLaw::Zipf { law, scatter: Scatter::new(block_count, scatter_seed) }
        }
        AddressKind::SelfSimilar => {
            let blocks = footprint_bytes / align;
            let seed = rng::splitmix64(seed ^ rng::fnv1a64(b"workload.scatter"));
            let skew = spec.skew.unwrap_or(0.5);
            // The share of requests to the space up to x is x^(log(1 - skew) / log(skew)); the inverse of this is
            // drawn.
            let exponent = libm::log(skew) / libm::log(1.0 - skew);
            AddressLaw::SelfSimilar { blocks, exponent, scatter: Scatter::new(blocks, seed) }
        }
        AddressKind::Zones => AddressLaw::Zones(zones(&spec.zones, align, footprint_bytes)),
        AddressKind::Listed => AddressLaw::Listed(Listed {
            blocks: spec.blocks.clone(),
            advances: spec.advance.unwrap_or(false),
            taken: [0; 3],
        }),
        AddressKind::HotCold => {
            let hot = (footprint_bytes as f64 * spec.hot_space.unwrap_or(0.2)) as u64;
            // Both parts keep at least one unit.
            let most = footprint_bytes.saturating_sub(align).max(align);
            let hot_bytes = (hot - hot % align).clamp(align, most);
            let scope = spec.hot_scope.unwrap_or(HotScope::All);
            // A footprint of one unit has no cold part.
            let hot_share = if hot_bytes < footprint_bytes { spec.hot_share.unwrap_or(0.8) } else { 1.0 };
            AddressLaw::HotCold { hot_share, hot_bytes, scope }
        }
        AddressKind::ArraySkew => AddressLaw::Array(ArraySkew {
            drive: u64::from(spec.drive.unwrap_or(0)),
            drives: u64::from(spec.drives.unwrap_or(2)),
            drive_share: spec.drive_share.unwrap_or(0.5),
            stripe_bytes: spec.stripe_unit.map_or(align, |unit| unit.0),
            per_drive: spec.per_drive.unwrap_or(false),
        }),
    }
}
