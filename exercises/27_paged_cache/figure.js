// A prompt and its children in blocks: what they share, and who gets a copy when somebody writes.

import { frame } from "../../grader/integrations/figures/frame.js";
import { range } from "../../grader/integrations/figures/maths.js";
import { matrix, row } from "../../grader/integrations/figures/tables.js";

// The cache after a prompt, its forks, and the tokens that all of them write: the children first, then the prompt.
function life(prompt, size, children, written) {
  const [pool, users, copied, tables] = [[], [], [], [[]]];
  const take = (numbers) => users.push(1) && pool.push(numbers) - 1;
  const empty = () => take(Array(size).fill(0));
  const write = (table, from, to) => {
    for (let place = from; place < to; place++) {
      const [last, slot] = [table.at(-1), place % size];
      if (slot === 0) table.push(empty());
      else if (users[last] > 1) {
        users[last] -= 1;
        table[table.length - 1] = take([...pool[last]]);
        copied[table.at(-1)] = slot;
      }
      pool[table.at(-1)][slot] = place + 1;
    }
  };
  write(tables[0], 0, prompt);
  range(children).forEach(() => {
    tables.push([...tables[0]]);
    tables[0].forEach((block) => (users[block] += 1));
  });
  [...tables.slice(1), tables[0]].forEach((table) => write(table, prompt, prompt + written));
  return { pool, users, copied, tables };
}

const many = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

export default {
  render({ model, el }) {
    const start = model.get("data");
    const figure = frame(
      el, "Children share the blocks of a prompt, and a block is copied when somebody must write in it.",
    );
    const prompt = figure.slider({ label: "Tokens in the prompt", min: 1, max: 8, value: start.prompt });
    const size = figure.slider({ label: "Block size", min: 1, max: 8, value: start.size });
    const children = figure.slider({ label: "Children", min: 0, max: 3, value: start.children });
    const written = figure.slider({ label: "Tokens that each one writes", min: 0, max: 4, value: 1 });
    const chosen = figure.state([1, 1]); // the cell of the block tables that is looked at
    figure.draw(() => {
      const { pool, users, copied, tables } = life(prompt.value, size.value, children.value, written.value);
      const names = pool.map((_, block) => `block ${block}`);
      const length = prompt.value + written.value;
      const alone = tables.length * Math.ceil(length / size.value);
      const copies = copied.filter((slots) => slots > 0).length;
      const i = Math.min(chosen.value[0], tables.length - 1);
      const table = tables[i];
      const saved = alone - pool.length;
      return {
        threads: table.map((block, b) => [["block tables", i, b], ["tokens in the pool", block, 0]]),
        key: ["blocks saved by sharing", String(saved)],
        show: [
          row(
            matrix({
              name: "block tables",
              values: tables,
              digits: 0,
              rows: tables.map((_, i) => `sequence ${i}`),
              heat: false,
              picked: [i, Math.min(chosen.value[1], table.length - 1)],
              pick: (...at) => (chosen.value = at),
            }),
            matrix({
              name: "tokens in the pool",
              values: pool,
              digits: 0,
              rows: names,
              scale: 1.4 * length,
              hidden: (i, j) => pool[i][j] === 0,
              marked: (i, j) => j < (copied[i] ?? 0),
              note: "Each number is a token's place in its text, a dot is an empty slot. A frame means: copied.",
            }),
            matrix({ name: "users of each block", values: users.map((n) => [n]), digits: 0, rows: names, heat: false }),
          ),
        ],
        say: `${many(tables.length, "sequence")} of ${many(length, "token")} `
          + `${tables.length === 1 ? "takes" : "take"} ${many(pool.length, "block")}; `
          + `without sharing it would be ${alone}. `
          + (written.value === 0
            ? "Nobody has written yet, so nothing was copied."
            : `${copies === 0 ? "No block was" : copies === 1 ? "1 block was" : `${copies} blocks were`} copied.`)
          + ` Sequence ${i} reads ${table.length === 1 ? "block" : "blocks"} ${table.join(", ")}.`,
      };
    });
  },
};
