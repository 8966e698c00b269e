//! Checks that the engine's commands are legal for the flash, and take as long as they must.
//!
//! The protocol checker receives commands, transfers and array times as a logic analyser on the pins would, keeps its
//! own state of registers, buses and pages, and computes every time from the device's description, by its own formulas.
//! It shares nothing with the code that composes commands and times them; so it can detect errors of that code.
//!
//! Source of the rules: ONFI 5.1, read, page program, block erase, copyback, multi-plane and cache operations. The
//! table `[commands]` of a device states which of them it has, and how it pairs planes. A die works on one command at a
//! time, except: a second one of the same type may begin through the cache register; a program may go beside a read, in
//! registers in which no page waits; a read may go while a program or an erase is suspended.
//!
//! State: of each channel, the time until which it carries a transfer; of each die, up to two current commands and the
//! time until which its array works; of each block, its number of programmed pages. A page that the drive skips counts
//! as programmed, and cannot be read.

use crate::config::{CommandsConfig, Device, PageTimes, Rate};
use crate::flash::Carries;
use crate::flash::command::FlashOp;
use crate::sim::index::{BlockId, PageId, PlaneId};
use crate::sim::invariant::hold;
use std::collections::BTreeSet;

/// One page of a command, taken apart.
#[derive(Clone, Copy, Debug)]
struct Address {
    plane: u32,
    block: u32,
    page_offset: u32,
}

/// A current command.
#[derive(Clone, Debug)]
struct Flight {
    op: FlashOp,
    addresses: Vec<Address>,
    /// Its number in the order of all commands.
    number: u64,
    issued_ns: u64,
    /// Whether it began during another one.
    is_cached: bool,
    /// End of the transfer before the array, if there was one.
    in_until_ns: Option<u64>,
    array: Option<(u64, u64)>,
    suspended: Suspended,
    planes_out: usize,
    out_until_ns: u64,
}

/// What suspensions did to a command.
#[derive(Clone, Debug, Default)]
struct Suspended {
    /// Whether it is suspended.
    now: bool,
    count: u32,
    /// How long the array has worked for it.
    done_ns: u64,
}

impl Flight {
    /// Whether the die has nothing more to do with it.
    fn is_over(&self, now_ns: u64) -> bool {
        let Some((_, end_ns)) = self.array.filter(|_| !self.suspended.now) else { return false };
        match self.op {
            FlashOp::Read => self.planes_out == self.addresses.len() && self.out_until_ns <= now_ns,
            FlashOp::Program | FlashOp::Erase | FlashOp::Copyback => end_ns <= now_ns,
        }
    }

    /// Whether a program may go beside this read: the first of its pages has left, no other is leaving, and the program
    /// uses none of the registers in which the others wait.
    fn is_beside(&self, op: FlashOp, addresses: &[Address], now_ns: u64) -> bool {
        let waits = |a: &Address| self.addresses[self.planes_out..].iter().any(|own| own.plane == a.plane);
        op == FlashOp::Program
            && self.op == FlashOp::Read
            && self.planes_out > 0
            && self.out_until_ns <= now_ns
            && !addresses.iter().any(waits)
    }

    /// Whether a read may go while this command is suspended: the array has stopped, and the read is of a block that
    /// the command does not change.
    fn gives_way(&self, op: FlashOp, addresses: &[Address], now_ns: u64) -> bool {
        let changes = |a: &Address| self.addresses.iter().any(|own| own.block == a.block);
        let has_stopped = self.array.is_some_and(|(_, end_ns)| end_ns <= now_ns);
        op == FlashOp::Read && self.suspended.now && has_stopped && !addresses.iter().any(changes)
    }
}

#[derive(Clone, Default)]
struct CheckedDie {
    flights: [Option<Flight>; 2],
    array_until_ns: u64,
}

/// The protocol checker of one drive.
pub struct ProtocolChecker {
    dies_per_channel: u32,
    planes_per_die: u32,
    blocks_per_plane: u32,
    pages_per_block: u32,
    unit_bytes: u64,
    units_per_page: u32,
    read: Vec<u64>,
    program: Vec<u64>,
    erase_ns: u64,
    cycles_ns: u64,
    cache_busy_ns: u64,
    rate: Rate,
    commands: CommandsConfig,
    channel_until_ns: Vec<u64>,
    dies: Vec<CheckedDie>,
    pages_programmed: Vec<u32>,
    /// Skipped pages, by block and page offset.
    skipped: BTreeSet<(u32, u32)>,
    commands_seen: u64,
}

