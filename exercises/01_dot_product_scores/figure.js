// Two arrows to move: their product and the angle between them. Or the scores of the sentence, each a sum of products.

import { h } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, format, matmul, transpose } from "../../grader/integrations/figures/maths.js";
import { plane } from "../../grader/integrations/figures/plane.js";
import { line, matrix, row } from "../../grader/integrations/figures/tables.js";

const STEPS = 24; // of a whole turn

export default {
  render({ model, el }) {
    const { inputs, tokens, pair } = model.get("data");
    const scores = matmul(inputs, transpose(inputs));
    const figure = frame(el, "Turn b away from a: the score falls. Make b twice as long: the score doubles.");
    const shown = figure.state("arrows");
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
    const [a, b] = [arrow("a", inputs[pair[0]]), arrow("b", inputs[pair[1]])];
    const cell = figure.state(pair);
    const pick = (...at) => {
      [a, b].forEach((sliders, n) => sliders.forEach((one, axis) => (one.value = inputs[at[n]][axis])));
      cell.value = at;
    };
    // Play turns b once around, step by step.
    let turned = 0;
    const turn = () => {
      const [x, y] = b.map((one) => one.value);
      const [long, angle] = [Math.min(1, Math.hypot(x, y)), Math.atan2(y, x) + Math.PI / STEPS * 2];
      [b[0].value, b[1].value] = [long * Math.cos(angle), long * Math.sin(angle)];
      [turned, shown.value] = [turned + 1, "arrows"];
    };
    figure.player({
      get isAtEnd() {
        return turned % STEPS === 0;
      },
      step: turn,
      reset: () => pick(...cell.value),
    }, 250);
    figure.button("Two arrows", () => (shown.value = "arrows"));
    figure.lesson(() => (shown.value = "scores"));
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
      const [i, j] = cell.value;
      if (shown.value === "scores") {
        const terms = inputs[i].map((x, d) => `${format(x, 2)} · ${format(inputs[j][d], 2)}`).join(" + ");
        return {
          show: matrix({
            name: "scores", values: scores, rows: tokens, columns: tokens, scale: 2, picked: cell.value, pick,
          }),
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
        show: row(
          plane({
            name: "Two arrows", from: [-1, -1], to: [1, 1], xLabel: "first number", yLabel: "second number",
            lines: Math.hypot(...u) > 0 ? [[[0, 0], foot, 6, isAway && "other"], [v, foot, 1]] : [],
            points: [
              { x: u[0], y: u[1], name: "a", kind: "arrow", drag: drag(a) },
              { x: v[0], y: v[1], name: "b", kind: "arrow", look: "other", drag: drag(b) },
            ],
          }),
          h("div", { class: "kata-left" },
            line("Drag the ends of the arrows, or press Play to turn b."),
            line(`a · b = ${format(u[0], 2)} · ${format(v[0], 2)} + ${format(u[1], 2)} · ${format(v[1], 2)} = `
              + format(product)),
            line("It is also the length of a times the shadow of b on it, the broad line, which is dashed where it falls on "
              + "the other side.")),
        ),
        key: ["a · b", format(product)],
        say: `The product of the arrows is ${format(product)}; ${relation}.`,
      };
    });
  },
};
