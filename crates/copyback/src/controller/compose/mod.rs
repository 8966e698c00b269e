//! Compose: what goes into one flash command?
//!
//! Contract: when a die is ready, the order names a transaction to lead the next command. The builders of the list are
//! tried in turn; each sees the lead, the die's queues and the planes, and may add partners. The first that answers is
//! issued; without an answer the lead goes alone. Builders look; the engine checks legality and issues.

pub mod list;

use crate::config::{KeyError, RunConfig, axis};

axis! {
    /// `[compose]`
    ComposeConfig, "compose", "what goes into one flash command?", default List,
    { "list" => list: List }
}

impl ComposeConfig {
    /// Checks the parameters.
    pub fn check(&self, run: &RunConfig) -> Result<(), KeyError> {
        let Self::List(p) = self;
        p.check(run)
    }
}
