// One pass over blocks of scores: the running maximum and the running sum, corrected where the maximum grows.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, range, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [WIDE, TALL] = [64, 90]; // of a bar: the room for it, and its height where a score is the maximum

// A bar for each score: what it adds to the sum. before: the same before the last correction, as a dashed outline.
function shares(now, before, isNew) {
  const X = (j) => j * WIDE + 10;
  const bar = (look, j, value) => s("rect", {
    class: `cell ${look}`, x: X(j), width: WIDE - 20, y: 22 + TALL * (1 - value), height: Math.max(0.5, TALL * value),
  });
  const told = now.map((value, j) => `score ${j}: ${value === null ? "not read" : format(value, 2)}`).join("; ");
  return drawing(
    { name: "what each score adds to the sum", label: told, width: now.length * WIDE, height: TALL + 46 },
    now.map((value, j) => [
      value !== null && bar(isNew(j) ? "now" : "done", j, Math.min(1, value)),
      value !== null && before[j] > value + 5e-5 && bar("gone", j, Math.min(1, before[j])),
      s("line", { class: "link", x1: X(j), x2: X(j) + WIDE - 20, y1: TALL + 22, y2: TALL + 22 }),
      value !== null && s(
        "text",
        { x: X(j) + WIDE / 2 - 10, y: 17 + TALL * (1 - Math.min(1, value)), class: "number",
          "text-anchor": "middle" },
        format(value, 3)
      ),
      s("text", { x: X(j) + WIDE / 2 - 10, y: TALL + 39, "text-anchor": "middle" }, `score ${j}`),
    ])
  );
}

export default {
  render({ model, el }) {
    const { scores } = model.get("data");
    const T = scores.length;
    const figure = frame(el, "Each block needs the maximum and the sum so far, and nothing else of what came before.");
    const sliders = scores.map((value, i) => figure.slider({
      label: `Score ${i}`,
      min: -1000,
      max: 1000,
      bend: 3,
      step: 0.1,
      digits: 4,
      value,
    }));
    const blocks = () => Math.ceil(T / block.value);
    const readAll = () => {
      seen.limit(blocks());
      seen.value = blocks();
    };
    const block = figure.slider({ label: "Block size", min: 1, max: T, value: 2, moved: readAll });
    const seen = figure.slider({ label: "Blocks read", min: 0, max: blocks(), value: 2 });
    figure.player(seen, 1200);
    const forget = figure.toggle({ label: "Forget the correction" });
    figure.lesson(() => {
      scores.forEach((value, i) => (sliders[i].value = value));
      [block.value, forget.value] = [2, false];
      readAll();
    });
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
        const entry = [most, factor, total * factor, adds, total * factor + adds];
        [maximum, total] = [most, entry[4]];
        return entry;
      });
      const read = (j) => j < seen.value * block.value;
      const whole = Math.max(...values);
      const truth = sum(values.map((score) => Math.exp(score - whole)));
      const done = seen.value === blocks();
      return {
        show: [
          row(
            matrix({
              name: "scores, in blocks",
              values: [values, range(T).map((j) => `block ${Math.floor(j / block.value)}`)],
              digits: 2,
              columns: range(T).map(String),
              faint: (i, j) => !read(j),
              marked: (i, j) => Math.floor(j / block.value) === seen.value - 1,
            }),
            matrix({ name: "maximum", values: [maximum], heat: false }),
            matrix({ name: "sum", values: [total], heat: false }),
          ),
          shares(now, before, (j) => Math.floor(j / block.value) === seen.value - 1),
          steps.length ? matrix({
            name: "block after block",
            values: steps,
            rows: steps.map((_, n) => `block ${n}`),
            columns: ["maximum", "correction", "old sum", "block adds", "sum"],
            heat: false,
          }) : null,
        ],
        key: ["sum so far", format(total)],
        say: done
          ? `All ${T} scores are read. The sum from the true maximum is ${format(truth)}: `
            + (Math.abs(truth - total) < 5e-5
              ? "the same."
              : `${format(total)} is wrong, because the old sums count from smaller maxima.`)
          : `${Math.min(T, seen.value * block.value)} of ${T} scores are read, and only two numbers are kept of them. `
            + correction(old, maximum, forget.value),
      };
    });
  },
};

// What the last block did to the old sum. old: the maximum and the sum before it, and the factor.
function correction([least, total, factor], most, isForgotten) {
  if (least === -Infinity || most === least) return "";
  const rose = `The maximum rose from ${format(least)} to ${format(most)}, `;
  return isForgotten
    ? `${rose}but the old sum, ${format(total)}, was not corrected.`
    : `${rose}so the old sum, ${format(total)}, was multiplied by ${format(factor)}: each old bar shrinks.`;
}
