// Four words and three ways to cut: temperature, top_k, top_p. What is left after each, and what the order does.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix } from "../../grader/integrations/figures/tables.js";

const normalized = (values) => values.map((value) => value / sum(values));

const [WIDE, HIGH, STEP] = [338, 36, 68]; // of a bar that stands for a probability of 1, and to the next

// Each step as a bar whose parts are the words: dashed is what the next cut takes away. at: where top_p cuts; pale: only
// there to compare with.
function cuts(steps, words) {
  const told = steps.map(({ name, values }) => `${name}: ${values.map((value) => format(value, 2)).join(", ")}`);
  return drawing(
    { name: "what each cut takes away (dashed)", label: told.join("; "), width: WIDE + 4,
      height: steps.length * STEP, most: 1.25 * WIDE },
    steps.map(({ name, values, next = values, at, pale }, n) => {
      const y = n * STEP + 18;
      let x = 2;
      return [
        s("text", { x: 0, y: y - 5 }, name),
        values.map((value, i) => {
          const wide = value * WIDE;
          x += wide;
          return value > 0 && [
            s("rect", {
              class: `cell ${pale ? "tint kata-tone-5" : next[i] > 0 ? "done" : "gone"}`, x: x - wide, y, width: wide,
              height: HIGH,
            }),
            wide > 40 && [words[i], `${format(100 * value, 1)} %`].map((text, line) => s("text", {
              class: "number", x: x - wide / 2, y: y + 15 + 14 * line, "text-anchor": "middle",
            }, text)),
          ];
        }),
        at < 1 && [
          s("path", { class: "cross", d: `M${2 + at * WIDE},${y - 1}v6m0,${HIGH - 9}v10` }),
          s("text", { class: "strong", x: 2 + at * WIDE, y: y + HIGH + 15, "text-anchor": at > 0.9 ? "end" : "middle" }, String(at)),
        ],
      ];
    }),
  );
}

export default {
  render({ model, el }) {
    const { logits, words } = model.get("data");
    const V = logits.length;
    const figure = frame(el, "The words that each cut leaves share all of the probability");
    figure.beside();
    const temperature = figure.slider({ label: "Temperature", min: 0.1, max: 3, step: 0.1, digits: 1, value: 1 });
    const topK = figure.slider({ label: "top_k", min: 1, max: V, value: 3 });
    const topP = figure.slider({ label: "top_p", min: 0.05, max: 1, step: 0.05, digits: 2, value: 0.8 });
    const early = figure.toggle({ label: "top_p before top_k" });
    const all = figure.toggle({ label: "Numbers" });
    figure.lesson(() => {
      [temperature.value, topK.value, topP.value, early.value, all.value] = [1, 3, 0.8, false, true];
    });
    figure.draw(() => {
      const most = Math.max(...logits);
      const softmaxAt = (heat) => normalized(logits.map((logit) => Math.exp((logit - most) / heat)));
      const softmax = softmaxAt(temperature.value);
      // The words of the data come largest first, so a place is a rank.
      const cutByK = (values) => normalized(values.map((value, i) => (i < topK.value ? value : 0)));
      const cutByP = (values) => {
        const stays = values.map((_, i) => topP.value === 1 || sum(values.slice(0, i)) < topP.value - 1e-9);
        return normalized(values.map((value, i) => (stays[i] ? value : 0)));
      };
      const [one, two] = early.value ? [cutByP, cutByK] : [cutByK, cutByP];
      const first = one(softmax);
      const probabilities = two(first);
      const names = early.value ? ["after top_p", "after top_k"] : ["after top_k", "after top_p"];
      const left = probabilities.filter((value) => value > 0).length;
      const turned = early.value ? cutByP(cutByK(softmax)) : cutByK(cutByP(softmax));
      const at = early.value ? [topP.value] : [undefined, topP.value];
      const sorted = early.value ? first : softmax;
      const isTie = sorted[topK.value] > 0 && sorted[topK.value - 1] - sorted[topK.value] < 1e-9;
      const asked = [
        `top_k keeps ${isTie ? `${topK.value}, the first in a tie` : `the ${topK.value} largest`}`,
        `top_p keeps words until ${topP.value} is reached`,
      ];
      if (early.value) asked.reverse();
      const steps = [
        { name: "the model's own probabilities", values: softmaxAt(1), pale: true },
        {
          name: `at temperature ${format(temperature.value, 1)}; ${asked[0]}`, values: softmax, next: first, at: at[0],
        },
        { name: `${names[0]}; ${asked[1]}`, values: first, next: probabilities, at: at[1] },
        { name: `${names[1]}: what is drawn from`, values: probabilities },
      ];
      const other = turned.filter((value) => value > 0).length;
      return {
        show: cuts(steps, words),
        more: all.value && matrix({
          name: "probabilities", values: probabilities, columns: words, faint: (_, j) => !probabilities[j],
        }),
        key: ["words that can be drawn", `${left} of ${V}`],
        say: `${left} of ${V} words can be drawn, “${words[0]}” with ${format(probabilities[0])}. `
          + (other === left
            ? "With the two cuts in the other order, as many can."
            : `With the two cuts in the other order, ${other} can.`),
      };
    });
  },
};
