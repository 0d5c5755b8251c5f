// Dropout on one row of weights, drawn again and again: each draw differs, and their mean settles at the true weights.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import {
  causal, floats, format, matmul, range, softmax, sum, transpose,
} from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [LEFT, WIDE, TOP, TALL] = [60, 54, 12, 190]; // of the axis, from token to token; of the largest weight that is drawn
const spread = (n, step) => ((n * step) % 1) - 0.5; // aside from the other dots, between −½ and ½

// Each draw of a weight as a dot, the last one large and orange; their mean as a bar, and the weight itself as a line.
function clouds({ query, truth, mean, all, tokens, grown }) {
  const largest = Math.max(...truth);
  const Y = (value) => TOP + TALL * (1 - value / (largest * Math.max(1.5, grown)));
  const [width, height] = [LEFT + tokens.length * WIDE, TOP + TALL + 52];
  const shares = mean.map((value, j) => `${format((100 * value) / truth[j], 0)} %`);
  const label = (y, text) => s("text", { x: LEFT - 8, y: y + 4, "text-anchor": "end" }, text);
  const dot = (x, y) => `M${x.toFixed(1)},${y.toFixed(1)}h2.4v2.4h-2.4z`;
  return drawing(
    { name: `“${query}”: draws are dots (orange: the last), bars their mean`, width, height, most: 1.25 * width,
      label: tokens.map((token, j) => `${token}: ${shares[j]}`).join(", ") },
    label(Y(0), "dropped"),
    label(Y(largest), "weight"),
    grown > 1 && label(Y(largest * grown), grown === 2 ? "doubled" : `× ${format(grown, 2)}`),
    label(TOP + TALL + 42, "mean"),
    s("line", { class: "grid", x1: LEFT, x2: width, y1: Y(0), y2: Y(0) }),
    tokens.map((token, j) => {
      const middle = LEFT + (j + 0.5) * WIDE;
      const dots = all.map((one, n) => dot(middle + 40 * spread(n, 0.618), Y(one[j]) + 11 * spread(n, 0.7549)));
      return [
        s("rect", { class: "cell done", x: middle - 14, width: 28, y: Y(mean[j]), height: Y(0) - Y(mean[j]) }),
        s("path", { class: "weight", "fill-opacity": 0.5, d: dots.join("") }),
        s("line", { class: "truth", x1: middle - 24, x2: middle + 24, y1: Y(truth[j]), y2: Y(truth[j]) }),
        s("circle", { class: "dot other", cx: middle, cy: Y(all.at(-1)[j]), r: 5 }),
        s("text", { x: middle, y: TOP + TALL + 28, "text-anchor": "middle" }, token),
        s("text", { class: "number", x: middle, y: TOP + TALL + 46, "text-anchor": "middle" }, shares[j]),
      ];
    }),
  );
}

export default {
  render({ model, el }) {
    const { inputs, tokens, layers, draws, drawn } = model.get("data");
    const T = inputs.length;
    const uniform = floats(drawn); // (draws, T, T): a weight stays where its number is p or more
    const [queries, keys, values] = layers.map((weight) => matmul(inputs, transpose(weight)));
    const scale = 1 / Math.sqrt(layers[0].length);
    const weights = causal(matmul(queries, transpose(keys))).map((one) => softmax(one.map((score) => score * scale)));

    const figure = frame(el, "Each draw drops or enlarges each weight, and the mean of more draws nears 100\u00a0%");
    figure.beside();
    const count = figure.slider({ label: "Draws", min: 1, max: draws, value: draws });
    figure.player(count, 40);
    const rate = figure.slider({ label: "p", min: 0, max: 0.9, step: 0.1, digits: 1, value: 0.5 });
    figure.lesson(() => ([rate.value, count.value, query.value, numbers.value] = [0, 1, T - 1, true]));
    figure.fold("Another token, numbers");
    const query = figure.choice({ label: "Weights of", options: tokens, value: T - 1 });
    const numbers = figure.toggle({ label: "Numbers" });
    figure.draw(() => {
      const [p, i] = [rate.value, query.value];
      const grown = 1 / (1 - p);
      const truth = weights[i].slice(0, i + 1);
      const all = range(count.value).map(
        (n) => truth.map((weight, j) => (uniform[(n * T + i) * T + j] >= p ? weight * grown : 0))
      );
      const [last, mean] = [all.at(-1), transpose(all).map((one) => sum(one) / one.length)];
      const seen = tokens.slice(0, i + 1);
      const shares = mean.map((value, j) => value / truth[j]);
      const [least, most] = [Math.min(...shares), Math.max(...shares)].map((share) => (100 * share).toFixed(0));
      const between = least === most ? least : `${least} ${all.length > 1 ? "to" : "or"} ${most}`;
      const gone = last.filter((value) => value === 0).length;
      return {
        show: clouds({ query: tokens[i], truth, mean, all, tokens: seen, grown }),
        more: numbers.value && row(
          matrix({
            name: "weights", values: [last, mean, truth], rows: ["last draw", "mean", "no dropout"], columns: seen,
            digits: 3, heat: false,
          }),
          matrix({
            name: "context vector of the last draw", values: matmul([last], values.slice(0, i + 1)), heat: false,
          }),
        ),
        title: p ? null : "Without dropout every weight stays as it is",
        key: ["mean of each weight", `${between}\u00a0%`],
        say: p
          ? `Draw ${all.length} drops ${gone || "none"} of ${i + 1} weight${i ? "s" : ""} of “${tokens[i]}”`
            + (gone > i ? ". " : `, and makes ${gone ? "the others" : "all"} ${grown.toFixed(2)} times as large. `)
            + `The mean of each is ${between}\u00a0% of its weight.`
          : "With p = 0 nothing is dropped: this is what the layer gives in eval mode.",
      };
    });
  },
};
