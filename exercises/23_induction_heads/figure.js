// The trained model in the page: what follows a pattern, which head finds it, and what is lost without that head.

import { frame } from "../../grader/integrations/figures/frame.js";
import { kept, range, sum } from "../../grader/integrations/figures/maths.js";
import { map } from "../../grader/integrations/figures/plane.js";
import { matrix, row } from "../../grader/integrations/figures/tables.js";
import { cache, generate, ids, losses, run, transformer } from "../../grader/integrations/figures/transformer.js";

// The smallest period, of two tokens or more, with which the tokens repeat at least once in full; 0 without one.
const periodOf = (tokens) =>
  range(Math.max(0, Math.floor(tokens.length / 2) - 1), 2)
    .find((p) => tokens.every((token, t) => t < p || token === tokens[t - p])) ?? 0;

export default {
  render({ model: given, el }) {
    const { trained, tokens: first, more } = given.get("data");
    const model = transformer(trained);
    const { layers, heads } = model;
    const figure = frame(el, "One head looks at what came next the last time: so the model goes on with a pattern.");
    const typed = figure.entry({ label: "Tokens", value: first.join(" ") });
    const drawTokens = () => {
      const once = range(period.value).map(() => Math.floor(Math.random() * model.vocabulary));
      typed.value = [...once, ...once].join(" ");
    };
    const period = figure.slider({ label: "Period", min: 2, max: model.context / 2, value: 2, moved: drawTokens });
    figure.button("Draw a sequence, twice", drawTokens);
    const places = range(layers).flatMap((l) => range(heads).map((head) => [l, head]));
    const on = figure.switches({ label: "Heads", options: places.map(([l, head]) => `layer ${l}, head ${head}`) });
    const keep = kept();
    const draw = () => {
      const { tokens, error } = ids(typed.value, model);
      if (error) return { show: [], say: error };
      const off = new Set([...on.off].map((i) => places[i].join(".")));
      const past = cache(model);
      const { logits, weights } = run(model, tokens, off, past, keep);
      const next = generate(model, logits.at(-1), Math.min(more, model.context - tokens.length), off, past);
      const loss = losses(logits, tokens);
      const names = tokens.map(String);
      const T = tokens.length;
      const p = periodOf(tokens);
      if (p) period.value = p;
      const mean = (values) => sum(values) / values.length;
      const scores = (score) => weights.map((layer) => layer.map(score));
      const rows = range(layers).map((l) => `layer ${l}`);
      const columns = range(heads).map((head) => `head ${head}`);
      const previous = scores((one) => mean(range(T - 1, 1).map((t) => one[t][t - 1])));
      const induction = p && scores((one) => mean(range(T - p, p).map((t) => one[t][t - p + 1])));
      const repeated = p && mean(loss.slice(p));
      const part = T === 2 * p ? "second half" : "tokens after the first period";
      // Where an induction head looks: the token after the earlier occurrence of the one at hand.
      const expected = (i, j) => j > 0 && j <= i && tokens[j - 1] === tokens[i];
      const told = p
        ? `The loss of the ${part} is ${repeated.toFixed(4)}`
        : `The mean loss is ${mean(loss).toFixed(4)}`;
      const without = off.size ? ` with ${off.size} ${off.size === 1 ? "head" : "heads"} off` : "";
      const framed = "Framed: the previous token in layer 0, the token after an earlier occurrence in layer "
        + `${layers - 1}.`;
      return {
        show: [
          matrix({
            name: "the model goes on",
            values: [...tokens, ...next],
            digits: 0,
            heat: false,
            faint: (_, j) => j < T,
          }),
          ...weights.map((layer, l) => row(...layer.map((one, head) => {
            const isOff = off.has(`${l}.${head}`);
            return keep(`map ${l}.${head}`, [one, isOff], () => map({
              name: `layer ${l}, head ${head}${isOff ? " (off)" : ""}`,
              values: one,
              rows: names,
              columns: names,
              marked: l === layers - 1 ? expected : (i, j) => j === i - 1,
            }));
          }))),
          row(
            matrix({ name: "previous-token score", values: previous, rows, columns, scale: 1 }),
            p ? matrix({ name: "induction score", values: induction, rows, columns, scale: 1 }) : null,
            p ? matrix({ name: `loss of the ${part}`, values: [repeated], heat: false }) : null,
          ),
          matrix({ name: "loss", values: loss, columns: names.slice(1), digits: 4 }),
        ],
        say: `${told}${without}. ${framed}`,
      };
    };
    figure.draw(() => keep("figure", [typed.value, [...on.off].join()], draw));
  },
};
