// A mean is laid over x: which numbers are repeated, and where an error is missing.

import { frame } from "../../grader/integrations/figures/frame.js";
import { format, range, sum, transpose } from "../../grader/integrations/figures/maths.js";
import { matrix, row, sign } from "../../grader/integrations/figures/tables.js";

const WAYS = ["dim=1, keepdim", "dim=1", "dim=0", "all entries"];
const mean = (values) => sum(values) / values.length;

// The mean as torch makes it: its shape in words, and the numbers laid over x, or null where they do not fit.
function laid(x, way) {
  const [T, d] = [x.length, x[0].length];
  const ofRows = x.map(mean);
  if (way === 0) return { shape: `(${T}, 1)`, over: ofRows.map((value) => range(d).map(() => value)) };
  if (way === 1) return { shape: `(${T},)`, over: T === d ? x.map(() => ofRows) : null };
  if (way === 2) return { shape: `(${d},)`, over: x.map(() => transpose(x).map(mean)) };
  return { shape: "()", over: x.map((one) => one.map(() => mean(x.flat()))) };
}

export default {
  render({ model, el }) {
    const { rows, third } = model.get("data");
    const figure = frame(el, "Choose a mean to take from x. With three rows nothing warns you of a wrong one.");
    const way = figure.choice({ label: "Mean", options: WAYS, value: 1 });
    const size = figure.choice({ label: "Rows of x", options: ["two", "three"], value: 1 });
    figure.lesson(() => ([way.value, size.value] = [0, 0]));
    figure.draw(() => {
      const x = size.value ? [...rows, third] : rows;
      const { shape, over } = laid(x, way.value);
      const digits = 4;
      const given = matrix({ name: "x", values: x, digits });
      if (!over) {
        const means = matrix({ name: "mean", values: x.map(mean), digits });
        return {
          show: row(given, sign("−"), means),
          key: ["result", "none"],
          say: `An error: the mean has the shape ${shape}, and ${x.length} does not fit to the ${x[0].length} of a `
            + "row.",
        };
      }
      const result = x.map((one, i) => one.map((value, j) => value - over[i][j]));
      const sums = result.map(sum);
      const isWrong = (i, j) => Math.abs(over[i][j] - mean(x[i])) > 1e-9;
      const wrong = sum(over.flatMap((one, i) => one.map((_, j) => Number(isWrong(i, j)))));
      const centred = sums.every((value) => Math.abs(value) < 1e-9);
      return {
        show: row(
          given,
          sign("−"),
          matrix({ name: "mean, laid over x", values: over, digits, marked: isWrong }),
          sign("="),
          matrix({ name: "result", values: result, digits }),
        ),
        key: ["cells that got another mean", `${wrong} of ${x.length * x[0].length}`],
        say: `The mean has the shape ${shape}. The rows of the result sum to `
          + `${sums.map((value) => format(value, digits)).join(", ")}: `
          + `${centred ? "each is centred" : "no error, and not centred. Dashed: the mean of another row"}.`,
      };
    });
  },
};
