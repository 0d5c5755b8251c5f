// One head in two handwritings: scores with keys as rows or with queries as rows, scaled or not, masked or not.

import { frame } from "../../grader/integrations/figures/frame.js";
import { causal, matmul, range, softmax, sum, transpose } from "../../grader/integrations/figures/maths.js";
import { matrix, turning } from "../../grader/integrations/figures/tables.js";

export default {
  render({ model, el }) {
    const { queries, keys } = model.get("data");
    const T = queries.length;
    const figure = frame(el, "The same head, written by two hands: read what the code says, not what you expect.");
    const order = figure.choice({ label: "Scores", options: ["keys @ queriesᵀ", "queries @ keysᵀ"] });
    const scaled = figure.toggle({ label: "Divide by √head_size" });
    const masked = figure.toggle({ label: "Mask", value: true });
    figure.draw(() => {
      const [a, b, row] = order.value ? [queries, keys, "query"] : [keys, queries, "key"];
      const scale = scaled.value ? 1 / Math.sqrt(keys[0].length) : 1;
      const raw = matmul(a, transpose(b)).map((one) => one.map((score) => score * scale));
      const scores = masked.value ? causal(raw) : raw;
      const weights = scores.map(softmax);
      const rows = range(T).map((i) => `${row} ${i}`);
      const columns = range(T).map((j) => `${order.value ? "k" : "q"}${j}`);
      const hidden = (i, j) => masked.value && j > i;
      const sharp = sum(weights.map((one) => Math.max(...one))) / T;
      return {
        key: ["largest weight of a row, on average", sharp.toFixed(2)],
        show: [
          turning({
            name: "the scores turn on their diagonal",
            values: matmul(keys, transpose(queries)).map((one) => one.map((score) => score * scale)),
            turned: order.value === 1,
            digits: 1,
            side: 30,
          }),
          matrix({ name: "scores", values: scores, digits: 2, rows, columns, faint: hidden }),
          matrix({ name: "weights", values: weights, rows, columns, hidden, scale: 1 }),
        ],
        say: `Row i belongs to ${row} i${order.value ? "" : ", as the second document has it"}. The largest weight `
          + `of a row is ${sharp.toFixed(2)} on average${scaled.value ? "" : "; unscaled scores make it large"}.`,
      };
    });
  },
};
