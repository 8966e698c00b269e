/* What sweeps and reproductions found. */

const METRIC_WORDS = { "response.": "", "write_amplification.total": "write amplification", "flash.block_erases": "erases", _ns: "", p99_99: "p99.99", p99_9: "p99.9" };
function metricName(name) {
  return Object.entries(METRIC_WORDS).reduce((text, [from, to]) => text.replace(from, to), name).replaceAll("_", " ").replace(".", " ");
}
const interval = (format, pair) => (pair && pair[0] !== null ? format.value(pair[0]) + (pair[1] === null ? "" : ` ± ${format.half(pair[1])}`) : "–");
/** The format of a number in all cells of a sweep. */
function formatOf(own, name) {
  const at = own.metrics.indexOf(name);
  const pairs = own.groups.flatMap((group) => Object.values(group.schemes).map((run) => run.values[at]));
  return columnFormat(name, pairs.map((pair) => (pair ? pair[0] : null)));
}

/** The label of a cell, shortened: `0.05` for the only varied key; `soft=0.05` for `trigger.soft`, one of several. */
function shortCell(own, group) {
  const short = (text, key) => text.replace(`${key}=`, own.varied.length === 1 ? "" : `${key.split(".").at(-1)}=`);
  return own.varied.reduce(short, group.label) || "the cell";
}

/** The heading above such labels: the only varied key, `cell, KEY` if other words precede its value, or else `cell`. */
function cellHeading(own) {
  if (own.varied.length !== 1) return "cell";
  const [key] = own.varied;
  return own.groups.every((group) => group.label.startsWith(`${key}=`)) ? key : `cell, ${key}`;
}

function sweep(source) {
  const { sweep: own, about } = source;
  const runs = own.schemes.map((scheme) => ({ scheme, label: scheme, source: 0 }));
  const seeds = about.seeds.length;
  section(`Sweep: ${source.name}`, `${counted(about.rows, "run")}: ${counted(own.groups.length + own.groups_left_out, "cell")}, ${counted(own.schemes.length, "scheme")}, ` +
    `${seeds} ${seeds === 1 ? "seed; with several, ± is half of the 95 % interval" : "seeds; ± is half of the 95 % interval of their mean (Student's t)"}.` +
    (own.groups_left_out ? ` ${counted(own.groups_left_out, "cell")} ${own.groups_left_out === 1 ? "is" : "are"} left out here: all are in the table and in its .csv; --where of \`copyback sweep\` selects some of them.` : ""), "h2");
  sweepHeadline(own);
  sweepBars(own, runs);
  sweepCell(own, runs);
  sweepConfigurations(own);
  section("Over time, die by die", "A sweep keeps neither: `copyback run --out` of a cell's configuration (the column `config`) has both.").classList.add("missing");
}

const SWEEP_HEADLINE = ["response.read.mean_ns", "response.read.p99_9_ns", "response.write.mean_ns", "response.write.p99_9_ns", "write_amplification.total", "flash.block_erases"];
function sweepHeadline(own) {
  const panel = section("Headline", null);
  panel.classList.add("long");
  const names = SWEEP_HEADLINE.filter((name) => own.metrics.includes(name));
  const formats = names.map((name) => formatOf(own, name));
  const rows = own.groups.flatMap((group) => own.schemes.filter((scheme) => group.schemes[scheme]).map((scheme) => {
    const run = group.schemes[scheme];
    return [shortCell(own, group), scheme, ...names.map((name, at) => interval(formats[at], run.values[own.metrics.indexOf(name)])), run.steady];
  }));
  panel.append(table([cellHeading(own), "scheme", ...names.map(metricName), "steady"], rows, "first"));
}

