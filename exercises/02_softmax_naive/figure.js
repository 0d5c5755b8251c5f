// Six scores to move: what the naive softmax and the stable one make of them, in float32 as torch computes.

import { frame } from "../../grader/integrations/figures/frame.js";
import { format, softmax, sum } from "../../grader/integrations/figures/maths.js";
import { bars, row } from "../../grader/integrations/figures/tables.js";

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

export default {
  render({ model, el }) {
    const { scores, tokens, journey } = model.get("data");
    const figure = frame(el, "Push one score up to 1,000: the naive softmax breaks, the stable one does not.");
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
        show: row(
          bars({ name: "softmax_naive", values: shown, labels: tokens, most: 1 }),
          bars({ name: "softmax_stable", values: stable, labels: tokens, most: 1 })
        ),
        say: wrong
          ? `${wrong} The stable softmax subtracts the largest score first.`
          : `Both give the same. “${tokens[top]}” has the largest weight, ${format(stable[top])}, and all six sum to `
            + `${format(sum(stable))}.`,
      };
    });
  },
};
