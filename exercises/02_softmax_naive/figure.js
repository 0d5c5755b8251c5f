// Six scores to move: what the naive softmax and the stable one make of them, in float32 as torch computes.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, softmax, sum } from "../../grader/integrations/figures/maths.js";
import { bars, drawing, row } from "../../grader/integrations/figures/tables.js";

const single = Math.fround;
const short = (value) => format(value, Number.isInteger(value) ? 0 : 1);
const NOISE = 1e-6; // what float32 may leave of a difference between two weights that are equal

// The exponentials, their sum and the weights, each rounded to a float32.
function naive(scores) {
  const exps = scores.map((score) => single(Math.exp(score)));
  const total = exps.reduce((a, b) => single(a + b), 0);
  return { exps, total, weights: exps.map((value) => single(value / total)) };
}

// Why the naive weights are others than the stable ones, of scores that were divided by the temperature `heat`; "" where the same numbers are shown.
function fault(scores, { exps, total, weights }, stable, heat) {
  const most = Math.max(...scores);
  const power = `e to the ${short(most)}${heat === 1 ? "" : ` (${short(most * heat)} / ${short(heat)})`}`;
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
const [WIDE, END] = [360, 118]; // of a drawing, and what its edges stand for
const LINE = 50; // where the number line is

// Numbers whose exponentials are taken; the one at `top` is the largest, and `moved` says how it came there from the
// score `from`. Beyond the walls e^x breaks: it is inf, or 0.
function walls(name, values, { top, token, from, moved = "" }) {
  const X = (value) => WIDE / 2 + (Math.max(-END + 4, Math.min(END - 4, value)) / END) * (WIDE / 2);
  const text = (x, y, anchor, words) => s("text", { x, y, "text-anchor": anchor }, words);
  const label = (x, y, words) => text( // beside a wall, not on it
    Math.max(X(LEAST) + 6, Math.min(X(MOST) - 6, x)), y, x < 140 ? "start" : x > WIDE - 140 ? "end" : "middle", words
  );
  const others = values.filter((_, i) => i !== top);
  const [least, greatest] = [Math.min(...others), Math.max(...others)];
  const [start, end] = [X(from), X(values[top])];
  const head = Math.abs(end - start) > 16 && Math.sign(start - end) * 7;
  return drawing(
    { name, label: `The largest of them is ${short(values[top])}.`, width: WIDE, height: 86, most: 450 },
    s("rect", { class: "wall", x: X(MOST), y: 0, width: WIDE - X(MOST), height: LINE + 14 }),
    s("rect", { class: "cell kata-kind-3", x: 0, y: 0, width: X(LEAST), height: LINE + 14 }),
    s("line", { class: "axis", x1: 8, x2: WIDE - 8, y1: LINE, y2: LINE }),
    // Beyond a wall the line has no scale, which two strokes across it say.
    s("path", { class: "axis", d: [X(LEAST) - 8, X(MOST) + 3].map((x) => `M${x},${LINE + 6}l4,-12m3,0l-4,12`).join("") }),
    head && [
      s("circle", { class: "cell gone", cx: start, cy: LINE, r: 5 }),
      s("path", { class: "link now", "stroke-width": 2.5,
        d: `M${start},${LINE}H${end + head}m${head},-6l${-head},6l${head},6` }),
    ],
    values.map((value) => s("circle", { class: `dot ${value > MOST ? "other" : ""}`, cx: X(value), cy: LINE, r: 5 })),
    label(end, 14, `${token} ${moved}${short(values[top])}`),
    label((X(least) + X(greatest)) / 2, 34, `the ${others.length} others ${short(least)} to ${short(greatest)}`),
    text(2, LINE + 30, "start", `below −${-LEAST.toFixed(0)}: e^x is 0`),
    text(X(0), LINE + 30, "middle", "0"),
    text(WIDE - 2, LINE + 30, "end", `above ${MOST}: e^x is inf`),
  );
}

export default {
  render({ model, el }) {
    const { scores, tokens, journey } = model.get("data");
    const figure = frame(el, "Above 88.7, e^x is inf: so subtract the largest score first");
    figure.below();
    const slider = (i) => figure.slider(
      { label: tokens[i], min: -1000, max: 1000, step: 0.1, digits: 4, bend: 3, value: scores[i],
        name: (value) => format(value, Math.abs(value) === 1000 ? 0 : 4) }
    );
    const sliders = [];
    sliders[journey] = slider(journey);
    sliders[journey].value = 1000;
    figure.lesson(() => {
      sliders.forEach((slider, i) => (slider.value = scores[i]));
      temperature.value = 1;
    });
    figure.fold("Other scores, temperature");
    tokens.forEach((_, i) => (sliders[i] ??= slider(i)));
    const temperature = figure.slider({ label: "Temperature", min: 0.01, max: 100, step: 0.1, digits: 2, bend: 3, value: 1 });
    figure.draw(() => {
      const scaled = sliders.map((slider) => single(slider.value / temperature.value));
      const [computed, stable] = [naive(scaled), softmax(scaled)];
      const shown = computed.weights.map((weight, i) => (Math.abs(weight - stable[i]) < NOISE ? stable[i] : weight));
      const wrong = fault(scaled, { ...computed, weights: shown }, stable, temperature.value);
      const top = stable.indexOf(Math.max(...stable));
      const most = scaled[top];
      return {
        key: [`“${tokens[top]}”: naive ${format(shown[top], 2)}, stable`, format(stable[top], 2)],
        show: [
          ["naive: e^x of the scores as they are", "softmax_naive", shown, scaled, {}],
          ["stable: the largest is subtracted first", "softmax_stable", stable, scaled.map((score) => score - most),
            { moved: `${short(most)} − ${short(most)} = ` }],
        ].map(([way, name, weights, powers, how]) => row(
          walls(way, powers, { top, token: tokens[top], from: most, ...how }),
          bars({
            name, values: weights, labels: tokens, most: 1,
            digits: weights.every((weight) => Number.isNaN(weight) || Number.isInteger(weight)) ? 0 : 4,
          }),
        )),
        say: wrong
          ? `${wrong} The stable softmax subtracts the largest score first.`
          : `Both give the same. “${tokens[top]}” has the largest weight, ${format(stable[top])}, and all six sum to `
            + `${format(sum(stable))}.`,
      };
    });
  },
};
