//! Checks of a table `[workload]` before a run.

mod addresses;
mod arrivals;

use super::{ArrivalKind, Footprint, Format, GENERATED_ALIGN_DEFAULT, SizeKind, SizeSpec, WorkloadSpec};
use crate::units::Bytes;

/// A setting that makes no sense, with the dotted path of its key below `[workload]`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}")]
pub struct SpecError {
    /// The key, such as `read_size.mean`.
    pub key: String,
    /// The mistake in its value.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

type Checked = Result<(), SpecError>;

pub(super) fn wrong(key: &str, message: impl Into<String>, help: impl Into<String>) -> SpecError {
    SpecError { key: key.to_owned(), message: message.into(), help: Some(help.into()) }
}

impl WorkloadSpec {
    /// Finds settings that contradict each other or make no sense.
    ///
    /// # Errors
    /// The first mistake found.
    pub fn check(&self) -> Checked {
        match (&self.trace, self.requests) {
            (Some(_), _) => {
                self.check_no_generator()?;
                self.check_columns()?;
            }
            (None, Some(_)) => self.check_generator()?,
            (None, None) => {
                return Err(wrong(
                    "trace",
                    "neither a trace nor a generator is set",
                    "set `trace = \"file\"`, or `requests = 1000000` with `read_share` and `size`",
                ));
            }
        }
        self.check_transformations()
    }

    fn check_no_generator(&self) -> Checked {
        let set = [
            ("requests", self.requests.is_some()),
            ("read_share", self.read_share.is_some()),
            ("trim_share", self.trim_share.is_some()),
            ("footprint", self.footprint.is_some()),
            ("seed", self.seed.is_some()),
            ("size", self.size.is_some()),
            ("read_size", self.read_size.is_some()),
            ("write_size", self.write_size.is_some()),
            ("trim_size", self.trim_size.is_some()),
            ("arrivals", self.arrivals.is_some()),
            ("read_arrivals", self.read_arrivals.is_some()),
            ("addresses", self.addresses.is_some()),
            ("repeat_after", self.repeat_after.is_some()),
            ("trim_before_write", self.trim_before_write.is_some()),
        ];
        match set.iter().find(|(_, is_set)| *is_set) {
            Some(("requests", _)) => {
                Err(wrong("requests", "a trace has its own requests", "set `first` to replay only so many of them"))
            }
            Some((key, _)) => Err(wrong(
                key,
                "it sets a generator, but the workload replays a trace",
                "remove it, or `trace`; the default workload is a trace: `requests` with `read_share` replaces it",
            )),
            None => Ok(()),
        }
    }

    /// Checks `columns`, and refuses `columns` and `operations` for formats whose columns have no names.
    fn check_columns(&self) -> Checked {
        if let Some(columns) = &self.columns {
            columns.check()?;
        }
        let (format, help) = (self.format.unwrap_or(Format::Auto), "remove it, or set `format` to `csv` or `parquet`");
        if format == Format::Auto || format.row().options.contains(&"columns") {
            return Ok(());
        }
        if self.columns.is_some() {
            return Err(wrong("columns", format!("the columns of format `{format}` have no names"), help));
        }
        if self.operations.is_some() {
            return Err(wrong("operations", format!("format `{format}` says itself what its operations mean"), help));
        }
        Ok(())
    }

