// A model in the page: every head's weights and the loss, with heads to switch off.

import { frame } from "../../grader/integrations/figures/frame.js";
import { kept, range, softmax, sum } from "../../grader/integrations/figures/maths.js";
import { map } from "../../grader/integrations/figures/plane.js";
import { bars, matrix, row } from "../../grader/integrations/figures/tables.js";
import { ids, losses, run, transformer } from "../../grader/integrations/figures/transformer.js";

// The trained model is in the page with 11 bits a number: the digits that are shown are those of the full one.
const DIGITS = 2;

export default {
  render({ model: given, el }) {
    const { drawn, trained, tokens: first, pattern, words } = given.get("data");
    const models = [trained, drawn].map(transformer);
    const figure = frame(
      el, "Each word is guessed from those before it. Switch heads off, and watch the loss.",
    );
    const called = (token) => (which.value ? words[token] : `token ${token}`);
    const at = figure.state(Infinity); // the place in the text, the last one by default
    // Another model has words and heads of its own.
    const open = () => {
      typed.value = which.value ? first.map((token) => words[token]).join(" ") : pattern.join(" ");
      at.value = Infinity;
      showHeads();
    };
    const which = figure.choice({
      label: "Model",
      options: ["trained on repeated sequences", "of task 2, not trained"],
      moved: () => open(),
    });
    const typed = figure.entry({
      label: "Tokens",
      value: pattern.join(" "),
      moved: () => (at.value = Infinity),
    });
    const heads = range(trained.sizes.layers).flatMap((l) => range(trained.sizes.heads).map((head) => [l, head]));
    const on = figure.switches({ label: "Heads", options: heads.map(([l, head]) => `layer ${l}, head ${head}`) });
    const showHeads = () => on.show((i) => heads[i][1] < models[which.value].heads);
    showHeads();
    figure.lesson(() => {
      which.value = 1;
      open();
    });
    const keep = kept();
    figure.draw(() => {
      const model = models[which.value];
      const digits = which.value ? 4 : DIGITS;
      const { tokens, error } = ids(typed.value, model, which.value ? words : []);
      if (error) return { show: [], say: error };
      const none = new Set([...on.off].map((i) => heads[i].join(".")));
      const { logits, weights } = run(model, tokens, none, undefined, keep);
      const loss = losses(logits, tokens);
      const t = Math.min(at.value, tokens.length - 1);
      const names = tokens.map((token) => (which.value ? words[token] : String(token)));
      const next = softmax(Array.from(logits[t]));
      const best = range(model.vocabulary).sort((a, b) => next[b] - next[a]).slice(0, 5);
      const maps = weights.map((layer, l) =>
        row(...layer.map((one, head) => {
          const isOff = none.has(`${l}.${head}`);
          const name = `layer ${l}, head ${head}${isOff ? " (off)" : ""}`;
          const facts = { name, values: one, rows: names, columns: names, marked: (i, j) => i === t && j <= i };
          const press = () => on.press(heads.findIndex(([a, b]) => a === l && b === head));
          return keep(`map ${l}.${head}`, [one, isOff, t], () => map({ ...facts, press }));
        })),
      );
      const mean = sum(loss) / loss.length;
      // The predictions of a word that has followed the same word before: those can be known.
      const isKnown = (i) => range(i).some((j) => tokens[j] === tokens[i] && tokens[j + 1] === tokens[i + 1]);
      const known = loss.filter((_, i) => isKnown(i));
      const ofKnown = known.length ? sum(known) / known.length : 0;
      const quoted = (token) => (which.value ? `“${words[token]}”` : token);
      const without = none.size ? ` with ${none.size} ${none.size === 1 ? "head" : "heads"} off` : "";
      const lossOf = matrix({
        name: "loss", values: loss, columns: names.slice(1), digits, marked: (_, j) => j === t,
        faint: (_, j) => known.length > 0 && !isKnown(j), scale: known.length ? 2 : undefined,
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
            name: "what comes next: the five most likely",
            values: best.map((token) => next[token]),
            labels: best.map(called),
            most: 1,
            digits,
          })),
          ...maps,
        ],
        key: known.length
          ? ["mean loss of pairs that came before", ofKnown.toFixed(digits)] : ["mean loss", mean.toFixed(digits)],
        say: `The mean loss is ${mean.toFixed(digits)}${without}`
          + (known.length ? `, but ${ofKnown.toFixed(digits)} where the same pair of words came before` : "")
          + `; blind guessing would give ln ${model.vocabulary} = ${Math.log(model.vocabulary).toFixed(digits)}. `
          + `After ${quoted(tokens[t])} the model expects `
          + `${quoted(best[0])}, with ${next[best[0]].toFixed(digits)}`
          + (t < loss.length
            ? `; ${quoted(tokens[t + 1])} follows, with ${next[tokens[t + 1]].toFixed(digits)}: a loss of `
              + `${loss[t].toFixed(digits)}.`
            : "."),
      };
    });
  },
};
