// Two tokens, two small heads and four keys: which keys each token chooses, and what relu makes of it.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, format, range } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [WIDE, TALL] = [96, 90]; // of a bar: the room for it, and its height for the largest score

// The scores of one token as bars: full where the key is taken, dashed where it is left out, none for the future.
function choices(token, scores, taken, seen) {
  const full = Math.max(1, ...scores.map(Math.abs));
  const least = Math.min(...taken.map((key) => scores[key]));
  const high = (value) => (value * TALL) / full;
  const ground = TALL + 24;
  const deep = high(Math.max(0, ...seen.map((key) => -scores[key])));
  const below = deep ? deep + 36 : 18; // where the names of keys are, under the numbers of negative scores
  const told = seen.map((key) => `key ${key}, ${scores[key]}, ${taken.includes(key) ? "taken" : "left out"}`);
  return drawing(
    { name: `what token ${token} takes`, label: told.join("; "), width: scores.length * WIDE,
      height: ground + below + 6 },
    s("line", { class: "axis", x1: 0, x2: scores.length * WIDE, y1: ground, y2: ground }),
    taken.length > 0 && s("line", {
      class: "now", x1: 0, x2: scores.length * WIDE, y1: ground - high(least), y2: ground - high(least),
    }),
    scores.map((score, key) => {
      const x = (key + 0.5) * WIDE;
      const isSeen = seen.includes(key);
      return [
        isSeen && s("rect", {
          class: `cell ${taken.includes(key) ? "now" : "gone"}`, x: x - 28, width: 56,
          y: ground - Math.max(0, high(score)), height: Math.abs(high(score)),
        }),
        isSeen && s("text", {
          x, y: ground - high(score) + (score < 0 ? 15 : -5), "text-anchor": "middle", class: "strong",
        }, format(score, 0)),
        s("text", { x, y: ground + below, "text-anchor": "middle" }, isSeen ? `key ${key}` : "future"),
      ];
    }),
  );
}

export default {
  render({ model, el }) {
    const { queries, keys, weights, first, k } = model.get("data");
    const T = keys.length;
    const figure = frame(el, "An indexer scores every key with two small heads, and each token takes the best k.");
    const count = figure.slider({ label: "k", min: 1, max: 5, value: k });
    const one = figure.slider({ label: "Weight of head 0, last token", min: -3, max: 3, value: weights[1][0] });
    const two = figure.slider({ label: "Weight of head 1, last token", min: -3, max: 3, value: weights[1][1] });
    const relu = figure.toggle({ label: "relu", value: true });
    const cell = figure.state([1, 1]);
    figure.draw(() => {
      const products = queries.map((query) => keys.map((key) => dot(query, key)));
      const kept = products.map((line) => line.map((value) => (relu.value ? Math.max(value, 0) : value)));
      const ofHeads = [weights[0], [one.value, two.value]];
      // + 0 makes 0 of −0, which would sort and look like another number.
      const scores = ofHeads.map((weight) => range(T).map((j) => weight[0] * kept[0][j] + weight[1] * kept[1][j] + 0));
      const tokens = range(2, first);
      const seen = tokens.map((token) => range(Math.min(token + 1, T)));
      const chosen = seen.map((there, r) => {
        const order = [...there].sort((a, b) => scores[r][b] - scores[r][a] || a - b).slice(0, count.value);
        return range(count.value).map((place) => order[place] ?? -1);
      });
      const last = chosen[1].filter((key) => key >= 0);
      const least = scores[1][last[last.length - 1]];
      const out = seen[1].filter((key) => !last.includes(key));
      const tied = out.filter((key) => scores[1][key] === least);
      const empty = count.value - last.length;
      const names = tokens.map((token) => `token ${token}`);
      const [r, j] = cell.value;
      const name = relu.value ? "products after relu" : "products";
      const terms = ofHeads[r].map((weight, head) => `${format(weight, 0)} · ${format(kept[head][j], 0)}`).join(" + ");
      return {
        threads: [0, 1].map((head) => [[name, head, j], ["scores", r, j]]),
        key: [`token ${tokens[r]}, key ${j}`, format(scores[r][j], 0)],
        show: [
          matrix({
            name,
            values: kept,
            rows: ["head 0", "head 1"],
            columns: range(T).map((key) => `key ${key}`),
            digits: 0,
          }),
          row(
            matrix({
              name: "scores",
              values: scores,
              rows: names,
              columns: range(T).map((key) => `key ${key}`),
              digits: 0,
              picked: cell.value,
              pick: (...at) => (cell.value = at),
              marked: (r, key) => chosen[r].includes(key),
              faint: (r, key) => key > tokens[r],
            }),
            matrix({ name: "chosen keys", values: chosen, rows: names, digits: 0, heat: false }),
          ),
          choices(tokens[r], scores[r], chosen[r].filter((key) => key >= 0), seen[r]),
        ],
        say: `Token ${tokens[r]} scores key ${j} with ${terms} = ${format(scores[r][j], 0)}. `
          + `Token ${tokens[1]} sees ${seen[1].length} of ${T} keys and takes ${last.length}. `
          + (empty
            ? `${empty} of its ${count.value} places ${empty === 1 ? "stays" : "stay"} empty, with −1.`
            : tied.length
              ? `Key ${tied[0]} scores ${format(least, 0)} like key ${last[last.length - 1]}, `
                + "and is left out only because it comes later."
              : out.length
                ? `The best key left out scores ${format(Math.max(...out.map((key) => scores[1][key])), 0)}.`
                : "None is left out."),
      };
    });
  },
};
