// A sentence of two tokens in a longer row: what its padding does to the weights and to the result.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, format, range, softmax, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const HELD = ["zeros", "ones", "NaN"];
const NUMBERS = [0, 1, NaN];

const [WIDE, HIGH] = [440, 26]; // of a bar that stands for a weight of 1

// How the weight of 1 is shared, alone and in the row: full is a token's part, dashed is what the padding takes.
function shares(rows) {
  const told = rows.map(({ name, weights }) => `${name}: ${weights.map((weight) => format(weight, 2)).join(", ")}`);
  return drawing(
    { name: "who gets how much of the weight", label: told.join("; "), width: WIDE, height: rows.length * 50 },
    rows.map(({ name, weights, names }, n) => {
      const y = n * 50 + 18;
      let x = 0;
      return [
        s("text", { x: 0, y: y - 5 }, name),
        weights.map((weight, i) => {
          const wide = Number.isFinite(weight) ? weight * WIDE : 0;
          x += wide;
          const look = names[i] === "padding" ? "gone" : "done";
          return wide > 0 && [
            s("rect", { class: `cell ${look}`, x: x - wide, y, width: wide, height: HIGH }),
            wide > 52 && s("text", { class: "number", x: x - wide / 2, y: y + 17, "text-anchor": "middle" }, names[i]),
          ];
        }),
      ];
    }),
  );
}

export default {
  render({ model, el }) {
    const { keys, values } = model.get("data");
    const real = keys.length;
    const figure = frame(el, "The same two tokens, alone and in a row with padding. Zeros are not nothing.");
    const places = figure.slider({ label: "Places in the row", min: real, max: 8, value: 3 });
    const held = figure.choice({ label: "The padding holds", options: HELD });
    const side = figure.choice({ label: "The padding is on the", options: ["right", "left"] });
    const hide = figure.toggle({ label: "Hide padding before the softmax" });
    const replace = figure.toggle({ label: "Set padding to 0 first" });
    figure.draw(() => {
      const T = places.value;
      const first = side.value === 1 ? T - real : 0;
      const isReal = (j) => j >= first && j < first + real;
      const number = replace.value ? 0 : NUMBERS[held.value];
      const laid = (numbers) => range(T).map((j) => (isReal(j) ? numbers[j - first] : number));
      const [k, v] = [laid(keys), laid(values)];
      const scores = k.map((key, j) => (hide.value && !isReal(j) ? -Infinity : key)); // the query is 1
      const weights = softmax(scores);
      const result = dot(weights, v);
      const alone = softmax(keys);
      const truth = dot(alone, values);
      const taken = sum(weights.filter((_, j) => !isReal(j)));
      const names = range(T).map((j) => (isReal(j) ? `token ${j - first}` : "padding"));
      return {
        show: [
          shares([
            { name: "alone", weights: alone, names: range(real).map((j) => `token ${j}`) },
            { name: "in the row", weights, names },
          ]),
          row(
            matrix({ name: "weights, alone", values: alone, columns: keys.map((_, j) => `token ${j}`) }),
            matrix({ name: "result, alone", values: [truth], heat: false }),
          ),
          matrix({
            name: "the row",
            values: [k, scores, weights, v],
            rows: ["key", "score", "weight", "value"],
            columns: names,
            heat: false,
            faint: (i, j) => !isReal(j),
            marked: (i, j) => i === 2 && !isReal(j) && weights[j] !== 0,
          }),
          matrix({ name: "result", values: [result], heat: false }),
        ],
        key: ["result", format(result)],
        say: said(result, truth, taken, hide.value),
      };
    });
  },
};

function said(result, truth, taken, hidden) {
  if (Number.isNaN(result)) return hidden
    ? "The result is NaN: the padding has the weight 0, but 0 · NaN is NaN."
    : "The result is NaN: one NaN among the scores, and every weight is NaN.";
  if (Math.abs(result - truth) < 5e-5) return `The result is ${format(truth)}, as if the sentence were alone.`;
  return `The padding takes ${format(100 * taken, 0)} % of the weight: the result is ${format(result)} `
    + `instead of ${format(truth)}.`;
}
