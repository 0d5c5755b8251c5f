// Two sentences: queries come from the first, keys and values from the second, which may be of any length.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, matmul, range, softmax, transpose } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

// Two sentences whose words share meanings, each a number: a query of a meaning finds the keys of the same one.
const MEANINGS = 6;
const GERMAN = [["ich", 0], ["habe", 1], ["das", 2], ["rote", 3], ["Haus", 4], ["gesehen", 5]];
const ENGLISH = [["I", 0], ["have", 1], ["seen", 5], ["the", 2], ["red", 3], ["house", 4]];
const SHARP = 3.2; // how long a query and a key are
const one = (meaning, length) => range(MEANINGS).map((m) => (m === meaning ? length : 0));
const scaled = (length) => range(MEANINGS).map((m) => one(m, length));

export default {
  render({ model, el }) {
    const lesson = model.get("data");
    const pairs = {
      words: GERMAN.map(([word]) => word),
      others: ENGLISH.map(([word]) => word),
      x_1: GERMAN.map(([, meaning]) => one(meaning, 1)),
      x_2: ENGLISH.map(([, meaning]) => one(meaning, 1)),
      W_query: scaled(SHARP),
      W_key: scaled(SHARP),
      W_value: scaled(1),
    };
    const longest = lesson.x_2.length;
    const others = range(longest).map((j) => `other ${j}`);
    const sets = [pairs, { ...lesson, others }];
    const figure = frame(el, "Rows come from the first sentence, columns from the second: T₁ × T₂ weights.");
    const first = figure.slider({ label: "Tokens of x_1", min: 1, max: pairs.words.length, value: pairs.words.length });
    const second = figure.slider({ label: "Tokens of x_2", min: 1, max: longest, value: longest });
    const own = figure.toggle({ label: "Take x_1 for both: self-attention" });
    const which = figure.choice({ label: "Sentences", options: ["German to English", "of the lesson"] });
    figure.lesson(() => {
      [first.value, second.value, own.value, which.value] = [pairs.words.length, longest, false, 1];
    });
    const cell = figure.state([0, 0]);
    figure.draw(() => {
      const { x_1, x_2, words, others: theirs, W_query, W_key, W_value } = sets[which.value];
      const asking = x_1.slice(0, first.value);
      const asked = own.value ? asking : x_2.slice(0, second.value);
      const names = own.value ? words : theirs;
      const [queries, keys, values] = [matmul(asking, W_query), matmul(asked, W_key), matmul(asked, W_value)];
      const weights = matmul(queries, transpose(keys)).map(
        (one) => softmax(one.map((score) => score / Math.sqrt(W_key[0].length)))
      );
      const [i, j] = [Math.min(cell.value[0], asking.length - 1), Math.min(cell.value[1], asked.length - 1)];
      const top = weights[i].indexOf(Math.max(...weights[i]));
      const asName = (n) => (own.value || !which.value ? `“${names[n]}”` : `token ${n} of the second sentence`);
      const X = (n, all) => 30 + ((n + 0.5) * 560) / all;
      const alignment = drawing(
        {
          name: "who looks at whom",
          label: `“${words[i]}” looks most at ${asName(top)}.`,
          width: 620,
          height: 190,
        },
        weights.flatMap((row, n) => row.map((weight, m) => s("line", {
          class: n === i ? "link now" : "link",
          x1: X(n, asking.length),
          y1: 34,
          x2: X(m, asked.length),
          y2: 152,
          "stroke-width": (weight * 9).toFixed(2),
          "stroke-opacity": n === i ? 0.9 : 0.45,
        }))),
        asking.map((_, n) => s(
          "text",
          { x: X(n, asking.length), y: 24, "text-anchor": "middle", class: n === i ? "strong" : null },
          words[n]
        )),
        asked.map((_, m) => s("text", { x: X(m, asked.length), y: 172, "text-anchor": "middle" }, names[m])),
      );
      return {
        key: [`largest weight of “${words[i]}”`, format(weights[i][top], 3)],
        show: [
          alignment,
          row(
            matrix({ name: "x_1", values: asking, digits: 2, rows: words }),
            matrix({ name: own.value ? "x_1 again" : "x_2", values: asked, digits: 2, rows: names })
          ),
          matrix({
            name: "weights",
            values: weights,
            digits: 3,
            rows: words,
            columns: names.slice(0, asked.length),
            scale: 0.6,
            picked: [i, j],
            pick: (...at) => (cell.value = at),
          }),
          matrix({ name: "context vectors", values: matmul(weights, values), rows: words }),
        ],
        say: `${asking.length} × ${asked.length} weights, and ${asking.length} context vectors. “${words[i]}” `
          + `gives ${asName(j)} the weight ${format(weights[i][j], 3)}, and looks most at ${asName(top)}.`,
      };
    });
  },
};
