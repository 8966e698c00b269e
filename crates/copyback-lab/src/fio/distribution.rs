//! Parses address distributions: `random_distribution`.

use super::number::{each, number};
use super::parse::Opt;
use crate::failure::Failure;

/// The most zones, as fio has it.
const ZONES_MAX: usize = 256;

/// The distribution of random requests over addresses.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    Uniform,
    Zipf(f64),
    Pareto(f64),
    /// For each zone, its share of the requests and its share of the addresses.
    Zones(Vec<[f64; 2]>),
    /// For each zone, its share of the requests and its bytes; `None` takes the remaining bytes.
    ZonesOfBytes(Vec<(f64, Option<u64>)>),
    /// Blocks in a fixed order.
    Sequence(Vec<u64>),
}

/// The most blocks of a sequence, as fio has it.
const SEQUENCE_MAX: usize = 64;

/// Reads `random_distribution`, its zones for each operation apart.
pub fn distribution(opt: &Opt, kb_base: u64) -> Result<[Distribution; 3], Failure> {
    let text = opt.text()?;
    // fio's manual uses `:` and `=`.
    let (kind, figure) = text.split_once([':', '=']).unwrap_or((text, ""));
    let help = "use random, zipf:THETA, pareto:H, or zoned:ACCESS/SIZE:ACCESS/SIZE";
    // The centre only rotates the addresses, which a hash scatters.
    let (number, centre) = figure.split_once([':', '/']).unwrap_or((figure, ""));
    let law = |usual: f64, is_right: fn(f64) -> bool, wrong: &str, example: &str| {
        let value = if number.is_empty() { Ok(usual) } else { number.parse::<f64>() };
        let is_centre = centre.is_empty() || centre.parse::<f64>().is_ok_and(|at| (0.0..=1.0).contains(&at));
        match value {
            Ok(value) if is_right(value) && is_centre => Ok(value),
            _ if !is_centre => {
                Err(opt.wrong("the centre is a share from 0 to 1", format!("write for example {example}:0.5")))
            }
            _ => Err(opt.wrong(wrong, format!("write for example {example}"))),
        }
    };
    let all = |one: Distribution| [one.clone(), one.clone(), one];
    Ok(match kind {
        "random" if figure.is_empty() => all(Distribution::Uniform),
        "zipf" => {
            let is_right = |theta: f64| theta > 0.0 && (theta - 1.0).abs() > f64::EPSILON;
            all(Distribution::Zipf(law(1.1, is_right, "theta has to be above 0 and other than 1", "zipf:1.2")?))
        }
        "pareto" => {
            let is_right = |skew: f64| skew > 0.0 && skew < 1.0;
            all(Distribution::Pareto(law(0.2, is_right, "it has to be between 0 and 1", "pareto:0.2")?))
        }
        "zoned" | "zoned_abs" => {
            let [reads, writes, trims] = each(opt, figure)?;
            let read = |text: &str| if kind == "zoned" { zones(opt, text) } else { zones_of_bytes(opt, text, kb_base) };
            [read(reads)?, read(writes)?, read(trims)?]
        }
        "normal" => {
            let why = "fio's `normal` is no normal distribution, and is not simulated";
            return Err(opt.wrong(why, help));
        }
        "sequence" => {
            let blocks: Result<Vec<u64>, _> = figure.split(',').map(|block| block.trim().parse()).collect();
            match blocks {
                Ok(blocks) if blocks.len() <= SEQUENCE_MAX => all(Distribution::Sequence(blocks)),
                _ => {
                    let why = format!("a sequence has 1 to {SEQUENCE_MAX} block numbers");
                    return Err(opt.wrong(why, "write for example sequence:2,0,1"));
                }
            }
        }
        _ => return Err(opt.wrong("this distribution is not supported", help)),
    })
}

/// Shares from percentages; omitted ones share the rest equally. `None` if the sum is not 100.
fn filled(shares: &[Option<f64>]) -> Option<Vec<f64>> {
    let given: f64 = shares.iter().flatten().sum();
    let open = shares.iter().filter(|share| share.is_none()).count();
    let is_whole = if open == 0 { (given - 100.0).abs() < 1e-6 } else { given < 100.0 + 1e-6 };
    let rest = (100.0 - given).max(0.0) / open.max(1) as f64;
    is_whole.then(|| shares.iter().map(|share| share.unwrap_or(rest) / 100.0).collect())
}

/// A percentage; `Some(None)` for an empty text, which takes the rest.
fn percent(text: &str) -> Option<Option<f64>> {
    match text.trim() {
        "" => Some(None),
        text => text.parse::<f64>().ok().filter(|number| (0.0..=100.0).contains(number)).map(Some),
    }
}

/// Zones as fio writes them, in per cent: of requests and of the job's addresses.
fn zones(opt: &Opt, text: &str) -> Result<Distribution, Failure> {
    let pair = |zone: &str| {
        let (access, size) = zone.split_once('/').unwrap_or((zone, ""));
        Some((percent(access)?, percent(size)?))
    };
    let pairs: Option<Vec<_>> = text.split(':').map(pair).collect();
    let zones = pairs.filter(|pairs| pairs.len() <= ZONES_MAX).and_then(|pairs| {
        let (accesses, sizes): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let zones: Vec<[f64; 2]> = filled(&accesses)?.into_iter().zip(filled(&sizes)?).map(<[f64; 2]>::from).collect();
        zones.iter().all(|[_, size]| *size > 0.0).then_some(zones)
    });
    zones.map(Distribution::Zones).ok_or_else(|| {
        let why = format!("it takes up to {ZONES_MAX} zones; their accesses add up to 100, and so do their sizes");
        opt.wrong(why, "write for example zoned:80/20:20/80, or leave the last size out: zoned:80/20:20/")
    })
}

/// Zones with sizes in bytes (`zoned_abs`).
fn zones_of_bytes(opt: &Opt, text: &str, kb_base: u64) -> Result<Distribution, Failure> {
    let (mut accesses, mut sizes) = (Vec::new(), Vec::new());
    for zone in text.split(':') {
        let (access, size) = zone.split_once('/').unwrap_or((zone, ""));
        accesses
            .push(percent(access).ok_or_else(|| opt.wrong("an access is no percentage", "write for example 60/20g"))?);
        sizes.push(if size.trim().is_empty() { None } else { Some(number(opt, size, kb_base)?) });
    }
    let is_right = sizes.len() <= ZONES_MAX && sizes.iter().filter(|size| size.is_none()).count() <= 1;
    let accesses = filled(&accesses).filter(|_| is_right).ok_or_else(|| {
        opt.wrong(
            "there are more than 256 zones, the accesses do not add up to 100, or two sizes are left out",
            "write for example zoned_abs:60/20g:40/",
        )
    })?;
    Ok(Distribution::ZonesOfBytes(accesses.into_iter().zip(sizes).collect()))
}
