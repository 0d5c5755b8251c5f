// One pass over blocks of scores: the running maximum and the running sum, corrected where the maximum grows.

import { frame } from "../../grader/integrations/figures/frame.js";
import { format, range, sum } from "../../grader/integrations/figures/maths.js";
import { matrix, row } from "../../grader/integrations/figures/tables.js";

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
    const seen = figure.slider({ label: "Blocks read", min: 0, max: blocks(), value: 1 });
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
      const steps = range(seen.value).map((n) => {
        const part = values.slice(n * block.value, (n + 1) * block.value);
        const most = Math.max(maximum, ...part);
        const factor = forget.value ? 1 : Math.exp(maximum - most);
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
          steps.length ? matrix({
            name: "block after block",
            values: steps,
            rows: steps.map((_, n) => `block ${n}`),
            columns: ["maximum", "correction", "old sum", "block adds", "sum"],
            heat: false,
          }) : null,
        ],
        say: done
          ? `All ${T} scores are read. The sum from the true maximum is ${format(truth)}: `
            + (Math.abs(truth - total) < 5e-5
              ? "the same."
              : `${format(total)} is wrong, because the old sums count from smaller maxima.`)
          : `${Math.min(T, seen.value * block.value)} of ${T} scores are read; only two numbers are kept of them.`,
      };
    });
  },
};
