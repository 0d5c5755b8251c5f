// In a notebook: the reader's own matrices beside the expected ones, asked for by a button.

import { h } from "./elements.js";
import { matrix, row } from "./tables.js";

// A figure with that button below it. The kernel answers the value "asked" with "mine": {pictures} or {text}.
export const withMine = (figure) => ({
  render(context) {
    const { model, el } = context;
    const [inner, answer] = [h("div"), h("div", { class: "kata-mine", role: "status" })];
    const ask = () => {
      answer.replaceChildren(h("p", {}, "Your code is running …"));
      model.set("asked", model.get("asked") + 1);
      model.save_changes();
    };
    const button = h("button", { type: "button", class: "kata-button", click: ask }, "Use mine");
    const show = () => answer.replaceChildren(...shown(model.get("mine")));
    el.classList.add("kata-figure");
    el.replaceChildren(inner, ...(model.get("can_ask") ? [button, answer] : []));
    const undo = figure.render({ ...context, el: inner });
    model.on("change:mine", show);
    show();
    return undo;
  },
});

function shown({ text, pictures = [] }) {
  const drawn = pictures.map(({ title, rows, columns, learner, expected, note, difference }) =>
    h("div", {}, h("p", { class: "kata-title" }, title),
      row(
        learner && matrix({ name: "yours", values: learner, rows, columns }),
        matrix({ name: "expected", values: expected, rows, columns })
      ),
      h("p", {}, difference === null ? note : `The largest difference is ${difference}.`)),
  );
  return text ? [h("p", {}, text)] : drawn;
}
