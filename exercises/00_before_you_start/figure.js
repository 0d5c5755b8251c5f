// A mean is taken from x, copy by copy: which numbers are repeated, and where an error is missing.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, range, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, equation, matrix, sign } from "../../grader/integrations/figures/tables.js";

const WAYS = ["dim=1, keepdim", "dim=1", "dim=0", "all entries"];
const [SIDE, GAP] = [44, 20];
const digitsOf = (means) => (means.every(({ value }) => Number.isInteger(value)) ? 0 : 2);
const mean = (values) => sum(values) / values.length;

// The means as torch makes them. Each: its value, the cells of x that it is made of, their name, and the place where it
// is before it is copied, beside x (column −1) or above it (row −1).
function meansOf(x, way) {
  const [T, d] = [x.length, x[0].length];
  const cellsOf = (i) => range(d).map((j) => [i, j]);
  const made = (name, cells, home) => ({ name, cells, home, value: mean(cells.map(([i, j]) => x[i][j])) });
  // torch lines shapes up from the right, so that a flat mean is a row above x.
  if (way < 2) return range(T).map((i) => made(`row ${i}`, cellsOf(i), way ? [-1, d - T + i] : [i, -1]));
  if (way === 2) return range(d).map((j) => made(`column ${j}`, range(T).map((i) => [i, j]), [-1, j]));
  return [made("all", range(T).flatMap(cellsOf), [-1, -1])];
}

// The means, and below or beside them their copies as they are laid over x: each slides to its place.
// at(i, j): the mean that comes to lie there, null where the shapes do not fit; isWrong(i, j): it is not that of row i
function laying(x, means, shape, at, isLaid, isWrong, [pickedRow, pickedColumn]) {
  const digits = digitsOf(means);
  const edge = [0, 1].map((axis) => (means.some(({ home }) => home[axis] < 0) ? SIDE + GAP : 0));
  const place = (where) => {
    const [down, right] = where.map((n, axis) => (n < 0 ? 0 : edge[axis] + n * SIDE) + 2);
    return `transform: translate(${right}px, ${down}px)`;
  };
  const cell = (key, where, look, ...words) => s(
    "g",
    { class: "turning", key, style: place(where) },
    s("rect", { class: `cell ${look}`, width: SIDE - 2, height: SIDE - 2 }),
    words.map((word, n) => s("text", {
      class: "number", x: SIDE / 2 - 1, y: SIDE / 2 + 3 + (words.length - 1) * (16 * n - 8), "text-anchor": "middle",
    }, word)),
  );
  const places = x.flatMap((one, i) => one.map((_, j) => [i, j]));
  const nameIn = ({ name }) => name.replace("column", "col."); // a cell has no room for more
  const isPicked = (i, j) => i === pickedRow && j === pickedColumn;
  const isMixed = at && places.some(([i, j]) => isWrong(i, j)); // then a row's own mean has a word, and not only its colour
  const wordsIn = (i, j) => [
    format(at(i, j).value, digits), isPicked(i, j) ? nameIn(at(i, j)) : isMixed && at(i, j).name === `row ${i}` && "own",
  ].filter(Boolean);
  return drawing(
    {
      name: `means ${shape}, copied`,
      label: means.map(({ name, value }) => `Mean of ${name}: ${format(value, digits)}.`).join(" "),
      width: x[0].length * SIDE + edge[1] + 4,
      height: x.length * SIDE + edge[0] + 4,
    },
    places.map(([i, j]) => cell(`place ${i} ${j}`, [i, j], "gone")),
    at && places.map(([i, j]) => cell(
      `copy ${i} ${j}`,
      isLaid(i, j) ? [i, j] : at(i, j).home,
      `kata-kind-${isWrong(i, j) ? 1 : 0} ${isLaid(i, j) && isPicked(i, j) ? "chosen" : ""}`,
      ...(isLaid(i, j) ? wordsIn(i, j) : []),
    )),
    means.map((one) => cell(
      `mean ${one.home}`,
      one.home,
      `kata-kind-0 ${at?.(pickedRow, pickedColumn) === one ? "chosen" : ""}`,
      format(one.value, digits),
      nameIn(one),
    )),
  );
}

