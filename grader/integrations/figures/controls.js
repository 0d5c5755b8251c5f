// The controls of a figure. Each gives [what it is asked by, the node to place]; `changed` is called when it is moved.

import { create, h } from "./elements.js";
import { format } from "./maths.js";

let made = 0; // controls so far, for ids that are nowhere twice

// A slider whose value is written beside it, or what name(value) says of it.
//   bend: 3 makes small values fine and large ones near, as x³ does
export function slider({ label, min, max, step = 1, value, digits = 0, bend = 1, name }, changed) {
  const bent = (x, power) => Math.sign(x) * Math.abs(x) ** power;
  const placed = (x) => bent(x, 1 / bend);
  const id = `kata-${++made}`;
  const output = create(h("output", { for: id }));
  const ends = { min: placed(min), max: placed(max), step: bend === 1 ? step : "any" };
  const input = create(h("input", { type: "range", id, "data-bend": bend, ...ends }));
  const shown = (x) => name?.(x) ?? format(x, digits);
  const set = (next) => {
    value = Math.min(max, Math.max(min, next));
    input.value = placed(value);
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
      [max, input.max] = [most, placed(most)];
      set(value);
    },
    get isAtEnd() {
      return value >= max;
    },
    // One step on; from the end back to the beginning.
    step() {
      set(value >= max ? min : value + step);
    },
    reset() {
      set(min);
    },
  };
  return [control, create(h("div", { class: "kata-control" }, h("label", { for: id }, label), input, output))];
}

// One of several, as radio buttons. value: the index.
export function choice({ label, options, value = 0 }, changed) {
  const name = `kata-${++made}`;
  const change = (i) => () => ((value = i), changed());
  const inputs = options.map((_, i) =>
    create(h("input", { type: "radio", name, id: `${name}-${i}`, checked: i === value, change: change(i) })),
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
  return [control, create(h("fieldset", { class: "kata-choice" }, h("legend", {}, label), pairs))];
}

export function toggle({ label, value = false }, changed) {
  const id = `kata-${++made}`;
  const input = create(h("input", { type: "checkbox", id, checked: value, change: changed }));
  const control = {
    get value() {
      return input.checked;
    },
    set value(next) {
      input.checked = next;
    },
  };
  return [control, create(h("div", { class: "kata-toggle" }, input, h("label", { for: id }, label)))];
}

// Several things to switch off. off: the set of those that are, by index; show(i => …): which there are, all on.
export function switches({ label, options }, changed) {
  const name = `kata-${++made}`;
  const inputs = options.map((_, i) => create(h(
    "input",
    { type: "checkbox", id: `${name}-${i}`, checked: true, change: changed }
  )));
  const pairs = options.map((option, i) => create(
    h("span", {}, inputs[i], h("label", { for: `${name}-${i}` }, option))
  ));
  const control = {
    get off() {
      return new Set(options.map((_, i) => i).filter((i) => !inputs[i].checked && !pairs[i].hidden));
    },
    press: (i) => inputs[i].click(),
    show(isThere) {
      pairs.forEach((pair, i) => (pair.hidden = !isThere(i)));
      inputs.forEach((input) => (input.checked = true));
    },
  };
  return [control, create(h("fieldset", { class: "kata-choice" }, h("legend", {}, label), pairs))];
}

// A line of text to type.
export function entry({ label, value }, changed) {
  const id = `kata-${++made}`;
  const input = create(
    h("input", { type: "text", id, value, input: changed, autocomplete: "off", spellcheck: "false" })
  );
  const control = {
    get value() {
      return input.value;
    },
    set value(next) {
      input.value = next;
    },
  };
  return [control, create(h("div", { class: "kata-entry" }, h("label", { for: id }, label), input))];
}

// Play, step and reset for a slider: three buttons. Who wants less motion has only the last two.
export function player(control, changed, ms = 900) {
  let playing = 0;
  const stop = () => {
    clearInterval(playing);
    playing = 0;
    play.textContent = "▶ Play";
  };
  const advance = () => {
    if (!play.isConnected) return stop();
    control.step();
    changed();
    if (control.isAtEnd) stop();
  };
  const act = (action) => () => {
    stop();
    action();
    changed();
  };
  const button = (label, click) => create(h("button", { type: "button", class: "kata-button", click }, label));
  const play = button("▶ Play", () => {
    if (playing) return stop();
    play.textContent = "❚❚ Pause";
    playing = setInterval(advance, ms);
    advance();
  });
  play.classList.add("kata-play");
  return create(h(
    "div",
    { class: "kata-player", role: "group", "aria-label": "Step by step" },
    play,
    button("Step", act(() => control.step())),
    button("Reset", act(() => control.reset())),
  ));
}
