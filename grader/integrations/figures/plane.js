// Points and arrows in a plane, and maps of many weights.

import { legend } from "./chart.js";
import { h, s } from "./elements.js";
import { format, range } from "./maths.js";

const [W, P] = [300, 30]; // the side of a plane, and its margin
const REACH = 25; // how far from its middle a handle is taken hold of: 44 pixels across where a plane is 270 wide
const STOPS = 20; // boxes that stand for a line where names look for room
const LETTER = 7; // the width of a letter that is wide enough for any name
const SIDES = [[1, -1], [1, 1], [-1, -1], [-1, 1], [0, -2], [0, 2], [1, -3], [-1, -3], [1, 3], [-1, 3], [1, -5], [-1, -5]]; // by liking

const held = new WeakMap(); // handle → the pointer that holds it

// Points and arrows in a plane. A line: [from, to, thickness, look].
// A point: {x, y, name, kind: "dot" | "arrow" | "cross", size, drag(x, y)}.
// most: its side where there is room. Names of dots and crosses are written where they cover nothing; arrows are named in a legend, as their ends meet.
export function plane({ name, points, from = [0, 0], to = [1, 1], xLabel, yLabel, lines = [], most = 270, note }) {
  const X = (x) => P + ((x - from[0]) / (to[0] - from[0])) * (W - 2 * P);
  const Y = (y) => W - P - ((y - from[1]) / (to[1] - from[1])) * (W - 2 * P);
  const [across, up] = [X(Math.max(0, from[0])), Y(Math.max(0, from[1]))]; // where the axes are
  const within = (value, low, high) => Math.min(high, Math.max(low, value));
  const moved = (point, { clientX, clientY, currentTarget }) => {
    const box = currentTarget.ownerSVGElement.getBoundingClientRect();
    const share = [((clientX - box.left) / box.width) * W, ((clientY - box.top) / box.height) * W];
    point.drag(
      within(from[0] + ((share[0] - P) / (W - 2 * P)) * (to[0] - from[0]), from[0], to[0]),
      within(from[1] + ((W - P - share[1]) / (W - 2 * P)) * (to[1] - from[1]), from[1], to[1]),
    );
  };
  const handle = (point, x, y) => s("circle", {
    class: "handle",
    cx: x,
    cy: y,
    r: REACH,
    touchstart: (event) => event.preventDefault(), // no scrolling; Chromium passes over touch-action within a drawing
    pointerdown(event) {
      if (event.button !== 0 || held.has(event.currentTarget)) return;
      event.preventDefault();
      held.set(event.currentTarget, event.pointerId);
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    pointermove: (event) => held.get(event.currentTarget) === event.pointerId && moved(point, event),
    // It follows pointerup and pointercancel alike.
    lostpointercapture: (event) =>
      held.get(event.currentTarget) === event.pointerId && held.delete(event.currentTarget),
  });
  const mark = (point) => {
    const [x, y, size] = [X(point.x), Y(point.y), point.size ?? 6];
    const look = `${point.kind ?? "dot"} ${point.look ?? ""}`;
    if (point.kind === "cross") return s(
      "path",
      { class: "cross", d: `M${x - 7},${y - 7}L${x + 7},${y + 7}M${x - 7},${y + 7}L${x + 7},${y - 7}` }
    );
    return [
      point.kind === "arrow" && s("line", { class: look, x1: X(0), y1: Y(0), x2: x, y2: y }),
      s("circle", { cx: x, cy: y, r: size, class: look }),
    ];
  };
  const axisNames = [
    xLabel && { x: W - 4, y: up + 20, anchor: "end", name: xLabel },
    yLabel && { x: 6, y: 12, anchor: "start", name: yLabel },
  ].filter(Boolean);
  const named = points.filter((point) => point.name && point.kind !== "arrow");
  const names = labels(
    named.map(({ x, y, ...point }) => ({ ...point, x: X(x), y: Y(y) })),
    [
      ...points.map(({ x, y, size = 6 }) => [X(x) - size, Y(y) - size, X(x) + size, Y(y) + size]),
      [across - 1, P / 2, across + 1, W - P / 2],
      [P / 2, up - 1, W - P / 2, up + 1],
      ...lines.flatMap(([a, b, thick = 1]) => range(STOPS).map((n) => {
        const [x, y] = [0, 1].map((axis) => a[axis] + ((b[axis] - a[axis]) * (n + 0.5)) / STOPS);
        return [X(x) - thick / 2, Y(y) - thick / 2, X(x) + thick / 2, Y(y) + thick / 2];
      })),
    ],
    axisNames
  );
  const text = ({ x, y, anchor, name, strong }) =>
    s("text", { x, y, "text-anchor": anchor, class: strong ? "strong" : null }, name);
  const words = points.filter((point) => point.name)
    .map((point) => `${point.name} at ${format(point.x, 2)}, ${format(point.y, 2)}`).join("; ");
  const svg = s("svg", {
    viewBox: `0 0 ${W} ${W}`,
    class: "kata-plane",
    role: "img",
    "aria-label": `${name}. ${words}`,
  },
    s(
      "path",
      {
        class: "axis",
        d: `M${across},${P / 2}V${W - P / 2}M${P / 2},${up}H${W - P / 2}`,
      }
    ),
    lines.map(([a, b, thick, look = ""]) => s("line", {
      class: `pull ${look}`, x1: X(a[0]), y1: Y(a[1]), x2: X(b[0]), y2: Y(b[1]), "stroke-width": thick ?? 1,
    })),
    points.map(mark),
    [...axisNames, ...names].map(text),
    points.map((point) => point.drag && handle(point, X(point.x), Y(point.y))),
  );
  const arrows = points.filter((point) => point.kind === "arrow");
  const sample = ({ look = "" }) => s("polyline", { class: `arrow ${look}`, points: "0,4 28,4" });
  return h(
    "div",
    { class: "kata-panel kata-planar", key: name, "data-name": name, "--most": `${most}px` },
    h("p", { class: "kata-caption" }, name),
    svg,
    arrows.length > 0 && legend(arrows.map((point) => [point.name, sample(point)])),
    note && h("p", { class: "kata-note" }, note)
  );
}

// Where names are written: each on the side of its point where it covers least of the marks and of other names.
// points: {x, y, size, name, kind}; marks: boxes [left, top, right, bottom]; others: names that have a place already.
function labels(points, marks, others) {
  const boxOf = ({ x, y, anchor, name }) => {
    const width = LETTER * name.length;
    const left = x - { start: 0, middle: width / 2, end: width }[anchor];
    return [left, y - 11, left + width, y + 3];
  };
  const common = (a, b) =>
    Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0])) * Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
  const taken = others.map(boxOf);
  return points.map(({ x, y, size = 6, name, kind }) => {
    const far = size + 4;
    const places = SIDES.map(([side, up]) => ({
      x: x + side * far,
      y: y + (up > 0 ? 14 : -5) + Math.trunc(up / 2) * (far + 2),
      anchor: ["end", "middle", "start"][side + 1],
      name,
      strong: kind === "cross",
    }));
    const cost = (place) => {
      const box = boxOf(place);
      const outside = common(box, box) - common(box, [0, 0, W, W]);
      const covered = (boxes) => boxes.reduce((total, one) => total + common(box, one), 0);
      return 100 * (outside + covered(taken)) + covered(marks);
    };
    const costs = places.map(cost);
    const best = places[costs.indexOf(Math.min(...costs))];
    taken.push(boxOf(best));
    return best;
  });
}

