// Heads of queries share heads of keys and values: fewer parameters, and a smaller cache for a model of real size.

import { chart } from "../../grader/integrations/figures/chart.js";
import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { count, range, size } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const GROUPS = [8, 4, 2, 1];
const LENGTHS = range(8).map((power) => 2 ** (power + 10)); // 1,024 … 131,072 tokens

export default {
  render({ model, el }) {
    const { width, heads, large } = model.get("data");
    const parameters = (groups) => 2 * width * width + 2 * width * ((width / heads) * groups) + width;
    const cache = (groups, tokens) =>
      2 * large.layers * (large.heads / heads) * groups * large.head_size * tokens * large.bytes;
    const figure = frame(el, "Fewer heads of keys and values: the cache shrinks with them, the queries stay.");
    const chosen = figure.choice({ label: "Heads of keys", options: GROUPS.map(String), value: 2 });
    const tokens = figure.slider({ label: "Tokens", min: 10, max: 17, value: 13, name: (power) => count(2 ** power) });
    figure.draw(() => {
      const groups = GROUPS[chosen.value];
      const used = range(heads).map((head) => Math.floor((head * groups) / heads));
      const T = 2 ** tokens.value;
      const others = [heads, groups, 1];
      const shared = groups === heads
        ? "Each head has keys of its own"
        : `${heads / groups} heads share the keys of one`;
      const [most, now] = [cache(heads, T), cache(groups, T)];
      const [X, wide] = [(i, n) => 20 + ((i + 0.5) * 360) / n, 360];
      return {
        key: ["cache", size(now)],
        show: [
          drawing(
            {
              name: "which heads share",
              label: `${heads} heads of queries, ${groups} of keys and values. The cache is 1/${heads / groups} `
                + "of the largest.",
              width: 400,
              height: 190,
            },
            used.map((group, head) => s(
              "line",
              { class: "link now", "stroke-width": 1.6, x1: X(head, heads), y1: 40, x2: X(group, groups), y2: 98 }
            )),
            range(heads).map((head) => [
              s("circle", { class: "node", cx: X(head, heads), cy: 34, r: 9 }),
              s("text", { x: X(head, heads), y: 18, "text-anchor": "middle" }, `q${head}`),
            ]),
            range(groups).map((group) => [
              s("circle", { class: "node now", cx: X(group, groups), cy: 104, r: 11 }),
              s("text", { x: X(group, groups), y: 132, "text-anchor": "middle" }, `k${group}, v${group}`),
            ]),
            s("rect", { class: "ground", x: 20, y: 150, width: wide, height: 14 }),
            s("rect", { class: "weight", x: 20, y: 150, width: (wide * now) / most, height: 14 }),
            s("text", { x: 20, y: 182 }, `the cache: ${size(now)} of ${size(most)}`),
          ),
          matrix({
            name: "head of keys that each head of queries uses",
            values: used,
            columns: range(heads).map((head) => `q${head}`),
            digits: 0,
            scale: heads,
          }),
          row(
            matrix({
              name: "parameters of one layer",
              values: [count(parameters(groups))],
              heat: false,
              note: `${width} wide, ${heads} heads`,
            }),
            matrix({
              name: "bytes of the cache",
              values: [size(cache(groups, T))],
              heat: false,
              note: `a model like Llama 3 8B: each head drawn is ${large.heads / heads} of its ${large.heads}`,
            }),
          ),
          chart({
            name: "Cache over the number of tokens",
            x: LENGTHS,
            at: T,
            log: true,
            logX: true,
            tick: size,
            bases: [32, 4],
            xLabel: "tokens",
            curves: [`${groups} of ${heads}`, "no sharing", "one for all"].map((name, i) => ({
              name,
              values: LENGTHS.map((t) => cache([groups, heads, 1][i], t)),
            })),
          }),
        ],
        say: `${shared}. At ${count(T)} tokens the cache takes ${size(cache(groups, T))}; without sharing it takes `
          + `${size(cache(others[0], T))}.`,
      };
    });
  },
};
