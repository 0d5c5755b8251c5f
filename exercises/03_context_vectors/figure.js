// A query is chosen: its weights, and its context vector as a point that the tokens pull to themselves.

import { frame } from "../../grader/integrations/figures/frame.js";
import { matmul, softmax, times, transpose } from "../../grader/integrations/figures/maths.js";
import { plane } from "../../grader/integrations/figures/plane.js";
import { bars, matrix, row } from "../../grader/integrations/figures/tables.js";

const AXES = [[0, 1], [0, 2], [1, 2]];

export default {
  render({ model, el }) {
    const { inputs, tokens, journey } = model.get("data");
    const scores = matmul(inputs, transpose(inputs));
    const figure = frame(
      el,
      "The context vector is a mean of all tokens: each pulls it as strongly as its weight says."
    );
    const query = figure.choice({ label: "Query", options: tokens, value: journey });
    const axes = figure.choice({ label: "Dimensions", options: AXES.map(([a, b]) => `${a} and ${b}`) });
    const sharp = figure.slider({ label: "Scores times", min: 0, max: 20, step: 0.5, digits: 1, value: 1 });
    figure.draw(() => {
      const own = softmax(times([scores[query.value]], sharp.value)[0]);
      const context = matmul([own], inputs)[0];
      const [a, b] = AXES[axes.value];
      const center = [context[a], context[b]];
      const points = inputs.map((x, i) => ({
        x: x[a],
        y: x[b],
        name: tokens[i],
        size: 3 + 14 * own[i],
      }));
      const lines = inputs.map((x, i) => [[x[a], x[b]], center, 150 * own[i] ** 2]); // squared: small differences show
      const far = own.indexOf(Math.max(...own));
      return {
        show: row(
          bars({ name: "weights", values: own, labels: tokens, most: Math.max(0.3, ...own), marked: query.value }),
          plane({
            name: "Tokens and their context vector",
            points: [...points, { x: context[a], y: context[b], name: "context", kind: "cross" }],
            lines,
            xLabel: `dimension ${a}`,
            yLabel: `dimension ${b}`,
          }),
          matrix({ name: "context vector", values: context, columns: ["0", "1", "2"] }),
        ),
        say: `For “${tokens[query.value]}” the token “${tokens[far]}” pulls most, with ${own[far].toFixed(4)} of the `
          + `whole.${sharp.value ? "" : " With all scores 0 every token pulls alike: a plain mean."}`,
      };
    });
  },
};
