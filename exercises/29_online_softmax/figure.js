// One pass over blocks of scores: the running maximum and the running sum, corrected where the maximum grows.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, range, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [WIDE, TALL, TOP] = [66, 100, 56]; // of a bar: the room for it, its height for 1, and where that begins

const short = (value) => String(Number(value.toFixed(3)));
const isWhole = (power) => power > 0.5 && power < 100 && Math.abs(power - Math.round(power)) < 1e-3;
// A score by the whole number of which it is the logarithm, as the lesson writes it.
const log = (score) => (isWhole(Math.exp(score)) ? `log ${Math.round(Math.exp(score))}` : format(score, 2));

// A bar for each score: what it adds to the sum. before: the same before the last correction, as a dashed outline.
function shares(scores, now, before, isNew, maximum, [least, old, factor], total) {
  const X = (j) => j * WIDE + 8;
  const ground = TOP + TALL;
  const word = (x, y, text, look = null) => s("text", { x, y, class: look, "text-anchor": "middle" }, text);
  const bar = (look, j, value) => s("rect", {
    class: `cell ${look}`, x: X(j), width: WIDE - 16, y: ground - TALL * value, height: Math.max(0.5, TALL * value),
  });
  const told = now.map((value, j) => `score ${j}: ${value === null ? "not read" : format(value, 2)}`).join("; ");
  const many = before.filter((value) => value !== null).length;
  const fresh = now.filter((_, j) => isNew(j)).length;
  const middle = (X(0) + X(many) - 16) / 2;
  return drawing(
    { name: "what each score adds to the sum", label: told, width: now.length * WIDE, height: ground + 54, most: 500 },
    now.map((value, j) => [
      value !== null && bar(isNew(j) ? "now" : "done", j, Math.min(1, value)),
      value !== null && before[j] > value + 5e-5 && bar("gone", j, Math.min(1, before[j])),
      s("line", { class: "link", x1: X(j), x2: X(j) + WIDE - 16, y1: ground, y2: ground }),
      value !== null && word(X(j) + WIDE / 2 - 8, ground - 5 - TALL * Math.min(1, value), short(value), "number"),
      word(X(j) + WIDE / 2 - 8, ground + 17, log(scores[j])),
      value !== null && scores[j] === maximum && word(X(j) + WIDE / 2 - 8, ground + 32, "max", "strong"),
      before[j] && scores[j] === least && least < maximum
        && word(X(j) + WIDE / 2 - 8, ground + 32, "max before"),
    ]),
    many > 0 && [
      s("path", { class: "line", d: `M${X(0)},${TOP - 20}v-8H${X(many) - 16}v8` }),
      word(middle, TOP - 36, `${short(old)} · ${short(factor)} = ${short(old * factor)}`, "strong"),
      word(middle, ground + 50, "read before"),
    ],
    fresh > 0 && s(
      "text",
      { x: many > 2 ? X(now.length) - 16 : X(many), y: ground + 50, "text-anchor": many > 2 ? "end" : "start" },
      `new: + ${short(total - old * factor)} = ${short(total)}`,
    ),
  );
}

export default {
  render({ model, el }) {
    const { scores } = model.get("data");
    const T = scores.length;
    const figure = frame(el, "When a larger score comes, the old sum must shrink");
    figure.beside();
    const blocks = () => Math.ceil(T / block.value);
    const readAll = () => {
      seen.limit(blocks());
      seen.value = blocks();
    };
    const seen = figure.slider({ label: "Blocks read", min: 0, max: 3, value: 2 });
    figure.player(seen, 1200);
    const block = figure.slider({ label: "Block size", min: 1, max: T, value: 2, moved: readAll });
    const forget = figure.toggle({ label: "Forget the correction" });
    const all = figure.toggle({ label: "Numbers" });
    figure.lesson(() => {
      scores.forEach((value, i) => (sliders[i].value = value));
      [block.value, forget.value, all.value] = [2, false, true];
      readAll();
    });
    figure.fold("Other scores");
    const sliders = scores.map((value, i) => figure.slider({
      label: `Score ${i}`, min: -1000, max: 1000, bend: 3, step: 0.1, digits: 4, value, name: log,
    }));
    figure.draw(() => {
      const values = sliders.map((one) => one.value);
      let [maximum, total] = [-Infinity, 0];
      let [now, before, old] = [values.map(() => null), [], [-Infinity, 0, 1]];
      const steps = range(seen.value).map((n) => {
        const part = values.slice(n * block.value, (n + 1) * block.value);
        const most = Math.max(maximum, ...part);
        const factor = forget.value ? 1 : Math.exp(maximum - most);
        [before, old] = [now, [maximum, total, factor]];
        now = values.map((score, j) => {
          if (Math.floor(j / block.value) === n) return Math.exp(score - most);
          return before[j] === null ? null : before[j] * factor;
        });
        const adds = sum(part.map((score) => Math.exp(score - most)));
        [maximum, total] = [most, total * factor + adds];
        return [most, old[1], n ? factor : null, adds, total];
      });
      const read = values.slice(0, seen.value * block.value);
      const truth = sum(read.map((score) => Math.exp(score - Math.max(...read))));
      const isRight = Math.abs(truth - total) < 5e-4;
      const isNew = (j) => Math.floor(j / block.value) === seen.value - 1;
      return {
        show: shares(values, now, before, isNew, maximum, old, total),
        more: all.value && row(
          matrix({ name: "maximum", values: [maximum], heat: false }),
          matrix({ name: "sum", values: [total], heat: false }),
          steps.length > 0 && matrix({
            name: "block after block",
            values: steps,
            rows: steps.map((_, n) => `block ${n}`),
            columns: ["maximum", "old sum", "times", "block adds", "sum"],
            heat: false,
          }),
        ),
        key: ["old sum", seen.value > 1 ? `${short(old[1])} → ${short(old[1] * old[2])}` : "none"],
        say: correction(old, maximum, forget.value) + (isRight && seen.value < blocks()
          ? `Of ${Math.min(T, seen.value * block.value)} scores only the maximum and the sum are kept.`
          : `The sum is ${short(total)}, `
            + (isRight ? "as from all scores at once." : `and should be ${short(truth)}.`)),
      };
    });
  },
};

// What the last block did to the old sum. old: the maximum and the sum before it, and the factor.
function correction([least, total, factor], most, isForgotten) {
  if (least === -Infinity) return "";
  if (most === least) return "The maximum is the same, so the old sum stays. ";
  return `The maximum rises from ${log(least)} to ${log(most)}, `
    + (isForgotten ? `but the old sum, ${short(total)}, is not corrected. `
      : `so the old sum is multiplied by ${short(factor)}: each old bar shrinks. `);
}
