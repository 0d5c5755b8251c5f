// Step by step with and without a cache: the output is the same, the work and the memory are not.

import { chart } from "../../grader/integrations/figures/chart.js";
import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { causal, count, matmul, range, softmax, transpose } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const LONGEST = 64; // tokens on the curve

// Two bars, as long as the work so far. most: what the longer one is in the end.
function race(kept, again, most) {
  const [LEFT, WIDE] = [92, 500]; // where bars begin, and the longest one
  return drawing(
    {
      name: "the race: multiply-adds so far",
      label: `With a cache ${count(kept)}, without ${count(again)}.`,
      width: LEFT + WIDE + 50,
      height: 74,
    },
    [["with a cache", kept, "now"], ["without", again, "done"]].map(([name, value, look], n) => {
      const [y, wide] = [6 + n * 34, (WIDE * value) / most];
      return [
        s("text", { x: LEFT - 8, y: y + 17, "text-anchor": "end" }, name),
        s("rect", { class: `cell ${look}`, x: LEFT, y, width: wide, height: 26 }),
        s("text", { class: "strong", x: LEFT + wide + 8, y: y + 17 }, count(value)),
      ];
    }),
  );
}

export default {
  render({ model, el }) {
    const { inputs, tokens, layers, out_weight, out_bias, heads } = model.get("data");
    const [d_in, d_out] = [inputs[0].length, layers[0].length];
    const width = d_out / heads;
    const projected = layers.map((weight) => matmul(inputs, transpose(weight)));
    const part = (matrix, head) => matrix.map((one) => one.slice(head * width, (head + 1) * width));
    const outputs = (steps) => {
      const [q, k, v] = projected.map((one) => one.slice(0, steps));
      const all = range(heads).map((head) => {
        const scores = matmul(part(q, head), transpose(part(k, head)));
        const weights = causal(scores).map((one) => softmax(one.map((score) => score / Math.sqrt(width))));
        return matmul(weights, part(v, head));
      });
      const merged = range(steps).map((t) => all.flatMap((head) => head[t]));
      return matmul(merged, transpose(out_weight)).map((one) => one.map((value, i) => value + out_bias[i]));
    };
    // Multiply-adds of one step for t tokens in all: projections of the new tokens, their scores and weighted sums.
    const work = (t, cached) => {
      const fresh = cached ? 1 : t;
      return fresh * d_out * (3 * d_in + d_out) + 2 * fresh * t * d_out;
    };
    const soFar = (t, cached) => range(t, 1).reduce((total, step) => total + work(step, cached), 0);
    const figure = frame(el, "With a cache each step projects one token; without, all of them again.");
    const step = figure.slider({ label: "Tokens", min: 1, max: inputs.length, value: 4 });
    const cached = figure.toggle({ label: "Keep a cache", value: true });
    figure.player(step);
    figure.lesson(() => ([step.value, cached.value] = [inputs.length, true]));
    figure.draw(() => {
      const t = step.value;
      const fed = (i) => (cached.value ? i === t - 1 : i < t);
      const cache = (which) => transpose(projected[which].slice(0, t));
      const names = tokens.slice(0, t);
      return {
        show: [
          race(soFar(t, true), soFar(t, false), soFar(inputs.length, false)),
          row(
            matrix({ name: "inputs", values: inputs, digits: 2, rows: tokens, marked: fed, faint: (i) => i >= t }),
            matrix({ name: "output", values: outputs(t), rows: names }),
          ),
          row(
            matrix({
              name: cached.value ? "keys in the cache" : "keys, computed again",
              values: cache(1),
              columns: names,
              rows: ["head 0", "head 1"],
              marked: (_, j) => fed(j),
            }),
            matrix({
              name: cached.value ? "values in the cache" : "values, computed again",
              values: cache(2),
              columns: names,
              rows: ["head 0", "head 1"],
              marked: (_, j) => fed(j),
            }),
          ),
          row(
            matrix({ name: "bytes kept", values: [cached.value ? 2 * t * d_out * 4 : 0], digits: 0, heat: false }),
            chart({
              name: "Multiply-adds so far",
              x: range(LONGEST, 1),
              at: t,
              xLabel: "tokens",
              curves: [
                { name: "with a cache", values: range(LONGEST, 1).map((n) => soFar(n, true)) },
                { name: "without", values: range(LONGEST, 1).map((n) => soFar(n, false)) },
              ],
            }),
          ),
        ],
        key: ["multiply-adds so far", count(soFar(t, cached.value))],
        say: `Dashed: what this step computes. So far it took ${count(soFar(t, cached.value))} multiply-adds; `
          + `${cached.value ? "without" : "with"} a cache it would be ${count(soFar(t, !cached.value))}. The output `
          + "is the same.",
      };
    });
  },
};
