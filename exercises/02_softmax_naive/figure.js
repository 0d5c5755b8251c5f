// Six scores to move: what the naive softmax and the stable one make of them, in float32 as torch computes.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, softmax, sum } from "../../grader/integrations/figures/maths.js";
import { bars, drawing, row } from "../../grader/integrations/figures/tables.js";

const single = Math.fround;
const NOISE = 1e-6; // what float32 may leave of a difference between two weights that are equal

// The exponentials, their sum and the weights, each rounded to a float32.
function naive(scores) {
  const exps = scores.map((score) => single(Math.exp(score)));
  const total = exps.reduce((a, b) => single(a + b), 0);
  return { exps, total, weights: exps.map((value) => single(value / total)) };
}

// Why the naive weights are others than the stable ones; "" where the same numbers are shown.
function fault(scores, { exps, total, weights }, stable) {
  const power = `e to the ${format(Math.max(...scores), 1)}`;
  const broken = weights.filter(Number.isNaN).length;
  const times = broken === 1 ? "once" : `${broken} times`;
  if (total === 0) return `The naive softmax gives nan ${times}: even ${power} is too small for a float32, and 0 / 0 `
    + "is not a number.";
  if (exps.includes(Infinity)) return `The naive softmax gives nan ${times}: ${power} is too large for a float32.`;
  if (total === Infinity) return `The naive weights are all 0: each exponential fits into a float32, up to ${power}, `
    + "but their sum is too large for one.";
  if (weights.every((weight, i) => format(weight) === format(stable[i]))) return "";
  const worst = Math.max(...weights.map((weight, i) => Math.abs(weight - stable[i])));
  return `The naive weights are off by up to ${format(worst)}: ${power} is so small that a float32 keeps only a few `
    + "of its digits.";
}

const [LEAST, MOST] = [-103.97, 88.7]; // between them the exponential is a float32, neither 0 nor inf
const [WIDE, END] = [440, 118]; // of the drawing, and what its edges stand for

// Each score where its exponential is taken: as it is, and with the largest score taken off. Beyond the wall it breaks.
function wall(scores) {
  const X = (value) => WIDE / 2 + (Math.max(-END + 4, Math.min(END - 4, value)) / END) * (WIDE / 2);
  const most = Math.max(...scores);
  const lane = (y, name, values) => [
    s("text", { x: X(LEAST) + 8, y: y - 12 }, name),
    s("line", { class: "axis", x1: X(LEAST), x2: X(MOST), y1: y, y2: y }),
    values.map((value) => s("circle", { class: `dot ${value > MOST ? "other" : ""}`, cx: X(value), cy: y, r: 5 })),
  ];
  const lost = scores.filter((score) => score > MOST).length;
  return drawing(
    { name: "which numbers e^x gets", label: `${lost} of ${scores.length} scores are beyond ${MOST}; without the `
      + "largest score none is.", width: WIDE, height: 150 },
    s("rect", { class: "wall", x: X(MOST), y: 0, width: WIDE - X(MOST), height: 118 }),
    s("rect", { class: "wall", x: 0, y: 0, width: X(LEAST), height: 118 }),
    lane(42, "naive: each score as it is", scores),
    lane(96, "stable: each score minus the largest one", scores.map((score) => score - most)),
    s("text", { x: 4, y: 134 }, `below −${-LEAST.toFixed(0)}`),
    s("text", { x: 4, y: 148 }, "e^x becomes 0"),
    s("text", { x: X(0), y: 134, "text-anchor": "middle" }, "0"),
    s("text", { x: WIDE - 4, y: 134, "text-anchor": "end" }, `above ${MOST}`),
    s("text", { x: WIDE - 4, y: 148, "text-anchor": "end" }, "e^x becomes inf"),
  );
}

export default {
  render({ model, el }) {
    const { scores, tokens, journey } = model.get("data");
    const figure = frame(el, "Push one score up to 1,000. What does each of the two make of it?");
    const sliders = tokens.map((token, i) =>
      figure.slider({ label: token, min: -1000, max: 1000, step: 0.1, digits: 4, bend: 3, value: scores[i] }),
    );
    const temperature = figure.slider({
      label: "Temperature",
      min: 0.01,
      max: 100,
      step: 0.1,
      digits: 2,
      bend: 3,
      value: 1,
    });
    figure.button(`Push “${tokens[journey]}” to 1,000`, () => (sliders[journey].value = 1000));
    sliders[journey].value = 90; // beyond 88.7, where the exponential leaves float32
    figure.lesson(() => {
      sliders.forEach((slider, i) => (slider.value = scores[i]));
      temperature.value = 1;
    });
    figure.draw(() => {
      const scaled = sliders.map((slider) => single(slider.value / temperature.value));
      const [computed, stable] = [naive(scaled), softmax(scaled)];
      const shown = computed.weights.map((weight, i) => (Math.abs(weight - stable[i]) < NOISE ? stable[i] : weight));
      const wrong = fault(scaled, { ...computed, weights: shown }, stable);
      const top = stable.indexOf(Math.max(...stable));
      return {
        key: ["largest e^x, naive", format(Math.max(...computed.exps), 4).length > 12
          ? Math.max(...computed.exps).toExponential(1).replace("e+", " · 10^") : format(Math.max(...computed.exps))],
        show: row(
          wall(scaled),
          row(
            bars({ name: "softmax_naive", values: shown, labels: tokens, most: 1 }),
            bars({ name: "softmax_stable", values: stable, labels: tokens, most: 1 }),
          ),
        ),
        say: wrong
          ? `${wrong} The stable softmax subtracts the largest score first.`
          : `Both give the same. “${tokens[top]}” has the largest weight, ${format(stable[top])}, and all six sum to `
            + `${format(sum(stable))}.`,
      };
    });
  },
};
