// Curves with axes.

import { h, s } from "./elements.js";
import { count, range } from "./maths.js";

const SHORT = { notation: "compact", maximumSignificantDigits: 3 };
const compact = (value) =>
  (Number.isInteger(value) && value < 1e6 ? count(value) : value.toLocaleString("en-US", SHORT)).replace("-", "−");

// Round numbers between two, four to eight of them; of a logarithmic axis powers of one of the bases.
function steps(low, high) {
  const rough = (high - low || 1) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
  return range(
    Math.floor(high / step + 1e-9) - Math.ceil(low / step - 1e-9) + 1,
    Math.ceil(low / step - 1e-9)
  ).map((i) => i * step);
}

function powers(low, high, bases) {
  const between = (base) => {
    const [first, last] = [low, high].map((exponent) => exponent / Math.log10(base));
    return range(Math.floor(last + 1e-9) - Math.ceil(first - 1e-9) + 1, Math.ceil(first - 1e-9)).map((i) => base ** i);
  };
  return bases.map(between).find((found) => found.length > 2) ?? between(2);
}

// Curves over x with their names. at: the x of a vertical mark; log: a logarithmic y axis, logX: x too; tick: how a
// value is written; bases: whose powers may be marked; family: {name, all: [values, …]}, thin curves below the others.
export function chart({
  name,
  x,
  curves,
  at,
  xLabel,
  yLabel,
  log = false,
  logX = false,
  least,
  most,
  tick = compact,
  bases = [10, 4, 2],
  family = { all: [] },
}) {
  const [W, H, L, R, T, B] = [380, 230, 60, 14, 12, 38];
  const all = [...family.all, ...curves.map((curve) => curve.values)].flat().filter((value) => Number.isFinite(value) && (!log || value > 0));
  const bend = (value, isLog) => (isLog ? Math.log10(Math.max(value, 1e-12)) : value);
  const [low, high] = [bend(least ?? Math.min(...all), log), bend(most ?? Math.max(...all), log)];
  const [left, right] = [bend(x[0], logX), bend(x[x.length - 1], logX)];
  const X = (value) => L + ((bend(value, logX) - left) / (right - left || 1)) * (W - L - R);
  const Y = (value) => H - B - ((bend(value, log) - low) / (high - low || 1)) * (H - T - B);
  const ticks = log ? powers(low, high, bases) : steps(low, high);
  const xs = [x[0], x[Math.floor((x.length - 1) / 2)], x[x.length - 1]];
  const path = (values) => values.map(
    (value, i) => (Number.isFinite(value) && (!log || value > 0) ? `${X(x[i]).toFixed(1)},${Y(value).toFixed(1)}` : "")
  ).filter(Boolean).join(" ");
  const words = curves.map(
    (curve) => `${curve.name}: from ${tick(curve.values[0])} to ${tick(curve.values.at(-1))}`
  ).join("; ");
  const drawn = s("svg", {
    viewBox: `0 0 ${W} ${H}`,
    role: "img",
    "aria-label": `${name}. ${words}`,
    class: "kata-chart",
  },
    ticks.map((value) => [
      s("line", { class: "grid", x1: L, x2: W - R, y1: Y(value), y2: Y(value) }),
      s("text", { x: L - 6, y: Y(value) + 4, "text-anchor": "end" }, tick(value)),
    ]),
    xs.map((value, i) => s(
      "text",
      { x: X(value), y: H - B + 16, "text-anchor": ["start", "middle", "end"][i] },
      compact(value)
    )),
    s("text", { x: (L + W - R) / 2, y: H - 6, "text-anchor": "middle" }, xLabel),
    at !== undefined && s("line", { class: "now", x1: X(at), x2: X(at), y1: T, y2: H - B }),
    family.all.map((values) => s("polyline", { class: "curve thin", points: path(values) })),
    curves.map((curve, i) => s("polyline", { class: `curve curve-${i}`, points: path(curve.values) })),
  );
  return h(
    "div",
    { class: "kata-panel kata-wide", key: name, "data-name": name },
    h("p", { class: "kata-caption" }, yLabel ?? name),
    drawn,
    legend([...curves, ...(family.name ? [family] : [])].map(({ name }, i) => [
      name, s("polyline", { class: `curve ${i < curves.length ? `curve-${i}` : "thin"}`, points: "0,4 28,4" }),
    ]))
  );
}

// Names, each behind a sample of its line. samples: [name, the line in a box of 28 by 8].
export const legend = (samples) => h("div", { class: "kata-legend" }, samples.map(([name, sample]) => h(
  "span",
  {},
  s("svg", { viewBox: "0 0 28 8", class: "kata-key", "aria-hidden": "true" }, sample),
  name
)));
