// An attention-only transformer in plain JavaScript, with heads that can be switched off.

import { floats, range, softmax } from "./maths.js";

// The model from its sizes and its parameters, packed one after the other in the order of its state dict.
export function transformer({ sizes, parameters }) {
  const { vocabulary, width, context, layers, heads } = sizes;
  const all = Float64Array.from(floats(parameters)); // one kind of array everywhere: the engine is twice as quick
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
// off: a set of "layer.head" whose output is 0.
export function run(model, tokens, off = new Set(), past = cache(model)) {
  const [size, start] = [model.width / model.heads, past[0].keys.length];
  let x = tokens.map((token, t) => Float64Array.from(
    model.token[token],
    (value, i) => value + model.position[start + t][i]
  ));
  const weights = model.stack.map((layer, l) => {
    const { keys, values } = past[l];
    const queries = x.map((one) => applied(layer.query, one));
    keys.push(...x.map((one) => applied(layer.key, one)));
    values.push(...x.map((one) => applied(layer.value, one)));
    const merged = tokens.map(() => new Float64Array(model.width));
    const maps = range(model.heads).map((head) => {
      const [from, to] = [head * size, (head + 1) * size];
      return tokens.map((_, t) => {
        const scores = range(start + t + 1).map((s) => product(queries[t], keys[s], from, to) / Math.sqrt(size));
        const row = softmax(scores);
        if (!off.has(`${l}.${head}`)) row.forEach((weight, s) => add(merged[t], values[s], weight, from, to));
        return [...row, ...tokens.slice(t + 1).map(() => 0)];
      });
    });
    x = x.map((one, t) => {
      const added = applied(layer.out, merged[t]);
      return one.map((value, i) => value + added[i]);
    });
    return maps;
  });
  return { logits: x.map((one) => applied(model.unembedding, one)), weights };
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

// Token ids from what was typed: whole numbers below the size of the vocabulary; else what is wrong.
export function ids(text, model) {
  const words = text.split(/[\s,]+/).filter(Boolean);
  const wrong = words.find((word) => !/^\d+$/.test(word) || Number(word) >= model.vocabulary);
  if (wrong) return { error: `“${wrong}” is no token: type whole numbers from 0 to ${model.vocabulary - 1}.` };
  if (words.length < 2) return { error: "Type two tokens or more." };
  const most = model.context;
  if (words.length > most) return { error: `The model reads ${most} tokens at most; these are ${words.length}.` };
  return { tokens: words.map(Number) };
}
