// Dropout on one row of weights, drawn again and again: each draw differs, and their mean settles at the true weights.

import { chart, legend } from "../../grader/integrations/figures/chart.js";
import { h, s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import {
  causal, floats, format, matmul, range, softmax, sum, transpose,
} from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [LEFT, WIDE, TALL] = [40, 53, 190]; // of the axis, from token to token, and of the largest weight that is drawn

// The weights as steps, the mean of the draws as bars, and the last draw as thin bars: at 0 what it dropped.
function weighed({ query, truth, mean, last, tokens, grown }) {
  const largest = Math.max(...truth);
  const Y = (value) => 16 + TALL * (1 - value / (largest * Math.max(1.5, grown)));
  const [width, height] = [LEFT + tokens.length * WIDE, TALL + 42];
  const told = tokens.map((token, j) => `${token}: ${format(mean[j], 3)} of ${format(truth[j], 3)}`).join(", ");
  return drawing(
    { name: `the weights of “${query}”`, label: told, width, height },
    [0, largest * grown].map((value) => [
      s("line", { class: "grid", x1: LEFT, x2: width, y1: Y(value), y2: Y(value) }),
      s("text", { x: LEFT - 6, y: Y(value) + 4, "text-anchor": "end" }, format(value, 2)),
    ]),
    tokens.map((token, j) => {
      const x = LEFT + j * WIDE;
      const bar = (look, left, wide, value) =>
        s("rect", { class: `cell ${look}`, x: x + left, width: wide, y: Y(value), height: Y(0) - Y(value) });
      return [
        bar("done", 7, 26, mean[j]),
        bar("strip kata-kind-1", 35, 9, last[j]),
        s("line", { class: "truth", x1: x + 3, x2: x + WIDE - 5, y1: Y(truth[j]), y2: Y(truth[j]) }),
        s("text", { x: x + WIDE / 2, y: TALL + 36, "text-anchor": "middle" }, token),
      ];
    }),
  );
}

const LEGEND = [
  ["no dropout", s("line", { class: "truth", x1: 0, x2: 28, y1: 4, y2: 4 })],
  ["mean", s("rect", { class: "cell done", x: 2, width: 24, height: 8 })],
  ["last draw", s("rect", { class: "cell strip kata-kind-1", x: 10, width: 8, height: 8 })],
];

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
    // The mean after each number of draws.
    const meansOf = (p) => {
      const total = weights.map((one) => one.map(() => 0));
      return range(draws).map((n) => {
        dropped(n, p).forEach((one, i) => one.forEach((value, j) => (total[i][j] += value)));
        return total.map((one) => one.map((value) => value / (n + 1)));
      });
    };
    let [known, means] = [null, null];

    const figure = frame(el, "Each draw drops or enlarges each weight, and the mean of many draws is near 100 %");
    figure.below();
    const rate = figure.slider({ label: "p", min: 0, max: 0.9, step: 0.1, digits: 1, value: 0.5 });
    const count = figure.slider({ label: "Draws", min: 1, max: draws, value: draws });
    figure.player(count, 250);
    figure.lesson(() => ([rate.value, count.value, query.value, numbers.value] = [0, 1, T - 1, true]));
    figure.fold("Another token, numbers");
    const query = figure.choice({ label: "Weights of", options: tokens, value: T - 1 });
    const numbers = figure.toggle({ label: "Numbers" });
    figure.draw(() => {
      if (known !== rate.value) [known, means] = [rate.value, meansOf(rate.value)];
      const [draw, all, i] = [dropped(count.value - 1, rate.value), means[count.value - 1], query.value];
      const [last, mean, truth] = [draw, all, weights].map((one) => one[i].slice(0, i + 1));
      const [seen, grown] = [tokens.slice(0, i + 1), 1 / (1 - rate.value)];
      const shares = mean.map((value, j) => value / truth[j]);
      const [least, most] = [Math.min(...shares), Math.max(...shares)].map((share) => (100 * share).toFixed(0));
      const left = means.map((one) => (100 * sum(one[i])) / sum(truth)); // of all weights together
      const each = truth.map((whole, j) => means.map((one) => (100 * one[i][j]) / whole));
      const gone = last.filter((value) => value === 0).length;
      return {
        show: row(
          h("div", { class: "kata-wide" },
            weighed({ query: tokens[i], truth, mean, last, tokens: seen, grown }), legend(LEGEND)),
          chart({
            name: "left on average, %", x: range(draws, 1), curves: [{ name: "of all weights together", values: left }],
            family: { name: "of each weight", all: each }, at: count.value, xLabel: "draws", least: 0,
          }),
        ),
        more: numbers.value && [
          matrix({
            name: "weights", values: [last, mean, truth], rows: ["last draw", "mean", "no dropout"], columns: seen,
            digits: 3, heat: false,
          }),
          matrix({ name: "context vector of the last draw", values: matmul([draw[i]], values), heat: false }),
        ],
        title: rate.value ? null : "Without dropout every weight stays as it is",
        key: [`left, mean of ${count.value} draw${count.value > 1 ? "s" : ""}`, `${format(left[count.value - 1], 0)} %`],
        say: rate.value
          ? `Draw ${count.value} drops ${gone || "none"} of ${i + 1} weight${i ? "s" : ""} of “${tokens[i]}”`
            + (gone > i ? ". " : `, and makes ${gone ? "the others" : "all"} ${grown.toFixed(2)} times as large. `)
            + `On average ${least === most ? least : `${least} to ${most}`}\u00a0% of each weight is left.`
          : "With p = 0 nothing is dropped: this is what the layer gives in eval mode.",
      };
    });
  },
};