impl ProtocolChecker {
    /// An idle drive. `pages_programmed` gives, for each block, the number of its programmed pages, from the first on.
    pub fn new(device: &Device<'_>, pages_programmed: Vec<u32>) -> Self {
        let (g, t) = (device.geometry, device.timing);
        let list = |times: &PageTimes| times.list();
        Self {
            dies_per_channel: g.chips_per_channel * g.dies_per_chip,
            planes_per_die: g.planes_per_die,
            blocks_per_plane: g.blocks_per_plane,
            pages_per_block: g.pages_per_block,
            unit_bytes: g.unit_bytes(),
            units_per_page: g.units_per_page() as u32,
            read: list(&t.read),
            program: list(&t.program),
            erase_ns: t.erase.0,
            cycles_ns: t.command.0,
            cache_busy_ns: t.cache_busy.0,
            rate: t.channel,
            commands: *device.commands,
            channel_until_ns: vec![0; g.channels as usize],
            dies: vec![CheckedDie::default(); (g.channels * g.chips_per_channel * g.dies_per_chip) as usize],
            pages_programmed,
            skipped: BTreeSet::new(),
            commands_seen: 0,
        }
    }

    /// A die takes a command into one of its two places.
    ///
    /// # Panics
    /// When the device would refuse it.
    pub fn on_command(&mut self, die: u32, place: usize, now_ns: u64, op: FlashOp, pages: &[(PlaneId, PageId)]) {
        let addresses: Vec<Address> = pages.iter().map(|&(plane, page)| self.address(plane, page)).collect();
        self.check_addresses(die, op, &addresses);
        let is_cached = self.check_die_takes(die, place, now_ns, op, &addresses);
        for &address in &addresses {
            self.check_page(op, address);
        }
        self.commands_seen += 1;
        self.dies[die as usize].flights[place] = Some(Flight {
            op,
            addresses,
            number: self.commands_seen,
            issued_ns: now_ns,
            is_cached,
            in_until_ns: None,
            array: None,
            suspended: Suspended::default(),
            planes_out: 0,
            out_until_ns: 0,
        });
    }

    /// How many pages of a block are programmed.
    pub fn programmed(&self, block: BlockId) -> u32 {
        self.pages_programmed[block.at()]
    }

    fn address(&self, plane: PlaneId, page: PageId) -> Address {
        let block = page.0 / self.pages_per_block;
        hold!(
            block / self.blocks_per_plane == plane.0,
            OnfiAddress,
            "{page:?} lies on plane {}, not on {plane:?}",
            block / self.blocks_per_plane
        );
        Address { plane: plane.0, block, page_offset: page.0 % self.pages_per_block }
    }

    /// The rules of multi-plane operations.
    fn check_addresses(&self, die: u32, op: FlashOp, addresses: &[Address]) {
        let planes = addresses.len();
        hold!((1..=4).contains(&planes), OnfiAddress, "{op:?} of {planes} planes");
        hold!(planes == 1 || self.commands.multi_plane, OnfiAddress, "the device has no multi-plane {op:?}");
        for (at, a) in addresses.iter().enumerate() {
            hold!(a.plane / self.planes_per_die == die, OnfiAddress, "{op:?} on die {die} names plane {}", a.plane);
            for b in &addresses[..at] {
                let differ = a.plane != b.plane;
                let same_page = a.page_offset == b.page_offset;
                let block = |x: &Address| x.block % self.blocks_per_plane;
                let same_block = !self.commands.same_block || block(a) == block(b);
                let pair = |x: &Address| x.plane % self.planes_per_die / 2;
                let paired = !self.commands.plane_pairs || pair(a) == pair(b);
                hold!(
                    differ && same_page && same_block && paired,
                    OnfiAddress,
                    "multi-plane {op:?} on die {die} of {a:?} and {b:?}"
                );
            }
        }
    }

