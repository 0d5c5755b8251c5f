// A window over the past, and layers on top of each other: how far back the last token sees.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { range } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const MOST = 16;
const [LEFT, WIDE, HIGH] = [48, 292, 36]; // where tokens begin, the room for them, and from layer to layer

// What the last token of the top layer has heard of, layer by layer down to the inputs, and how far that is back.
function cone(T, w, layers) {
  const [X, Y] = [(t) => LEFT + ((t + 0.5) * WIDE) / T, (level) => 18 + (layers - level) * HIGH];
  const isHeard = (level, t) => T - 1 - t <= (layers - level) * (w - 1);
  const levels = range(layers + 1);
  const reach = (many) => Math.min(T - 1, many * (w - 1));
  const back = reach(layers);
  const [first, last, low] = [X(T - 1 - back), X(T - 1), Y(0)];
  return drawing(
    { name: "what reaches the last token", label: `Through ${layers} layers it sees ${back} tokens back.`,
      width: LEFT + WIDE + 2, height: low + 62, most: 520 },
    s("path", { // all of them in one: there may be a thousand
      class: "link now",
      "stroke-width": 1.6,
      d: levels.slice(1).flatMap((level) => range(T).filter((t) => isHeard(level, t)).flatMap((t) =>
        range(Math.min(w, t + 1)).map(
          (far) => `M${X(t).toFixed(1)},${Y(level)}L${X(t - far).toFixed(1)},${Y(level - 1)}`
        ))).join(""),
    }),
    levels.map((level) => [
      s("text", { x: 0, y: Y(level) + 4 }, level ? `layer ${level}` : "inputs"),
      level > 0 && s("text", { class: "strong", x: 0, y: Y(level) + HIGH / 2 + 4 },
        `+ ${reach(layers - level + 1) - reach(layers - level)}`),
      range(T).map((t) => s(
        "circle",
        { class: isHeard(level, t) ? "node now" : "node", cx: X(t), cy: Y(level), r: 6 }
      )),
    ]),
    range(T).map((t) => s("text", { x: X(t), y: low + 24, "text-anchor": "middle" }, String(t))),
    back > 0 && [
      s("path", { class: "line", d: `M${first},${low + 30}v8H${last}v-8` }),
      s("text", { class: "strong", x: (first + last) / 2, y: low + 56, "text-anchor": "middle" }, `${back} back`),
    ],
  );
}

export default {
  render({ model, el }) {
    const { tokens, window: width } = model.get("data");
    const figure = frame(el, "Each layer lets the last token see further back");
    figure.beside();
    const layers = figure.slider({ label: "Layers", min: 1, max: 6, value: 3 });
    figure.player(layers);
    const wide = figure.slider({ label: "Window", min: 1, max: MOST, value: width });
    const length = figure.slider({ label: "Tokens", min: 2, max: MOST, value: 12 });
    const all = figure.toggle({ label: "Masks" });
    figure.lesson(() => ([length.value, wide.value, layers.value, all.value] = [tokens, width, 1, true]));
    figure.draw(() => {
      const [T, w, n] = [length.value, wide.value, layers.value];
      const far = n * (w - 1);
      const mask = (name, back) => matrix({
        name,
        values: range(T).map((i) => range(T).map((j) => (j <= i && i - j <= back ? 1 : 0))),
        digits: 0,
        rows: range(T).map(String),
        columns: range(T).map(String),
        hidden: (i, j) => j > i || i - j > back,
        scale: 1.4,
      });
      return {
        key: ["it sees back", `${Math.min(T - 1, far)} ${far === 1 ? "token" : "tokens"}`],
        show: cone(T, w, n),
        more: all.value && row(mask("mask", w - 1), n > 1 && mask(`seen through ${n} layers`, far)),
        say: `A window of ${w} reaches ${w - 1} back. Through ${n} ${n === 1 ? "layer" : "layers"} that is `
          + `${`${n} · ${w - 1} = ${far}`.replaceAll(" ", "\u00a0")}`
          + `${far > T - 1 ? `, more than the ${T - 1} that there are` : ""}.`
          + (far < T - 1 && w > 1 ? ` To see all ${T} tokens takes ${Math.ceil((T - 1) / (w - 1))} layers.` : ""),
      };
    });
  },
};
