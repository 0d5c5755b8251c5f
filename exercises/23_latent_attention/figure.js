// W is between latent vectors and a query. It makes a key of each latent vector, or it brings the query to them, once.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { count, dot, format, range, softmax, transpose } from "../../grader/integrations/figures/maths.js";
import { bars, drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const SCALE = 2; // the root of head_dim 2 and d_rope 2
const [C, GAP, TOP] = [34, 52, 88]; // a cell, from token to token, and where the first one is
const [LATENT, W_AT, KEY] = [34, 212, 366]; // where the latent vectors, W and the keys begin
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

// The two ways from the latent vectors and the query to the scores. absorbs: the query goes to the latent vectors.
function ways({ q, up, latent, keys, absorbed, scores, absorbs, tokens }) {
  const vector = (values, x, y, kind) => values.map((value, n) => [
    s("rect", { class: `cell ${kind}`, x: x + n * C, y, width: C - 3, height: C - 3 }),
    s("text", { class: "number", x: x + n * C + (C - 3) / 2, y: y + 20, "text-anchor": "middle" }, format(value, 0)),
  ]);
  const word = (x, y, text, look, anchor = "middle") => s("text", { x, y, "text-anchor": anchor, class: look }, text);
  const [large, small] = [up[0].length, up.length];
  const shown = latent.slice(0, Math.min(tokens, latent.length));
  const yOf = (t) => TOP + t * GAP;
  const middle = TOP + ((latent.length - 1) * GAP + C) / 2;
  const [left, right] = [W_AT - 8, W_AT + large * C + 6];
  const [ofLatent, ofKey] = [LATENT + (large * C) / 2 - 2, KEY + (small * C) / 2 - 2];
  const score = (t, x) => word(x, yOf(t) + 21, `→ ${format(scores[t], 0)}`, "strong", "start");
  const more = tokens > latent.length ? `… ${count(tokens)} tokens` : "";
  const end = yOf(latent.length) + 4;
  return drawing(
    { name: "two ways to the same scores", label: `The scores are ${scores.join(" and ")}.`, width: 480,
      height: end + 8 },
    word(W_AT + (large * C) / 2 - 2, middle - C - 12, "W", "strong"),
    up.map((line, n) => vector(line, W_AT, middle - C + n * C + 2, "")),
    s("rect", { class: "box", x: left, y: middle - C - 4, width: right - left, height: small * C + 8, rx: 5 }),
    shown.map((c, t) => [
      word(LATENT - 8, yOf(t) + 21, `c${t}`, "", "end"),
      vector(c, LATENT, yOf(t), "kata-kind-0"),
    ]),
    vector(q, KEY, 22, "kata-kind-1"),
    word(ofKey, 14, "query"),
    absorbs
      ? [
        word(ofLatent, 14, "query, moved"),
        vector(absorbed, LATENT, 22, "kata-kind-1"),
        arrow([KEY - 6, 38], [right + 2, middle]),
        arrow([left - 2, middle], [LATENT + large * C + 6, 38]),
        shown.map((_, t) => score(t, LATENT + large * C + 6)),
        shown.map((_, t) => range(small).map((n) => s("rect", {
          class: "cell gone", x: KEY + n * C, y: yOf(t), width: C - 3, height: C - 3,
        }))),
        word(ofKey, end, "no key is made"),
      ]
      : shown.map((_, t) => [
        arrow([LATENT + large * C + 4, yOf(t) + 16], [left - 2, middle]),
        arrow([right + 2, middle], [KEY - 6, yOf(t) + 16]),
        vector(keys[t], KEY, yOf(t), "kata-kind-0"),
        word(KEY - 14, yOf(t) + 8, `k${t}`, "", "end"),
        score(t, KEY + small * C + 4),
      ]),
    more && word(ofLatent, end, more),
  );
}

export default {
  render({ model, el }) {
    const { query, up, latent } = model.get("data");
    const figure = frame(el, "W is between the latent vectors and the query. Which of the two goes through it?");
    const way = figure.choice({ label: "Through W goes", options: ["each latent vector", "the query"], value: 1 });
    const length = figure.slider({ label: "Tokens", min: 1, max: 1000, bend: 3, value: 2 });
    const first = figure.slider({ label: "Query, first number", min: -3, max: 3, value: query[0] });
    const second = figure.slider({ label: "Query, second number", min: -3, max: 3, value: query[1] });
    figure.draw(() => {
      const [q, T, absorbs] = [[first.value, second.value], length.value, way.value === 1];
      const keys = latent.map((c) => up.map((w) => dot(w, c)));
      const absorbed = transpose(up).map((column) => dot(column, q));
      const scores = absorbs ? latent.map((c) => dot(absorbed, c)) : keys.map((key) => dot(key, q));
      const seen = scores.slice(0, Math.min(T, latent.length));
      const [small, large] = [q.length, latent[0].length];
      const work = [T * small * large + T * small, small * large + T * large];
      const many = `${count(T)} ${T === 1 ? "token" : "tokens"}`;
      const tokens = seen.map((_, t) => `token ${t}`);
      return {
        show: [
          ways({ q, up, latent, keys, absorbed, scores, absorbs, tokens: T }),
          row(
            bars({
              name: "multiplications", values: work, labels: ["with keys", "without keys"], digits: 0,
              marked: way.value,
            }),
            matrix({ name: "scores", values: seen, columns: tokens, digits: 0, heat: false }),
            matrix({ name: "weights", values: softmax(seen.map((one) => one / SCALE)), columns: tokens, scale: 1 }),
          ),
        ],
        key: ["multiplications", count(work[way.value])],
        say: (absorbs
          ? `The query goes through W once, with ${small * large} multiplications, and each score costs ${large}: `
            + `${count(work[1])} for ${many}. `
          : `W makes a key of each latent vector, with ${small * large} multiplications, and each score costs `
            + `${small}: ${count(work[0])} for ${many}. `)
          + (work[1] > work[0]
            ? `For a single token keys are cheaper: ${work[0]} against ${work[1]}.`
            : `With keys it is ${count(work[0])}, without them ${count(work[1])}: the same scores.`),
      };
    });
  },
};
