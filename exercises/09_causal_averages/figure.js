// Three ways to one triangle: a loop, a division by the row's sum, a softmax over a masked matrix of zeros.

import { frame } from "../../grader/integrations/figures/frame.js";
import { causal, format, matmul, range, softmax, sum } from "../../grader/integrations/figures/maths.js";
import { matrix, row, sign } from "../../grader/integrations/figures/tables.js";

const WAYS = ["a loop", "a matrix product", "a softmax"];

// The mean of each row and all before it, in a loop.
const causalMeans = (x) => x.map((_, i) => x[0].map((_, d) => sum(x.slice(0, i + 1).map((one) => one[d])) / (i + 1)));
const distances = (a, b) => a.map((one, i) => one.map((value, j) => Math.abs(value - b[i][j])));

export default {
  render({ model, el }) {
    const { x } = model.get("data");
    const T = x.length;
    const names = range(T).map(String);
    const figure = frame(el, "Each token becomes the mean of itself and all before it: three ways, one result.");
    const way = figure.choice({ label: "By", options: WAYS, value: 1 });
    const at = figure.slider({ label: "Token", min: 0, max: T - 1, value: 2 });
    const last = figure.slider({ label: "Add to the last token", min: -4, max: 4, step: 0.5, digits: 1, value: 0 });
    figure.player(at);
    figure.draw(() => {
      const t = at.value;
      const inputs = x.map((one, i) => one.map((value) => value + (i === T - 1 ? last.value : 0)));
      const ones = range(T).map((i) => range(T).map((j) => (j <= i ? 1 : 0)));
      const zeros = causal(range(T).map(() => range(T).map(() => 0)));
      const weights = way.value === 2 ? zeros.map(softmax) : ones.map((one) => one.map((value) => value / sum(one)));
      const averages = way.value ? matmul(weights, inputs) : causalMeans(inputs);
      const moved = distances(averages, causalMeans(x)).filter((one) => Math.max(...one) > 1e-9).length;
      const later = (i, j) => j > i;
      const made = [
        matrix({
          name: "read by the loop",
          values: ones.map((one, i) => (i === t ? one : one.map(() => 0))),
          digits: 0,
          rows: names,
          columns: names,
          hidden: (i, j) => i !== t || j > i,
          scale: 1.4,
        }),
        matrix({
          name: "ones up to the diagonal",
          note: "Each row divided by its sum gives the weights.",
          values: ones,
          digits: 0,
          rows: names,
          columns: names,
          hidden: later,
          marked: (i, j) => i === t && j <= t,
          scale: 1.4,
        }),
        matrix({
          name: "zeros, masked",
          note: "The softmax of each row gives the weights.",
          values: zeros,
          digits: 0,
          rows: names,
          columns: names,
          hidden: later,
          marked: (i) => i === t,
        }),
      ][way.value];
      const terms = inputs.slice(0, t + 1).map(([value]) => format(value)).join(" + ").replaceAll("+ −", "− ");
      return {
        show: [
          row(
            way.value ? [matrix({
              name: "weights",
              values: weights,
              digits: 3,
              rows: names,
              columns: names,
              hidden: later,
              marked: (i, j) => i === t && j <= t,
            }), sign("·")] : null,
            matrix({ name: "x", values: inputs, digits: 3, rows: way.value ? undefined : names, columns: ["0", "1"], marked: (i) => i <= t }),
            sign(way.value ? "=" : "→"),
            matrix({ name: "averages", values: averages, digits: 3, columns: ["0", "1"], marked: (i) => i === t }),
          ),
          row(made),
        ],
        key: last.value ? ["averages that moved", `${moved} of ${T}`] : [`tokens in average ${t}`, `${t + 1} of ${T}`],
        say: `Average ${t}: (${terms}) / ${t + 1} = ${format(averages[t][0])}.`
          + (last.value ? " The last token moves only the last average: no other row looks at it." : ""),
      };
    });
  },
};
