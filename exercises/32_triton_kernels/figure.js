// A row of three numbers, read by a tile of four lanes or more: what the lanes beyond the edge read, and what follows.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, range, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [WIDE, TALL, TOP] = [342, 56, 102]; // of the drawing; of the highest bar; where bars begin

const nameOf = (row) => (row === undefined ? "not ours" : `row ${row}`);
const short = (value, digits = 3) => String(Number(value.toFixed(digits)));

// The numbers of memory in the colours of their rows; below them the lanes with what each adds to the sum, what is
// stored of it, and, where that is wrong, what would be right.
function reading(memory, rowOf, lanes, addresses, { isMasked, exponentials, weights, right }) {
  const last = Math.max(rowOf.length - 1, ...addresses);
  const room = WIDE / (last + 1);
  const isWide = room > 40;
  const read = addresses.filter((_, lane) => !isMasked(lane));
  const high = (power) => (TALL * power) / Math.max(...memory); // the same scale in all states
  const low = TOP + TALL;
  const word = (address, y, text, look) => s(
    "text", { x: (address + 0.5) * room, y, "text-anchor": "middle", class: look }, text
  );
  const beside = (y, text) => { // the cells that are stored: at the right, or at the left if they are far to the right
    const first = addresses[0];
    const x = first ? first * room - 6 : weights.length * room + 6;
    const pointed = first ? `${text} →` : `← ${text}`;
    return s("text", { x, y, "text-anchor": first ? "end" : "start", class: "strong" }, pointed);
  };
  const look = (address) => (address < rowOf.length ? `kata-kind-${rowOf[address]}` : "");
  const box = (address, y, height, look, side = 2) => s("rect", {
    class: `cell ${look}`, x: address * room + side, y, width: room - 2 * side, height,
  });
  const told = lanes.map((lane) => `lane ${lane}: ${isMasked(lane) ? "masked" : `address ${addresses[lane]}`}`);
  return drawing(
    { name: "memory, and what each lane adds to the sum", label: told.join("; "), width: WIDE, height: low + 98,
      most: 420 },
    range(last + 1).map((address) => [
      rowOf[address] !== rowOf[address - 1]
        && s("text", { x: address * room + 2, y: 12, class: "strong" }, nameOf(rowOf[address])),
      box(address, 18, 28, look(address)), word(address, 37, `log ${memory[address]}`, "number"),
    ]),
    s("path", { class: "line", d: `M${read[0] * room + 2},50v8H${(read.at(-1) + 1) * room - 2}v-8` }),
    s("text", { x: read[0] * room + 2, y: 74 }, "what the tile reads, and exp of it"),
    lanes.map((lane) => {
      const [address, height] = [addresses[lane], high(exponentials[lane])];
      const isForeign = !isMasked(lane) && rowOf[address] !== rowOf[addresses[0]];
      return [
        box(address, low - height, height, isMasked(lane) ? "" : look(address), 6),
        word(address, low - height - 6, format(exponentials[lane], 0), "number"),
        word(address, low + 15, isWide ? `lane ${lane}` : lane, isForeign ? "strong" : null),
        isMasked(lane) && word(address, low + 31, room > 50 ? "masked" : "off"),
        isWide && !isMasked(lane) && word(
          address, low + 31, `${exponentials[lane]} / ${sum(exponentials)}`, isForeign ? "strong" : null
        ),
        lane < weights.length && [
          box(address, low + 38, 26, look(address)),
          word(address, low + 56, short(weights[lane], isWide ? 3 : 2), "number"),
          right && [
            box(address, low + 70, 26, "gone"),
            word(address, low + 88, short(right[lane], isWide ? 3 : 2), "number"),
          ],
        ],
      ];
    }),
    beside(low + 56, addresses[0] ? "stored" : `stored: lanes 0 to ${weights.length - 1}`), // as far as there is room
    right && beside(low + 88, "should be"),
  );
}

export default {
  render({ model, el }) {
    const { powers, beyond } = model.get("data");
    const C = powers[0].length;
    const memory = [...powers.flat(), ...beyond];
    const rowOf = powers.flatMap((one, i) => one.map(() => i)); // by address
    const own = rowOf.length;
    const figure = frame(el, "The lanes past the row spoil its weights unless they hold −∞");
    figure.beside();
    const load = figure.choice({ label: "Lanes past the row", options: ["load", "hold −∞", "hold 0"] });
    const program = figure.choice({ label: "Program", options: ["row 0", "row 1"] });
    const width = figure.choice({ label: "Lanes of the tile", options: ["4", "8"] });
    const all = figure.toggle({ label: "Numbers" });
    figure.lesson(() => ([load.value, program.value, width.value, all.value] = [0, 0, 0, true]));
    figure.draw(() => {
      const lanes = range([4, 8][width.value]);
      const addresses = lanes.map((lane) => program.value * C + lane);
      const isMasked = (lane) => load.value > 0 && lane >= C;
      const exponentials = lanes.map((lane) => (isMasked(lane) ? load.value - 1 : memory[addresses[lane]]));
      const weights = exponentials.slice(0, C).map((power) => power / sum(exponentials));
      const right = powers.map((one) => one.map((power) => power / sum(one)));
      const outside = lanes.filter((lane) => !isMasked(lane) && addresses[lane] >= own).length;
      const foreign = lanes.filter((lane) => !isMasked(lane) && lane >= C && addresses[lane] < own)
        .map((lane) => `log ${memory[addresses[lane]]}`);
      const share = sum(weights);
      const isRight = Math.abs(share - 1) < 1e-9;
      const reads = [foreign.length && `${foreign.join(", ")} of row ${1 - program.value}`,
        outside && `${outside} from memory past the tensor`].filter(Boolean).join(" and ");
      return {
        show: reading(memory, rowOf, lanes, addresses, {
          isMasked, exponentials, weights, right: isRight ? null : right[program.value],
        }),
        more: all.value && row(
          matrix({ name: "the weights that are stored", values: weights, scale: 1 }),
          matrix({ name: "the right weights", values: right, rows: ["row 0", "row 1"], scale: 1 }),
        ),
        key: ["stored weights sum to", short(share)],
        say: isRight
          ? `Row ${program.value} is right: the lanes past it hold −∞ and add nothing to the sum.`
          : (load.value ? "A masked lane that holds 0 adds 1 to the sum. " : `The tile reads ${reads}. `)
            + `So the weights of row ${program.value} sum to ${short(share)}, not to\u00a01.`,
      };
    });
  },
};
