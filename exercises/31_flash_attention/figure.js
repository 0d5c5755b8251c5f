// Tiles over queries and keys: one tile of scores at a time. Each query's maximum, sum and output are corrected and
// carried to the next tile.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { range, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [WIDE, TALL] = [34, 28]; // of a cell
const [BROAD, OLD, THIS, NEW] = [346, 66, 186, 262]; // how wide a memory is; in the fast one, its three columns

const short = (value, digits = 4) => String(Number(value.toFixed(digits)));
const word = (x, y, text, look = null, anchor = "middle") =>
  s("text", { x, y, "text-anchor": anchor, class: look }, text);
const arrow = (d) => s("path", { class: "link now", "stroke-width": 2, d });
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
        const weights = keys.map((j) => (powers[j] === power ? "1" : `${powers[j]}/${power}`));
        const terms = [weights, weights.map((weight, n) => `${weight}·${values[keys[n]]}`)];
        const factor = old.power / power;
        state[i] = { power, most, d: old.d * factor + adds[0], o: old.o * factor + adds[1], old, adds, terms };
      }));
      const [a, b] = tiles[at.value - 1] ?? [];
      const [queries, keys] = [inBlock(a), inBlock(b)];
      const last = queries.at(-1); // the query whose numbers are written out
      const isReady = (i) => tiles.slice(at.value).every(([other]) => !inBlock(other).includes(i)) && state[i].d > 0;
      const lookOf = (all, t) => (all.includes(t) ? "tint kata-tone-10" : "");
      const { power, d, o, old, adds, terms, most: found } = state[last] ?? {};
      const added = (n) => (terms[n].length > 2 ? short(adds[n]) : terms[n].join(" + ")); // as far as there is room
      const risen = old?.power > 0 && power > old.power;
      const factor = risen ? `· ${old.power}/${power} ` : "";
      const ends = last !== undefined && isReady(last); // no tile of this query is left: nothing of it stays
      // Two memories: what lies in each while this tile is worked on.
      const height = 208 + wide.value * TALL;
      const [left, top, most] = [68, height / 2 - 62, T * TALL];
      const aside = left + T * WIDE + 10; // where the outputs begin
      const large = drawing(
        {
          name: "HBM: large, far and slow",
          label: `Queries, keys, values and outputs of ${T} tokens. The scores are not kept here.`,
          width: BROAD,
          height,
        },
        s("rect", { class: "box", x: 2, y: 2, width: BROAD - 4, height: height - 4, rx: 6 }),
        word(left - 27, top - 6, "Q"), word(left - 10, top - 20, "K"), word(left - 10, top + most + 25, "V"),
        word(aside + 16, top - 6, "O"),
        range(T).map((t) => [
          cell(left - 44, top + t * TALL, `${lookOf(queries, t)} ${t === last ? "chosen" : ""}`, "1"),
          cell(left + t * WIDE, top - TALL - 10, lookOf(keys, t), log(powers[t])),
          cell(left + t * WIDE, top + most + 8, lookOf(keys, t), values[t]),
          cell(aside, top + t * TALL, isReady(t) ? `done ${t === last ? "chosen" : ""}` : "",
            isReady(t) ? short(state[t].o / state[t].d, 2) : ""),
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
        queries.length && [
          arrow(`M${left + T * WIDE + 4},${top - 25}H${BROAD - 8}m-6,-5l6,5l-6,5`),
          word(BROAD - 8, top - 32, "Q, K, V to SRAM", null, "end"),
        ],
        ends && [
          arrow(`M${BROAD - 8},${top + last * TALL + 13}H${aside + 40}m6,-5l-6,5l6,5`),
          word(BROAD - 8, top + last * TALL + 7, `${short(o)} / ${short(d)}`, "number", "end"),
        ],
        word(BROAD / 2, top + most + 56, "dashed: scores, never here (the keys, as each query is 1)"),
      );
      const below = 74 + wide.value * TALL; // where the three numbers begin, under the scores
      const start = THIS - (keys.length * WIDE) / 2;
      const small = drawing(
        {
          name: "SRAM: small, near and fast",
          label: queries.length
            ? `${queries.length} queries, their scores with ${keys.length} keys, and for each query a maximum, a sum `
              + "and an output."
            : "Nothing is here yet.",
          width: BROAD,
          height,
        },
        s("rect", { class: "box", x: 2, y: 2, width: BROAD - 4, height: height - 4, rx: 6 }),
        queries.length ? [
          queries.map((i, n) => [
            word(start - 8, 29 + n * TALL, `query ${i}`, null, "end"),
            keys.map((j, m) => cell(start + m * WIDE, 12 + n * TALL, seen(i, j) ? "kata-kind-3" : "gone",
              seen(i, j) ? log(powers[j]) : "")),
          ]),
          ["scores,", "then forgotten"].map(
            (text, n) => word(start + keys.length * WIDE + 8, 29 + 15 * n, text, null, "start")),
          arrow(`M${THIS},${below - 60}V${below - 25}m-5,-6l5,6l5,-6`),
          word(8, below - 8, `query ${last}`, "strong", "start"),
          [[OLD + 27, "before"], [THIS, "this tile"], [NEW + 27, "after"]].map(
            ([x, text]) => word(x, below - 8, text, "strong")),
          [["max", log(old.power), `or ${log(found)}`, log(power)],
            ["sum", short(old.d), `${factor && short(old.d)} ${factor}+ ${added(0)}`, short(d)],
            ["output", short(old.o), `${factor && short(old.o)} ${factor}+ ${added(1)}`, short(o)],
          ].map(([name, before, change, after], n) => [
            word(8, below + 17 + n * TALL, name, null, "start"),
            cell(OLD, below + n * TALL, "", before, 54),
            word(THIS, below + 17 + n * TALL, change),
            word(NEW - 9, below + 17 + n * TALL, "→"),
            cell(NEW, below + n * TALL, "done chosen", after, 54),
          ]),
          word(NEW + 54, below + 3 * TALL + 20,
            ends ? `${short(o)} / ${short(d)} = ${short(o / d, 2)} to O` : "these three stay for the next tile",
            "strong", "end"),
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
