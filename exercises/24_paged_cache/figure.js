// A prompt and its children in blocks: what they share, and the copy that is made before somebody writes in it.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { range } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [SLOT, LINE, TALL] = [26, 34, 24]; // of a slot its width, from block to block, and its height
const [NAMES, POOL] = [96, 250]; // where the tables of the sequences end, and where the pool begins

const many = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

// What happens to the cache, moment after moment: the prompt is written, it is forked, and every sequence writes one
// token. Each moment: the pool of blocks, who uses each, the table of each sequence, and what is said of it.
function life(prompt, size, children) {
  const moments = [];
  let [pool, tables] = [[], [[]]];
  const usersOf = (block) => range(tables.length).filter((n) => tables[n].includes(block));
  const note = (say, copy = null) => moments.push({
    pool: pool.map((one) => [...one]), tables: tables.map((one) => [...one]), say, copy,
  });
  const write = (n, place) => {
    const slot = place % size;
    let copy = null;
    if (slot === 0) tables[n].push(pool.push(Array(size).fill(0)) - 1);
    else if (usersOf(tables[n].at(-1)).length > 1) {
      copy = [tables[n].at(-1), pool.length];
      tables[n][tables[n].length - 1] = pool.push([...pool[copy[0]]]) - 1;
    }
    pool[tables[n].at(-1)][slot] = place + 1;
    return copy;
  };
  range(prompt).forEach((place) => write(0, place));
  note(`The prompt of ${many(prompt, "token")} takes ${many(pool.length, "block")}.`);
  range(children, 1).forEach((child) => {
    tables.push([...tables[0]]);
    note(`Sequence ${child} is a child of the prompt. It gets the same table, and no token is copied.`);
  });
  [...range(children, 1), 0].forEach((n) => {
    const before = tables[n].at(-1);
    const users = usersOf(before).length;
    const copy = write(n, prompt);
    const token = `Sequence ${n} writes token ${prompt + 1}`;
    note(copy
      ? `${token}. Block ${copy[0]} has ${users} users, so it is copied to block ${copy[1]} first.`
      : tables[n].at(-1) === before
        ? `${token} into block ${before}, which is its own.`
        : `${token} into a new block, ${tables[n].at(-1)}: the last one was full, and nothing is copied.`, copy);
  });
  return moments;
}

// The pool: each block a box with its slots, a strip of colour for each sequence that uses it, and an arrow for a copy.
function blocks({ pool, tables, copy }, chosen, size, height) {
  const yOf = (line) => 30 + line * LINE;
  const users = pool.map((_, block) => range(tables.length).filter((n) => tables[n].includes(block)));
  const told = users.map((all, block) => `block ${block}: ${all.map((n) => `sequence ${n}`).join(", ")}`);
  const wide = POOL + size * SLOT + 76;
  const from = copy?.[0];
  return drawing(
    { name: "the pool", label: told.join("; "), width: Math.max(wide, 420), height },
    tables.map((table, n) => {
      const y = yOf(n * 1.4) + TALL / 2;
      return [
        s("rect", {
          class: `cell kata-kind-${n} ${n === chosen ? "chosen" : ""}`, x: 2, y: y - 13, width: NAMES, height: 26,
        }),
        s("text", { class: "number", x: 2 + NAMES / 2, y: y + 4, "text-anchor": "middle" }, `sequence ${n}`),
        table.map((block) => s("path", {
          class: `pull kata-kind-${n} ${n === chosen ? "" : "dim"}`, "stroke-width": n === chosen ? 3 : 2,
          d: `M${NAMES + 4},${y}C${(NAMES + POOL) / 2},${y} ${(NAMES + POOL) / 2},${yOf(block) + TALL / 2} `
            + `${POOL - 50},${yOf(block) + TALL / 2}`,
        })),
      ];
    }),
    pool.map((slots, block) => [
      s("text", { x: POOL - 6, y: yOf(block) + 16, "text-anchor": "end" }, `block ${block}`),
      users[block].map((n, k) => s("rect", {
        class: `cell strip kata-kind-${n}`, x: POOL + (k * size * SLOT) / users[block].length, y: yOf(block) - 6,
        width: (size * SLOT) / users[block].length - 2, height: 6,
      })),
      slots.map((_, k) => s("rect", {
        class: "cell", x: POOL + k * SLOT, y: yOf(block), width: SLOT - 2, height: TALL,
      })),
    ]),
    pool.flatMap((slots, block) => slots.map((token, k) => {
      const isCopied = copy && block === copy[1] && pool[from][k] === token;
      return token > 0 && s("text", {
        class: isCopied ? "number arriving" : "number", key: `${block} ${k}`,
        x: POOL + k * SLOT + SLOT / 2 - 1, y: yOf(block) + 16, "text-anchor": "middle",
        style: isCopied ? `--from: ${(from - block) * LINE}px` : null,
      }, String(token));
    })),
    copy && s("path", {
      class: "link now", "stroke-width": 2,
      d: `M${POOL + size * SLOT + 4},${yOf(from) + 12}h14V${yOf(copy[1]) + 12}h-14m5,-5l-5,5l5,5`,
    }),
    copy && s("text", {
      x: POOL + size * SLOT + 24, y: (yOf(from) + yOf(copy[1])) / 2 + 16, class: "strong",
    }, "copied"),
  );
}

export default {
  render({ model, el }) {
    const start = model.get("data");
    const figure = frame(
      el, "Children share the blocks of a prompt. A block is copied only when somebody must write in it.",
    );
    const again = () => {
      at.limit(moments().length - 1);
      at.value = moments().length - 1;
    };
    const prompt = figure.slider({ label: "Tokens in the prompt", min: 1, max: 8, value: start.prompt, moved: again });
    const size = figure.slider({ label: "Block size", min: 1, max: 8, value: start.size, moved: again });
    const children = figure.slider({ label: "Children", min: 0, max: 3, value: start.children, moved: again });
    const moments = () => life(prompt.value, size.value, children.value);
    const at = figure.slider({
      label: "Moment", min: 0, max: moments().length - 1, value: start.children, name: (n) => String(n + 1),
    });
    figure.player(at, 2000);
    figure.lesson(() => {
      [prompt.value, size.value, children.value] = [start.prompt, start.size, start.children];
      again();
    });
    const chosen = figure.state([1, 1]); // the cell of the block tables that is looked at
    figure.draw(() => {
      const all = moments();
      const now = all[at.value];
      const { pool, tables, say } = now;
      const i = Math.min(chosen.value[0], tables.length - 1);
      const lengths = tables.map((table) => Math.max(...table.map((block) => Math.max(...pool[block]))));
      const alone = lengths.reduce((total, length) => total + Math.ceil(length / size.value), 0);
      const height = 34 + LINE * Math.max(all.at(-1).pool.length, 1.4 * all.at(-1).tables.length);
      return {
        key: ["blocks, with and without sharing", `${pool.length} and ${alone}`],
        show: [row(
          blocks(now, i, size.value, height),
          matrix({
            name: "block tables",
            values: tables,
            digits: 0,
            rows: tables.map((_, n) => `sequence ${n}`),
            kind: (n) => n,
            picked: [i, Math.min(chosen.value[1], tables[i].length - 1)],
            pick: (...place) => (chosen.value = place),
          }),
        )],
        say: `${say} ${many(tables.length, "sequence")} ${tables.length === 1 ? "has" : "have"} `
          + `${many(pool.length, "block")} in all; without sharing it would be ${alone}.`,
      };
    });
  },
};
