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

// The last query goes to a cache, which grows by each token, and to a state, which doesn't: it reads the same in both.
function reading(tokens, most, [result, [sums, norms]]) {
  const [C, H, LEFT, END] = [17, 24, 70, 284]; // a cell, its height, where cells begin, and where the result is
  const word = (x, y, text, look, anchor) => s("text", { x, y, "text-anchor": anchor, class: look }, text);
  const cell = (x, y, wide, look, text = "") => [
    s("rect", { class: `cell ${look}`, x, y, width: wide - 2, height: H - 2 }),
    word(x + wide / 2 - 1, y + 15, text, "number", "middle"),
  ];
  const arrow = (d) => s("path", { class: "link now", "stroke-width": 2, d });
  const [a, b, first, second, value] = tokens.at(-1);
  return drawing(
    { name: "the newest query reads twice", label: `In ${3 * tokens.length} numbers and in 4: ${format(result, 2)}.`,
      width: 342, height: 208, most: 460 },
    ["key 0", "key 1", "value"].map((text, i) => [word(0, 17 + i * H, text), range(most).map((n) => cell(
      LEFT + n * C, 2 + i * H, C, n < tokens.length - 1 ? "done" : n < tokens.length ? "done chosen" : "gone",
      tokens[n]?.[2 + i],
    ))]),
    word(0, 115, "query"), cell(LEFT, 100, 30, "kata-kind-1", a), cell(LEFT + 30, 100, 30, "kata-kind-1", b),
    arrow(`M${LEFT + 29},98v-17m-5,5l5,-5l5,5M${LEFT + 29},124v24m-5,-5l5,5l5,-5`),
    cell(END, 98, 56, "done chosen", format(result, 2)),
    arrow(`M${LEFT + most * C + 2},38H${END + 27}v56m-5,-5l5,5l5,-5M${END - 8},175h35v-50m-5,5l5,-5l5,5`),
    word(LEFT + 90, 142, "the newest token adds"),
    [["sums", sums, ` · ${value}`], ["normalizer", norms, ""]].map(([name, [one, other], by], i) => [
      word(0, 167 + i * H, name),
      cell(LEFT, 152 + i * H, 38, "done", one), cell(LEFT + 38, 152 + i * H, 38, "done", other),
      word(LEFT + 90, 167 + i * H, `+ ${first}${by}, + ${second}${by}`),
    ]),
  );
}

export default {
  render({ model, el }) {
    const { narrow, wide, tokens } = model.get("data");
    const widths = [narrow, wide];
    const figure = frame(el, "A cache keeps every token, a state four numbers. What can a query still read there?");
    const pairs = figure.slider({ label: "Tokens", min: 1, max: narrow.length, value: 10 });
    figure.player(pairs, 1500);
    figure.below();
    const rule = figure.choice({ label: "State", options: ["plain sums", "delta rule"] });
    const shown = figure.toggle({ label: "Numbers" });
    figure.lesson(() => ([rule.value, pairs.value, shown.value] = [0, 3, true]));
    const shared = el.querySelector(".kata-below").childElementCount;
    const names = widths.map((keys) => `${keys[0].length} rows`);
    const moved = () => (rule.value = 1);
    const width = figure.choice({ label: "The state has", options: names, moved });
    const beta = figure.slider({ label: "Beta", min: 0, max: 1, step: 0.05, digits: 2, value: 1, moved });
    const decay = figure.slider({ label: "Decay", min: 0.5, max: 1, step: 0.05, digits: 2, value: 1, moved });
    const alone = figure.toggle({ label: "Leave out the correction", moved });
    const ofDelta = [...el.querySelector(".kata-below").children].slice(shared);
    const plain = (N) => {
      const [inCache, state, inState] = summed(tokens.slice(0, N));
      const [a, b] = tokens[N - 1];
      const whole = ([one, other]) => `(${a} · ${one} + ${b} · ${other})`.replace(/ /g, "\u00a0");
      return {
        show: [
          reading(tokens.slice(0, N), tokens.length, [inCache, state]),
          shown.value && row(
            matrix({ name: "the state", values: state, rows: ["sums", "normalizer"], digits: 0, heat: false }),
            matrix({ name: "read", values: [[inCache], [inState]], rows: ["in cache", "in state"], heat: false }),
          ),
        ],
        key: ["read in both", [inCache, inState].map((one) => format(one, 2)).join(" = ")],
        say: `The cache holds ${3 * N} numbers, the state 4. The query (${a},\u00a0${b}) reads the same in both: `
          + `${whole(state[0])} / ${whole(state[1])}\u00a0=\u00a0${format(inState, 2)}.`,
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
          shown.value && matrix({
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
