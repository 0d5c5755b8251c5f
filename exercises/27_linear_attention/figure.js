// A state of few rows: the plain sums of linear attention; and pairs that the delta rule writes, and which come back.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, format, matmul, range, softmax, sum, times, transpose } from "../../grader/integrations/figures/maths.js";
import { plane } from "../../grader/integrations/figures/plane.js";
import { bars, drawing, matrix, row, sign } from "../../grader/integrations/figures/tables.js";

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

// Linear attention: what the last query reads in the cache, the state after all tokens (sums and normalizer), and what
// the query reads there.
function summed(tokens) {
  const query = tokens.at(-1).slice(0, 2);
  const weights = tokens.map((one) => dot(query, one.slice(2, 4)));
  const state = [4, null].map((value) => [2, 3].map((i) => sum(tokens.map((one) => one[i] * (one[value] ?? 1)))));
  return [dot(weights, tokens.map((one) => one[4])) / sum(weights), state, dot(query, state[0]) / dot(query, state[1])];
}

// Which pairs come back: their own value is the largest of what their key reads.
const own = (reads) => reads.map((one, i) => one.every((value, j) => j === i || one[i] > value + CLOSE));

// A cache, which grows by each token: its key and its value. The last one is framed.
function cache(tokens, most) {
  const C = 24; // the side of a cell
  return drawing(
    { name: "the cache", label: `It keeps ${3 * tokens.length} numbers.`, width: 40 + most * C, height: 3 * C + 2 },
    ["key", "", "value"].map((text, i) => s("text", { x: 0, y: 16 + i * C }, text)),
    range(most).map((n) => range(3).map((i) => [
      s("rect", {
        class: `cell ${n < tokens.length ? "done" : "gone"} ${n === tokens.length - 1 ? "chosen" : ""}`,
        x: 40 + n * C, y: 2 + i * C, width: C - 3, height: C - 3,
      }),
      n < tokens.length && s("text", {
        class: "number", x: 50 + n * C, y: 17 + i * C, "text-anchor": "middle",
      }, format(tokens[n][2 + i], 0)),
    ])),
  );
}

export default {
  render({ model, el }) {
    const { narrow, wide, tokens } = model.get("data");
    const widths = [narrow, wide];
    const figure = frame(el, "A cache grows with every token, and a state does not. What can it still answer?");
    const rule = figure.choice({ label: "State", options: ["plain sums", "delta rule"] });
    const pairs = figure.slider({ label: "Tokens", min: 1, max: narrow.length, value: 10 });
    figure.player(pairs, 1500);
    figure.lesson(() => {
      [rule.value, pairs.value] = [0, 3];
    });
    const shared = el.querySelector(".kata-controls").childElementCount;
    const names = widths.map((keys) => `${keys[0].length} rows`);
    const moved = () => (rule.value = 1);
    const width = figure.choice({ label: "The state has", options: names, moved });
    const beta = figure.slider({ label: "Beta", min: 0, max: 1, step: 0.05, digits: 2, value: 1, moved });
    const decay = figure.slider({ label: "Decay", min: 0.5, max: 1, step: 0.05, digits: 2, value: 1, moved });
    const alone = figure.toggle({ label: "Leave out the correction", moved });
    const ofDelta = [...el.querySelector(".kata-controls").children].slice(shared);
    const plain = (N) => {
      const [inCache, state, inState] = summed(tokens.slice(0, N));
      const [a, b] = tokens[N - 1];
      const whole = ([one, other]) => `${a} · ${format(one, 0)} + ${b} · ${format(other, 0)}`;
      return {
        show: [row(
          cache(tokens.slice(0, N), tokens.length),
          sign("→"),
          matrix({ name: "the state", values: state, rows: ["sums", "normalizer"], digits: 0 }),
          matrix({ name: "the query reads", values: [[inCache], [inState]], rows: ["in the cache", "in the state"] }),
        )],
        key: ["numbers kept, cache : state", `${3 * N} : 4`],
        say: `After ${N} ${N === 1 ? "token" : "tokens"} the query (${a}, ${b}) reads the same in both: `
          + `(${whole(state[0])}) / (${whole(state[1])}) = ${format(inState)}.`,
      };
    };
    figure.draw(() => {
      const N = pairs.value;
      ofDelta.forEach((one) => (one.style.display = rule.value ? "" : "none"));
      if (rule.value === 0) return plain(N);
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
      const name = alone.value ? "the sum" : "the delta rule";
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
            name: "pairs recalled",
            values: counts,
            labels: ["softmax attention", "linear attention", name],
            digits: 0,
            most: N,
            marked: 2,
          })),
          matrix({
            name: "what each key reads",
            values: reads,
            rows: range(N).map((i) => `key ${i}`),
            columns: range(N).map((i) => `pair ${i}`),
            scale: 1,
            marked: (i, j) => i === j && all[2][i],
          }),
        ],
        key: [`recalled by ${name}`, `${counts[2]} of ${N}`],
        say: `Of ${N} ${N === 1 ? "pair" : "pairs"}, softmax attention recalls ${counts[0]}, linear attention `
          + `${counts[1]}, and ${name} ${counts[2]}. Key ${least} reads the least of its own value: `
          + `${format(reads[least][least])}.`,
      };
    });
  },
};
