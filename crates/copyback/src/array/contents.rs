//! The contents of a volume's drives, and the expected contents of its stripes: checked under `--check`.
//!
//! A *cell* is the smallest number of bytes that is whole mapping units of all drives (`grain_bytes`). A value
//! represents the bytes of a cell. A write of a whole cell sets a new value; a partial write changes the value by an
//! amount. Parity is a sum over the members of data, each multiplied by its own factor, modulo a prime. As with parity
//! over bytes, if n members hold data, any n members determine all others. New parity is computed only from what the
//! operation has read, so that a plan that reads too little is detected. After each write, every existing member of its
//! stripe must match the volume's data. Data that is returned to the host by a read that has locked its stripe must
//! match it, too, whether it was read or rebuilt from other members.

use super::layout::Layout;
use super::operations::{Kind, Operation, OperationId};
use super::rebuild::Rebuild;
use crate::redundancy::planner::Members;
use crate::sim::invariant::{Invariant, broken};
use copyback_workload::Op;
use std::collections::BTreeMap;

const PRIME: u128 = (1 << 61) - 1;

fn times(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % PRIME) as u64
}

fn plus(a: u64, b: u64) -> u64 {
    ((u128::from(a) + u128::from(b)) % PRIME) as u64
}

fn minus(a: u64, b: u64) -> u64 {
    plus(a, (PRIME - u128::from(b)) as u64)
}

/// 1 over a value, by Fermat.
fn inverse(value: u64) -> u64 {
    let (mut power, mut result, mut exponent) = (value, 1, (PRIME - 2) as u64);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = times(result, power);
        }
        power = times(power, power);
        exponent >>= 1;
    }
    result
}

/// The values that a writing operation has read or computed.
#[derive(Default)]
struct Known {
    /// For each member that it has read, the value of each cell.
    read: BTreeMap<u32, Vec<u64>>,
    /// For written members of data, by cell: the new value, or the amount of change if the cell is written in part.
    written: BTreeMap<u32, Vec<Change>>,
    /// For other members that it writes, the values.
    made: BTreeMap<u32, Vec<u64>>,
}

#[derive(Clone, Copy)]
enum Change {
    /// The cell does not change.
    None,
    To(u64),
    By(u64),
}

impl Change {
    fn of(self, old: u64) -> u64 {
        match self {
            Self::None => old,
            Self::To(value) => value,
            Self::By(amount) => plus(old, amount),
        }
    }
}

/// See the module's page.
pub(super) struct Contents {
    layout: Layout,
    grain_bytes: u64,
    /// The content of each drive, by drive and cell; 0 if never written.
    held: BTreeMap<(u32, u64), u64>,
    /// The volume's data, by unit of data and cell in it.
    data: BTreeMap<(u64, u64), u64>,
    known: BTreeMap<u32, Known>,
    values: u64,
}

impl Contents {
    pub(super) fn new(layout: Layout, grain_bytes: u64) -> Self {
        let (held, data, known) = Default::default();
        Self { layout, grain_bytes, held, data, known, values: 0 }
    }

    fn new_value(&mut self) -> u64 {
        self.values += 1;
        times(self.values, 0x9e37_79b9_7f4a_7c15 % PRIME as u64) + 1
    }

    /// The factor of a member of data in a parity, or in a copy.
    fn factor(&self, parity: u32, member: u32) -> u64 {
        if parity == 0 || self.layout.is_mirror() { 1 } else { u64::from(member) + 2 }
    }

    /// The cells of a unit that an operation accesses.
    fn cells(&self, operation: &Operation) -> std::ops::Range<u64> {
        operation.hull[0] / self.grain_bytes..operation.hull[1].div_ceil(self.grain_bytes)
    }

    fn place(&self, stripe: u64, member: u32, cell: u64) -> (u32, u64) {
        (self.layout.drive(stripe, member), self.layout.unit_start(stripe) / self.grain_bytes + cell)
    }

    fn datum(&self, stripe: u64, member: u32, cell: u64) -> u64 {
        let unit = stripe * u64::from(self.layout.data()) + u64::from(member);
        self.data.get(&(unit, cell)).copied().unwrap_or(0)
    }

