// The last token, two small heads and many keys: which keys it reads, and what relu makes of the scores.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, format, range, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [WIDE, TALL, TOP] = [27, 80, 46]; // of a bar: the room for it, its height for the largest score, what is above

// The scores as bars, each of what its two heads add: in full colour where the key is read, pale where it is left out.
// terms: of each head, what it adds to each key's score; legend: the same in words; tied: the keys that share the
// lowest score of those read; most: how many keys there may be.
function choices({ terms, legend, scores, taken, tied, most }) {
  const up = scores.map((_, key) => sum(terms.map((line) => Math.max(0, line[key]))));
  const down = scores.map((_, key) => sum(terms.map((line) => Math.max(0, -line[key]))));
  const high = (value) => (value * TALL) / Math.max(1, ...up, ...down);
  const ground = TALL + TOP;
  const names = ground + high(Math.max(...down)) + (Math.min(...scores) < 0 ? 28 : 16); // where the names of keys are
  const isLost = (key) => tied.includes(key) && !taken.includes(key);
  const state = (key) => (taken.includes(key) ? "read" : isLost(key) ? "loses the tie" : "left out");
  const told = scores.map((score, key) => `key ${key}, ${score}, ${state(key)}`);
  const width = 28 + most * WIDE;
  const middle = (key) => 28 + (key + 0.5) * WIDE;
  const word = (x, y, text, look, anchor = "middle") => s("text", { x, y, "text-anchor": anchor, class: look }, text);
  const part = (x, y, height, kind, strip, wide = 18) => s("rect", {
    class: `cell kata-kind-${kind} ${strip ? "strip" : ""}`, x: x - wide / 2, y, width: wide, height,
  });
  const least = scores[taken.at(-1)];
  const level = ground - high(least);
  const tie = () => {
    const [first, last, y] = [middle(tied[0]), middle(tied.at(-1)), names + 6];
    const read = tied.filter((key) => !isLost(key)).length;
    const text = `tie at ${format(least, 0)}: only the first ${read > 1 ? `${read} are` : "is"} read`;
    return [
      s("path", {
        class: "line", d: `M${first},${y + 6}H${last}${tied.map((key) => `M${middle(key)},${y}v6`).join("")}`,
      }),
      first < width / 2 ? word(first, y + 22, text, "strong", "start") : word(last, y + 22, text, "strong", "end"),
    ];
  };
  return drawing(
    {
      name: `scores of the last token${down.some(Boolean) ? " (black lines)" : ""}: strong colours are read`,
      label: told.join("; "), width, height: names + 32, most: 1.5 * width,
    },
    legend.map((text, n) => [
      part(6 + 180 * n, 3, 12, 2 * n, true, 12), word(18 + 180 * n, 13, text, null, "start"),
    ]),
    s("line", { class: "axis", x1: 28, x2: width, y1: ground, y2: ground }),
    s("path", { class: "now", d: `M28,${level}H${width}` }),
    [`${taken.length}${["st", "nd", "rd"][taken.length - 1] ?? "th"}`, "best"].map(
      (text, n) => word(0, level - 15 + 12 * n, text, null, "start")
    ),
    word(0, names, "key", null, "start"),
    tied.length > 0 && tie(),
    scores.map((score, key) => {
      const x = middle(key);
      const isTaken = taken.includes(key);
      const [above, below] = [1, -1].map((side) => terms.map((line) => high(Math.max(0, side * line[key]))));
      return [
        terms.map((line, n) => [
          above[n] > 0 && part(x, ground - sum(above.slice(0, n + 1)), above[n], 2 * n, isTaken),
          below[n] > 0 && part(x, ground + sum(below.slice(0, n)), below[n], 2 * n, isTaken),
        ]),
        down[key] > 0 && s("path", { class: "truth", d: `M${x - 12},${ground - high(score)}h24` }),
        word(x, ground - high(score) + (score < 0 ? 13 : -5), format(score, 0), "strong"),
        word(x, names, String(key), isTaken ? "strong" : null),
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
    const heads = weights.map((value, n) => figure.slider({ label: `Weight of head ${n}`, min: -3, max: 3, value }));
    const relu = figure.toggle({ label: "relu", value: true });
    figure.lesson(() => {
      [many.value, count.value, relu.value, all.value] = [4, 2, true, true];
      heads.forEach((one, n) => (one.value = weights[n]));
    });
    figure.fold("Fewer keys, products");
    const many = figure.slider({ label: "Keys", min: 2, max: keys.length, value: keys.length });
    const all = figure.toggle({ label: "Products" });
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
        show: choices({
          terms: kept.map((line, n) => line.map((value) => heads[n].value * value)),
          legend: heads.map(
            (one, n) => `head ${n}: ${format(one.value, 0)} · ${relu.value ? "relu(q · k)" : "q · k"}`
          ),
          scores, taken, tied, most: keys.length,
        }),
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