    /// Whether the command goes through the cache register behind another.
    fn check_die_takes(&self, die: u32, place: usize, now_ns: u64, op: FlashOp, addresses: &[Address]) -> bool {
        let flights = &self.dies[die as usize].flights;
        let under_way = |at: usize| flights[at].as_ref().filter(|f| !f.is_over(now_ns));
        hold!(
            under_way(place).is_none(),
            OnfiOneCommand,
            "die {die} takes a third command at {now_ns} ns, a {op:?}, while {:?} is under way",
            under_way(place)
        );
        let Some(before) = under_way(1 - place) else { return false };
        if before.is_beside(op, addresses, now_ns) || before.gives_way(op, addresses, now_ns) {
            return false;
        }
        let can_cache = match op {
            FlashOp::Read => self.commands.cache_read,
            FlashOp::Program => self.commands.cache_program,
            FlashOp::Erase | FlashOp::Copyback => false,
        };
        hold!(
            can_cache && before.op == op,
            OnfiOneCommand,
            "die {die} takes a {op:?} at {now_ns} ns while {before:?} is under way"
        );
        true
    }

    /// Order of programs in a block, erase before program, program before read.
    fn check_page(&mut self, op: FlashOp, address: Address) {
        let Address { block, page_offset, .. } = address;
        let programmed = &mut self.pages_programmed[block as usize];
        match op {
            FlashOp::Read => hold!(
                page_offset < *programmed && !self.skipped.contains(&(block, page_offset)),
                OnfiReadProgrammed,
                "page {page_offset} of block {block} is read; the first {programmed} are programmed or skipped"
            ),
            FlashOp::Program | FlashOp::Copyback => {
                hold!(
                    page_offset >= *programmed,
                    OnfiEraseFirst,
                    "page {page_offset} of block {block} is programmed; the first {programmed} are already"
                );
                hold!(
                    page_offset == *programmed,
                    OnfiPageOrder,
                    "page {page_offset} of block {block} is programmed behind the first {programmed}"
                );
                *programmed += 1;
            }
            FlashOp::Erase => {
                *programmed = 0;
                self.forget_skipped(block);
            }
        }
    }

    /// Pages of a block are skipped: the page at this offset is programmed next.
    ///
    /// # Panics
    /// If the block has no such page, or it is programmed or skipped already.
    pub fn on_skipped(&mut self, block: BlockId, page_offset: u32) {
        let programmed = &mut self.pages_programmed[block.at()];
        hold!(
            *programmed < page_offset && page_offset < self.pages_per_block,
            OnfiPageOrder,
            "{block:?} skips its pages up to {page_offset}; the first {programmed} are programmed"
        );
        self.skipped.extend((*programmed..page_offset).map(|page| (block.0, page)));
        *programmed = page_offset;
    }

    /// A block is erased.
    fn forget_skipped(&mut self, block: u32) {
        if !self.skipped.is_empty() {
            let mut of_later = self.skipped.split_off(&(block, 0));
            self.skipped.append(&mut of_later.split_off(&(block + 1, 0)));
        }
    }

    /// A transfer for a die's command was granted its channel.
    ///
    /// # Panics
    /// When the channel or the register is not free, the data not there, or the time wrong.
    pub fn on_transfer(&mut self, die: u32, place: usize, carries: Carries, start_ns: u64, end_ns: u64) {
        let channel = (die / self.dies_per_channel) as usize;
        let until_ns = std::mem::replace(&mut self.channel_until_ns[channel], end_ns);
        hold!(
            start_ns >= until_ns,
            OnfiBus,
            "channel {channel} carries a transfer until {until_ns} ns, and another for die {die} from {start_ns} ns"
        );
        let planes = self.flight(die, place).addresses.len() as u64;
        let expected_ns = match carries {
            Carries::Cycles => planes * self.cycles_ns,
            Carries::DataIn => planes * (self.cycles_ns + self.data_ns(self.units_per_page)),
            Carries::DataOut { units } => self.data_ns(units),
        };
        hold!(
            end_ns - start_ns == expected_ns,
            OnfiTransferTime,
            "{carries:?} of {planes} planes took {} ns, not {expected_ns} ns",
            end_ns - start_ns
        );
        match carries {
            Carries::DataOut { .. } => self.on_data_out(die, place, start_ns, end_ns),
            Carries::Cycles | Carries::DataIn => self.on_transfer_in(die, place, carries, start_ns, end_ns),
        }
    }

