// The frame of a figure: its title, its controls, what is drawn, and one sentence that says what is seen.

import { choice, entry, slider, switches, toggle } from "./controls.js";
import { create, fill, h } from "./elements.js";

const QUIET = 600; // ms without a change after which a screen reader says the sentence

// The frame in an element. Controls are added by its methods; `draw` is given what to show, and does so at each change.
// Every control takes `moved(control)`, which is called when it was moved, before the figure is drawn.
export function frame(el, title) {
  const controls = create(h("div", { class: "kata-controls" }));
  const view = create(h("div", { class: "kata-view" }));
  const said = create(h("p", { class: "kata-said", "aria-hidden": "true" }));
  const spoken = create(h("p", { class: "kata-spoken", role: "status" }));
  const heading = create(h("h2", { class: "kata-title" }, title));
  el.classList.add("kata-figure");
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", title);
  el.replaceChildren(heading, controls, view, said, spoken);
  let [drawing, drawn, waiting] = [null, null, 0];

  function redraw() {
    if (!drawing) return;
    const before = drawn;
    drawn = drawing();
    if (drawn === before) return;
    const { show, say = "" } = drawn;
    fill(view, [show].flat(Infinity));
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
    button(label, action) {
      const press = () => {
        action();
        redraw();
      };
      controls.append(create(h("button", { type: "button", class: "kata-button", click: press }, label)));
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
