// A row of three numbers, read by a tile of four lanes or more: what the lanes beyond the edge read, and what follows.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, range, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [WIDE, TALL, TOP] = [60, 100, 96]; // of a cell; of the highest bar; where bars begin

// The numbers of memory in the colours of their rows, and below them the lanes with what each adds to the sum.
function reading(memory, rowOf, lanes, addresses, { isMasked, exponentials }) {
  const X = (address) => 4 + address * WIDE;
  const high = (power) => (TALL * power) / Math.max(...exponentials);
  const low = TOP + TALL + 18;
  const last = Math.max(rowOf.length - 1, ...addresses);
  const look = (address) => (address < rowOf.length ? `kata-kind-${rowOf[address]}` : "");
  const at = (address, y, text, looks) => s(
    "text", { x: X(address) + WIDE / 2 - 2, y, "text-anchor": "middle", class: looks }, text
  );
  const told = lanes.map((lane) => `lane ${lane}: ${isMasked(lane) ? "masked" : `address ${addresses[lane]}`}`);
  const width = 8 + (last + 1) * WIDE;
  return drawing(
    {
      name: "memory, and what each lane adds to the sum",
      label: told.join("; "),
      width,
      height: low + 44,
      most: 1.2 * width,
    },
    range(last + 1).map((address) => [
      at(address, 14, address < rowOf.length ? `row ${rowOf[address]}` : "not ours"),
      s("rect", { class: `cell ${look(address)}`, x: X(address), y: 22, width: WIDE - 4, height: 30 }),
      at(address, 42, format(memory[address], 2), "number"),
    ]),
    s("path", { class: "line", d: `M${X(addresses[0])},58V68H${X(addresses[lanes.length - 1]) + WIDE - 4}V58` }),
    lanes.map((lane) => {
      const [address, height] = [addresses[lane], high(exponentials[lane])];
      const looks = isMasked(lane) ? "" : look(address);
      const isForeign = looks && rowOf[address] !== rowOf[addresses[0]];
      return [
        s("rect", { class: `cell ${looks}`, x: X(address) + 8, y: low - height, width: WIDE - 20, height }),
        at(address, low - height - 6, format(exponentials[lane], 0), "number"),
        at(address, low + 18, `lane ${lane}`, isForeign ? "strong" : null),
        isMasked(lane) && at(address, low + 36, "masked"),
      ];
    }),
  );
}

export default {
  render({ model, el }) {
    const { powers, beyond } = model.get("data");
    const C = powers[0].length;
    const memory = [...powers.flat(), ...beyond].map(Math.log);
    const rowOf = powers.flatMap((one, i) => one.map(() => i)); // by address
    const own = rowOf.length;
    const figure = frame(el, "A row has three numbers, a tile four lanes or eight. What do the other lanes read?");
    const program = figure.choice({ label: "Program", options: ["row 0", "row 1"] });
    const width = figure.choice({ label: "Lanes of the tile", options: ["4", "8"] });
    const mask = figure.toggle({ label: "Mask the load" });
    const other = figure.choice({ label: "A masked lane holds", options: ["−∞", "0"] });
    figure.draw(() => {
      const lanes = range([4, 8][width.value]);
      const addresses = lanes.map((lane) => program.value * C + lane);
      const isMasked = (lane) => mask.value && lane >= C;
      const filled = [-Infinity, 0][other.value];
      const tile = lanes.map((lane) => (isMasked(lane) ? filled : memory[addresses[lane]]));
      const exponentials = tile.map(Math.exp);
      const total = sum(exponentials);
      const weights = exponentials.slice(0, C).map((power) => power / total);
      const right = powers.map((one) => one.map((power) => power / sum(one)));
      const outside = lanes.filter((lane) => !isMasked(lane) && addresses[lane] >= own).length;
      const foreign = lanes.filter((lane) => !isMasked(lane) && lane >= C).length - outside;
      const share = sum(weights);
      const isRight = Math.abs(share - 1) < 1e-9;
      const reads = [
        foreign ? `${foreign} from another row` : "",
        outside ? `${outside} from memory past the tensor` : "",
      ].filter(Boolean).join(" and ");
      return {
        show: [
          reading(memory, rowOf, lanes, addresses, { isMasked, exponentials }),
          row(
            matrix({ name: "the weights that are stored", values: weights, scale: 1 }),
            matrix({ name: "the right weights", values: right, scale: 1, marked: (i) => i === program.value }),
          ),
        ],
        key: ["the weights sum to", format(share)],
        say: isRight
          ? `Row ${program.value} is right: the lanes past the row add nothing to the sum of ${format(total, 0)}.`
          : `The weights of row ${program.value} sum to ${format(share)} and not to 1. `
            + (mask.value ? "A masked lane that holds 0 adds 1 to the sum." : `The tile reads ${reads}.`),
      };
    });
  },
};
