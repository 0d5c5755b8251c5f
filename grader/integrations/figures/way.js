// The whole way of self-attention, from inputs to context vectors. Point at any number: it says what it is made of.

import { frame } from "./frame.js";
import { dot, format, matmul, range, softmax, sum, times, transpose } from "./maths.js";
import { matrix, row } from "./tables.js";

// Each weight matrix is (d_in, d_out): `x @ W`. first: the cell that is picked at the beginning. Play walks from a
// query to a context vector.
export function way(el, title, { inputs, tokens, W_query, W_key, W_value, first }) {
  const [queries, keys, values] = [W_query, W_key, W_value].map((W) => matmul(inputs, W));
  const scale = 1 / Math.sqrt(W_query[0].length);
  const scores = matmul(queries, transpose(keys));
  const weights = times(scores, scale).map(softmax);
  const context = matmul(weights, values);
  const all = { inputs, W_query, W_key, W_value, queries, keys, values, scores, weights, "context vectors": context };
  const figure = frame(el, title);
  const cell = figure.state(first);
  const [t, u] = [1, 2]; // the walk: how token t comes by its context vector, through its weight on token u
  const stages = [
    ["queries", t, 0], ["keys", u, 0], ["scores", t, u], ["weights", t, u], ["values", u, 0], ["context vectors", t, 0],
  ];
  const stage = () => stages.findIndex((one) => one.join() === cell.value.join());
  figure.player({
    get isAtEnd() {
      return stage() === stages.length - 1;
    },
    step: () => (cell.value = stages[(stage() + 1) % stages.length]),
    reset: () => (cell.value = stages[0]),
  }, 2500);

  const product = (a, b) => a.map((x, n) => `${format(x)} · ${format(b[n])}`).join(" + ");
  const column = (name, j) => all[name].map((one) => one[j]);
  const projected = (name, from) => ({
    made: (i, j) => product(inputs[i], column(from, j)),
    of: (i, j) => [
      ...range(inputs[i].length).map((d) => ["inputs", i, d]),
      ...range(inputs[i].length).map((d) => [from, d, j]),
    ],
  });
  const ways = {
    queries: projected("queries", "W_query"),
    keys: projected("keys", "W_key"),
    values: projected("values", "W_value"),
    scores: {
      made: (i, j) => product(queries[i], keys[j]),
      of: (i, j) => [...queries[i].map((_, d) => ["queries", i, d]), ...keys[j].map((_, d) => ["keys", j, d])],
    },
    weights: {
      made(i, j) {
        const total = format(sum(scores[i].map((score) => Math.exp(score * scale))));
        return `e^(${format(scores[i][j])} / √${W_query[0].length}) / ${total}, the sum over `
          + `${scores[i].length} keys`;
      },
      of: (i) => scores[i].map((_, d) => ["scores", i, d]),
    },
    "context vectors": {
      made: (i, j) => product(weights[i], column("values", j)),
      of: (i, j) => [...weights[i].map((_, d) => ["weights", i, d]), ...weights[i].map((_, d) => ["values", d, j])],
    },
  };

  figure.draw(() => {
    const [name, i, j] = cell.value;
    const sources = new Set((ways[name]?.of(i, j) ?? []).map((place) => place.join("/")));
    const shown = (which, rows) =>
      matrix({
        name: which, values: all[which], rows, columns: which === "scores" || which === "weights" ? tokens : undefined,
        picked: which === name ? [i, j] : undefined, pick: (...at) => (cell.value = [which, ...at]),
        marked: (...at) => sources.has([which, ...at].join("/")),
      });
    const value = format(all[name][i][j]);
    const made = ways[name] ? `= ${ways[name].made(i, j)} = ${value}` : `= ${value} is given.`;
    return {
      threads: (ways[name]?.of(i, j) ?? []).map((place) => [place, cell.value]),
      key: [`${name}[${i}, ${j}]`, value],
      show: [
        row(shown("inputs", tokens), shown("W_query"), shown("W_key"), shown("W_value")),
        row(shown("queries", tokens), shown("keys", tokens), shown("values", tokens)),
        row(shown("scores", tokens), shown("weights", tokens), shown("context vectors", tokens)),
      ],
      say: `${name}[${i}, ${j}] ${made}`,
    };
  });
}
