//! The functions of the Python package: each is a command of the program. An option of the command is an argument; this
//! table has only what differs from the program.

/// A function.
pub struct Function {
    /// Its name; a method of `trace` has the class before it.
    pub name: &'static str,
    /// The command.
    pub command: &'static [&'static str],
    /// The summary, if the command's own does not fit: a function returns what a command prints.
    pub summary: Option<&'static str>,
    /// What follows the summary.
    pub more: &'static str,
    /// The type of the result.
    pub result: &'static str,
    /// Arguments that differ from an option, or have none.
    pub own: &'static [Own],
    /// Options that are no arguments, and what Python has instead.
    pub without: &'static [(&'static str, &'static str)],
    /// If not empty: the only options that are arguments.
    pub only: &'static [&'static str],
}

/// An argument that differs from the program's option of its name, or that the program lacks.
pub struct Own {
    /// Its name.
    pub name: &'static str,
    /// Its type and its default; as follows from the option if it is empty.
    pub kind: &'static str,
    /// What it is, instead of the option's help.
    pub help: &'static str,
    /// What follows the option's help.
    pub more: &'static str,
    /// Without an option of its name: the argument that precedes it; the last one if it is empty.
    pub after: &'static str,
}

const fn own(name: &'static str, kind: &'static str, help: &'static str) -> Own {
    Own { name, kind, help, more: "", after: "" }
}

const fn extended(name: &'static str, kind: &'static str, more: &'static str) -> Own {
    Own { name, kind, help: "", more, after: "" }
}

const SETTINGS: &str = "Mapping[str, Setting] | None = None";
const SCHEMES: &str = "str | Scheme | Iterable[Path | Scheme] | None = None";

const SCHEME: Own = extended("scheme", "Path | Scheme | None = None", "It may be a ``copyback.Scheme``.");
const TRACE: Own = extended(
    "trace",
    "object = None",
    "Instead of a path: an object with Arrow's PyCapsule protocol (a data frame of pandas or polars, a table of pyarrow, \
     a relation of DuckDB), or an iterable of tuples or mappings. Columns are ``arrival_ns``, ``op``, \
     ``offset_bytes``, ``length_bytes`` and optionally ``device`` and ``priority``.",
);
const FIO_ARGS: Own =
    extended("fio_args", "str | Iterable[str] | None = None", "A list has one argument of fio in each item.");
const SET: Own = own(
    "set",
    SETTINGS,
    "Keys of the configuration, for example ``{\"trigger.soft\": 0.05, \"timing.read\": \"50 us\"}``, or for one scheme \
     only: ``{\"pgc:trigger.soft\": 0.05}``.",
);
const SET_OF_CELLS: Own = own("set", SETTINGS, "Keys of the configuration in every cell; they override the file's.");
const SET_OF_WORKLOAD: Own = own("set", SETTINGS, "Keys of the workload, for example ``{\"workload.event\": \"Q\"}``.");
const POLICIES: Own = Own {
    name: "policies",
    kind: "PolicyLike | Iterable[PolicyLike] = ()",
    help: "Policies written in Python, for every scheme. Each replaces the scheme's policy along its axis; a \
           ``BackgroundTask`` replaces none: see ``copyback.policies``.",
    more: "",
    after: "set",
};
const KEEP: Own = own(
    "keep",
    "Keep | Iterable[Keep] = (\"gc_events\",)",
    "Tables to keep in memory: ``\"gc_events\"`` has a row for every collection, ``\"requests\"`` for every request, \
     ``\"commands\"`` for every flash command.",
);
const PROGRESS: Own =
    own("progress", "bool | None = None", "Whether to show bars (tqdm) [default: in a terminal or a notebook].");
const DEVICE_OF_TRACE: Own = extended("device", "int | str | None = None", "");
const ANY_WORKLOAD: Own = extended("workload", "object", "Instead of a path: requests in any form that ``run`` takes.");

const QUIET: (&str, &str) = ("quiet", "``progress=False``");
const SHOW: (&str, &str) = ("show", "any number of the result");
const OUT_REQUESTS: (&str, &str) = ("out_requests", "``keep=[\"requests\"]``");
const OUT_COMMANDS: (&str, &str) = ("out_commands", "``keep=[\"commands\"]``");
const MICROSCOPE: &str = "none: program only";