    /// A part of an operation ended.
    pub(super) fn on_part_end(&mut self, operation: &Operation, id: OperationId, member: u32, is_read: bool) {
        let cells = self.cells(operation);
        let held_at = |this: &Self, cell| {
            let place = this.place(operation.stripe, member, cell);
            (place, this.held.get(&place).copied().unwrap_or(0))
        };
        if is_read {
            let values = cells.map(|cell| held_at(self, cell).1).collect();
            self.known.entry(id.0).or_default().read.insert(member, values);
            return;
        }
        let known = &self.known[&id.0];
        // A copy changes like its original.
        let original = if self.layout.is_mirror() { 0 } else { member };
        let changes = known.written.get(&original).cloned();
        let made = known.made.get(&member).cloned();
        for (at, cell) in cells.enumerate() {
            let (place, old) = held_at(self, cell);
            let value = match (&made, &changes) {
                (Some(made), _) => made[at],
                (None, Some(changes)) => changes[at].of(old),
                (None, None) => old,
            };
            self.held.insert(place, value);
        }
    }

    /// Draws the values that an operation writes to members of data: once, when the first of its writes begins.
    fn decide(&mut self, operation: &Operation, id: OperationId) {
        if self.known.entry(id.0).or_default().written.is_empty() {
            let unit_bytes = self.layout.unit_bytes();
            for member in operation.wanted.iter() {
                let unit = operation.stripe * u64::from(self.layout.data()) + u64::from(member);
                let [from, to] = operation.bytes.map(|b| b.clamp(unit * unit_bytes, (unit + 1) * unit_bytes));
                let mut changes = Vec::new();
                for cell in self.cells(operation) {
                    let start = unit * unit_bytes + cell * self.grain_bytes;
                    let end = (start + self.grain_bytes).min((unit + 1) * unit_bytes);
                    let is_touched = from < end && to > start;
                    changes.push(match (is_touched, from <= start && to >= end, operation.kind) {
                        (false, ..) => Change::None,
                        (true, true, Kind::Host(Op::Trim)) => Change::To(0),
                        (true, true, _) => Change::To(self.new_value()),
                        (true, false, _) => Change::By(self.new_value()),
                    });
                }
                self.known.get_mut(&id.0).expect("the entry was just made").written.insert(member, changes);
            }
        }
    }

    /// Writes begin: computes parity, copies and rebuilt data from the reads, when all of these have ended.
    pub(super) fn compute(&mut self, operation: &Operation, id: OperationId) {
        self.decide(operation, id);
        if operation.reads_open > 0 {
            return;
        }
        let data = Members::first(self.layout.data());
        let cells: Vec<u64> = self.cells(operation).collect();
        let others: Vec<u32> = match operation.kind {
            Kind::Rebuild => operation.writes.iter().collect(),
            Kind::Host(_) if self.layout.is_mirror() => Vec::new(),
            Kind::Host(_) => operation.writes.without(data).iter().collect(),
        };
        for &member in &others {
            let values = (0..cells.len()).map(|at| self.made(operation, id, member, at)).collect();
            self.known.get_mut(&id.0).expect("`decide` made the entry").made.insert(member, values);
        }
    }

    /// Computes the new value of a cell of a member.
    fn made(&self, operation: &Operation, id: OperationId, member: u32, at: usize) -> u64 {
        let known = &self.known[&id.0];
        let data = self.layout.data();
        let read = |member: u32| known.read.get(&member).map(|values| values[at]);
        let change = |member: u32| known.written.get(&member).map_or(Change::None, |changes| changes[at]);
        let new_of = |member: u32, old: Option<u64>| match change(member) {
            Change::To(value) => Some(value),
            other => old.map(|old| other.of(old)),
        };
        let sum = |of: &[u64]| match member.checked_sub(data) {
            None => of[member as usize],
            Some(parity) => (0..).zip(of).fold(0, |sum, (m, value)| plus(sum, times(self.factor(parity, m), *value))),
        };
        let all: Option<Vec<u64>> = (0..data).map(|m| new_of(m, read(m))).collect();
        if let Some(all) = all {
            return sum(&all);
        }
        // From the old parity and the old values of written data.
        if let (Some(parity), Some(old_parity)) = (member.checked_sub(data), read(member)) {
            let changed = (0..data).filter(|&m| operation.wanted.has(m));
            let by = changed.map(|m| {
                let old = read(m)?;
                Some(times(self.factor(parity, m), minus(change(m).of(old), old)))
            });
            if let Some(by) = by.collect::<Option<Vec<u64>>>() {
                return by.into_iter().fold(old_parity, plus);
            }
        }
        match self.decoded(known, at) {
            Some(old) => {
                let new: Vec<u64> = (0..data).zip(&old).map(|(m, old)| change(m).of(*old)).collect();
                sum(&new)
            }
            None => broken(
                Invariant::StripeParity,
                format_args!(
                    "member {member} of stripe {} cannot be computed from the members that were read: {:?}",
                    operation.stripe, operation.reads
                ),
            ),
        }
    }

