/* What `run` and `compare` measured: the headline, distributions, causes, wear, configurations. */

/** All runs of the page, each with a label that differs from the others', and with the number of its result. */
function allRuns() {
  const sources = DATA.sources.filter((source) => source.runs);
  const runs = sources.flatMap((source, at) => source.runs.map((run) => ({ ...run, source: at, from: source.name })));
  for (const run of runs) run.label = sources.length > 1 ? `${run.from}: ${run.scheme}` : run.scheme;
  return runs;
}

const OPS = ["read", "write"];
/** A number of a class; none where less than one request is beyond a percentile. */
function ofClass(found, name) {
  if (!found || found.count === 0 || areTooFew(found.count, BEYOND.get(name))) return null;
  return found[name];
}
const STEADY = { steady: "yes", not_yet: "no", no_erase: "no erase", too_short: "too short", no_write: "–", overloaded: "overloaded" };
function change(value, from) {
  if (isNone(value) || !from) return "";
  const by = (value / from - 1) * 100;
  return Math.abs(by) < 0.05 ? "same" : Math.abs(by) < 999.5 ? `${by > 0 ? "+" : "−"}${Math.abs(by).toFixed(1)} %` : `${digits(value / from)}×`;
}
const HEADLINE = [
  ["read mean", (run) => ofClass(run.report.response.read, "mean_ns"), columnTime],
  ["read p99", (run) => ofClass(run.report.response.read, "p99_ns"), columnTime],
  ["read p99.9", (run) => ofClass(run.report.response.read, "p99_9_ns"), columnTime],
  ["read p99.99", (run) => ofClass(run.report.response.read, "p99_99_ns"), columnTime],
  ["write mean", (run) => ofClass(run.report.response.write, "mean_ns"), columnTime],
  ["write p99", (run) => ofClass(run.report.response.write, "p99_ns"), columnTime],
  ["write p99.9", (run) => ofClass(run.report.response.write, "p99_9_ns"), columnTime],
  ["all, mean", (run) => ofClass(run.report.response.all, "mean_ns"), columnTime, "response_ns"],
  ["write ampl.", (run) => run.report.write_amplification.total, columnRatio, "write_amplification"],
  ["erases", (run) => run.report.flash.block_erases, wholes],
];

function headline(runs) {
  const panel = section("Headline", "Each run. Below its numbers: their change from the first run of the same " +
    "result. ± is half of the 95 % interval of a mean within the run (ten batches of requests, Student's t). A run " +
    "has one seed: intervals over seeds are those of a sweep. – marks a percentile with too few requests.");
  panel.classList.add("long");
  const counts = (run) => `${number(run.report.reads)} reads, ${number(run.report.writes)} writes`;
  const isAlike = runs.every((run) => counts(run) === counts(runs[0]));
  if (isAlike) panel.querySelector(".about").textContent += ` ${runs.length > 1 ? "Each run has" : "The run has"} ${counts(runs[0])}.`;
  const row = (run) => {
    const first = runs.find((other) => other.source === run.source);
    return [isAlike ? run.label : [run.label, counts(run)], ...HEADLINE.map(([, value, shown, half]) => {
      const own = value(run);
      const width = half && run.half_widths ? run.half_widths[half] : null;
      const below = [isNone(width) || isNone(own) ? "" : `± ${shown(width)}`, run === first ? "" : change(own, value(first))];
      return [shown(own), below.filter((text) => text).join(", ")];
    }), STEADY[(run.report.steady || {}).verdict] || "–"];
  };
  panel.append(table(["run", ...HEADLINE.map(([name]) => name), "steady"], runs.map(row), "whole first"));
  const notes = runs.flatMap((run) => (run.notes || []).map((note) => `${run.label}: ${note}`));
  if (notes.length) panel.append(h("details", {}, h("summary", {}, `Notes of the runs (${notes.length})`), h("ul", {}, notes.map((note) => h("li", {}, note)))));
}

