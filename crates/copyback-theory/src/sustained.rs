//! The rate of random writes of a drive in its steady state.
//!
//! Every page that the host writes costs A − 1 moves and A/b erases. The rate is highest if all dies are always busy.

use crate::Result;
use crate::numeric::{bisect, within};

/// The dies and channels of a drive, and the times of its steps. The methods refuse a value outside the domain, except
/// for k: they do not check it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Dies of the drive.
    pub dies: f64,
    /// Channels of the drive.
    pub channels: f64,
    /// Pages a block, b.
    pub pages_per_block: f64,
    /// tR in ns, the mean over the kinds of pages.
    pub read_ns: f64,
    /// tPROG in ns, the mean over the kinds of pages.
    pub program_ns: f64,
    /// tBERS in ns.
    pub erase_ns: f64,
    /// Transfer time of a page's data on the channel. In the formulas, t_x is this plus `command_ns`, and t_B is
    /// `erase_ns` plus `command_ns`.
    pub transfer_ns: f64,
    /// Command cycles of one plane on the channel.
    pub command_ns: f64,
}

impl Costs {
    fn checked(&self, a: f64) -> Result<f64> {
        within("a write amplification", a, a >= 1.0, "1 or more")
    }

    /// Die time for one page of the host, with k planes in every program and erase. Moves read one plane at a time.
    ///
    /// t = A(t_P + k·t_x)/k + (A − 1)(t_R + t_x) + A·t_B/(b·k). Domain: A ≥ 1, k ≥ 1.
    ///
    /// Source: the operational demand of each step (Denning and Buzen 1978).
    ///
    /// # Errors
    /// Outside the domain.
    pub fn die_ns_all_multi_plane(&self, a: f64, k: f64) -> Result<f64> {
        let (a, t_x) = (self.checked(a)?, self.transfer_ns);
        let programs_ns = a * (self.program_ns + k * (t_x + self.command_ns)) / k;
        let reads_ns = (a - 1.0) * (self.read_ns + t_x + self.command_ns);
        Ok(programs_ns + reads_ns + a * (self.erase_ns + self.command_ns) / (self.pages_per_block * k))
    }

    /// Die time if only the host's commands have k planes. Collection moves and erases one plane at a time, as a
    /// blocking collection on one plane does.
    ///
    /// t = (t_P + k·t_x)/k + (A − 1)(t_R + t_x + t_P + t_x) + A·t_B/b. Domain: A ≥ 1, k ≥ 1. A mean k over all of the
    /// host's pages makes it exact: k = pages programmed / commands.
    ///
    /// Source: as [`Costs::die_ns_all_multi_plane`].
    ///
    /// # Errors
    /// Outside the domain.
    pub fn die_ns(&self, a: f64, k: f64) -> Result<f64> {
        let (a, t_x) = (self.checked(a)?, self.transfer_ns + self.command_ns);
        let host_ns = self.program_ns / k + t_x;
        let moves_ns = (a - 1.0) * (self.read_ns + self.program_ns + 2.0 * t_x);
        Ok(host_ns + moves_ns + a * (self.erase_ns + self.command_ns) / self.pages_per_block)
    }

    /// Pages of the host in a second if the dies are never idle: N_die / t, where t is `die_ns`.
    pub fn rate_of_dies(&self, die_ns: f64) -> f64 {
        1e9 * self.dies / die_ns
    }

    /// Pages of the host in a second if the channels are never idle: N_ch / ((2A − 1)·t_x). Each page crosses once for
    /// the host, and twice for each move. Domain: A ≥ 1.
    ///
    /// # Errors
    /// Outside the domain.
    pub fn rate_of_channels(&self, a: f64) -> Result<f64> {
        let a = self.checked(a)?;
        Ok(1e9 * self.channels / ((2.0 * a - 1.0) * (self.transfer_ns + self.command_ns)))
    }
}

impl Costs {
    /// The upper bound: pages of the host in a second if the drive's dies, or its channels, are never idle.
    ///
    /// min(N_die / t, N_ch / ((2A − 1)·t_x)) with t of [`Costs::die_ns`]. Domain: A ≥ 1, k ≥ 1.
    ///
    /// Source: as [`Costs::die_ns`].
    ///
    /// # Errors
    /// Outside the domain.
    pub fn ceiling(&self, a: f64, k: f64) -> Result<f64> {
        Ok(self.rate_of_dies(self.die_ns(a, k)?).min(self.rate_of_channels(a)?))
    }

