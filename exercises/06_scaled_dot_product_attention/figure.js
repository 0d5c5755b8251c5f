// Queries and keys of more and more dimensions: what the scale does to the scores, the weights and the gradients.

import { chart } from "../../grader/integrations/figures/chart.js";
import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { floats, range, softmax, sum, times, variance } from "../../grader/integrations/figures/maths.js";
import { bars, drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const DIMENSIONS = range(10).map((power) => 2 ** power); // 1 … 512, drawn as curves

const [WIDE, END] = [420, 50]; // of the drawing of all scores, and the score at its edges

// All scores as strokes on one axis that stays: raw ones above, scaled ones below; those of one query are tall.
function spread(raw, scaled, query) {
  const X = (value) => WIDE / 2 + (Math.max(-END, Math.min(END, value)) / END) * (WIDE / 2 - 4);
  const strokes = (y, high, values) => values.map((value) => `M${X(value).toFixed(1)},${y}v${-high}`).join("");
  const lane = (y, name, all, look) => [
    s("text", { x: 4, y: y - 26 }, name),
    s("line", { class: "axis", x1: 0, x2: WIDE, y1: y, y2: y }),
    s("path", { class: `curve rug ${look}`, d: strokes(y, 10, all.flat()) + strokes(y, 22, all[query]) }),
  ];
  return drawing(
    { name: "all 64 scores, those of the query tall", label: "The raw scores lie far apart, the scaled ones close.",
      width: WIDE, height: 128 },
    lane(50, "raw", raw, "curve-1"),
    lane(106, "scaled", scaled, ""),
    [-40, -20, 0, 20, 40].map((x) => s("text", { x: X(x), y: 122, "text-anchor": "middle" }, `${x}`.replace("-", "−"))),
  );
}

export default {
  render({ model, el }) {
    const { queries, keys, tokens, width, start } = model.get("data");
    const [q, k] = [queries, keys].map((packed) => {
      const all = Array.from(floats(packed));
      return range(tokens).map((i) => all.slice(i * width, (i + 1) * width));
    });
    const scores = (d_k) => q.map((query) => k.map((key) => {
      let total = 0;
      for (let d = 0; d < d_k; d++) total += query[d] * key[d];
      return total;
    }));
    const facts = (all) => {
      const weights = all.map(softmax);
      return {
        spread: variance(all.flat()),
        weights,
        largest: sum(weights.map((one) => Math.max(...one))) / tokens,
      };
    };
    const scale = (all, d_k) => times(all, 1 / Math.sqrt(d_k));
    const curves = [scale, (all) => all].map((how) => DIMENSIONS.map(
      (d_k) => variance(how(scores(d_k), d_k).flat())
    ));

    const figure = frame(el, "More dimensions spread the scores; dividing by √d_k takes the spread away again.");
    const power = figure.slider({ label: "d_k", min: 1, max: width, step: 1, bend: 3, value: start });
    const query = figure.slider({ label: "query", min: 0, max: tokens - 1, value: 0 });
    figure.draw(() => {
      const d_k = power.value;
      const all = scores(d_k);
      const [scaled, raw] = [scale(all, d_k), all].map(facts);
      const own = [scaled, raw].map((one) => one.weights[query.value]);
      const labels = range(tokens).map((i) => `key ${i}`);
      return {
        show: [
          row(
            spread(all, scale(all, d_k), query.value),
            row(
              bars({ name: "weights, raw scores", values: own[1], labels, most: 1 }),
              bars({ name: "weights, scores / √d_k", values: own[0], labels, most: 1 }),
            ),
          ),
          row(
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
            matrix({
              name: "variance of the scores",
              columns: ["raw", "scaled"],
              values: [raw.spread, scaled.spread],
              heat: false,
            }),
          ),
        ],
        key: ["largest weight, raw and scaled", `${raw.largest.toFixed(2)} and ${scaled.largest.toFixed(2)}`],
        say: `With d_k = ${d_k} the raw scores have the variance ${raw.spread.toFixed(2)}, the scaled ones `
          + `${scaled.spread.toFixed(2)}. The largest weight of a query is ${raw.largest.toFixed(2)} without the scale `
          + `and ${scaled.largest.toFixed(2)} with it, as the mean of ${tokens}.`,
      };
    });
  },
};
