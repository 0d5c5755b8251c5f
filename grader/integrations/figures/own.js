// On the page that `make figure` writes: the reader's own matrices below the figure.

import { create, h } from "./elements.js";
import { host } from "./host.js";
import { ownMatrices } from "./mine.js";

export function own(figure, script) {
  host(figure, script);
  const place = script.closest("figure");
  const { text, pictures = [] } = JSON.parse(place.querySelector(".kata-own").textContent);
  const title = h("h2", { class: "kata-title" }, "Your code");
  const said = h("p", {}, text ?? "Your numbers, beside the expected ones:");
  place.append(create(h("div", { class: "kata-mine" }, title, said, ...pictures.map(ownMatrices))));
}
