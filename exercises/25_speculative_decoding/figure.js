// A draft is kept as far as both models agree, and what is missing is drawn: the target comes out of any draft.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, range, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const SAME = 1e-9;
const [WIDE, TALL] = [82, 130]; // of a word: the room for it, and the height of a bar for a probability of 0.5
const SAMPLES = [["cell now", "kept", 4], ["cell gone", "− rejected", 62], ["cell done", "+ drawn instead", 148],
  ["box", "target", 264]];

// Each word's draft, and beside it what comes out: what was kept, what is drawn after a rejection, a frame as target.
function stacks(words, target, draft, kept, drawn) {
  const high = (p) => 2 * p * TALL;
  const ground = TALL + 18; // with room for a number above the highest bar
  const bar = (look, x, from, p, wide = 30) =>
    s("rect", { class: look, x, width: wide, y: ground - high(from + p), height: high(p) });
  const text = (x, below, word, look = null) =>
    s("text", { x, y: ground + below, "text-anchor": "middle", class: look }, word);
  const short = (p) => String(Number((100 * p).toFixed(1)));
  const percent = (x, p, top = p) => text(x, -high(top) - 6, short(p), "number");
  const change = (x, from, p, sign) => high(p) > 14 && text(x, 4 - high(from + p / 2), `${sign}${short(p)}`, "number");
  const told = words.map((word, j) => `${word}: ${format(kept[j])} and ${format(drawn[j])} of ${format(target[j])}`);
  return drawing(
    { name: "the draft, and what comes out, %", label: told.join("; "), width: 4 * WIDE, height: TALL + 88, most: 490 },
    words.map((word, j) => {
      const [left, right] = [j * WIDE + 6, j * WIDE + 42];
      const out = kept[j] + drawn[j];
      const hasRoom = high(target[j] - out) > 18; // for the number, between the bar and its frame
      return [
        bar("cell now", left, 0, kept[j]), bar("cell gone", left, kept[j], draft[j] - kept[j]),
        bar("cell now", right, 0, kept[j]), bar("cell done", right, kept[j], drawn[j]),
        bar("box", right - 3, 0, target[j], 36),
        change(left + 15, kept[j], draft[j] - kept[j], "−"), change(right + 15, kept[j], drawn[j], "+"),
        percent(left + 15, draft[j]), percent(right + 15, out, hasRoom ? out : Math.max(out, target[j])),
        text(left + 15, 15, "draft"), text(right + 15, 15, "out"), text(left + 33, 33, word, "strong"),
      ];
    }),
    SAMPLES.map(([look, word, x]) => [
      s("rect", { class: look, x, y: ground + 53, width: 12, height: 12 }),
      s("text", { x: x + 17, y: ground + 64 }, word),
    ]),
  );
}

export default {
  render({ model, el }) {
    const { target, words } = model.get("data");
    const figure = frame(el, "What is rejected comes back as just what the draft lacked");
    figure.beside();
    const wrong = figure.slider({ label: "How wrong the draft is, %", min: 0, max: 100, step: 10, value: 100 });
    const again = figure.toggle({ label: "After a rejection, draw from the target instead" });
    const drafted = figure.slider({ label: "Drafted in a round", min: 1, max: 8, value: 1 });
    const all = figure.toggle({ label: "Numbers" });
    figure.lesson(() => ([wrong.value, again.value, drafted.value, all.value] = [100, false, 1, true]));
    figure.draw(() => {
      const draft = target.map((p, i) => p + (wrong.value / 100) * (target.at(-1 - i) - p));
      const kept = target.map((p, i) => Math.min(p, draft[i]));
      const rate = sum(kept);
      const missing = target.map((p, i) => Math.max(0, p - draft[i]));
      const residual = rate > 1 - SAME ? target : missing.map((part) => part / sum(missing));
      const second = again.value ? target : residual;
      const drawn = second.map((part) => (1 - rate) * part);
      const out = kept.map((part, i) => part + drawn[i]);
      const off = out.map((p, i) => Math.abs(p - target[i]));
      const worst = off.findIndex((one) => one > Math.max(...off) - SAME);
      const tokens = sum(range(drafted.value + 1).map((n) => rate ** n));
      return {
        show: stacks(words, target, draft, kept, drawn),
        more: all.value && row(matrix({
          name: "one place",
          values: [target, draft, kept, drawn, out],
          rows: ["target", "draft", "kept", "drawn instead", "comes out"],
          columns: words,
          scale: 0.7,
          marked: (i, j) => i === 4 && off[j] > SAME,
        }), matrix({ name: "drawn after a rejection from", values: second, columns: words, scale: 1 })),
        title: off[worst] > SAME && "Drawn again from the target, what the draft lacked comes back too rarely",
        key: drafted.value > 1
          ? ["tokens in a round", format(tokens, 2)]
          : ["drafted tokens kept", `${format(100 * rate, 0)}\u00a0%`],
        say: `${format(100 * rate, 0)}\u00a0% of the drafted tokens are kept. `
          + (rate > 1 - SAME ? "Nothing is rejected, and the draft is the target." : off[worst] < SAME
            ? "What is missing is drawn after a rejection, and the target's distribution comes out."
            : `Now ${words[worst]} comes out with ${format(out[worst], 3)} instead of ${format(target[worst], 3)}.`)
          + (drafted.value > 1 ? ` With such places a round would give ${format(tokens, 2)}\u00a0tokens.` : ""),
      };
    });
  },
};
