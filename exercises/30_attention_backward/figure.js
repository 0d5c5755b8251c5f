// Softmax's backward pass on three numbers: what counts is the distance from the weighted average.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, format, matmul, range, softmax, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const NAMES = range(3).map(String);

const [WIDE, TALL, BAR, LOW] = [96, 120, 84, 156]; // the room for a bar, the height of all, a weight of 1, the words

const word = (x, y, text, look = null, anchor = "middle") =>
  s("text", { class: look, x, y, "text-anchor": anchor }, text);
const bar = (j, wide, look, one, other) => s("rect", {
  class: `cell ${look}`, x: (j + 0.5) * WIDE - wide / 2, width: wide, y: Math.min(one, other),
  height: Math.max(0.5, Math.abs(one - other)),
});

// A bar for what arrives at each weight, as wide as the weight. Dark is what is above the
// average, orange what is missing to it: as areas they are the gradients, which are written beside them.
// The diagonal by itself leaves, from 0, the share of each bar that is not its own weight.
function arrivals(name, values, average, weights, gradients, isDiagonal) {
  const [low, high] = [Math.min(0, ...values), Math.max(6, ...values)];
  const Y = (value) => 14 + ((high - value) / (high - low)) * TALL;
  const right = values.length * WIDE + 24;
  const width = (j) => Math.max(1, weights[j] * BAR);
  const from = isDiagonal ? 0 : average;
  const to = values.map((value, j) => (isDiagonal ? (1 - weights[j]) * value : value));
  const beside = (j) => {
    const middle = (Y(from) + Y(to[j])) / 2 + 4;
    const y = to[j] > from ? Math.min(middle, Y(from) - 5) : Math.max(middle, Y(from) + 15);
    return word((j + 0.5) * WIDE + width(j) / 2 + 5, y, format(gradients[j], 3), "strong", "start");
  };
  return drawing(
    { name, width: right + 66, height: LOW + 40, most: 480,
      label: `${values.map((value) => format(value, 1)).join(", ")}; the average is ${format(average, 3)}` },
    values.map((value, j) => [
      bar(j, width(j), "done", Y(0), Y(value)),
      bar(j, width(j), to[j] > from ? "now" : "kata-kind-1", Y(from), Y(to[j])),
      word((j + 0.5) * WIDE, LOW, `weight ${j}: ${format(weights[j], 2)}`),
      word((j + 0.5) * WIDE, LOW + 16, `arrives ${format(value, 1)}`),
      word((j + 0.5) * WIDE, LOW + 32, isDiagonal
        ? `${format(weights[j], 2)}·${format(1 - weights[j], 2)}·${format(value, 1)}`
        : `${format(weights[j], 2)} × ${format(value - average, 2)}`),
    ]),
    s("line", { class: "link", x1: 0, x2: right, y1: Y(0), y2: Y(0) }),
    range(values.length).map(beside),
    isDiagonal ? null : [
      s("line", { class: "line", "stroke-dasharray": "7 4", x1: 0, x2: right, y1: Y(average), y2: Y(average) }),
      ["weighted", "average", format(average, 3)].map(
        (text, n) => word(right + 4, Math.max(12, Y(average) - 11) + 15 * n, text, null, "start")),
    ],
  );
}

export default {
  render({ model, el }) {
    const { scores, arriving } = model.get("data");
    const figure = frame(el, "Only what is above the average gives its score a positive gradient");
    figure.beside();
    const gradient = arriving.map((value, i) => figure.slider({
      label: `Gradient ${i}`, min: -10, max: 10, step: 0.1, digits: 1, value,
    }));
    const more = figure.slider({ label: "Add to all", min: -5, max: 5, step: 0.1, digits: 1, value: 0 });
    figure.lesson(() => {
      gradient.forEach((one, i) => (one.value = arriving[i]));
      [more.value, score.value, hidden.value, shown.value] = [0, scores[0], false, 1];
    });
    figure.fold("Scores, Jacobian");
    const score = figure.slider({ label: "Score 0", min: -5, max: 5, step: 0.1, digits: 1, value: scores[0] });
    const hidden = figure.toggle({ label: "Hide token 2" });
    const shown = figure.choice({ label: "Jacobian", options: ["hidden", "whole", "only the diagonal"] });
    figure.draw(() => {
      const alone = shown.value === 2;
      const P = softmax([score.value, scores[1], hidden.value ? -Infinity : scores[2]]);
      const dP = gradient.map((one) => one.value + more.value);
      const jacobian = P.map((p, i) => P.map((q, j) => {
        if (i === j) return p * (1 - p);
        return alone ? 0 : -p * q;
      }));
      const dS = matmul(jacobian, dP.map((value) => [value])).flat();
      const average = dot(P, dP);
      const up = range(3).filter((i) => dS[i] > 1e-9);
      const total = format(sum(dS), 3);
      const isHidden = range(3).some((i) => !P[i] && dP[i] > average);
      return {
        show: alone
          ? arrivals("width: weight, height: what arrives, area: gradient by the diagonal", dP, average, P, dS, true)
          : arrivals("width: weight, height: what arrives, area from the average: gradient", dP, average, P, dS),
        more: shown.value > 0 && row(
          matrix({ name: "weights", values: P, columns: NAMES, scale: 1 }),
          matrix({ name: "average", values: [average], heat: false }),
          matrix({ name: "Jacobian", values: jacobian, rows: NAMES, columns: NAMES, scale: 0.5 }),
          matrix({ name: "gradient of the scores", values: dS, columns: NAMES, scale: 5 }),
        ),
        title: alone && "The diagonal of the Jacobian is not enough: its gradients need not sum to 0",
        key: alone ? ["sum, not 0", total] : ["positive at", up.length ? `score ${up.join(", ")}` : "none"],
        say: alone
          ? `The diagonal by itself gives a sum of ${total} and not 0, so it cannot be the gradient of a softmax.`
          : up.length
            ? `The weighted average is ${format(average, 3)}. The gradient of the scores is positive only for score `
              + `${up.join(" and ")}, where more than the average arrives${isHidden ? " at a weight that is not 0" : ""}. `
              + "The three sum to 0."
            : "The same arrives wherever there is a weight, so no score gets a gradient.",
      };
    });
  },
};