/** Pixels of a label beside a chart. */
const LABEL_WIDTH = 120;
/** Cells above which each name stands in one line. */
const MANY = 12;
function sweepBars(own, runs) {
  const panel = section("Cell by cell", "A number of each run: mean over seeds, and its 95 % interval where there are several.");
  const opening = [...DATA.conditions.map((one) => one.metric), "response.read.p99_9_ns", "response.write.p99_9_ns"];
  const state = { metric: opening.find((name) => own.metrics.includes(name)) || own.metrics[0] };
  panel.append(h("div", { class: "controls" },
    choice("Number:", own.metrics.map((name) => [name, metricName(name)]), (value) => { state.metric = value; made.draw(); }, state.metric)));
  legend(panel, runs);
  const pair = (group, scheme) => { const run = group.schemes[scheme]; return run ? run.values[own.metrics.indexOf(state.metric)] : null; };
  const factor = () => (state.metric.endsWith("_ns") ? 1e-6 : 1);
  const asked = () => DATA.conditions.filter((one) => one.metric === state.metric).map((one) => (
    { name: conditionName(one), yAxis: one.value * factor(), label: { position: "end", width: LABEL_WIDTH, overflow: "break", align: "left" } }));
  const made = chart(panel, {
    label: "a number of each cell and scheme", height: 380, isZoomed: true,
    option: () => ({
      // The label of a line lies beside the bars.
      grid: { left: 62, right: asked().length ? LABEL_WIDTH + 14 : 18, top: 12, bottom: 120 },
      tooltip: {
        trigger: "axis", axisPointer: { type: "shadow" },
        formatter: (found) => tip(found[0].axisValue, found.filter((one) => one.seriesType === "bar").map((one) =>
          [one.seriesName, interval(formatOf(own, state.metric), pair(own.groups[one.dataIndex], one.seriesName))])),
      },
      xAxis: axis({ type: "category", data: own.groups.map((group) => shortCell(own, group)), name: own.varied.length === 1 ? cellHeading(own) : "", nameGap: 70,
        axisLabel: { color: faint(), fontSize: 10, lineHeight: 14, ...(own.groups.length > MANY ? { rotate: 45, hideOverlap: true } : { interval: 0, formatter: (text) => text.replaceAll(" ", "\n") }) } }),
      yAxis: axis({ type: "value", min: 0, max: axisEnds(asked().map((one) => one.yAxis), 1.1).max, name: metricName(state.metric) + (state.metric.endsWith("_ns") ? " (ms)" : ""), nameGap: 46 }),
      dataZoom: zoom({ filterMode: "filter" }),
      series: barsWithIntervals(own.groups, runs.filter(isShown), pair, factor(), asked()),
    }),
    table: () => [["cell", ...runs.map((run) => run.label)], own.groups.map((group) => [group.label || "the cell", ...runs.map((run) => interval(formatOf(own, state.metric), pair(group, run.scheme)))])],
  });
}
function barsWithIntervals(groups, runs, pair, factor, marks) {
  const bars = runs.map((run, at) => ({
    name: run.scheme, type: "bar", barMaxWidth: 28, itemStyle: { color: colourOf(run.scheme) }, markLine: at === 0 ? conditionLines(marks) : undefined,
    data: groups.map((group) => { const own = pair(group, run.scheme); return own ? own[0] * factor : null; }),
  }));
  const whiskers = runs.map((run, at) => ({
    name: run.scheme, type: "custom", silent: true, z: 5, clip: true, tooltip: { show: false }, encode: { x: 0, y: [1, 2] },
    data: groups.flatMap((group, row) => {
      const own = pair(group, run.scheme);
      return own && own[1] ? [[row, (own[0] - own[1]) * factor, (own[0] + own[1]) * factor]] : [];
    }),
    renderItem: (_, api) => {
      const layout = api.barLayout({ count: runs.length, barMaxWidth: 28 })[at];
      const [low, high] = [1, 2].map((dimension) => api.coord([api.value(0), api.value(dimension)]));
      const x = low[0] + layout.offsetCenter;
      const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: faint(), lineWidth: 1.5 } });
      return { type: "group", children: [line(x, low[1], x, high[1]), line(x - 4, low[1], x + 4, low[1]), line(x - 4, high[1], x + 4, high[1])] };
    },
  }));
  return [...bars, ...whiskers];
}