    /// All data of a cell, computed from the members that were read, if they suffice.
    fn decoded(&self, known: &Known, at: usize) -> Option<Vec<u64>> {
        let data = self.layout.data() as usize;
        let mut rows: Vec<Vec<u64>> = (known.read.iter())
            .map(|(&member, values)| {
                let factors = (0..data as u32).map(|m| match member.checked_sub(data as u32) {
                    None => u64::from(m == member),
                    Some(parity) => self.factor(parity, m),
                });
                factors.chain([values[at]]).collect()
            })
            .collect();
        for column in 0..data {
            let pivot = (column..rows.len()).find(|&row| rows[row][column] != 0)?;
            rows.swap(column, pivot);
            let scale = inverse(rows[column][column]);
            rows[column].iter_mut().for_each(|value| *value = times(*value, scale));
            let pivot = rows[column].clone();
            for (_, row) in rows.iter_mut().enumerate().filter(|(at, row)| *at != column && row[column] != 0) {
                let factor = row[column];
                row.iter_mut().zip(&pivot).for_each(|(value, of)| *value = minus(*value, times(factor, *of)));
            }
        }
        Some(rows[..data].iter().map(|row| row[data]).collect())
    }

    /// An operation that locked its stripe ended: checks that each existing member matches the data.
    pub(super) fn end(&mut self, operation: &Operation, id: OperationId, failed: u64, rebuild: Option<&Rebuild>) {
        let (stripe, data) = (operation.stripe, self.layout.data());
        let Some(known) = self.known.remove(&id.0) else { return };
        let cells: Vec<u64> = self.cells(operation).collect();
        if operation.only_reads() {
            return self.check_read(operation, &known, &cells);
        }
        for (&member, changes) in &known.written {
            let unit = stripe * u64::from(data) + u64::from(member);
            for (&cell, change) in cells.iter().zip(changes) {
                let value = change.of(self.datum(stripe, member, cell));
                self.data.insert((unit, cell), value);
            }
        }
        let is_rebuilt = operation.kind == Kind::Rebuild || rebuild.is_some_and(|r| r.has_rebuilt(stripe));
        for member in 0..data + self.layout.parity() {
            if failed >> self.layout.drive(stripe, member) & 1 == 1 && !is_rebuilt {
                continue;
            }
            for &cell in &cells {
                let held = self.held.get(&self.place(stripe, member, cell)).copied().unwrap_or(0);
                let of_data = |parity| {
                    (0..data).fold(0, |sum, m| plus(sum, times(self.factor(parity, m), self.datum(stripe, m, cell))))
                };
                let should = member.checked_sub(data).map_or_else(|| self.datum(stripe, member, cell), of_data);
                if held != should {
                    let what = if member < data { "data" } else { "parity" };
                    broken(
                        Invariant::StripeParity,
                        format_args!(
                            "{what} of member {member} in stripe {stripe} does not match the volume's data after {:?}",
                            operation.kind
                        ),
                    );
                }
            }
        }
    }

    /// Checks that the host reads the volume's data.
    fn check_read(&self, operation: &Operation, known: &Known, cells: &[u64]) {
        let stripe = operation.stripe;
        for (at, &cell) in cells.iter().enumerate() {
            let decoded = self.decoded(known, at);
            for member in operation.wanted.iter() {
                let read = known.read.get(&member).map(|values| values[at]);
                let value = read.or_else(|| decoded.as_ref().map(|all| all[member as usize]));
                if value != Some(self.datum(stripe, member, cell)) {
                    let reads = operation.reads;
                    broken(
                        Invariant::StripeParity,
                        format_args!("data of member {member} in stripe {stripe} is wrong after reads of {reads:?}"),
                    );
                }
            }
        }
    }

    /// Changes a drive without the volume's knowledge.
    #[cfg(test)]
    pub(super) fn tamper(&mut self, stripe: u64, member: u32, cell: u64) {
        *self.held.entry(self.place(stripe, member, cell)).or_default() += 1;
    }
}
