// One head in two handwritings: scores with keys as rows or with queries as rows, scaled or not, masked or not.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { causal, format, kept, matmul, softmax, sum, transpose } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row, turning } from "../../grader/integrations/figures/tables.js";

const [STEP, HIGH] = [40, 90]; // between two tokens, and between both sides

// One row of the weights as lines: from the token that the row belongs to, to those among which it shares its 1.
function shares(weights, i, rows, columns) {
  const X = (n) => (n + 0.5) * STEP;
  const told = weights[i].map((weight, j) => `${columns[j]} ${format(weight, 2)}`).join(", ");
  const size = { width: rows.length * STEP, height: HIGH + 50 };
  return drawing(
    { name: "among whom the picked row shares its 1", label: `${rows[i]}: ${told}`, ...size },
    weights[i].map((weight, j) => s("line", {
      class: "pull", x1: X(j), y1: 27, x2: X(i), y2: HIGH + 23, "stroke-width": (10 * weight).toFixed(2),
    })),
    columns.map((name, j) => s("text", {
      x: X(j), y: 18, "text-anchor": "middle", class: weights[i][j] > 0 ? "strong" : null,
    }, name)),
    rows.map((name, n) => s(
      "text",
      { x: X(n), y: HIGH + 40, "text-anchor": "middle", class: n === i ? "strong" : null },
      name,
    )),
  );
}

export default {
  render({ model, el }) {
    const { queries, keys } = model.get("data");
    const T = queries.length;
    const figure = frame(el, "The same head, written by two hands: read what the code says, not what you expect.");
    const cell = figure.state([4, 1]);
    const order = figure.choice({
      label: "Scores",
      options: ["keys @ queriesᵀ", "queries @ keysᵀ"],
      moved: () => (cell.value = [...cell.value].reverse()), // the same key and query
    });
    const scaled = figure.toggle({ label: "Divide by √head_size" });
    const masked = figure.toggle({ label: "Mask", value: true });
    const keep = kept();
    figure.draw(() => {
      const [a, b, side] = order.value ? [queries, keys, "query"] : [keys, queries, "key"];
      const scale = scaled.value ? 1 / Math.sqrt(keys[0].length) : 1;
      const raw = matmul(a, transpose(b)).map((one) => one.map((score) => score * scale));
      const scores = masked.value ? causal(raw) : raw;
      const weights = scores.map(softmax);
      const rows = queries.map((_, i) => `${side[0]}${i}`);
      const columns = keys.map((_, j) => `${order.value ? "k" : "q"}${j}`);
      const hidden = (i, j) => masked.value && j > i;
      const [i, j] = cell.value;
      const [key, query] = order.value ? [j, i] : [i, j];
      // The other hand has this score in row j and column i.
      const others = softmax(transpose(raw)[j].map((score, n) => (masked.value && n > j ? -Infinity : score)));
      const weight = (value, isHidden) => (isHidden ? "hidden by the mask" : `the weight ${format(value, 3)}`);
      const facts = { rows, columns, picked: cell.value, pick: (...at) => (cell.value = at) };
      const sharp = sum(weights.map((one) => Math.max(...one))) / T;
      return {
        key: ["largest weight of a row, on average", sharp.toFixed(2)],
        show: [
          row(
            keep("turning", [order.value, scale, key, query], () => turning({
              name: "the scores turn on their diagonal",
              values: order.value ? transpose(raw) : raw,
              turned: order.value === 1,
              digits: 1,
              side: 30,
              marked: (a, b) => a === key && b === query,
            })),
            matrix({ ...facts, name: "scores", values: scores, digits: 2, faint: hidden }),
          ),
          row(
            matrix({ ...facts, name: "weights", values: weights, digits: 3, hidden, scale: 1 }),
            shares(weights, i, rows, columns),
          ),
        ],
        threads: [[["scores", i, j], ["weights", i, j]]],
        say: `Row i belongs to ${side} i${order.value ? "" : ", as the second document has it"}. Key ${key} and query `
          + `${query} score ${format(raw[i][j], 2)} either way: here ${weight(weights[i][j], hidden(i, j))}, `
          + `with the other order ${weight(others[i], hidden(j, i))}.`,
      };
    });
  },
};
