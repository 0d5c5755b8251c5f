// Queries and keys of more and more dimensions: what the scale does to the scores, the weights and the gradients.

import { h, s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { floats, format, range, softmax, times, variance } from "../../grader/integrations/figures/maths.js";
import { bars, drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [WIDE, END] = [420, 50]; // of the drawing of all scores, and the score at its edges

// All scores as strokes on an axis that stays; those of one query are tall.
function spread(name, all, query, look) {
  const X = (value) => WIDE / 2 + (Math.max(-END, Math.min(END, value)) / END) * (WIDE / 2 - 4);
  const strokes = (y, high, values) => values.map((value) => `M${X(value).toFixed(1)},${y}v${-high}`).join("");
  return drawing(
    { name, label: `From ${format(Math.min(...all.flat()), 1)} to ${format(Math.max(...all.flat()), 1)}.`, width: WIDE,
      height: 60 },
    s("line", { class: "axis", x1: 0, x2: WIDE, y1: 38, y2: 38 }),
    s("path", { class: `curve rug ${look}`, d: strokes(38, 12, all.flat()) + strokes(38, 30, all[query]) }),
    [-40, -20, 0, 20, 40].map((x) => s("text", { x: X(x), y: 54, "text-anchor": "middle" }, format(x, 0))),
  );
}

export default {
  render({ model, el }) {
    const { queries, keys, tokens, width, start } = model.get("data");
    const [q, k] = [queries, keys].map((packed) => {
      const all = Array.from(floats(packed));
      return range(tokens).map((i) => all.slice(i * width, (i + 1) * width));
    });
    const scores = (d_k) => q.map((query) => k.map((key) => {
      let total = 0;
      for (let d = 0; d < d_k; d++) total += query[d] * key[d];
      return total;
    }));
    const figure = frame(el, "More dimensions spread the scores; dividing by √d_k takes the spread away again.");
    const power = figure.slider({ label: "d_k", min: 1, max: width, step: 1, bend: 3, value: start });
    const query = figure.slider({ label: "query", min: 0, max: tokens - 1, value: 0 });
    figure.draw(() => {
      const d_k = power.value;
      const all = scores(d_k);
      const ways = [["raw scores", all, "curve-1"], ["scores / √d_k", times(all, 1 / Math.sqrt(d_k)), ""]];
      const own = ways.map(([, one]) => softmax(one[query.value]));
      const spreads = ways.map(([, one]) => variance(one.flat()));
      const [most, least] = own.map((one) => Math.max(...one).toFixed(2));
      return {
        show: ways.map(([name, one, look], n) => row(
          h("div", { class: "kata-drawn", "--most": `${WIDE}px` },
            spread(name, one, query.value, look),
            matrix({ name: `variance, ${["raw", "scaled"][n]}`, values: [spreads[n]], heat: false })),
          bars({ name: `weights, ${name}`, values: own[n], labels: range(tokens).map((i) => `key ${i}`), most: 1 }),
        )),
        key: ["variance, raw and scaled", spreads.map((one) => one.toFixed(2)).join(" and ")],
        say: `With d_k = ${d_k} the largest weight of query ${query.value} is ${most} without the scale and ${least} with `
          + "it. Its scores are the tall strokes.",
      };
    });
  },
};
