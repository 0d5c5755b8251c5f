// W is between latent vectors and a query. It makes a key of each latent vector, or it brings the query to them, once.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { count, dot, format, softmax, transpose } from "../../grader/integrations/figures/maths.js";
import { bars, drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const SCALE = 2; // the root of head_dim 2 and d_rope 2
const [C, GAP, TOP] = [34, 48, 126]; // a cell, from token to token, and where the first one is
const [W_AT, RIGHT, MIDDLE] = [110, 240, 55]; // where W and what is of its length begin; the height of its middle
const ARROW = 5; // half the width of a head

// An arrow of one bend from [x, y] to [x, y].
function arrow([a, b], [c, d]) {
  const side = Math.sign(c - a);
  const bend = (a + c) / 2;
  const back = c - side * ARROW;
  const facts = { class: "link now", "stroke-width": 2 };
  return [
    s("path", { ...facts, d: `M${a},${b}C${bend},${b} ${bend},${d} ${c},${d}` }),
    s("path", { ...facts, d: `M${back},${d - ARROW}L${c},${d}L${back},${d + ARROW}` }),
  ];
}

const word = (x, y, text, look, anchor = "middle") => s("text", { x, y, "text-anchor": anchor, class: look }, text);

const vector = (values, x, y, kind) => values.map((value, n) => [
  s("rect", { class: `cell ${kind}`, x: x + n * C, y, width: C - 3, height: C - 3 }),
  value !== null && word(x + n * C + (C - 3) / 2, y + 20, format(value, 0), "number"),
]);

// A dot product written out.
const product = (a, b) => `${a.map((value, i) => `${format(value, 0)}·${format(b[i], 0)}`).join(" + ")} = `
  + format(dot(a, b), 0);

// The way from the latent vectors and the query to the scores. absorbs: the query goes to the latent vectors.
function ways({ q, up, latent, keys, moved, absorbs, tokens }) {
  const [large, small] = [up[0].length, up.length];
  const shown = latent.slice(0, Math.min(tokens, latent.length));
  const yOf = (t) => TOP + t * GAP;
  const [left, right] = [W_AT - 6, W_AT + large * C + 3];
  const [ofKey, ofLatent] = [(small * C) / 2 - 2, RIGHT + (large * C) / 2 - 2];
  const scores = shown.map((c, t) => (absorbs ? product(moved, c) : product(keys[t], q)));
  const end = yOf(latent.length);
  return drawing(
    { name: absorbs ? "the query goes to what is kept" : "what is kept becomes keys",
      label: `The scores: ${scores.join(", ")}.`, width: RIGHT + large * C, height: end + 8, most: 500 },
    word(
      (left + right) / 2, 12,
      absorbs ? "W takes the query: (q W) · c = q · (W c)" : "W makes a key of each c: q · (W c)", "strong",
    ),
    up.map((line, n) => vector(line, W_AT, MIDDLE + (n - small / 2) * C + 2, "")),
    s("rect", { class: "box", x: left, y: MIDDLE - C - 4, width: right - left, height: small * C + 8, rx: 5 }),
    word(ofKey, MIDDLE - 24, "query q"),
    vector(q, 1, MIDDLE - 16, "kata-kind-1"),
    absorbs && [
      word(ofLatent, MIDDLE - 24, "moved: q W"),
      vector(moved, RIGHT, MIDDLE - 16, "kata-kind-1"),
      arrow([small * C + 2, MIDDLE], [left - 3, MIDDLE]),
      arrow([right + 3, MIDDLE], [RIGHT - 4, MIDDLE]),
    ],
    s("path", { // what is compared
      class: "link now", "stroke-width": 2, d: `M${absorbs ? ofLatent : ofKey},${MIDDLE + 22}v34m-5,-5l5,5l5,-5`,
    }),
    shown.map((c, t) => [
      vector(c, RIGHT, yOf(t), "kata-kind-0"),
      vector(absorbs ? q.map(() => null) : keys[t], 1, yOf(t), absorbs ? "gone" : "kata-kind-0"),
      word(absorbs ? RIGHT - 8 : left + 4, yOf(t) + 20, scores[t], "strong", absorbs ? "end" : "start"),
      !absorbs && [
        arrow([RIGHT - 4, yOf(t) + 16], [right + 3, MIDDLE]), arrow([left - 3, MIDDLE], [small * C + 2, yOf(t) + 16]),
      ],
    ]),
    word(absorbs ? RIGHT - 8 : left + 4, TOP - 4, shown.length > 1 ? "scores" : "score", null, absorbs ? "end" : "start"),
    word(ofKey, end, absorbs ? "no key" : "keys"),
    word(
      RIGHT + large * C - 3, end,
      tokens > latent.length ? `c, kept … ${count(tokens)} tokens` : "c, kept in the cache", null, "end",
    ),
  );
}

export default {
  render({ model, el }) {
    const { query, up, latent } = model.get("data");
    const figure = frame(el, "If the query goes through W, its scores need no keys");
    figure.beside();
    const way = figure.choice({ label: "Through W", options: ["what is kept", "the query"], value: 1 });
    const length = figure.slider({ label: "Tokens", min: 1, max: 1000, bend: 3, value: 2 });
    const numbers = query.map((value, n) => figure.slider({ label: `Query, number ${n}`, min: -3, max: 3, value }));
    const all = figure.toggle({ label: "Work and weights" });
    figure.lesson(() => {
      [way.value, length.value, all.value] = [1, 2, true];
      numbers.forEach((one, n) => (one.value = query[n]));
    });
    figure.draw(() => {
      const [q, T, absorbs] = [numbers.map((one) => one.value), length.value, way.value === 1];
      const keys = latent.map((c) => up.map((w) => dot(w, c)));
      const moved = transpose(up).map((column) => dot(column, q));
      const scores = latent.slice(0, T).map((c, t) => (absorbs ? dot(moved, c) : dot(keys[t], q)));
      const [small, large] = [q.length, latent[0].length];
      const work = [T * small * large + T * small, small * large + T * large];
      const tokens = scores.map((_, t) => `token ${t}`);
      return {
        show: ways({ q, up, latent, keys, moved, absorbs, tokens: T }),
        more: all.value && row(
          bars({
            name: "multiplications", values: work, labels: ["with keys", "without keys"], digits: 0, marked: way.value,
          }),
          matrix({ name: "scores", values: scores, columns: tokens, digits: 0, heat: false }),
          matrix({ name: "weights", values: softmax(scores.map((one) => one / SCALE)), columns: tokens, scale: 1 }),
        ),
        key: ["keys made", count(absorbs ? 0 : T)],
        say: (absorbs
          ? "No key is made: the query goes through W once, and is compared with what is kept. "
          : "W makes a key of everything that is kept, and the query is compared with the keys. ")
          + `That takes ${count(work[way.value])} multiplications, the other way ${count(work[1 - way.value])}.`,
      };
    });
  },
};
