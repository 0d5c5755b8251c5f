// One product instead of three: the weights lie on top of each other, and the result is cut in the same order.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { causal, matmul, range, softmax, sum, transpose } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const ORDERS = ["q k v", "k q v", "v k q"];
const NAMES = ORDERS[0].split(" ");
const [WIDE, HIGH, BOX] = [92, 34, 76]; // of a part, and how wide a box of the formula is
const [CUT, USED] = [56, 130]; // where the names that parts are cut as stand, and the boxes of the formula
const PLACES = [126, 218, 310]; // the middles of q, k and v in the formula

// The stacked product, the names that its parts are cut as, and the box of the formula that each ends in.
function strips(from, to) {
  const at = (i) => PLACES[0] + i * WIDE;
  const word = (x, y, text, style) => s("text", { x, y, "text-anchor": "middle", class: "strong", style }, text);
  const large = (x, y, text) => word(x, y, text, "font-size: 15px; stroke-width: 8px");
  const part = (x, y, width, is, text) => [
    s("rect", { class: `cell kata-kind-${NAMES.indexOf(is)}`, x: x - width / 2, y, width, height: HIGH }),
    s("text", { x, y: y + 21, "text-anchor": "middle", class: "number strong" }, text),
  ];
  return drawing(
    { name: "x @ W.T, one product", width: PLACES[2] + BOX, height: USED + HIGH + 34, most: 410,
      label: `Stacked as ${from.join(", ")}, cut as ${to.join(", ")}.` },
    [["stacked as", 26], ["cut as", CUT + 5], ["used as", USED + 21]].map(([row, y]) => s("text", { x: 0, y }, row)),
    from.map((name, i) => part(at(i), 4, WIDE, name, name)),
    to.map((name, i) => {
      const end = PLACES[NAMES.indexOf(name)];
      return [
        s("path", { class: `pull kata-kind-${NAMES.indexOf(from[i])}`, "stroke-width": 2.5,
          d: `M${at(i)},${4 + HIGH}V${CUT + 10}C${at(i)},${USED - 20} ${end},${CUT + 40} ${end},${USED}` }),
        large(at(i), CUT + 6, name),
        part(end, USED, BOX, from[i], name === from[i] ? name : `${from[i]}, not ${name}`),
      ];
    }),
    [["softmax(", 82], ["q", 126], ["·", 172], ["kᵀ", 218], ["/ √d ) ·", 264], ["v", 310]].map(
      ([text, x]) => large(x, USED + HIGH + 24, text)
    ),
  );
}

export default {
  render({ model, el }) {
    const { inputs, tokens, layers, out_weight, out_bias, heads } = model.get("data");
    const width = layers.q.length;
    const size = width / heads;
    const attended = ({ q, k, v }) => {
      const all = range(heads).map((head) => {
        const part = (one) => one.map((line) => line.slice(head * size, (head + 1) * size));
        const scores = causal(matmul(part(q), transpose(part(k))));
        return matmul(scores.map((line) => softmax(line.map((score) => score / Math.sqrt(size)))), part(v));
      });
      const merged = inputs.map((_, t) => all.flatMap((head) => head[t]));
      return matmul(merged, transpose(out_weight)).map((line) => line.map((value, i) => value + out_bias[i]));
    };
    const figure = frame(el, "Cut in another order, q, k and v change places, and no error is raised");
    figure.below();
    const stacked = figure.choice({ label: "Stacked as", options: ORDERS });
    const cut = figure.choice({ label: "Cut as", options: ORDERS, value: 2 });
    figure.lesson(() => ([stacked.value, cut.value] = [0, 0]));
    const projected = Object.fromEntries(
      Object.entries(layers).map(([name, weight]) => [name, matmul(inputs, transpose(weight))])
    );
    const right = attended(projected);
    figure.draw(() => {
      const [from, to] = [stacked, cut].map((one) => ORDERS[one.value].split(" "));
      const wrong = to.filter((name, n) => from[n] !== name);
      const output = attended(Object.fromEntries(to.map((name, n) => [name, projected[from[n]]])));
      const far = output.map((line, i) => line.map((value, j) => Math.abs(value - right[i][j])));
      const off = (i, j) => far[i][j] > 5e-5;
      const many = sum(far.map((line, i) => line.filter((_, j) => off(i, j)).length));
      return {
        show: row(
          strips(from, to),
          matrix({ name: "output", values: output, rows: tokens, heat: false, marked: off }),
          matrix({ name: "should be", values: right, heat: false }),
        ),
        key: ["wrong numbers in the output", `${many} of ${tokens.length * width}`],
        say: wrong.length
          ? `${wrong.length === 3 ? "All three" : wrong.join(" and ")} are cut from the wrong part. `
            + "All shapes fit, so no error is raised."
            + (wrong.includes("v") ? "" : ` The row of “${tokens[0]}” stays right.`)
          : `One product of ${inputs.length} × ${inputs[0].length} with ${inputs[0].length} × ${3 * width} `
            + "in place of three; the output is that of exercise 13.",
      };
    });
  },
};
