// A score by two orders of multiplication: make a key for each token, or bring the query to the latent vectors.

import { chart } from "../../grader/integrations/figures/chart.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { count, dot, range, softmax, transpose } from "../../grader/integrations/figures/maths.js";
import { matrix, row } from "../../grader/integrations/figures/tables.js";

const LENGTHS = [...range(10, 1), ...range(9, 2).map((n) => 10 * n), ...range(9, 2).map((n) => 100 * n)];
const SCALE = 2; // the root of head_dim 2 and d_rope 2

export default {
  render({ model, el }) {
    const { query, up, latent } = model.get("data");
    const figure = frame(el, "Two orders, one score. Only one of them makes a key for each token.");
    const first = figure.slider({ label: "Query, first number", min: -3, max: 3, value: query[0] });
    const second = figure.slider({ label: "Query, second number", min: -3, max: 3, value: query[1] });
    const length = figure.slider({ label: "Tokens to count for", min: 1, max: 1000, bend: 3, value: 1 });
    const token = figure.state(0); // the one whose scores are looked at
    figure.draw(() => {
      const q = [first.value, second.value];
      const keys = latent.map((c) => up.map((w) => dot(w, c)));
      const absorbed = transpose(up).map((column) => dot(column, q));
      const byKeys = keys.map((key) => dot(key, q));
      const without = latent.map((c) => dot(absorbed, c));
      const [small, large, T] = [q.length, latent[0].length, length.value];
      const workFor = (n) => [n * small * large + n * small, small * large + n * large];
      const work = workFor(T);
      const t = token.value;
      const tokens = range(latent.length).map((j) => `token ${j}`);
      const facts = { columns: tokens, digits: 0, picked: [0, t], pick: (_, j) => (token.value = j) };
      const weights = (scores) => softmax(scores.map((score) => score / SCALE));
      return {
        show: [
          matrix({ name: "latent vectors, kept", values: latent, rows: tokens, digits: 0 }),
          row(
            matrix({ name: "keys, made", values: keys, rows: tokens, digits: 0 }),
            matrix({ ...facts, name: "scores, by keys", values: byKeys }),
            matrix({ name: "weights, by keys", values: weights(byKeys), columns: tokens }),
          ),
          row(
            matrix({ name: "absorbed query", values: absorbed, digits: 0 }),
            matrix({ ...facts, name: "scores, without", values: without }),
            matrix({ name: "weights, without", values: weights(without), columns: tokens }),
          ),
          row(
            matrix({
              name: "multiplications",
              values: work.map((number) => [number]),
              rows: ["by keys", "without"],
              digits: 0,
              heat: false,
            }),
            chart({
              name: "Multiplications over the number of tokens",
              x: LENGTHS,
              at: T,
              log: true,
              logX: true,
              xLabel: "tokens",
              curves: ["by keys", "without"].map((name, i) => ({ name, values: LENGTHS.map((n) => workFor(n)[i]) })),
            }),
          ),
        ],
        threads: [
          ...keys[t].map((_, d) => [["keys, made", t, d], ["scores, by keys", 0, t]]),
          ...absorbed.map((_, d) => [["absorbed query", 0, d], ["scores, without", 0, t]]),
        ],
        key: work[1] > work[0]
          ? ["more multiplications without keys", count(work[1] - work[0])]
          : ["multiplications saved", count(work[0] - work[1])],
        say: `Both orders give the scores ${byKeys.join(" and ").replaceAll("-", "−")}. For ${count(T)} `
          + `${T === 1 ? "token" : "tokens"} it takes ${count(work[0])} multiplications by keys, `
          + `${count(work[1])} without.`,
      };
    });
  },
};
