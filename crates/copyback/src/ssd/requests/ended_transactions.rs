//! Transactions that ended or were split, until their requests process that.

use crate::sim::index::{RequestId, TxnId};
use std::collections::VecDeque;

/// The news for a drive's requests, in order.
pub(in crate::ssd) struct Endings {
    /// Transactions that ended, in the order of their ends. Invariant: each is still in the table of transactions.
    ended: VecDeque<TxnId>,
    /// The requests of split transactions, once for each split.
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

    /// Whether there is any news.
    #[inline(always)]
    pub fn has_any(&self) -> bool {
        !self.ended.is_empty() || !self.split_of.is_empty()
    }

    /// The number of ended transactions.
    pub fn count(&self) -> usize {
        self.ended.len()
    }

    /// The transaction that ended first.
    pub fn take_ended(&mut self) -> Option<TxnId> {
        self.ended.pop_front()
    }

    /// The request of a split transaction, once for each split.
    pub fn take_split(&mut self) -> Option<RequestId> {
        self.split_of.pop()
    }
}