// A map of many weights as squares: the side of a square grows with the root of the weight.
// marked: cells with a frame; press(): what a click on the map does, which a control must do too.
export function map({ name, values, rows, columns, marked, press, most = 1 }) {
  const [n, m, C] = [values.length, values[0].length, 10];
  const [squares, frames] = [[], []];
  // In tenths, as whole numbers are written faster than fractions, and the largest maps have thousands of squares.
  const square = (x, y, side) => {
    const length = Math.round(side * 10);
    return `M${Math.round(x * 10)},${Math.round(y * 10)}h${length}v${length}h${-length}z`;
  };
  for (const [i, one] of values.entries()) {
    for (const [j, value] of one.entries()) {
      if (marked?.(i, j)) frames.push(square(j * C, i * C, C));
      if (value < most / C ** 2) continue; // its side would be less than 1
      const side = C * Math.sqrt(Math.min(1, value / most));
      squares.push(square(j * C + (C - side) / 2, i * C + (C - side) / 2, side));
    }
  }
  const largest = values[n - 1].indexOf(Math.max(...values[n - 1]));
  const words = `${n} rows. The last one, ${rows?.[n - 1] ?? n - 1}, looks most at ${columns?.[largest] ?? largest}`;
  const svg = s(
    "svg",
    { viewBox: `-1 -1 ${m * C + 2} ${n * C + 2}`, class: press ? "kata-map kata-press" : "kata-map", role: "img",
      "aria-label": `${name}. ${words}`, click: press },
    s("rect", { class: "ground", x: 0, y: 0, width: m * C, height: n * C }),
    s("path", { class: "weight", transform: "scale(.1)", d: squares.join("") }),
    s("path", { class: "place", transform: "scale(.1)", d: frames.join("") })
  );
  return h(
    "div",
    { class: "kata-panel kata-small", key: name, "data-name": name },
    h("p", { class: "kata-caption" }, name),
    svg
  );
}
