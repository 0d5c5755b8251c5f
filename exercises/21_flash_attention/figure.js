// Tiles over queries and keys: one tile of scores at a time, a running maximum, sum and output for each query.

import { chart } from "../../grader/integrations/figures/chart.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, range, size } from "../../grader/integrations/figures/maths.js";
import { matrix, row } from "../../grader/integrations/figures/tables.js";

const LENGTHS = range(9).map((power) => 2 ** (power + 8)); // 256 … 65,536 tokens
const WIDE = 256; // the block size of the memory curve

export default {
  render({ model, el }) {
    const { inputs, tokens, block } = model.get("data");
    const T = inputs.length;
    const scale = 1 / Math.sqrt(inputs[0].length);
    const figure = frame(el, "Only one tile of scores exists at a time, yet the output is that of all scores.");
    const tiling = () => {
      const n = Math.ceil(T / wide.value);
      return range(n).flatMap((i) => range(n).map((j) => [i, j])).filter(([i, j]) => !masked.value || j <= i);
    };
    const finish = () => {
      at.limit(tiling().length);
      at.value = tiling().length;
    };
    const wide = figure.slider({ label: "Block size", min: 1, max: T, value: block, moved: finish });
    const at = figure.slider({ label: "Tiles done", min: 0, max: T * T, value: 0 });
    const masked = figure.toggle({ label: "Causal", value: true, moved: finish });
    finish();
    const length = figure.slider({
      label: "Tokens",
      min: 8,
      max: 16,
      value: 14,
      name: (power) => (2 ** power).toLocaleString("en-US"),
    });
    figure.button("Next tile", () => (at.value = at.value >= tiling().length ? 0 : at.value + 1));
    figure.draw(() => {
      const tiles = tiling();
      const skipped = Math.ceil(T / wide.value) ** 2 - tiles.length;
      const blockOf = (i) => Math.floor(i / wide.value);
      const state = inputs.map((one) => ({ maximum: -Infinity, sum: 0, output: one.map(() => 0) }));
      const seen = (i, j) => !masked.value || j <= i;
      for (const [a, b] of tiles.slice(0, at.value)) {
        for (const i of range(T).filter((t) => blockOf(t) === a)) {
          for (const j of range(T).filter((t) => blockOf(t) === b && seen(i, t))) {
            const score = dot(inputs[i], inputs[j]) * scale;
            const most = Math.max(state[i].maximum, score);
            const [old, now] = [Math.exp(state[i].maximum - most), Math.exp(score - most)];
            state[i].output = state[i].output.map((value, d) => value * old + now * inputs[j][d]);
            [state[i].maximum, state[i].sum] = [most, state[i].sum * old + now];
          }
        }
      }
      const current = at.value ? tiles[at.value - 1] : null;
      const inTile = (i, j) => current && blockOf(i) === current[0] && blockOf(j) === current[1];
      const placeOf = (i, j) => tiles.findIndex(([a, b]) => a === blockOf(i) && b === blockOf(j));
      const cell = (i, j) => {
        if (inTile(i, j)) return seen(i, j) ? dot(inputs[i], inputs[j]) * scale : -Infinity;
        const place = placeOf(i, j);
        return place < 0 ? "skipped" : place < at.value ? "done" : "·";
      };
      const long = 2 ** length.value;
      return {
        show: [
          row(
            matrix({
              name: "the tile in memory",
              values: inputs.map((_, i) => inputs.map((_, j) => cell(i, j))),
              digits: 2,
              rows: tokens,
              columns: tokens,
              marked: inTile,
              faint: (i, j) => !inTile(i, j),
              scale: 2,
            }),
            matrix({
              name: "maximum and sum so far",
              values: state.map((one) => [one.maximum, one.sum]),
              rows: tokens,
              columns: ["maximum", "sum"],
              heat: false,
            }),
            matrix({
              name: "output",
              values: state.map((one) => one.output.map((value) => (one.sum ? value / one.sum : 0))),
              rows: tokens,
            }),
          ),
          row(
            chart({
              name: "Memory for scores over T",
              yLabel: "Bytes for scores",
              x: LENGTHS,
              at: long,
              log: true,
              logX: true,
              tick: size,
              bases: [32, 4],
              xLabel: "tokens T",
              curves: [
                { name: `a tile of ${WIDE} × ${WIDE}`, values: LENGTHS.map(() => WIDE * WIDE * 4) },
                { name: "all T × T scores", values: LENGTHS.map((t) => t * t * 4) },
              ],
            }),
            matrix({ name: "bytes of all scores", values: [size(long * long * 4)], heat: false }),
            matrix({ name: "bytes of one tile", values: [size(WIDE * WIDE * 4)], heat: false }),
          ),
        ],
        say: `${at.value} of ${tiles.length} tiles are done`
          + `${masked.value ? `; above the diagonal ${skipped} skipped` : ""}. `
          + `For ${long.toLocaleString("en-US")} tokens all scores would take ${size(long * long * 4)}.`,
      };
    });
  },
};
