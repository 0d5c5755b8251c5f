// Heads of queries share heads of keys and values: fewer parameters, and a smaller cache for a model of real size.

import { chart } from "../../grader/integrations/figures/chart.js";
import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { count, range, size } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix } from "../../grader/integrations/figures/tables.js";

const GROUPS = [8, 4, 2, 1];
const LENGTHS = range(8).map((power) => 2 ** (power + 10)); // 1,024 … 131,072 tokens
const PIECE = 42; // the room for a head

export default {
  render({ model, el }) {
    const { width, heads, large } = model.get("data");
    const parameters = (groups) => 2 * width * width + 2 * width * ((width / heads) * groups) + width;
    const cache = (groups, tokens) =>
      2 * large.layers * (large.heads / heads) * groups * large.head_size * tokens * large.bytes;
    const figure = frame(el, "The cache shrinks with the number of heads of keys and values");
    figure.beside();
    const chosen = figure.choice({ label: "Heads of keys", options: GROUPS.map(String), value: 2 });
    const tokens = figure.slider({ label: "Tokens", min: 10, max: 17, value: 13, name: (power) => count(2 ** power) });
    const numbers = figure.toggle({ label: "Numbers" });
    figure.lesson(() => (numbers.value = true));
    figure.draw(() => {
      const groups = GROUPS[chosen.value];
      const each = heads / groups;
      const used = range(heads).map((head) => Math.floor(head / each));
      const T = 2 ** tokens.value;
      const shared = groups === heads
        ? "Each head of queries has keys of its own"
        : `${each} heads of queries share ${groups > 1 ? "each" : "the only"} head of keys and values`;
      const [most, now] = [cache(heads, T), cache(groups, T)];
      const X = (head) => 64 + (head + 0.5) * PIECE;
      const place = (group) => group * each + Math.floor((each - 1) / 2); // among the heads that it stands for
      const kept = range(groups).map(place);
      return {
        key: ["the cache keeps", `${size(now)} of ${size(most)}`],
        show: drawing(
          {
            name: "which heads share, and what the cache keeps",
            label: `${heads} heads of queries, ${groups} of keys and values. The cache is 1/${each} of the largest.`,
            width: 400,
            height: 218,
            most: 600,
          },
          [["queries", 34], ["keys and", 96], ["values", 112], ["cache", 158]].map(
            ([name, y]) => s("text", { x: 0, y }, name)
          ),
          used.map((group, head) => s(
            "line",
            { class: "link now", "stroke-width": 1.6, x1: X(head), y1: 40, x2: X(place(group)), y2: 98 }
          )),
          kept.map((head, group) => s(
            "line", { class: "link", key: `down ${group}`, x1: X(head), y1: 112, x2: X(group), y2: 136 }
          )),
          range(heads).map((head) => [
            s("circle", { class: "node", cx: X(head), cy: 34, r: 9 }),
            s("text", { x: X(head), y: 16, "text-anchor": "middle" }, `q${head}`),
            s("circle", { class: kept.includes(head) ? "node now" : "cell gone", cx: X(head), cy: 103, r: 10 }),
            s("rect", {
              class: `cell ${head < groups ? "kata-kind-0" : "gone"}`,
              x: X(head - 0.5) + 1, y: 136, width: PIECE - 2, height: 40,
            }),
            head < groups && ["k", "v"].map((name, n) => s(
              "text", { class: "strong", x: X(head), y: 152 + n * 17, "text-anchor": "middle" }, `${name}${head}`
            )),
          ]),
          s("text", { x: X(-0.5), y: 196, class: "strong" },
            each > 1 ? `1/${each} of the memory, or ${each} × the tokens in the same` : "nothing is saved"),
          s("text", { x: X(-0.5), y: 212 },
            `as in Llama 3 8B: each head here is ${large.heads / heads} of its ${large.heads}`),
        ),
        more: numbers.value && [
          matrix({
            name: "head of keys that each head of queries uses",
            values: used,
            columns: range(heads).map((head) => `q${head}`),
            digits: 0,
            scale: heads,
          }),
          matrix({
            name: "parameters of one layer",
            values: [count(parameters(groups))],
            heat: false,
            note: `of a small model, ${width} wide, with the ${heads} heads drawn`,
          }),
          chart({
            name: "Cache of a model like Llama 3 8B",
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
        say: `${shared}. At ${count(T)} tokens the cache takes ${size(now)}`
          + (groups === heads ? ": nothing is shared." : `; without sharing it takes ${size(most)}.`),
      };
    });
  },
};
