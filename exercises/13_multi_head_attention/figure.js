// Numbered cells through view and transpose: the right way keeps each token's numbers together, the wrong way does not.

import { h } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { range } from "../../grader/integrations/figures/maths.js";
import { line, matrix, row } from "../../grader/integrations/figures/tables.js";

const COUNTS = [1, 2, 4];

export default {
  render({ model, el }) {
    const { x } = model.get("data"); // (T, d): the heads side by side
    const [T, d] = [x.length, x[0].length];
    const flat = x.flat();
    const figure = frame(el, "View, then transpose: each head gets its slice of every token");
    figure.below();
    const heads = figure.choice({ label: "Heads", options: COUNTS.map(String), value: 1 });
    const numbers = figure.toggle({ label: "Numbers of the lesson" });
    figure.lesson(() => ([heads.value, numbers.value] = [1, true]));
    const followed = figure.state(d / 2); // the place in memory of the number that is outlined everywhere
    const token = (i) => Math.floor(i / d);
    const names = range(T).map((t) => `token ${t}`);
    figure.draw(() => {
      const H = COUNTS[heads.value];
      const size = d / H;
      // The place in memory of number n of token t in head k.
      const split = (place) => range(H).map((k) => range(T).map((t) => range(size).map((n) => place(k, t, n))));
      const right = split((k, t, n) => t * d + k * size + n);
      const wrong = split((k, t, n) => (k * T + t) * size + n);
      const strays = wrong.flat().flatMap((one, t) => one.filter((i) => token(i) !== t % T)).length;
      const shown = (name, places) => {
        const at = places.findIndex((one) => one.includes(followed.value));
        return matrix({
          name,
          values: places.map((one) => one.map((i) => (numbers.value ? flat[i] : i))),
          digits: numbers.value ? 4 : 0,
          rows: names,
          kind: (i, j) => token(places[i][j]),
          marked: (i, j) => token(places[i][j]) !== i,
          faint: (i, j) => token(places[i][j]) !== token(followed.value),
          picked: at < 0 ? undefined : [at, places[at].indexOf(followed.value)],
          pick: (i, j) => (followed.value = places[i][j]),
        });
      };
      const way = (word, code, name, places) => [
        h("p", { class: "kata-line" }, h("b", {}, `${word}: `), h("code", {}, code)),
        row(places.map((head, k) => shown(`${name} ${k}`, head))),
      ];
      return {
        show: row(
          h("div", {},
            shown("x", range(T).map((t) => range(d).map((n) => t * d + n))),
            line(`T = ${T} tokens, H = ${H} head${H > 1 ? "s" : ""}, h = ${size} numbers`)),
          h("div", {},
            way("right", "view(T, H, h).transpose(0, 1)", "head", right),
            way("wrong", "view(H, T, h)", "wrong head", wrong),
          ),
        ),
        key: ["view alone: in a wrong row", `${strays} of ${T * d}`],
        say: strays
          ? `With view alone the order of memory stays, so ${strays} of ${T * d} numbers get into the row of another `
            + "token."
          : "With one head, view alone keeps every row in its colour too.",
      };
    });
  },
};
