//! Transactions that ended or were split, until the requests that they belong to hear of it.

use crate::sim::index::{RequestId, TxnId};
use std::collections::VecDeque;

/// What the requests of a drive have to hear, in order.
pub(in crate::ssd) struct Endings {
    /// Transactions that ended, in the order of their ends. Invariant: each is still in the table of transactions.
    ended: VecDeque<TxnId>,
    /// Requests of which a transaction was split in two, once for each split.
    split_of: Vec<RequestId>,
}

impl Endings {
    pub fn new() -> Self {
        Self { ended: VecDeque::with_capacity(64), split_of: Vec::new() }
    }

    /// A transaction ended.
    #[inline(always)]
    pub fn end(&mut self, id: TxnId) {
        self.ended.push_back(id);
    }

    /// A transaction of a request was split in two.
    pub fn split(&mut self, request: RequestId) {
        self.split_of.push(request);
    }

    /// Whether there is something to hear.
    #[inline(always)]
    pub fn has_any(&self) -> bool {
        !self.ended.is_empty() || !self.split_of.is_empty()
    }

    /// How many transactions ended.
    pub fn count(&self) -> usize {
        self.ended.len()
    }

    /// The transaction that ended first.
    pub fn take_ended(&mut self) -> Option<TxnId> {
        self.ended.pop_front()
    }

    /// A request of which a transaction was split, once for each split.
    pub fn take_split(&mut self) -> Option<RequestId> {
        self.split_of.pop()
    }
}
