// Token after token: what the next one computes with a cache and without, and what the cache then holds.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { causal, count, matmul, range, softmax, transpose } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [WIDE, HIGH] = [48, 30]; // of a token

// What the newest token takes: full is a token that is computed, all for the same work, dashed is one that is kept.
function next(tokens, each) {
  const t = tokens.length;
  return drawing(
    { name: "what is computed for the next token", width: 342, height: 116, most: 420,
      label: `With a cache ${count(each)} multiply-adds, without ${count(t * each)}.` },
    [["with a cache", 1], ["without", t]].map(([name, many], n) => {
      const y = 18 + n * 60;
      return [
        s("text", { x: 0, y: y - 6 }, many < t ? `${name}: dashed is kept` : `${name}: all of them`),
        tokens.map((token, i) => [
          s("rect", { class: `cell ${i < t - many ? "gone" : "done"}`, x: i * WIDE + 1, y, width: WIDE - 3, height: HIGH }),
          s("text", { class: "number", x: (i + 0.5) * WIDE, y: y + 19, "text-anchor": "middle" }, token),
        ]),
        s("text", { class: "strong", x: t * WIDE + 8, y: y + 20 }, count(many * each)),
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
    // Multiply-adds of one token with t in all: its projections, its scores and its weighted sum.
    const work = (t) => d_out * (3 * d_in + d_out) + 2 * t * d_out;
    const figure = frame(el, "How much work is one more token, with a cache and without?");
    const step = figure.slider({ label: "Tokens", min: 1, max: inputs.length, value: 4 });
    figure.player(step);
    figure.below();
    const all = figure.toggle({ label: "Output and cache" });
    figure.lesson(() => ([step.value, all.value] = [inputs.length, true]));
    figure.draw(() => {
      const t = step.value;
      const names = tokens.slice(0, t);
      const cache = (name, which) => matrix({
        name: `${name} in the cache`,
        values: transpose(projected[which].slice(0, t)),
        columns: names,
        rows: ["head 0", "head 1"],
        marked: (_, j) => j === t - 1,
      });
      return {
        show: [
          next(names, work(t)),
          all.value && [
            row(matrix({ name: "output", values: outputs(t), rows: names, marked: (i) => i === t - 1 })),
            row(cache("keys", 1), cache("values", 2)),
          ],
        ],
        key: ["multiply-adds", `${count(work(t))}, not ${count(t * work(t))}`],
        say: `With a cache “${tokens[t - 1]}” takes ${count(work(t))} multiply-adds. Without, `
          + `${t === 1 ? "it is the same for one token" : `all ${t} tokens are computed again: ${count(t * work(t))}`}.`,
      };
    });
  },
};