const CLASSES = [
  ["read", "reads"], ["write", "writes"], ["all", "reads and writes"], ["small_read", "small reads"],
  ["gc_affected_read", "reads that waited for GC"], ["gc_affected_write", "writes that waited for GC"], ["gc_affected", "all that waited for GC"],
];
function distributions(runs) {
  // Requests of one of several workloads are labelled with its name and their operation.
  const known = [...new Set(runs.flatMap((run) => Object.keys(run.ccdf || {})))];
  const ofWorkloads = known.filter((name) => name.includes(".")).map((name) => [name, name.replace(".", ": ") + "s"]);
  const classes = [...CLASSES.filter(([name]) => known.includes(name)), ...ofWorkloads];
  if (!classes.length) return missing("Response times: distribution", "latency_histograms.parquet");
  const panel = section("Response times: distribution", "Which share of the requests takes longer than which time, to the " +
    "sixth nine. A line ends with its slowest request. Every point is one of the histogram: points closer than a line is wide are left out.");
  const state = { of: askedClass(classes.map(([name]) => name)) };
  panel.append(h("div", { class: "controls" }, choice("Requests:", classes, (value) => { state.of = value; made.draw(); }, state.of)));
  legend(panel, runs);
  const lines = () => runs.filter((run) => run.ccdf[state.of]).map((run) => ({ ...run, ccdf: run.ccdf[state.of] }));
  const made = distribution(panel, "complementary cumulative distribution of response times", lines, () => state.of);
  return panel;
}

function causes(runs) {
  const panel = section("Response times: causes", "What a request waited for, on average. Parts add up to the mean response time.");
  const has = (op) => runs.some((run) => (run.report.latency_breakdown[`${op}_mean_ns`] || []).some(([, part]) => part > 0));
  const state = { of: askedClass(OPS.filter(has).concat(OPS)) };
  panel.append(h("div", { class: "controls" }, choice("Requests:", [["read", "reads"], ["write", "writes"]], (value) => { state.of = value; made.draw(); }, state.of)));
  legend(panel, runs);
  const bars = () => runs.map((run) => ({ ...run, causes: run.report.latency_breakdown[`${state.of}_mean_ns`] }));
  const made = breakdown(panel, "mean response time by cause", bars);
}

function wear(runs) {
  const panel = section("Wear", "Erases of a block at the end of the run, its preconditioning included: from the fewest to the " +
    "most (line), mean and standard deviation (box).");
  legend(panel, runs);
  const shown = () => runs.filter(isShown);
  const row = ({ report: { wear: own } }) => [own.min_erases, own.mean_erases - own.stdev_erases, own.mean_erases, own.mean_erases + own.stdev_erases, own.max_erases];
  chart(panel, {
    label: "erases of blocks", height: 80 + 40 * runs.length,
    option: () => ({
      grid: { left: 20, right: 24, top: 8, bottom: 34, containLabel: true },
      tooltip: { trigger: "item", formatter: (one) => wearTip(shown()[one.dataIndex]) },
      xAxis: axis({ type: "value", min: 0, name: "erases of a block", nameGap: 24 }),
      yAxis: axis({ type: "category", inverse: true, data: shown().map((run) => run.label), axisLabel: { color: ink(), width: 130, overflow: "truncate" } }),
      series: [{
        type: "custom", encode: { x: [0, 1, 2, 3, 4], y: 5 }, data: shown().map((run, at) => [...row(run), at]),
        renderItem: (params, api) => wearShape(api, colourOf(shown()[params.dataIndex].scheme)),
      }],
    }),
    table: () => [["run", "fewest", "mean", "standard deviation", "most", "erased in this run"], shown().map((run) => {
      const own = run.report.wear;
      return [run.label, number(own.min_erases), number(own.mean_erases), number(own.stdev_erases), number(own.max_erases), number(run.report.flash.block_erases)];
    })],
  });
}
function wearShape(api, tint) {
  const at = (dimension) => api.coord([api.value(dimension), api.value(5)]);
  const [least, low, mean, high, most] = [0, 1, 2, 3, 4].map(at);
  const line = (x1, y1, x2, y2, lineWidth) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: tint, lineWidth } });
  const y = mean[1];
  return { type: "group", children: [
    line(least[0], y, most[0], y, 2), line(least[0], y - 6, least[0], y + 6, 2), line(most[0], y - 6, most[0], y + 6, 2),
    { type: "rect", shape: { x: low[0], y: y - 9, width: Math.max(high[0] - low[0], 1), height: 18 }, style: { fill: paper(), stroke: tint, lineWidth: 2 } },
    line(mean[0], y - 9, mean[0], y + 9, 4),
  ] };
}
function wearTip(run) {
  const own = run.report.wear;
  return tip(run.label, [["fewest", number(own.min_erases)], ["mean", number(own.mean_erases)], ["standard deviation", number(own.stdev_erases)], ["most", number(own.max_erases)]]);
}

