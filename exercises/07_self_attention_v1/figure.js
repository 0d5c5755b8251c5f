// The whole way of a layer whose weights are parameters of the shape (d_in, d_out).

import { way } from "../../grader/integrations/figures/way.js";

export default {
  render({ model, el }) {
    way(el, "From the inputs to the context vectors: choose any number to see what it is made of.", model.get("data"));
  },
};
