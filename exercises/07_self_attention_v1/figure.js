// One token on its way through a layer whose weights have the shape (d_in, d_out), in four steps, of which the last one is
// shown first; Play begins without results. Point at a number: what it is made of is blue, and the rest is pale.

import { h } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, matmul, softmax, times, transpose } from "../../grader/integrations/figures/maths.js";
import { matrix, row } from "../../grader/integrations/figures/tables.js";

export default {
  render({ model, el }) {
    const { inputs, tokens, journey, W_query, W_key, W_value } = model.get("data");
    const d_k = W_query[0].length;
    const [queries, keys, values] = [W_query, W_key, W_value].map((W) => matmul(inputs, W));
    const scores = matmul(queries, transpose(keys));
    const weights = times(scores, 1 / Math.sqrt(d_k)).map(softmax);
    const context = matmul(weights, values);

    const figure = frame(el, "A query meets all keys, and the weights that come out mix all values");
    figure.below();
    const token = figure.choice({ label: "Token", options: tokens, value: journey });
    const stages = [["query", 0, 0], ["scores", journey, 0], ["weights", journey, 0], ["context vector", 0, 0]];
    const cell = figure.state(stages[3]);
    let reached = 3; // the stages up to this one have their results
    const go = (stage) => (cell.value = stages[(reached = stage)]);
    figure.player({
      get isAtEnd() {
        return reached === 3;
      },
      step: () => go((reached + 1) % 4),
      reset: () => go(0),
    }, 2500);

    figure.draw(() => {
      const [t, [name, i, j]] = [token.value, cell.value];
      const word = tokens[t];
      const all = {
        [word]: [inputs[t]], W_query, query: [queries[t]], keys, scores: transpose([scores[t]]),
        weights: transpose([weights[t]]), values, "context vector": [context[t]],
      };
      const value = format(all[name][i][j], name === "context vector" ? 3 : 2);
      const terms = (a, b) => a.map((x, n) => `${format(x, 2)} · ${format(b[n], 2)}`).join(" + ");
      // What is said of a number of each matrix, and whether the number at k, n of another one goes into it.
      const [say, goesIn, threads] = {
        query: () => [
          `First it asks: the query is the row of “${word}” times W_query, ${terms(inputs[t], transpose(W_query)[j])} = `
            + `${value}.`,
          { [word]: () => true, W_query: (k, n) => n === j },
          [],
        ],
        scores: () => [
          `Then all six answer: the score of “${tokens[i]}” is the query times its key, ${terms(queries[t], keys[i])} = `
            + `${value}.`,
          { query: () => true, keys: (k) => k === i },
          [[["query", 0, 1], ["keys", i, 0]]],
        ],
        weights: () => [
          `The answers become weights: divided by √${d_k} and through the softmax, the six scores give “${tokens[i]}” `
            + `the weight ${value}.`,
          { scores: () => true },
          tokens.map((_, k) => [["scores", k, 0], ["weights", i, 0], 0]),
        ],
        "context vector": () => [
          `“${word}” mixes the ${["first", "second"][j]} numbers of the six values by its six weights (blue): `
            + `${terms(weights[t].slice(0, 2), values.map((one) => one[j]))} + … = ${value}.`,
          { weights: () => true, values: (k, n) => n === j },
          tokens.flatMap((_, k) => [
            [["query", 0, 1], ["keys", k, 0], 3, 1],
            [["weights", k, 0], ["values", k, 0], 0, 20 * weights[t][k]],
            [["values", k, j], ["context vector", 0, j], 0, 20 * weights[t][k]],
          ]),
        ],
      }[name]();
      const order = Object.keys(all);
      const isBefore = (which) => Object.keys(goesIn).every((one) => order.indexOf(which) < order.indexOf(one));
      const isIn = (which, ...at) => goesIn[which]?.(...at) ?? false;
      const isThere = (which) => stages.findIndex(([one]) => one === which) <= reached;
      const shown = (which, facts) => matrix({
        name: which, values: isThere(which) ? all[which] : all[which].map((one) => one.map(() => "\u00a0".repeat(6))),
        picked: which === name ? [i, j] : undefined,
        kind: (...at) => (isIn(which, ...at) ? (which === "weights" ? undefined : 0) : null), // a weight by its size
        faint: (...at) => [which, ...at].join() !== cell.value.join() && !isIn(which, ...at) && !isBefore(which),
        digits: 2,
        ...(stages.slice(0, reached + 1).some(([one]) => one === which) && { pick: (...at) => (cell.value = [which, ...at]) }),
        ...facts,
      });
      return {
        key: [name === "context vector" ? "6 weights × 6 values" : `${name}[${i + j}]`, value],
        threads,
        show: row(
          h("div", {}, shown(word), shown("W_query"), shown("query")),
          shown("keys", { rows: tokens, note: "x @ W_key" }),
          shown("scores", { note: "keys @ query" }),
          shown("weights", { note: `softmax(… / √${d_k})` }),
          shown("values", { note: "x @ W_value" }),
          shown("context vector", { digits: 3, note: "weights @ values" }),
        ),
        say,
      };
    });
  },
};
