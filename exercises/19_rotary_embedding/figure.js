// Clocks: each pair of numbers is turned by its position. The score of two vectors depends only on their distance.

import { chart } from "../../grader/integrations/figures/chart.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, format, range } from "../../grader/integrations/figures/maths.js";
import { plane } from "../../grader/integrations/figures/plane.js";
import { matrix, row } from "../../grader/integrations/figures/tables.js";

const FARTHEST = 32;

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
    const figure = frame(el, "Move both tokens on together: every clock turns, and the score stays as it is.");
    const query = figure.slider({ label: "Query at", min: 0, max: FARTHEST, value: 2 });
    const key = figure.slider({ label: "Key at", min: 0, max: FARTHEST, value: 0 });
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
    const base = figure.choice({ label: "Base", options: bases.map((one) => one.toLocaleString("en-US")) });
    figure.player(both, 350);
    figure.draw(() => {
      const b = bases[base.value];
      const [q, k] = [turned(query.value, b), turned(key.value, b)];
      const distance = query.value - key.value;
      const over = range(FARTHEST + 1).map((m) => dot(turned(m, b), turned(0, b)));
      const reach = Math.max(...range(half).map((pair) => Math.hypot(token[pair], token[pair + half])));
      const clock = (pair) =>
        plane({
          name: `Clock ${pair}: ${format(b ** (-pair / half), 3)} rad a position`,
          from: [-reach, -reach],
          to: [reach, reach],
          points: [
            { x: q[pair], y: q[pair + half], name: "query", kind: "arrow" },
            { x: k[pair], y: k[pair + half], name: "key", kind: "arrow", look: "other" },
          ],
        });
      const names = token.map((_, i) => String(i));
      return {
        show: [
          row(...range(half).map(clock)),
          row(
            matrix({ name: "query, turned", values: q, columns: names }),
            matrix({ name: "key, turned", values: k, columns: names }),
            matrix({ name: "score", values: [dot(q, k)], heat: false }),
            chart({
              name: "Score over the distance",
              x: range(FARTHEST + 1),
              at: Math.abs(distance),
              xLabel: "distance",
              curves: [{ name: "score", values: over }],
            }),
          ),
        ],
        key: ["score", format(dot(q, k))],
        say: `The distance is ${Math.abs(distance)}, and the score ${format(dot(q, k))}, wherever the two are.`,
      };
    });
  },
};
