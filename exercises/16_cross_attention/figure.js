// Two sentences: queries come from the first, keys and values from the second, which may be of any length.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, matmul, range, softmax, transpose } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [WIDE, TALL] = [330, 206];

// Who looks at whom: lines as thick as the weights among each other, those of word i in colour. told: what stands above and below the words.
function lines(weights, words, others, i, j, told) {
  const X = (n, all) => ((n + 0.5) * WIDE) / all;
  const [from, to] = [42, TALL - 42];
  const largest = Math.max(...weights.flat());
  const text = (names, y, chosen) => names.map((name, n) => s("text", {
    x: X(n, names.length), y, "text-anchor": "middle", class: n === chosen ? "strong" : null,
  }, name));
  return drawing(
    { name: "who looks at whom: the thicker, the more", width: WIDE, height: TALL, most: 1.3 * WIDE,
      label: `“${words[i]}” gives ${others[j]} ${format(weights[i][j], 3)}.` },
    weights.flatMap((one, n) => one.map((weight, m) => s("line", {
      class: n === i ? "link now" : "link", x1: X(n, words.length), y1: from, x2: X(m, others.length), y2: to,
      "stroke-width": ((weight / largest) * 8).toFixed(2), "stroke-opacity": n === i ? 0.9 : 0.2,
    }))),
    text(words, 34, i),
    text(others, TALL - 26, j),
    s("text", {
      class: "strong", x: (X(i, words.length) + X(j, others.length)) / 2, y: TALL / 2 + 4, "text-anchor": "middle",
    }, format(weights[i][j], 3)),
    told.map((words, n) => s("text", { x: 0, y: n ? TALL - 4 : 12 }, words)),
  );
}

export default {
  render({ model, el }) {
    const { trained, lesson } = model.get("data");
    const sets = [trained, { ...lesson, others: range(lesson.x_2.length).map(String) }];
    const figure = frame(el, "Each word of one sentence looks only at the words of the other");
    figure.below();
    const which = figure.choice({
      label: "Sentences", options: ["trained to translate", "of the lesson"], moved: () => fit(),
    });
    const most = trained.x_2.length;
    const second = figure.slider({ label: "Tokens of x_2", min: 1, max: most, value: most - 1 });
    // A sentence is shown whole at first, and has no more tokens than it has.
    const fit = () => {
      second.limit(sets[which.value].x_2.length);
      second.value = sets[which.value].x_2.length;
    };
    figure.lesson(() => {
      which.value = 1;
      fit();
      cell.value = [0, 4]; // where “Life” looks most
    });
    const cell = figure.state([2, 2]); // the article, whose noun is taken away
    figure.draw(() => {
      const { x_1, x_2, words, others, W_query, W_key, W_value } = sets[which.value];
      const asked = x_2.slice(0, second.value);
      const names = others.slice(0, second.value);
      const scores = matmul(matmul(x_1, W_query), transpose(matmul(x_2, W_key)));
      const weights = scores.map((one) => softmax(
        one.slice(0, asked.length).map((score) => score / Math.sqrt(W_key[0].length))
      ));
      const [i, j] = [x_1, asked].map((all, axis) => Math.min(cell.value[axis], all.length - 1));
      const top = weights[i].indexOf(Math.max(...weights[i]));
      const nameOf = (n) => (which.value ? `token ${n}` : `“${others[n]}”`);
      const favourite = scores[i].indexOf(Math.max(...scores[i])); // perhaps among the tokens that were taken away
      return {
        key: [`${words[i]} → ${which.value ? "token " : ""}${names[j]}`, format(weights[i][j], 3)],
        show: [
          row(lines(weights, words, names, i, j, which.value
            ? ["the words of x_1 ask ↓", "the tokens of x_2 are looked at"]
            : ["German asks (x_1) ↓", "English is looked at (x_2)"]), matrix({
            name: "weights", values: weights.map((one) => one.map((weight) => (weight < 0.005 ? 0 : weight))), digits: 2,
            rows: words, columns: names, scale: 1, picked: [i, j], pick: (...at) => (cell.value = at),
            hidden: (n, m) => weights[n][m] < 0.005,
          })),
          W_value && matrix({ name: "context vectors", values: matmul(weights, matmul(asked, W_value)), rows: words }),
        ],
        say: `${x_1.length} × ${asked.length} weights. `
          + `“${words[i]}” looks ${j === top ? "" : `at ${nameOf(j)} with ${format(weights[i][j], 3)}, and `}most at `
          + `${nameOf(top)}, with ${format(weights[i][top], 3)}`
          + (favourite < asked.length ? "." : `, now that ${nameOf(favourite)} is gone.`)
          + (words[i] === "die" && favourite < asked.length
            ? " To write “die”, and not “der” or “das”, it needs the noun."
            : ""),
      };
    });
  },
};
