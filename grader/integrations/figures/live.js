// In a page that `make figure` serves: the reader's own matrices beside the expected ones, again after each save.

import { create, fill, h } from "./elements.js";
import { host } from "./host.js";
import { ownMatrices } from "./mine.js";

const PAUSE = 1000; // ms before the next question where the last one had no answer

export function live(figure, script) {
  host(figure, script);
  const [said, drawn] = [h("p", { role: "status" }, "Your code is running …"), h("div")].map(create);
  const title = h("h2", { class: "kata-title" }, "Your code");
  script.closest("figure").append(create(h("div", { class: "kata-mine" }, title, said, drawn)));
  let seen = 0;
  const ask = async () => {
    try {
      const { version, reload, text, pictures = [] } = await (await fetch(`mine?seen=${seen}`)).json();
      if (reload) return location.reload();
      if (version !== seen) {
        seen = version;
        said.textContent = text ?? "Your numbers, beside the expected ones:";
        fill(drawn, pictures.map(ownMatrices));
      }
      ask();
    } catch {
      said.textContent = "make figure was stopped. These are the last numbers.";
      setTimeout(ask, PAUSE);
    }
  };
  ask();
}
