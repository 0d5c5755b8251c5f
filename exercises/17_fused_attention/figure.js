// One product instead of three: the weights lie on top of each other, and the result is cut in the same order.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { causal, matmul, range, softmax, sum, transpose } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const ORDERS = ["q k v", "k q v", "v k q"];
const NAMES = ORDERS[0].split(" ");
const [WIDE, HIGH, GAP] = [72, 34, 54]; // of a part, and between two
const LEFT = 70; // of the parts

// The product as it is stacked, as it is cut, and as attention takes the parts.
function strips(from, to) {
  const real = NAMES.map((name) => from[to.indexOf(name)]);
  const X = (i, gap = GAP) => LEFT + GAP - gap + i * (WIDE + gap);
  // The letter is what a part is taken for, the colour what it holds.
  const part = (x, y, letter, is) => [
    s("rect", { class: `cell kata-kind-${NAMES.indexOf(is)}`, x, y, width: WIDE, height: HIGH }),
    letter !== is && s("rect", { class: "box", x: x - 2, y: y - 2, width: WIDE + 4, height: HIGH + 4 }),
    s("text", { class: "number strong", x: x + WIDE / 2, y: y + 21, "text-anchor": "middle" },
      letter === is ? letter : `${letter} holds ${is}`),
  ];
  const middle = (x, y, words) => s("text", { x, y, "text-anchor": "middle" }, words);
  const [CUT, USED] = [72, 158]; // where these rows begin
  return drawing(
    { name: "x @ W.T, one product", width: LEFT + 3 * WIDE + 2 * GAP + 4, height: USED + HIGH + 6, most: 400,
      label: `Stacked as ${from.join(", ")}, cut as ${to.join(", ")}.` },
    from.map((name, i) => part(X(i, 0), 4, name, name)),
    s("rect", { class: "box", x: X(0, 0), y: 4, width: 3 * WIDE, height: HIGH }),
    to.map((name, i) => [
      s("path", { class: "link", d: `M${X(i, 0) + WIDE / 2},${4 + HIGH}L${X(i) + WIDE / 2},${CUT - 2}` }),
      part(X(i), CUT, name, from[i]),
    ]),
    NAMES.map((name, i) => {
      const [start, end] = [X(to.indexOf(name)) + WIDE / 2, X(i) + WIDE / 2];
      const kind = NAMES.indexOf(real[i]);
      return [
        s("path", { class: `pull kata-kind-${kind}`, "stroke-width": 2.5,
          d: `M${start},${CUT + HIGH + 2}C${start},${USED - 25} ${end},${CUT + HIGH + 25} ${end},${USED - 2}` }),
        part(X(i), USED, name, real[i]),
        middle(X(i) + WIDE + GAP / 2, USED + 22, ["·", "ᵀ / √d) ·", ""][i]),
      ];
    }),
    [["stacked", 4], ["cut as", CUT], ["softmax(", USED]].map(([row, y]) => s("text", { x: 0, y: y + 22 }, row)),
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
          : `One product of ${inputs.length} × ${inputs[0].length} with ${inputs[0].length} × ${3 * width} `
            + "in place of three; the output is that of exercise 13.",
      };
    });
  },
};
