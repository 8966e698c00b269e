//! The request splitter: from a request's bytes to sub-requests of mapping units.
//!
//! A sub-request covers units of one logical page. If the map is in DRAM, the units of a read's transaction also share
//! a physical page when it is made. A request of many pages is split until the drive has its maximum of transactions;
//! the rest is split when some have completed.

use crate::sim::index::LogicalUnit;
use copyback_workload::{Op, Request};

/// The part of a request that was not split yet.
#[derive(Clone, Copy, Debug)]
pub struct Splitter {
    op: Op,
    units_per_page: u32,
    unit_bytes: u64,
    offset_bytes: u64,
    end_bytes: u64,
    first_unit: u32,
    next_unit: u32,
    end_unit: u32,
}

/// Units of one logical page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubRequest {
    /// The first.
    pub first: LogicalUnit,
    /// How many.
    pub units: u32,
    /// Whether the request covers only a part of the first unit.
    pub first_is_partial: bool,
    /// Whether it covers only a part of the last. If both are the same unit, only `first_is_partial` is set.
    pub last_is_partial: bool,
    /// Units of its whole request: the first, and the one behind the last.
    pub request: [u32; 2],
}

impl Splitter {
    /// The whole request. A trim covers only the units that lie wholly inside it.
    pub fn new(request: &Request, unit_bytes: u32, units_per_page: u32) -> Self {
        let unit_bytes = u64::from(unit_bytes);
        let (offset_bytes, end_bytes) = (request.offset_bytes, request.offset_bytes + request.len_bytes);
        let (next_unit, end_unit) = match request.op {
            Op::Trim => (offset_bytes.div_ceil(unit_bytes), end_bytes / unit_bytes),
            // The request is empty.
            _ if request.len_bytes == 0 => (offset_bytes / unit_bytes, 0),
            Op::Read | Op::Write => (offset_bytes / unit_bytes, end_bytes.div_ceil(unit_bytes)),
        };
        Self {
            op: request.op,
            units_per_page,
            unit_bytes,
            offset_bytes,
            end_bytes,
            first_unit: next_unit as u32,
            next_unit: next_unit as u32,
            end_unit: end_unit.max(next_unit) as u32,
        }
    }

    /// The operation.
    pub fn op(&self) -> Op {
        self.op
    }

    /// The rest as one range of units: the first and how many.
    pub fn rest(&self) -> (LogicalUnit, u32) {
        (LogicalUnit(self.next_unit), self.end_unit - self.next_unit)
    }
}

impl Iterator for Splitter {
    type Item = SubRequest;

    fn next(&mut self) -> Option<SubRequest> {
        if self.next_unit >= self.end_unit {
            return None;
        }
        let first = self.next_unit;
        let page_end = (first / self.units_per_page + 1).saturating_mul(self.units_per_page);
        let end = page_end.min(self.end_unit);
        self.next_unit = end;
        let starts_inside = self.offset_bytes > u64::from(first) * self.unit_bytes;
        let ends_inside = self.end_bytes < u64::from(end) * self.unit_bytes;
        let is_one = end - first == 1;
        Some(SubRequest {
            first: LogicalUnit(first),
            units: end - first,
            first_is_partial: starts_inside || (is_one && ends_inside),
            last_is_partial: ends_inside && !is_one,
            request: [self.first_unit, self.end_unit],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use copyback_workload::Priority;

    fn split(op: Op, offset_bytes: u64, len_bytes: u64) -> Vec<(u32, u32, bool, bool)> {
        let request = Request { arrival_ns: 0, offset_bytes, len_bytes, device: 0, op, priority: Priority::Normal };
        Splitter::new(&request, 4096, 4).map(|p| (p.first.0, p.units, p.first_is_partial, p.last_is_partial)).collect()
    }

    #[test]
    fn sub_requests_end_at_logical_pages_and_know_their_partial_units() {
        assert_eq!(split(Op::Write, 0, 4096), [(0, 1, false, false)]);
        assert_eq!(split(Op::Write, 512, 512), [(0, 1, true, false)]);
        assert_eq!(split(Op::Write, 0, 512), [(0, 1, true, false)]);
        assert_eq!(split(Op::Write, 2048, 8192), [(0, 3, true, true)]);
        assert_eq!(split(Op::Write, 12_288, 8192), [(3, 1, false, false), (4, 1, false, false)]);
        assert_eq!(split(Op::Read, 8192, 40_960), [(2, 2, false, false), (4, 4, false, false), (8, 4, false, false)]);
    }

    #[test]
    fn an_empty_request_covers_no_unit() {
        for op in [Op::Read, Op::Write, Op::Trim] {
            assert_eq!(split(op, 1, 0), []);
            assert_eq!(split(op, 8192, 0), []);
        }
    }

    #[test]
    fn a_trim_covers_whole_units_only() {
        assert_eq!(split(Op::Trim, 1, 8191), [(1, 1, false, false)]);
        assert_eq!(split(Op::Trim, 1, 4096), []);
    }
}
