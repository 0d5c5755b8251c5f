// A sentence of two tokens in a longer row: what its padding does to the weights and to the result.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, format, range, softmax, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [WIDE, HIGH, LINE] = [342, 56, 90]; // of a bar that stands for a weight of 1, and from one bar to the next

const short = (value) => (Number.isNaN(value) ? "NaN" : String(Number(value.toFixed(2))));
const percent = (share) => (Number.isNaN(share) ? "NaN" : `${format(100 * share, 0)}\u00a0%`);

// How the weight of 1 is shared, alone and in the row: full is a token's part, dashed is what the padding takes.
function shares(rows) {
  const told = rows.map(({ name, weights }) => `${name}: ${weights.map(percent).join(", ")}`);
  return drawing(
    { name: "who gets how much of the weight: e^score / sum", label: told.join("; "), width: WIDE,
      height: 2 * LINE - 8, most: 520 },
    rows.map(({ name, scores, weights, names, values, result }, n) => {
      const y = n * LINE + 20;
      const powers = scores.map(Math.exp);
      const parts = powers.map((power) => `${short(power)}/${short(sum(powers))} = `);
      let x = 0;
      return [
        s("text", { x: 0, y: y - 6 }, name),
        s("text", { class: "strong", x: WIDE - 2, y: y - 6, "text-anchor": "end" }, `result ${short(result)}`),
        weights.some(Number.isNaN) && [
          s("rect", { class: "cell gone", x: 1, y, width: WIDE - 2, height: HIGH }),
          s("text", { class: "number", x: WIDE / 2, y: y + 32, "text-anchor": "middle" }, "every weight is NaN"),
        ],
        weights.map((weight, i) => {
          const wide = weight * WIDE;
          x += wide;
          const look = names[i] === "padding" ? "cell gone" : "cell done";
          return wide > 0 && [
            s("rect", { class: look, x: x - wide + 1, y, width: wide - 2, height: HIGH }),
            [names[i], `${wide > 66 ? parts[i] : ""}${percent(weight)}`, `value ${short(values[i])}`].map(
              (word, line) => wide > [48, 30, 48][line] && s(
                "text", { class: "number", x: x - wide / 2, y: y + 17 + line * 15, "text-anchor": "middle" }, word
              )
            ),
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
    const figure = frame(el, "Padding takes weight unless it is hidden before the softmax");
    figure.beside();
    const places = figure.slider({ label: "Places in the row", min: real, max: 8, value: 3 });
    const hide = figure.toggle({ label: "Hide padding before the softmax" });
    const all = figure.toggle({ label: "Numbers" });
    figure.lesson(() => {
      [places.value, hide.value, held.value, side.value, replace.value, all.value] = [3, false, 0, 0, false, true];
    });
    figure.fold("Other padding");
    const held = figure.choice({ label: "Padding holds", options: ["zeros", "ones", "NaN"] });
    const side = figure.choice({ label: "It is on the", options: ["right", "left"] });
    const replace = figure.toggle({ label: "Set padding to 0 first" });
    figure.draw(() => {
      const T = places.value;
      const first = side.value === 1 ? T - real : 0;
      const isReal = (j) => j >= first && j < first + real;
      const number = replace.value ? 0 : [0, 1, NaN][held.value];
      const laid = (numbers) => range(T).map((j) => (isReal(j) ? numbers[j - first] : number));
      const [k, v] = [laid(keys), laid(values)];
      const scores = k.map((key, j) => (hide.value && !isReal(j) ? -Infinity : key)); // the query is 1
      const [weights, alone] = [softmax(scores), softmax(keys)];
      const [result, truth] = [dot(weights, v), dot(alone, values)];
      const taken = sum(weights.filter((_, j) => !isReal(j)));
      const own = keys.map((_, j) => `token ${j}`);
      const names = range(T).map((j) => (isReal(j) ? own[j - first] : "padding"));
      const numbers = (name, values, labels) => matrix({ name, values, heat: false, ...labels });
      return {
        show: shares([
          { name: "alone", scores: keys, weights: alone, names: own, values, result: truth },
          {
            name: `in the row${hide.value && taken === 0 ? ", padding 0\u00a0%" : ""}`,
            scores, weights, names, values: v, result,
          },
        ]),
        more: all.value && row(
          numbers("weights, alone", alone, { columns: own }),
          numbers("result, alone", [truth]),
          numbers("the row", [k, scores, weights, v], { rows: ["key", "score", "weight", "value"], columns: names }),
          numbers("result", [result]),
        ),
        key: ["the padding takes", percent(taken)],
        say: said(result, truth, taken, hide.value, number),
      };
    });
  },
};

function said(result, truth, taken, hidden, score) {
  if (Number.isNaN(result)) return hidden
    ? "The result is NaN: the padding has the weight 0, but 0 · NaN is NaN."
    : "The result is NaN: one NaN among the scores, and every weight is NaN.";
  if (Math.abs(result - truth) < 5e-5) return `The result is ${short(truth)}, as if the sentence were alone.`;
  return `The padding scores ${score}, and e${"⁰¹"[score]} = ${short(Math.exp(score))}, so it takes ${percent(taken)} of the `
    + `weight: the result is ${short(result)}, not ${short(truth)}.`;
}
