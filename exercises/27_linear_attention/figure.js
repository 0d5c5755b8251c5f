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

// Linear attention: the weights that the last query gives the cache, the state after all tokens (sums and normalizer),
// and what the query reads in each, above and below the line of a fraction.
function summed(tokens) {
  const query = tokens.at(-1)?.slice(0, 2) ?? [0, 0];
  const weights = tokens.map((one) => dot(query, one.slice(2, 4)));
  const state = [4, null].map((value) => [2, 3].map((i) => sum(tokens.map((one) => one[i] * (one[value] ?? 1)))));
  return {
    weights, state,
    inCache: [dot(weights, tokens.map((one) => one[4])), sum(weights)],
    inState: state.map((one) => dot(query, one)),
  };
}

// Which pairs come back: their own value is the largest of what their key reads.
const own = (reads) => reads.map((one, i) => one.every((value, j) => j === i || one[i] > value + CLOSE));

const [H, END, LOW] = [24, 106, 146]; // the height of a cell, the end of a memory, and where the query stands
const word = (x, y, text, look, anchor) => s("text", { x, y, "text-anchor": anchor, class: look }, text);
const cell = (x, y, wide, look, text = "") => [
  s("rect", { class: `cell ${look}`, x: x + 1, y, width: wide - 2, height: H - 2 }),
  word(x + wide / 2, y + 15, text, "number", "middle"),
];
const arrow = (d) => s("path", { class: "link now", "stroke-width": 2, d });

// A memory and, below it, the query that reads all of it, and what it finds: the two parts of a fraction. left, right:
// where the memory begins and ends.
const memory = (name, query, [over, under], [left, right], ...shapes) => drawing(
  { name, label: `The query ${query.join(", ")} reads ${over} / ${under}.`, width: 346, height: LOW + 28, most: 346 },
  shapes,
  arrow(`M${left},${END}v6H${right}v-6M${Math.min(left + 30, (left + right) / 2)},${LOW - 4}v-26m-5,5l5,-5l5,5`),
  arrow(`M${left + 68},${LOW + 11}h36m-5,-5l5,5l-5,5`),
  ["newest", "query"].map((text, n) => word(0, LOW + 8 + 14 * n, text)),
  query.map((value, i) => cell(left + 30 * i, LOW, 30, "kata-kind-1", value)),
  cell(left + 110, LOW, 130, "chosen", `${over} / ${under} = ${format(over / under, 2)}`),
);

// The cache, which each token makes longer, and the weights that the newest query gives it.
function cached(tokens, most, weights, result) {
  const [C, left] = [22, 74];
  const looks = ["tint kata-tone-8", "tint kata-tone-8", "kata-kind-2"]; // of two rows of keys, and of the values
  return memory(
    `a cache of ${3 * tokens.length} numbers (after φ)`, tokens.at(-1).slice(0, 2), result,
    [left, left + tokens.length * C],
    ["key, 1st", "key, 2nd", "value"].map((text, i) => [word(0, 21 + i * H, text), range(most).map((n) => cell(
      left + n * C, 6 + i * H, C,
      n < tokens.length ? looks[i] + (n === tokens.length - 1 ? " chosen" : "") : "gone", tokens[n]?.[2 + i],
    ))]),
    word(0, 21 + 3 * H, "query · key"),
    word(left + 44, LOW - 10, "Σ query · key · value / Σ query · key"),
    weights.map((weight, n) => word(left + (n + 0.5) * C, 21 + 3 * H, weight, "number", "middle")),
  );
}

// The state, to which each token adds its keys, once times its value. before: the state without the last token.
function state([sums, norms], before, tokens, result) {
  const [a, b, first, second, value] = tokens.at(-1);
  const [C, left] = [56, 74];
  const read = [sums, norms].map(([one, other]) => `(${a}·${one} + ${b}·${other})`);
  return memory(
    "a state of 4 numbers", tokens.at(-1).slice(0, 2), result, [left, left + 2 * C],
    ["key, 1st", "key, 2nd"].map((text, i) => word(left + (i + 0.5) * C, 34, text, null, "middle")),
    word(left + 2 * C + 8, 34, "= before + newest token"),
    word(left + 44, LOW - 10, read.join(" / ")),
    [["sums", sums, `${value} · (${first}, ${second})`], ["normalizer", norms, `(${first}, ${second})`]].map(
      ([name, numbers, added], i) => [
        word(0, 63 + i * H, name),
        numbers.map((number, n) => cell(left + n * C, 48 + i * H, C, "done", number)),
        word(left + 2 * C + 8, 63 + i * H, `= (${before[i].join(", ")}) + ${added}`),
      ]
    ),
  );
}

export default {
  render({ model, el }) {
    const { narrow, wide, tokens } = model.get("data");
    const widths = [narrow, wide];
    const figure = frame(el, "Linear attention reads the same from four sums as from the whole cache");
    figure.below();
    const pairs = figure.slider({ label: "Tokens", min: 1, max: narrow.length, value: 3 });
    figure.player(pairs, 1500);
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
      const read = tokens.slice(0, N);
      const { weights, state: after, inCache, inState } = summed(read);
      const ratio = ([over, under]) => over / under;
      const [a, b] = tokens[N - 1];
      const whole = ([one, other]) => `(${a} · ${one} + ${b} · ${other})`.replace(/ /g, "\u00a0");
      return {
        show: [
          row(
            cached(read, tokens.length, weights, inCache),
            state(after, summed(read.slice(0, -1)).state, read, inState),
          ),
          shown.value && row(
            matrix({ name: "the state", values: after, rows: ["sums", "normalizer"], digits: 0, heat: false }),
            matrix({ name: "read", values: [inCache, inState].map((one) => [ratio(one)]), rows: ["in cache", "in state"], heat: false }),
          ),
        ],
        key: ["read in both", [inCache, inState].map((one) => format(ratio(one), 2)).join(" = ")],
        say: `The cache holds ${3 * N} numbers, the state 4. The query (${a},\u00a0${b}) reads the same in both: `
          + `${whole(after[0])} / ${whole(after[1])}\u00a0=\u00a0${format(ratio(inState), 2)}.`,
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
            name: "the keys by number",
            from: [-1.2, -1.2],
            to: [1.2, 1.2],
            points: keys.map(([x, y], i) => ({ x, y, name: String(i), size: 5, look: all[2][i] ? "" : "other" })),
            lines: keys.map((key) => [[0, 0], key, 2]),
            note: "A pair is a key and its value. Full: recalled, as the key reads most of its own value.",
          }), bars({
            name: "pairs recalled",
            values: counts,
            labels: ["softmax attention", "linear attention", name],
            digits: 0,
            most: N,
            marked: 2,
          })),
          shown.value && matrix({
            name: "what each key reads of each pair",
            values: reads,
            rows: range(N).map(String),
            columns: range(N).map(String),
            digits: 2,
            scale: 1,
            marked: (i, j) => i === j && all[2][i],
          }),
        ],
        title: `A state of ${names[width.value]} has room for ${keys[0].length} keys at right angles; more disturb each `
          + "other",
        key: [`recalled by ${name}`, `${counts[2]} of ${N}`],
        say: `Of ${N} ${N === 1 ? "pair" : "pairs"}, softmax attention recalls ${counts[0]}, linear attention `
          + `${counts[1]}, and ${name} ${counts[2]}. Key ${least} reads the least of its own value: `
          + `${format(reads[least][least])}.`,
      };
    });
  },
};
