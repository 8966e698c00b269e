//! Several workloads in one configuration: what cannot be combined.

use super::{Configuration, LayerError, Origin, Resolved, Stack, WORKLOADS, decode, nearest};
use copyback_workload::tenants;

impl<C: Configuration> Stack<C> {
    /// Several workloads instead of one: each is complete, and they fit together.
    pub(super) fn check_tenants(&self, resolved: &Resolved<C>) -> Result<(), LayerError> {
        if let Some(alone) = self.root.get("workload").filter(|entry| !entry.is_empty_table()) {
            let error = LayerError::new(
                "`[workload]` defines a single workload, but there are `[workloads.NAME]`, \
                                         too",
            );
            let help = "keep one of the two; settings of one workload of several are `workloads.NAME.key`";
            return Err(error.with_help(help).at(decode::user_place(&alone.key)));
        }
        tenants::check(&resolved.tenants).map_err(|error| {
            let key = format!("{WORKLOADS}.{}", error.key);
            let place = decode::place_of(&self.root, &key);
            let name = error.key.split('.').next().unwrap_or_default();
            // A workload that only `--set` mentions is perhaps another one's mistyped name.
            let is_of_set = place.as_ref().is_some_and(|place| place.text.origin == Origin::CommandLine);
            let others = resolved.tenants.keys().map(String::as_str).filter(|other| *other != name);
            let help = match nearest(name, others).filter(|_| is_of_set) {
                Some(near) => {
                    let help = error.help.map_or_else(String::new, |help| format!(" Or, for a new workload, {help}"));
                    Some(format!("did you mean `{near}`?{help}"))
                }
                None => error.help,
            };
            LayerError { message: format!("`{key}`: {}", error.message), help, place }
        })?;
        if self.place_of_leaf("host.mode").is_some() && !resolved.run.has_closed_loop() {
            let without =
                resolved.tenants.iter().find(|(_, tenant)| !tenant.spec.has_times() && tenant.settings.mode.is_none());
            if let Some((name, _)) = without {
                let error = LayerError::new(format!(
                    "`host.mode`: an open loop needs arrival times, and the workload `{name}` has none"
                ));
                let help = format!("set `workloads.{name}.mode = \"closed\"`, or give the workload `arrivals`");
                return Err(error.with_help(help).at(self.place_of_leaf("host.mode")));
            }
        }
        if self.place_of_leaf("host.target").is_some() && resolved.run.names_drives() {
            let error = LayerError::new("`host.target`: several workloads share a volume, and address no drives");
            return Err(error.with_help("remove it").at(self.place_of_leaf("host.target")));
        }
        Ok(())
    }
}