/// All functions, in the order of the module.
pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "run",
        command: &["run"],
        summary: Some("Simulate a drive, or an array of drives, with one scheme."),
        more: "",
        result: "Runs",
        own: &[SCHEME, TRACE, FIO_ARGS, SET, POLICIES, KEEP, PROGRESS],
        without: &[
            ("print_config", "``copyback.config``"),
            SHOW,
            OUT_REQUESTS,
            OUT_COMMANDS,
            QUIET,
            ("microscope", MICROSCOPE),
            ("microscope_from", MICROSCOPE),
            ("microscope_for", MICROSCOPE),
            ("microscope_drives", MICROSCOPE),
        ],
        only: &[],
    },
    Function {
        name: "compare",
        command: &["compare"],
        summary: Some("Simulate a drive, or an array of drives, with several schemes side by side."),
        more: "",
        result: "Runs",
        own: &[
            extended(
                "schemes",
                SCHEMES,
                "A list, or a text with commas. An item may be a ``copyback.Scheme``, which has policies and settings of \
                 its own.",
            ),
            TRACE,
            FIO_ARGS,
            SET,
            POLICIES,
            KEEP,
            PROGRESS,
        ],
        without: &[SHOW, OUT_REQUESTS, OUT_COMMANDS, QUIET],
        only: &[],
    },
    Function {
        name: "sweep",
        command: &["sweep"],
        summary: None,
        more: "",
        result: "Sweep",
        own: &[
            extended(
                "schemes",
                SCHEMES,
                "An item may be a ``copyback.Scheme``. Each scheme runs with every seed of the file.",
            ),
            SET_OF_CELLS,
            Own {
                name: "policies",
                kind: "PolicyLike | Iterable[PolicyLike] = ()",
                help: "Policies written in Python. They replace the policies of every scheme, and appear in its name: \
                       ``baseline+Mine``. To compare them with other schemes, use ``schemes``. A sweep with policies \
                       reuses no earlier results (``fresh``), because their code may have changed, and cannot have a \
                       ``client``.",
                more: "",
                after: "set",
            },
            own(
                "client",
                "object = None",
                "A ``distributed.Client``: cells run on its cluster's workers, which share the folder of the file. A \
                 worker that lacks a trace gets it from the client.",
            ),
            PROGRESS,
        ],
        without: &[
            ("dask", "``client``"),
            ("list", "none: program only"),
            ("latex", "``to_latex()`` of the result"),
            ("where", "the result's table"),
            ("min", "the result's table"),
            ("max", "the result's table"),
            ("show", "the result's table"),
            QUIET,
        ],
        only: &[],
    },
    Function {
        name: "reproduce",
        command: &["reproduce"],
        summary: Some("Run a paper's experiments, and compare the results with its claims."),
        more: "The result's ``tables`` has the tables of a sweep for each experiment; with ``worlds``, there are none.",
        result: "Document",
        own: &[SET_OF_CELLS, PROGRESS],
        without: &[QUIET],
        only: &[],
    },
    Function {
        name: "validate",
        command: &["validate"],
        summary: Some("Compare the simulator with closed forms and queueing theory."),
        more: "The result's ``passed`` is true if all agree.",
        result: "Document",
        own: &[PROGRESS],
        without: &[QUIET],
        only: &[],
    },
    Function {
        name: "report",
        command: &["report"],
        summary: None,
        more: "Returns what the program prints.",
        result: "str",
        own: &[],
        without: &[],
        only: &[],
    },
    Function {
        name: "config",
        command: &["run"],
        summary: Some("Return the configuration of a run with its defaults filled in, as TOML."),
        more: "",
        result: "str",
        own: &[SET],
        without: &[],
        only: &["experiment", "scheme", "device", "array", "workload", "set"],
    },
    Function {
        name: "trace.info",
        command: &["trace", "info"],
        summary: Some("Measure a workload: requests, read share, sizes, rate, footprint, and histograms."),
        more: "",
        result: "Document",
        own: &[ANY_WORKLOAD, DEVICE_OF_TRACE, SET_OF_WORKLOAD],
        without: &[("json", "the result")],
        only: &[],
    },
    Function {
        name: "trace.convert",
        command: &["trace", "convert"],
        summary: None,
        more: "Returns what the program prints.",
        result: "str",
        own: &[ANY_WORKLOAD, DEVICE_OF_TRACE, SET_OF_WORKLOAD],
        without: &[],
        only: &[],
    },
];
