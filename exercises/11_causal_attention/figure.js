// Dropout on the weights, drawn again and again: each draw differs, and their mean settles at the weights without it.

import { chart } from "../../grader/integrations/figures/chart.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { causal, floats, matmul, range, softmax, transpose } from "../../grader/integrations/figures/maths.js";
import { matrix, row } from "../../grader/integrations/figures/tables.js";

export default {
  render({ model, el }) {
    const { inputs, tokens, layers, draws, drawn } = model.get("data");
    const T = inputs.length;
    const uniform = floats(drawn); // (draws, T, T): a weight stays where its number is p or more
    const [queries, keys, values] = layers.map((weight) => matmul(inputs, transpose(weight)));
    const scale = 1 / Math.sqrt(layers[0].length);
    const weights = causal(matmul(queries, transpose(keys))).map((one) => softmax(one.map((score) => score * scale)));
    const dropped = (n, p) => weights.map(
      (one, i) => one.map((w, j) => (uniform[(n * T + i) * T + j] >= p ? w / (1 - p) : 0))
    );
    const farthest = (mean) => Math.max(
      ...mean.flatMap((one, i) => one.map((value, j) => Math.abs(value - weights[i][j])))
    );

    // The mean after each number of draws, and its largest distance from the weights.
    const meansOf = (p) => {
      const total = weights.map((one) => one.map(() => 0));
      return range(draws).map((n) => {
        dropped(n, p).forEach((one, i) => one.forEach((value, j) => (total[i][j] += value)));
        return total.map((one) => one.map((value) => value / (n + 1)));
      });
    };
    let [known, means] = [null, null];

    const figure = frame(el, "Dropout makes each draw wrong and their mean right: what stays is divided by 1 − p.");
    const rate = figure.slider({ label: "p", min: 0, max: 0.9, step: 0.1, digits: 1, value: 0.5 });
    const count = figure.slider({ label: "Draws", min: 1, max: draws, value: 1 });
    figure.player(count, 250);
    figure.lesson(() => ([rate.value, count.value] = [0, 1]));
    figure.draw(() => {
      if (known !== rate.value) [known, means] = [rate.value, meansOf(rate.value)];
      const [last, mean] = [dropped(count.value - 1, rate.value), means[count.value - 1]];
      const later = (i, j) => j > i;
      return {
        show: [
          row(
            matrix({
              name: "weights of this draw",
              values: last,
              rows: tokens,
              columns: tokens,
              scale: 1,
              digits: 3,
              hidden: later,
              marked: (i, j) => j <= i && last[i][j] === 0,
            }),
            matrix({
              name: "mean of the draws",
              values: mean,
              rows: tokens,
              columns: tokens,
              scale: 1,
              digits: 3,
              hidden: later,
            }),
          ),
          row(
            matrix({ name: "context vectors of this draw", values: matmul(last, values), rows: tokens }),
            matrix({ name: "of the mean", values: matmul(mean, values), rows: tokens }),
            chart({
              name: "Largest distance of the mean from the weights",
              x: range(draws, 1),
              at: count.value,
              least: 0,
              most: 1,
              xLabel: "draws",
              curves: [{ name: "distance", values: means.slice(0, count.value).map(farthest) }],
            }),
          ),
        ],
        key: ["distance of the mean", farthest(mean).toFixed(3)],
        say: rate.value
          ? `After ${count.value} ${count.value === 1 ? "draw" : "draws"} the mean is ${farthest(mean).toFixed(3)} `
            + "away from the weights at most. Dashed cells were dropped in this draw; the others are "
            + `${(1 / (1 - rate.value)).toFixed(2)} times as large.`
          : "With p = 0 nothing is dropped: this is what the layer gives in eval mode.",
      };
    });
  },
};
