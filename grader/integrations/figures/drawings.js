// What figures draw: matrices with their numbers, bars, curves, points in a plane. Each drawing is made anew at a change.

import { h, s } from "./controls.js";
import { count, format, range } from "./maths.js";

// Panels side by side, as many as there is room for.
export const row = (...nodes) => h("div", { class: "kata-row" }, nodes);
export const sign = (text) => h("div", { class: "kata-sign", "aria-hidden": "true" }, text);
export const line = (...words) => h("p", { class: "kata-line" }, words);

// A matrix (or one row of numbers) as a table. name: its caption, and what tests look for.
//   rows, columns: names; digits: after the point; scale: what the fullest colour stands for; heat: false for none
//   picked: [i, j] of the cell that is told of; pick(i, j) makes cells buttons, one tab stop, arrows move
//   marked(i, j): cells with a frame; faint(i, j): cells that do not count
export function matrix({ name, values, rows, columns, digits = 4, scale, heat = true, picked, pick, marked, faint, note }) {
  const cells = Array.isArray(values[0]) ? values : [values];
  const full = scale ?? Math.max(1e-9, ...cells.flat().map((value) => (Number.isFinite(value) ? Math.abs(value) : 0)));
  const at = picked ?? [0, 0];
  const move = (event) => {
    const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!steps) return;
    event.preventDefault();
    const [i, j] = [Number(event.target.dataset.row) + steps[0], Number(event.target.dataset.column) + steps[1]];
    const next = event.target.closest("table").querySelector(`button[data-row="${i}"][data-column="${j}"]`);
    next?.focus();
    if (next) pick(i, j);
  };
  const cell = (value, i, j) => {
    const share = typeof value === "number" && Number.isFinite(value) ? Math.min(1, Math.abs(value) / full) : 0;
    const text = format(value, digits);
    const isPicked = picked && picked[0] === i && picked[1] === j;
    const kind = [value < 0 && "less", marked?.(i, j) && "marked", faint?.(i, j) && "faint", isPicked && "picked"];
    const label = [rows?.[i], columns?.[j], text].filter(Boolean).join(", ");
    const place = { "data-row": i, "data-column": j };
    const inner = pick
      ? h("button", { type: "button", ...place, "data-key": `${name}-${i}-${j}`, tabindex: i === at[0] && j === at[1] ? 0 : -1, "aria-pressed": String(Boolean(isPicked)), "aria-label": label, click: () => pick(i, j), keydown: move }, text)
      : text;
    return h("td", { class: kind.filter(Boolean).join(" ") || null, "--share": heat ? `${(share * 100).toFixed(1)}%` : null, ...(pick ? {} : place) }, inner);
  };
  const head = columns && h("thead", {}, h("tr", {}, rows && h("td", {}), columns.map((word) => h("th", { scope: "col" }, word))));
  const body = cells.map((one, i) => h("tr", {}, rows && h("th", { scope: "row" }, rows[i] ?? ""), one.map((value, j) => cell(value, i, j))));
  const table = h("table", { class: "kata-matrix", "data-name": name }, h("caption", {}, name), head, h("tbody", {}, body));
  return h("div", { class: "kata-panel" }, h("div", { class: "kata-scroll", tabindex: 0, role: "region", "aria-label": `${name}, matrix` }, table), note && h("p", { class: "kata-note" }, note));
}

// A bar for each number, with its name and the number.
export function bars({ name, values, labels, digits = 4, most, marked }) {
  const full = most ?? Math.max(1e-9, ...values.filter(Number.isFinite));
  const width = (value) => `${(Number.isFinite(value) ? Math.min(1, Math.abs(value) / full) * 100 : 0).toFixed(2)}%`;
  const body = values.map((value, i) =>
    h("tr", { class: marked === i ? "picked" : null }, h("th", { scope: "row" }, labels[i]), h("td", { class: "kata-track", "aria-hidden": "true" }, h("div", { class: "kata-bar", "--width": width(value) })), h("td", { "data-row": 0, "data-column": i }, format(value, digits))),
  );
  return h("div", { class: "kata-panel" }, h("table", { class: "kata-bars", "data-name": name }, h("caption", {}, name), h("tbody", {}, body)));
}

const compact = (value) => Number.isInteger(value) && value < 1e6 ? count(value) : value.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 3 }).replace("-", "−");

