//! Checks that the settings of a drive fit collections that reserve no die.

use super::config::RunConfig;
use crate::config::KeyError;
use crate::dispatch::admit::AdmitConfig;
use crate::dispatch::admit::debit::MapTask;
use crate::dispatch::admit::shares::{SharesConfig, TASKS};
use crate::flash::command::Source;
use crate::ftl::allocation::Known;
use crate::observe::report::Sample;
use crate::tasks::gc::granularity::{GranularityConfig, GranularityPolicy};

impl RunConfig {
    /// To admit by task, collections must be admitted: one that reserves its die takes a slot without admission.
    fn check_distinguished_tasks(&self) -> Result<(), KeyError> {
        if !self.admit.distinguishes_tasks() || self.preemption.is_timeless() {
            return Ok(());
        }
        let why = format!(
            "`{}` decides which task's requests enter, and collections of `preemption.policy = \"{}\"` reserve their \
             die instead",
            self.admit.name(),
            self.preemption.name()
        );
        let help = "set `preemption.policy = \"always\"`, or `admit.policy` to \"all\" or \"window\"";
        Err(KeyError::new("admit.policy", why).with_help(help))
    }

    /// Whether no request of a collection enters a window before the host is done: it has neither share nor guard.
    pub(super) fn keeps_collection_out(&self) -> bool {
        matches!(&self.admit, AdmitConfig::Debit(p) if p.guard == 0) && self.admit.excludes(Source::GC)
    }

    /// Warns that tasks have more slots together than exist: by the settings, or, with feedback, by the observed
    /// shares.
    pub(super) fn note_of_shares(&self, series: &[Sample]) -> Option<String> {
        let AdmitConfig::Debit(params) = &self.admit else { return None };
        let is_on = |task: Source| self.tasks.on().any(|(_, source)| source.account() == task.account());
        let has_map = params.map == MapTask::Own && self.mapping.cache().is_some();
        let of = |is_on: bool, share: f64| if is_on { share } else { 0.0 };
        let together = match &params.shares {
            SharesConfig::Fixed(p) => {
                p.gc + of(has_map, p.map) + of(is_on(Source::SCRUB), p.scrub) + of(is_on(Source::WEAR), p.wear)
            }
            SharesConfig::Plugin(_) => return None,
            SharesConfig::Feedback(p) => {
                let fed_back = |s: &Sample| s.gc_share_percent.unwrap_or(0.0) + s.scrub_share_percent.unwrap_or(0.0);
                let highest = series.iter().map(fed_back).fold(0.0, f64::max);
                highest + of(has_map, p.map) + of(is_on(Source::WEAR), p.wear)
            }
        };
        (together > 100.0).then(|| {
            format!(
                "shares of all tasks together (`admit.shares`) reach {together:.0} % of the slots: while all are at \
                 work, the host has one slot of the drive"
            )
        })
    }

    /// Checks that tasks have a share of the slots, and may relocate single blocks.
    pub(super) fn check_background(&self) -> Result<(), KeyError> {
        self.tasks.check()?;
        if self.tasks.is_empty() {
            return Ok(());
        }
        if let Some((name, source)) = self.tasks.on().find(|&(_, source)| self.admit.excludes(source)) {
            let why = format!("`tasks.{name}` is on, and without a share its relocations never complete");
            let of_account = |task: &&(&str, Source)| task.1.account() == source.account();
            let share = TASKS.iter().find(of_account).map_or(name, |&(share, _)| share);
            return Err(KeyError::new(format!("admit.shares.{share}"), why)
                .with_help(format!("use a share above 0, or remove `[tasks.{name}]`")));
        }
        let refuse = |why: &str, help: &str| Err(KeyError::new("tasks", why).with_help(help));
        if self.mapping.log_blocks().is_some() {
            let why = "a data block of `mapping.policy = \"fast\"` moves only by a merge, and tasks relocate blocks \
                       one by one";
            return refuse(why, "leave `[tasks]` out, or choose another `mapping.policy`");
        }
        Ok(())
    }

    /// Collections whose commands are requests among others: each takes one block, page by page.
    pub(super) fn check_tasks(&self) -> Result<(), KeyError> {
        let copies_back = self.granularity.build().copies_back();
        if self.preemption.as_task().is_none() {
            if copies_back && self.geometry.units_per_page() > 1 {
                let why = "a copyback moves whole pages, but mapping units are smaller than a page";
                let help = "set `granularity.copyback = false`, or `preemption.policy = \"always\"`";
                return Err(KeyError::new("granularity.copyback", why).with_help(help));
            }
            return self.check_distinguished_tasks();
        }
        let refuse = |key: &str, why: &str, help: &str| Err(KeyError::new(key, why).with_help(help));
        let other = "or choose another `preemption.policy`";
        let granularity = self.granularity.build();
        let is_plain = matches!(self.granularity, GranularityConfig::Block(_));
        if !is_plain || granularity.leaves_plane() {
            let why = "collections that reserve no die (`preemption.policy = \"always\"`) take one block, and \
                       `allocation` decides where its data goes";
            let help = "set `granularity.policy = \"block\"` and `destination = \"local\"`";
            return refuse("granularity.policy", why, &format!("{help}, {other}"));
        }
        let goes_anywhere = self.allocation.knows() == Known::Nothing && self.frontier.shares_block();
        if copies_back && goes_anywhere {
            let why = "moved data goes to any plane if `allocation` chooses dies and it shares open blocks with the \
                       host's data, but a copyback stays on its plane";
            let help = "set `allocation.policy = \"static\"`, or `granularity.copyback = false`";
            return refuse("granularity.copyback", why, &format!("{help}, {other}"));
        }
        if !self.compose.gc_builders().is_empty() {
            let why = "no request joins the commands of collections that reserve no die \
                       (`preemption.policy = \"always\"`): requests go between them";
            return refuse("compose.gc", why, &format!("set `compose.gc = []`, {other}"));
        }
        if self.mapping.log_blocks().is_some() {
            let why = "merges reserve their die, and `preemption.policy = \"always\"` reserves none";
            return refuse("mapping.policy", why, &format!("set `mapping.policy = \"page\"`, {other}"));
        }
        let has_one_block = !self.frontier.has_second_active() && !self.frontier.opens_twins();
        if !has_one_block || self.frontier.keeps_hot_apart() {
            let why = "collections that reserve no die (`preemption.policy = \"always\"`) use one open block of each \
                       plane for moved data";
            let help = "use `frontier.policy = \"single\"` or `\"split\"`, without `hot_window`";
            return refuse("frontier.policy", why, &format!("{help}, {other}"));
        }
        if let Some(key) = self.trigger.key_needing_dies() {
            let why = "it needs collections that wait for their die, and `preemption.policy = \"always\"` reserves \
                       none";
            return refuse(key, why, &format!("leave it out, {other}"));
        }
        Ok(())
    }
}
