// Clocks: each pair of numbers is turned by its position. The score of two vectors depends only on their distance.

import { chart, legend } from "../../grader/integrations/figures/chart.js";
import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, format, range } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const FARTHEST = 32;
const [SIDE, LONGEST] = [171, 72]; // of a clock: its room, and its hands

// A pair of numbers as two hands, and the arc from the key's to the query's: pale where both were before they moved on.
function hands([x, y], radius, start, query, key, isBefore) {
  const at = (angle, r) => `${(x + r * Math.cos(angle)).toFixed(1)},${(y - r * Math.sin(angle)).toFixed(1)}`;
  const [a, b] = [start + key, start + query];
  const turn = Math.sign(b - a) * (Math.abs(b - a) % (2 * Math.PI));
  const r = isBefore ? 30 : 42;
  const arc = range(33).map((i) => at(a + (turn * i) / 32, r)).join(" ");
  return [
    s("polyline", { class: "truth", fill: "none", opacity: isBefore ? 0.35 : 1, points: arc }),
    [[a, "arrow other"], [b, "arrow"]].map(([angle, look]) => s("polyline", {
      class: look, opacity: isBefore ? 0.3 : 1, points: `${x},${y} ${at(angle, radius)}`,
    })),
  ];
}

// A thin arrow along the way of a hand that came to an angle by a turn.
function turn([x, y], r, end, angle) {
  const at = (one, far) => `${(x + far * Math.cos(one)).toFixed(1)},${(y - far * Math.sin(one)).toFixed(1)}`;
  const way = range(17).map((i) => at(end - angle * (1 - i / 16), r));
  return [way, [at(end - 0.1, r + 5), at(end, r), at(end - 0.1, r - 5)]].map(
    (points) => s("polyline", { class: "line", points: points.join(" ") })
  );
}

export default {
  render({ model, el }) {
    const { token, bases } = model.get("data");
    const half = token.length / 2;
    const turned = (position, base) => {
      const angles = range(half).map((pair) => position * base ** (-pair / half));
      const cos = token.map((_, i) => Math.cos(angles[i % half]));
      const sin = token.map((_, i) => Math.sin(angles[i % half]));
      return token.map((x, i) => x * cos[i] + (i < half ? -token[i + half] : token[i - half]) * sin[i]);
    };
    const figure = frame(el, "When query and key move on together, the score stays the same");
    figure.beside();
    const query = figure.slider({ label: "Query at", min: 0, max: FARTHEST, value: 5 });
    const key = figure.slider({ label: "Key at", min: 0, max: FARTHEST, value: 3 });
    // A slider for both at once, so that they can be played.
    const both = {
      get isAtEnd() {
        return Math.max(query.value, key.value) === FARTHEST;
      },
      step() {
        if (both.isAtEnd) return both.reset();
        [query.value, key.value] = [query.value + 1, key.value + 1];
      },
      reset() {
        const first = Math.min(query.value, key.value);
        [query.value, key.value] = [query.value - first, key.value - first];
      },
    };
    figure.player(both, 350);
    const base = figure.choice({ label: "Base", options: bases.map((one) => one.toLocaleString("en-US")) });
    const all = figure.toggle({ label: "Vectors and other distances" });
    figure.lesson(() => ([query.value, key.value, base.value, all.value] = [2, 0, 0, true]));
    figure.draw(() => {
      const b = bases[base.value];
      const [q, k] = [turned(query.value, b), turned(key.value, b)];
      const before = dot(turned(query.value - 1, b), turned(key.value - 1, b));
      const distance = query.value - key.value;
      const back = Math.min(query.value, key.value, 1); // how many tokens earlier the pale pair is
      const lengths = range(half).map((pair) => Math.hypot(token[pair], token[pair + half]));
      const pairOf = (pair) => [token[pair], token[pair + half]];
      const square = (pair) => Math.round(lengths[pair] ** 2);
      const apart = (pair) => Math.abs(distance) * b ** (-pair / half);
      const part = (pair) => square(pair) * Math.cos(apart(pair)); // what a clock adds to the score
      const word = (x, line, text, look = null) => s(
        "text", { class: look, x, y: 2 * LONGEST + 32 + 17 * line, "text-anchor": "middle" }, text
      );
      const clock = (pair) => {
        const speed = b ** (-pair / half);
        const middle = [(pair + 0.5) * SIDE, LONGEST + 8];
        const radius = (LONGEST * lengths[pair]) / Math.max(...lengths);
        const start = Math.atan2(token[pair + half], token[pair]);
        const handsOf = (ago, isBefore) =>
          hands(middle, radius, start, (query.value - ago) * speed, (key.value - ago) * speed, isBefore);
        return [
          s("circle", { class: "ground", cx: middle[0], cy: middle[1], r: LONGEST + 4 }),
          back > 0 && handsOf(back, true),
          handsOf(0, false),
          back > 0 && speed > 0.5 && [query, key].map(
            (one) => turn(middle, radius + 7, start + one.value * speed, speed)
          ),
          word(middle[0], 0, `pair (${pairOf(pair).join(", ")}): ${pairOf(pair).map((x) => `${x}²`).join(" + ")} = ${square(pair)}`),
          word(middle[0], 1, `${square(pair)} · cos ${format(apart(pair), 2)} = ${format(part(pair), 2)}`, "strong"),
        ];
      };
      const names = token.map((_, i) => String(i));
      const told = back ? "pale: one token ago" : "the first of the two at 0";
      return {
        show: [
          drawing(
            { name: `query and key are (${token.join(", ")}), turned (in rad; ${told})`, width: half * SIDE,
              height: 2 * LONGEST + 73, most: 500,
              label: `The hands of query and key are ${Math.abs(distance)} tokens apart.` },
            range(half).map(clock),
            word((half * SIDE) / 2, 2, `${range(half).map((pair) => format(part(pair), 2)).join(" + ")} = `
              + format(dot(q, k), 2), "strong"),
          ),
          legend([["query", ""], ["key", "other"]].map(
            ([name, look]) => [name, s("polyline", { class: `arrow ${look}`, points: "0,4 28,4" })]
          )),
        ],
        more: all.value && row(
          matrix({ name: "query, turned", values: q, columns: names }),
          matrix({ name: "key, turned", values: k, columns: names }),
          matrix({ name: "score", values: [dot(q, k)], heat: false }),
          chart({
            name: "The score depends on the distance only",
            x: range(FARTHEST + 1),
            at: Math.abs(distance),
            xLabel: "distance",
            curves: [{ name: "score", values: range(FARTHEST + 1).map((m) => dot(turned(m, b), turned(0, b))) }],
          }),
        ),
        key: back
          ? ["score before and now", `${format(before, 2)} =\u00a0${format(dot(q, k), 2)}`]
          : ["score", format(dot(q, k), 2)],
        say: `The distance is ${Math.abs(distance)}, and the score ${format(dot(q, k))}, wherever the two are.`,
      };
    });
  },
};
