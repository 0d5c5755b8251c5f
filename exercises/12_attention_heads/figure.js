// Heads side by side, and the layer after them: each number of its output draws on all heads.

import { h, s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, format, matmul, softmax, times, transpose } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [WIDE, SIDE, TOP] = [176, 78, 62]; // from head to head, of a cell, and where the cells begin
const [DEEP, THICK] = [96, 9]; // from the cells of the heads to those of the output; the line of a weight of 1

// What each head found, in brackets, and the output: a line for each weight that is not 0. before: the output with all
// heads on; what is not as before is green.
function mixing(name, found, weight, { output, before, on, picked, pick }) {
  const size = found[0].length;
  const X = (n) => 6 + Math.floor(n / size) * WIDE + (n % size) * SIDE;
  const middle = (n) => X(n) + SIDE / 2 - 2;
  const word = (x, y, text, look) => s("text", { x, y, "text-anchor": "middle", class: look }, text);
  const cell = (n, y, value, looks) => [
    s("rect", { class: `cell ${looks}`, x: X(n), y, width: SIDE - 4, height: 30 }),
    word(middle(n), y + 19, format(value, 2), "number"),
  ];
  const low = TOP + 30 + DEEP;
  const told = output.map((value, n) => `output ${n} is ${format(value, 2)}, with all heads ${format(before[n], 2)}`);
  return drawing(
    { name, label: told.join("; "), width: 346, height: low + 56, most: 346 },
    output.flatMap((_, i) => found.flat().map((_, j) => {
      const head = Math.floor(j / size);
      const share = weight[i][j];
      return share !== 0 && (on[head] || i === picked) && s("path", {
        class: `pull kata-kind-${on[head] ? head : 3} ${share < 0 ? "minus" : ""}`,
        style: (picked < 0 || i === picked) && on[head] ? null : "stroke-opacity: .3",
        "stroke-width": Math.max(0.6, THICK * Math.abs(share)).toFixed(2),
        d: `M${middle(j)},${TOP + 25}C${middle(j)},${TOP + 25 + DEEP / 2} ${middle(i)},${low - DEEP / 2} `
          + `${middle(i)},${low - 1}`,
      });
    })),
    found.map((numbers, h) => [
      word(X(h * size) + (size * SIDE) / 2 - 2, 16, `head ${h}`, "strong"),
      !on[h] && word(X(h * size) + (size * SIDE) / 2 - 2, 32, "switched off"),
      s("path", { class: "line", d: `M${X(h * size)},50V42H${X(h * size + size - 1) + SIDE - 4}V50` }),
      numbers.map((value, n) => cell(h * size + n, TOP - 6, value, on[h] ? `kata-kind-${h}` : "gone")),
    ]),
    output.map((value, i) => s(
      "g",
      { class: "kata-press", click: () => pick(i), pointerover: () => pick(i) },
      cell(i, low, value, `${value === before[i] ? "" : "kata-kind-2"} ${i === picked ? "chosen" : ""}`),
    )),
    output.map((value, i) => (value === before[i]
      ? word(middle(i), low + 48, on.every(Boolean) ? `output ${i}` : "unchanged")
      : word(middle(i), low + 48, `${value > before[i] ? "+" : ""}${format(value - before[i], 3)}`, "strong"))),
  );
}

export default {
  render({ model, el }) {
    const { x, heads, out_weight, out_bias } = model.get("data");
    const figure = frame(el, "Through the output layer, each head reaches all four numbers");
    figure.below();
    const on = figure.switches({ label: "Heads", options: heads.map((_, h) => `head ${h}`) });
    const token = figure.choice({ label: "Token", options: x.map((_, t) => String(t)) });
    const numbers = figure.toggle({ label: "Numbers of the output layer" });
    figure.lesson(() => {
      on.show(() => true);
      [token.value, numbers.value] = [0, true];
    });
    on.press(1);
    const cell = figure.state(-1); // none is picked
    const attended = heads.map(([query, key, value]) => {
      const [queries, keys, values] = [query, key, value].map((weight) => matmul(x, transpose(weight)));
      const scores = times(matmul(queries, transpose(keys)), 1 / Math.sqrt(query.length));
      return matmul(scores.map(softmax), values);
    });
    figure.draw(() => {
      const [t, i] = [token.value, cell.value];
      const isOn = heads.map((_, h) => !on.off.has(h));
      const found = attended.map((one, h) => one[t].map((value) => (isOn[h] ? value : 0)));
      const through = (side) => out_weight.map((one, n) => dot(one, side) + out_bias[n]);
      const [side, sideBefore] = [found.flat(), attended.flatMap((one) => one[t])];
      const [output, before] = [through(side), through(sideBefore)];
      const changed = (numbers, others) => numbers.filter((value, n) => value !== others[n]).length;
      const many = [changed(output, before), changed(side, sideBefore)];
      const shared = { on: isOn, picked: i, pick: (n) => (cell.value = n) };
      const size = found[0].length;
      const gone = [...on.off].map((h) => `head ${h}`).join(" and ");
      return {
        key: gone ? [`without ${gone}`, `${many[0]} of ${output.length} change`]
          : i < 0 ? ["heads in each output", String(heads.length)] : [`output ${i}`, format(output[i])],
        show: [
          row(
            mixing("through the output layer", found, out_weight, { output, before, ...shared }),
            mixing("without it", found, side.map((_, n) => side.map((_, m) => Number(n === m))),
              { output: side, before: sideBefore, ...shared }),
          ),
          h("p", { class: "kata-note" }, "A line is as thick as its weight, and dashed if the weight is negative. "
            + "The layer adds a bias. Green: changed, and by how much."),
        ],
        more: numbers.value && row(
          matrix({
            name: "output", values: [output], columns: output.map((_, n) => String(n)), picked: i < 0 ? undefined : [0, i],
            pick: (_, n) => (cell.value = n), marked: (_, n) => output[n] !== before[n], heat: false,
          }),
          matrix({ name: "output without the layer", values: [side], heat: false }),
          matrix({
            name: "W_o, the weight of the output layer, and its bias", digits: 3,
            values: out_weight.map((one, n) => [...one, out_bias[n]]),
            rows: out_weight.map((_, n) => `output ${n}`),
            columns: [...found.flatMap((one, n) => one.map(() => `head ${n}`)), "bias"],
            kind: (_, n) => (n < side.length ? Math.floor(n / size) : null), faint: (n) => i >= 0 && n !== i,
          }),
        ),
        say: (gone
          ? `Without ${gone}, ${many[0]} of ${output.length} numbers change; without the layer, ${many[1]} would. `
          : "")
          + (gone && i < 0 ? "" : `${i < 0 ? "Each output" : `Output ${i}`} of the layer has a line from every number of `
            + "every head."),
      };
    });
  },
};
