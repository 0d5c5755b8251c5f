// Three matrices make three vectors of one token. Queries and keys make scores, which need not be the same both ways.

import { h } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, matmul, range, transpose } from "../../grader/integrations/figures/maths.js";
import { equation, matrix, sign } from "../../grader/integrations/figures/tables.js";

const NAMES = ["W_query", "W_key", "W_value"];
const ROLES = ["asks →", "is found ↓", "gives, mixed in 06"];

export default {
  render({ model, el }) {
    const { inputs, tokens, journey, ...weights } = model.get("data");
    const figure = frame(el, "One row, three jobs: to ask, to be found, and to give");
    figure.below();
    let last = journey; // the token before the choice
    const token = figure.choice({
      label: "Token", options: tokens, value: journey,
      // It asks another token than itself, since only then the two ways differ.
      moved: ({ value }) => value === partner.value && (partner.value = last),
    });
    const [partner, entry, isAbout] = [figure.state(4), figure.state([0, 0]), figure.state(false)]; // about: the entry
    const W_query = weights.W_query.map((one) => [...one]);
    const same = figure.toggle({ label: "Use W_query for the keys too" });
    figure.fold("Change an entry of W_query");
    const slider = figure.slider({
      label: "Chosen entry of W_query",
      min: -1,
      max: 1,
      step: 0.01,
      digits: 4,
      value: W_query[0][0],
      moved({ value }) {
        const [i, j] = entry.value;
        W_query[i][j] = value;
        isAbout.value = true;
      },
    });
    figure.draw(() => {
      const j = entry.value[1];
      const used = { ...weights, W_query, ...(same.value ? { W_key: W_query } : {}) };
      const [queries, keys, values] = NAMES.map((name) => matmul(inputs, used[name]));
      const t = token.value;
      last = t;
      const pick = (...at) => {
        slider.value = W_query[at[0]][at[1]];
        [entry.value, isAbout.value] = [at, true];
      };
      const scores = matmul(queries, transpose(keys));
      const u = partner.value;
      const terms = inputs[t].map((x, d) => `${format(x, 2)} · ${format(W_query[d][j])}`).join(" + ");
      const product = queries[t].map((one, d) => `${format(one, 3)} · ${format(keys[u][d], 3)}`).join(" + ");
      // A matrix and what it makes of the token, in the colour of what it makes.
      const branch = (kind, result, options) => equation(
        matrix({ name: NAMES[kind], values: used[NAMES[kind]], digits: 3, kind: () => kind, ...options }),
        sign("→", matrix({
          name: ["query", "key", "value"][kind], values: result[t], digits: 3, kind: () => kind,
          note: ROLES[kind],
          ...(kind || !isAbout.value ? {} : { picked: [0, j] }),
        })),
      );
      return {
        threads: [
          ...range(3).map((kind) => [[tokens[t], 0, 2], [NAMES[kind], 1, 0], kind]),
          [["query", 0, 1], ["scores", t, 0], 0],
          [["key", 0, 1], ["scores", "all", t], 1],
        ],
        show: equation(
          matrix({ name: tokens[t], values: inputs[t], digits: 2, heat: false }),
          h(
            "div", {},
            branch(0, queries, { picked: isAbout.value && entry.value, pick }), branch(1, keys), branch(2, values),
          ),
          matrix({
            name: "scores",
            values: scores,
            rows: tokens,
            columns: tokens,
            digits: 2,
            kind: (i, k) => (i === t ? 0 : k === t ? 1 : null),
            picked: [t, u],
            faint: (i, k) => i !== t && k !== t,
            pick: (i, k) => ([token.value, partner.value, isAbout.value] = [i, k, false]),
            marked: (i, k) => i === u && k === t && t !== u,
          }),
        ),
        key: t === u ? [`${tokens[t]} asks itself`, format(scores[t][u], 2)]
          : [`${tokens[t]} asks ${tokens[u]}, and back`, `${format(scores[t][u], 2)}, ${format(scores[u][t], 2)}`],
        say: isAbout.value
          ? `The ${["first", "second"][j]} number of the query of “${tokens[t]}” is ${terms} = `
            + `${format(queries[t][j], 3)}.`
          : t === u
            ? `“${tokens[t]}” asks itself: its query times its key is ${product} = ${format(scores[t][t], 2)}.`
            : `“${tokens[t]}” asks “${tokens[u]}”: its query times the key of “${tokens[u]}” is ${product} = `
              + `${format(scores[t][u], 2)}. “${tokens[u]}” asks “${tokens[t]}” (dashed): ${format(scores[u][t], 2)}.`,
      };
    });
  },
};
