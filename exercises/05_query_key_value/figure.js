// A weight matrix is a map: it takes every token from three dimensions to two. Query and key are two maps, so Q ≠ K.

import { h } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, matmul } from "../../grader/integrations/figures/maths.js";
import { plane } from "../../grader/integrations/figures/plane.js";
import { matrix, row } from "../../grader/integrations/figures/tables.js";

export default {
  render({ model, el }) {
    const { inputs, tokens, journey, ...weights } = model.get("data");
    const figure = frame(el, "Three matrices take the same token to three places: as query, as key, as value.");
    const token = figure.choice({ label: "Token", options: tokens, value: journey });
    const entry = figure.state([0, 0]);
    const W_query = weights.W_query.map((one) => [...one]);
    const slider = figure.slider({
      label: "Chosen entry of W_query",
      min: -1,
      max: 1,
      step: 0.01,
      digits: 4,
      value: W_query[0][0],
      moved({ value }) {
        const [i, j] = entry.value;
        W_query[i][j] = value;
      },
    });
    const same = figure.toggle({ label: "Use W_query for the keys too" });
    figure.draw(() => {
      const [, j] = entry.value;
      const used = { ...weights, W_query, ...(same.value ? { W_key: W_query } : {}) };
      const [queries, keys, values] = ["W_query", "W_key", "W_value"].map((name) => matmul(inputs, used[name]));
      const t = token.value;
      const pick = (...at) => {
        slider.value = W_query[at[0]][at[1]];
        entry.value = at;
      };
      // All six tokens go to their queries, and the chosen one to its key and its value too.
      const ends = [["query", queries, ""], ["key", keys, "other"], ["value", values, "third"]];
      const points = [
        ...inputs.map(([x, y], n) => ({ x, y, name: n === t ? tokens[t] : "", size: n === t ? 5 : 3, look: "start" })),
        ...queries.map(([x, y], n) => ({ x, y, name: n === t ? "query" : "", size: n === t ? 7 : 4 })),
        ...ends.slice(1).map(([name, all, look]) => ({ x: all[t][0], y: all[t][1], name, size: 7, look })),
      ];
      const [across, up] = [0, 1].map((axis) => [...queries, ...keys, ...values, ...inputs].map((one) => one[axis]));
      const terms = inputs[t].map((x, d) => `${format(x, 2)} · ${format(W_query[d][j])}`).join(" + ");
      return {
        threads: inputs[t].flatMap((_, d) => [
          [["token", 0, d], ["query", 0, j]],
          [["W_query", d, j], ["query", 0, j]],
        ]),
        show: row(
          h("div", { class: "kata-left" }, row(
            matrix({
              name: "W_query", values: W_query, picked: entry.value, pick, scale: 1, marked: (_, n) => n === j,
            }),
            matrix({ name: "W_key", values: used.W_key, scale: 1 }),
            matrix({ name: "W_value", values: weights.W_value, scale: 1 }),
          ),
          row(
            matrix({ name: "token", values: inputs[t], digits: 2, scale: 1, marked: () => true }),
            matrix({ name: "query", values: queries[t], scale: 1.5, picked: [0, j] }),
          ),
          row(
            matrix({ name: "key", values: keys[t], scale: 1.5 }),
            matrix({ name: "value", values: values[t], scale: 1.5 }),
          )),
          plane({
            name: `X → Q for all tokens, and Q, K, V of “${tokens[t]}”`,
            note: "Each arrow begins at the first two numbers of a token, and ends where the matrix takes it: at its "
              + "query (blue), its key (open) or its value (dotted).",
            points,
            from: [Math.min(0, ...across), Math.min(0, ...up)],
            to: [Math.max(0.6, ...across) + 0.1, Math.max(0.6, ...up) + 0.05],
            xLabel: "first number",
            yLabel: "second number",
            lines: [
              ...inputs.map((one, n) => [one, queries[n], n === t ? 2.5 : 1, "", true]),
              ...ends.slice(1).map(([, all, look]) => [inputs[t], all[t], 2.5, look, true]),
            ],
          }),
        ),
        say: `The ${["first", "second"][j]} number of the query of “${tokens[t]}” is ${terms} = `
          + `${format(queries[t][j])}.`,
      };
    });
  },
};
