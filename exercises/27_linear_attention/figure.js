// A state of few rows: the plain sums of linear attention; and pairs that the delta rule writes, and which come back.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, format, matmul, range, softmax, sum, times, transpose } from "../../grader/integrations/figures/maths.js";
import { plane } from "../../grader/integrations/figures/plane.js";
import { bars, drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

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

// Linear attention: the state after the tokens, in each row a sum and its part of the normalizer, and what each
// token's query read.
function summed(tokens) {
  let state = tokens[0].slice(2, 4).map(() => [0, 0]);
  const outputs = tokens.map(([a, b, first, second, value]) => {
    state = state.map(([total, weight], i) => [total + [first, second][i] * value, weight + [first, second][i]]);
    return dot([a, b], state.map(([total]) => total)) / dot([a, b], state.map(([, weight]) => weight));
  });
  return { state, outputs };
}

// Which pairs come back: their own value is the largest of what their key reads.
const own = (reads) => reads.map((one, i) => one.every((value, j) => j === i || one[i] > value + CLOSE));

// A cache, which grows by each token, and a state, which does not: what is in them, and what the last query reads.
function memories(tokens, state, output) {
  const [C, most] = [20, 12]; // the side of a cell, and how many tokens there may be
  const last = tokens.length - 1;
  const text = (x, y, words, look = null, anchor = "middle") =>
    s("text", { x, y, class: look, "text-anchor": anchor }, words);
  const cell = (x, y, look, wide = C, high = C) => s("rect", {
    class: `cell ${look}`, x, y, width: wide - 2, height: high - 2,
  });
  const [left, wide, high] = [most * C + 66, 72, 34]; // of the state: where it begins, and its cells
  return drawing(
    {
      name: "what is kept of the tokens so far",
      label: `A cache keeps ${3 * tokens.length} numbers, the state 4: ${state.flat().join(", ")}.`,
      width: left + 2 * wide + 14,
      height: 150,
    },
    text(0, 14, `a cache: ${3 * tokens.length} numbers`, "strong", "start"),
    range(most).map((n) => range(3).map((i) =>
      cell(n * C, 26 + i * C, n > last ? "gone" : n === last ? "now" : "done"))),
    text(0, 104, "each token adds its key (2)", null, "start"),
    text(0, 120, "and its value (1)", null, "start"),
    text(left, 14, "the state: 4 numbers", "strong", "start"),
    state.map((one, i) => one.map((value, j) => [
      cell(left + j * wide, 26 + i * high, "done", wide, high),
      s("text", {
        class: "number", x: left + j * wide + wide / 2 - 1, y: 47 + i * high, "text-anchor": "middle",
      }, format(value, 0)),
    ])),
    text(left + wide / 2, 110, "sums"),
    text(left + 1.5 * wide, 110, "normalizer"),
    s("path", {
      class: "link now", "stroke-width": 1.6,
      d: `M${most * C + 10},56H${left - 10}m-6,-5l6,5l-6,5`,
    }),
    text((most * C + left) / 2, 48, "add"),
    text(left + 2 * wide - 2, 140, `the last query reads ${format(output)}`, "strong", "end"),
  );
}

export default {
  render({ model, el }) {
    const { narrow, wide, tokens } = model.get("data");
    const widths = [narrow, wide];
    const figure = frame(el, "A cache grows with every token, and a state does not. What can it still answer?");
    const rule = figure.choice({ label: "State", options: ["plain sums", "delta rule"] });
    const pairs = figure.slider({ label: "Pairs", min: 1, max: narrow.length, value: 3 });
    figure.player(pairs, 1500);
    const names = widths.map((keys) => `${keys[0].length} rows`);
    const moved = () => (rule.value = 1); // what the plain sums do not have turns to the delta rule
    const width = figure.choice({ label: "The state has", options: names, moved });
    const beta = figure.slider({ label: "Beta", min: 0, max: 1, step: 0.05, digits: 2, value: 1, moved });
    const decay = figure.slider({ label: "Decay", min: 0.5, max: 1, step: 0.05, digits: 2, value: 1, moved });
    const alone = figure.toggle({ label: "Leave out the correction", moved });
    const plain = (N) => {
      const { state, outputs } = summed(tokens.slice(0, N));
      const [a, b] = tokens[N - 1];
      const [[total, weight], [more, rest]] = state;
      const whole = (value) => format(value, 0);
      return {
        show: [
          row(memories(tokens.slice(0, N), state, outputs[N - 1]), matrix({
            name: "tokens",
            values: tokens.slice(0, N),
            rows: range(N).map((i) => `token ${i}`),
            columns: ["φ(q) 0", "φ(q) 1", "φ(k) 0", "φ(k) 1", "value"],
            digits: 0,
            heat: false,
          })),
          matrix({ name: "what each query read", values: [outputs], columns: range(N).map((i) => `token ${i}`) }),
        ],
        key: ["numbers kept: by a cache, by the state", `${3 * N} and 4`],
        say: `After ${N} ${N === 1 ? "token" : "tokens"} the query (${a}, ${b}) reads (${a} · ${whole(total)} + ${b} · `
          + `${whole(more)}) / (${a} · ${whole(weight)} + ${b} · ${whole(rest)}) = ${format(outputs[N - 1])}.`,
      };
    };
    figure.draw(() => {
      const N = pairs.value;
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
            rows: ["softmax attention", "linear attention", name],
            digits: 0,
            heat: false,
          })),
        ],
        key: [`recalled by ${name}`, `${counts[2]} of ${N}`],
        say: `Of ${N} ${N === 1 ? "pair" : "pairs"}, softmax attention recalls ${counts[0]}, linear attention `
          + `${counts[1]}, and ${name} ${counts[2]}. Key ${least} reads the least of its own value: `
          + `${format(reads[least][least])}.`,
      };
    });
  },
};
