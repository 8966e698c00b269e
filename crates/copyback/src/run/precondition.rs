//! The configuration of preconditioning: the state of a drive before a run.

use crate::config::{KeyError, number};
use serde::{Deserialize, Serialize};

/// The drive's preconditioning. `[precondition]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PreconditionConfig {
    /// Fresh from the factory.
    // A variant without braces would accept keys of other modes.
    Empty {},
    /// Every logical unit (or the first `fill` of them) written once, in order.
    Sequential {
        /// Share of the logical capacity that is written.
        #[serde(default = "whole")]
        fill: f64,
    },
    /// Filled in order, then overwritten at uniformly random units.
    Random {
        /// Share of the logical capacity that is used.
        #[serde(default = "whole")]
        fill: f64,
        /// Share of the filled units that is overwritten, counted from the first unit.
        #[serde(default = "whole", skip_serializing_if = "is_whole")]
        footprint: f64,
        /// Overwrites, in multiples of the footprint. Without it, overwrites continue until write amplification is
        /// steady: its mean over one footprint's worth of writes differs by at most `steady` from the previous mean.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overwrites: Option<f64>,
        /// Largest relative change of write amplification that counts as steady.
        #[serde(default = "steady")]
        steady: f64,
    },
    /// SNIA Solid State Storage PTS: written in order twice, then at random in rounds, until write amplification is
    /// steady by the rule of the specification. Over five successive rounds, its range must be at most 20 % of its
    /// mean, and its slope at most 10 %. On average, a round must erase ten blocks; otherwise a drive that does not
    /// collect yet looks steady. A drive that is not steady after 25 rounds is refused.
    Snia {
        /// What a round writes, in multiples of the logical capacity (default 0.5). The specification's rounds are
        /// minutes of a drive's time; here no time passes.
        #[serde(default = "round")]
        round: f64,
    },
    /// The state that `random` tends to, made directly: it takes about as long as writing each map entry once. One
    /// plane is filled and overwritten in rounds of its capacity, until write amplification changes by at most 0.5 %
    /// from round to round. Each plane of the drive copies that state at a random later time, with its own units and
    /// its blocks in another order. For drives whose full simulation takes minutes.
    SteadyState {},
    /// tpds20: each plane is filled to a random share between `used_min` and `used_max` of its pages; `valid` of them
    /// hold data, spread over its blocks as `spread` says.
    Aged {
        /// Smallest share of a plane's pages that are programmed.
        #[serde(default = "used_min")]
        used_min: f64,
        /// Largest share of a plane's pages that are programmed.
        #[serde(default = "used_max")]
        used_max: f64,
        /// Share of the programmed pages that hold valid data.
        #[serde(default = "valid")]
        valid: f64,
        /// Which blocks hold them.
        #[serde(default)]
        spread: Spread,
        /// Seed of the preconditioning, instead of the run's: another draw of the same kind of drive.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seed: Option<u64>,
    },
}

/// Which blocks of an aged plane hold its valid data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// All alike: every page is as likely to be valid as any other, so that a block's valid pages are binomial around
    /// the share.
    #[default]
    Even,
    /// Young blocks: first writes and overwrites come in random order, so that early writes are mostly overwritten and
    /// late ones are not. With 60 % valid the oldest blocks hold 33 % and the youngest 95 %.
    ByAge,
}

fn whole() -> f64 {
    1.0
}
fn is_whole(share: &f64) -> bool {
    *share == whole()
}
fn steady() -> f64 {
    0.005
}
fn round() -> f64 {
    0.5
}
fn used_min() -> f64 {
    0.93
}
fn used_max() -> f64 {
    0.95
}
fn valid() -> f64 {
    0.8
}

impl Default for PreconditionConfig {
    fn default() -> Self {
        Self::Random { fill: whole(), footprint: whole(), overwrites: None, steady: steady() }
    }
}

impl PreconditionConfig {
    /// Checks shares and factors.
    pub fn check(&self) -> Result<(), KeyError> {
        let share = |key: &str, value: f64| {
            if (0.0..=1.0).contains(&value) {
                return Ok(());
            }
            Err(KeyError::new(format!("precondition.{key}"), format!("{} is no share", number(value)))
                .with_help("use a number from 0 to 1"))
        };
        match *self {
            Self::Empty {} | Self::SteadyState {} => Ok(()),
            Self::Sequential { fill } => share("fill", fill),
            Self::Random { fill, footprint, overwrites, steady } => {
                share("fill", fill)?;
                share("footprint", footprint)?;
                if let Some(times) = overwrites.filter(|times| !(0.0..=1000.0).contains(times)) {
                    return Err(KeyError::new("precondition.overwrites", format!("{} is not possible", number(times)))
                        .with_help("use a number of footprints from 0 to 1000"));
                }
                if !(1e-6..=1.0).contains(&steady) {
                    return Err(KeyError::new("precondition.steady", format!("{} is not possible", number(steady)))
                        .with_help("use a relative change such as 0.005"));
                }
                Ok(())
            }
            Self::Snia { round } => {
                if (0.01..=100.0).contains(&round) {
                    return Ok(());
                }
                Err(KeyError::new("precondition.round", format!("{} is not possible", number(round)))
                    .with_help("use a number of capacities from 0.01 to 100"))
            }
            Self::Aged { used_min, used_max, valid, .. } => {
                share("used_min", used_min)?;
                share("used_max", used_max)?;
                share("valid", valid)?;
                if used_min > used_max {
                    return Err(KeyError::new(
                        "precondition.used_min",
                        format!("{used_min} is above used_max = {used_max}"),
                    )
                    .with_help("put the smaller share into `used_min`"));
                }
                Ok(())
            }
        }
    }
}