// Round numbers between two, four to eight of them; of a logarithmic axis the powers of ten, or of two where these are few.
function steps(low, high) {
  const rough = (high - low || 1) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
  return range(Math.floor(high / step + 1e-9) - Math.ceil(low / step - 1e-9) + 1, Math.ceil(low / step - 1e-9)).map((i) => i * step);
}

function powers(low, high, bases) {
  const between = (base) => {
    const [first, last] = [low, high].map((exponent) => exponent / Math.log10(base));
    return range(Math.floor(last + 1e-9) - Math.ceil(first - 1e-9) + 1, Math.ceil(first - 1e-9)).map((i) => base ** i);
  };
  return bases.map(between).find((found) => found.length > 2) ?? between(2);
}

// Curves over x with their names. at: the x of a vertical mark; log: a logarithmic y axis, logX: x too; tick: how a value is
// written; bases: whose powers may be marked.
export function chart({ name, x, curves, at, xLabel, yLabel, log = false, logX = false, least, most, tick = compact, bases = [10, 4, 2] }) {
  const [W, H, L, R, T, B] = [380, 230, 52, 14, 12, 38];
  const all = curves.flatMap((curve) => curve.values).filter((value) => Number.isFinite(value) && (!log || value > 0));
  const bend = (value, isLog) => (isLog ? Math.log10(Math.max(value, 1e-12)) : value);
  const [low, high] = [bend(least ?? Math.min(...all), log), bend(most ?? Math.max(...all), log)];
  const [left, right] = [bend(x[0], logX), bend(x[x.length - 1], logX)];
  const X = (value) => L + ((bend(value, logX) - left) / (right - left || 1)) * (W - L - R);
  const Y = (value) => H - B - ((bend(value, log) - low) / (high - low || 1)) * (H - T - B);
  const ticks = log ? powers(low, high, bases) : steps(low, high);
  const xs = [x[0], x[Math.floor((x.length - 1) / 2)], x[x.length - 1]];
  const path = (values) => values.map((value, i) => (Number.isFinite(value) && (!log || value > 0) ? `${X(x[i]).toFixed(1)},${Y(value).toFixed(1)}` : "")).filter(Boolean).join(" ");
  const words = curves.map((curve) => `${curve.name}: from ${tick(curve.values[0])} to ${tick(curve.values.at(-1))}`).join("; ");
  const drawn = s("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${name}. ${words}`, class: "kata-chart" },
    ticks.map((value) => [s("line", { class: "grid", x1: L, x2: W - R, y1: Y(value), y2: Y(value) }), s("text", { x: L - 6, y: Y(value) + 4, "text-anchor": "end" }, tick(value))]),
    xs.map((value, i) => s("text", { x: X(value), y: H - B + 16, "text-anchor": ["start", "middle", "end"][i] }, compact(value))),
    s("text", { x: (L + W - R) / 2, y: H - 6, "text-anchor": "middle" }, xLabel),
    at !== undefined && s("line", { class: "now", x1: X(at), x2: X(at), y1: T, y2: H - B }),
    curves.map((curve, i) => s("polyline", { class: `curve curve-${i}`, points: path(curve.values) })),
  );
  const legend = h("div", { class: "kata-legend" }, curves.map((curve, i) => h("span", {}, s("svg", { viewBox: "0 0 28 8", class: "kata-key", "aria-hidden": "true" }, s("polyline", { class: `curve curve-${i}`, points: "0,4 28,4" })), curve.name)));
  return h("div", { class: "kata-panel kata-wide", "data-name": name }, h("p", { class: "kata-caption" }, yLabel ?? name), drawn, legend);
}

