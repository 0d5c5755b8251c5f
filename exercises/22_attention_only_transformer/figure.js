// A model in the page: every head's weights, the logits and the loss, with heads to switch off.

import { frame } from "../../grader/integrations/figures/frame.js";
import { kept, range, softmax, sum } from "../../grader/integrations/figures/maths.js";
import { map } from "../../grader/integrations/figures/plane.js";
import { bars, matrix, row } from "../../grader/integrations/figures/tables.js";
import { ids, losses, run, transformer } from "../../grader/integrations/figures/transformer.js";

// The trained model is in the page with 11 bits a number: the digits that are shown are those of the full one.
const DIGITS = 2;
const FEW = 8; // so many tokens at most are shown with their numbers

export default {
  render({ model: given, el }) {
    const { drawn, trained, tokens: first, pattern, words } = given.get("data");
    const models = [drawn, trained].map(transformer);
    const figure = frame(
      el, "Each word is guessed from those before it. Point at a word, switch heads off, and watch the loss.",
    );
    const called = (token) => (which.value ? `token ${token}` : words[token]);
    const at = figure.state(Infinity); // the place in the text, the last one by default
    const which = figure.choice({
      label: "Model",
      options: ["of task 2, not trained", "trained on repeated sequences"],
      moved: ({ value }) => {
        typed.value = value ? pattern.join(" ") : first.map((token) => words[token]).join(" ");
        at.value = Infinity;
        showHeads();
      },
    });
    const typed = figure.entry({
      label: "Tokens",
      value: first.map((token) => words[token]).join(" "),
      moved: () => (at.value = Infinity),
    });
    const heads = range(trained.sizes.layers).flatMap((l) => range(trained.sizes.heads).map((head) => [l, head]));
    const on = figure.switches({ label: "Heads", options: heads.map(([l, head]) => `layer ${l}, head ${head}`) });
    const showHeads = () => on.show((i) => heads[i][1] < models[which.value].heads);
    showHeads();
    const keep = kept();
    figure.draw(() => {
      const model = models[which.value];
      const digits = which.value ? DIGITS : 4;
      const { tokens, error } = ids(typed.value, model, which.value ? [] : words);
      if (error) return { show: [], say: error };
      const none = new Set([...on.off].map((i) => heads[i].join(".")));
      const { logits, weights } = run(model, tokens, none, undefined, keep);
      const loss = losses(logits, tokens);
      const t = Math.min(at.value, tokens.length - 1);
      const names = tokens.map((token) => (which.value ? String(token) : words[token]));
      const few = tokens.length <= FEW && model.vocabulary <= FEW;
      const next = softmax(Array.from(logits[t]));
      const best = range(model.vocabulary).sort((a, b) => next[b] - next[a]).slice(0, 5);
      const maps = weights.map((layer, l) =>
        row(...layer.map((one, head) => {
          const isOff = none.has(`${l}.${head}`);
          const name = `layer ${l}, head ${head}${isOff ? " (off)" : ""}`;
          const facts = { name, values: one, rows: names, columns: names, marked: (i, j) => i === t && j <= i };
          return keep(`map ${l}.${head}`, [one, isOff, t], () => few
            ? matrix({ ...facts, scale: 1, digits: 3, hidden: (i, j) => j > i })
            : map({ ...facts, press: () => on.press(heads.findIndex(([a, b]) => a === l && b === head)) }));
        })),
      );
      const mean = sum(loss) / loss.length;
      const quoted = (token) => (which.value ? token : `“${words[token]}”`);
      const without = none.size ? ` with ${none.size} ${none.size === 1 ? "head" : "heads"} off` : "";
      const lossOf = matrix({
        name: "loss", values: loss, columns: names.slice(1), digits, heat: few, marked: (_, j) => j === t,
      });
      return {
        show: [
          row(matrix({
            name: "point at a word",
            values: names,
            columns: range(tokens.length).map(String),
            heat: false,
            picked: [0, t],
            pick: (_, j) => (at.value = j),
          })),
          row(lossOf, bars({
            name: "what comes next: the five likeliest",
            values: best.map((token) => next[token]),
            labels: best.map(called),
            most: 1,
            digits,
          })),
          ...maps,
          few ? matrix({
            name: "logits",
            values: logits.map((one) => Array.from(one)),
            rows: names,
            columns: range(model.vocabulary).map(called),
            digits: 3,
            marked: (i) => i === t,
          }) : null,
        ],
        key: ["mean loss", mean.toFixed(digits)],
        say: `The mean loss is ${mean.toFixed(digits)}${without}; blind guessing would give ln ${model.vocabulary} = `
          + `${Math.log(model.vocabulary).toFixed(digits)}. After ${quoted(tokens[t])} the model expects `
          + `${quoted(best[0])}, with ${next[best[0]].toFixed(digits)}`
          + (t < loss.length
            ? `; ${quoted(tokens[t + 1])} follows, with ${next[tokens[t + 1]].toFixed(digits)}: a loss of `
              + `${loss[t].toFixed(digits)}.`
            : "."),
      };
    });
  },
};