export default {
  render({ model, el }) {
    const { rows, third } = model.get("data");
    const figure = frame(el, "A mean lands where its shape puts it");
    figure.below();
    const most = () => (way.value ? rows.length + size.value : third.length);
    const layAll = () => {
      copies.limit(most());
      copies.value = most();
    };
    const way = figure.choice({ label: "Mean", options: WAYS, value: 1, moved: layAll });
    const size = figure.choice({ label: "Rows of x", options: ["two", "three"], value: 1, moved: layAll });
    const copies = figure.slider({ label: "Copies laid over x", min: 0, max: 3, value: 3 });
    figure.player(copies, 1200);
    figure.lesson(() => {
      [way.value, size.value] = [0, 0];
      layAll();
    });
    const cell = figure.state([0, 1]);
    figure.draw(() => {
      const x = size.value ? [...rows, third] : rows;
      const [T, d] = [x.length, x[0].length];
      const means = meansOf(x, way.value);
      const digits = digitsOf(means);
      const at = way.value === 1 && T !== d ? null : (i, j) => means[[i, j, j, 0][way.value]];
      const isLaid = (i, j) => (way.value ? i : j) < copies.value;
      const isWrong = (i, j) => isLaid(i, j) && Math.abs(at(i, j).value - mean(x[i])) > 1e-9;
      const [i, j] = [Math.min(cell.value[0], T - 1), cell.value[1]];
      const shape = [`(${T}, 1)`, `(${T},)`, `(${d},)`, "()"][way.value];
      const drawn = laying(x, means, shape, at, isLaid, isWrong, [i, j]);
      const given = (cells = []) => matrix({
        name: "x", values: x, rows: range(T).map((n) => `row ${n}`), digits: 0, large: true, picked: [i, j],
        kind: (i, j) => (cells.some(([r, c]) => r === i && c === j) ? 0 : null),
      });
      if (!at) {
        return {
          show: equation(given(), sign("−", drawn)),
          key: ["result", "none"],
          say: `An error: (${T}, ${d}) − ${shape}. torch lines shapes up from the right, and ${T} means do not fit to `
            + `the ${d} numbers of a row.`,
        };
      }
      const mapped = (make) => x.map((one, i) => one.map((value, j) => (isLaid(i, j) ? make(value, i, j) : null)));
      const result = mapped((value, i, j) => value - at(i, j).value);
      const wrong = x.flatMap((one, i) => one.filter((_, j) => isWrong(i, j))).length;
      const chance = x.flatMap((_, i) => range(d).filter((j) => isLaid(i, j) && !isWrong(i, j)
        && way.value && at(i, j).name !== `row ${i}`)).length;
      const { name, value, cells } = at(i, j);
      const loses = `The ${format(x[i][j], 0)} in row ${i} loses ${format(value, digits)}, the mean of ${name}. `;
      const judged = wrong
        ? `Orange: not the mean of its own row${chance ? ` (right by chance: ${chance})` : ""}. torch does not warn`
        : "Each row loses its own mean";
      return {
        show: equation(
          given(isLaid(i, j) ? cells : []),
          sign("−", drawn),
          sign("=", matrix({
            name: "result", values: result, digits, large: true, picked: [i, j],
            kind: (...to) => (isWrong(...to) ? 1 : null),
            pick: (...to) => (cell.value = to),
          })),
        ),
        title: way.value === 1 && "Without keepdim, the mean of row 1 lands on column 1",
        key: ["numbers that get a wrong mean", `${wrong} of ${T * d}`],
        say: `${isLaid(i, j) ? loses : ""}${copies.value < most()
          ? `${copies.value} of ${most()} copies are laid over x` : judged}.`,
      };
    });
  },
};
