// Matrices with their numbers, and bars.

import { h, s } from "./elements.js";
import { format } from "./maths.js";

// Panels side by side, as many as there is room for.
export const row = (...nodes) => h("div", { class: "kata-row" }, nodes);
// Panels with signs between them, all on one middle line.
export const equation = (...nodes) => h("div", { class: "kata-row kata-equation" }, nodes);
// A sign, and the panel that is never on another line than its sign.
export const sign = (text, ...nodes) =>
  h("div", { class: "kata-signed" }, h("div", { class: "kata-sign", "aria-hidden": "true" }, text), nodes);
export const line = (...words) => h("p", { class: "kata-line" }, words);

const TONES = 20; // steps of colour: a class for each costs a tenth of a style for each cell

// The class that colours a number, whose fullest colour is that of `full`.
function toneOf(value, full) {
  const share = typeof value === "number" && Number.isFinite(value) ? Math.min(1, Math.abs(value) / full) : 0;
  const tone = Math.round(share * TONES);
  return tone && `kata-tone-${tone}`;
}

const kindOf = (kind) => (kind === undefined || kind === null ? "" : `kata-kind-${kind}`);

// The largest finite number, without its sign, of those that are to be coloured.
const fullest = (values) =>
  Math.max(1e-9, ...values.map((value) => (Number.isFinite(value) ? Math.abs(value) : 0)));

// A matrix (or one row of numbers) as a table. name: its caption, and what tests look for.
//   rows, columns: names; digits: after the point; scale: what the fullest colour stands for; heat: false for none
//   picked: [i, j] of the cell that the sentence is about; pick(i, j) makes cells buttons: one tab stop, arrows move,
//     and a mouse that points at a cell picks it
//   marked(i, j): cells with a frame; faint(i, j): cells that do not count; hidden(i, j): faint, and a 0 is a dot
//   large: cells of 44 pixels, as those of a drawing beside it
//   kind(i, j): 0, 1, 2 or 3, whose colours tell apart whose a number is; it takes the place of the heat, but
//     where it gives undefined
export function matrix({
  name,
  values,
  rows,
  columns,
  digits = 4,
  scale,
  heat = true,
  picked,
  pick,
  marked,
  hidden,
  faint = hidden,
  kind,
  large,
  note,
}) {
  const cells = Array.isArray(values[0]) ? values : [values];
  const full = scale ?? fullest(cells.flat());
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
  // The table listens for all its buttons: of a hundred cells each would have listeners of its own at every redraw.
  const pressed = ({ target }) => {
    const button = target.closest("button");
    if (button) pick(Number(button.dataset.row), Number(button.dataset.column));
  };
  const listeners = pick
    ? { click: pressed, pointerover: (event) => event.pointerType === "mouse" && pressed(event), keydown: move }
    : {};
  const cell = (value, i, j) => {
    const text = value === 0 && hidden?.(i, j) ? "·" : format(value, digits);
    const isPicked = picked && picked[0] === i && picked[1] === j;
    const own = kind?.(i, j);
    const looks = [
      own === undefined ? heat && toneOf(value, full) : kindOf(own), own === undefined && value < 0 && "less",
      marked?.(i, j) && "marked", faint?.(i, j) && "faint", isPicked && "picked", pick && "press",
    ];
    const place = { "data-row": i, "data-column": j };
    const inner = pick
      ? h(
        "button",
        {
          type: "button",
          ...place,
          tabindex: i === at[0] && j === at[1] ? 0 : -1,
          "aria-pressed": String(Boolean(isPicked)),
          "aria-label": [rows?.[i], columns?.[j], text].filter(Boolean).join(", "),
        },
        text
      )
      : text;
    return h(
      "td",
      {
        class: looks.filter(Boolean).join(" ") || null,
        ...(pick ? {} : place),
      },
      inner
    );
  };
  const head = columns && h(
    "thead",
    {},
    h("tr", {}, rows && h("td", {}), columns.map((word) => h("th", { scope: "col" }, word)))
  );
  const body = cells.map((one, i) => h(
    "tr",
    {},
    rows && h("th", { scope: "row" }, rows[i] ?? ""),
    one.map((value, j) => cell(value, i, j))
  ));
  const table = h(
    "table",
    { class: large ? "kata-matrix kata-large" : "kata-matrix", "data-name": name, ...listeners },
    h("caption", {}, name),
    head,
    h("tbody", {}, body)
  );
  return h(
    "div",
    { class: "kata-panel", key: name },
    h("div", { class: "kata-scroll", "data-label": `${name}, matrix`, ready: scrollable }, table),
    note && h("p", { class: "kata-note" }, note)
  );
}

