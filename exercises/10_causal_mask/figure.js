// The score that is written over the future, from 0 down to −inf: how much of it leaks through the softmax.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { causal, format, softmax, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const LEAST = -20; // the slider's end means −inf
const [WIDE, ALL, HEAD, HIGH] = [60, 90, 22, 25.2]; // of a bar, and with its number; above all bars, of a row

// The weight of each token, as wide as 1: what falls on its past, and what leaks.
const shares = (tokens, leaks) => drawing(
  { name: "leak, %", label: tokens.map((token, i) => `${token}: ${format(leaks[i] * 100, 1)}`).join(", "),
    width: ALL, height: HEAD + tokens.length * HIGH },
  s("text", { x: 0, y: HEAD - 7 }, "past"),
  s("text", { x: ALL, y: HEAD - 7, "text-anchor": "end" }, "future"),
  tokens.map((token, i) => {
    const [y, edge] = [HEAD + i * HIGH + 2, WIDE * (1 - leaks[i])];
    const part = (kind, x, width) => s("rect", { class: `cell kata-kind-${kind}`, x, y, width, height: HIGH - 5 });
    return [
      part(0, 0, edge), leaks[i] > 0 && part(1, edge, WIDE - edge),
      s("text", { x: 4, y: y + 15 }, token),
      s("text", { class: "number", x: ALL, y: y + 15, "text-anchor": "end" }, format(leaks[i] * 100, leaks[i] ? 1 : 0)),
    ];
  }),
);

export default {
  render({ model, el }) {
    const { scores, tokens, d_k } = model.get("data");
    const figure = frame(el, "On paper, any fill but −∞ lets some weight reach the future");
    figure.below();
    const fill = figure.slider({
      label: "Fill",
      min: LEAST,
      max: 0,
      step: 0.1,
      digits: 1,
      value: -2,
      name: (x) => (x === LEAST ? format(-Infinity) : null),
    });
    const last = figure.slider({
      label: `Add to each score with “${tokens.at(-1)}”`,
      min: -5,
      max: 5,
      step: 0.1,
      digits: 1,
      value: 0,
    });
    figure.lesson(() => ([fill.value, last.value] = [LEAST, 0]));
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
        show: row(
          matrix({
            name: "masked scores",
            values: masked,
            rows: tokens,
            columns: tokens,
            digits: 1,
            kind: (i, j) => (later(i, j) ? 1 : null),
          }),
          matrix({
            name: "weights",
            values: weights,
            rows: tokens,
            columns: tokens,
            hidden: later,
            faint: (i, j) => later(i, j) && weights[i][j] === 0,
            kind: (i, j) => (later(i, j) ? 1 : undefined),
            marked: (i, j) => later(i, j) && most > 0 && i === from,
          }),
          shares(tokens, leaks),
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