const SHARED = [["mean", "mean_ns"], ["p99", "p99_ns"], ["p99.9", "p99_9_ns"]];
/** Response times of a class in the columns of SHARED. */
const sharedCells = (own) => SHARED.map(([, name]) => columnTime(ofClass(own, name)));
const leftOut = (runs, of) => {
  const most = Math.max(...runs.map((run) => of(run).left_out));
  return most ? h("p", { class: "note" }, `${number(most)} more are left out here, and are in the JSON document.`) : null;
};

/** Each of several workloads that share the drives. */
function workloads(runs) {
  const drawn = runs.filter((run) => run.workloads.rows.length);
  if (!drawn.length) return;
  const panel = section("Each workload", "Requests of each of the workloads that share the drives. GC part: " +
    "the part of the mean response time in which a request waits for garbage collection.");
  panel.classList.add("long");
  const head = ["workload, run", "IOPS", "MB/s",
    ...OPS.flatMap((op) => [`${op}s`, ...SHARED.map(([name]) => `${op} ${name}`), `${op} GC part`])];
  const names = [...new Set(drawn.flatMap((run) => run.workloads.rows.map((row) => row.name)))];
  const all = drawn.flatMap((run) => run.workloads.rows);
  const megabytes = (row) => (isNone(row.bytes_per_s) ? null : row.bytes_per_s / 1e6);
  const [iops, rate] = [columnFormat("iops", all.map((row) => row.iops)), columnFormat("rate", all.map(megabytes))];
  const rows = names.flatMap((name) => drawn.flatMap((run) => run.workloads.rows.filter((row) => row.name === name).map((row) =>
    [[name, run.label], iops.value(row.iops), rate.value(megabytes(row)), ...OPS.flatMap((op) =>
      [wholes(row[op].count), ...sharedCells(row[op]), row[op].count ? columnTime(row[op].gc_ns) : "–"])])));
  panel.append(...[table(head, rows, "whole"), leftOut(drawn, (run) => run.workloads)].filter(Boolean));
}

/** Each drive of an array. */
function drives(runs) {
  const drawn = runs.filter((run) => run.array && run.array.rows.length > 1);
  if (!drawn.length) return;
  const panel = section("Each drive", "Drives of the array: response times of the volume's requests on each, and its garbage collection.");
  panel.classList.add("long");
  panel.append(table(["run", "level", "some drive collects", "a die's time in GC", "rounds"], drawn.map(({ label, array }) =>
    [label, array.level, columnPercent(array.degraded_share), columnPercent(array.gc_share), wholes(array.rounds)]), "whole"));
  const head = ["run, drive", "in GC", "busy", "collections", "erases", "units moved", "fewest free blocks", ...OPS.flatMap((op) => SHARED.map(([name]) => `${op} ${name}`))];
  const rows = drawn.flatMap((run) => run.array.rows.map((row) => [[`drive ${row.drive}`, run.label], columnPercent(row.gc_share), columnPercent(row.busy_share),
    ...["collections", "erases", "units_moved", "min_free_blocks"].map((name) => wholes(row[name])), ...OPS.flatMap((op) => sharedCells(row[op]))]));
  panel.append(...[table(head, rows, "whole"), leftOut(drawn, (run) => run.array)].filter(Boolean));
}

/** Keys of configurations with unlike values. */
function differences(configs) {
  const keys = [...new Set(configs.flatMap((own) => Object.keys(own.config)))].sort();
  return keys.filter((key) => new Set(configs.map((own) => own.config[key])).size > 1)
    .map((key) => [key, ...configs.map((own) => (key in own.config ? own.config[key] : "–"))]);
}
function configurations(runs) {
  const panel = section("What the runs differ in", "Keys of the resolved configurations whose values differ, and the options of the commands.");
  panel.classList.add("long");
  const told = DATA.sources.filter((source) => source.runs).map(({ name, about }) => ({ name, about }));
  const rows = differences(runs);
  panel.append(rows.length ? table(["key", ...runs.map((run) => run.label)], rows, "words") : h("p", {}, "All keys are alike."));
  panel.append(h("h4", {}, "Commands"), table(["result", "command", "seed", "requests", "warm-up", "version", "inputs"], told.map(({ name, about }) => [
    name, about.command, String(about.seed), about.requests === null ? "all" : String(about.requests), about.warmup || "as the workload says", about.version,
    about.inputs.map(([role, input]) => `${role} ${input}`).join(", "),
  ]), "words"));
}

function missing(title, file) {
  section(title, `No result here has ${file}: name the folder of --out, which holds it.`).classList.add("missing");
}
