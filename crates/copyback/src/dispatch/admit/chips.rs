//! Chips as the policies of this folder see them in their tests.

use super::{AdmitPolicy, AdmitView, Entry};
use crate::dispatch::queues::Queues;
use crate::dispatch::txn::{Role, Txn, Txns};
use crate::dispatch::windows::DieWindows;
use crate::flash::command::Source;
use crate::flash::geometry::Geometry;
use crate::run::config::RunConfig;
use crate::sim::index::{DieId, LogicalUnit, PlaneId};

/// The view of a policy on chips with four free slots each.
pub(super) struct Chips {
    pub windows: DieWindows,
    queues: Queues,
    txns: Txns,
}

impl Chips {
    pub fn new(dies: u32) -> Self {
        let text = format!(
            r#"
            capacity = {{ over_provisioning = 0.5 }}
            timing = {{ read = "50 us", program = "500 us", erase = "3 ms", channel = "100 MB/s" }}
            [geometry]
            channels = 1
            chips_per_channel = {dies}
            dies_per_chip = 1
            planes_per_die = 1
            blocks_per_plane = 8
            pages_per_block = 4
            page_size = "4 KiB"
            "#
        );
        let config: RunConfig = crate::config::from_toml(&text).expect("a configuration");
        let geometry = Geometry::new(&config.device());
        Self { windows: DieWindows::new(4, dies), queues: Queues::new(&geometry, None), txns: Txns::new(8) }
    }

    pub fn view(&self, waits_for_gc: bool) -> AdmitView<'_> {
        AdmitView { windows: &self.windows, queues: &self.queues, txns: &self.txns, waits_for_gc }
    }

    /// A request of a task waits at a die, as the policy is notified.
    pub fn wait(&mut self, policy: &mut impl AdmitPolicy, task: Source, die: DieId) {
        let is_first = !self.windows.waiting(die).has(task);
        policy.on_wait(Entry { task, die }, is_first);
        let txn = Txn { task, ..Txn::new(Role::Read, LogicalUnit(0), 1, die, PlaneId::NONE) };
        let id = self.txns.add(txn);
        self.queues.push_back(self.queues.for_window(die, task), id, &self.txns, |_| unreachable!("there is no index"));
        self.windows.set_waiting(die, task, true);
        if is_first {
            policy.on_head(Entry { task, die }, &self.view(false));
        }
    }
}