    fn on_transfer_in(&mut self, die: u32, place: usize, carries: Carries, start_ns: u64, end_ns: u64) {
        // Data enters the cache register, which the program before leaves when its array time begins.
        if let Some(before) = self.other(die, place, start_ns) {
            let left_ns = before.array.map_or(u64::MAX, |(begin_ns, _)| begin_ns);
            hold!(left_ns <= start_ns, OnfiRegister, "data for die {die} at {start_ns} ns meets that of {before:?}");
        }
        let flight = self.flight_mut(die, place);
        let is_program = flight.op == FlashOp::Program;
        hold!(
            is_program == (carries == Carries::DataIn) && flight.in_until_ns.is_none() && flight.array.is_none(),
            OnfiDataReady,
            "{carries:?} for {flight:?}"
        );
        flight.in_until_ns = Some(end_ns);
    }

    fn on_data_out(&mut self, die: u32, place: usize, start_ns: u64, end_ns: u64) {
        // A page leaves from the cache register, which the page of the previous read occupied.
        let number = self.flight(die, place).number;
        if let Some(before) = self.other(die, place, start_ns).filter(|f| f.number < number && !f.suspended.now) {
            hold!(false, OnfiRegister, "data of die {die} leaves at {start_ns} ns before that of {before:?}");
        }
        let flight = self.flight_mut(die, place);
        let is_sensed = flight.op == FlashOp::Read && flight.array.is_some_and(|(_, end)| end <= start_ns);
        hold!(
            is_sensed && flight.planes_out < flight.addresses.len() && start_ns >= flight.out_until_ns,
            OnfiDataReady,
            "data leaves die {die} at {start_ns} ns for {flight:?}"
        );
        flight.planes_out += 1;
        flight.out_until_ns = end_ns;
    }

    /// The array of a die begins a command, and will end it.
    ///
    /// # Panics
    /// If the array is busy, if cycles or data are not in yet, or if the time is wrong.
    pub fn on_array(&mut self, die: u32, place: usize, start_ns: u64, end_ns: u64) {
        let d = &self.dies[die as usize];
        let flight = self.flight(die, place);
        match flight.array {
            Some(_) if flight.suspended.now => return self.on_resume(die, place, start_ns, end_ns),
            Some((begun_ns, until_ns)) if begun_ns == start_ns => return self.on_suspend(die, place, until_ns, end_ns),
            _ => {}
        }
        let rest_ns = if flight.is_cached && flight.op == FlashOp::Read { self.cache_busy_ns } else { 0 };
        hold!(
            start_ns >= d.array_until_ns + rest_ns,
            OnfiArrayBusy,
            "the array of die {die} begins {:?} at {start_ns} ns, works until {} ns and rests for {rest_ns} ns",
            flight.op,
            d.array_until_ns
        );
        let expected_ns = self.whole_array_ns(flight);
        hold!(
            end_ns - start_ns == expected_ns,
            OnfiArrayTime,
            "{:?} of {:?} keeps the array of die {die} for {} ns, not {expected_ns} ns",
            flight.op,
            flight.addresses,
            end_ns - start_ns
        );
        let cycles_ns = flight.addresses.len() as u64 * self.cycles_ns;
        let ready_ns = match (flight.op, flight.in_until_ns) {
            (_, Some(until_ns)) => until_ns,
            (FlashOp::Program, None) => u64::MAX,
            // The cycles of a cached read overlap the data of the previous one; other cycles need the channel.
            (FlashOp::Read, None) if flight.is_cached => flight.issued_ns + cycles_ns,
            (_, None) if cycles_ns > 0 => u64::MAX,
            (_, None) => flight.issued_ns,
        };
        hold!(
            start_ns >= ready_ns && flight.array.is_none(),
            OnfiDataReady,
            "the array of die {die} begins at {start_ns} ns a command that is ready at {ready_ns} ns: {flight:?}"
        );
        self.dies[die as usize].array_until_ns = end_ns;
        self.flight_mut(die, place).array = Some((start_ns, end_ns));
    }

