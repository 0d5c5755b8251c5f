// The frame of a figure: its title, one sentence that says what is seen, its controls, and what is drawn, with lines
// between cells of matrices, from where a number was made to the number itself.

import { choice, entry, player, slider, switches, toggle } from "./controls.js";
import { create, fill, h, s } from "./elements.js";

const QUIET = 600; // ms without a change after which a screen reader says the sentence
const ASIDE = 6; // pixels from the end of a thread to the name of its row
const overlays = new WeakMap(); // view → the drawing that lies over it, and what is on it

// The frame in an element. Controls are added by its methods. `draw` is given a function that returns what to show:
//   show: panels; say: the sentence; key: [name, number], the one number to look at; more: panels below the controls
//   title: instead of the frame's, where another idea is shown
//   threads: [[from, to], …], lines between cells of matrices, each cell as [name, row, column]; to [name, "all", column]
//     a line leads from below the whole column
// Every control takes `moved(control)`, which is called when it was moved, before the figure is drawn.
export function frame(el, title) {
  let controls = create(h("div", { class: "kata-controls" }));
  const view = create(h("div", { class: "kata-view" }));
  const said = create(h("p", { class: "kata-said", "aria-hidden": "true" }));
  const key = create(h("p", { class: "kata-key-number" }));
  const spoken = create(h("p", { class: "kata-spoken", role: "status" }));
  const heading = create(h("h2", { class: "kata-title" }, title));
  const more = create(h("div", { class: "kata-more" }));
  const desk = h("div", { class: "kata-desk" }, controls, view, more);
  el.classList.add("kata-figure");
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", title);
  const summary = h("div", { class: "kata-summary" }, said, key);
  el.replaceChildren(heading, create(summary), spoken, create(h("div", { class: "kata-stage" }, desk)));
  let [drawing, drawn, waiting] = [null, null, 0];

  function redraw() {
    if (!drawing) return;
    const before = drawn;
    drawn = drawing();
    if (drawn === before) return;
    const { show, say = "", threads = [] } = drawn;
    fill(view, [show].flat(Infinity));
    fill(more, [drawn.more].flat(Infinity));
    heading.textContent = drawn.title || title;
    fill(key, drawn.key ? [h("span", {}, drawn.key[0]), h("b", {}, drawn.key[1])] : []);
    drawThreads(view, threads);
    if (said.textContent === say) return;
    said.textContent = say;
    clearTimeout(waiting); // a drag says one sentence, at its end
    if (before) waiting = setTimeout(() => (spoken.textContent = say), QUIET);
    else spoken.textContent = say;
  }

  const placed = (look) => {
    controls = create(h("div", { class: `kata-controls ${look}` }));
    view.after(controls);
  };
  const added = (make, { moved, ...options }) => {
    const [control, node] = make(options, () => {
      moved?.(control);
      redraw();
    });
    controls.append(node);
    return control;
  };
  return {
    draw(fn) {
      drawing = fn;
      redraw();
    },
    redraw,
    slider: (options) => added(slider, options),
    choice: (options) => added(choice, options),
    switches: (options) => added(switches, options),
    toggle: (options) => added(toggle, options),
    entry: (options) => added(entry, options),
    // Controls that are added from here on stand below what is drawn.
    below: () => placed("kata-below"),
    // They stand to its right, for a drawing that leaves room there; below it on a narrow screen.
    beside: () => placed("kata-beside"),
    // Controls that are added from here on are folded away, below those that are there.
    fold(label) {
      const above = controls;
      controls = create(h("div", { class: "kata-controls" }));
      above.append(create(h("details", {}, h("summary", {}, label), controls)));
    },
    // Play, step and reset for a slider. ms: between two steps of the play.
    player(control, ms) {
      controls.append(player(control, redraw, ms));
    },
    button(label, action) {
      const press = () => {
        action();
        redraw();
      };
      controls.append(create(h("button", { type: "button", class: "kata-button", click: press }, label)));
    },
    // Most figures open where their idea shows. This button brings the numbers that the lesson prints.
    lesson(action) {
      this.button("As in the lesson", action);
    },
    // A value that what is drawn sets itself, such as the cell that was picked.
    state(value) {
      return {
        get value() {
          return value;
        },
        set value(next) {
          value = next;
          redraw();
        },
      };
    },
  };
}

