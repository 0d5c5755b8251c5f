// The frame of a figure: its title, one sentence that says what is seen, its controls, and what is drawn.

import { choice, entry, player, slider, switches, toggle } from "./controls.js";
import { create, fill, h } from "./elements.js";
import { drawThreads } from "./threads.js";

const QUIET = 600; // ms without a change after which a screen reader says the sentence

// The frame in an element. Controls are added by its methods; `draw` is given a function that returns what to show:
//   show: panels; say: the sentence; key: [name, number], the one number to look at
//   threads: [[from, to], …], lines between cells of matrices, each cell as [name, row, column]
// Every control takes `moved(control)`, which is called when it was moved, before the figure is drawn.
export function frame(el, title) {
  const controls = create(h("div", { class: "kata-controls" }));
  const view = create(h("div", { class: "kata-view" }));
  const said = create(h("p", { class: "kata-said", "aria-hidden": "true" }));
  const key = create(h("p", { class: "kata-key-number" }));
  const spoken = create(h("p", { class: "kata-spoken", role: "status" }));
  const heading = create(h("h2", { class: "kata-title" }, title));
  el.classList.add("kata-figure");
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", title);
  el.replaceChildren(heading, create(h("div", { class: "kata-summary" }, said, key)), spoken, create(
    h("div", { class: "kata-stage" }, h("div", { class: "kata-desk" }, controls, view))
  ));
  let [drawing, drawn, waiting] = [null, null, 0];

  function redraw() {
    if (!drawing) return;
    const before = drawn;
    drawn = drawing();
    if (drawn === before) return;
    const { show, say = "", threads = [] } = drawn;
    fill(view, [show].flat(Infinity));
    fill(key, drawn.key ? [h("span", {}, drawn.key[0]), h("b", {}, drawn.key[1])] : []);
    drawThreads(view, threads);
    if (said.textContent === say) return;
    said.textContent = say;
    clearTimeout(waiting); // a drag says one sentence, at its end
    if (before) waiting = setTimeout(() => (spoken.textContent = say), QUIET);
    else spoken.textContent = say;
  }

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
