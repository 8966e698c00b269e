/* What changed over a run, and which die worked when. */

const OVER_TIME = [
  ["response_ns", "Over time: response", "Mean response time of the requests that ended in an interval.", "response time (ms)", 1e-6, time],
  ["write_amplification", "Over time: write amplification", "Units programmed for each unit that the host wrote.", "write amplification", 1, number, true],
  ["free_blocks", "Over time: free blocks", "Free blocks of a plane, as a mean over all planes; the shade reaches down to the plane with the fewest.", "free blocks of a plane", 1, number],
  ["dies_collecting", "Over time: garbage collection", "Dies in garbage collection at the ends of intervals.", "dies collecting", 1, number],
];

const SHADED = "shade: from the lowest to the highest interval in it.";
const BARE = "its lowest and highest interval, which may have almost no writes, are in the tooltip and in the data.";

function overTime(runs) {
  const drawn = runs.filter((run) => run.series && run.series.end_ns.length);
  if (!drawn.length) return missing("Over time", "time_series.parquet");
  for (const [name, title, text, axisName, factor, shown, isBare] of OVER_TIME) {
    const panel = section(title, `${text} Line: mean of a bin; ${isBare ? BARE : SHADED} The four panels zoom together.`);
    const [least, most] = [Math.min, Math.max].map((pick) => pick(...drawn.map((run) => run.series.end_ns.length)));
    const rows = Math.max(...drawn.map((run) => run.series.rows));
    panel.append(h("p", { class: "note" }, `Up to ${number(rows)} intervals, drawn in ${least === most ? most : `${least} to ${most}`} bins; each interval: time_series.parquet.`));
    legend(panel, runs);
    chart(panel, timeChart(drawn, name, title, axisName, factor, shown, isBare));
  }
  echarts.connect("time");
}

const seconds = (run) => run.series.end_ns.map((ns) => ns / 1e9);
function timeChart(runs, name, title, axisName, factor, shown, isBare) {
  const of = (run) => run.series[name];
  const scaled = (value) => (value === null ? null : value * factor);
  const shownRuns = () => runs.filter(isShown);
  const start = Math.min(...runs.map((run) => run.series.start_ns)) / 1e9;
  const end = Math.max(...runs.flatMap((run) => seconds(run).at(-1)));
  return {
    label: title, height: 300, isZoomed: true, group: "time",
    option: () => ({
      grid: { left: 58, right: 18, top: 12, bottom: 74 },
      tooltip: {
        trigger: "axis", axisPointer: { type: "line" },
        formatter: (found) => {
          const at = found[0].axisValue;
          return tip(`${digits(at)} s`, shownRuns().map((run) => [run.label, spread(shown, of(run), seconds(run).findIndex((end) => end >= at * 0.9999999))]));
        },
      },
      xAxis: axis({ type: "value", min: start, max: end, name: "simulated time (s)", nameGap: 26, axisLabel: { color: faint(), hideOverlap: true, showMinLabel: false, showMaxLabel: false } }),
      yAxis: axis({ type: "value", min: 0, name: axisName, nameGap: 40 }),
      dataZoom: zoom(),
      series: shownRuns().flatMap((run) => {
        const [mean, min, max] = ["mean", "min", "max"].map((which) => of(run)[which].map(scaled));
        const times = seconds(run);
        const tint = colourOf(run.scheme);
        return [
          ...(isBare ? [] : [{ name: run.label, type: "custom", silent: true, clip: true, tooltip: { show: false }, encode: { x: 0, y: [1, 2] },
            data: times.map((at, row) => [at, min[row], max[row]]), renderItem: (params, api) => band(params, api, times, min, max, tint) }]),
          { name: run.label, type: "line", showSymbol: false, symbolSize: 5, connectNulls: false, data: times.map((at, row) => [at, mean[row], min[row], max[row]]),
            lineStyle: strokeOf(run), itemStyle: { color: tint } },
        ];
      }),
    }),
    table: () => [["run", "until (s)", "mean", "least", "most"], shownRuns().flatMap((run) => seconds(run).map((at, row) =>
      [run.label, digits(at), ...["mean", "min", "max"].map((which) => shown(of(run)[which][row]))]))],
  };
}
function spread(shown, of, bin) {
  if (bin < 0) return "ended";
  const [mean, min, max] = ["mean", "min", "max"].map((which) => shown(of[which][bin]));
  return min === max ? mean : `${mean} (${min} to ${max})`;
}
/** One shape for a whole band; the other points only say how far the axes go. */
function band(params, api, times, min, max, tint) {
  if (params.dataIndexInside > 0) return undefined;
  const rows = times.map((_, row) => row).filter((row) => min[row] !== null);
  const points = [...rows.map((row) => api.coord([times[row], max[row]])), ...rows.reverse().map((row) => api.coord([times[row], min[row]]))];
  return { type: "polygon", shape: { points }, style: { fill: tint, opacity: 0.12 } };
}

const LAYERS = { collections: "collections: from the choice of the victim to the end of its erase", host: "the host's commands", gc: "commands of garbage collection" };

