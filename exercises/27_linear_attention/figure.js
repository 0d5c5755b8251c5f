// Pairs are written into a state of few rows. What does each key read afterwards, and which pairs are recalled?

import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, format, matmul, range, softmax, sum, times, transpose } from "../../grader/integrations/figures/maths.js";
import { plane } from "../../grader/integrations/figures/plane.js";
import { bars, matrix, row } from "../../grader/integrations/figures/tables.js";

const CLOSE = 1e-6; // weights that are no further apart count as equal
const feature = (x) => (x > 0 ? x + 1 : Math.exp(x));

// The state after one pair for each key, with one-hot values: a row for each number of a key, a column for each pair.
function written(keys, beta, decay, isCorrected) {
  let state = keys[0].map(() => keys.map(() => 0));
  keys.forEach((key, t) => {
    state = times(state, decay);
    const held = transpose(state).map((column) => dot(column, key));
    const change = held.map((value, j) => beta * ((j === t ? 1 : 0) - (isCorrected ? value : 0)));
    state = state.map((one, i) => one.map((value, j) => value + key[i] * change[j]));
  });
  return state;
}

// Which pairs come back: their own value is the largest of what their key reads.
const own = (reads) => reads.map((one, i) => one.every((value, j) => j === i || one[i] > value + CLOSE));

export default {
  render({ model, el }) {
    const { narrow, wide } = model.get("data");
    const widths = [narrow, wide];
    const figure = frame(el, "A state has few rows. Add pairs, and see which of them come back.");
    const pairs = figure.slider({ label: "Pairs", min: 1, max: narrow.length, value: 3 });
    figure.player(pairs, 1500);
    const names = widths.map((keys) => `${keys[0].length} rows`);
    const width = figure.choice({ label: "The state has", options: names });
    const beta = figure.slider({ label: "Beta", min: 0, max: 1, step: 0.05, digits: 2, value: 1 });
    const decay = figure.slider({ label: "Decay", min: 0.5, max: 1, step: 0.05, digits: 2, value: 1 });
    const alone = figure.toggle({ label: "Leave out the correction" });
    figure.draw(() => {
      const N = pairs.value;
      const keys = widths[width.value].slice(0, N);
      const reads = matmul(keys, written(keys, beta.value, decay.value, !alone.value));
      const features = keys.map((key) => key.map(feature));
      const likeness = matmul(features, transpose(features));
      const all = [
        matmul(keys, transpose(keys)).map(softmax),
        likeness.map((one) => one.map((value) => value / sum(one))),
        reads,
      ].map(own);
      const counts = all.map((found) => sum(found.map(Number)));
      const rule = alone.value ? "the sum" : "the delta rule";
      const labels = range(N).map((i) => `pair ${i}`);
      const least = range(N).reduce((best, i) => (reads[i][i] < reads[best][best] ? i : best), 0);
      return {
        show: [
          row(keys[0].length === 2 && plane({
            name: "the keys",
            from: [-1.2, -1.2],
            to: [1.2, 1.2],
            points: keys.map(([x, y], i) => ({ x, y, name: `key ${i}`, size: 5, look: all[2][i] ? "" : "other" })),
            lines: keys.map((key) => [[0, 0], key, 2]),
            note: "Full: its pair comes back. A key disturbs every other one that is not at a right angle to it, and "
              + "two dimensions have room for two right angles.",
          }), bars({
            name: "what each key reads of its own value",
            values: range(N).map((i) => reads[i][i]),
            labels: range(N).map((i) => `key ${i}`),
            digits: 2,
            most: 1,
          })),
          row(matrix({
            name: "what each key reads",
            values: reads,
            rows: range(N).map((i) => `key ${i}`),
            columns: labels,
            scale: 1,
            marked: (i, j) => i === j && all[2][i],
          }), matrix({
            name: "pairs recalled",
            values: counts.map((value) => [value]),
            rows: ["softmax attention", "linear attention", rule],
            digits: 0,
            heat: false,
          })),
        ],
        key: [`recalled by ${rule}`, `${counts[2]} of ${N}`],
        say: `Of ${N} ${N === 1 ? "pair" : "pairs"}, softmax attention recalls ${counts[0]}, linear attention `
          + `${counts[1]}, and ${rule} ${counts[2]}. Key ${least} reads the least of its own value: `
          + `${format(reads[least][least])}.`,
      };
    });
  },
};
