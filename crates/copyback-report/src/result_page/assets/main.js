/* The page: its panels in order, its themes, its size, its print. */

const wish = window.matchMedia("(prefers-color-scheme: dark)");
let chosen = null;
function setTheme(isDark) {
  theme.isDark = isDark;
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  document.getElementById("theme").textContent = isDark ? "Light theme" : "Dark theme";
  redraw();
}
const wanted = () => (chosen === null ? wish.matches : chosen);
wish.addEventListener("change", () => setTheme(wanted()));
document.getElementById("theme").addEventListener("click", () => { chosen = !theme.isDark; setTheme(chosen); });
document.getElementById("print").addEventListener("click", () => window.print());

/** On paper, charts are drawn in the light theme, and at most this wide. */
const PAPER_PX = 680;
let isPrinting = false;
function toPaper() {
  isPrinting = true;
  setTheme(false);
  for (const { drawn, canvas } of CHARTS) {
    drawn.resize({ width: Math.min(PAPER_PX, canvas.clientWidth || PAPER_PX) });
    // Draw now: the browser prints before the next frame.
    drawn.getZr().refreshImmediately();
  }
}
function fromPaper() {
  isPrinting = false;
  setTheme(wanted());
  resize();
}
function resize() {
  if (!isPrinting) CHARTS.forEach(({ drawn }) => drawn.resize({ width: "auto" }));
}
window.addEventListener("beforeprint", toPaper);
window.addEventListener("afterprint", fromPaper);
window.addEventListener("resize", resize);

function summary() {
  const sources = DATA.sources.map(({ name, about }) => `${name} (${about.kind === "runs" ? about.command : about.kind})`);
  document.getElementById("title").textContent = DATA.title;
  document.getElementById("found").append(...DATA.found.filter((text) => text).map((text) => h("p", {}, text)));
  document.getElementById("summary").textContent = `Results: ${sources.join(", ")}.`;
  const coarse = DATA.coarseness ? ` There is much to show: lines and maps have 1/${2 ** DATA.coarseness} of their usual points, so that the page stays below 3 MB. With fewer results, they are finer.` : "";
  document.getElementById("footer").textContent = `Made by ${DATA.program.name} ${DATA.program.version} from results; times are simulated.` +
    ` Charts: Apache ECharts ${echarts.version} (Apache License 2.0).${coarse}`;
}
function contents() {
  const links = [...MAIN.querySelectorAll("section > h2, section > h3")].map((title) =>
    h("li", {}, h("a", { href: `#${title.parentElement.id}` }, title.textContent)));
  document.getElementById("contents").append(h("ul", {}, links));
}

theme.isDark = wanted();
const runs = allRuns();
if (runs.length) {
  section("Runs", DATA.sources.filter((source) => source.runs).length > 1 ? "Each scheme has one colour and one dash everywhere; runs of the second result are thinner and paler. " +
    "A run's button hides it in every panel." : "Each scheme has one colour and one dash everywhere; its button hides it in every panel.", "h2");
  headline(runs);
  workloads(runs);
  drives(runs);
  distributions(runs);
  causes(runs);
  overTime(runs);
  wear(runs);
  dies(runs);
  configurations(runs);
}
DATA.sources.filter((source) => source.sweep).forEach(sweep);
DATA.sources.filter((source) => source.reproductions).forEach(reproduction);
summary();
contents();
setTheme(wanted());
resize();
document.documentElement.dataset.ready = "true";
