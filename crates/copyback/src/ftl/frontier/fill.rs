//! Pages that fill, as an option of the frontiers `single`, `split` and `second-active`: writes smaller than a page, of
//! any address, wait for each other in the controller and share one program.

use crate::config::KeyError;
use crate::config::device::UNITS_PER_PAGE_MAX;
use copyback_workload::units::{Nanos, exact_time};
use serde::{Deserialize, Serialize};

/// The point at which a write completes that waits for its page to fill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FillEnds {
    /// In the controller's DRAM, on arrival there.
    #[default]
    Dram,
    /// In flash, with the program of its page.
    Flash,
}

/// The handling of an open map page for which a request waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FillAwaited {
    /// It is sent as it is, the rest padded.
    #[default]
    AtOnce,
    /// It waits for others as long as any page does.
    Waits,
}

/// How pages fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillRules {
    /// How long an open page waits for more, before the rest of it is padded.
    pub limit_ns: u64,
    /// The point at which its writes complete.
    pub ends: FillEnds,
    /// Pages of the host in the controller, including those on their way to flash, if the configuration sets it.
    pub pages: Option<u32>,
    /// The handling of a map page for which a request waits.
    pub awaited: FillAwaited,
}

/// Its keys, as a configuration has them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keys {
    /// `fill_limit`
    pub limit: Option<Nanos>,
    /// `fill_ends`
    pub ends: Option<FillEnds>,
    /// `fill_pages`
    pub pages: Option<u32>,
    /// `fill_awaited`
    pub awaited: Option<FillAwaited>,
}

/// Least default of `fill_pages`: four slots for each of 16 chips.
const PAGES: u32 = 64;
/// Copies of one unit that pages in the controller may hold together.
pub const COPIES_MAX: u32 = 32_000;
/// The largest allowed setting: [`COPIES_MAX`] copies, if pages have the most units.
const PAGES_MAX: u32 = COPIES_MAX / UNITS_PER_PAGE_MAX as u32;
/// Longest wait: a power failure would lose at most the data written in this time.
const LIMIT_MAX_NS: u64 = 10_000_000_000;

impl FillRules {
    /// Pages of the host that may be in the controller of a drive with this many open pages. The default is twice as
    /// many, because full pages may be on their way to flash, and 64 at least; [`COPIES_MAX`] limits it.
    pub fn pages_of(&self, open: u32, units_per_page: u32) -> u32 {
        self.pages.unwrap_or_else(|| PAGES.max(2 * open).min(COPIES_MAX / units_per_page))
    }
}

impl Keys {
    /// The rules of filling pages; none if pages do not wait.
    pub fn fill(&self) -> Option<FillRules> {
        let limit_ns = self.limit.map_or(0, |limit| limit.0);
        (limit_ns > 0).then(|| FillRules {
            limit_ns,
            ends: self.ends.unwrap_or_default(),
            pages: self.pages,
            awaited: self.awaited.unwrap_or_default(),
        })
    }

    /// Checks the values.
    pub fn check(&self) -> Result<(), KeyError> {
        let others = [
            ("frontier.fill_ends", self.ends.is_some()),
            ("frontier.fill_pages", self.pages.is_some()),
            ("frontier.fill_awaited", self.awaited.is_some()),
        ];
        if let Some((key, _)) = others.into_iter().find(|&(_, is_set)| is_set && self.limit.is_none()) {
            return Err(KeyError::new(key, "no write waits for its page to fill")
                .with_help("set `frontier.fill_limit`, for example to \"1 ms\", or remove it"));
        }
        if let Some(pages) = self.pages.filter(|pages| !(1..=PAGES_MAX).contains(pages)) {
            return Err(KeyError::new("frontier.fill_pages", format!("{pages} pages are not possible"))
                .with_help(format!("use 1 to {PAGES_MAX}")));
        }
        match self.limit {
            Some(limit) if limit.0 > LIMIT_MAX_NS => {
                let why = format!("{} is longer than any controller delays a page", exact_time(limit.0));
                Err(KeyError::new("frontier.fill_limit", why).with_help("use 10 s or less, for example \"1 ms\""))
            }
            _ => Ok(()),
        }
    }
}
