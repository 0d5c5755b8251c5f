// One product instead of three: the weights lie on top of each other, and the result is cut in the same order.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { causal, matmul, range, softmax, sum, transpose } from "../../grader/integrations/figures/maths.js";
import { bars, drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const ORDERS = ["q k v", "k q v", "v k q"];
const [WIDE, HIGH] = [84, 34]; // of a part

// Two strips of three parts: as they are stacked, and what they are cut as. A colour is where a part comes from.
function strips(from, to) {
  return drawing(
    { name: "the three parts of the product", width: 342, height: 124, most: 420,
      label: `Stacked as ${from.join(", ")}, cut as ${to.join(", ")}.` },
    [["stacked", from], ["cut", to]].map(([name, names], n) => {
      const y = 8 + n * 64;
      return [
        s("text", { x: 0, y: y + 22 }, name),
        names.map((letter, i) => {
          const x = 64 + i * (WIDE + 6);
          const isWrong = letter !== from[i];
          return [
            s("rect", { class: `cell kata-kind-${ORDERS[0].split(" ").indexOf(from[i])}`, x, y, width: WIDE, height: HIGH }),
            s("text", { class: "strong", x: x + WIDE / 2, y: y + 22, "text-anchor": "middle" }, letter),
            !n && s("line", { class: "link", x1: x + WIDE / 2, x2: x + WIDE / 2, y1: y + HIGH + 4, y2: y + 60 }),
            isWrong && s("rect", { class: "box", x: x - 2, y: y - 2, width: WIDE + 4, height: HIGH + 4 }),
            isWrong && s("text", { x: x + WIDE / 2, y: y + HIGH + 14, "text-anchor": "middle" }, `was ${from[i]}`),
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
    const figure = frame(el, "Three layers in one product: what goes wrong if it is cut in another order?");
    const stacked = figure.choice({ label: "Stacked as", options: ORDERS });
    const cut = figure.choice({ label: "Cut as", options: ORDERS, value: 1 });
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
            most: Math.max(5e-5, ...far.flat()),
            kind: 1,
          }),
        ),
        more: numbers.value && row(
          matrix({ name: "output", values: output, rows: tokens, heat: false, marked: off }),
          wrong.length > 0 && matrix({ name: "should be", values: right, rows: tokens, heat: false }),
        ),
        key: ["wrong numbers in the output", `${many} of ${tokens.length * width}`],
        say: wrong.length
          ? `${wrong.join(" and ")} are cut from the wrong part. All shapes fit, so no error is raised.`
          : `One product of ${inputs.length} × ${inputs[0].length} with ${inputs[0].length} × ${3 * width} `
            + "in place of three; the output is that of exercise 13.",
      };
    });
  },
};
