// The same way with nn.Linear layers, which hold their weights turned: transposed, they are those of version 1.

import { transpose } from "../../grader/integrations/figures/maths.js";
import { matrix, row } from "../../grader/integrations/figures/tables.js";
import { way } from "../../grader/integrations/figures/way.js";

export default {
  render({ model, el }) {
    const { layers, ...rest } = model.get("data");
    const turned = Object.fromEntries(Object.entries(layers).map(([name, weight]) => [name, transpose(weight)]));
    const held = () => row(...Object.entries(layers).map(([name, weight]) => matrix({
      name: `${name}.weight, as the layer holds it`,
      values: weight,
      heat: true,
    })));
    way(
      el,
      "nn.Linear holds its weight turned. Here W_query and the others are shown as in version 1.",
      { ...rest, ...turned },
      () => [held()]
    );
  },
};
