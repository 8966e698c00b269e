//! Bytes that a channel transfers in a second if every die always has work.

use crate::Result;
use crate::numeric::within;

/// A channel, its dies, and one kind of command that all dies repeat.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Dies on the channel.
    pub dies: u32,
    /// k, planes that one command names.
    pub planes_a_command: u32,
    /// Bytes of a page.
    pub page_bytes: f64,
    /// Array time of a command in ns: one value, or one for each kind of page in turn (LSB, CSB, MSB).
    pub array_ns: Vec<f64>,
    /// t_x: how long one plane's part of a command occupies the channel, for its data and its command cycles.
    pub transfer_ns: f64,
}

/// Bounds of the rate, in bytes a second. They are equal if all pages of a block take the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidth {
    /// Lower bound: all dies are at the same page of a block. The die or the channel limits each kind of page
    /// separately.
    pub lockstep: f64,
    /// Upper bound: dies are at any page. Slow pages of one die overlap fast pages of another.
    pub ceiling: f64,
}

impl Channel {
    /// The rate if each command waits for the end of the previous command.
    ///
    /// min(page/t_x, n·k·page/(t_array + k·t_x)) for n dies. With kinds of pages the ceiling has the mean of t_array,
    /// and in lockstep a round of all dies takes max(n·k·t_x, t_array + k·t_x) for each kind. Domain: counts and times
    /// above 0.
    ///
    /// Source: the time line of a multi-plane command (ONFI); the operational bound of a closed network (Denning and
    /// Buzen 1978).
    ///
    /// # Errors
    /// Outside the domain.
    pub fn plain(&self) -> Result<Bandwidth> {
        let transfers_ns = f64::from(self.planes_a_command) * self.transfer_ns;
        self.limited(|array_ns| array_ns + transfers_ns)
    }

    /// The rate if transfers overlap the array time of the previous or the next command, through the cache register.
    ///
    /// min(page/t_x, n·k·page/max(t_array, k·t_x)); with kinds of pages as [`Channel::plain`]. Domain: counts and times
    /// above 0.
    ///
    /// Source: as [`Channel::plain`]; ONFI read cache and program cache.
    ///
    /// # Errors
    /// Outside the domain.
    pub fn cached(&self) -> Result<Bandwidth> {
        let transfers_ns = f64::from(self.planes_a_command) * self.transfer_ns;
        self.limited(|array_ns| array_ns.max(transfers_ns))
    }

    /// The bandwidth, if a die needs `period_ns(array_time)` for a command.
    fn limited(&self, period_ns: impl Fn(f64) -> f64) -> Result<Bandwidth> {
        let positive = |what, value| within(what, value, value > 0.0, "a number above 0");
        positive("a number of dies", f64::from(self.dies))?;
        positive("a number of planes", f64::from(self.planes_a_command))?;
        positive("a number of page times", self.array_ns.len() as f64)?;
        positive("a transfer time", self.transfer_ns)?;
        let commands_bytes = f64::from(self.dies) * f64::from(self.planes_a_command) * self.page_bytes;
        let bus_ns = f64::from(self.dies) * f64::from(self.planes_a_command) * self.transfer_ns;
        let mean = |of: &dyn Fn(f64) -> f64| {
            self.array_ns.iter().map(|&array_ns| of(array_ns)).sum::<f64>() / self.array_ns.len() as f64
        };
        let round_ns = mean(&|array_ns| period_ns(array_ns).max(bus_ns));
        let ceiling_ns = mean(&period_ns).max(bus_ns);
        let rate = |ns: f64| 1e9 * commands_bytes / ns;
        Ok(Bandwidth { lockstep: rate(round_ns), ceiling: rate(ceiling_ns) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Drives of the papers: channels, dies a channel, bytes a page, bytes a second of a channel, tR and tPROG in µs.
    struct Drive(f64, u32, f64, f64, f64, f64);

    impl Drive {
        /// MB/s of the whole device, with this number of planes a command: reads and writes.
        fn ceilings(&self, planes: u32) -> [f64; 2] {
            let &Self(channels, dies, page_bytes, bytes_per_s, read_us, program_us) = self;
            [read_us, program_us].map(|array_us| {
                let transfer_ns = 1e9 * page_bytes / bytes_per_s;
                let array_ns = vec![1e3 * array_us];
                let channel = Channel { dies, planes_a_command: planes, page_bytes, array_ns, transfer_ns };
                channels * channel.plain().unwrap().ceiling / 1e6
            })
        }
    }

    #[test]
    fn ceilings_are_those_of_the_table() {
        let table = [
            (Drive(4.0, 16, 16384.0, 166e6, 115.0, 1600.0), [664.0, 617.0], [664.0, 664.0]),
            (Drive(4.0, 4, 16384.0, 400e6, 50.0, 500.0), [1600.0, 485.0], [1600.0, 901.0]),
            (Drive(4.0, 4, 16384.0, 1000e6, 50.0, 500.0), [3949.0, 508.0], [4000.0, 984.0]),
            (Drive(16.0, 8, 4096.0, 40e6, 75.0, 1500.0), [640.0, 327.0], [640.0, 615.0]),
        ];
        for (drive, single, two_plane) in table {
            for (planes, expected) in [(1, single), (2, two_plane)] {
                let found = drive.ceilings(planes);
                for (found, expected) in found.into_iter().zip(expected) {
                    assert!((found - expected).abs() < 0.6, "{found}, not {expected}");
                }
            }
        }
    }

    fn channel(array_ns: &[f64], transfer_ns: f64) -> Channel {
        Channel { dies: 4, planes_a_command: 2, page_bytes: 1000.0, array_ns: array_ns.to_vec(), transfer_ns }
    }

    fn is(rate: f64, expected: f64) {
        assert!((rate / expected - 1.0).abs() < 1e-12, "{rate}, not {expected}");
    }

    #[test]
    fn cache_commands_hide_the_shorter_of_array_and_transfer() {
        // 8 pages a round: 8,000 bytes in 100 µs plain, in 80 µs if the transfers of 20 µs are hidden.
        let slow_array = channel(&[80e3], 10e3);
        is(slow_array.plain().unwrap().ceiling, 8000.0 / 100e-6);
        is(slow_array.cached().unwrap().ceiling, 8000.0 / 80e-6);
        // The channel's own rate is still the limit.
        let slow_channel = channel(&[10e3], 10e3);
        is(slow_channel.cached().unwrap().ceiling, 1000.0 / 10e-6);
    }

    #[test]
    fn kinds_of_pages_overlap_at_best_and_follow_each_other_at_worst() {
        // One kind is limited by the channel (80 µs a round), the other by the dies (120 µs).
        let mixed = channel(&[20e3, 100e3], 10e3).plain().unwrap();
        is(mixed.lockstep, 8000.0 / 100e-6);
        is(mixed.ceiling, 8000.0 / 80e-6);
        let same = channel(&[100e3, 100e3], 10e3).plain().unwrap();
        is(same.lockstep, same.ceiling);
        assert!(channel(&[], 1.0).plain().is_err() && channel(&[1.0], 0.0).cached().is_err());
    }
}