// A drawing of one's own in a box of `width` by `height`. label: what a screen reader says of it; most: its width where
// there is room.
export const drawing = ({ name, label, width, height, most = width }, ...shapes) => h(
  "div",
  { class: "kata-panel kata-drawn", key: name, "data-name": name, "--most": `${most}px` },
  h("p", { class: "kata-caption" }, name),
  s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "kata-drawing", role: "img", "aria-label": `${name}. ${label}` },
    shapes
  )
);

// A matrix whose cells move when their places change. place(i, j): the row and the column that a cell is drawn in.
// kind(i, j): its colour, see `matrix`; marked(i, j): cells with a frame, which one can follow.
export function moving({ name, values, place, kind, digits = 2, side = 40, marked }) {
  const places = values.map((one, i) => one.map((_, j) => place(i, j)));
  const [rows, columns] = [0, 1].map((axis) => Math.max(...places.flat().map((at) => at[axis])) + 1);
  const at = (i, j) => `transform: translate(${places[i][j][1] * side}px, ${places[i][j][0] * side}px)`;
  const cells = values.flatMap((one, i) => one.map((value, j) => s(
    "g",
    { class: "turning", key: `${i} ${j}`, style: at(i, j) },
    s("rect", {
      class: ["cell", kindOf(kind?.(i, j)), marked?.(i, j) && "chosen"].filter(Boolean).join(" "),
      x: 2,
      y: 2,
      width: side - 4,
      height: side - 4,
    }),
    s("text", { class: "number", x: side / 2, y: side / 2 + 4, "text-anchor": "middle" }, format(value, digits)),
  )));
  return drawing({ name, label: `${rows} rows and ${columns} columns.`, width: columns * side, height: rows * side }, cells);
}

// The Tab key stops at a box only while there is something to scroll, and no button in it that is reached anyway.
const sizes = new ResizeObserver((changes) => new Set(changes.map(({ target }) => target.closest(".kata-scroll")))
  .forEach((box) => {
    const isStop = box.scrollWidth > box.clientWidth && !box.querySelector("button");
    const attributes = { tabindex: 0, role: "region", "aria-label": box.dataset.label };
    Object.entries(attributes).forEach(
      ([name, value]) => (isStop ? box.setAttribute(name, value) : box.removeAttribute(name))
    );
  }));

function scrollable(box) {
  sizes.observe(box);
  sizes.observe(box.firstChild);
}

// A bar for each number, with its name and the number; nan is a hatched one over the whole width. kind: see `matrix`.
export function bars({ name, values, labels, digits = 4, most, marked, kind }) {
  const full = most ?? Math.max(1e-9, ...values.filter(Number.isFinite));
  const width = (value) => `${(Number.isFinite(value) ? Math.min(1, Math.abs(value) / full) * 100 : 0).toFixed(2)}%`;
  const body = values.map((value, i) =>
    h(
      "tr",
      { class: marked === i ? "picked" : null },
      h("th", { scope: "row" }, labels[i]),
      h("td", { class: "kata-track", "aria-hidden": "true" }, Number.isNaN(value)
        ? h("div", { class: "kata-bar kata-nan", "--width": "100%" })
        : h("div", { class: ["kata-bar", kindOf(kind)].filter(Boolean).join(" "), "--width": width(value) })),
      h("td", { "data-row": 0, "data-column": i }, format(value, digits))
    ),
  );
  return h(
    "div",
    { class: "kata-panel", key: name },
    h("table", { class: "kata-bars", "data-name": name }, h("caption", {}, name), h("tbody", {}, body))
  );
}
