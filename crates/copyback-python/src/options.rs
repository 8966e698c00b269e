//! Arguments of Python's functions as typed values. A wrong value is an `InputError` with the argument as its place.

use crate::errors::exception;
use copyback::host::config::HostMode;
use copyback_cli::api::{Experiment, Failure, KeptTables, RunCall, Sweep, SweepCall};
use copyback_lab::SuppliedPolicy;
use copyback_report::drawings::{Drawings, Slowest};
use copyback_workload::units::parse_duration_ns;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::cell::RefCell;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

/// The largest seed and the largest number of requests: TOML has no larger integers.
const WHOLE_MAX: u64 = i64::MAX as u64;
/// The most runs in parallel.
const JOBS_MAX: u64 = 1024;

/// Arguments by name. `None` and a missing argument are the same.
pub struct Options<'py> {
    given: Bound<'py, PyDict>,
    /// Names that were looked up.
    known: RefCell<Vec<String>>,
}

impl<'py> Options<'py> {
    /// These arguments.
    pub fn new(given: Bound<'py, PyDict>) -> Self {
        Self { given, known: RefCell::default() }
    }

    fn get(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.known.borrow_mut().push(name.to_owned());
        Ok(self.given.get_item(name)?.filter(|value| !value.is_none()))
    }

    /// Refuses an argument that no call has looked up, even if it is `None`: its value would have no effect.
    pub fn refuse_unknown(&self) -> PyResult<()> {
        for name in self.given.keys() {
            let name: String = name.extract()?;
            if !self.known.borrow().contains(&name) {
                return Err(PyTypeError::new_err(format!("the command has no argument `{name}`")));
            }
        }
        Ok(())
    }

    /// The error of a wrong value; `why` follows the value in the message.
    fn refused(&self, name: &str, value: &Bound<'py, PyAny>, why: impl Display, help: &str) -> PyErr {
        let shown = value.repr().map_or_else(|_| "a value".to_owned(), |shown| shown.to_string());
        let message = format!("`{name}` has {shown}, {why}");
        exception(self.given.py(), &Failure::of_argument(name, &shown, message).with_help(help))
    }

