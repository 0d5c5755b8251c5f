// The same way with nn.Linear layers, which hold their weights turned: transposed, they are those of version 1.

import { transpose } from "../../grader/integrations/figures/maths.js";
import { line, matrix, row, turning } from "../../grader/integrations/figures/tables.js";
import { way } from "../../grader/integrations/figures/way.js";

const shape = (values) => `${values.length}, ${values[0].length}`;
const held = (name) => `${name}.weight`;

export default {
  render({ model, el }) {
    const { layers, ...rest } = model.get("data");
    const weights = Object.fromEntries(Object.entries(layers).map(([name, weight]) => [name, transpose(weight)]));
    way(
      el,
      "nn.Linear holds its weight turned: row i, column j of the layer is row j, column i of version 1.",
      { ...rest, ...weights, given: Object.fromEntries(Object.keys(layers).map((name) => [name, {
        made: (i, j) => `${name}.weight[${j}, ${i}] of the layer`,
        of: (i, j) => [[held(name), j, i]],
      }])) },
      (figure) => {
        const turned = figure.toggle({ label: "Turn W_query.weight on its diagonal", value: true });
        return ([which, i, j], pick) => {
          const isPicked = (name, a, b) => which === name && a === j && b === i;
          return [line(
            `The layer holds (d_out, d_in) = (${shape(layers.W_query)}) and computes x @ weight.T; version 1 holds `
              + `(d_in, d_out) = (${shape(weights.W_query)}) and computes x @ W.`
          ), row(
            ...Object.entries(layers).map(([name, weight]) => matrix({
              name: held(name),
              values: weight,
              picked: which === name ? [j, i] : undefined,
              pick: (a, b) => pick(name, b, a),
            })),
            turning({
              name: "W_query.weight turns", values: layers.W_query, turned: turned.value, digits: 2, side: 40,
              marked: (a, b) => isPicked("W_query", a, b),
            }),
          )];
        };
      },
    );
  },
};
