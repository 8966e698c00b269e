//! The order in which a plan's drives are made and its runs executed: runs with equal drives one after another, so that
//! few drives exist at the same time.

use crate::plan::{Plan, Planned};
use crate::preconditioned;
use std::collections::{BTreeMap, BTreeSet};

/// Runs that begin with equal drives.
pub struct Group<'a> {
    /// The drives that no earlier group makes: a run that has each, and its number in that run.
    pub drives: Vec<(&'a Planned, usize)>,
    /// Indices of the runs in their plan, ascending.
    pub runs: Vec<usize>,
}

/// One piece of work.
pub enum Work<'a> {
    /// Make a drive: a run that has it, and its number in that run.
    Make(&'a Planned, usize),
    /// Execute a run, by its index in the plan.
    Run(usize),
}

/// The groups of a plan, in the order of their first runs.
pub fn groups(plan: &Plan) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut group_of: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    let mut known = BTreeSet::new();
    for (run, planned) in plan.runs.iter().enumerate() {
        let keys: Vec<String> = planned.members.iter().map(preconditioned::key).collect();
        let at = *group_of.entry(keys.clone()).or_insert_with(|| {
            let is_new = keys.into_iter().map(|key| known.insert(key));
            let drives =
                is_new.enumerate().filter(|(_, is_new)| *is_new).map(|(number, _)| (planned, number)).collect();
            groups.push(Group { drives, runs: Vec::new() });
            groups.len() - 1
        });
        groups[at].runs.push(run);
    }
    groups
}

/// The work of all groups. The drives of as many groups as there are jobs are made first, so that threads seldom wait
/// for a drive. The drives of a later group are made after the runs of the group that is `jobs` places before it.
pub fn in_order<'a>(groups: &[Group<'a>], jobs: usize) -> Vec<Work<'a>> {
    let ahead = jobs.clamp(1, groups.len().max(1));
    let mut order = Vec::new();
    groups.iter().take(ahead).for_each(|group| make(group, &mut order));
    for (at, group) in groups.iter().enumerate() {
        order.extend(group.runs.iter().copied().map(Work::Run));
        groups.get(at + ahead).into_iter().for_each(|group| make(group, &mut order));
    }
    order
}

fn make<'a>(group: &Group<'a>, order: &mut Vec<Work<'a>>) {
    order.extend(group.drives.iter().map(|&(planned, number)| Work::Make(planned, number)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::plan::plan;

    /// `greedy-split` needs a drive of its own; the drives of the other three are equal.
    #[test]
    fn runs_with_equal_drives_follow_each_other() {
        let schemes = ["baseline", "greedy-split", "pgc", "npgc"].map(str::to_owned).to_vec();
        let workload = Some("mixed-70-30".to_owned());
        let plan = plan(&Experiment { schemes, workload, ..Experiment::default() }, &[]).expect("it is right");
        let groups = groups(&plan);
        let order = |jobs| {
            let text = in_order(&groups, jobs).into_iter().map(|work| match work {
                Work::Make(planned, 0) => format!("make for {}", planned.scheme),
                Work::Make(..) => unreachable!("a run has one drive"),
                Work::Run(run) => format!("run {run}"),
            });
            text.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(order(1), "make for baseline, run 0, run 2, run 3, make for greedy-split, run 1");
        let ahead = "make for baseline, make for greedy-split, run 0, run 2, run 3, run 1";
        assert_eq!([order(2), order(9)], [ahead, ahead]);
    }
}
