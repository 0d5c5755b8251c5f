// Points and arrows in a plane, and maps of many weights.

import { h, s } from "./elements.js";
import { format } from "./maths.js";

// Points and arrows in a plane. A point: {x, y, name, kind: "dot" | "arrow" | "cross", size, drag(x, y)}.
export function plane({ name, points, from = [0, 0], to = [1, 1], xLabel, yLabel, lines = [] }) {
  const [W, P] = [300, 30];
  const X = (x) => P + ((x - from[0]) / (to[0] - from[0])) * (W - 2 * P);
  const Y = (y) => W - P - ((y - from[1]) / (to[1] - from[1])) * (W - 2 * P);
  const within = (value, low, high) => Math.min(high, Math.max(low, value));
  const drag = (point) => (event) => {
    const box = event.target.ownerSVGElement.getBoundingClientRect(); // the drawing itself is made anew at each move
    const move = (now) => {
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
    const cross = `M${x - 7},${y - 7}L${x + 7},${y + 7}M${x - 7},${y + 7}L${x + 7},${y - 7}`;
    const look = `${point.kind ?? "dot"} ${point.look ?? ""}`;
    const mark = point.kind === "cross"
      ? s("path", { class: "cross", d: cross })
      : s("circle", { cx: x, cy: y, r: size, class: look });
    if (point.drag) [mark.style.cursor, mark.style.touchAction] = ["grab", "none"];
    if (point.drag) mark.addEventListener("pointerdown", drag(point));
    const arrow = point.kind === "arrow" && s(
      "line",
      { class: `arrow ${point.look ?? ""}`, x1: X(0), y1: Y(0), x2: x, y2: y }
    );
    const right = x < W - 70;
    return [
      arrow,
      mark,
      s(
        "text",
        {
          x: x + (right ? 1 : -1) * (size + 4),
          y: y + (point.below ? 14 : -5),
          "text-anchor": right ? "start" : "end",
          class: point.kind === "cross" ? "strong" : null,
        },
        point.name
      ),
    ];
  };
  const words = points.map((point) => `${point.name} at ${format(point.x, 2)}, ${format(point.y, 2)}`).join("; ");
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
        d: `M${X(Math.max(0, from[0]))},${P / 2}V${W - P / 2}M${P / 2},${Y(Math.max(0, from[1]))}H${W - P / 2}`,
      }
    ),
    xLabel && s("text", { x: W - 4, y: W - 8, "text-anchor": "end" }, xLabel),
    yLabel && s("text", { x: 6, y: 12 }, yLabel),
    lines.map(([a, b, thick]) => s(
      "line",
      { class: "pull", x1: X(a[0]), y1: Y(a[1]), x2: X(b[0]), y2: Y(b[1]), "stroke-width": thick ?? 1 }
    )),
    points.map(shape),
  );
  return h("div", { class: "kata-panel", "data-name": name }, h("p", { class: "kata-caption" }, name), svg);
}

// A map of many weights as squares: the side of a square grows with the root of the weight. marked: cells with a frame.
export function map({ name, values, rows, columns, marked, most = 1 }) {
  const [n, m, C] = [values.length, values[0].length, 10];
  const [squares, frames] = [[], []];
  // In tenths, as whole numbers are written faster than fractions, and the largest maps have thousands of squares.
  const square = (x, y, side) => {
    const length = Math.round(side * 10);
    return `M${Math.round(x * 10)},${Math.round(y * 10)}h${length}v${length}h${-length}z`;
  };
  for (const [i, one] of values.entries()) {
    for (const [j, value] of one.entries()) {
      const side = C * Math.sqrt(Math.min(1, Math.max(0, value) / most));
      if (marked?.(i, j)) frames.push(square(j * C, i * C, C));
      if (side >= 1) squares.push(square(j * C + (C - side) / 2, i * C + (C - side) / 2, side));
    }
  }
  const most_ = (one) => one.indexOf(Math.max(...one));
  const words = values.map((one, i) => `${rows?.[i] ?? i} looks at ${columns?.[most_(one)] ?? most_(one)}`).join("; ");
  const svg = s(
    "svg",
    { viewBox: `-1 -1 ${m * C + 2} ${n * C + 2}`, class: "kata-map", role: "img", "aria-label": `${name}. ${words}` },
    s("rect", { class: "ground", x: 0, y: 0, width: m * C, height: n * C }),
    s("path", { class: "weight", transform: "scale(.1)", d: squares.join("") }),
    s("path", { class: "place", transform: "scale(.1)", d: frames.join("") })
  );
  return h("div", { class: "kata-panel kata-small", "data-name": name }, h("p", { class: "kata-caption" }, name), svg);
}
