// Words become ids, ids become rows of a table. A word that the vocabulary lacks has no row.

import { frame } from "../../grader/integrations/figures/frame.js";
import { matrix, row } from "../../grader/integrations/figures/tables.js";

export default {
  render({ model, el }) {
    const { sentence, vocabulary, table } = model.get("data");
    const words = Object.keys(vocabulary);
    const figure = frame(el, "An id is the number of a row: to embed a sentence is to look up rows.");
    const typed = figure.entry({ label: "Sentence", value: sentence });
    const chosen = figure.state(1);
    figure.draw(() => {
      const tokens = typed.value.replaceAll(",", "").split(/\s+/).filter(Boolean);
      const unknown = tokens.find((word) => !Object.hasOwn(vocabulary, word));
      const known = tokens.filter((word) => Object.hasOwn(vocabulary, word));
      const ids = known.map((word) => vocabulary[word]);
      const at = Math.min(chosen.value, ids.length - 1);
      const count = ids.filter((id) => id === ids[at]).length;
      return {
        threads: ids.length ? [
          [["token ids", at, 0], ["the table", ids[at], 0]],
          [["the table", ids[at], table[0].length - 1], ["the embedded sentence", at, 0]],
        ] : [],
        show: row(
          ids.length ? matrix({
            name: "token ids",
            values: ids.map((id) => [id]),
            digits: 0,
            rows: known,
            heat: false,
            picked: [at, 0],
            pick: (i) => (chosen.value = i),
          }) : null,
          matrix({
            name: "the table",
            values: table,
            rows: words.map((word) => `${word} ${vocabulary[word]}`),
            kind: (i) => (i === ids[at] ? 0 : null),
          }),
          ids.length ? matrix({
            name: "the embedded sentence",
            values: ids.map((id) => table[id]),
            rows: known,
            kind: (i) => (i === at ? 0 : null),
          }) : null,
        ),
        key: ids.length ? [`id of “${known[at]}”`, ids[at]] : null,
        say: unknown
          ? `KeyError: “${unknown}” is not in the vocabulary, which knows ${words.join(", ")}.`
          : ids.length
            ? `“${known[at]}” has the id ${ids[at]}, so its vector is row ${ids[at]} of the `
              + `table${count > 1 ? `, each of the ${count} times` : ""}.`
            : "No word, no row.",
      };
    });
  },
};
