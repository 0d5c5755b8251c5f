// The score that is written over the future, from 0 down to −inf: how much of it leaks through the softmax.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { causal, format, softmax, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const LEAST = -20; // the slider's end means −inf
const [LEFT, WIDE, ALL] = [52, 294, 400]; // where strips begin, how wide a weight of 1 is, and the drawing
const [CELLS, STRIPS, HIGH] = [18, 86, 26]; // where the scores and the strips begin, and from one strip to the next

// The scores of the first token, and below them the weights of each token as a strip that is as wide as 1.
function strips({ tokens, scores, weights, leaks, d_k }) {
  const cell = (i, j, x, y, width, text) => [
    s("rect", { class: `cell kata-kind-${j > i ? 1 : 0}`, x, y, width, height: HIGH - 4 }),
    width > 27 && s("text", { class: "number", x: x + width / 2, y: y + 15, "text-anchor": "middle" }, text),
  ];
  const edges = weights.map((one) => one.map((_, j) => LEFT + WIDE * sum(one.slice(0, j))));
  const each = WIDE / tokens.length;
  return drawing(
    { name: `the scores of “${tokens[0]}”, and the weights of each token`, width: ALL, height: STRIPS + tokens.length * HIGH,
      label: tokens.map((token, i) => `${token}: ${format(leaks[i] * 100, 1)} % leak`).join(", "), most: 500 },
    s("text", { x: ALL, y: STRIPS - 7, "text-anchor": "end" }, "leaks"),
    [`÷ √${d_k},`, "softmax"].map((text, i) => s("text", { x: 0, y: CELLS + 40 + 15 * i }, text)),
    tokens.map((token, j) => [
      s("text", { x: LEFT + (j + 0.5) * each, y: 12, "text-anchor": "middle" }, token),
      s("path", { class: "link", d: `M${LEFT + j * each},${CELLS + HIGH - 4}L${edges[0][j]},${STRIPS}` }),
      cell(0, j, LEFT + j * each, CELLS, each, format(scores[j], 2)),
    ]),
    tokens.map((token, i) => {
      const y = STRIPS + i * HIGH;
      return [
        s("text", { x: LEFT - 5, y: y + 15, "text-anchor": "end" }, token),
        weights[i].map((weight, j) => weight > 0 && cell(i, j, edges[i][j], y, WIDE * weight, format(weight, 2))),
        s("text", { class: "strong", x: ALL, y: y + 15, "text-anchor": "end" },
          `${format(leaks[i] * 100, leaks[i] ? 1 : 0)} %`),
      ];
    }),
  );
}

export default {
  render({ model, el }) {
    const { scores, tokens, d_k } = model.get("data");
    const figure = frame(el, "On paper, any fill but −∞ lets some weight reach the future");
    figure.beside();
    const fill = figure.slider({
      label: "Fill",
      min: LEAST,
      max: 0,
      step: 0.1,
      digits: 1,
      value: -2,
      name: (x) => (x === LEAST ? format(-Infinity) : null),
    });
    figure.lesson(() => ([fill.value, last.value, numbers.value] = [LEAST, 0, true]));
    const numbers = figure.toggle({ label: "Numbers" });
    figure.fold("Change a score");
    const last = figure.slider({
      label: `Add to each score with “${tokens.at(-1)}”`,
      min: -5,
      max: 5,
      step: 0.1,
      digits: 1,
      value: 0,
    });
    figure.draw(() => {
      const filled = fill.value === LEAST ? -Infinity : fill.value;
      const changed = scores.map((one) => one.map((score, j) => score + (j === one.length - 1 ? last.value : 0)));
      const masked = causal(changed, filled);
      const weights = masked.map((one) => softmax(one.map((score) => score / Math.sqrt(d_k))));
      const first = causal(scores, filled).map((one) => softmax(one.map((score) => score / Math.sqrt(d_k))));
      const leaks = weights.map((one, i) => sum(one.slice(i + 1)));
      const moved = weights.map((one, i) => one.some((value, j) => Math.abs(value - first[i][j]) > 1e-9));
      const later = (i, j) => j > i;
      const most = Math.max(...leaks);
      const from = leaks.indexOf(most);
      const percent = most && most < 0.0005 ? "Less than 0.1" : format(most * 100, most ? 1 : 0);
      const movers = tokens.filter((_, i) => moved[i]);
      return {
        show: strips({ tokens, scores: masked[0], weights, leaks, d_k }),
        more: numbers.value && row(
          matrix({
            name: "masked scores", values: masked, rows: tokens, columns: tokens, digits: 1,
            kind: (i, j) => (later(i, j) ? 1 : null),
          }),
          matrix({
            name: "weights", values: weights, rows: tokens, columns: tokens, hidden: later,
            faint: (i, j) => later(i, j) && weights[i][j] === 0, kind: (i, j) => (later(i, j) ? 1 : undefined),
          }),
        ),
        key: most > 0
          ? [`${tokens.length - 1 - from} × ${format(weights[from].at(-1))}`, `${percent.replace("Less than", "<")} %`]
          : ["leak to the future", "0 %"],
        say:
          (sum(leaks) > 0
            ? `${percent} % of the weight of “${tokens[from]}” leaks to later tokens (orange).`
            : "No weight falls on a later token.") +
          (last.value
            ? ` The changed scores move the weights of ${movers.length ? movers.join(", ") : "no token"}.`
            : ""),
      };
    });
  },
};
