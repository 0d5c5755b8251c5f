// The frame of a figure: its title, its controls, what is drawn, and one sentence that says what is seen.

import { format } from "./maths.js";

const SVG = "http://www.w3.org/2000/svg";
let made = 0; // controls so far, for ids that are nowhere twice

// An element with its attributes and children. A function is a listener, null and false are left out.
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

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
  let drawing = null;

  // What the drawing function gives is put in place of what was there; who held the focus holds it again.
  function redraw() {
    if (!drawing) return;
    const { show, say = "" } = drawing();
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

// A slider whose value is written beside it, or what name(value) says of it. bend: 3 makes small values fine and large ones near, as x³ does.
function slider({ label, min, max, step = 1, value, digits = 0, bend = 1, name }, changed) {
  const bent = (x, power) => Math.sign(x) * Math.abs(x) ** power;
  const place = (x) => bent(x, 1 / bend);
  const id = `kata-${++made}`;
  const output = h("output", { for: id });
  const input = h("input", { type: "range", id, "data-bend": bend, min: place(min), max: place(max), step: bend === 1 ? step : "any" });
  const shown = (x) => name?.(x) ?? format(x, digits);
  const set = (next) => {
    value = Math.min(max, Math.max(min, next));
    input.value = place(value);
    show();
  };
  const show = () => {
    output.textContent = shown(value);
    input.setAttribute("aria-valuetext", shown(value));
  };
  const read = () => {
    value = Number(bent(Number(input.value), bend).toFixed(digits));
    show();
    changed();
  };
  const keyed = (event) => {
    const moves = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
    if (bend === 1 || !(event.key in moves)) return;
    event.preventDefault();
    set(Number((value + moves[event.key] * step).toFixed(digits)));
    changed();
  };
  input.addEventListener("input", read);
  input.addEventListener("keydown", keyed);
  set(value);
  const control = {
    get value() {
      return value;
    },
    set value(next) {
      set(next);
    },
    limit(most) {
      [max, input.max] = [most, place(most)];
      set(value);
    },
  };
  return [control, h("div", { class: "kata-control" }, h("label", { for: id }, label), input, output)];
}

// One of several, as radio buttons. value: the index.
function choice({ label, options, value = 0 }, changed) {
  const name = `kata-${++made}`;
  const inputs = options.map((_, i) =>
    h("input", { type: "radio", name, id: `${name}-${i}`, checked: i === value, change: () => ((value = i), changed()) }),
  );
  const pairs = options.map((option, i) => h("span", {}, inputs[i], h("label", { for: `${name}-${i}` }, option)));
  const control = {
    get value() {
      return value;
    },
    set value(next) {
      value = next;
      inputs[next].checked = true;
    },
  };
  return [control, h("fieldset", { class: "kata-choice" }, h("legend", {}, label), pairs)];
}

function toggle({ label, value = false }, changed) {
  const id = `kata-${++made}`;
  const input = h("input", { type: "checkbox", id, checked: value, change: changed });
  const control = {
    get value() {
      return input.checked;
    },
    set value(next) {
      input.checked = next;
    },
  };
  return [control, h("div", { class: "kata-toggle" }, input, h("label", { for: id }, label))];
}

// Several things to switch off. off: the set of those that are, by index; show(i => …): which are there.
function switches({ label, options }, changed) {
  const name = `kata-${++made}`;
  const inputs = options.map((_, i) => h("input", { type: "checkbox", id: `${name}-${i}`, checked: true, change: changed }));
  const pairs = options.map((option, i) => h("span", {}, inputs[i], h("label", { for: `${name}-${i}` }, option)));
  const control = {
    get off() {
      return new Set(options.map((_, i) => i).filter((i) => !inputs[i].checked && !pairs[i].hidden));
    },
    show(isThere) {
      pairs.forEach((pair, i) => (pair.hidden = !isThere(i)));
    },
  };
  return [control, h("fieldset", { class: "kata-choice" }, h("legend", {}, label), pairs)];
}

// A line of text to type.
function entry({ label, value }, changed) {
  const id = `kata-${++made}`;
  const input = h("input", { type: "text", id, value, input: changed, autocomplete: "off", spellcheck: "false" });
  const control = {
    get value() {
      return input.value;
    },
    set value(next) {
      input.value = next;
    },
  };
  return [control, h("div", { class: "kata-entry" }, h("label", { for: id }, label), input)];
}
