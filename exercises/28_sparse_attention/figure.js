// The last token, two small heads and many keys: which keys it reads, and what relu makes of the scores.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, format, range } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [WIDE, TALL] = [27, 84]; // of a bar: the room for it, and its height for the largest score

// The scores as bars: full where the key is read, dashed where it is left out, brown where
// it loses a tie. tied: the keys that share the lowest score of those read; most: how many keys there may be.
function choices(scores, taken, tied, most) {
  const full = Math.max(1, ...scores.map(Math.abs));
  const high = (value) => (value * TALL) / full;
  const ground = TALL + 20;
  const deep = high(Math.max(0, ...scores.map((score) => -score)));
  const below = deep ? deep + 34 : 16; // where the names of keys are, under the numbers of negative scores
  const isLost = (key) => tied.includes(key) && !taken.includes(key);
  const state = (key) => (taken.includes(key) ? "read" : isLost(key) ? "loses the tie" : "left out");
  const told = scores.map((score, key) => `key ${key}, ${score}, ${state(key)}`);
  const width = 28 + most * WIDE;
  const middle = (key) => 28 + (key + 0.5) * WIDE;
  const tie = () => {
    const [first, last, y] = [middle(tied[0]), middle(tied.at(-1)), ground + below + 6];
    const [value, read] = [scores[tied[0]], tied.filter((key) => !isLost(key)).length];
    return [
      s("path", { class: "now", d: `M${first},${ground - high(value)}H${last}` }),
      s("path", {
        class: "line", d: `M${first},${y + 6}H${last}${tied.map((key) => `M${middle(key)},${y}v6`).join("")}`,
      }),
      s(
        "text",
        { class: "strong", y: y + 22, ...(first < width / 2 ? { x: first } : { x: last, "text-anchor": "end" }) },
        `tie at ${format(value, 0)}: only the first ${read > 1 ? `${read} are` : "is"} read`
      ),
    ];
  };
  return drawing(
    { name: "scores of the last token: dark bars are read", label: told.join("; "), width, height: ground + below + 32,
      most: 1.5 * width },
    s("line", { class: "axis", x1: 28, x2: width, y1: ground, y2: ground }),
    s("text", { x: 0, y: ground + below }, "key"),
    tied.length > 0 && tie(),
    scores.map((score, key) => {
      const x = middle(key);
      return [
        s("rect", {
          class: `cell ${taken.includes(key) ? "now" : isLost(key) ? "kata-kind-1" : "gone"}`, x: x - 9, width: 18,
          y: ground - Math.max(0, high(score)), height: Math.abs(high(score)),
        }),
        s("text", {
          x, y: ground - high(score) + (score < 0 ? 14 : -5), "text-anchor": "middle", class: "strong",
        }, format(score, 0)),
        s("text", { x, y: ground + below, "text-anchor": "middle" }, String(key)),
      ];
    }),
  );
}

export default {
  render({ model, el }) {
    const { queries, keys, weights } = model.get("data");
    const figure = frame(el, "The highest scores are read, and earlier keys win a tie");
    figure.beside();
    const count = figure.slider({ label: "Keys to read (k)", min: 1, max: 5, value: 4 });
    const many = figure.slider({ label: "Keys", min: 2, max: keys.length, value: keys.length });
    const heads = weights.map((value, n) => figure.slider({ label: `Weight of head ${n}`, min: -3, max: 3, value }));
    const relu = figure.toggle({ label: "relu", value: true });
    const all = figure.toggle({ label: "Products" });
    figure.lesson(() => {
      [many.value, count.value, relu.value, all.value] = [4, 2, true, true];
      heads.forEach((one, n) => (one.value = weights[n]));
    });
    figure.draw(() => {
      const products = queries.map((query) => keys.slice(0, many.value).map((key) => dot(query, key)));
      const kept = products.map((line) => line.map((value) => (relu.value ? Math.max(value, 0) : value)));
      const terms = (key) => heads.map((one, n) => `${format(one.value, 0)} · ${format(kept[n][key], 0)}`).join(" + ");
      const there = range(many.value);
      // + 0 makes 0 of −0, which would sort and look like another number.
      const scores = there.map((key) => dot(heads.map((one) => one.value), kept.map((line) => line[key])) + 0);
      const order = [...there].sort((a, b) => scores[b] - scores[a] || a - b);
      const [taken, out] = [order.slice(0, count.value), order.slice(count.value)];
      const last = taken.at(-1);
      const tied = scores[out[0]] === scores[last] ? there.filter((key) => scores[key] === scores[last]) : [];
      const losers = tied.filter((key) => out.includes(key));
      const empty = count.value - taken.length;
      return {
        key: ["keys that attention reads", `${taken.length}\u00a0of\u00a0${many.value}`],
        show: choices(scores, taken, tied, keys.length),
        more: all.value && row(
          matrix({
            name: relu.value ? "products after relu, and scores" : "products, and scores",
            values: [...kept, scores],
            rows: ["head 0", "head 1", "score"],
            columns: there.map(String),
            digits: 0,
            faint: (i, key) => i === 2 && !taken.includes(key),
          }),
          matrix({
            name: "chosen keys", values: range(count.value).map((n) => taken[n] ?? -1), digits: 0, heat: false,
          }),
        ),
        say: `The last token reads ${taken.length} of ${many.value} keys. Key ${last} scores `
          + `${`${terms(last)} = ${format(scores[last], 0)}`.replaceAll(" ", "\u00a0")}. `
          + (empty
            ? `${empty} of the ${count.value} places ${empty === 1 ? "stays" : "stay"} empty, with −1.`
            : !out.length ? "None is left out."
              : losers.length > 1
                ? `Keys ${losers.slice(0, -1).join(", ")} and ${losers.at(-1)} score the same, and are left out only `
                  + "because they come later."
                : losers.length ? `Key ${losers[0]} scores the same, and is left out only because it comes later.`
                : `The best key left out scores ${format(scores[out[0]], 0)}.`),
      };
    });
  },
};