    fn check_generator(&self) -> Checked {
        let reader_options = [
            ("format", self.format.is_some()),
            ("columns", self.columns.is_some()),
            ("operations", self.operations.is_some()),
            ("zero_means", self.zero_means.is_some()),
            ("event", self.event.is_some()),
            ("skip_bad", self.skip_bad.is_some()),
            ("reorder_window", self.reorder_window.is_some()),
            ("layout", self.layout.is_some()),
        ];
        if let Some((key, _)) = reader_options.iter().find(|(_, is_set)| *is_set) {
            return Err(wrong(key, "it is an option of trace readers, but no trace is given", "remove it"));
        }
        if self.requests == Some(0) {
            return Err(wrong("requests", "no request would be generated", "set 1 or more"));
        }
        self.check_kinds()?;
        match self.footprint {
            Some(Footprint::Share(part)) if !(part > 0.0 && part <= 1.0) => {
                let message = format!("it has to be above 0 and at most 1, not {part}");
                return Err(wrong("footprint", message, "set for example 0.8"));
            }
            Some(Footprint::Size(Bytes(0))) => {
                return Err(wrong("footprint", "it is zero", "set for example \"1 GiB\""));
            }
            _ => {}
        }
        match self.repeat_after {
            Some(Footprint::Share(part)) if !(part > 0.0 && part.is_finite()) => {
                return Err(wrong("repeat_after", format!("{part} is not above 0"), "set for example 1.0"));
            }
            Some(Footprint::Size(Bytes(0)) | Footprint::Mapped) => {
                let help = "set a size, or a share of its addresses such as 1.0";
                return Err(wrong("repeat_after", "it is neither a size nor a share", help));
            }
            _ => {}
        }
        self.arrivals.as_ref().map_or(Ok(()), |arrivals| arrivals.check("arrivals"))?;
        self.check_read_arrivals()?;
        self.check_addresses()
    }

    /// Checks the shares of reads and trims, and that each kind of request has a size.
    fn check_kinds(&self) -> Checked {
        let trim_share = self.trim_share.unwrap_or(0.0);
        let Some(read_share) = self.read_share else {
            if self.read_arrivals.is_some() {
                share("trim_share", trim_share)?;
                return self.check_sizes(true, trim_share < 1.0, trim_share > 0.0);
            }
            return Err(wrong(
                "read_share",
                "a generator needs it",
                "set the share of requests that read, from 0 to 1",
            ));
        };
        if self.read_arrivals.is_some() {
            let message = "the rates of `read_arrivals` and `arrivals` already determine it";
            return Err(wrong("read_share", message, "remove it, or `read_arrivals`"));
        }
        share("read_share", read_share)?;
        share("trim_share", trim_share)?;
        if read_share + trim_share > 1.0 {
            let message = format!("{trim_share} and read_share {read_share} are more than all requests");
            return Err(wrong("trim_share", message, "writes have the remaining share; lower one of the two"));
        }
        self.check_sizes(read_share > 0.0, read_share + trim_share < 1.0, trim_share > 0.0)
    }

    /// Requires arrival times of both processes: with a closed loop, all reads would precede or follow all writes.
    fn check_read_arrivals(&self) -> Checked {
        let Some(reads) = &self.read_arrivals else { return Ok(()) };
        if self.trim_before_write == Some(true) {
            let message = "with `read_arrivals`, the write after a trim would take the arrival of a read";
            return Err(wrong("trim_before_write", message, "remove it, or `read_arrivals`"));
        }
        reads.check("read_arrivals")?;
        let help = "set for example `{ kind = \"poisson\", rate = 1000 }`, or `read_share` instead of `read_arrivals`";
        if reads.kind == ArrivalKind::Closed {
            return Err(wrong("read_arrivals.kind", "reads of a closed loop have no arrival times", help));
        }
        if self.arrivals.as_ref().is_none_or(|arrivals| arrivals.kind == ArrivalKind::Closed) {
            let message = "if reads have their own arrivals, writes need arrival times, too";
            return Err(wrong("arrivals", message, help));
        }
        Ok(())
    }

    fn check_sizes(&self, reads: bool, writes: bool, trims: bool) -> Checked {
        let align = self.align.unwrap_or(GENERATED_ALIGN_DEFAULT);
        let sizes = [
            ("read_size", &self.read_size, reads),
            ("write_size", &self.write_size, writes),
            ("trim_size", &self.trim_size, trims),
        ];
        if let Some(size) = &self.size {
            size.check("size", align)?;
        }
        for (key, size, used) in sizes {
            match size {
                Some(size) => size.check(key, align)?,
                None if used && self.size.is_none() => {
                    let help = "set `size = { kind = \"fixed\", mean = \"4 KiB\" }`, or this key alone";
                    return Err(wrong(key, "requests of this kind have no size", help));
                }
                None => {}
            }
        }
        Ok(())
    }