// Draw lines between cells over a view, from the edge of one table to the edge of another, so that they cross no number,
// no label and no title: [[name, row, column], the same, a kind, a width], … The kind is one of those of `matrix`; it and the
// width may be left out.
function drawThreads(view, threads) {
  if (!overlays.has(view)) {
    if (!threads.length) return;
    const svg = create(s("svg", { class: "kata-threads", "aria-hidden": "true" }));
    const layer = { svg, threads };
    overlays.set(view, layer);
    view.after(svg);
    new ResizeObserver(() => drawOver(view, layer)).observe(view);
    view.addEventListener("scroll", () => drawOver(view, layer), true);
  }
  const layer = overlays.get(view);
  layer.threads = threads;
  drawOver(view, layer);
}

const lookOf = (kind, width) => (
  { class: kind === undefined ? null : `kata-kind-${kind}`, style: width && `stroke-width: ${width}px` }
);

function drawOver(view, { svg, threads }) {
  if (!view.isConnected) return; // the observer calls again once it is laid out
  const ground = svg.getBoundingClientRect();
  fill(svg, threads.map(([from, to, kind, width]) => {
    const [a, b] = [from, to].map((cell) => boxOf(view, cell, ground));
    if (!a || !b) return null;
    if (b.line.left < a.line.right) return null; // it is on a line below: there is no way beside the tables
    if (to[1] === "all") {
      const [aside, low] = [a.line.right + 9, b.table.bottom + 9];
      return s("path", { ...lookOf(kind, width), d: `M${a.line.right},${a.y}H${aside}V${low}H${b.x}V${b.table.bottom}` });
    }
    // It bends beside the tables, and runs straight past the longer labels of other lines.
    const [left, right] = [a.table.right, b.table.left - ASIDE];
    const half = (left + right) / 2;
    const bend = `C${half},${a.y} ${half},${b.y} ${right},${b.y}`;
    return s("path", { ...lookOf(kind, width), d: `M${a.line.right},${a.y}H${left}${bend}H${b.line.left}` });
  }));
}

// The middle of a cell on the drawing, its table with the title, and its line with the label; or null where the box of
// its matrix has scrolled it out of sight.
function boxOf(view, [name, row, column], ground) {
  const table = [...view.querySelectorAll("table[data-name]")].find((one) => one.dataset.name === name);
  const cell = table?.querySelector(`${row === "all" ? "" : `[data-row="${row}"]`}[data-column="${column}"]`);
  if (!cell) return null;
  const [box, around] = [cell, table.parentElement].map((one) => one.getBoundingClientRect());
  const x = box.left + box.width / 2;
  if (x < around.left || x > around.right) return null;
  const line = cell.closest("tr");
  const label = document.createRange();
  label.selectNodeContents(line.firstElementChild);
  const left = line.firstElementChild.matches("th")
    ? label.getBoundingClientRect().left - ASIDE : line.getBoundingClientRect().left;
  const placed = (left, top, right, bottom) => ({
    left: Math.round(Math.max(left, around.left) - ground.left),
    top: Math.round(top - ground.top),
    right: Math.round(Math.min(right, around.right) - ground.left),
    bottom: Math.round(bottom - ground.top),
  });
  const whole = table.getBoundingClientRect();
  return {
    x: Math.round(x - ground.left),
    y: Math.round(box.top + box.height / 2 - ground.top),
    table: placed(whole.left, whole.top, whole.right, whole.bottom),
    line: placed(left, box.top, line.getBoundingClientRect().right, box.bottom),
  };
}
