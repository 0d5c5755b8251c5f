// A row of three numbers, read by a tile of four lanes or more: what the lanes beyond the edge read, and what follows.

import { frame } from "../../grader/integrations/figures/frame.js";
import { format, range, sum } from "../../grader/integrations/figures/maths.js";
import { matrix, row } from "../../grader/integrations/figures/tables.js";

export default {
  render({ model, el }) {
    const { powers, beyond } = model.get("data");
    const C = powers[0].length;
    const memory = [...powers.flat(), ...beyond].map(Math.log);
    const own = powers.length * C;
    const figure = frame(el, "A tile has a power of two of lanes. A row has three numbers. Who looks after the rest?");
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
          matrix({
            name: "memory",
            values: [memory, range(memory.length).map((i) => (i < own ? `row ${Math.floor(i / C)}` : "not x"))],
            digits: 2,
            columns: range(memory.length).map(String),
            marked: (i, j) => addresses.some((at, lane) => at === j && !isMasked(lane)),
            faint: (i, j) => j >= own,
          }),
          row(
            matrix({
              name: "the tile",
              values: tile,
              digits: 2,
              columns: lanes.map((lane) => `lane ${lane}`),
              faint: (i, j) => j >= C,
            }),
            matrix({
              name: "its exponentials",
              values: exponentials,
              digits: 2,
              columns: lanes.map((lane) => `lane ${lane}`),
              faint: (i, j) => j >= C,
            }),
          ),
          row(
            matrix({ name: "the weights that are stored", values: weights, scale: 1 }),
            matrix({ name: "the right weights", values: right, scale: 1, marked: (i) => i === program.value }),
          ),
        ],
        threads: lanes.filter((lane) => !isMasked(lane)).map((lane) => [
          ["memory", 1, addresses[lane]],
          ["the tile", 0, lane],
        ]),
        key: ["the weights sum to", format(share)],
        say: isRight
          ? `Row ${program.value} is right: the lanes past the row add nothing to the sum of ${format(total, 0)}.`
          : `The weights of row ${program.value} sum to ${format(share)} and not to 1. `
            + (mask.value ? "A masked lane that holds 0 adds 1 to the sum." : `The tile reads ${reads}.`),
      };
    });
  },
};