    fn check_transformations(&self) -> Checked {
        if let Some(scale) = self.time_scale
            && !(scale.is_finite() && scale > 0.0)
        {
            return Err(wrong("time_scale", format!("{scale} is not above 0"), "0.5 is twice as fast, 2 half as fast"));
        }
        if self.align == Some(Bytes(0)) {
            return Err(wrong("align", "it is zero", "set for example \"4 KiB\", or remove it"));
        }
        for (key, zero) in [("first", self.first == Some(0)), ("loop", self.passes == Some(0))] {
            if zero {
                return Err(wrong(key, "zero leaves no requests", "set 1 or more, or remove it"));
            }
        }
        share("high_priority_share", self.high_priority_share.unwrap_or(0.0))?;
        if self.reorder_window == Some(0) {
            return Err(wrong("reorder_window", "it is zero", "set 1 to demand sorted times"));
        }
        if let Some([start, end]) = self.window
            && start >= end
        {
            return Err(wrong("window", format!("its end {end} is not after its start {start}"), "set a later end"));
        }
        Ok(())
    }
}

fn share(key: &str, value: f64) -> Checked {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    let help = if (1.0..=100.0).contains(&value) {
        format!("a share is from 0 to 1: for {value} per cent write {}", value / 100.0)
    } else {
        "a share is from 0 to 1".to_owned()
    };
    Err(wrong(key, format!("{value} is not a share"), help))
}

fn positive(key: &str, value: Option<f64>, help: &str) -> Checked {
    match value {
        Some(value) if value.is_finite() && value > 0.0 => Ok(()),
        Some(value) => Err(wrong(key, format!("{value} is not above 0"), help)),
        None => Err(wrong(key, "it is missing", help)),
    }
}

impl SizeSpec {
    fn check(&self, key: &str, workload_align: Bytes) -> Checked {
        let at = |part: &str| format!("{key}.{part}");
        let align = self.align.unwrap_or(workload_align);
        if align.0 == 0 {
            return Err(wrong(&at("align"), "it is zero", "set for example \"4 KiB\", or remove it"));
        }
        if let Some(own) = self.offset_align {
            whole_units(&at("offset_align"), own, workload_align)?;
        }
        let ends = [("min", self.min.is_some()), ("max", self.max.is_some())];
        if self.kind != SizeKind::Range
            && let Some((part, _)) = ends.iter().find(|(_, is_set)| *is_set)
        {
            return Err(wrong(&at(part), "only `kind = \"range\"` has one", "remove it, or change `kind`"));
        }
        match self.kind {
            SizeKind::Range => self.check_range(key, align),
            SizeKind::Mix => {
                if self.mean.is_some() {
                    return Err(wrong(&at("mean"), "a mix has no mean of its own", "remove it, or change `kind`"));
                }
                if self.mix.is_empty() {
                    let help = "set for example `mix = [{ size = \"4 KiB\", weight = 0.7 }, ...]`";
                    return Err(wrong(&at("mix"), "it is missing", help));
                }
                self.mix.iter().try_for_each(|entry| {
                    whole_units(&at("mix"), entry.size, align)?;
                    positive(&at("mix"), Some(entry.weight), "a weight is above 0")
                })
            }
            SizeKind::Fixed | SizeKind::Exponential => {
                if !self.mix.is_empty() {
                    return Err(wrong(&at("mix"), "only `kind = \"mix\"` has one", "remove it, or change `kind`"));
                }
                let Some(mean) = self.mean else {
                    return Err(wrong(&at("mean"), "it is missing", "set for example \"4 KiB\""));
                };
                if self.kind == SizeKind::Fixed {
                    return whole_units(&at("mean"), mean, align);
                }
                if mean < align {
                    let message = format!("{mean} is below align {align}, the smallest size that can be drawn");
                    return Err(wrong(&at("mean"), message, "raise it, or lower align"));
                }
                Ok(())
            }
        }
    }
}

impl SizeSpec {
    fn check_range(&self, key: &str, align: Bytes) -> Checked {
        let at = |part: &str| format!("{key}.{part}");
        if self.mean.is_some() || !self.mix.is_empty() {
            let part = if self.mean.is_some() { "mean" } else { "mix" };
            return Err(wrong(&at(part), "a range has `min` and `max`", "remove it, or change `kind`"));
        }
        let (Some(min), Some(max)) = (self.min, self.max) else {
            let part = if self.min.is_none() { "min" } else { "max" };
            return Err(wrong(&at(part), "it is missing", "set for example `min = \"4 KiB\", max = \"64 KiB\"`"));
        };
        whole_units(&at("min"), min, align)?;
        whole_units(&at("max"), max, align)?;
        if max < min {
            return Err(wrong(
                &at("max"),
                format!("{max} is below the smallest size {min}"),
                "raise it, or lower `min`",
            ));
        }
        Ok(())
    }
}

fn whole_units(key: &str, size: Bytes, align: Bytes) -> Checked {
    if size.0 == 0 {
        return Err(wrong(key, "a size of zero bytes", format!("set {align} or more")));
    }
    if !size.0.is_multiple_of(align.0) {
        let message = format!("{size} is not a multiple of align {align}");
        return Err(wrong(key, message, "change it, or set a smaller `align`"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> SpecError {
        let spec: WorkloadSpec = toml::from_str(text).unwrap();
        spec.check().expect_err(text)
    }

    #[test]
    fn each_mistake_names_its_key_and_a_remedy() {
        let generator = "requests = 1\nread_share = 0.5\nsize = { kind = \"fixed\", mean = \"4 KiB\" }\n";
        let with = |line: &str| format!("{generator}{line}\n");
        // Reads and all other requests, each by its own process.
        let two = |reads: &str, rest: &str| {
            let arrivals = format!("read_arrivals = {{ kind = {reads} }}\narrivals = {{ kind = {rest} }}\n");
            generator.replace("read_share = 0.5\n", "") + &arrivals
        };
        for (text, key) in [
            (String::new(), "trace"),
            ("trace = \"x\"\nread_share = 0.5".into(), "read_share"),
            ("trace = \"x\"\nrequests = 5".into(), "requests"),
            ("requests = 1".into(), "read_share"),
            ("requests = 1\nread_share = 0.5".into(), "read_size"),
            ("requests = 1\nread_share = 64.5".into(), "read_share"),
            ("requests = 0\nread_share = 0.5".into(), "requests"),
            (with("trim_share = 0.6"), "trim_share"),
            (with("write_size = { kind = \"fixed\", mean = 0 }"), "write_size.mean"),
            (with("write_size = { kind = \"fixed\", mean = 5000 }"), "write_size.mean"),
            (with("write_size = { kind = \"exponential\", mean = 512 }"), "write_size.mean"),
            (with("write_size = { kind = \"mix\" }"), "write_size.mix"),
            (with("footprint = 0"), "footprint"),
            (with("repeat_after = 0"), "repeat_after"),
            (with("repeat_after = \"mapped\""), "repeat_after"),
            ("trace = \"x\"\nrepeat_after = 1.0".into(), "repeat_after"),
            ("trace = \"x\"\ntrim_before_write = true".into(), "trim_before_write"),
            (with("read_size = { kind = \"range\", min = \"4 KiB\" }"), "read_size.max"),
            (with("read_size = { kind = \"range\", min = \"8 KiB\", max = \"4 KiB\" }"), "read_size.max"),
            (with("read_size = { kind = \"fixed\", mean = \"4 KiB\", max = \"4 KiB\" }"), "read_size.max"),
            (with("read_size = { kind = \"range\", mean = \"4 KiB\" }"), "read_size.mean"),
            (with("addresses = { kind = \"uniform\", skip = \"4 KiB\" }"), "addresses.skip"),
            (
                with("addresses = { kind = \"uniform\", sequential_share = 1, skip = 4096, skip_back = 4096 }"),
                "addresses.skip_back",
            ),
            (with("addresses = { kind = \"uniform\", run_length = 0 }"), "addresses.run_length"),
            (with("addresses = { kind = \"uniform\", skip_every = 4096 }"), "addresses.skip_every"),
            (with("addresses = { kind = \"uniform\", run_repeats = true }"), "addresses.run_repeats"),
            (with("format = \"msr\""), "format"),
            (with("arrivals = { kind = \"poisson\" }"), "arrivals.rate"),
            (with("arrivals = { kind = \"poisson\", rate = 1e-11 }"), "arrivals.rate"),
            (with("arrivals = { kind = \"fixed\", mean_gap = \"10000000000 s\" }"), "arrivals.mean_gap"),
            (with("arrivals = { kind = \"fixed\", rate = 5, start = \"10000000000 s\" }"), "arrivals.start"),
            (with("arrivals = { kind = \"closed\", rate = 5 }"), "arrivals.kind"),
            (
                with("arrivals = { kind = \"on-off\", rate = 5, burst_rate = 2, burst = \"1 s\" }"),
                "arrivals.burst_rate",
            ),
            (with("arrivals = { kind = \"on-off\", rate = 5, burst_rate = 9 }"), "arrivals.burst"),
            (with("arrivals = { kind = \"closed\", start = \"1 s\" }"), "arrivals.start"),
            (with("read_arrivals = { kind = \"poisson\", rate = 5 }"), "read_share"),
            ("trace = \"x\"\nread_arrivals = { kind = \"poisson\", rate = 5 }".into(), "read_arrivals"),
            (two("\"poisson\"", "\"poisson\", rate = 5"), "read_arrivals.rate"),
            (two("\"poisson\", rate = 5, burst_rate = 9", "\"poisson\", rate = 5"), "read_arrivals.burst_rate"),
            (two("\"closed\"", "\"poisson\", rate = 5"), "read_arrivals.kind"),
            (two("\"poisson\", rate = 5", "\"closed\""), "arrivals"),
            (two("\"poisson\", rate = 5", "\"fixed\", rate = 5") + "trim_share = 1.5", "trim_share"),
            (with("addresses = { kind = \"uniform\", theta = 1 }"), "addresses.theta"),
            (with("addresses = { kind = \"uniform\", map_unit = 4096 }"), "addresses.map_unit"),
            (with("addresses = { kind = \"numbered\", map_unit = 8192 }"), "addresses.map_unit"),
            (with("addresses = { kind = \"numbered\", map_unit = 0 }"), "addresses.map_unit"),
            (with("addresses = { kind = \"zipf\" }"), "addresses.theta"),
            (with("addresses = { kind = \"self-similar\" }"), "addresses.skew"),
            (with("addresses = { kind = \"self-similar\", skew = 1 }"), "addresses.skew"),
            (with("addresses = { kind = \"zones\" }"), "addresses.zones"),
            (with("addresses = { kind = \"zones\", zones = [[0.5, 0.5], [0.4, 0.5]] }"), "addresses.zones"),
            (with("addresses = { kind = \"zones\", zones = [[0.5, 0.5], [0.5, 0.6]] }"), "addresses.zones"),
            (with("addresses = { kind = \"zones\", zones = [[0.5, 1.0], [0.5, 0]] }"), "addresses.zones"),
            (with("addresses = { kind = \"listed\" }"), "addresses.blocks"),
            (with("addresses = { kind = \"uniform\", blocks = [1] }"), "addresses.blocks"),
            (with("addresses = { kind = \"hot-cold\", hot_space = 1 }"), "addresses.hot_space"),
            (with("addresses = { kind = \"array-skew\", drives = 1 }"), "addresses.drives"),
            (with("addresses = { kind = \"array-skew\", run_length = 2 }"), "addresses.run_length"),
            (with("addresses = { kind = \"array-skew\", sequential_share = 0.5 }"), "addresses.sequential_share"),
            (
                with(
                    "addresses = { kind = \"array-skew\", drives = 2, drive_share = 0.9, stripe_unit = 4096 }\nread_size = { kind = \"fixed\", mean = 4096, offset_align = 4096 }",
                ),
                "read_size.offset_align",
            ),
            (with("time_scale = 0"), "time_scale"),
            (with("align = 0"), "write_size.align"),
            (with("first = 0"), "first"),
            (with("loop = 0"), "loop"),
            (with("window = [\"2 s\", \"1 s\"]"), "window"),
        ] {
            let error = refused(&text);
            let expected = if key == "write_size.align" { "size.align" } else { key };
            assert_eq!(error.key, expected, "{text}: {error}");
            assert!(error.help.is_some(), "{text}");
        }
    }

    #[test]
    fn a_percentage_for_a_share_is_recognised() {
        let help = refused("requests = 1\nread_share = 64.5").help.unwrap();
        assert!(help.contains("0.645"), "{help}");
    }
}
