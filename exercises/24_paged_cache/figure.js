// A prompt and its children in blocks: what they share, and the copy that is made before one of them writes.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { range } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix } from "../../grader/integrations/figures/tables.js";

const [SLOT, LINE, TALL] = [28, 50, 26]; // of a slot its width, from block to block, and its height
const [NAMES, POOL] = [60, 130]; // where the names of the sequences end, and where the pool begins

const nameOf = (n) => (n ? `child ${n}` : "parent");
const many = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

// What happens to the cache, moment after moment: the prompt is written, it is forked, and every sequence writes one
// token. Each moment: the pool of blocks, who uses each, the table of each sequence, and what is said of it.
function life(prompt, size, children) {
  const moments = [];
  let [pool, tables] = [[], [[]]];
  const usersOf = (block) => range(tables.length).filter((n) => tables[n].includes(block));
  const note = (say, actor, more = {}) => moments.push({
    pool: pool.map((one) => [...one]), tables: tables.map((one) => [...one]), say, actor, ...more,
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
  note(`The prompt of ${many(prompt, "token")} takes ${many(pool.length, "block")}.`, 0);
  range(children, 1).forEach((child) => {
    tables.push([...tables[0]]);
    note(`Child ${child} gets the same table as its parent, and no token is copied.`, child);
  });
  [...range(children, 1), 0].forEach((n) => {
    const before = tables[n].at(-1);
    const users = usersOf(before).length;
    const copy = write(n, prompt);
    const token = `${n ? `Child ${n}` : "The parent"} writes token ${prompt + 1}`;
    note(copy
      ? `${token}. Block ${copy[0]} had ${users} users, so it was copied to block ${copy[1]} first.`
      : tables[n].at(-1) === before
        ? `${token} into block ${before}, which is its own.`
        : `${token} into a new block, ${tables[n].at(-1)}: the last one was full, and nothing is copied.`,
    n, { copy, slot: prompt % size });
  });
  return moments;
}

// The pool of so many blocks: each a box with its slots, a line from each sequence that uses it (dashed to the one that
// it has just left), an arrow for a copy, and a frame around the sequence that acts.
function blocks({ pool, tables, actor, copy, slot }, size, many, isMoving) {
  const yOf = (line) => 18 + line * LINE;
  const from = copy?.[0];
  const left = (n) => (copy && n === actor ? [from] : []);
  const users = pool.map((_, block) => range(tables.length).filter((n) => [...tables[n], ...left(n)].includes(block)));
  // Each line enters a block at a height of its own.
  const entryOf = (block, n) => yOf(block) + ((users[block].indexOf(n) + 1) * TALL) / (users[block].length + 1);
  const told = tables.map((table, n) => `${nameOf(n)}: ${table.map((block) => `block ${block}`).join(", ")}`);
  const width = POOL + size * SLOT + 70;
  return drawing(
    { name: `who uses which block${copy ? " (dashed line: until now)" : ""}`, label: told.join("; "), width,
      height: LINE * Math.max(many, tables.length), most: 1.45 * width },
    tables.map((table, n) => {
      const y = yOf(n) + TALL / 2;
      return [
        [...table, ...left(n)].map((block, i) => s("path", {
          class: `pull kata-kind-${n} ${i < table.length ? "" : "minus"}`, "stroke-width": n === actor ? 3 : 1.5,
          d: `M${NAMES + 4},${y}C${(NAMES + POOL) / 2},${y} ${(NAMES + POOL) / 2},${entryOf(block, n)} `
            + `${POOL - 3},${entryOf(block, n)}`,
        })),
        s("rect", {
          class: `cell kata-kind-${n} ${n === actor ? "chosen" : ""}`, x: 2, y: y - 13, width: NAMES, height: 26,
        }),
        s("text", { class: "number", x: 2 + NAMES / 2, y: y + 4, "text-anchor": "middle" }, nameOf(n)),
      ];
    }),
    range(many - pool.length, pool.length).map((block) => [
      s("text", { x: POOL, y: yOf(block) - 4 }, `block ${block}, free`),
      s("rect", { class: "cell gone", x: POOL, y: yOf(block), width: size * SLOT - 2, height: TALL }),
    ]),
    pool.map((slots, block) => [
      s("text", { x: POOL, y: yOf(block) - 4 }, `block ${block}`),
      slots.map((_, k) => s("rect", {
        class: block === tables[actor].at(-1) && k === slot ? `cell kata-kind-${actor}` : "cell",
        x: POOL + k * SLOT, y: yOf(block), width: SLOT - 2, height: TALL,
      })),
    ]),
    pool.flatMap((slots, block) => slots.map((token, k) => {
      const isCopied = isMoving && copy && block === copy[1] && pool[from][k] === token;
      return token > 0 && s("text", {
        class: isCopied ? "number arriving" : "number", key: `${block} ${k}`,
        x: POOL + k * SLOT + SLOT / 2 - 1, y: yOf(block) + 17, "text-anchor": "middle",
        style: isCopied ? `--from: ${(from - block) * LINE}px` : null,
      }, String(token));
    })),
    copy && s("path", {
      class: `pull kata-kind-${actor}`, "stroke-width": 2,
      d: `M${POOL + size * SLOT + 4},${yOf(from) + 12}h14V${yOf(copy[1]) + 12}h-14m5,-5l-5,5l5,5`,
    }),
    copy && s("text", {
      x: POOL + size * SLOT + 22, y: (yOf(from) + yOf(copy[1])) / 2 + 16, class: "strong",
    }, "copied"),
  );
}

export default {
  render({ model, el }) {
    const start = model.get("data");
    const figure = frame(el, "A shared block is copied only when one of its users has to write into it");
    figure.beside();
    const again = () => {
      at.limit(moments().length - 1);
      at.value = moments().length - 1;
    };
    const moments = () => life(prompt.value, size.value, children.value);
    const at = figure.slider({ label: "Moment", min: 0, max: 9, value: start.children + 1, name: (n) => `${n + 1}` });
    figure.player(at, 2000);
    const shown = figure.toggle({ label: "Block tables" });
    figure.lesson(() => {
      [prompt.value, size.value, children.value, shown.value] = [start.prompt, start.size, start.children, true];
      again();
    });
    figure.fold("Prompt, blocks, children");
    const prompt = figure.slider({ label: "Tokens in the prompt", min: 1, max: 8, value: start.prompt, moved: again });
    const size = figure.slider({ label: "Block size", min: 1, max: 8, value: start.size, moved: again });
    const children = figure.slider({ label: "Children", min: 0, max: 3, value: start.children, moved: again });
    at.limit(moments().length - 1);
    let isMoving = false; // the first copy is there as the figure opens
    figure.draw(() => {
      const all = moments();
      const now = all[at.value];
      const { pool, tables, say } = now;
      const lengths = tables.map((table) => Math.max(...table.map((block) => Math.max(...pool[block]))));
      const alone = lengths.reduce((total, length) => total + Math.ceil(length / size.value), 0);
      const still = tables.filter((table) => table.includes(now.copy?.[0])).length; // in the block that was copied
      return {
        key: now.copy
          ? [`users of block ${now.copy[0]}`, `${still + 1} → ${still}`]
          : ["blocks copied", String(all.slice(0, at.value + 1).filter((one) => one.copy).length)],
        show: blocks(now, size.value, all.at(-1).pool.length, isMoving),
        more: shown.value && matrix({
          name: "block tables", values: tables, digits: 0, rows: tables.map((_, n) => nameOf(n)), kind: (n) => n,
          picked: [now.actor, tables[now.actor].length - 1],
        }),
        say: `${say} That is ${many(pool.length, "block")} in all; without sharing it would be ${alone}.`,
      };
    });
    isMoving = true;
  },
};