function dies(runs) {
  const drawn = runs.filter((run) => run.dies && Object.keys(run.dies.layers).length);
  if (!drawn.length) return missing("Die by die", "gc_events.parquet");
  const layers = Object.keys(LAYERS).filter((layer) => drawn.some((run) => layer in run.dies.layers));
  const panel = section("Die by die", "When each die worked: the darker, the larger the share of an interval in which the die was busy.");
  // Only a panel longer than a sheet is broken over sheets.
  if (drawn.reduce((sum, run) => sum + mapHeight(run) + HEAD, 0) > 760) panel.classList.add("long");
  const { bin_ns: width, dies_left_out: leftOut } = drawn[0].dies;
  panel.append(h("p", { class: "note" }, `An interval is ${time(width)} long. Each collection: gc_events.parquet.` +
    (layers.length > 1 ? " Each command: commands.parquet." : " Commands are drawn, too, if the run had --out-commands.") +
    (leftOut ? ` ${number(leftOut)} more dies are left out here, and are in the Parquet tables of --out.` : "")));
  const state = { layer: layers[0] };
  panel.append(h("div", { class: "controls" }, choice("Drawn:", layers.map((layer) => [layer, LAYERS[layer]]), (value) => { state.layer = value; made.draw(); })));
  legend(panel, runs);
  const made = chart(panel, dieChart(drawn, state));
}

const HEAD = 22;
const mapHeight = (run) => Math.min(Math.max(run.dies.dies.length * 7, 60), 320);
/** Dies of a run one above another, and runs likewise; all zoom together. */
function dieChart(runs, state) {
  const shown = () => runs.filter(isShown);
  const tops = () => shown().reduce((all, run) => [...all, all.at(-1) + mapHeight(run) + HEAD], [HEAD]);
  const total = runs.reduce((sum, run) => sum + mapHeight(run) + HEAD, 0) + 70;
  const cells = (run) => {
    const flat = run.dies.layers[state.layer] || [];
    return Array.from({ length: flat.length / 3 }, (_, at) => {
      const from = (run.dies.from_ns + flat[at * 3 + 1] * run.dies.bin_ns) / 1e9;
      return [from, from + run.dies.bin_ns / 1e9, flat[at * 3], flat[at * 3 + 2] / 1000];
    });
  };
  const ends = runs.map((run) => [run.dies.from_ns / 1e9, (run.dies.from_ns + run.dies.bins * run.dies.bin_ns) / 1e9]);
  const [start, end] = [Math.min(...ends.map(([from]) => from)), Math.max(...ends.map(([, to]) => to))];
  return {
    label: "die by die, who worked when", height: total, isZoomed: true, renderer: "canvas",
    option: () => {
      const own = shown();
      const last = own.length - 1;
      return {
        title: own.map((run, at) => ({ text: run.label, left: 40, top: tops()[at] - HEAD + 1, textStyle: { color: ink(), fontSize: 12, fontWeight: 600 } })),
        grid: own.map((run, at) => ({ left: 44, right: 18, top: tops()[at], height: mapHeight(run) })),
        tooltip: { trigger: "item", formatter: (one) => tip(`${own[one.seriesIndex].label}, die ${own[one.seriesIndex].dies.dies[one.value[2]]}`,
          [["from", `${digits(one.value[0])} s`], ["at work", percent(one.value[3])]]) },
        xAxis: own.map((_, at) => axis({ type: "value", gridIndex: at, min: start, max: end, splitLine: { show: false }, name: at === last ? "simulated time (s)" : "", nameGap: 24,
          axisLabel: { show: at === last, color: faint(), hideOverlap: true, showMinLabel: false, showMaxLabel: false } })),
        yAxis: own.map((run, at) => axis({ type: "category", gridIndex: at, inverse: true, data: run.dies.dies, splitLine: { show: false },
          axisTick: { show: false }, axisLabel: { color: faint(), fontSize: 10 }, name: at === 0 ? "die" : "", nameGap: 28 })),
        dataZoom: zoom({ xAxisIndex: own.map((_, at) => at) }),
        series: own.map((run, at) => ({
          type: "custom", xAxisIndex: at, yAxisIndex: at, clip: true, encode: { x: [0, 1], y: 2 }, data: cells(run), progressive: 0,
          renderItem: (params, api) => dieShape(params, api, colourOf(run.scheme)),
        })),
      };
    },
    table: () => [["run", "die", "share of the time", "most in one interval"], shown().flatMap((run) => {
      const all = cells(run);
      return run.dies.dies.map((die, at) => {
        const of = all.filter((cell) => cell[2] === at).map((cell) => cell[3]);
        return [run.label, die, percent(of.reduce((sum, share) => sum + share, 0) / run.dies.bins), percent(Math.max(0, ...of))];
      });
    })],
  };
}
function dieShape(params, api, tint) {
  const [from, to] = [api.coord([api.value(0), api.value(2)]), api.coord([api.value(1), api.value(2)])];
  const height = Math.max(api.size([0, 1])[1] - 1, 1);
  const { x, y, width, height: room } = params.coordSys;
  const shape = echarts.graphic.clipRectByRect({ x: from[0], y: from[1] - height / 2, width: Math.max(to[0] - from[0], 0.5), height }, { x, y, width, height: room });
  return shape && { type: "rect", shape, style: { fill: tint, opacity: 0.12 + 0.88 * api.value(3) } };
}
