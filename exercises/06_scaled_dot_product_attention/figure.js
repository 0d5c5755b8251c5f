// Queries and keys of more and more dimensions: what the scale does to the scores, the weights and the gradients.

import { chart } from "../../grader/integrations/figures/chart.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, floats, range, softmax, sum, variance } from "../../grader/integrations/figures/maths.js";
import { bars, matrix, row } from "../../grader/integrations/figures/tables.js";

const DIMENSIONS = range(10).map((power) => 2 ** power); // 1 … 512, drawn as curves

// How far the weights of a row move for small changes of its scores: the norm of the softmax's Jacobian.
function steepness(weights) {
  const entries = weights.flatMap((a, i) => weights.map((b, j) => (i === j ? a * (1 - a) : -a * b)));
  return Math.sqrt(sum(entries.map((entry) => entry * entry)));
}

export default {
  render({ model, el }) {
    const { queries, keys, tokens, width, start } = model.get("data");
    const [q, k] = [queries, keys].map((packed) => {
      const all = Array.from(floats(packed));
      return range(tokens).map((i) => all.slice(i * width, (i + 1) * width));
    });
    const scores = (d_k, scale) =>
      q.map((query) => k.map((key) => dot(query.slice(0, d_k), key) * (scale ? 1 / Math.sqrt(d_k) : 1)));
    const facts = (d_k, scale) => {
      const all = scores(d_k, scale);
      const weights = all.map(softmax);
      return {
        spread: variance(all.flat()),
        weights: weights[0],
        largest: sum(weights.map((one) => Math.max(...one))) / tokens,
        gradient: sum(weights.map(steepness)) / tokens,
      };
    };
    const curves = [true, false].map((scale) => DIMENSIONS.map((d_k) => facts(d_k, scale).spread));

    const figure = frame(el, "More dimensions spread the scores; dividing by √d_k takes the spread away again.");
    const power = figure.slider({ label: "d_k", min: 1, max: width, step: 1, bend: 3, value: start });
    const query = figure.slider({ label: "query", min: 0, max: tokens - 1, value: 0 });
    figure.draw(() => {
      const d_k = power.value;
      const [scaled, raw] = [facts(d_k, true), facts(d_k, false)];
      const own = [true, false].map((scale) => softmax(scores(d_k, scale)[query.value]));
      const labels = range(tokens).map((i) => `key ${i}`);
      return {
        show: [
          row(
            matrix({
              name: "variance of the scores",
              columns: ["raw", "scaled"],
              values: [raw.spread, scaled.spread],
              heat: false,
            }),
            matrix({
              name: "largest weight, mean",
              columns: ["raw", "scaled"],
              values: [raw.largest, scaled.largest],
              heat: false,
            }),
            matrix({
              name: "size of the gradient, mean",
              columns: ["raw", "scaled"],
              values: [raw.gradient, scaled.gradient],
              heat: false,
            }),
          ),
          row(
            bars({ name: "weights, raw scores", values: own[1], labels, most: 1 }),
            bars({ name: "weights, scores / √d_k", values: own[0], labels, most: 1 }),
            chart({
              name: "Variance of the scores over d_k",
              x: DIMENSIONS,
              at: d_k,
              log: true,
              logX: true,
              least: 0.25,
              xLabel: "d_k",
              curves: [{ name: "scaled", values: curves[0] }, { name: "raw", values: curves[1] }],
            }),
          ),
        ],
        key: ["largest weight, raw and scaled", `${raw.largest.toFixed(2)} and ${scaled.largest.toFixed(2)}`],
        say: `With d_k = ${d_k} the raw scores have the variance ${raw.spread.toFixed(2)}, the scaled ones `
          + `${scaled.spread.toFixed(2)}. The largest weight of a row is ${raw.largest.toFixed(2)} without the scale `
          + `and ${scaled.largest.toFixed(2)} with it.`,
      };
    });
  },
};
