// Running averages as a line: something is added to one token, and the line splits from there on.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, matmul, range } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [LEFT, STEP, TOP, TALL, ALL] = [54, 43, 0, 175, 240]; // of the plot, in pixels; the height of all
const signed = (value, digits) => `${value > 0 ? "+" : ""}${format(value, digits)}`;

// The tokens as rings, their averages as a line, before and now; below them what the changed token does to each average.
function plot({ before, now, averages, t, plus }) {
  const [least, most] = [Math.min(...before, plus + Math.min(...before)), Math.max(...before, plus + Math.max(...before))];
  const X = (i) => LEFT + (i + 0.5) * STEP;
  const Y = (value) => TOP + 8 + ((most - value) / (most - least)) * (TALL - 16);
  const path = (which, from, to) => averages[which].slice(from, to).map((value, i) => `${X(from + i)},${Y(value)}`).join(" ");
  const [from, to] = [Y(before[t]), Y(now[t])];
  const aside = t < now.length - 1 ? 1 : -1;
  const width = LEFT + before.length * STEP;
  return drawing(
    { name: "first numbers (rings), averages before (dotted), now (orange)", width, height: ALL, most: 500,
      label: averages.now.map((value, i) => `${i}: ${format(averages.before[i], 2)} to ${format(value, 2)}`).join(", ") },
    range(Math.floor(most) - Math.ceil(least) + 1, Math.ceil(least)).map((value) => [
      s("line", { class: "grid", x1: LEFT, x2: width, y1: Y(value), y2: Y(value) }),
      s("text", { x: LEFT - 8, y: Y(value) + 4, "text-anchor": "end" }, format(value, 0)),
    ]),
    plus !== 0 && s("polyline", { class: "curve now", points: path("before", Math.max(0, t - 1)) }),
    s("polyline", { class: "curve", points: path("now", 0, plus ? t : undefined) }),
    plus !== 0 && s("polyline", { class: "pull kata-kind-1", "stroke-width": 2.5, points: path("now", Math.max(0, t - 1)) }),
    now.map((value, i) => s("circle", { class: i === t && plus ? "dot other" : "node", cx: X(i), cy: Y(value), r: 5 })),
    plus !== 0 && [
      s("circle", { class: "node", cx: X(t), cy: from, r: 5 }),
      s("path", { class: "cross", d: `M${X(t)},${from}V${to + 8 * Math.sign(plus)}` }),
      s("text", { class: "strong", x: X(t) + 9 * aside, y: to + 4, "text-anchor": aside > 0 ? "start" : "end" },
        signed(plus, 1)),
    ],
    ["token", "weight", "change"].map((text, n) => s("text", { x: 0, y: TALL + 20 * (n + 1) }, text)),
    now.map((_, i) => [
      String(i), i < t ? "·" : `1/${i + 1}`, i < t ? "0" : signed(plus / (i + 1), 2),
    ].map((text, n) => s("text", { class: "number", x: X(i), y: TALL + 20 * (n + 1), "text-anchor": "middle" }, text))),
  );
}

export default {
  render({ model, el }) {
    const { x } = model.get("data");
    const T = x.length;
    const rows = range(T).map(String);
    const weights = range(T).map((i) => range(T).map((j) => (j <= i ? 1 / (i + 1) : 0)));
    const before = matmul(weights, x);
    const figure = frame(el, "A token changes its own average and those after it");
    figure.beside();
    const token = figure.slider({ label: "Changed token", min: 0, max: T - 1, value: 2 });
    figure.player(token);
    const added = figure.slider({ label: "Add to it", min: -4, max: 4, step: 0.5, digits: 1, value: 2 });
    figure.lesson(() => ([added.value, numbers.value] = [0, true]));
    const numbers = figure.toggle({ label: "Numbers" });
    figure.draw(() => {
      const [t, plus] = [token.value, added.value];
      const inputs = x.map((one, i) => one.map((value) => value + (i === t ? plus : 0)));
      const averages = matmul(weights, inputs);
      const isSeen = (i) => i >= t; // by the average i
      const first = (all) => all.map((one) => one[0]);
      const shown = (name, values, isMarked) => matrix({
        name, values, rows, columns: ["first", "second"], digits: 3, kind: (i) => (isMarked(i) ? 1 : null),
      });
      return {
        show: plot({
          before: first(x), now: first(inputs), averages: { before: first(before), now: first(averages) }, t, plus,
        }),
        more: numbers.value && row(
          matrix({
            name: "weights", values: weights, rows, columns: rows, digits: 3, scale: 0.4, hidden: (i, j) => j > i,
            kind: (i, j) => (j === t && isSeen(i) ? 1 : undefined),
          }),
          shown("x", inputs, (i) => i === t),
          shown("averages", averages, (i) => plus !== 0 && isSeen(i)),
        ),
        key: [plus ? "averages that change" : `averages that see token ${t}`, `${T - t} of ${T}`],
        say: plus
          ? `Token ${t} gets ${signed(plus, 1)}. Its weight in its own average is 1/${t + 1}, so that changes by `
            + `${format(plus / (t + 1), 3)}${t < T - 1 ? `, and the later averages by less and less` : ""}.`
          : "Nothing is added, so nothing changes.",
      };
    });
  },
};
