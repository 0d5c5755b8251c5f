// Tiles over queries and keys: one tile of scores at a time, a running maximum, sum and output for each query.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { count, dot, format, range } from "../../grader/integrations/figures/maths.js";
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
      // Two memories: what lies in each while this tile is worked on.
      const [C, W] = [22, 40]; // the height of a cell, and the width of one with a number
      const cellAt = (x, y, look, width = C) => s("rect", {
        class: `cell ${look}`, x, y, width: width - 2, height: C - 2,
      });
      const word = (x, y, text, anchor = "middle") => s("text", { x, y, "text-anchor": anchor }, text);
      const ofQuery = (i) => current && blockOf(i) === current[0];
      const ofKey = (j) => current && blockOf(j) === current[1];
      const isDone = (i, j) => placeOf(i, j) >= 0 && placeOf(i, j) < at.value;
      const lookOf = (i, j) => (isDone(i, j) && !inTile(i, j) ? "tint kata-tone-5" : "gone");
      const [queries, keys] = [range(T).filter(ofQuery), range(T).filter(ofKey)];
      const moved = tiles.slice(0, at.value).reduce((total, [a, b], n, seenTiles) => {
        const inBlock = (wanted) => range(T).filter((t) => blockOf(t) === wanted).length;
        const isNew = n === 0 || seenTiles[n - 1][0] !== a; // a block of queries is read once, its output written once
        return total + inputs[0].length * (2 * inBlock(b) + (isNew ? 2 * inBlock(a) : 0));
      }, 0);
      const [left, top] = [66, 58]; // of the scores among the large memory's tensors
      const [first, last] = [queries[0], keys[0]];
      const large = drawing(
        {
          name: "HBM: large, far and slow",
          label: `Queries, keys, values and outputs of ${T} tokens. The scores are not kept here.`,
          width: 290,
          height: 282,
        },
        s("rect", { class: "box", x: 2, y: 2, width: 286, height: 278, rx: 6 }),
        word(left - 34, top + 3 * C + 4, "Q"),
        word(left + 3 * C, top - 36, "K"),
        word(left + 3 * C, top + 6 * C + 44, "V"),
        word(left + 6 * C + 42, top + 3 * C + 4, "O"),
        range(T).map((i) => cellAt(left - 26, top + i * C, ofQuery(i) ? "now" : "")),
        range(T).map((j) => cellAt(left + j * C, top - 30, ofKey(j) ? "now" : "")),
        range(T).map((j) => cellAt(left + j * C, top + T * C + 8, ofKey(j) ? "now" : "")),
        range(T).map((i) => cellAt(left + 10 + T * C, top + i * C, state[i].sum ? "done" : "")),
        range(T).map((i) => range(T).map((j) => cellAt(left + j * C, top + i * C, lookOf(i, j)))),
        current && s("rect", {
          class: "cell gone chosen", x: left + last * C, y: top + first * C,
          width: keys.length * C - 2, height: queries.length * C - 2,
        }),
        word(145, 270, "the scores are never kept here"),
      );
      const [x, y] = [44, 60];
      const under = y + Math.max(4, queries.length) * C + 10;
      const number = (at, n, value) => [
        cellAt(at, y + n * C, "", W),
        s("text", { class: "number", x: at + W / 2 - 1, y: y + n * C + 14, "text-anchor": "middle" }, format(value, 2)),
      ];
      const scores = queries.flatMap((i, m) => keys.map((j, n) => [
        cellAt(x + n * W, y + m * C, seen(i, j) ? "done" : "gone", W),
        seen(i, j) && s("text", {
          class: "number", x: x + n * W + W / 2 - 1, y: y + m * C + 14, "text-anchor": "middle",
        }, format(dot(inputs[i], inputs[j]) * scale, 2)),
      ]));
      const end = x + Math.max(4, keys.length) * W + 12;
      const small = drawing(
        {
          name: "SRAM: small, near and fast",
          label: current
            ? `${queries.length} queries, ${keys.length} keys and values, their scores, and for each query `
              + "a maximum, a sum and an output."
            : "Nothing is here yet.",
          width: end + 2 * W + 34,
          height: 282,
        },
        s("rect", { class: "box", x: 2, y: 2, width: end + 2 * W + 30, height: 278, rx: 6 }),
        current ? [
          word(24, y - 6, "Q"), word(x - 10, 36, "K"), word(x - 10, under + 15, "V"),
          word(end + W / 2, y - 6, "m"), word(end + 1.5 * W, y - 6, "d"), word(end + 2 * W + 13, y - 6, "o"),
          queries.map((_, n) => cellAt(14, y + n * C, "now")),
          keys.map((_, n) => cellAt(x + n * W, 22, "now", W)),
          keys.map((_, n) => cellAt(x + n * W, under, "now", W)),
          scores,
          queries.map((i, n) => [number(end, n, state[i].maximum), number(end + W, n, state[i].sum)]),
          queries.map((_, n) => cellAt(end + 2 * W + 2, y + n * C, "done")),
        ] : word(130, 130, "nothing yet"),
        current && word((end + 2 * W + 30) / 2, 254, "for each query stay a maximum m,"),
        current && word((end + 2 * W + 30) / 2, 270, "a sum d and an output o"),
      );
      return {
        key: ["numbers moved so far", count(moved)],
        show: [
          row(
            large,
            small,
            matrix({
              name: "output",
              values: state.map((one) => one.output.map((value) => (one.sum ? value / one.sum : 0))),
              rows: tokens,
            }),
          ),
        ],
        say: `${at.value} of ${tiles.length} ${tiles.length === 1 ? "tile is" : "tiles are"} done`
          + `${masked.value ? `; above the diagonal ${skipped} skipped` : ""}. `
          + (wide.value === T
            ? `One tile is the whole table, so all ${T} × ${T} scores exist at once.`
            : `At most ${wide.value} × ${wide.value} scores exist at a time, never all ${T} × ${T}.`),
      };
    });
  },
};
