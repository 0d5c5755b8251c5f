// The model that the lesson trains: where a token looks, and what the model expects after it, with heads to switch off.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, kept, range, softmax, sum } from "../../grader/integrations/figures/maths.js";
import { map } from "../../grader/integrations/figures/plane.js";
import { bars, drawing, matrix, row } from "../../grader/integrations/figures/tables.js";
import { ids, losses, run, transformer } from "../../grader/integrations/figures/transformer.js";

const OPEN = 3; // the token that the figure opens at: “the”
const [STEP, LEFT, HIGH] = [66, 30, 72]; // between two tokens, before the first one, and of a head

// From the picked token to those that it looks at, a line for each head. The thicker an arc, the larger the weight.
function looks(heads, names, t) {
  const x = (i) => LEFT + i * STEP;
  const bottom = heads.length * HIGH + 14;
  return drawing(
    {
      name: `where “${names[t]}” looks`,
      label: heads.map(({ name, weights }) => `${name}: ${weights.map((one) => format(one, 2)).join(", ")}`).join("; "),
      width: LEFT + names.length * STEP,
      height: bottom + 12,
    },
    heads.map(({ name, weights, isOff }, n) => {
      const y = (n + 1) * HIGH - 4;
      return [
        s("text", { x: 0, y: y - 50 }, isOff ? `${name}, off` : name),
        range(names.length).map((i) => s("circle", { class: i <= t ? "dot" : "node", cx: x(i), cy: y, r: 3 })),
        weights.map((weight, i) => i < t && weight > 0.03 && s("path", {
          class: `pull ${isOff ? "dim" : ""}`,
          fill: "none",
          "stroke-width": (9 * weight).toFixed(1),
          d: `M${x(t)},${y - 4}C${x(t)},${y - 54} ${x(i)},${y - 54} ${x(i)},${y - 4}`,
        })),
        s("circle", { class: "node", cx: x(t), cy: y, r: 4 + 5 * weights[t] }),
        s("circle", { class: "dot", cx: x(t), cy: y, r: 1 + 6 * weights[t] }),
      ];
    }),
    names.map((name, i) => s("text", {
      class: i === t ? "strong" : null, x: x(i), y: bottom + 4, "text-anchor": "middle",
    }, name)),
  );
}

export default {
  render({ model: given, el }) {
    const { drawn, writers, line, vocabulary, tokens: first, words } = given.get("data");
    const models = [...writers, drawn].map(transformer);
    const OWN = models.length - 1; // the model of task 2
    const figure = frame(
      el, "Ann's lines go on with a cat, Tom's with a dog. Where does “the” look? Switch that head off.",
   );
    const wordsOf = () => (which.value === OWN ? words : vocabulary);
    const at = figure.state(OPEN); // the place in the text
    const heads = range(drawn.sizes.layers).flatMap((l) => range(drawn.sizes.heads).map((head) => [l, head]));
    // Only the model of task 2 has words and heads of its own.
    const opened = figure.state(0);
    const open = () => {
      if ((opened.value === OWN) !== (which.value === OWN)) {
        typed.value = (which.value === OWN ? first.map((token) => words[token]) : line).join(" ");
        at.value = which.value === OWN ? Infinity : OPEN;
        on.show((i) => heads[i][0] < models[which.value].layers);
      }
      opened.value = which.value;
    };
    const which = figure.choice({
      label: "Model",
      options: ["trained for 76 steps", "for 26 steps", "not trained", "of task 2"],
      moved: () => open(),
    });
    const on = figure.switches({ label: "Heads", options: heads.map(([l, head]) => `layer ${l}, head ${head}`) });
    on.show((i) => heads[i][0] < models[0].layers);
    const typed = figure.entry({ label: "Tokens", value: line.join(" "), moved: () => (at.value = Infinity) });
    figure.lesson(() => {
      which.value = OWN;
      open();
    });
    const keep = kept();
    figure.draw(() => {
      const model = models[which.value];
      const { tokens, error } = ids(typed.value, model, wordsOf());
      if (error) return { show: [], say: error };
      const none = new Set([...on.off].map((i) => heads[i].join(".")));
      const { logits, weights } = run(model, tokens, none, undefined, keep);
      const loss = losses(logits, tokens);
      const t = Math.min(at.value, tokens.length - 1);
      const names = tokens.map((token) => wordsOf()[token]);
      const next = softmax(Array.from(logits[t]));
      const best = range(model.vocabulary).sort((a, b) => next[b] - next[a]).slice(0, 5);
      const all = weights.flatMap((layer, l) => layer.map((one, head) => ({
        name: `layer ${l}, head ${head}`, weights: one[t].slice(0, t + 1), whole: one, isOff: none.has(`${l}.${head}`),
      })));
      const maps = all.map(({ name, whole, isOff }, n) => {
        const facts = { values: whole, rows: names, columns: names, marked: (i, j) => i === t && j <= i };
        const press = () => on.press(n);
        return keep(`map ${n}`, [whole, isOff, t], () => map({ name: isOff ? `${name} (off)` : name, ...facts, press }));
      });
      const mean = sum(loss) / loss.length;
      // The head that looks back the most, and at which token.
      const back = all.filter(({ isOff }) => !isOff).flatMap(({ name, weights: one }) =>
        range(t).map((j) => ({ name, j, weight: one[j] }))).sort((a, b) => b.weight - a.weight)[0];
      const expected = wordsOf()[best[0]];
      const instead = names[t + 1] === expected ? "" : `, which had ${next[tokens[t + 1]]?.toFixed(4)}`;
      const follows = t < loss.length ? ` “${names[t + 1]}” follows${instead}: a loss of ${loss[t].toFixed(4)}.` : "";
      return {
        show: [
          row(matrix({
            name: "pick a token",
            values: names,
            columns: range(tokens.length).map(String),
            heat: false,
            picked: [0, t],
            pick: (_, j) => (at.value = j),
          }), matrix({
            name: "loss",
            values: loss,
            columns: names.slice(1),
            marked: (_, j) => j === t,
          })),
          row(looks(all, names, t), bars({
            name: `what comes after “${names[t]}”`,
            values: best.map((token) => next[token]),
            labels: best.map((token) => wordsOf()[token]),
            most: 1,
            digits: 4,
          })),
          row(...maps),
        ],
        key: ["mean loss of these tokens", mean.toFixed(4)],
        say: `After “${names[t]}” the model expects “${expected}”, with ${next[best[0]].toFixed(4)}.${follows}`
          + (back ? ` Of the heads that are on, ${back.name} looks back the most: at “${names[back.j]}”, with the weight `
            + `${format(back.weight, 2)}.` : ""),
      };
    });
  },
};