    /// A path.
    pub fn path(&self, name: &str) -> PyResult<Option<PathBuf>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        if value.extract().is_ok_and(|path: PathBuf| path.as_os_str().is_empty()) {
            let help = format!("give it a name, or leave `{name}` out");
            return Err(self.refused(name, &value, "which is an empty name", &help));
        }
        value.extract().map(Some).map_err(|_| {
            let kind = value.get_type().name().map_or_else(|_| "that".to_owned(), |kind| kind.to_string());
            let help = format!("use a text or a pathlib.Path, not {kind}");
            self.refused(name, &value, "which is no name and no path", &help)
        })
    }

    /// A name, or a path as text.
    pub fn text(&self, name: &str) -> PyResult<Option<String>> {
        let Some(path) = self.path(name)? else { return Ok(None) };
        Ok(Some(path.into_os_string().to_string_lossy().into_owned()))
    }

    /// Texts.
    pub fn texts(&self, name: &str) -> PyResult<Vec<String>> {
        let Some(value) = self.get(name)? else { return Ok(Vec::new()) };
        value.extract().map_err(|_| self.refused(name, &value, "which is no list of texts", "use a list of texts"))
    }

    /// A truth value; false without it.
    pub fn flag(&self, name: &str) -> PyResult<bool> {
        let Some(value) = self.get(name)? else { return Ok(false) };
        value.extract().map_err(|_| self.refused(name, &value, "which is no truth value", "use True or False"))
    }

    /// A whole number in this range.
    fn whole(&self, name: &str, least: u64, most: u64) -> PyResult<Option<u64>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        let whole = value.extract().ok().filter(|whole| (least..=most).contains(whole));
        whole.map(Some).ok_or_else(|| {
            let help = match most {
                WHOLE_MAX => format!("use a whole number from {least} to 2^63 - 1"),
                _ => format!("use a whole number from {least} to {most}"),
            };
            self.refused(name, &value, "which is out of range or no whole number", &help)
        })
    }

    /// A value, parsed from the text of the argument.
    fn parsed<T: FromStr<Err: Display>>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        let text = value.str()?.to_string();
        text.parse().map(Some).map_err(|why| self.refused(name, &value, "which cannot be used", &format!("{why}")))
    }

    /// A simulated time as text, in nanoseconds.
    fn time(&self, name: &str) -> PyResult<Option<u64>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        let text = value.str()?.to_string();
        let time = parse_duration_ns(&text).map(Some);
        time.map_err(|why| self.refused(name, &value, "which is no time", &why))
    }

    fn dies(&self, name: &str) -> PyResult<Vec<u32>> {
        let Some(value) = self.get(name)? else { return Ok(Vec::new()) };
        value
            .extract()
            .map_err(|_| self.refused(name, &value, "which is no list of dies", "use whole numbers from 0 on"))
    }

    fn slowest(&self, name: &str) -> PyResult<Option<Slowest>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        match value.str()?.to_string().as_str() {
            "worst-read" => Ok(Some(Slowest::WorstRead)),
            "worst-write" => Ok(Some(Slowest::WorstWrite)),
            _ => Err(self.refused(name, &value, "which is no request", "use \"worst-read\" or \"worst-write\"")),
        }
    }

    /// The number of runs in parallel.
    pub fn jobs(&self) -> PyResult<Option<u32>> {
        Ok(self.whole("jobs", 1, JOBS_MAX)?.and_then(|jobs| jobs.try_into().ok()))
    }

    /// The experiment that the arguments describe.
    fn experiment(&self, policies: Vec<SuppliedPolicy>) -> PyResult<Experiment> {
        let (open, closed) = (self.flag("open")?, self.flag("closed")?);
        if open && closed {
            let failure = Failure::input("`open` and `closed` exclude each other").with_help("leave one of them out");
            return Err(exception(self.given.py(), &failure));
        }
        Ok(Experiment {
            file: self.path("experiment")?,
            device: self.text("device")?,
            array: self.text("array")?,
            schemes: self.texts("schemes")?,
            workload: self.text("workload")?,
            trace: self.path("trace")?,
            fio: self.path("fio")?,
            fio_args: self.text("fio_args")?,
            columns: self.texts("columns")?,
            format: self.text("format")?,
            skip_bad: self.whole("skip_bad", 0, WHOLE_MAX)?,
            fit: self.parsed("fit")?,
            settings: self.texts("settings")?,
            mode: open.then_some(HostMode::Open).or(closed.then_some(HostMode::Closed)),
            policies,
            seed: self.whole("seed", 0, WHOLE_MAX)?,
            requests: self.whole("requests", 1, WHOLE_MAX)?,
            warmup: self.parsed("warmup")?,
        })
    }

    /// The call of `run` or `compare` that the arguments describe.
    pub fn run_call(&self, policies: Vec<SuppliedPolicy>) -> PyResult<RunCall> {
        let keep = self.texts("keep")?;
        let has = |table: &str| keep.iter().any(|kept| kept == table);
        let (gc_events, requests, commands) = (has("gc_events"), has("requests"), has("commands"));
        Ok(RunCall {
            experiment: self.experiment(policies)?,
            json: self.path("json")?,
            latex: self.path("latex")?,
            out: self.path("out")?,
            tables: KeptTables { gc_events, requests, commands, microscope: false },
            check: self.flag("check")?,
            jobs: self.jobs()?,
            ..RunCall::default()
        })
    }

    /// The drawings of `run` that the arguments describe.
    pub fn drawings(&self) -> PyResult<Drawings> {
        let mut drawings = Drawings { fio_json: self.path("fio_json")?, ..Drawings::default() };
        drawings.timeline.path = self.path("timeline")?;
        drawings.timeline.from_ns = self.time("timeline_from")?;
        drawings.timeline.to_ns = self.time("timeline_to")?;
        drawings.timeline.dies = self.dies("timeline_die")?;
        drawings.timeline.around = self.slowest("timeline_around")?;
        drawings.perfetto.path = self.path("perfetto")?;
        drawings.perfetto.from_ns = self.time("perfetto_from")?;
        drawings.perfetto.for_ns = self.time("perfetto_for")?;
        drawings.perfetto.around = self.slowest("perfetto_around")?;
        Ok(drawings)
    }

    /// The call of `sweep` that the arguments describe.
    pub fn sweep(&self, policies: Vec<SuppliedPolicy>) -> PyResult<SweepCall> {
        let sweep = Sweep {
            file: self.path("file")?.unwrap_or_default(),
            schemes: self.texts("schemes")?,
            settings: self.texts("settings")?,
            policies,
            fit: self.parsed("fit")?,
            seed: self.whole("seed", 0, WHOLE_MAX)?,
            requests: self.whole("requests", 1, WHOLE_MAX)?,
            warmup: self.parsed("warmup")?,
            traces: self.path("traces")?,
        };
        let (out, fresh, jobs) = (self.path("out")?, self.flag("fresh")?, self.jobs()?);
        Ok(SweepCall { sweep, out, fresh, jobs, ..SweepCall::default() })
    }
}