function sweepCell(own, runs) {
  const labels = own.groups.map((group, at) => [String(at), group.label || "the cell"]);
  const any = (has) => own.groups.some((group) => Object.values(group.schemes).some(has));
  const withRequests = OPS.filter((op, at) => any((run) => run.ccdf[op] || run.causes[at].length));
  const state = { group: 0, of: askedClass(withRequests.concat(OPS)) };
  const chosen = (draw) => h("div", { class: "controls" },
    choice("Cell:", labels, (value) => { state.group = Number(value); draw(); }),
    choice("Requests:", [["read", "reads"], ["write", "writes"]], (value) => { state.of = value; draw(); }, state.of));
  const of = () => runs.map((run) => ({ ...run, own: own.groups[state.group].schemes[run.scheme] })).filter((run) => run.own);
  if (any((run) => run.ccdf.read || run.ccdf.write)) {
    const panel = section("Response times: distribution", "Of one cell, all seeds together: which share of the requests takes longer than which time, to the sixth nine.");
    panel.append(chosen(() => made.draw()));
    legend(panel, runs);
    const lines = () => of().filter((run) => run.own.ccdf[state.of]).map((run) => ({ ...run, ccdf: run.own.ccdf[state.of] }));
    const made = distribution(panel, "complementary cumulative distribution of response times of a cell", lines, () => state.of);
  } else {
    section("Response times: distribution", "The sweep's table has no NAME-latencies.parquet beside it: copy that " +
      "table there, or run the sweep again.").classList.add("missing");
  }
  const panel = section("Response times: causes", "Of one cell, mean over seeds: what a request waited for.");
  panel.append(chosen(() => made.draw()));
  legend(panel, runs);
  const made = breakdown(panel, "mean response time by cause of a cell", () => of().map((run) => ({ ...run, causes: run.own.causes[state.of === "read" ? 0 : 1] })));
}

function sweepConfigurations(own) {
  const panel = section("What the runs differ in", own.varied.length ? `Cells differ in ${own.varied.join(", ")}; schemes in these keys (in the first cell):` : "Schemes differ in these keys:");
  panel.classList.add("long");
  const rows = differences(own.configs);
  panel.append(rows.length ? table(["key", ...own.configs.map((one) => one.scheme)], rows, "words") : h("p", {}, "All keys are alike."));
}

const VERDICTS = {
  met: ["holds", "#009E73", "circle"], none: ["not judged", "#8C8C8C", "emptyCircle"],
  smaller: ["smaller", "#E69F00", "diamond"], larger: ["larger", "#E69F00", "diamond"], "null-too": ["control, too", "#0072B2", "rect"],
};
const MISSED = ["does not hold", "#D55E00", "triangle"];
const verdictOf = (claim) => VERDICTS[claim.verdict || "none"] || MISSED;
const verdictText = (claim) => VERDICTS[claim.verdict || "none"]?.[0] ?? claim.verdict;

function reproduction(source) {
  for (const document of source.reproductions) {
    const about = `from ${source.name}.` + (document.quick ? " Quick: runs were stopped early." : "") +
      (document.changes.length ? ` With ${document.changes.join(", ")}.` : "");
    if (document.worlds) worlds(document, about);
    else if (document.headlines) headlines(document, about);
    else claims(document, about);
  }
}

function claims(document, about) {
  const claims = document.claims;
  section(`Reproduction: ${document.paper}`, `${counted(claims.length, "claim")}, ${about}`, "h2");
  for (const unit of [...new Set(claims.map((claim) => claim.effect_unit || "%"))].sort()) {
    const own = claims.filter((claim) => (claim.effect_unit || "%") === unit && claim.measured_effect !== null);
    if (own.length) published(own, unit);
  }
  const panel = section("Claims", "Every claim, what was published and what was measured.");
  panel.classList.add("long");
  panel.append(table(["figure", "claim", "published", "measured", "± seeds", "verdict"], claims.map((claim) => [
    claim.figure, claim.text, claim.published || "–", claim.measured || claim.why_not_measured || "–", number(claim.seeds_half_width), claim.verdict ? verdictText(claim) : claim.why_not_judged || "not measured",
  ]), "words"));
}

/** What the abstract, the introduction and the conclusion of a paper claim. */
function headlines(document, about) {
  const panel = section(`Headlines of ${document.paper}`, `${counted(document.headlines.length, "headline")}, ${about}`, "h2");
  panel.classList.add("long");
  panel.append(table(["headline", "published", "measured", "work", "verdict", "cause of a miss"], document.headlines, "words"));
}

