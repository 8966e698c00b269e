"use strict";
/* Elements, numbers as people read them, and which colour is whose. */

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

/** Three significant digits. */
function digits(value) {
  const size = Math.abs(value);
  if (value === 0) return "0";
  if (size >= 1e15 || size < 1e-4) return value.toExponential(2);
  return size >= 999.5 ? Math.round(value).toLocaleString("en-US") : String(+value.toPrecision(3));
}
function time(ns) {
  if (ns === null || ns === undefined) return "–";
  const [divisor, unit] = ns < 1e3 ? [1, "ns"] : ns < 1e6 ? [1e3, "µs"] : ns < 1e9 ? [1e6, "ms"] : [1e9, "s"];
  return `${digits(ns / divisor)} ${unit}`;
}
const number = (value) => (value === null || value === undefined ? "–" : digits(value));
const percent = (share) => `${digits(share * 100)} %`;
/** A share of requests with as many digits as it takes to see the nines. */
const beyond = (share) => (share >= 1e-4 ? `${+(share * 100).toPrecision(3)} %` : share.toExponential(2));
/** A number of the results, by what its name ends with. */
const shownAs = (name, value) => (name.endsWith("_ns") ? time(value) : number(value));

/* Okabe and Ito (2008), in an order in which neighbours differ in lightness; black is ink. */
const COLOURS = ["ink", "#E69F00", "#0072B2", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442"];
const DASHES = ["solid", "dashed", "dotted"];
const PIECES = { solid: "", dashed: "7 4", dotted: "2 3" };

/** Every scheme of the page has one colour; runs of a second result are dashed. */
const SCHEMES = [];
function schemeAt(scheme) {
  if (!SCHEMES.includes(scheme)) SCHEMES.push(scheme);
  return SCHEMES.indexOf(scheme);
}
const theme = { isDark: false };
const ink = () => (theme.isDark ? "#e8ebee" : "#1b1f24");
const faint = () => (theme.isDark ? "#a3adb8" : "#57606a");
const ruled = () => (theme.isDark ? "#3a434d" : "#dfe4e9");
const paper = () => (theme.isDark ? "#14181d" : "#ffffff");
const colour = (name) => (name === "ink" ? ink() : name);
const colourOf = (scheme) => colour(COLOURS[schemeAt(scheme) % COLOURS.length]);
const dashOf = (run) => DASHES[(run.source + Math.floor(schemeAt(run.scheme) / COLOURS.length)) % DASHES.length];

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

/** A choice with a label. */
function choice(label, names, onchange) {
  const select = h("select", { onchange: () => onchange(select.value) },
    names.map(([value, text]) => h("option", { value }, text)));
  return h("label", {}, `${label} `, select);
}
