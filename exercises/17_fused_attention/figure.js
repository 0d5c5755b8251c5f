// One product instead of three: the weights lie on top of each other, and the result is cut in the same order.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { causal, matmul, range, softmax, sum, transpose } from "../../grader/integrations/figures/maths.js";
import { bars, drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const ORDERS = ["q k v", "k q v", "v k q"];
const NAMES = ORDERS[0].split(" ");
const [WIDE, HIGH, GAP] = [84, 34, 22]; // of a part, and between two
const MOST = 0.2; // what a whole bar stands for

// The three parts as they are stacked, as they are cut, and as attention takes them. A colour is what a part is, a letter
// what it is called.
function strips(from, to) {
  const real = NAMES.map((name) => from[to.indexOf(name)]);
  return drawing(
    { name: "the three parts of the product", width: 366, height: 168, most: 430,
      label: `Stacked as ${from.join(", ")}, cut as ${to.join(", ")}.` },
    [["stacked", from, from], ["cut as", to, from], ["softmax(", NAMES, real]].map(([row, names, parts], n) => {
      const y = 4 + n * 54;
      return [
        s("text", { x: 0, y: y + 22 }, row),
        names.map((letter, i) => {
          const x = 64 + i * (WIDE + GAP);
          const isWrong = letter !== parts[i];
          return [
            s("rect", { class: `cell kata-kind-${NAMES.indexOf(parts[i])}`, x, y, width: WIDE, height: HIGH }),
            isWrong && s("rect", { class: "box", x: x - 2, y: y - 2, width: WIDE + 4, height: HIGH + 4 }),
            s("text", { class: "number strong", x: x + WIDE / 2, y: y + 21, "text-anchor": "middle" }, letter),
            n === 2 && s("text", { x: x + WIDE + GAP / 2, y: y + 22, "text-anchor": "middle" }, ["·", ")", ""][i]),
            n === 2 && isWrong && s("text", {
              x: x + WIDE / 2, y: y + HIGH + 17, "text-anchor": "middle",
            }, `is ${parts[i]}`),
          ];
        }),
      ];
    }),
  );
}

export default {
  render({ model, el }) {
    const { inputs, tokens, layers, out_weight, out_bias, heads } = model.get("data");
    const width = layers.q.length;
    const size = width / heads;
    const attended = ({ q, k, v }) => {
      const all = range(heads).map((head) => {
        const part = (one) => one.map((line) => line.slice(head * size, (head + 1) * size));
        const scores = causal(matmul(part(q), transpose(part(k))));
        return matmul(scores.map((line) => softmax(line.map((score) => score / Math.sqrt(size)))), part(v));
      });
      const merged = inputs.map((_, t) => all.flatMap((head) => head[t]));
      return matmul(merged, transpose(out_weight)).map((line) => line.map((value, i) => value + out_bias[i]));
    };
    const figure = frame(el, "A colour is what a part is, a letter what it is called");
    const stacked = figure.choice({ label: "Stacked as", options: ORDERS });
    const cut = figure.choice({ label: "Cut as", options: ORDERS, value: 2 });
    figure.below();
    const numbers = figure.toggle({ label: "Numbers" });
    figure.lesson(() => ([stacked.value, cut.value, numbers.value] = [0, 0, true]));
    const projected = Object.fromEntries(
      Object.entries(layers).map(([name, weight]) => [name, matmul(inputs, transpose(weight))])
    );
    const right = attended(projected);
    figure.draw(() => {
      const [from, to] = [stacked, cut].map((one) => ORDERS[one.value].split(" "));
      const wrong = to.filter((name, n) => from[n] !== name);
      const output = attended(Object.fromEntries(to.map((name, n) => [name, projected[from[n]]])));
      const far = output.map((line, i) => line.map((value, j) => Math.abs(value - right[i][j])));
      const off = (i, j) => far[i][j] > 5e-5;
      const many = sum(far.map((line, i) => line.filter((_, j) => off(i, j)).length));
      return {
        show: row(
          strips(from, to),
          bars({
            name: "how far off each token is",
            values: far.map((line) => Math.max(...line)),
            labels: tokens,
            most: MOST,
            kind: 1,
          }),
        ),
        more: numbers.value && row(
          matrix({ name: "output", values: output, rows: tokens, heat: false, marked: off }),
          wrong.length > 0 && matrix({ name: "should be", values: right, rows: tokens, heat: false }),
        ),
        key: ["wrong numbers in the output", `${many} of ${tokens.length * width}`],
        say: wrong.length
          ? `${wrong.length === 3 ? "All three" : wrong.join(" and ")} are cut from the wrong part. `
            + "All shapes fit, so no error is raised."
          : `One product of ${inputs.length} × ${inputs[0].length} with ${inputs[0].length} × ${3 * width} `
            + "in place of three; the output is that of exercise 13.",
      };
    });
  },
};
