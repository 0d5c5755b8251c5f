// One product instead of three: the weights lie on top of each other, and the result is cut in the same order.

import { frame } from "../../grader/integrations/figures/frame.js";
import { causal, format, matmul, range, softmax, transpose } from "../../grader/integrations/figures/maths.js";
import { matrix, row, sign } from "../../grader/integrations/figures/tables.js";

const ORDERS = ["q k v", "k q v", "v k q"];

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
    const figure = frame(
      el,
      "One tall matrix, one product, one cut: the order of stacking and of cutting must be the same."
    );
    const stacked = figure.choice({ label: "Stacked as", options: ORDERS });
    const cut = figure.choice({ label: "Cut as", options: ORDERS, value: 1 });
    figure.lesson(() => ([stacked.value, cut.value] = [0, 0]));
    const right = attended(Object.fromEntries(
      Object.entries(layers).map(([name, weight]) => [name, matmul(inputs, transpose(weight))])
    ));
    const cell = figure.state([1, 0]);
    figure.draw(() => {
      const [from, to] = [stacked, cut].map((one) => ORDERS[one.value].split(" "));
      const weight = from.flatMap((name) => layers[name]);
      const product = matmul(inputs, transpose(weight));
      const parts = Object.fromEntries(to.map((name, n) => [
        name,
        product.map((line) => line.slice(n * width, (n + 1) * width)),
      ]));
      const labels = (names) => names.flatMap((name) => range(width).map((i) => `${name}${i}`));
      const wrong = to.filter((name, n) => from[n] !== name);
      const output = attended(parts);
      const off = (i, j) => Math.abs(output[i][j] - right[i][j]);
      const errors = output.map((line, i) => Math.max(...line.map((_, j) => off(i, j))));
      const most = Math.max(...errors);
      const partOf = (name) => ORDERS[0].split(" ").indexOf(name); // its colour
      const [i, j] = cell.value;
      const [made, called] = [labels(from)[j], labels(to)[j]];
      const named = `What is called ${called} is made with the weights of ${made}.`;
      return {
        show: [
          row(
            matrix({ name: "inputs", values: inputs, digits: 2, rows: tokens }), sign("@"),
            matrix({
              name: "qkv.weight",
              values: weight,
              digits: 2,
              rows: labels(from),
              kind: (n) => partOf(from[Math.floor(n / width)]),
            }),
          ),
          row(
            matrix({
              name: "inputs @ qkv.weight.T, cut in three",
              values: product,
              digits: 2,
              rows: tokens,
              columns: labels(to),
              picked: cell.value,
              pick: (...at) => (cell.value = at),
              kind: (_, j) => partOf(from[Math.floor(j / width)]),
              marked: (_, j) => from[Math.floor(j / width)] !== to[Math.floor(j / width)],
              note: "A colour is where a number comes from, a name what it is cut as.",
            }), sign("→"),
            matrix({ name: "output", values: output, rows: tokens, marked: (i, j) => off(i, j) > 5e-5 }),
            matrix({ name: "error", values: errors.map((error) => [error]), heat: false }),
          ),
        ],
        threads: [
          [["inputs", i, inputs[0].length - 1], ["inputs @ qkv.weight.T, cut in three", i, j]],
          [["qkv.weight", j, inputs[0].length - 1], ["inputs @ qkv.weight.T, cut in three", i, j]],
        ],
        key: ["largest error of the output", format(most)],
        say: wrong.length
          ? `${named} ${wrong.join(" and ")} are cut from the wrong columns (dashed), so the output is wrong. `
            + "All shapes fit, and no error is raised."
          : `${named} One product of ${inputs.length} × ${inputs[0].length} with ${inputs[0].length} × ${3 * width} `
            + "in place of three; the output is that of exercise 13.",
      };
    });
  },
};
