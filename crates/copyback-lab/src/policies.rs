//! Policies that the calling program supplies for an experiment.

use crate::failure::Failure;
pub use copyback::run::policies::{Policies, PolicyMaker};

/// A policy that the calling program supplies. It replaces the policy of a scheme on the axis of its maker; a
/// background task is added to a scheme's tasks.
#[derive(Clone, Debug)]
pub struct SuppliedPolicy {
    /// The scheme that it belongs to; `None`: every scheme of the experiment.
    pub scheme: Option<String>,
    /// Its name in results. Of several policies of an axis with one name, all but the first get a number: `Mine#2`.
    pub name: String,
    /// The maker of the policy of each drive. Two policies with clones of one maker are one policy.
    pub maker: PolicyMaker,
}

/// Settings that a policy of an axis needs, which precede the settings that choose it.
const BESIDE: &[(&str, &[&str])] = &[("admit.shares", &["admit.policy=debit", "preemption.policy=always"])];

/// Supplied policies by name, and the settings that choose them for schemes, written as `--set` takes them.
///
/// # Errors
/// If a scheme gets two policies of one axis.
pub fn named(supplied: &[SuppliedPolicy]) -> Result<(Policies, Vec<String>), Failure> {
    let (mut policies, mut settings) = (Policies::default(), Vec::new());
    for (at, SuppliedPolicy { scheme, name, maker }) in supplied.iter().enumerate() {
        let axis = maker.axis();
        if supplied[..at].iter().any(|other| other.scheme == *scheme && other.maker.axis() == axis) {
            let of = scheme.as_ref().map_or_else(|| "all schemes".to_owned(), |scheme| format!("scheme `{scheme}`"));
            return Err(Failure::input(format!("two policies of the axis `{axis}` are supplied for {of}"))
                .with_help("supply one policy for each axis; a drive has one supplied task"));
        }
        let prefix = scheme.as_ref().map(|scheme| format!("{scheme}:")).unwrap_or_default();
        let beside = BESIDE.iter().filter(|(needs, _)| *needs == axis).flat_map(|(_, settings)| *settings);
        settings.extend(beside.map(|setting| format!("{prefix}{setting}")));
        let name = policies.add(name, maker);
        settings.extend(maker.settings(&name).iter().map(|setting| format!("{prefix}{setting}")));
    }
    Ok((policies, settings))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn supplied(scheme: Option<&str>, maker: &PolicyMaker) -> SuppliedPolicy {
        SuppliedPolicy { scheme: scheme.map(str::to_owned), name: "Mine".into(), maker: maker.clone() }
    }

    #[test]
    fn schemes_choose_policies_by_settings() {
        let victim = |_: &_, _| unreachable!("no drive is made");
        let (one, other) = (PolicyMaker::Victim(Arc::new(victim)), PolicyMaker::Victim(Arc::new(victim)));
        let shares = PolicyMaker::Shares(Arc::new(|| unreachable!("no drive is made")));
        let task = PolicyMaker::Task(Arc::new(|_: &_, _| unreachable!("no drive is made")));
        let all = [
            supplied(None, &one),
            supplied(Some("a"), &one),
            supplied(Some("b"), &other),
            supplied(None, &shares),
            supplied(None, &task),
        ];
        let (_, settings) = named(&all).unwrap();
        let expected = [
            "victim.policy=plugin",
            "victim.name=\"Mine\"",
            "a:victim.policy=plugin",
            "a:victim.name=\"Mine\"",
            "b:victim.policy=plugin",
            "b:victim.name=\"Mine#2\"",
            "admit.policy=debit",
            "preemption.policy=always",
            "admit.shares.policy=plugin",
            "admit.shares.name=\"Mine\"",
            "tasks.plugin.name=\"Mine\"",
        ];
        assert_eq!(settings, expected);
        let failure = named(&[supplied(Some("a"), &one), supplied(Some("a"), &other)]).unwrap_err();
        assert_eq!(failure.message(), "two policies of the axis `victim` are supplied for scheme `a`");
    }
}
