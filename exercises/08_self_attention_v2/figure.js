// A weight as nn.Linear holds it, and its twin that fits the token: turned on its diagonal, or read again row by row.

import { frame } from "../../grader/integrations/figures/frame.js";
import { format, matmul, range } from "../../grader/integrations/figures/maths.js";
import { equation, matrix, moving, sign } from "../../grader/integrations/figures/tables.js";

const WAYS = ["W.T", "W.reshape(3, 2)", "W as it is"];

export default {
  render({ model, el }) {
    const { token, W, bias } = model.get("data");
    const [n, m] = [W.length, W[0].length];
    const figure = frame(el, "nn.Linear keeps W as (out, in): each row of W makes one number of the output.");
    const way = figure.choice({ label: "Multiply x by", options: WAYS });
    const x0 = figure.slider({ label: "x[0]", min: -3, max: 3, value: token[0] });
    const biased = figure.toggle({ label: `Add the bias (${bias.join(", ")})` });
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
      const numbers = [x0.value, ...token.slice(1)];
      const plus = biased.value ? bias : bias.map(() => 0);
      const fits = used.length === numbers.length;
      const result = (matrixOf) => matmul([numbers], matrixOf)[0].map((value, k) => value + plus[k]);
      const right = result(range(m).map((d) => range(n).map((k) => W[k][d])));
      const output = fits ? result(used) : null;
      const [i, j] = cell.value;
      const [, b] = place(i, j);
      const terms = (k) => numbers.map((value, d) => `${format(value, 0)} · ${format(used[d][k], 0)}`).join(" + ")
        + (biased.value ? ` + ${plus[k]}` : "");
      const isRight = output?.every((value, k) => value === right[k]);
      return {
        key: output ? ["output", output.map((value) => format(value, 0)).join(", ")] : null,
        show: [
          equation(
            matrix({
              name: "W, as the layer holds it", values: W, digits: 0, kind: (k) => k, picked: [i, j],
              pick: (...at) => (cell.value = at), rows: range(n).map((k) => `row ${k}`),
            }),
            equation(
              matrix({ name: "x", values: numbers, digits: 0, heat: false }),
              sign("@", moving({
                name: WAYS[way.value], values: W, place, kind: (k) => k, digits: 0, side: 36,
                marked: (k, d) => k === i && d === j,
              })),
              output && sign("=", matrix({
                name: "output", values: output, digits: 0, kind: (_, k) => (isRight ? k : null), picked: [0, b],
                marked: (_, k) => output[k] !== right[k],
              })),
            ),
          ),
        ],
        say: !output
          ? `x has the shape (1, ${m}) and W has (${n}, ${m}): torch refuses to multiply them. Turn W first.`
          : `The ${format(W[i][j], 0)} in row ${i} of W is now in column ${b}: output ${b} is ${terms(b)} = `
            + `${format(output[b], 0)}. `
            + (way.value === 0
              ? "Each column holds one row of W."
              : isRight ? "The columns mix the rows of W, and it is right only by luck."
                : "The columns mix both rows of W, so it is wrong: "
                  + `${right.map((value) => format(value, 0)).join(", ")} is right, and torch says nothing.`),
      };
    });
  },
};