    /// A lower bound: the drive serves at least this rate if this many requests are always outstanding, each to a
    /// random die.
    ///
    /// A drive stays below its ceiling for two reasons. First, dies are sometimes idle. With many dies, arrivals at
    /// each die are Poisson. A die is busy for a share u of the time: the load at which an M/G/1 queue holds on average
    /// q requests, as many as are outstanding for each die: q = u + u²·(1 + c²)/(2(1 − u)). Here c is the coefficient
    /// of variation of a request's service: its program, and with probability A/b a collection. Collections are spaced
    /// more evenly than that, so u is slightly too small. Second, transfers wait for the channel. Each waits for
    /// M/D/1's ρ_c·k·t_x/(2(1 − ρ_c)), at the load ρ_c of the ceiling, and at most for one transfer of each other die
    /// on the channel. Domain: A ≥ 1, k ≥ 1, a request or more a die.
    ///
    /// Source: Pollaczek and Khinchine's formula, for a closed system as in Bard 1979.
    ///
    /// # Errors
    /// Outside the domain.
    pub fn floor(&self, a: f64, k: f64, requests: f64) -> Result<f64> {
        let queue = within("requests a die", requests / self.dies, requests >= self.dies, "1 or more")?;
        let die_ns = self.die_ns(a, k)?;
        let transfer_ns = self.transfer_ns + self.command_ns;
        let page_ns = self.program_ns / k + transfer_ns;
        let collections = a / self.pages_per_block;
        let collection_ns = (die_ns - page_ns) / collections;
        let second_moment =
            page_ns * page_ns + collections * (2.0 * page_ns * collection_ns + collection_ns * collection_ns);
        let spread = second_moment / (die_ns * die_ns);
        let busy_share = bisect(0.0, 1.0, |u| u + u * u * spread / (2.0 * (1.0 - u).max(1e-300)) - queue);
        let channel_load = self.ceiling(a, k)? / self.rate_of_channels(a)?;
        let others_ns = (self.dies / self.channels - 1.0) * k * transfer_ns;
        let wait_ns = if channel_load < 1.0 {
            others_ns.min(channel_load * k * transfer_ns / (2.0 * (1.0 - channel_load)))
        } else {
            others_ns
        };
        let transfers = 1.0 / k + 2.0 * (a - 1.0);
        Ok(busy_share * self.rate_of_dies(die_ns + transfers * wait_ns).min(self.rate_of_channels(a)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRIVE: Costs = Costs {
        dies: 16.0,
        channels: 4.0,
        pages_per_block: 64.0,
        read_ns: 60e3,
        program_ns: 400e3,
        erase_ns: 2.5e6,
        transfer_ns: 20e3,
        command_ns: 0.0,
    };

    fn is(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-12, "{value}, not {expected}");
    }

    #[test]
    fn a_page_costs_its_program_its_moves_and_its_share_of_an_erase() {
        // Without moves: 400 + 20 µs, and 2.5 ms over 64 pages.
        is(DRIVE.die_ns(1.0, 1.0).unwrap(), 420e3 + 2.5e6 / 64.0);
        // Two moves for each page: 60 + 20 and 20 + 400 µs for each, and three times the erases.
        is(DRIVE.die_ns(3.0, 1.0).unwrap(), 420e3 + 2.0 * 500e3 + 3.0 * 2.5e6 / 64.0);
        // Two planes share the program time of the host's pages. In the second formula, collections also program and
        // erase two planes at a time, but read one.
        is(DRIVE.die_ns(3.0, 2.0).unwrap(), 220e3 + 2.0 * 500e3 + 3.0 * 2.5e6 / 64.0);
        is(DRIVE.die_ns_all_multi_plane(3.0, 2.0).unwrap(), 3.0 * 220e3 + 2.0 * 80e3 + 3.0 * 2.5e6 / 128.0);
        // With one plane a command, both formulas agree.
        is(DRIVE.die_ns_all_multi_plane(3.0, 1.0).unwrap(), DRIVE.die_ns(3.0, 1.0).unwrap());
    }

    #[test]
    fn the_slower_of_dies_and_channels_limits() {
        is(DRIVE.ceiling(3.0, 1.0).unwrap(), 16e9 / DRIVE.die_ns(3.0, 1.0).unwrap());
        let slow_channel = Costs { transfer_ns: 200e3, ..DRIVE };
        is(slow_channel.ceiling(3.0, 1.0).unwrap(), 4e9 / (5.0 * 200e3));
        assert!(DRIVE.ceiling(0.9, 1.0).is_err());
    }

    #[test]
    fn a_floor_is_below_its_ceiling_and_nears_it_with_more_requests() {
        let lone = Costs { channels: 16.0, ..DRIVE };
        let ceiling = lone.ceiling(3.0, 1.0).unwrap();
        let floors = [16.0, 160.0, 1600.0, 160_000.0].map(|requests| lone.floor(3.0, 1.0, requests).unwrap());
        assert!(floors.is_sorted_by(|a, b| a < b) && floors[3] < ceiling && floors[3] > 0.999 * ceiling, "{floors:?}");
        assert!(DRIVE.floor(3.0, 1.0, 160_000.0).unwrap() < lone.floor(3.0, 1.0, 160_000.0).unwrap());
        assert!(DRIVE.floor(3.0, 1.0, 1.0).is_err());
    }
}
