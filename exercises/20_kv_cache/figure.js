// Token after token: what the next one computes with a cache and without, and what the cache then holds.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { causal, count, matmul, range, softmax, transpose } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [WIDE, HIGH, LEAST] = [47, 26, 6]; // of a token, and the steps that there is room for

// A row for each step: full is a token that is computed, pale is one that is kept. works: the multiply-adds of a row;
// terms: of which numbers those of the last one are the sum.
function steps(name, tokens, works, terms, isKept) {
  const t = tokens.length;
  const total = works.reduce((all, one) => all + one);
  return drawing(
    { name, label: `The last step takes ${count(works[t - 1])} multiply-adds, all together ${count(total)}.`,
      width: 346, height: LEAST * HIGH + 44, most: 346 },
    works.map((work, step) => [
      tokens.slice(0, step + 1).map((token, i) => [
        s("rect", {
          class: `cell ${isKept(i, step) ? "tint kata-tone-5" : "done"} ${step === t - 1 && !isKept(i, step) ? "chosen" : ""}`,
          x: i * WIDE + 2, y: step * HIGH + 2, width: WIDE - 4, height: HIGH - 4,
        }),
        s("text", { class: "number", x: (i + 0.5) * WIDE, y: step * HIGH + 17, "text-anchor": "middle" }, token),
      ]),
      s(
        "text", { class: step === t - 1 ? "strong" : null, x: (step + 1) * WIDE + 6, y: step * HIGH + 17 }, count(work)
      ),
    ]),
    s("text", { x: 2, y: t * HIGH + 18 }, `${count(works[t - 1])} = ${terms}`),
    t > 1 && s("text", { class: "strong", x: 2, y: t * HIGH + 37 }, `all ${t} steps: ${count(total)}`),
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
    const figure = frame(el, "With a cache a step computes one token; without, all tokens so far");
    figure.below();
    const step = figure.slider({ label: "Tokens", min: 1, max: inputs.length, value: inputs.length });
    figure.player(step);
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
          row(
            steps("with a cache: pale is kept", names, names.map((_, i) => work(i + 1)),
              `${3 * d_in * d_out} for q, k, v + ${d_out * d_out} for the output + ${t} · ${work(1) - work(0)} to look`,
              (i, step) => i < step),
            steps("without: everything again", names, names.map((_, i) => (i + 1) * work(i + 1)),
              `${t} · ${count(work(t))}: each has ${t} score${t > 1 ? "s, masked ones too" : ""}`, () => false),
          ),
          all.value && [
            row(matrix({ name: "output", values: outputs(t), rows: names, marked: (i) => i === t - 1 })),
            row(cache("keys", 1), cache("values", 2)),
          ],
        ],
        key: ["multiply-adds", `${count(work(t))}${t > 1 ? `, not ${count(t * work(t))}` : ""}`],
        say: `The token “${tokens[t - 1]}” takes ${count(work(t))} multiply-adds with a cache. Without, `
          + (t === 1 ? "it is the same for one token."
            : `all ${t} are computed again: ${t} · ${count(work(t))} = ${count(t * work(t))}.`),
      };
    });
  },
};
