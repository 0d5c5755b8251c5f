// A model in the page: every head's weights, the logits and the loss, with heads to switch off.

import { frame } from "../../grader/integrations/figures/frame.js";
import { kept, range, softmax, sum } from "../../grader/integrations/figures/maths.js";
import { map } from "../../grader/integrations/figures/plane.js";
import { bars, matrix, row } from "../../grader/integrations/figures/tables.js";
import { ids, losses, run, transformer } from "../../grader/integrations/figures/transformer.js";

const FEW = 8; // so many tokens at most are shown with their numbers

export default {
  render({ model: given, el }) {
    const { drawn, trained, tokens: first, pattern } = given.get("data");
    const models = [drawn, trained].map(transformer);
    const figure = frame(el, "Embeddings, layers of attention, logits: type tokens and switch heads off.");
    const which = figure.choice({
      label: "Model",
      options: ["of task 2, not trained", "trained on repeated sequences"],
      moved: ({ value }) => {
        typed.value = [first, pattern][value].join(" ");
        showHeads();
      },
    });
    const typed = figure.entry({ label: "Tokens", value: first.join(" ") });
    const heads = range(trained.sizes.layers).flatMap((l) => range(trained.sizes.heads).map((head) => [l, head]));
    const on = figure.switches({ label: "Heads", options: heads.map(([l, head]) => `layer ${l}, head ${head}`) });
    const showHeads = () => on.show((i) => heads[i][1] < models[which.value].heads);
    showHeads();
    const keep = kept();
    figure.draw(() => {
      const model = models[which.value];
      const { tokens, error } = ids(typed.value, model);
      if (error) return { show: [], say: error };
      const none = new Set([...on.off].map((i) => heads[i].join(".")));
      const { logits, weights } = run(model, tokens, none, undefined, keep);
      const loss = losses(logits, tokens);
      const names = tokens.map((token) => String(token));
      const few = tokens.length <= FEW && model.vocabulary <= FEW;
      const next = softmax(Array.from(logits.at(-1)));
      const best = range(model.vocabulary).sort((a, b) => next[b] - next[a]).slice(0, 5);
      const maps = weights.map((layer, l) =>
        row(...layer.map((one, head) => {
          const isOff = none.has(`${l}.${head}`);
          const name = `layer ${l}, head ${head}${isOff ? " (off)" : ""}`;
          const facts = { name, values: one, rows: names, columns: names };
          return keep(`map ${l}.${head}`, [one, isOff], () => few
            ? matrix({ ...facts, scale: 1, hidden: (i, j) => j > i })
            : map({ ...facts, press: () => on.press(heads.findIndex(([a, b]) => a === l && b === head)) }));
        })),
      );
      const without = none.size ? ` with ${none.size} ${none.size === 1 ? "head" : "heads"} off` : "";
      return {
        show: [
          ...maps,
          few ? matrix({
            name: "logits",
            values: logits.map((one) => Array.from(one)),
            rows: names,
            columns: range(model.vocabulary).map(String),
          }) : null,
          row(
            matrix({ name: "loss", values: loss, columns: names.slice(1), heat: few }),
            bars({
              name: "what comes next: the five likeliest",
              values: best.map((token) => next[token]),
              labels: best.map((token) => `token ${token}`),
              most: 1,
            }),
          ),
        ],
        say: `The mean loss is ${(sum(loss) / loss.length).toFixed(4)}${without}. `
          + `After ${names.at(-1)} the model expects ${best[0]}, with ${next[best[0]].toFixed(4)}.`,
      };
    });
  },
};