    /// The array stops a command that it was to end at `until_ns`, so that the die takes reads from `end_ns` on.
    fn on_suspend(&mut self, die: u32, place: usize, until_ns: u64, end_ns: u64) {
        let flight = self.flight(die, place);
        let can = self.commands.suspend.filter(|device| match flight.op {
            FlashOp::Erase => device.erase,
            FlashOp::Program => device.program,
            FlashOp::Read | FlashOp::Copyback => false,
        });
        let stop_ns = can.and_then(|device| end_ns.checked_sub(device.latency.0));
        let begun_ns = flight.array.map_or(0, |(begun_ns, _)| begun_ns);
        let in_time = stop_ns.is_some_and(|stop_ns| begun_ns <= stop_ns && stop_ns < until_ns && end_ns < until_ns);
        hold!(
            in_time && can.is_some_and(|device| flight.suspended.count < device.limit),
            OnfiArrayTime,
            "the array of die {die} stops at {stop_ns:?} ns, by {can:?}, for reads from {end_ns} ns on: {flight:?}"
        );
        self.dies[die as usize].array_until_ns = end_ns;
        let flight = self.flight_mut(die, place);
        flight.suspended.now = true;
        flight.suspended.count += 1;
        flight.suspended.done_ns += stop_ns.unwrap_or(begun_ns) - begun_ns;
        flight.array = Some((begun_ns, end_ns));
    }

    /// The array resumes a suspended command.
    fn on_resume(&mut self, die: u32, place: usize, start_ns: u64, end_ns: u64) {
        let resume_ns = self.commands.suspend.map_or(0, |device| device.resume.0);
        let resumed_ns = start_ns.saturating_sub(resume_ns);
        let (flight, other) = (self.flight(die, place), self.other(die, place, resumed_ns));
        hold!(
            resumed_ns >= self.dies[die as usize].array_until_ns && other.is_none(),
            OnfiArrayBusy,
            "the array of die {die} resumes at {start_ns} ns, {resume_ns} ns after its command: {flight:?}, {other:?}"
        );
        let expected_ns = self.whole_array_ns(flight) - flight.suspended.done_ns;
        hold!(
            end_ns - start_ns == expected_ns,
            OnfiArrayTime,
            "the rest of {:?} keeps the array of die {die} for {} ns, not {expected_ns} ns",
            flight.op,
            end_ns - start_ns
        );
        self.dies[die as usize].array_until_ns = end_ns;
        let flight = self.flight_mut(die, place);
        (flight.array, flight.suspended.now) = (Some((start_ns, end_ns)), false);
    }

    /// The array time of a command without suspensions: that of its slowest page.
    fn whole_array_ns(&self, flight: &Flight) -> u64 {
        flight.addresses.iter().map(|a| self.array_ns(flight.op, a.page_offset)).max().unwrap_or(0)
    }

    /// Blocks changed without commands: collection that takes no time.
    pub fn on_timeless(&mut self, block: BlockId, pages_programmed: u32) {
        let before = std::mem::replace(&mut self.pages_programmed[block.at()], pages_programmed);
        if pages_programmed < before {
            self.forget_skipped(block.0);
        }
    }

    fn flight(&self, die: u32, place: usize) -> &Flight {
        self.dies[die as usize].flights[place].as_ref().expect("a die's transfers and array times follow its commands")
    }

    fn flight_mut(&mut self, die: u32, place: usize) -> &mut Flight {
        self.dies[die as usize].flights[place].as_mut().expect("a die's transfers and array times follow its commands")
    }

    /// The other current command of a die, if there is one.
    fn other(&self, die: u32, place: usize, now_ns: u64) -> Option<&Flight> {
        self.dies[die as usize].flights[1 - place].as_ref().filter(|f| !f.is_over(now_ns))
    }

    fn data_ns(&self, units: u32) -> u64 {
        let bytes = u128::from(units) * u128::from(self.unit_bytes);
        (bytes * 1_000_000_000).div_ceil(u128::from(self.rate.bytes_per_s)) as u64
    }

    fn array_ns(&self, op: FlashOp, page_offset: u32) -> u64 {
        let of_page = |times: &[u64]| times[page_offset as usize % times.len()];
        match op {
            FlashOp::Read => of_page(&self.read),
            FlashOp::Program => of_page(&self.program),
            FlashOp::Erase => self.erase_ns,
            FlashOp::Copyback => of_page(&self.read) + of_page(&self.program),
        }
    }
}
