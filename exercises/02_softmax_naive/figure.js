// Six scores to move: what the naive softmax and the stable one make of them, in float32 as torch computes.

import { frame } from "../../grader/integrations/figures/frame.js";
import { softmax, sum } from "../../grader/integrations/figures/maths.js";
import { bars, row } from "../../grader/integrations/figures/tables.js";

const single = Math.fround;

function naive(scores) {
  const exps = scores.map((score) => single(Math.exp(single(score))));
  const total = exps.reduce((a, b) => single(a + b), 0);
  return exps.map((value) => single(value / total));
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
    figure.button("Start again", () => {
      sliders.forEach((slider, i) => (slider.value = scores[i]));
      temperature.value = 1;
    });
    figure.draw(() => {
      const scaled = sliders.map((slider) => slider.value / temperature.value);
      const [first, second] = [naive(scaled), softmax(scaled)];
      const broken = first.filter(Number.isNaN).length;
      const top = second.indexOf(Math.max(...second));
      const say = broken
        ? `The naive softmax gives nan ${broken === 1 ? "once" : `${broken} times`}: e to the `
          + `${Math.max(...scaled).toFixed(0)} is too large for a float32. The stable one takes off the largest `
          + "score first."
        : `Both give the same. “${tokens[top]}” has the largest weight, ${second[top].toFixed(4)}, and all six sum `
          + `to ${sum(second).toFixed(4)}.`;
      return {
        show: row(
          bars({ name: "softmax_naive", values: first, labels: tokens, most: 1 }),
          bars({ name: "softmax_stable", values: second, labels: tokens, most: 1 })
        ),
        say,
      };
    });
  },
};
