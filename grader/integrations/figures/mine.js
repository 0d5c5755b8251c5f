// In a notebook: the reader's own matrices beside the expected ones, asked for by a button.

import { create, fill, h } from "./elements.js";
import { matrix, row } from "./tables.js";

// A figure with that button below it. The kernel answers the value "asked" with "mine": {pictures} or {text}.
export const withMine = (figure) => ({
  render(context) {
    const { model, el } = context;
    const [inner, said, drawn] = [h("div"), h("p", { role: "status" }), h("div", { class: "kata-mine" })].map(create);
    const ask = () => {
      said.textContent = "Your code is running …";
      fill(drawn, []);
      model.set("asked", model.get("asked") + 1);
      model.save_changes();
    };
    const button = create(h("button", { type: "button", class: "kata-button", click: ask }, "Use mine"));
    const show = () => {
      const { text, pictures = [] } = model.get("mine");
      said.textContent = text ?? (pictures.length ? "Your numbers, beside the expected ones:" : "");
      fill(drawn, pictures.map(ownMatrices));
    };
    el.classList.add("kata-figure");
    el.replaceChildren(inner, ...(model.get("can_ask") ? [button, said, drawn] : []));
    const undo = figure.render({ ...context, el: inner });
    model.on("change:mine", show);
    show();
    return undo;
  },
});

export function ownMatrices({ title, rows, columns, learner, expected, note, difference }) {
  return h(
    "div",
    {},
    h("h3", { class: "kata-title" }, title),
    row(
      learner && matrix({ name: "yours", values: learner, rows, columns }),
      matrix({ name: "expected", values: expected, rows, columns })
    ),
    h("p", {}, difference === null ? note : `The largest difference is ${difference}.`)
  );
}
