// A draft is kept as far as both models agree, and what is missing is drawn: the target comes out of any draft.

import { s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, range, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const SAME = 1e-9;
const [WIDE, TALL] = [90, 150]; // of a bar: the room for it, and its height for a probability of 0.6

// What comes out of one place, word by word: what was drafted and kept, on top what is drawn after a rejection, and a
// frame as high as the target.
function stacks(words, target, kept, drawn) {
  const high = (p) => (p * TALL) / 0.6;
  const bar = (look, j, from, p) => s("rect", {
    class: `cell ${look}`, x: j * WIDE + 14, width: WIDE - 28, y: TALL + 24 - high(from + p), height: high(p),
  });
  const told = words.map((word, j) => `${word}: ${format(kept[j])} and ${format(drawn[j])} of ${format(target[j])}`);
  return drawing(
    { name: "kept, below + drawn, above = target", label: told.join("; "),
      width: words.length * WIDE, height: TALL + 46 },
    words.map((word, j) => [
      bar("now", j, 0, kept[j]),
      bar("done", j, kept[j], drawn[j]),
      s("rect", { class: "box", x: j * WIDE + 10, width: WIDE - 20, y: TALL + 24 - high(target[j]),
        height: high(target[j]) }),
      s("text", { x: (j + 0.5) * WIDE, y: TALL + 16 - high(Math.max(target[j], kept[j] + drawn[j])),
        "text-anchor": "middle" }, format(kept[j] + drawn[j])),
      s("text", { x: (j + 0.5) * WIDE, y: TALL + 41, "text-anchor": "middle" }, word),
    ]),
  );
}

export default {
  render({ model, el }) {
    const { target, words } = model.get("data");
    const figure = frame(el, "However bad the draft is, the target's distribution comes out. Only the speed changes.");
    const wrong = figure.slider({ label: "How wrong the draft is, %", min: 0, max: 100, step: 10, value: 100 });
    const drafted = figure.slider({ label: "Tokens drafted in a round", min: 1, max: 8, value: 4 });
    const again = figure.toggle({ label: "After a rejection, draw from the target instead" });
    figure.draw(() => {
      const share = wrong.value / 100;
      const last = target.length - 1;
      const draft = target.map((p, i) => (1 - share) * p + share * target[last - i]);
      const kept = target.map((p, i) => Math.min(p, draft[i]));
      const rate = sum(kept);
      const missing = target.map((p, i) => Math.max(0, p - draft[i]));
      const residual = rate > 1 - SAME ? target : missing.map((part) => part / sum(missing));
      const second = again.value ? target : residual;
      const drawn = second.map((part) => (1 - rate) * part);
      const out = kept.map((part, i) => part + drawn[i]);
      const worst = range(target.length).reduce((a, b) => (
        Math.abs(out[b] - target[b]) > Math.abs(out[a] - target[a]) + SAME ? b : a
      ));
      const tokens = sum(range(drafted.value + 1).map((n) => rate ** n));
      return {
        show: [
          stacks(words, target, kept, drawn),
          matrix({
            name: "one place",
            values: [target, draft, kept, drawn, out],
            rows: ["target", "draft", "drafted and kept", "drawn after a rejection", "comes out"],
            columns: words,
            scale: 0.7,
            marked: (i, j) => i === 4 && Math.abs(out[j] - target[j]) > SAME,
          }),
          row(
            matrix({ name: "drawn after a rejection from", values: second, columns: words, scale: 1 }),
            matrix({ name: "acceptance rate", values: [rate], heat: false }),
            matrix({ name: "tokens a round", values: [tokens], heat: false }),
          ),
        ],
        key: ["tokens a round", format(tokens, 2)],
        say: `${format(100 * rate, 0)} % of the drafts are kept. `
          + (Math.abs(out[worst] - target[worst]) < SAME
            ? "What comes out is the target's distribution, to the last digit. "
            : `Now ${words[worst]} comes out with ${format(out[worst])} instead of ${format(target[worst])}. `)
          + `If every place were like this one, a round would give ${format(tokens, 2)} tokens.`,
      };
    });
  },
};
