// A query is chosen: its weights, and its context vector as a point that the tokens pull to themselves.

import { frame } from "../../grader/integrations/figures/frame.js";
import { format, matmul, softmax, times, transpose } from "../../grader/integrations/figures/maths.js";
import { plane } from "../../grader/integrations/figures/plane.js";
import { bars, equation, matrix } from "../../grader/integrations/figures/tables.js";

const AXES = [[0, 1], [0, 2], [1, 2]];

export default {
  render({ model, el }) {
    const { inputs, tokens, journey } = model.get("data");
    const scores = matmul(inputs, transpose(inputs));
    const figure = frame(el, "Each token pulls the new row to itself, as strongly as its weight says");
    figure.below();
    const query = figure.choice({ label: "Query", options: tokens, value: journey });
    const sharp = figure.slider({ label: "Scores times", min: 0, max: 20, step: 0.5, digits: 1, value: 1 });
    figure.lesson(() => ([query.value, sharp.value, numbers.value] = [journey, 1, true]));
    figure.fold("Other dimensions, numbers");
    const axes = figure.choice({ label: "Dimensions", options: AXES.map(([a, b]) => `${a} and ${b}`) });
    const numbers = figure.toggle({ label: "Numbers" });
    figure.draw(() => {
      const own = softmax(times([scores[query.value]], sharp.value)[0]);
      const context = matmul([own], inputs)[0];
      const [a, b] = AXES[axes.value];
      const center = [context[a], context[b]];
      const points = inputs.map((x, i) => ({
        x: x[a], y: x[b], name: `${tokens[i]} ${format(own[i], 2)}`, size: 3 + 14 * own[i],
      }));
      const lines = inputs.map((x, i) => [[x[a], x[b]], center, 35 * own[i]]);
      const pulling = tokens.filter((_, i) => format(own[i], 2) !== format(0, 2));
      const pair = (values) => `(${[values[a], values[b]].map((value) => format(value, 2)).join(", ")})`;
      const far = own.indexOf(Math.max(...own));
      return {
        show: equation(
          bars({
            name: "weights", values: own, labels: tokens, digits: 3, most: Math.max(0.3, ...own), marked: query.value,
          }),
          plane({
            name: "Tokens and their context vector",
            points: [...points, {
              x: context[a], y: context[b], name: `new “${tokens[query.value]}”`, size: 9, kind: "cross",
            }],
            lines,
            most: 320,
            xLabel: `dimension ${a}`,
            yLabel: `dimension ${b}`,
            note: `new row: ${format(own[far], 2)} · ${pair(inputs[far])} + … = ${pair(context)}`,
          }),
        ),
        more: numbers.value && matrix({
          name: "context vector", values: context, columns: ["0", "1", "2"], heat: false,
        }),
        key: [`largest share: “${tokens[far]}”`, own[far].toFixed(2)],
        say: `The new row of “${tokens[query.value]}” comes from `
          + `${pulling.length === tokens.length ? "all six tokens" : `${pulling.join(" and ")} only`}. `
          + (sharp.value ? `“${tokens[far]}” pulls most${sharp.value > 1 ? ": larger scores make the softmax sharper" : ""}.`
            : "With all scores 0 every token pulls alike: a plain mean."),
      };
    });
  },
};
