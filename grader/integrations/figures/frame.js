// The frame of a figure: its title, its controls, what is drawn, and one sentence that says what is seen.

import { choice, entry, slider, switches, toggle } from "./controls.js";
import { h } from "./elements.js";

// The frame in an element. Controls are added by its methods; `draw` is given what to show, and does so at each change.
export function frame(el, title) {
  const controls = h("div", { class: "kata-controls" });
  const view = h("div", { class: "kata-view" });
  const said = h("p", { class: "kata-said", role: "status" });
  const heading = h("p", { class: "kata-title" }, title);
  el.classList.add("kata-figure");
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", title);
  el.replaceChildren(heading, controls, view, said);
  let [drawing, drawn] = [null, null];

  // What the drawing function gives is put in place of what was there; who held the focus holds it again.
  function redraw() {
    if (!drawing) return;
    const before = drawn;
    drawn = drawing();
    if (drawn === before) return;
    const { show, say = "" } = drawn;
    const key = el.getRootNode().activeElement?.dataset.key;
    view.replaceChildren(...[show].flat(Infinity).filter(Boolean));
    if (key) view.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
    if (said.textContent !== say) said.textContent = say;
  }

  const added = (control, node) => {
    controls.append(node);
    return control;
  };
  return {
    draw(fn) {
      drawing = fn;
      redraw();
    },
    redraw,
    slider: (options) => added(...slider(options, redraw)),
    choice: (options) => added(...choice(options, redraw)),
    switches: (options) => added(...switches(options, redraw)),
    toggle: (options) => added(...toggle(options, redraw)),
    entry: (options) => added(...entry(options, redraw)),
    button(label, action) {
      const press = () => {
        action();
        redraw();
      };
      const node = h("button", { type: "button", class: "kata-button", click: press }, label);
      return added(node, node);
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