/** The headlines of a paper under draws of the decisions that it leaves open. */
function worlds(document, about) {
  section(`Worlds of ${document.paper}`, `${document.counts} Drawn ${about}`, "h2");
  const picture = section("Headlines in every world", "For each headline the effect in every world, sorted; below it the decisions that matter most.");
  picture.append(h("img", { class: "drawing", alt: "the effects of the headlines in every world", src: `data:image/svg+xml,${encodeURIComponent(document.curve)}` }));
  const panel = section("Distributions", "Quantiles over worlds, and the worlds in which a headline holds.");
  panel.append(table(["headline", "published", "as decided", "5 %", "median", "95 %", "in size", "in direction"], document.worlds, "words"));
  const why = section("What decides", "Shares of the variance between worlds, and the simplest rule that separates them.");
  why.append(table(["headline", "share of the variance", "rule for the direction"], document.decides, "words"));
  const open = section("Open decisions", "The values that the paper's text admits.");
  open.append(table(["decision", "admissible", "decided", "the paper"], document.decisions, "words"));
}

/** Published against measured, a row for each claim. */
function published(claims, unit) {
  const panel = section(`Published against measured (${unit})`, "Hollow diamond or box: what was published, dashed where only a direction was. Filled: what was " +
    "measured, with its 95 % interval over seeds; green circle: holds; orange diamond: smaller or larger, only its " +
    "direction holds; blue square: control, too: a scheme without the idea has half of the effect or more; vermilion " +
    "triangle: does not hold; grey: not judged.");
  panel.classList.add("long");
  const name = (claim) => `${claim.figure}: ${claim.text}`;
  const bounds = (claim) => claim.published_bounds || [null, null];
  const room = () => Math.min(MAIN.clientWidth * 0.42, 430);
  const value = (text) => digits(text) + (unit ? ` ${unit}` : "");
  chart(panel, {
    label: `published against measured, ${unit}`, height: 70 + 26 * claims.length,
    option: () => ({
      grid: { left: room() + 12, right: 24, top: 8, bottom: 48 },
      tooltip: { trigger: "item", formatter: (one) => {
        const claim = claims[one.value[1]];
        return tip(name(claim), [["published", claim.published || "–"], ["measured", claim.measured || "–"], ["verdict", verdictText(claim)]]);
      } },
      xAxis: axis({ type: "value", name: `effect (${unit})`, nameGap: 24, axisLabel: { color: faint(), hideOverlap: true, formatter: (x) => digits(x) } }),
      yAxis: axis({ type: "category", inverse: true, data: claims.map(name), axisLabel: { color: ink(), width: room(), overflow: "truncate", interval: 0 } }),
      series: [
        { type: "custom", data: claims.map((claim, at) => [claim.measured_effect, at, ...bounds(claim), ...[-1, 1].map((sign) => claim.measured_effect + sign * (claim.seeds_half_width || 0))]),
          encode: { x: [0, 2, 3, 4, 5], y: 1 }, renderItem: (params, api) => claimShape(api, bounds(claims[params.dataIndex]), claims[params.dataIndex]) },
        { type: "scatter", symbolSize: 11, data: claims.map((claim, at) => ({ value: [claim.measured_effect, at], symbol: verdictOf(claim)[2], itemStyle: { color: verdictOf(claim)[1] } })) },
      ],
    }),
    table: () => [["claim", "published", "measured", "± seeds", "verdict"], claims.map((claim) =>
      [name(claim), claim.published || "–", claim.measured || "–", claim.seeds_half_width === null ? "–" : value(claim.seeds_half_width), verdictText(claim)])],
  });
}
function claimShape(api, [least, most], claim) {
  const at = (x) => api.coord([x, api.value(1)]);
  const line = (x1, y1, x2, y2, stroke, lineWidth) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke, lineWidth } });
  const [x, y] = at(claim.measured_effect);
  const children = [];
  const half = claim.seeds_half_width;
  if (half) children.push(line(at(claim.measured_effect - half)[0], y, at(claim.measured_effect + half)[0], y, verdictOf(claim)[1], 2));
  if (least !== null && least === most) {
    const own = at(least)[0];
    children.push(line(own, y, x, y, ruled(), 1), { type: "polygon", shape: { points: [[own - 7, y], [own, y - 7], [own + 7, y], [own, y + 7]] }, style: { fill: "none", stroke: ink(), lineWidth: 2 } });
  } else if (least !== null || most !== null) {
    const [from, to] = [least === null ? at(most)[0] - 28 : at(least)[0], most === null ? at(least)[0] + 28 : at(most)[0]];
    children.push({ type: "rect", shape: { x: from, y: y - 6, width: Math.max(to - from, 2), height: 12 }, style: { fill: "none", stroke: ink(), lineWidth: 1.5, lineDash: least === null || most === null ? [4, 3] : null } });
  }
  return { type: "group", children };
}
