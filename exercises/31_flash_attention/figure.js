// Tiles over queries and keys: one tile of scores at a time, a running maximum, sum and output for each query.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { count, dot, range } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

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
    figure.player(at, 1100);
    const masked = figure.toggle({ label: "Causal", value: true, moved: finish });
    figure.lesson(() => {
      [wide.value, masked.value] = [block, true];
      finish();
    });
    finish();
    at.value = 1;
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
      // Two memories: what lies in each while this tile is worked on.
      const [C, left, top] = [20, 116, 66];
      const cellAt = (x, y, look) => s("rect", { class: `cell ${look}`, x, y, width: C - 2, height: C - 2 });
      const word = (x, y, text, anchor = "middle") => s("text", { x, y, "text-anchor": anchor }, text);
      const ofQuery = (i) => current && blockOf(i) === current[0];
      const ofKey = (j) => current && blockOf(j) === current[1];
      const isDone = (i, j) => placeOf(i, j) >= 0 && placeOf(i, j) < at.value;
      const lookOf = (i, j) => (inTile(i, j) ? "now" : isDone(i, j) ? "done" : "gone");
      const [queries, keys] = [range(T).filter(ofQuery), range(T).filter(ofKey)];
      const moved = tiles.slice(0, at.value).reduce((total, [a, b], n, seenTiles) => {
        const inBlock = (wanted) => range(T).filter((t) => blockOf(t) === wanted).length;
        const isNew = n === 0 || seenTiles[n - 1][0] !== a; // a block of queries is read once, its output written once
        return total + inputs[0].length * (2 * inBlock(b) + (isNew ? 2 * inBlock(a) : 0));
      }, 0);
      const memories = drawing(
        {
          name: "the two memories",
          label: current
            ? `In fast memory: ${queries.length} queries, ${keys.length} keys and values, their scores, and three `
              + "running results."
            : "Nothing is in fast memory yet.",
          width: 560,
          height: 250,
        },
        s("rect", { class: "box", x: 2, y: 22, width: 318, height: 224, rx: 6 }),
        word(12, 16, "HBM: large and slow", "start"),
        s("rect", { class: "box", x: 356, y: 22, width: 200, height: 224, rx: 6 }),
        word(366, 16, "SRAM: small and fast", "start"),
        word(left - 18, top + 3 * C + 4, "Q"),
        word(left + 3 * C, top - 32, "K"),
        word(left + 3 * C, top + 6 * C + 40, "V"),
        word(left + 6 * C + 70, top + 3 * C + 4, "O"),
        word(left - 74, top + 3 * C + 4, "the tiles,"),
        word(left - 68, top + 3 * C + 20, "one at a time", "middle"),
        range(T).map((i) => cellAt(left - 10 - C + 20, top + i * C, ofQuery(i) ? "now" : "")),
        range(T).map((j) => cellAt(left + 30 + j * C, top - 26, ofKey(j) ? "now" : "")),
        range(T).map((j) => cellAt(left + 30 + j * C, top + T * C + 8, ofKey(j) ? "now" : "")),
        range(T).map((i) => cellAt(left + 38 + T * C, top + i * C, state[i].sum ? "done" : "")),
        range(T).map((i) => range(T).map((j) => cellAt(left + 30 + j * C, top + i * C, lookOf(i, j)))),
        queries.map((_, n) => cellAt(376, 92 + n * C, "now")),
        keys.map((_, n) => cellAt(404 + n * C, 60, "now")),
        keys.map((_, n) => cellAt(404 + n * C, 212, "now")),
        queries.flatMap((i, m) => keys.map((j, n) => cellAt(404 + n * C, 92 + m * C, seen(i, j) ? "done" : "gone"))),
        queries.map((_, n) => cellAt(530, 92 + n * C, "done")),
        current && [word(385, 84, "Q"), word(396, 54, "K"), word(394, 226, "V"), word(531, 84, "m d O")],
        current && s("path", { class: "link now", "stroke-width": 1.6, d: "M322,134H354M348,128L354,134L348,140" }),
      );
      return {
        key: ["numbers moved so far", count(moved)],
        show: [
          memories,
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
              name: "m and d so far",
              values: state.map((one) => [one.maximum, one.sum]),
              columns: ["maximum m", "sum d"],
              heat: false,
            }),
            matrix({
              name: "output",
              values: state.map((one) => one.output.map((value) => (one.sum ? value / one.sum : 0))),
            }),
          ),
        ],
        say: `${at.value} of ${tiles.length} tiles are done`
          + `${masked.value ? `; above the diagonal ${skipped} skipped` : ""}. `
          + `Only ${wide.value} × ${wide.value} scores exist at a time, never all ${T} × ${T}.`,
      };
    });
  },
};
