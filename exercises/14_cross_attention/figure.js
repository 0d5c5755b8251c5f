// Two sentences: queries come from the first, keys and values from the second, which may be of any length.

import { frame } from "../../grader/integrations/figures/frame.js";
import { format, matmul, range, softmax, transpose } from "../../grader/integrations/figures/maths.js";
import { matrix, row } from "../../grader/integrations/figures/tables.js";

export default {
  render({ model, el }) {
    const { x_1, x_2, words, W_query, W_key, W_value } = model.get("data");
    const figure = frame(el, "Rows come from the first sentence, columns from the second: T₁ × T₂ weights.");
    const first = figure.slider({ label: "Tokens of x_1", min: 1, max: x_1.length, value: x_1.length });
    const second = figure.slider({ label: "Tokens of x_2", min: 1, max: x_2.length, value: x_2.length });
    const own = figure.toggle({ label: "Take x_1 for both: self-attention" });
    const cell = figure.state([0, 0]);
    figure.draw(() => {
      const asking = x_1.slice(0, first.value);
      const asked = own.value ? asking : x_2.slice(0, second.value);
      const names = own.value ? words : range(x_2.length).map((j) => `other ${j}`);
      const [queries, keys, values] = [matmul(asking, W_query), matmul(asked, W_key), matmul(asked, W_value)];
      const weights = matmul(queries, transpose(keys)).map(
        (one) => softmax(one.map((score) => score / Math.sqrt(W_key[0].length)))
      );
      const [i, j] = [Math.min(cell.value[0], asking.length - 1), Math.min(cell.value[1], asked.length - 1)];
      const top = weights[i].indexOf(Math.max(...weights[i]));
      const asName = (n) => (own.value ? `“${names[n]}”` : `token ${n} of the second sentence`);
      return {
        show: [
          row(
            matrix({ name: "x_1", values: asking, digits: 2, rows: words }),
            matrix({ name: own.value ? "x_1 again" : "x_2", values: asked, digits: 2, rows: names })
          ),
          matrix({
            name: "weights",
            values: weights,
            digits: 3,
            rows: words,
            columns: names.slice(0, asked.length),
            scale: 0.6,
            picked: [i, j],
            pick: (...at) => (cell.value = at),
          }),
          matrix({ name: "context vectors", values: matmul(weights, values), rows: words }),
        ],
        say: `${asking.length} × ${asked.length} weights, and ${asking.length} context vectors. “${words[i]}” `
          + `gives ${asName(j)} the weight ${format(weights[i][j], 3)}, and looks most at ${asName(top)}.`,
      };
    });
  },
};
