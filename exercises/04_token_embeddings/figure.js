// Words become ids, ids become rows of a table. A word that the vocabulary lacks has no row.

import { h } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { matrix } from "../../grader/integrations/figures/tables.js";

const OPENING = "eat dessert, eat dessert first"; // two words come twice, and three rows are not read

export default {
  render({ model, el }) {
    const { sentence, vocabulary, table } = model.get("data");
    const words = Object.keys(vocabulary);
    const figure = frame(el, "Each word reads its own row of the table");
    const typed = figure.entry({ label: "Sentence", value: OPENING });
    figure.below();
    figure.lesson(() => (typed.value = sentence));
    const chosen = figure.state(0);
    figure.draw(() => {
      const tokens = typed.value.replaceAll(",", "").split(/\s+/).filter(Boolean);
      const unknown = tokens.find((word) => !Object.hasOwn(vocabulary, word));
      const ids = tokens.map((word) => (Object.hasOwn(vocabulary, word) ? vocabulary[word] : "–"));
      const at = unknown ? tokens.indexOf(unknown) : Math.min(chosen.value, ids.length - 1);
      const count = ids.filter((id) => id === ids[at]).length;
      const read = [...new Set(ids)].filter((id) => id !== "–");
      const kindOf = (id) => (read.includes(id) ? read.indexOf(id) % 4 : null); // each row that is read has its colour
      return {
        threads: ids.flatMap((id, i) => [
          [["token ids", i, 0], ["the table", id, 0], kindOf(id)],
          [["the table", id, table[0].length - 1], ["the embedded sentence", i, 0], kindOf(id)],
        ]),
        show: h("div", { class: "kata-row kata-spread" },
          ids.length > 0 && matrix({
            name: "token ids",
            values: ids.map((id) => [id]),
            digits: 0,
            rows: tokens,
            kind: (i) => kindOf(ids[i]),
            marked: (i) => ids[i] === "–",
            ...(unknown ? {} : { picked: [at, 0], pick: (i) => (chosen.value = i) }),
          }),
          matrix({
            name: "the table",
            values: table,
            rows: words.map((word) => `${vocabulary[word]}: ${word}`),
            digits: 3,
            kind: kindOf,
            faint: (i) => kindOf(i) === null,
          }),
          !ids.length || unknown ? h("div") : matrix({
            name: "the embedded sentence",
            values: ids.map((id) => table[id]),
            digits: 3,
            rows: tokens,
            kind: (i) => kindOf(ids[i]),
          }),
        ),
        key: unknown ? ["KeyError", `“${unknown}”`] : ["rows read", `${read.length} of ${words.length}`],
        say: unknown
          ? `“${unknown}” is not in the vocabulary, which knows ${words.join(", ")}: no id, no row, no result.`
          : ids.length
            ? `“${tokens[at]}” has the id ${ids[at]}, so its vector is row ${ids[at]} of the `
              + `table${count > 1 ? `, each of the ${count} times` : ""}.`
            : "No word, no row.",
      };
    });
  },
};
