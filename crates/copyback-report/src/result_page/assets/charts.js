/* Panels with a chart: drawn in both themes, zoomed by wheel, slider and keys, each with its data as a table. */

const CHARTS = [];
const HIDDEN = new Set();
const MAIN = document.getElementById("main");
let panels = 0;

function section(title, text, level = "h3") {
  panels += 1;
  const id = `panel-${panels}`;
  const element = h("section", { class: "panel", id, "aria-labelledby": `${id}-title` },
    h(level, { id: `${id}-title` }, title), text ? h("p", { class: "about" }, text) : null);
  MAIN.append(element);
  return element;
}

/** Axis, grid and tooltip as all charts have them. */
function axis(more) {
  return {
    nameLocation: "middle", nameTextStyle: { color: faint() }, axisLabel: { color: faint(), hideOverlap: true },
    axisLine: { lineStyle: { color: faint() } }, splitLine: { lineStyle: { color: ruled() } },
    minorSplitLine: { show: false }, ...more,
  };
}
const FONT = getComputedStyle(document.body).fontFamily;
function base(option) {
  return {
    animation: false, backgroundColor: paper(), textStyle: { color: ink(), fontFamily: FONT },
    ...option,
    tooltip: {
      confine: true, backgroundColor: paper(), borderColor: faint(), textStyle: { color: ink() }, ...option.tooltip,
    },
  };
}
/** What a tooltip says: a heading and lines of a name and a value. */
function tip(heading, lines) {
  return h("div", { class: "tip" }, h("b", {}, heading), lines.map(([name, value]) => h("div", {}, h("span", {}, name), h("span", {}, value))));
}
/** Zoom along x: the wheel with Ctrl, dragging, and the slider. */
function zoom(more = {}) {
  return [
    { type: "inside", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, filterMode: "none", ...more },
    { type: "slider", height: 18, bottom: 6, showDetail: false, brushSelect: false, filterMode: "none",
      borderColor: ruled(), fillerColor: "rgba(86,180,233,0.2)", dataBackground: { areaStyle: { opacity: 0 }, lineStyle: { opacity: 0 } },
      selectedDataBackground: { areaStyle: { opacity: 0 }, lineStyle: { opacity: 0 } }, ...more },
  ];
}