// Points and arrows in a plane. A point: {x, y, name, kind: "dot" | "arrow" | "cross", size, drag(x, y)}.
export function plane({ name, points, from = [0, 0], to = [1, 1], xLabel, yLabel, lines = [] }) {
  const [W, P] = [300, 30];
  const X = (x) => P + ((x - from[0]) / (to[0] - from[0])) * (W - 2 * P);
  const Y = (y) => W - P - ((y - from[1]) / (to[1] - from[1])) * (W - 2 * P);
  const within = (value, low, high) => Math.min(high, Math.max(low, value));
  const drag = (point) => (event) => {
    const svg = event.target.ownerSVGElement;
    const move = (now) => {
      const box = svg.getBoundingClientRect();
      const share = [((now.clientX - box.left) / box.width) * W, ((now.clientY - box.top) / box.height) * W];
      point.drag(
        within(from[0] + ((share[0] - P) / (W - 2 * P)) * (to[0] - from[0]), from[0], to[0]),
        within(from[1] + ((W - P - share[1]) / (W - 2 * P)) * (to[1] - from[1]), from[1], to[1]),
      );
    };
    const stop = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", stop);
    };
    event.preventDefault();
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", stop);
  };
  const shape = (point) => {
    const [x, y, size] = [X(point.x), Y(point.y), point.size ?? 6];
    const mark = point.kind === "cross" ? s("path", { class: "cross", d: `M${x - 7},${y - 7}L${x + 7},${y + 7}M${x - 7},${y + 7}L${x + 7},${y - 7}` }) : s("circle", { cx: x, cy: y, r: size, class: `${point.kind ?? "dot"} ${point.look ?? ""}` });
    if (point.drag) [mark.style.cursor, mark.style.touchAction] = ["grab", "none"];
    if (point.drag) mark.addEventListener("pointerdown", drag(point));
    const arrow = point.kind === "arrow" && s("line", { class: `arrow ${point.look ?? ""}`, x1: X(0), y1: Y(0), x2: x, y2: y });
    const right = x < W - 70;
    return [arrow, mark, s("text", { x: x + (right ? 1 : -1) * (size + 4), y: y + (point.below ? 14 : -5), "text-anchor": right ? "start" : "end", class: point.kind === "cross" ? "strong" : null }, point.name)];
  };
  const words = points.map((point) => `${point.name} at ${format(point.x, 2)}, ${format(point.y, 2)}`).join("; ");
  const svg = s("svg", { viewBox: `0 0 ${W} ${W}`, class: "kata-plane", role: "img", "aria-label": `${name}. ${words}` },
    s("path", { class: "axis", d: `M${X(Math.max(0, from[0]))},${P / 2}V${W - P / 2}M${P / 2},${Y(Math.max(0, from[1]))}H${W - P / 2}` }),
    xLabel && s("text", { x: W - 4, y: W - 8, "text-anchor": "end" }, xLabel),
    yLabel && s("text", { x: 6, y: 12 }, yLabel),
    lines.map(([a, b, thick]) => s("line", { class: "pull", x1: X(a[0]), y1: Y(a[1]), x2: X(b[0]), y2: Y(b[1]), "stroke-width": thick ?? 1 })),
    points.map(shape),
  );
  return h("div", { class: "kata-panel", "data-name": name }, h("p", { class: "kata-caption" }, name), svg);
}

// A map of many weights as squares: the side of a square grows with the root of the weight. marked: cells with a frame.
export function map({ name, values, rows, columns, marked, most = 1 }) {
  const [n, m, C] = [values.length, values[0].length, 10];
  const [squares, frames] = [[], []];
  const tenth = (value) => Math.round(value * 10) / 10;
  const square = (x, y, side) => `M${tenth(x)},${tenth(y)}h${tenth(side)}v${tenth(side)}h${-tenth(side)}z`;
  for (const [i, one] of values.entries()) {
    for (const [j, value] of one.entries()) {
      const side = C * Math.sqrt(Math.min(1, Math.max(0, value) / most));
      if (marked?.(i, j)) frames.push(square(j * C, i * C, C));
      if (side >= 1) squares.push(square(j * C + (C - side) / 2, i * C + (C - side) / 2, side));
    }
  }
  const most_ = (one) => one.indexOf(Math.max(...one));
  const words = values.map((one, i) => `${rows?.[i] ?? i} looks at ${columns?.[most_(one)] ?? most_(one)}`).join("; ");
  const svg = s("svg", { viewBox: `-1 -1 ${m * C + 2} ${n * C + 2}`, class: "kata-map", role: "img", "aria-label": `${name}. ${words}` }, s("rect", { class: "ground", x: 0, y: 0, width: m * C, height: n * C }), s("path", { class: "weight", d: squares.join("") }), s("path", { class: "place", d: frames.join("") }));
  return h("div", { class: "kata-panel kata-small", "data-name": name }, h("p", { class: "kata-caption" }, name), svg);
}
