// Tiles over queries and keys: one tile of scores at a time. Each query's maximum, sum and output are corrected and
// carried to the next tile.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { range, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [WIDE, TALL] = [34, 28]; // of a cell
const [BROAD, OLD, NEW] = [346, 56, 219]; // how wide a memory is; in the fast one, where old and new numbers begin

const short = (value, digits = 4) => String(Number(value.toFixed(digits)));
const word = (x, y, text, look = null, anchor = "middle") =>
  s("text", { x, y, "text-anchor": anchor, class: look }, text);
const cell = (x, y, look, text = "", wide = WIDE) => [
  s("rect", { class: `cell ${look}`, x, y, width: wide - 2, height: TALL - 2 }),
  text !== "" && word(x + wide / 2 - 1, y + 17, text, "number"),
];

export default {
  render({ model, el }) {
    const { powers, values, block } = model.get("data"); // a key is the log of its power, and each query is 1
    const T = powers.length;
    const log = (power) => (power ? `log ${power}` : "−inf");
    const figure = frame(el, "Only a maximum, a sum and an output are carried from tile to tile");
    figure.below();
    const tiling = () => {
      const n = Math.ceil(T / wide.value);
      return range(n).flatMap((a) => range(n).map((b) => [a, b])).filter(([a, b]) => !masked.value || b <= a);
    };
    const finish = () => {
      at.limit(tiling().length);
      at.value = tiling().length;
    };
    const at = figure.slider({ label: "Tiles done", min: 0, max: T * T, value: 2 });
    figure.player(at, 1100);
    const wide = figure.slider({ label: "Block size", min: 1, max: T, value: block, moved: finish });
    const masked = figure.toggle({ label: "Causal", moved: finish });
    const all = figure.toggle({ label: "Numbers" });
    figure.lesson(() => {
      [wide.value, masked.value, all.value] = [block, true, true];
      finish();
    });
    at.limit(tiling().length);
    figure.draw(() => {
      const tiles = tiling();
      const inBlock = (n) => range(T).filter((t) => Math.floor(t / wide.value) === n);
      const seen = (i, j) => !masked.value || j <= i;
      // Of each query: the power of two of its maximum, its sum, and its output that is not divided yet.
      const state = range(T).map(() => ({ power: 0, d: 0, o: 0, old: null }));
      tiles.slice(0, at.value).forEach(([a, b]) => inBlock(a).forEach((i) => {
        const old = state[i];
        const keys = inBlock(b).filter((j) => seen(i, j));
        const most = Math.max(...keys.map((j) => powers[j]));
        const power = Math.max(old.power, most);
        const adds = [() => 1, (j) => values[j]].map((of) => sum(keys.map((j) => (powers[j] / power) * of(j))));
        const factor = old.power / power;
        state[i] = { power, most, d: old.d * factor + adds[0], o: old.o * factor + adds[1], old, adds };
      }));
      const [a, b] = tiles[at.value - 1] ?? [];
      const [queries, keys] = [inBlock(a), inBlock(b)];
      const last = queries.at(-1); // the query whose numbers are written out
      const isReady = (i) => tiles.slice(at.value).every(([other]) => !inBlock(other).includes(i)) && state[i].d > 0;
      const lookOf = (all, t) => (all.includes(t) ? "tint kata-tone-10" : "");
      // Two memories: what lies in each while this tile is worked on.
      const height = 206 + wide.value * TALL;
      const [left, top, most] = [94, height / 2 - 58, T * TALL];
      const large = drawing(
        {
          name: "HBM: large, far and slow",
          label: `Queries, keys, values and outputs of ${T} tokens. The scores are not kept here.`,
          width: BROAD,
          height,
        },
        s("rect", { class: "box", x: 2, y: 2, width: BROAD - 4, height: height - 4, rx: 6 }),
        word(left - 27, top - 6, "Q"), word(left - 10, top - 20, "K"), word(left - 10, top + most + 25, "V"),
        word(left + T * WIDE + 26, top - 6, "O"),
        range(T).map((t) => [
          cell(left - 44, top + t * TALL, `${lookOf(queries, t)} ${t === last ? "chosen" : ""}`, "1"),
          cell(left + t * WIDE, top - TALL - 10, lookOf(keys, t), log(powers[t])),
          cell(left + t * WIDE, top + most + 8, lookOf(keys, t), values[t]),
          cell(left + T * WIDE + 10, top + t * TALL, isReady(t) ? `done ${t === last ? "chosen" : ""}` : "",
            isReady(t) ? short(state[t].o / state[t].d, 2) : ""),
          isReady(t) && t === last && [`= ${short(state[t].o)}`, `/ ${short(state[t].d)}`].map((text, n) => word(
            left + T * WIDE + 50, top + t * TALL + 11 + 13 * n, text, "number", "start"
          )),
        ]),
        tiles.map(([row, column], n) => {
          const [down, along] = [inBlock(row), inBlock(column)];
          const [x, y] = [left + along[0] * WIDE, top + down[0] * TALL];
          return [
            s("rect", {
              class: `cell gone ${n === at.value - 1 ? "chosen" : ""}`, key: `tile ${n}`,
              x: x + 2, y: y + 2, width: along.length * WIDE - 6, height: down.length * TALL - 6,
            }),
            n < at.value && along.length > 1 && word(
              x + (along.length * WIDE) / 2 - 1, y + (down.length * TALL) / 2 + 3,
              n === at.value - 1 ? "in SRAM" : "forgotten", "number"
            ),
          ];
        }),
        word(BROAD / 2, top + most + 54,
          `${queries.length ? "light blue: fetched; " : ""}dashed: scores, never here`),
      );
      const tile = OLD + 26;
      const [y, below] = [162, 162 + wide.value * TALL];
      const { power, d, o, old, adds, most: found } = state[last] ?? {};
      const risen = old?.power > 0 && power > old.power;
      const factor = risen ? `· ${old.power}/${power} ` : "";
      const ends = last !== undefined && isReady(last); // no tile of this query is left: nothing of it is carried on
      const small = drawing(
        {
          name: "SRAM: small, near and fast",
          label: queries.length
            ? `${queries.length} queries, ${keys.length} keys and values, their scores, and for each query `
              + "a maximum, a sum and an output."
            : "Nothing is here yet.",
          width: BROAD,
          height,
        },
        s("rect", { class: "box", x: 2, y: 2, width: BROAD - 4, height: height - 4, rx: 6 }),
        queries.length ? [
          word(8, 24, `query ${last}`, null, "start"),
          [[OLD + 30, old.power ? "carried" : "before"], [OLD + 108, "this tile"],
            [NEW + 26, ends ? "done" : "carried on"]].map(([x, text]) => word(x, 24, text, "strong")),
          [["max", log(old.power), `or ${log(found)}`, log(power)],
            ["sum", short(old.d), `${factor}+ ${short(adds[0])}`, short(d)],
            ["output", short(old.o), `${factor}+ ${short(adds[1])}`, short(o)],
          ].map(([name, before, change, after], n) => [
            word(8, 51 + n * TALL, name, null, "start"),
            cell(OLD, 34 + n * TALL, "", before, 54),
            word(OLD + 60, 51 + n * TALL, change, null, "start"),
            word(NEW - 10, 51 + n * TALL, "→"),
            cell(NEW, 34 + n * TALL, "done chosen", after, 54),
          ]),
          s("path", { class: "line", d: `M${NEW + 58},${ends ? 63 : 35}h6V115h-6` }),
          (ends ? ["give O", `its ${short(o / d, 2)}`] : ["all that", "stays"]).map(
            (text, n) => word(NEW + 70, (ends ? 85 : 71) + 16 * n, text, "strong", "start")),
          ["these scores are", "forgotten after", "this tile"].map(
            (text, n) => word(tile + wide.value * WIDE + 12, y + 17 + 16 * n, text, null, "start")),
          word(tile - 36, y + 17, "Q"), word(tile - 12, y - 21, "K"), word(tile - 12, below + 25, "V"),
          keys.map((j, n) => [
            cell(tile + n * WIDE, y - 38, "tint kata-tone-10", log(powers[j])),
            cell(tile + n * WIDE, below + 8, "tint kata-tone-10", values[j]),
          ]),
          queries.map((i, n) => [
            cell(tile - 26, y + n * TALL, "tint kata-tone-10", "1", 24),
            keys.map((j, m) => cell(tile + m * WIDE, y + n * TALL, seen(i, j) ? "kata-kind-3" : "gone",
              seen(i, j) ? log(powers[j]) : "")),
          ]),
        ] : word(BROAD / 2, height / 2, "nothing yet"),
      );
      return {
        title: wide.value < T ? null : "With one tile for all keys nothing is carried on",
        key: ["carried on, for each query", wide.value < T ? "3 numbers" : "nothing"],
        show: [
          row(large, small),
          all.value && matrix({
            name: "output / sum",
            values: state.map(({ o, d }, i) => (isReady(i) ? o / d : null)),
            columns: range(T).map((i) => `query ${i}`),
          }),
        ],
        say: last === undefined ? "No tile is done yet." : `Tile ${at.value} of ${tiles.length}: `
          + (risen
            ? `the maximum of query ${last} rises from ${log(old.power)} to ${log(power)}, so its old sum and output `
              + `are multiplied by ${old.power}/${power}.`
            : `query ${last} ${old.power ? `keeps its maximum, ${log(power)}, and nothing is corrected`
              : "has nothing to correct yet"}.`),
      };
    });
  },
};
