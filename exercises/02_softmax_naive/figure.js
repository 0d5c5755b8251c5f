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
  const most = Math.max(...scores);
  const power = `e to the ${format(most, Number.isInteger(most) ? 0 : 1)}`;
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
const [WIDE, END] = [400, 118]; // of a drawing, and what its edges stand for

// The numbers whose exponentials are taken. Beyond the walls they break: e^x is 0 or inf.
function wall(name, values, tokens) {
  const X = (value) => WIDE / 2 + (Math.max(-END + 4, Math.min(END - 4, value)) / END) * (WIDE / 2);
  const most = Math.max(...values);
  const text = (x, y, anchor, words) => s("text", { x, y, "text-anchor": anchor }, words);
  const lost = values.filter((value) => value > MOST).length;
  return drawing(
    { name, label: `${lost} of ${values.length} numbers are beyond ${MOST}.`, width: WIDE, height: 66 },
    s("rect", { class: "wall", x: X(MOST), y: 0, width: WIDE - X(MOST), height: 48 }),
    s("rect", { class: "wall", x: 0, y: 0, width: X(LEAST), height: 48 }),
    s("line", { class: "axis", x1: X(LEAST), x2: X(MOST), y1: 34, y2: 34 }),
    values.map((value) => s("circle", { class: `dot ${value > MOST ? "other" : ""}`, cx: X(value), cy: 34, r: 5 })),
    text(X(most), 18, most > 0 ? "end" : "start", tokens[values.indexOf(most)]),
    text(4, 62, "start", `below −${-LEAST.toFixed(0)}: e^x is 0`),
    text(X(0), 62, "middle", "0"),
    text(WIDE - 4, 62, "end", `above ${MOST}: e^x is inf`),
  );
}

export default {
  render({ model, el }) {
    const { scores, tokens, journey } = model.get("data");
    const figure = frame(el, "One score is 1,000. What weight does each softmax give it?");
    figure.below();
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
    sliders[journey].value = 1000;
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
        key: [`“${tokens[top]}”, naive and stable`, `${format(shown[top], 2)} and ${format(stable[top], 2)}`],
        show: [
          row(
            bars({ name: "softmax_naive", values: shown, labels: tokens, most: 1 }),
            wall("it takes e^x of each score", scaled, tokens),
          ),
          row(
            bars({ name: "softmax_stable", values: stable, labels: tokens, most: 1 }),
            wall("it takes e^x of each score minus the largest", scaled.map((score) => score - scaled[top]), tokens),
          ),
        ],
        say: wrong
          ? `${wrong} The stable softmax subtracts the largest score first.`
          : `Both give the same. “${tokens[top]}” has the largest weight, ${format(stable[top])}, and all six sum to `
            + `${format(sum(stable))}.`,
      };
    });
  },
};
