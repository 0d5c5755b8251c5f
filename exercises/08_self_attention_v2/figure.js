// The same way with nn.Linear layers, which hold their weights turned: transposed, they are those of version 1.

import { transpose } from "../../grader/integrations/figures/maths.js";
import { matrix, row, turning } from "../../grader/integrations/figures/tables.js";
import { way } from "../../grader/integrations/figures/way.js";

export default {
  render({ model, el }) {
    const { layers, ...rest } = model.get("data");
    const weights = Object.fromEntries(Object.entries(layers).map(([name, weight]) => [name, transpose(weight)]));
    way(
      el,
      "nn.Linear holds its weight turned. Here W_query and the others are shown as in version 1.",
      { ...rest, ...weights },
      (figure) => {
        const turned = figure.toggle({ label: "Turn W_query.weight on its diagonal" });
        return () => [row(
          turning({ name: "W_query.weight turns", values: layers.W_query, turned: turned.value, digits: 4, side: 52 }),
          ...Object.entries(layers).map(([name, weight]) => matrix({
            name: `${name}.weight, as the layer holds it`,
            values: weight,
          })),
        )];
      },
    );
  },
};
