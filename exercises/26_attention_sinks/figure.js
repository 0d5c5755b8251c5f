// A trained head over a long text: what the newest token looks at, with the first tokens kept or dropped.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, floats, format, range, softmax, sum } from "../../grader/integrations/figures/maths.js";
import { bars, drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [KEPT, DROPPED, HIGH, BROAD] = [27, 9, 56, 14]; // of a token, and of the arcs to it
const NARROW = 330; // the least width of the drawing, however few tokens there are

// All tokens so far, those that were dropped as narrow dashed cells. Arcs lead from the newest token to those that it
// looks at, as broad as their weights: above as it is, below the other way.
function tape(names, positions, weights, others, without) {
  const n = names.length;
  const isKept = (t) => positions.includes(t);
  const [lefts, top] = [[2], HIGH + 14];
  names.forEach((_, t) => lefts.push(lefts[t] + (isKept(t) ? KEPT : DROPPED)));
  const X = (t) => (lefts[t] + lefts[t + 1]) / 2;
  const arcs = (seen, shares, [y, bend], look) => seen.map((t, i) => t < n - 1 && shares[i] > 0.002 && s("path", {
    key: `${look} ${t}`,
    class: look,
    d: `M${X(n - 1)},${y}A${(X(n - 1) - X(t)) / 2},${HIGH - BROAD / 2} 0 0 ${bend} ${X(t)},${y}`,
    "stroke-width": Math.max(0.6, BROAD * shares[i]).toFixed(2),
  }));
  const most = positions[weights.indexOf(Math.max(...weights))];
  return drawing(
    {
      name: "where the newest token looks, and below where it would",
      label: `Most at ${names[most]}, place ${most}. ${n - positions.length} tokens were dropped.`,
      width: Math.max(NARROW, lefts[n] + 2),
      height: 2 * top + 26,
    },
    arcs(positions, weights, [top, 0], "pull"),
    arcs(others, without, [top + 26, 1], "pull other"),
    names.map((name, t) => [
      s("rect", {
        key: `cell ${t}`,
        class: `cell ${t === n - 1 ? "chosen" : isKept(t) ? "done" : "gone"}`,
        x: lefts[t] + 1, y: top + 1, width: (isKept(t) ? KEPT : DROPPED) - 2, height: KEPT,
      }),
      isKept(t) && s(
        "text",
        { key: `name ${t}`, class: "number", x: X(t), y: top + 17, "text-anchor": "middle" },
        name
      ),
    ]),
  );
}

export default {
  render({ model, el }) {
    const { tokens, width, queries, keys, seen: first, sinks: kept, window: reach } = model.get("data");
    const rows = (text) => {
      const numbers = floats(text);
      return tokens.map((_, t) => Array.from(numbers.subarray(t * width, (t + 1) * width)));
    };
    const [query, key] = [rows(queries), rows(keys)];
    const half = width / 2;
    const rotated = (vector, place) => vector.map((value, i) => {
      const angle = place * 10000 ** (-(i % half) / half);
      const other = i < half ? -vector[i + half] : vector[i - half];
      return value * Math.cos(angle) + other * Math.sin(angle);
    });
    const figure = frame(el, "A head that has nothing to say looks at the first token. What if that token is dropped?");
    const seen = figure.slider({ label: "Tokens seen", min: 1, max: tokens.length, value: first });
    figure.player(seen, 700);
    const sinks = figure.slider({ label: "First tokens kept", min: 0, max: 4, value: kept });
    const window = figure.slider({ label: "Window", min: 1, max: 16, value: reach });
    figure.draw(() => {
      const n = seen.value;
      const keep = (first) => range(n).filter((t) => t < first || t >= n - window.value);
      const weigh = (positions) => {
        const last = rotated(query[n - 1], positions.length - 1);
        return softmax(positions.map((t, place) => dot(last, rotated(key[t], place)) / Math.sqrt(width)));
      };
      const positions = keep(sinks.value);
      const weights = weigh(positions);
      // The other way, beside it: without the first tokens, or with <s> where they are dropped.
      const others = keep(sinks.value ? 0 : 1);
      const without = weigh(others);
      const top = without.indexOf(Math.max(...without));
      const isSame = others.length === positions.length;
      const onSink = (kept, all) => (kept[0] === 0 ? all[0] : 0);
      const hasMark = positions[0] === 0;
      const most = weights.indexOf(Math.max(...weights));
      const name = (t) => `${tokens[t]} at ${t}`;
      const echo = "abc".includes(tokens[n - 1]);
      return {
        show: [
          tape(tokens.slice(0, n), positions, weights, isSame ? [] : others, without),
          matrix({ name: "kept positions", values: positions, digits: 0, heat: false }),
          row(
            bars({ name: "weights of the newest token", values: weights, labels: positions.map(name), most: 1 }),
            isSame ? null : bars({
              name: sinks.value ? "the same, with the first tokens dropped" : "the same, with <s> kept",
              values: without,
              labels: others.map(name),
              most: 1,
            }),
          ),
        ],
        key: ["on <s>", format(onSink(positions, weights))],
        say: `The newest token is ${name(n - 1)}, ${echo ? "an echo: it needs the token before it" : "no echo"}. `
          + (hasMark
            ? `The first token, <s>, gets ${format(weights[0])} of its attention, the other ${positions.length - 1} `
              + `kept tokens ${format(sum(weights.slice(1)))}.`
              + (isSame ? "" : ` Once it is dropped, ${name(others[top])} gets ${format(without[top])}.`)
            : `<s> was dropped: ${name(positions[most])} gets ${format(weights[most])}, since weights sum to 1.`),
      };
    });
  },
};
