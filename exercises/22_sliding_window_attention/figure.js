// A window over the past, and layers on top of each other: how far a token sees, and how many scores are kept.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { count, range, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const MOST = 16;

export default {
  render({ model, el }) {
    const { tokens, window: width } = model.get("data");
    const figure = frame(el, "One layer sees a window. Each further layer sees window − 1 tokens farther back.");
    const length = figure.slider({ label: "Tokens", min: 2, max: MOST, value: 12 });
    const wide = figure.slider({ label: "Window", min: 1, max: MOST, value: width });
    const layers = figure.slider({ label: "Layers", min: 1, max: 6, value: 3 });
    figure.player(layers);
    figure.lesson(() => ([length.value, wide.value, layers.value] = [tokens, width, 1]));
    figure.draw(() => {
      const [T, w] = [length.value, wide.value];
      const within = (reach) => range(T).map((i) => range(T).map((j) => (j <= i && i - j < reach ? 1 : 0)));
      const far = layers.value * (w - 1) + 1;
      const [mask, reach] = [within(w), within(far)];
      const kept = sum(mask.flat());
      const shown = (name, values, marked) => matrix({
        marked,
        name,
        values,
        digits: 0,
        rows: range(T).map(String),
        columns: range(T).map(String),
        hidden: (i, j) => values[i][j] === 0,
        scale: 1.4,
      });
      // The cone: what the last token of the top layer has heard of, layer by layer down to the inputs.
      const heard = (level) => (layers.value - level) * (w - 1) + 1;
      const [X, Y] = [(t) => 84 + ((t + 0.5) * 400) / T, (level) => 20 + (layers.value - level) * 34];
      const isHeard = (level, t) => T - 1 - t < heard(level);
      const levels = range(layers.value + 1);
      const cone = drawing(
        {
          name: "the cone of the last token",
          label: `Through ${layers.value} layers it reaches ${Math.min(T, far)} of ${T} inputs.`,
          width: 500,
          height: 40 + layers.value * 34,
        },
        s("path", { // all of them in one: there may be a thousand
          class: "link now",
          "stroke-width": 1.6,
          d: levels.slice(1).flatMap((level) => range(T).filter((t) => isHeard(level, t)).flatMap((t) =>
            range(Math.min(w, t + 1)).map(
              (back) => `M${X(t).toFixed(1)},${Y(level)}L${X(t - back).toFixed(1)},${Y(level - 1)}`
            ))).join(""),
        }),
        levels.map((level) => [
          s("text", { x: 70, y: Y(level) + 4, "text-anchor": "end" }, level ? `layer ${level}` : "inputs"),
          range(T).map((t) => s(
            "circle",
            { class: isHeard(level, t) ? "node now" : "node", cx: X(t), cy: Y(level), r: 6 }
          )),
        ]),
      );
      return {
        key: ["the last token sees", `${sum(reach[T - 1])} tokens`],
        show: [
          cone,
          row(
            shown("mask", mask),
            layers.value > 1
              ? shown(`seen through ${layers.value} layers`, reach, (i, j) => i === T - 1 && reach[i][j] === 1)
              : null,
          ),
          row(
            matrix({
              name: "scores",
              values: [[kept], [T * w], [T * T]],
              rows: ["in the window", "T · window", "T · T, masked ones too"],
              digits: 0,
              heat: false,
            }),
            matrix({ name: "tokens that the last one sees", values: [sum(reach[T - 1])], digits: 0, heat: false }),
          ),
        ],
        say: `The last token sees itself and ${Math.min(T, far) - 1} before it through ${layers.value} `
          + `${layers.value === 1 ? "layer" : "layers"}. At 16,384 tokens the window needs ${count(16384 * w)} `
          + `scores at most, all pairs, masked ones too, ${count(16384 ** 2)}.`,
      };
    });
  },
};
