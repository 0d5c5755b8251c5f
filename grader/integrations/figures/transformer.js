// An attention-only transformer in plain JavaScript, with heads that can be switched off.

import { floats, halves, range, softmax } from "./maths.js";

// The model from its sizes and its parameters, packed one after the other in the order of its state dict, as float32
// or in half the room as float16.
export function transformer({ sizes, parameters, half }) {
  const { vocabulary, width, context, layers, heads } = sizes;
  // One kind of array everywhere: the engine is twice as quick.
  const all = half ? halves(half) : Float64Array.from(floats(parameters));
  let read = 0;
  const take = (rows) => {
    const part = range(rows).map((i) => all.subarray(read + i * width, read + (i + 1) * width));
    read += rows * width;
    return part;
  };
  const [token, position] = [take(vocabulary), take(context)];
  const stack = range(layers).map(() => ({
    query: take(width),
    key: take(width),
    value: take(width),
    out: take(width),
  }));
  return { ...sizes, token, position, stack, unembedding: take(vocabulary) };
}

// A vector's product with each row of a matrix.
function applied(matrix, vector) {
  const result = new Float64Array(matrix.length);
  for (let i = 0; i < matrix.length; i++) result[i] = product(matrix[i], vector, 0, vector.length);
  return result;
}

function product(a, b, from, to) {
  let total = 0;
  for (let i = from; i < to; i++) total += a[i] * b[i];
  return total;
}

function add(total, vector, weight, from, to) {
  for (let i = from; i < to; i++) total[i] += weight * vector[i];
}

// What a model keeps of the tokens that it has read: keys and values of each layer.
export const cache = (model) => model.stack.map(() => ({ keys: [], values: [] }));

// Logits (T, V) and every head's weights [layer][head] (T, T so far) of tokens that follow those in the cache.
// off: a set of "layer.head" whose output is 0. keep: of `kept`, with an empty cache only: what the tokens and the
// switches leave as it was is not computed again, and stays the same array.
export function run(model, tokens, off = new Set(), past = cache(model), keep = (name, of, make) => make()) {
  const start = past[0].keys.length;
  let x = keep("embedded", [model, tokens.join()], () => tokens.map((token, t) => Float64Array.from(
    model.token[token],
    (value, i) => value + model.position[start + t][i]
  )));
  const weights = model.stack.map((layer, l) => {
    const before = x;
    const { maps, merged, ...read } = keep(`read by ${l}`, [before], () => attend(layer, before, past[l], model.heads));
    const none = range(model.heads).filter((head) => off.has(`${l}.${head}`));
    past[l] = read;
    x = keep(`after ${l}`, [before, none.join()], () => before.map((one, t) => {
      const added = applied(layer.out, without(merged[t], none, model.heads));
      return one.map((value, i) => value + added[i]);
    }));
    return maps;
  });
  return { logits: keep("logits", [x], () => x.map((one) => applied(model.unembedding, one))), weights };
}

// The attention of one layer: each head's weights, the heads' outputs side by side, and all keys and values so far.
function attend(layer, x, past, heads) {
  const start = past.keys.length;
  const queries = x.map((one) => applied(layer.query, one));
  const keys = [...past.keys, ...x.map((one) => applied(layer.key, one))];
  const values = [...past.values, ...x.map((one) => applied(layer.value, one))];
  const merged = queries.map((one) => new Float64Array(one.length));
  const size = layer.query.length / heads;
  const maps = range(heads).map((head) => {
    const [from, to] = [head * size, (head + 1) * size];
    return queries.map((query, t) => {
      const row = new Array(keys.length).fill(0);
      const seen = start + t + 1;
      let [most, total] = [-Infinity, 0];
      for (let s = 0; s < seen; s++) {
        row[s] = product(query, keys[s], from, to) / Math.sqrt(size);
        most = Math.max(most, row[s]);
      }
      for (let s = 0; s < seen; s++) total += row[s] = Math.exp(row[s] - most);
      for (let s = 0; s < seen; s++) {
        row[s] /= total;
        add(merged[t], values[s], row[s], from, to);
      }
      return row;
    });
  });
  return { maps, merged, keys, values };
}

// The heads' outputs side by side, 0 for those heads.
function without(merged, none, heads) {
  const [left, size] = [merged.slice(), merged.length / heads];
  none.forEach((head) => left.fill(0, head * size, (head + 1) * size));
  return left;
}

// So many tokens more, each the one with the largest logit. logits: of the last token in the cache.
export function generate(model, logits, more, off, past) {
  const next = [];
  for (let last = logits; next.length < more; ) {
    if (next.length) last = run(model, next.slice(-1), off, past).logits[0];
    next.push(last.indexOf(Math.max(...last)));
  }
  return next;
}

// The loss of each prediction with the token that comes next: (T - 1).
export const losses = (logits, tokens) => tokens.slice(1).map((next, t) => -Math.log(Math.max(
  softmax(Array.from(logits[t]))[next],
  1e-30
)));

// Token ids from what was typed: whole numbers below the size of the vocabulary, or words that `names` has by id; else
// what is wrong.
export function ids(text, model, names = []) {
  const asId = (word) => (names.includes(word) ? String(names.indexOf(word)) : word);
  const words = text.split(/[\s,]+/).filter(Boolean).map(asId);
  const wrong = words.find((word) => !/^\d+$/.test(word) || Number(word) >= model.vocabulary);
  if (wrong) return { error: `“${wrong}” is no token: type ${names.length ? `${names.join(", ")}, or ` : ""}`
    + `whole numbers from 0 to ${model.vocabulary - 1}.` };
  if (words.length < 2) return { error: "Type two tokens or more." };
  const most = model.context;
  if (words.length > most) return { error: `The model reads ${most} tokens at most; these are ${words.length}.` };
  return { tokens: words.map(Number) };
}