const KEYS = {
  "+": ([from, to]) => [from + (to - from) / 4, to - (to - from) / 4],
  "=": (span) => KEYS["+"](span),
  "-": ([from, to]) => [from - (to - from) / 2, to + (to - from) / 2],
  "0": () => [0, 100],
  ArrowLeft: ([from, to]) => moved(from, to, -(to - from) / 4),
  ArrowRight: ([from, to]) => moved(from, to, (to - from) / 4),
  Home: ([from, to]) => [0, to - from],
  End: ([from, to]) => [100 - (to - from), 100],
};
function moved(from, to, by) {
  const step = Math.min(Math.max(by, -from), 100 - to);
  return [from + step, to + step];
}
function spanOf(chart) {
  const found = ((chart.getOption() || {}).dataZoom || [])[0];
  return found ? [found.start, found.end] : null;
}
function onKey(event, chart) {
  const span = spanOf(chart);
  const key = KEYS[event.key];
  if (!span || !key || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const [start, end] = key(span).map((value) => Math.min(Math.max(value, 0), 100));
  if (end - start < 0.05) return;
  chart.dispatchAction({ type: "dataZoom", dataZoomIndex: 0, start, end });
}

/**
 * A chart. `of.option()` makes what it shows, in the theme of the moment; `of.table()` its data as [head, rows];
 * `of.height` in pixels; `of.group`: charts that zoom together.
 */
function chart(parent, of) {
  const keys = "With the focus here: + and - zoom, arrows move, 0 shows all.";
  const canvas = h("div", {
    class: "chart", tabindex: "0", role: "img", style: `height:${of.height}px`,
    "aria-label": `Chart: ${of.label}. ${of.isZoomed ? keys : ""} The data follow as a table.`,
  });
  const data = h("details", { class: "data" }, h("summary", {}, "Data"));
  data.addEventListener("toggle", () => { if (data.open) filled(); });
  const filled = () => data.replaceChildren(data.firstChild, table(...of.table()));
  const hint = of.isZoomed ? h("figcaption", {}, "Zoom: Ctrl and wheel, the slider, or the keys + - ← → 0.") : null;
  parent.append(h("figure", {}, canvas, hint), data);
  const drawn = echarts.init(canvas, null, { renderer: of.renderer || "svg" });
  const draw = () => {
    const span = spanOf(drawn);
    drawn.setOption(base(of.option()), { notMerge: true });
    if (span && spanOf(drawn)) drawn.dispatchAction({ type: "dataZoom", dataZoomIndex: 0, start: span[0], end: span[1] });
    if (data.open) filled();
  };
  canvas.addEventListener("keydown", (event) => onKey(event, drawn));
  if (of.group) drawn.group = of.group;
  draw();
  CHARTS.push({ drawn, draw, canvas });
  return { draw, drawn, canvas };
}

/** The colour and dash of each run; a button shows or hides a run in every panel. */
function legend(parent, runs) {
  const item = (run) => {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    line.setAttribute("width", "26");
    line.setAttribute("height", "10");
    line.setAttribute("aria-hidden", "true");
    const stroke = document.createElementNS("http://www.w3.org/2000/svg", "path");
    stroke.setAttribute("d", "M1 5H25");
    stroke.setAttribute("stroke-width", String(weightOf(run)[0] + 0.8));
    stroke.setAttribute("stroke-opacity", String(weightOf(run)[1]));
    stroke.setAttribute("stroke-dasharray", styleOf(run.scheme)[1].join(" "));
    line.append(stroke);
    const button = h("button", { type: "button", onclick: () => toggle(run.label) }, line, run.label);
    LEGENDS.push({ button, stroke, run });
    return h("li", {}, button);
  };
  parent.append(h("ul", { class: "legend", "aria-label": "Shown" }, runs.map(item)));
  paintLegends();
}
const LEGENDS = [];
function paintLegends() {
  for (const { button, stroke, run } of LEGENDS) {
    button.setAttribute("aria-pressed", String(!HIDDEN.has(run.label)));
    stroke.setAttribute("stroke", colourOf(run.scheme));
  }
}
function toggle(label) {
  if (!HIDDEN.delete(label)) HIDDEN.add(label);
  redraw();
}
function redraw() {
  paintLegends();
  CHARTS.forEach(({ draw }) => draw());
}
const isShown = (run) => !HIDDEN.has(run.label);

/** A condition in words: the number's name as elsewhere, and its limit as it was written. */
const conditionName = (one) => `${metricName(one.metric)} ${one.text.replace(/^[^<>=!]*/, "")}`;

/** Lines at the limits of conditions: `--where`. */
function conditionLines(marks) {
  return marks.length === 0 ? undefined : {
    silent: true, symbol: "none", animation: false, z: 6, lineStyle: { color: ink(), width: 1.2, type: [2, 2] },
    label: { color: ink(), fontSize: 11, formatter: (mark) => mark.name }, data: marks,
  };
}

/** The ends of an axis that has to show these limits, too; null where the data reach farther. `by`: the room beyond them. */
function axisEnds(limits, by) {
  const [least, most] = [Math.min(...limits), Math.max(...limits)];
  return { min: (data) => (limits.length && least < data.min ? least / by : null), max: (data) => (limits.length && most > data.max ? most * by : null) };
}

/** A distribution to the sixth nine, both axes logarithmic. `lines()`: runs with their `ccdf`; `of()`: their class. */
function distribution(parent, label, lines, of) {
  const asked = () => DATA.conditions.filter((one) => one.class === of() && one.share).map((one) => (
    { name: conditionName(one), xAxis: one.value / 1e6, label: { position: "end" } }));
  const points = ({ ccdf }) => [[ccdf.ns[0] / 1e6, 1], ...ccdf.ns.map((ns, at) => [ns / 1e6, ccdf.beyond[at]])];
  const shown = () => lines().filter(isShown);
  const power = (value) => `${+(value * 100).toPrecision(3)} %`;
  return chart(parent, {
    label, height: 420, isZoomed: true,
    option: () => ({
      grid: { left: 76, right: 30, top: asked().length ? 26 : 12, bottom: 78 },
      tooltip: {
        trigger: "axis", axisPointer: { type: "line" },
        formatter: (found) => tip(`longer than ${time(found[0].axisValue * 1e6)}`, shown().map((line) =>
          [line.label, beyondAt(line.ccdf, found[0].axisValue * 1e6)])),
      },
      xAxis: axis({ type: "log", ...axisEnds(asked().map((one) => one.xAxis), 1.2), name: "response time", nameGap: 28, axisLabel: { color: faint(), hideOverlap: true, formatter: (ms) => time(ms * 1e6) } }),
      yAxis: axis({ type: "log", min: 1e-6, max: 1, name: "share of requests that takes longer", nameGap: 58, axisLabel: { color: faint(), formatter: power } }),
      dataZoom: zoom(),
      series: shown().map((line, at) => ({
        name: line.label, type: "line", step: "end", showSymbol: false, symbolSize: 5, clip: true,
        data: points(line), lineStyle: strokeOf(line), itemStyle: { color: colourOf(line.scheme) },
        markLine: at === 0 ? conditionLines(asked()) : undefined,
      })),
    }),
    table: () => [["run", "requests", ...NINES.map(([name]) => `${name} within`)], shown().map((line) =>
      [line.label, number(line.ccdf.count), ...NINES.map(([, share]) => within(line.ccdf, share))])],
  });
}
/** The percentiles 90 %, 99 %, 99.9 % and so on: each as a text, and the share of requests beyond it. */
const NINES = [...BEYOND.values()].filter((share) => Number.isInteger(Math.log10(share))).map((share) => [`${+(100 * (1 - share)).toPrecision(6)} %`, share]);
/** The share of requests that takes longer, as the line has it there. */
function beyondAt(ccdf, ns) {
  const at = ccdf.ns.findLastIndex((own) => own <= ns * 1.0000001);
  return at < 0 ? "100 %" : at === ccdf.ns.length - 1 ? "none" : beyond(ccdf.beyond[at]);
}
/** The first drawn time that at most a share of requests exceeds; none if that is less than one request. */
function within(ccdf, share) {
  if (areTooFew(ccdf.count, share)) return "–";
  const at = ccdf.beyond.findIndex((own) => own <= share * 1.0000001);
  return at < 0 ? "–" : time(ccdf.ns[at]);
}

/* Causes of a breakdown, in its order, as a person says them. */
const CAUSES = {
  flash: ["flash array", "#56B4E9"], transfer: ["data transfer", "#0072B2"], channel: ["busy channel", "#F0E442"],
  gc: ["garbage collection", "#D55E00"], map: ["map traffic", "#CC79A7"], scrub: ["read scrubbing", "#999933"],
  wear: ["wear levelling", "#882255"], parity: ["parity, rebuild", "#44AA99"], host_io: ["other host requests", "#009E73"],
  scheduler: ["schedule, window", "#E69F00"], buffer: ["buffer, filling page", "#8C8C8C"],
};
/** Mean times by cause, a bar for each run. `bars`: runs with `causes`, pairs of a cause and nanoseconds. */
function breakdown(parent, label, bars) {
  const part = (bar, cause) => (bar.causes.find(([name]) => name === cause) || [cause, 0])[1];
  const shown = () => bars().filter(isShown);
  const causes = () => Object.keys(CAUSES).filter((cause) => bars().some((bar) => part(bar, cause) > 0));
  return chart(parent, {
    label, height: 120 + 34 * Math.min(bars().length, 24),
    option: () => ({
      aria: { enabled: true, label: { enabled: false }, decal: { show: true, decals: DECALS } },
      grid: { left: 20, right: 24, top: 56, bottom: 34, containLabel: true },
      legend: { top: 0, left: 0, textStyle: { color: ink() }, itemWidth: 18, selectedMode: false },
      tooltip: {
        trigger: "axis", axisPointer: { type: "shadow" },
        formatter: (found) => tip(found[0].axisValue, [...found.filter((one) => one.value > 0).map((one) => [one.seriesName, time(one.value * 1e6)]),
          ["together", time(found.reduce((sum, one) => sum + one.value, 0) * 1e6)]]),
      },
      xAxis: axis({ type: "value", name: "mean time (ms)", nameGap: 24 }),
      yAxis: axis({ type: "category", inverse: true, data: shown().map((bar) => bar.label), axisLabel: { color: ink(), width: 130, overflow: "truncate" } }),
      series: causes().map((cause) => ({
        name: CAUSES[cause][0], type: "bar", stack: "all", barMaxWidth: 26, itemStyle: { color: CAUSES[cause][1] },
        data: shown().map((bar) => part(bar, cause) / 1e6),
      })),
    }),
    table: () => [["run", ...causes().map((cause) => CAUSES[cause][0])], shown().map((bar) => [bar.label, ...causes().map((cause) => time(part(bar, cause)))])],
  });
}
/* Patterns, so that parts differ without colour, too. */
const DECALS = [
  { symbol: "none" }, { dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: 0.785, color: "rgba(0,0,0,0.25)" },
  { symbol: "circle", dashArrayX: [[6, 6], [0, 6, 6, 0]], dashArrayY: [6, 0], symbolSize: 0.6, color: "rgba(0,0,0,0.25)" },
  { dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: -0.785, color: "rgba(0,0,0,0.3)" },
  { dashArrayX: [1, 0], dashArrayY: [3, 4], color: "rgba(0,0,0,0.2)" }, { symbol: "rect", dashArrayX: [[5, 5], [0, 5, 5, 0]], dashArrayY: [5, 0], symbolSize: 0.7, color: "rgba(0,0,0,0.2)" },
];
