// A weight as nn.Linear holds it, and its twin that fits the token: turned on its diagonal, or read again row by row.

import { h, s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, matmul, range, transpose } from "../../grader/integrations/figures/maths.js";
import { matrix, moving } from "../../grader/integrations/figures/tables.js";

const list = (values) => values.map((value) => format(value, 0)).join(", ");

const WAYS = ["W.T", "W.reshape(3, 2)", "W as it is"];
const HOW = ["W.T", "reshape", "W"];
const NAMES = ["W.T, (3, 2)", "W reshaped", "W as it is"];
const ARROW = s(
  "svg", { viewBox: "0 0 60 16", width: 60, "aria-hidden": "true" },
  s("path", { class: "link now", "stroke-width": 2, d: "M2,8h54m-7,-6l7,6l-7,6" }),
);

export default {
  render({ model, el }) {
    const { token, W } = model.get("data");
    const [n, m] = [W.length, W[0].length];
    const figure = frame(el, "nn.Linear keeps W as (out, in): each row of W makes one number of the output");
    figure.below();
    const way = figure.choice({ label: "Multiply x by", options: WAYS });
    const right = matmul([token], transpose(W))[0];
    const cell = figure.state([0, 2]);
    // Where a number of W is in the matrix that x is multiplied by.
    const places = [(i, j) => [j, i], (i, j) => [Math.floor((i * m + j) / n), (i * m + j) % n], (i, j) => [i, j]];
    figure.draw(() => {
      const place = places[way.value];
      const used = range(way.value === 2 ? n : m).map(() => []);
      W.forEach((one, i) => one.forEach((value, j) => {
        const [a, b] = place(i, j);
        used[a][b] = value;
      }));
      const output = used.length === m ? matmul([token], used)[0] : null;
      const [i, j] = cell.value;
      const [a, b] = place(i, j);
      const terms = (k) => token.map((value, d) => `${format(value, 0)} · ${format(used[d][k], 0)}`).join(" + ");
      const isRight = output?.every((value, k) => value === right[k]);
      return {
        title: way.value === 1 && "W reshaped has the shape of W.T, but each column mixes two rows of W",
        key: output ? ["output", list(output)] : null,
        // Below each column of what x is multiplied by is the number that it makes.
        show: h(
          "div",
          { class: "kata-square" },
          matrix({
            name: `W, ${n} out × ${m} in`, values: W, digits: 0, kind: (k) => k, picked: [i, j], large: true,
            pick: (...at) => (cell.value = at), rows: range(n).map((k) => `row ${k}`),
          }),
          h("div", { class: "kata-sign" }, HOW[way.value], ARROW),
          moving({
            name: NAMES[way.value], values: W, place, kind: (k) => k, digits: 0, side: 44,
            marked: (k, d) => k === i && d === j,
          }),
          matrix({ name: `x, (1, ${m})`, values: token, digits: 0, heat: false, large: true, picked: output && [0, a] }),
          h("div", { class: "kata-sign" }, output ? `@ ${HOW[way.value]} =` : "@ W"),
          output ? matrix({
            name: "output", values: output, digits: 0, kind: (_, k) => (isRight ? k : null), large: true,
            picked: isRight && [0, b], marked: (_, k) => output[k] !== right[k],
            note: !isRight && `should be ${list(right)}`,
          }) : h("p", { class: "kata-line" }, h("b", {}, `${m} and ${n}`), " do not fit"),
        ),
        say: !output
          ? `x has the shape (1, ${m}) and W has (${n}, ${m}): torch refuses to multiply them. Turn W first.`
          : `The ${format(W[i][j], 0)} in row ${i} of W (${["blue", "orange"][i]}) is now in column ${b} `
            + `and meets the ${format(token[a], 0)} of x: output ${b} is ${terms(b)} = `
            + `${format(output[b], 0)}. `
            + (way.value === 0
              ? range(n).filter((k) => k !== b).map((k) => `Output ${k} is ${terms(k)} = ${format(output[k], 0)}.`).join(" ")
              : `It is wrong: ${list(right)} is right, and torch says nothing.`),
      };
    });
  },
};
