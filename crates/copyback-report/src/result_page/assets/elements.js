"use strict";
/* Elements, numbers as people read them, and the colours of schemes. */

/** An element with attributes and children; texts are never read as HTML. */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

const DATA = JSON.parse(document.getElementById("data").textContent);

/** Whether a number is missing: it is null in results, and results of other versions may lack its key. */
const isNone = (value) => value === null || value === undefined;
/** Three significant digits. Without a number, this and the other formats below show a dash. */
function digits(value) {
  if (isNone(value)) return "–";
  const size = Math.abs(value);
  if (value === 0) return "0";
  if (size >= 1e15 || size < 1e-4) return value.toExponential(2);
  return size >= 999.5 ? Math.round(value).toLocaleString("en-US") : String(+value.toPrecision(3));
}
function time(ns) {
  if (isNone(ns)) return "–";
  const [divisor, unit] = ns < 1e3 ? [1, "ns"] : ns < 1e6 ? [1e3, "µs"] : ns < 1e9 ? [1e6, "ms"] : [1e9, "s"];
  return `${digits(ns / divisor)} ${unit}`;
}
const number = digits;
/** A count with its noun: `1 scheme`, `2 schemes`. */
const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
/** Percentiles by their names in results, each with the share of requests beyond it. */
const BEYOND = new Map(DATA.beyond_ppm.map(([name, ppm]) => [name, ppm / 1e6]));
/** Whether less than one of `count` requests is beyond a percentile; `share` is undefined for other numbers. */
const areTooFew = (count, share) => share !== undefined && count * share < 1;
const percent = (share) => (isNone(share) ? "–" : `${digits(share * 100)} %`);
/** A share in a column of a table: all have one decimal, as in the tables of the command. */
const columnPercent = (share) => (isNone(share) ? "–" : `${(share * 100).toFixed(1)} %`);
/** A ratio in a column of a table: all have three decimals. */
const columnRatio = (value) => (isNone(value) ? "–" : value.toFixed(3));
/** A share of requests with as many digits as it takes to see the nines. */
const beyond = (share) => (isNone(share) ? "–" : share >= 1e-4 ? `${+(share * 100).toPrecision(3)} %` : share.toExponential(2));
/** A time in a column of a table: with zeros at the end, so that all have three digits. */
function columnTime(ns) {
  const [value, unit] = time(ns).split(" ");
  return unit ? `${Math.abs(value) < 999.5 && Number(value) ? Number(value).toPrecision(3) : value} ${unit}` : value;
}
const wholes = (value) => (isNone(value) ? "–" : Math.round(value).toLocaleString("en-US"));
/** Numbers that are counts in each run; their means are not whole. */
const COUNTS = ["flash.block_erases"];
/** How all numbers of a column are shown: a number, and half of its interval. As in the tables of `copyback sweep`. */
function columnFormat(name, numbers) {
  if (name.endsWith("_ns")) return { value: columnTime, half: columnTime };
  const found = numbers.filter((value) => !isNone(value));
  // The interval of a count is rounded up: it is 0 only if it has no width.
  if (COUNTS.includes(name) || found.every(Number.isInteger)) return { value: wholes, half: (width) => wholes(Math.ceil(width)) };
  const before = Math.floor(Math.log10(Math.max(...found.map(Math.abs), 1e-9))) + 1;
  const decimals = before <= 0 ? Math.min(4 - before, 6) : before <= 2 ? 3 : before === 3 ? 1 : 0;
  const shown = (value) => isNone(value) ? "–" : value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return { value: shown, half: shown };
}

/** The class with which a panel opens: that of the first condition (`--where`) on one of these, or else the first. */
function askedClass(classes) {
  const asked = DATA.conditions.map((one) => one.class).find((name) => classes.includes(name));
  return asked || classes[0];
}

/* A scheme has one colour and one dash in every picture; runs of a second result are thinner and paler. */
const WEIGHTS = [[2.2, 1], [1.4, 0.6], [1, 0.4]];
const styleOf = (scheme) => DATA.styles[scheme];
const colourOf = (scheme) => styleOf(scheme)[0];
const dashOf = (run) => (styleOf(run.scheme)[1].length ? styleOf(run.scheme)[1] : "solid");
const weightOf = (run) => WEIGHTS[Math.min(run.source, WEIGHTS.length - 1)];
/** The style of a run's line. */
const strokeOf = (run) => ({ color: colourOf(run.scheme), width: weightOf(run)[0], opacity: weightOf(run)[1], type: dashOf(run) });
const theme = { isDark: false };
const ink = () => (theme.isDark ? "#e8ebee" : "#1b1f24");
const faint = () => (theme.isDark ? "#a3adb8" : "#57606a");
const ruled = () => (theme.isDark ? "#3a434d" : "#dfe4e9");
const paper = () => (theme.isDark ? "#14181d" : "#ffffff");

/** A table; each cell is a text, an element or [text, small text]. */
function table(head, rows, kind = "") {
  const cell = (content, at) => {
    const parts = Array.isArray(content) ? [content[0], h("small", {}, content[1])] : [content];
    return at === 0 ? h("th", { scope: "row" }, parts) : h("td", {}, parts);
  };
  return h("div", { class: `scroll ${kind}`, tabindex: "0", role: "group", "aria-label": "Table" },
    h("table", { class: kind },
      h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell))))));
}

/** A choice with a label; `chosen` is selected at first, or else the first one. */
function choice(label, names, onchange, chosen = null) {
  const select = h("select", { onchange: () => onchange(select.value) },
    names.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
  return h("label", {}, `${label} `, select);
}
