// Averages over the past as one matrix product: which of them change with a token.

import { frame } from "../../grader/integrations/figures/frame.js";
import { format, matmul, range } from "../../grader/integrations/figures/maths.js";
import { equation, matrix, sign } from "../../grader/integrations/figures/tables.js";

export default {
  render({ model, el }) {
    const { x } = model.get("data");
    const T = x.length;
    const rows = range(T).map(String);
    const weights = range(T).map((i) => range(T).map((j) => (j <= i ? 1 / (i + 1) : 0)));
    const before = matmul(weights, x);
    const figure = frame(el, "A token changes its own average and those after it");
    figure.below();
    const token = figure.slider({ label: "Changed token", min: 0, max: T - 1, value: T - 1 });
    figure.player(token);
    figure.lesson(() => (added.value = 0));
    figure.fold("What is added to it");
    const added = figure.slider({ label: "Add to it", min: -4, max: 4, step: 0.5, digits: 1, value: 2 });
    figure.draw(() => {
      const [t, plus] = [token.value, added.value];
      const inputs = x.map((one, i) => one.map((value) => value + (i === t ? plus : 0)));
      const averages = matmul(weights, inputs);
      const isSeen = (i) => i >= t; // by the average i
      const isChanged = (i) => plus !== 0 && isSeen(i);
      const [from, to] = [before, averages].map((all) => `(${all[t].map((value) => format(value, 3)).join(", ")})`);
      const seen = t < T - 1 ? `the averages ${t} to ${T - 1}` : `average ${t} only`;
      const shown = (name, values, names, isMarked) => matrix({
        name, values, rows: names, columns: ["first", "second"], digits: 3, kind: (i) => (isMarked(i) ? 1 : null),
      });
      return {
        show: equation(
          matrix({
            name: "weights", values: weights, rows, columns: rows, digits: 3, scale: 0.4, hidden: (i, j) => j > i,
            kind: (i, j) => (j === t && isSeen(i) ? 1 : undefined),
          }),
          sign("@", shown("x", inputs, rows, (i) => i === t)),
          sign("=", shown("averages", averages, rows, isChanged)),
        ),
        threads: rows.flatMap((_, i) => (isChanged(i) ? [[["x", t, 1], ["averages", i, 0], 1]] : [])),
        key: [plus ? "averages that change" : `averages that see token ${t}`, `${T - t} of ${T}`],
        say: `Token ${t} has a weight in ${seen}. ${
          plus ? `Average ${t} was ${from} and is now ${to}.` : `Nothing is added, so nothing changes: it is ${to}.`
        }`,
      };
    });
  },
};
