//! Finds settings of a generator that affect no request.

use super::{HotScope, WorkloadSpec};

/// A key that no request depends on, or a table with all its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// The key below `[workload]`, such as `read_size`.
    pub key: &'static str,
    /// Why no request depends on it.
    pub why: &'static str,
}

impl WorkloadSpec {
    /// Keys that are set, but that no request depends on, for a generator that passed its check.
    pub fn unused(&self) -> Vec<Unused> {
        if self.trace.is_some() {
            return Vec::new();
        }
        let [reads, writes, trims] = self.kinds();
        // A trim before a write has the size of the write.
        let sizes = [
            ("read_size", &self.read_size, reads, "no request reads"),
            ("write_size", &self.write_size, writes, "no request writes"),
            ("trim_size", &self.trim_size, trims, "no trim has a size of its own"),
        ];
        let takes_common = sizes.iter().any(|(_, own, comes, _)| *comes && own.is_none());
        let mut unused: Vec<(&'static str, bool, &'static str)> = sizes
            .iter()
            .map(|(key, own, comes, why)| (*key, own.is_some() && !comes, *why))
            .chain([("size", self.size.is_some() && !takes_common, "requests of each kind have a size of their own")])
            .collect();
        unused.push(("trim_before_write", self.trim_before_write == Some(true) && !writes, "no request writes"));
        if let Some(addresses) = &self.addresses {
            let run_length = addresses.run_length.unwrap_or(1);
            let continues = addresses.sequential_share.unwrap_or(0.0) > 0.0 || run_length > 1;
            let has_several = [reads, writes, trims].iter().filter(|comes| **comes).count() > 1;
            let by_op = addresses.sequential_by_op == Some(true);
            let why = if continues { "all requests are of one kind" } else { "no request continues another" };
            unused.push(("addresses.sequential_by_op", by_op && !(continues && has_several), why));
            let skips = [
                ("addresses.skip", addresses.skip.is_some_and(|skip| skip.0 > 0)),
                ("addresses.skip_back", addresses.skip_back.is_some_and(|skip| skip.0 > 0)),
            ];
            unused.extend(skips.map(|(key, is_set)| (key, is_set && !continues, "no request continues another")));
            let repeats = addresses.run_repeats == Some(true) && run_length == 1;
            unused.push(("addresses.run_repeats", repeats, "a run has one request"));
            let is_of_writes = addresses.hot_scope == Some(HotScope::Writes);
            unused.push(("addresses.hot_scope", is_of_writes && !reads, "no request reads"));
        }
        unused.into_iter().filter(|(_, is_unused, _)| *is_unused).map(|(key, _, why)| Unused { key, why }).collect()
    }

    /// Whether a generator has reads, writes, and trims that are drawn.
    fn kinds(&self) -> [bool; 3] {
        let trims = self.trim_share.unwrap_or(0.0);
        match self.read_arrivals {
            Some(_) => [true, trims < 1.0, trims > 0.0],
            None => {
                let reads = self.read_share.unwrap_or(0.0);
                [reads > 0.0, reads + trims < 1.0, trims > 0.0]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The unused keys of a generator with these tables of sizes and these keys.
    fn unused(sizes: &[&str], keys: &str) -> Vec<&'static str> {
        let size = |name: &&str| format!("{name} = {{ kind = \"fixed\", mean = \"4 KiB\" }}\n");
        let sizes: String = sizes.iter().map(size).collect();
        let spec: WorkloadSpec = toml::from_str(&format!("requests = 9\n{sizes}{keys}")).expect("it is a workload");
        spec.check().expect("it makes sense");
        spec.unused().iter().map(|unused| unused.key).collect()
    }

    #[test]
    fn sizes_of_kinds_that_do_not_come_are_unused() {
        let all = &["size", "read_size", "write_size", "trim_size"][..];
        let trims = "read_share = 0.5\ntrim_share = 0.1";
        let before = "read_share = 0.0\ntrim_before_write = true";
        for (sizes, keys, expected) in [
            (&["size"][..], "read_share = 0.5", &[][..]),
            (&["size", "read_size"], "read_share = 0.0", &["read_size"]),
            (&["size", "read_size"], "read_share = 1.0", &["size"]),
            (&["size", "write_size"], "read_share = 1.0", &["write_size"]),
            (&["read_size", "write_size"], "read_share = 0.5", &[]),
            (&["read_size", "write_size", "trim_size"], "read_share = 0.5", &["trim_size"]),
            (&["size", "read_size", "write_size"], "read_share = 0.5", &["size"]),
            (&["size", "read_size", "write_size"], trims, &[]),
            (all, trims, &["size"]),
            // The trim before a write takes the size of the write.
            (&["write_size", "trim_size"], before, &["trim_size"]),
        ] {
            assert_eq!(unused(sizes, keys), expected, "{sizes:?} {keys}");
        }
    }

    #[test]
    fn trims_before_writes_need_writes() {
        assert_eq!(unused(&["size"], "read_share = 1.0\ntrim_before_write = true"), ["trim_before_write"]);
        assert!(unused(&["size"], "read_share = 0.0\ntrim_before_write = true").is_empty());
    }

    #[test]
    fn settings_of_requests_that_do_not_come_are_unused() {
        let with = |share: f64, addresses: &str| {
            unused(&["size"], &format!("read_share = {share:?}\naddresses = {{ {addresses} }}"))
        };
        let by_op = &["addresses.sequential_by_op"][..];
        assert_eq!(with(0.5, "kind = \"uniform\", sequential_by_op = true"), by_op);
        assert_eq!(with(1.0, "kind = \"uniform\", sequential_by_op = true, sequential_share = 0.5"), by_op);
        assert!(with(0.5, "kind = \"uniform\", sequential_by_op = true, run_length = 2").is_empty());
        let one = "kind = \"uniform\", run_length = 1, skip = \"4 KiB\", run_repeats = true";
        assert_eq!(with(0.5, one), ["addresses.skip", "addresses.run_repeats"]);
        assert!(with(0.5, &one.replace('1', "2")).is_empty());
        let hot = "kind = \"hot-cold\", hot_scope = \"writes\"";
        assert_eq!(with(0.0, hot), ["addresses.hot_scope"]);
        assert!(with(0.5, hot).is_empty() && with(1.0, hot).is_empty());
    }
}
