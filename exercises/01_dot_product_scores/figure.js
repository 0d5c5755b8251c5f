// Two arrows to move: their product and the angle between them; dashed, what it is with b turned or of another length.
// Or the scores of the sentence, each a sum of products.

import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, format, matmul, range, times, transpose } from "../../grader/integrations/figures/maths.js";
import { plane } from "../../grader/integrations/figures/plane.js";
import { line, matrix } from "../../grader/integrations/figures/tables.js";

const STEPS = 24; // of a whole turn
const OPENING = [[0.8, 0.2], [0.3, 0.4]]; // b is so short that it can be twice as long whichever way it points

const turned = ([x, y], angle) =>
  [x * Math.cos(angle) - y * Math.sin(angle), x * Math.sin(angle) + y * Math.cos(angle)];

// Lines and dots of b as it would be: a quarter turned away from a, and twice as long, or half where that is too long.
function ghosts(u, v) {
  const away = u[0] * v[1] < u[1] * v[0] ? -1 : 1;
  const steps = range(STEPS / 4 + 1).map((n) => turned(v, (away * n * 2 * Math.PI) / STEPS));
  const fits = Math.max(...v.map(Math.abs)) <= 0.501;
  const ends = [[steps.at(-1), "by 90°"], [times([v], fits ? 2 : 0.5)[0], fits ? "twice" : "half"]];
  return {
    lines: [
      ...steps.slice(1).map((to, n) => [steps[n], to, 1, "kata-kind-1"]),
      ...ends.map(([end]) => [[0, 0], end, 2, "kata-kind-1 minus"]),
    ],
    points: ends.map(([end, name]) => ({
      x: end[0], y: end[1], size: 3, look: "other", name: `${name}: ${format(dot(u, end), 2)}`,
    })),
  };
}

export default {
  render({ model, el }) {
    const { inputs, tokens, pair } = model.get("data");
    const scores = matmul(inputs, transpose(inputs));
    const figure = frame(el, "The score is the shadow of b on a, times the length of a");
    figure.beside();
    const shown = figure.state("arrows");
    const cell = figure.state(pair);
    const place = (...arrows) => [a, b].forEach(
      (sliders, n) => sliders.forEach((one, axis) => (one.value = arrows[n][axis]))
    );
    const pick = (...at) => {
      place(...at.map((token) => inputs[token]));
      cell.value = at;
    };
    // Play turns b once around, step by step.
    let [steps, exact] = [0, []]; // exact: b before it was rounded to the digits that are printed
    const rounded = (arrow) => arrow.map((x) => Number(x.toFixed(2)));
    const turn = () => {
      const now = b.map((one) => one.value);
      const from = String(rounded(exact)) === String(now) ? exact : now;
      const long = Math.max(1, Math.hypot(...from));
      exact = turned(from.map((x) => x / long), (2 * Math.PI) / STEPS);
      place(a.map((one) => one.value), rounded(exact));
      [steps, shown.value] = [steps + 1, "arrows"];
    };
    figure.player({
      get isAtEnd() {
        return steps % STEPS === 0;
      },
      step: turn,
      reset: () => place(...OPENING),
    }, 250);
    figure.button("Two arrows", () => (shown.value = "arrows"));
    figure.lesson(() => (shown.value = "scores"));
    figure.fold("The arrows as numbers");
    const arrow = (name, values) =>
      ["x", "y"].map((axis, i) => figure.slider({
        label: `${name}, ${axis}`,
        min: -1,
        max: 1,
        step: 0.01,
        digits: 2,
        value: values[i],
        moved: () => (shown.value = "arrows"),
      }));
    const [a, b] = [arrow("a", OPENING[0]), arrow("b", OPENING[1])];
    const drag = (sliders) => (x, y) => {
      [sliders[0].value, sliders[1].value] = [Number(x.toFixed(2)), Number(y.toFixed(2))];
      figure.redraw();
    };
    figure.draw(() => {
      const [u, v] = [a.map((one) => one.value), b.map((one) => one.value)];
      const product = dot(u, v);
      const angle = (Math.acos(Math.max(
        -1,
        Math.min(1, product / (Math.hypot(...u) * Math.hypot(...v)))
      )) * 180) / Math.PI;
      const foot = u.map((x) => (x * product) / dot(u, u)); // where the shadow of b on a ends
      const pale = ghosts(u, v);
      const long = Math.hypot(...u);
      // The fewest digits with which what is printed can be multiplied by the reader.
      const digits = [2, 3].find((n) =>
        ((product / long).toFixed(n) * long.toFixed(n)).toFixed(n) === product.toFixed(n)) ?? 4;
      const [i, j] = cell.value;
      if (shown.value === "scores") {
        const terms = inputs[i].map((x, d) => `${format(x, 2)} · ${format(inputs[j][d], 2)}`).join(" + ");
        return {
          show: matrix({
            name: "scores", values: scores, rows: tokens, columns: tokens, scale: 2, picked: cell.value, pick,
          }),
          title: "A score is a sum of products, and the same whichever of two tokens comes first",
          key: [`${tokens[i]} · ${tokens[j]}`, format(scores[i][j])],
          say: `The score of “${tokens[i]}” and “${tokens[j]}” is ${terms} = ${format(scores[i][j])}. `
            + "“Two arrows” shows the first two numbers of each.",
        };
      }
      const isAway = format(product) !== format(0) && product < 0;
      const way = isAway ? "above 90°, so it is negative" : format(product) === format(0)
        ? "so it is 0" : "below 90°, so it is positive";
      const relation = Number.isNaN(angle)
        ? "an arrow of length 0 has no direction"
        : `the angle is ${angle.toFixed(0)}°, ${way}`;
      return {
        show: [
          plane({
            name: "Two arrows", most: 310, from: [-1, -1], to: [1, 1], xLabel: "first number", yLabel: "second number",
            lines: [
              ...(long > 0 ? [[[0, 0], foot, 9, `kata-kind-2 ${isAway && "minus"}`], [v, foot, 1]] : []),
              ...pale.lines,
              [[0, 0], u, 3, "kata-kind-0"],
              [[0, 0], v, 3, "kata-kind-1"],
            ],
            points: [
              { x: u[0], y: u[1], name: `a, length ${format(long, digits)}`, drag: drag(a) },
              { x: v[0], y: v[1], name: "b", look: "other", drag: drag(b) },
              ...pale.points,
              ...(long > 0 ? [{ x: foot[0] / 2, y: foot[1] / 2, size: 0, name: "shadow" }] : []),
            ],
          }),
          line("Drag the ends of the arrows. Dashed: b turned by 90°, or of another length."),
        ],
        key: ["a · b", [
          ...(long > 0 ? [[product / long, long].map((one) => format(one, digits)).join(" × ")] : []),
          format(product, digits),
        ].join(" = ")],
        say: `The score of the arrows is ${[0, 1].map((n) => `${format(u[n], 2)} · ${format(v[n], 2)}`).join(" + ")} = `
          + `${format(product)}; ${relation}.`,
      };
    });
  },
};
