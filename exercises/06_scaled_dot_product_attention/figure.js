// Queries and keys of more and more dimensions: what the scale does to the scores, the weights and the gradients.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, floats, format, range, softmax, times, variance } from "../../grader/integrations/figures/maths.js";
import { bars, drawing, line, matrix, row } from "../../grader/integrations/figures/tables.js";

const WIDE = 350; // of an axis
const GROUND = 66; // where the axis is
const AXES = [28, 68]; // the scores at its edges: the first that the raw scores fit into, beyond all of every d_k

// All scores as strokes; those of the query are tall, and its largest has its name. end: the score at the edges.
function spread(name, all, query, look, end) {
  const X = (value) => WIDE / 2 + (value / end) * (WIDE / 2 - 4);
  const strokes = (high, values) => values.map((value) => `M${X(value).toFixed(1)},${GROUND}v${-high}`).join("");
  const largest = Math.max(...all[query]);
  const deviation = Math.sqrt(variance(all.flat()));
  const [left, right] = [X(-deviation), X(deviation)];
  return drawing(
    { name, label: `From ${format(Math.min(...all.flat()), 1)} to ${format(Math.max(...all.flat()), 1)}.`,
      width: WIDE, height: GROUND + 42, most: 450 },
    s("line", { class: "axis", x1: 0, x2: WIDE, y1: GROUND, y2: GROUND }),
    s("path", { class: `curve rug ${look}`, d: strokes(14, all.flat()), "stroke-opacity": 0.45 }),
    s("path", { class: `curve rug ${look}`, d: strokes(46, all[query]) }),
    s("text", { class: "strong", x: Math.min(X(largest), WIDE - 20), y: GROUND - 51, "text-anchor": "middle" },
      `key ${all[query].indexOf(largest)}`),
    [-2, -1, 0, 1, 2].map((n) => n * Math.round(end * 0.44)).map((n) => s(
      "text", { x: X(n), y: GROUND + 16, "text-anchor": "middle" }, format(n, 0)
    )),
    s("path", { class: "line", d: `M${left},${GROUND + 26}v8H${right}v-8` }),
    s("text", { x: right + 5, y: GROUND + 38 }, `spread ±${format(deviation, 1)}`),
  );
}

export default {
  render({ model, el }) {
    const { queries, keys, tokens, width, start } = model.get("data");
    const [q, k] = [queries, keys].map((packed) => {
      const all = Array.from(floats(packed));
      return range(tokens).map((i) => all.slice(i * width, (i + 1) * width));
    });
    const scores = (d_k) => q.map((query) => k.map((key) => dot(query.slice(0, d_k), key)));
    const figure = frame(el, "Scores spread as d_k grows; divided by √d_k, they don’t");
    figure.below();
    const power = figure.slider({ label: "d_k", min: 1, max: width, step: 1, bend: 3, value: 64 });
    const query = figure.slider({ label: "query", min: 0, max: tokens - 1, value: 2 });
    const shown = figure.toggle({ label: "Numbers" });
    figure.lesson(() => ([power.value, query.value, shown.value] = [start, 0, true]));
    figure.draw(() => {
      const d_k = power.value;
      const all = scores(d_k);
      const ways = [["raw", "raw scores", all], ["scaled", "scores / √d_k", times(all, 1 / Math.sqrt(d_k))]];
      const own = ways.map(([, , one]) => softmax(one[query.value]));
      const [most, least] = own.map((one) => Math.max(...one).toFixed(2));
      const end = AXES.find((one) => Math.max(...all.flat().map(Math.abs)) < one);
      const root = format(Math.sqrt(d_k), 1);
      const wide = ways.map(([, , one]) => format(Math.sqrt(variance(one.flat())), 1));
      return {
        show: ways.map(([short, name, one], n) => [n > 0 && line(
          `Tall strokes: query ${query.value}; short ones: the other queries. Divided by √${d_k} = ${root}, ±${wide[0]} `
          + `becomes ±${wide[1]}.`
        ), row(
          spread(name, one, query.value, n ? "" : "curve-1", end),
          bars({
            name: `weights, ${name}`, values: own[n], labels: range(tokens).map((i) => `key ${i}`), digits: 2, most: 1,
            kind: 1 - n,
          }),
          shown.value && matrix({ name: `variance, ${short}`, values: [variance(one.flat())], heat: false }),
        )]),
        key: ["largest weight, raw → scaled", `${most} → ${least}`],
        say: `The scores of query ${query.value}, with d_k = ${d_k}, give key ${own[0].indexOf(Math.max(...own[0]))} the `
          + `weight ${most}. Divided by √${d_k} = ${root} they `
          + (d_k > 1 ? `lie closer together, and it gets ${least}.` : "stay."),
      };
    });
  },
};
