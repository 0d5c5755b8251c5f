// Softmax's backward pass on three numbers: what counts is the distance from the weighted average.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, format, matmul, range, softmax, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const NAMES = range(3).map(String);

const [WIDE, TALL, BAR] = [104, 120, 94]; // the room for a bar, the height of the drawing, and a weight of 1

const product = (weight, distance) => [
  `${format(weight, 2)} × ${format(distance, 2)}`, `= ${format(weight * distance, 3)}`,
];

// A bar for what arrives at each token, as wide as its weight, so that the average is where the bars level out. Dark is
// what is above it, brown what is missing to it: the weight times the distance, which is the gradient of the score.
function arrivals(values, average, weights, isWhole) {
  const [low, high] = [Math.min(0, average, ...values), Math.max(1, average, ...values)];
  const Y = (value) => 12 + ((high - value) / (high - low)) * TALL;
  const right = values.length * WIDE;
  const width = (j) => Math.max(1, weights[j] * BAR);
  const part = (j, look, from, to) => s("rect", {
    class: `cell ${look}`, x: (j + 0.5) * WIDE - width(j) / 2, width: width(j),
    y: Math.min(Y(from), Y(to)), height: Math.max(0.5, Math.abs(Y(from) - Y(to))),
  });
  return drawing(
    { name: "height: what arrives; width: weight; from the line: gradient", width: right + 62, most: 440,
      height: TALL + (isWhole ? 80 : 44),
      label: `${values.map((value) => format(value, 1)).join(", ")}; the average is ${format(average, 3)}` },
    values.map((value, j) => [
      part(j, "done", 0, value),
      part(j, value > average ? "now" : "kata-kind-1", average, value),
      [`${j}: arrives ${format(value, 1)}`, ...(isWhole ? product(weights[j], value - average) : [])].map(
        (words, n) => s(
          "text",
          { class: n === 2 ? "strong" : null, x: (j + 0.5) * WIDE, y: TALL + 36 + 18 * n, "text-anchor": "middle" },
          words
        )
      ),
    ]),
    s("line", { class: "link", x1: 0, x2: right, y1: Y(0), y2: Y(0) }),
    s("line", { class: "curve curve-1", x1: 0, x2: right, y1: Y(average), y2: Y(average) }),
    ["average", format(average, 3)].map((words, n) => s(
      "text", { x: right + 3, y: Math.max(12, Y(average) - 4) + 15 * n }, words
    )),
  );
}

export default {
  render({ model, el }) {
    const { scores, arriving } = model.get("data");
    const figure = frame(el, "All three weights get a positive gradient. Which of the scores do?");
    const sliders = (name, values, most) => values.map((value, i) => figure.slider({
      label: `${name} ${i}`,
      min: -most,
      max: most,
      step: 0.1,
      digits: 1,
      value,
    }));
    figure.below();
    const score = sliders("Score", scores, 5);
    const gradient = sliders("Gradient", arriving, 10);
    const hidden = figure.toggle({ label: "Hide token 2" });
    const shown = figure.choice({ label: "Jacobian", options: ["hidden", "whole", "only the diagonal"] });
    figure.lesson(() => {
      [...score, ...gradient].forEach((one, i) => (one.value = [...scores, ...arriving][i]));
      [hidden.value, shown.value] = [false, 1];
    });
    figure.draw(() => {
      const alone = shown.value === 2;
      const P = softmax(score.map((one, i) => (hidden.value && i === 2 ? -Infinity : one.value)));
      const dP = gradient.map((one) => one.value);
      const jacobian = P.map((p, i) => P.map((q, j) => {
        if (i === j) return p * (1 - p);
        return alone ? 0 : -p * q;
      }));
      const dS = matmul(jacobian, dP.map((value) => [value])).flat();
      const average = dot(P, dP);
      const up = range(3).filter((i) => dS[i] > 1e-9);
      const total = sum(dS);
      const fewer = up.length < 3 && dP.every((value) => value > 0);
      const where = up.length
        ? `is positive ${fewer ? "only " : ""}at ${up.join(" and ")}, where more than that arrives. The three sum to 0.`
        : "is positive nowhere: nothing above it arrives at a place with weight.";
      return {
        show: [
          arrivals(dP, average, P, !alone),
          shown.value > 0 && row(
            matrix({ name: "weights", values: P, columns: NAMES, scale: 1 }),
            matrix({ name: "gradient of the weights", values: dP, columns: NAMES, scale: 10 }),
            matrix({ name: "average", values: [average], heat: false }),
          ),
          shown.value > 0 && row(
            matrix({ name: "Jacobian", values: jacobian, rows: NAMES, columns: NAMES, scale: 0.5 }),
            matrix({ name: "gradient of the scores", values: dS, columns: NAMES, scale: 5 }),
          ),
        ],
        key: ["positive at", up.length ? `score ${up.join(", ")}` : "none"],
        say: alone
          ? `The diagonal by itself says ${dS.map((value) => format(value, 3)).join(", ")}. The sum is `
            + `${format(total, 3)} `
            + "and not 0, so it cannot be the gradient of a softmax."
          : `${fewer ? "All that arrives is positive. Its" : "The"} weighted average is ${format(average, 3)}. `
            + `The gradient of the scores ${where}`,
      };
    });
  },
};
