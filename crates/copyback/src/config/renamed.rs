//! Old names, which are refused now, and the names that replaced them.
//!
//! One table has all of them: a reader that does not know a name searches it before it suggests a similar name.

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A table of a configuration.
    Table,
    /// A key: `table.key`, under the table's new name.
    Key,
    /// A policy of an axis: `axis.policy`, under the axis' new name.
    Policy,
    /// A number of the report, as a metric and as a column; a name that ends with a dot is a prefix.
    Number,
}

/// A name that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// Its meaning.
    pub kind: Kind,
    /// The old name.
    pub old: &'static str,
    /// The new name.
    pub new: &'static str,
}

macro_rules! renamed {
    ($($kind:ident $old:literal => $new:literal),+ $(,)?) => {
        /// Every name that changed.
        pub const RENAMED: &[Renamed] = &[$(Renamed { kind: Kind::$kind, old: $old, new: $new }),+];
    };
}

renamed! {
    Table "yield" => "preemption",
    Table "unit" => "granularity",
    Key "victim.look" => "victim.scan",
    Key "workload.block_action" => "workload.event",
    Policy "preemption.never" => "preemption.none",
    Policy "preemption.slack" => "preemption.deadline",
    Number "array.told." => "array.orders.",
    Number "blame." => "latency_breakdown.",
    Number "flash.programs_beside_gc" => "flash.programs_paired_with_gc",
    Number "flash.queue_looks" => "flash.queue_polls",
    Number "flash.reads_beside_gc" => "flash.reads_paired_with_gc",
    Number "gc.round_max_ns" => "gc.collection_max_ns",
    Number "gc.round_mean_ns" => "gc.collection_mean_ns",
    Number "gc.rounds" => "gc.collections",
    Number "max_queue_depth" => "peak_outstanding",
    Number "steady.reserve.put_off" => "steady.reserve.postponed",
    Number "utilisation." => "utilization.",
}

fn of(kind: Kind, name: &str) -> Option<&'static str> {
    RENAMED.iter().find(|row| row.kind == kind && row.old == name).map(|row| row.new)
}

/// The new name of a table.
pub fn table(name: &str) -> Option<&'static str> {
    of(Kind::Table, name)
}

/// The new name of a key of a table, table included.
pub fn key(table: &str, key: &str) -> Option<&'static str> {
    of(Kind::Key, &format!("{table}.{key}"))
}

/// The new name of a policy of an axis.
pub fn policy(axis: &str, policy: &str) -> Option<&'static str> {
    let new = of(Kind::Policy, &format!("{axis}.{policy}"))?;
    new.split_once('.').map(|(_, policy)| policy)
}

/// The new name of a setting: a dotted path of any length.
pub fn setting(path: &str) -> Option<String> {
    let (old_table, rest) = path.split_once('.')?;
    let table = table(old_table).unwrap_or(old_table);
    let first = rest.split('.').next().unwrap_or(rest);
    let below = &rest[first.len()..];
    let new = key(table, first).map_or_else(|| format!("{table}.{rest}"), |new| format!("{new}{below}"));
    (new != path).then_some(new)
}

/// The present name of an axis or a policy, named alone or as `axis.policy`.
pub fn axis_or_policy(name: &str) -> Option<String> {
    if let Some(axis) = table(name) {
        return Some(axis.to_owned());
    }
    let under_new_axis = name.split_once('.').map(|(axis, policy)| format!("{}.{policy}", table(axis).unwrap_or(axis)));
    let renamed = RENAMED.iter().filter(|row| row.kind == Kind::Policy).find(|row| {
        Some(row.old) == under_new_axis.as_deref() || row.old.split_once('.').is_some_and(|(_, policy)| policy == name)
    });
    renamed.map(|row| row.new.to_owned()).or(under_new_axis.filter(|new| new != name))
}

/// The new name of a number of the report.
pub fn number(name: &str) -> Option<String> {
    RENAMED.iter().filter(|row| row.kind == Kind::Number).find_map(|row| {
        let below = name.strip_prefix(row.old)?;
        (below.is_empty() != row.old.ends_with('.')).then(|| format!("{}{below}", row.new))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_new_ones_and_others_to_none() {
        assert_eq!(table("yield"), Some("preemption"));
        assert_eq!(policy("preemption", "slack"), Some("deadline"));
        assert_eq!(setting("yield.poll").as_deref(), Some("preemption.poll"));
        assert_eq!(setting("victim.look").as_deref(), Some("victim.scan"));
        assert_eq!(number("blame.read_mean_ns.gc").as_deref(), Some("latency_breakdown.read_mean_ns.gc"));
        assert_eq!(number("gc.rounds").as_deref(), Some("gc.collections"));
        for (name, new) in [
            ("yield", "preemption"),
            ("unit", "granularity"),
            ("slack", "preemption.deadline"),
            ("never", "preemption.none"),
            ("preemption.never", "preemption.none"),
            ("yield.slack", "preemption.deadline"),
            ("yield.ideal", "preemption.ideal"),
        ] {
            assert_eq!(axis_or_policy(name).as_deref(), Some(new), "{name}");
        }
        for name in ["none", "preemption", "preemption.ideal", "sleck", "victim.never"] {
            assert_eq!(axis_or_policy(name), None, "{name}");
        }
        for name in ["blame.", "gc.rounds.x", "gc.round", "gc.units_moved"] {
            assert_eq!(number(name), None, "{name}");
        }
        for path in ["preemption.poll", "victim.policy", "trigger.idle.after", "yield"] {
            assert_eq!(setting(path), None, "{path}");
        }
    }

    /// No new name is an old name of the same kind: it would be refused.
    #[test]
    fn nothing_is_renamed_twice() {
        for row in RENAMED {
            assert!(RENAMED.iter().all(|other| other.kind != row.kind || other.old != row.new), "{row:?}");
        }
    }
}
