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
    const theirs = lesson.x_2.map((_, j) => `other ${j}`);
    const sets = [pairs, { ...lesson, others: theirs }];
    const figure = frame(el, "Each word of the first sentence looks at the words of the second one.");
    const which = figure.choice({
      label: "Sentences",
      options: ["German to English", "of the lesson"],
      moved: () => fit(),
    });
    const first = figure.slider({ label: "Tokens of x_1", min: 1, max: GERMAN.length, value: GERMAN.length });
    const second = figure.slider({ label: "Tokens of x_2", min: 1, max: ENGLISH.length, value: ENGLISH.length });
    const own = figure.toggle({ label: "Take x_1 for both: self-attention" });
    // A sentence is shown whole at first, and has no more tokens than it has.
    const fit = () => {
      second.limit(sets[which.value].x_2.length);
      [first.value, second.value] = [GERMAN.length, sets[which.value].x_2.length];
    };
    figure.lesson(() => {
      [own.value, which.value] = [false, 1];
      fit();
      cell.value = [0, 0];
    });
    const cell = figure.state([0, 0]);
    figure.draw(() => {
      const { x_1, x_2, words, others, W_query, W_key, W_value } = sets[which.value];
      const asking = x_1.slice(0, first.value);
      const asked = own.value ? asking : x_2.slice(0, second.value);
      const names = own.value ? words : others;
      const [queries, keys, values] = [matmul(asking, W_query), matmul(asked, W_key), matmul(asked, W_value)];
      const weights = matmul(queries, transpose(keys)).map(
        (one) => softmax(one.map((score) => score / Math.sqrt(W_key[0].length)))
      );
      const i = Math.min(cell.value[1], asking.length - 1);
      const top = weights[i].indexOf(Math.max(...weights[i]));
      const asName = (n) => (own.value || !which.value ? `“${names[n]}”` : `token ${n} of the second sentence`);
      const X = (n, all) => 30 + ((n + 0.5) * 620) / all;
      const alignment = drawing(
        {
          name: "who looks at whom",
          label: `“${words[i]}” looks most at ${asName(top)}.`,
          width: 680,
          height: 210,
        },
        weights.flatMap((one, n) => one.map((weight, m) => s("line", {
          class: n === i ? "link now" : "link",
          x1: X(n, asking.length),
          y1: 30,
          x2: X(m, asked.length),
          y2: 178,
          "stroke-width": (weight * 12).toFixed(2),
          "stroke-opacity": n === i ? 0.9 : 0.3,
        }))),
        asking.map((_, n) => s(
          "text",
          {
            x: X(n, asking.length), y: 20, "text-anchor": "middle", class: n === i ? "strong" : null,
          },
          words[n]
        )),
        asked.map((_, m) => s("text", {
          x: X(m, asked.length), y: 198, "text-anchor": "middle", class: m === top ? "strong" : null,
        }, names[m])),
      );
      return {
        key: [`largest weight of “${words[i]}”`, format(weights[i][top], 3)],
        show: [
          matrix({
            name: "point at a word of x_1",
            values: words.slice(0, asking.length),
            columns: range(asking.length).map(String),
            heat: false,
            picked: [0, i],
            pick: (...at) => (cell.value = at),
          }),
          alignment,
          row(
            matrix({
              name: `weights of “${words[i]}”`,
              values: weights[i],
              digits: 3,
              columns: names.slice(0, asked.length),
              scale: 0.6,
              marked: (_, m) => m === top,
            }),
            matrix({ name: `context vector of “${words[i]}”`, values: matmul([weights[i]], values), digits: 4 }),
          ),
        ],
        say: `${asking.length} × ${asked.length} weights, and ${asking.length} context vectors. “${words[i]}” `
          + `looks most at ${asName(top)}.`,
      };
    });
  },
};
