// Heads side by side, and the layer after them: each number of its output draws on all heads.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, format, matmul, softmax, times, transpose } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [WIDE, SIDE, TOP] = [148, 62, 74]; // from head to head, of a cell, and where the cells begin
const [DEEP, THICK] = [150, 9]; // from the cells of the heads to those of the output; the line of a weight of 1
const LABEL = 50; // the room for "output layer" beside the lines

// What each head found, in brackets, and the output: lines from every number of the heads to every one of the output.
function mixing(found, output, weight, picked, { on, mixed, changed, pick }) {
  const size = found[0].length;
  const X = (n) => 8 + Math.floor(n / size) * WIDE + (n % size) * SIDE;
  const middle = (n) => X(n) + SIDE / 2 - 2;
  const all = found.flat();
  const cell = (n, y, value, looks) => [
    s("rect", { class: `cell ${looks}`, x: X(n), y, width: SIDE - 4, height: 30 }),
    s("text", { class: "number", x: middle(n), y: y + 19, "text-anchor": "middle" }, format(value, 2)),
  ];
  const head = (n, y, text, look) => s(
    "text", { x: X(n * size) + (size * SIDE) / 2 - 2, y, "text-anchor": "middle", class: look }, text
  );
  const low = TOP + 30 + DEEP;
  const width = 16 + (found.length - 1) * WIDE + size * SIDE + LABEL;
  const told = found.map((numbers, h) => `head ${h}: ${numbers.map((value) => format(value, 2)).join(", ")}`);
  return drawing(
    { name: "one token", label: told.join("; "), width, height: low + 62, most: 1.2 * width },
    output.flatMap((_, i) => all.map((_, j) => {
      const share = mixed ? weight[i][j] : Number(i === j);
      const head = Math.floor(j / size);
      return share !== 0 && s("path", {
        class: `pull kata-kind-${on[head] ? head : 3} ${i === picked ? "" : "dim"} ${share < 0 ? "minus" : ""}`,
        "stroke-width": Math.max(0.6, THICK * Math.abs(share)).toFixed(2),
        d: `M${middle(j)},${TOP + 34}C${middle(j)},${TOP + 34 + DEEP / 2} ${middle(i)},${low - DEEP / 2} `
          + `${middle(i)},${low - 4}`,
      });
    })),
    found.map((numbers, h) => [
      head(h, 18, `head ${h}`, "strong"),
      !on[h] && head(h, 36, "switched off"),
      s("path", { class: "line", d: `M${X(h * size)},60V50H${X(h * size + size - 1) + SIDE - 4}V60` }),
      numbers.map((value, n) => cell(h * size + n, TOP, value, on[h] ? `kata-kind-${h}` : "gone")),
    ]),
    mixed && ["output", "layer"].map((word, n) => s("text", {
      x: width - 6, y: TOP + 30 + DEEP / 2 + 16 * n, "text-anchor": "end", class: "strong",
    }, word)),
    output.map((value, i) => s(
      "g",
      { class: "kata-press", click: () => pick(i), pointerover: () => pick(i) },
      cell(i, low, value, `${mixed ? "" : `kata-kind-${Math.floor(i / size)}`} ${i === picked ? "chosen" : ""}`),
    )),
    output.map((_, i) => s("text", {
      x: middle(i), y: low + 48, "text-anchor": "middle", class: changed[i] ? "strong" : null,
    }, changed[i] ? "changed" : `output ${i}`)),
  );
}

export default {
  render({ model, el }) {
    const { x, heads, out_weight, out_bias } = model.get("data");
    const figure = frame(el, "One head gives only zeros. How many numbers of the output change?");
    figure.below();
    const mixed = figure.toggle({ label: "Output layer", value: true });
    const on = figure.switches({ label: "Heads", options: heads.map((_, h) => `head ${h}`) });
    const token = figure.choice({ label: "Token", options: x.map((_, t) => String(t)) });
    const numbers = figure.toggle({ label: "Numbers of the output layer" });
    figure.lesson(() => {
      on.show(() => true);
      [mixed.value, token.value, numbers.value] = [true, 0, true];
    });
    on.press(1);
    const cell = figure.state(0);
    const attended = heads.map(([query, key, value]) => {
      const [queries, keys, values] = [query, key, value].map((weight) => matmul(x, transpose(weight)));
      const scores = times(matmul(queries, transpose(keys)), 1 / Math.sqrt(query.length));
      return matmul(scores.map(softmax), values);
    });
    figure.draw(() => {
      const [t, i] = [token.value, cell.value];
      const isOn = heads.map((_, h) => !on.off.has(h));
      const found = attended.map((one, h) => one[t].map((value) => (isOn[h] ? value : 0)));
      const through = (side) => (mixed.value ? out_weight.map((one, n) => dot(one, side) + out_bias[n]) : side);
      const output = through(found.flat());
      const all = through(attended.flatMap((one) => one[t]));
      const changed = output.map((value, n) => value !== all[n]);
      const pick = (n) => (cell.value = n);
      const size = found[0].length;
      const gone = [...on.off].map((h) => `head ${h}`).join(" and ");
      const many = changed.filter(Boolean).length;
      return {
        key: [gone ? `numbers that change without ${gone}` : `output ${i}`,
          gone ? `${many} of ${output.length}` : format(output[i])],
        show: mixing(found, output, out_weight, i, { on: isOn, mixed: mixed.value, changed, pick }),
        more: numbers.value && row(
          matrix({
            name: "output", values: [output], columns: output.map((_, n) => String(n)), picked: [0, i],
            pick: (_, n) => pick(n), marked: (_, n) => changed[n], heat: false,
          }),
          mixed.value && matrix({
            name: "W_o, the weight of the output layer", values: out_weight, digits: 2,
            rows: out_weight.map((_, n) => `output ${n}`),
            columns: found.flatMap((one, n) => one.map(() => `head ${n}`)),
            kind: (_, n) => Math.floor(n / size), faint: (n) => n !== i,
            note: "A line is as thick as its weight, and dashed if the weight is negative.",
          }),
        ),
        say: (gone ? `Without ${gone}, ${many} of ${output.length} numbers change. ` : "") + (mixed.value
          ? `Output ${i} has a line from every number of every head.`
          : `Without the layer output ${i} is a copy of one number of head ${Math.floor(i / size)}, and no other head `
            + "can write there."),
      };
    });
  },
};
