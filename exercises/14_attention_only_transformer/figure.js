// The model that the lesson trains: where a token looks, and what the model expects after it, with heads to switch off.

import { h, s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { format, kept, range, softmax } from "../../grader/integrations/figures/maths.js";
import { map } from "../../grader/integrations/figures/plane.js";
import { bars, drawing, matrix, row } from "../../grader/integrations/figures/tables.js";
import { ids, losses, run, transformer } from "../../grader/integrations/figures/transformer.js";

const OPEN = 3; // the token that the figure opens at: “the”
const [LEFT, RIGHT, HIGH, LEAST_WIDE] = [22, 84, 82, 350]; // beside the tokens, of a head, and of a drawing
const SEEN = 0.2; // the weight from which on a head is said to look somewhere

// From the picked token to those that it looks at, a line for each head. The thicker an arc, the larger the weight.
function looks(name, heads, names, t) {
  const step = Math.max(54, Math.min(90, (LEAST_WIDE - LEFT - RIGHT) / t));
  const x = (i) => LEFT + i * step;
  const bottom = heads.length * HIGH + 14;
  return drawing(
    {
      name,
      label: heads.map(({ name, weights }) => `${name}: ${weights.map((one) => format(one, 2)).join(", ")}`).join("; "),
      width: Math.max(LEAST_WIDE, x(t) + RIGHT),
      height: bottom + 12,
    },
    heads.map(({ name, weights, isOff }, n) => {
      const y = (n + 1) * HIGH - 4;
      const back = weights.indexOf(Math.max(...weights.slice(0, t)));
      const isFaint = isOff || weights[back] < SEEN; // it takes from the token itself, or from nowhere
      return [
        s("text", { x: 0, y: y - 56 }, isOff ? `${name}, off` : name),
        weights.map((_, i) => s("circle", { class: "dot", cx: x(i), cy: y, r: 3 })),
        weights.map((weight, i) => i < t && weight > 0.03 && s("path", {
          class: `pull ${isFaint ? "dim" : ""}`,
          fill: "none",
          "stroke-width": (9 * weight).toFixed(1),
          d: `M${x(t)},${y - 4}C${x(t)},${y - 54} ${x(i)},${y - 54} ${x(i)},${y - 4}`,
        })),
        !isFaint && t > 0 && s("text", { class: "strong", x: (x(t) + x(back)) / 2, y: y - 37, "text-anchor": "middle" },
          format(weights[back], 2)),
        !isOff && s("text", { x: x(t) + 12, y: y + 4 }, `itself ${format(weights[t], 2)}`),
      ];
    }),
    names.slice(0, t + 1).map((name, i) => s("text", {
      class: i === t ? "strong" : null, x: x(i), y: bottom + 4, "text-anchor": "middle",
    }, name)),
  );
}

export default {
  render({ model: given, el }) {
    const { drawn, writers, lines, vocabulary, tokens: first, words } = given.get("data");
    const models = [...writers, drawn].map(transformer);
    const OWN = models.length - 1; // the model of task 2
    const figure = frame(el, "A token knows the words before it only through a head that looks back");
    figure.below();
    const wordsOf = () => (which.value === OWN ? words : vocabulary);
    const at = figure.state(OPEN); // the place in the text
    const heads = range(drawn.sizes.layers).flatMap((l) => range(drawn.sizes.heads).map((head) => [l, head]));
    // Only the model of task 2 has words and heads of its own.
    const opened = figure.state(0);
    const open = () => {
      if ((opened.value === OWN) !== (which.value === OWN)) {
        typed.value = (which.value === OWN ? first.map((token) => words[token]) : lines[0]).join(" ");
        at.value = which.value === OWN ? Infinity : OPEN;
        on.show((i) => heads[i][0] < models[which.value].layers);
      }
      opened.value = which.value;
    };
    const on = figure.switches({ label: "Heads", options: heads.map(([l, head]) => `layer ${l}, head ${head}`) });
    on.show((i) => heads[i][0] < models[0].layers);
    const numbers = figure.toggle({ label: "Losses and maps" });
    figure.lesson(() => {
      [which.value, numbers.value] = [OWN, true];
      open();
    });
    figure.fold("Another model, other tokens");
    const which = figure.choice({
      label: "Model",
      options: ["trained for 76 steps", "for 26 steps", "not trained", "of task 2"],
      moved: () => open(),
    });
    const typed = figure.entry({ label: "Tokens", value: lines[0].join(" "), moved: () => (at.value = Infinity) });
    // What the model makes of some tokens: where the picked one looks, and what comes next.
    const read = (tokens, place, none, keep) => {
      const model = models[which.value];
      const { logits, weights } = run(model, tokens, none, undefined, keep);
      const t = Math.min(place, tokens.length - 1);
      const names = tokens.map((token) => wordsOf()[token]);
      const next = softmax(Array.from(logits[t]));
      const best = range(model.vocabulary).sort((a, b) => next[b] - next[a]).slice(0, numbers.value ? 5 : 3);
      const all = weights.flatMap((layer, l) => layer.map((one, head) => ({
        name: `layer ${l}, head ${head}`, weights: one[t].slice(0, t + 1), whole: one, isOff: none.has(`${l}.${head}`),
      })));
      const [soFar, labels] = [names.slice(0, t + 1).join(" "), best.map((token) => wordsOf()[token])];
      const looking = all.filter(({ weights: one }) => Math.max(...one.slice(0, t)) >= SEEN);
      const seen = numbers.value || !looking.length || none.size ? all : looking;
      const picture = h("div", { class: "kata-drawn", "--most": `${LEAST_WIDE}px` },
        looks(`where “${names[t]}” looks in “${soFar}”`, seen, names, t),
        bars({ name: `after “${soFar}”`, values: best.map((token) => next[token]), labels, most: 1, digits: 2 }),
      );
      return { logits, names, t, next, expected: labels[0], all, picture };
    };
    const keeps = [kept(), kept()];
    let last = { show: [] }; // what stays while the text that is typed has an error
    figure.draw(() => {
      const { tokens, error } = ids(typed.value, models[which.value], wordsOf());
      if (error) return { ...last, say: error };
      const none = new Set([...on.off].map((i) => heads[i].join(".")));
      const { logits, names, t, next, expected, all, picture: mine } = read(tokens, at.value, none, keeps[0]);
      const loss = losses(logits, tokens);
      const other = lines.find((line) => line[0] !== names[0]).map((word) => vocabulary.indexOf(word));
      const theirs = which.value === OWN ? null : read(other, t, none, keeps[1]);
      const maps = numbers.value && all.map(({ name, whole, isOff }, n) => {
        const facts = { values: whole, rows: names, columns: names, marked: (i, j) => i === t && j <= i };
        const [press, named] = [() => on.press(n), isOff ? `${name} (off)` : name];
        return keeps[0](`map ${n}`, [whole, isOff, t], () => map({ name: named, ...facts, press }));
      });
      // The head that looks back the most, and at which token.
      const back = all.filter(({ isOff }) => !isOff).flatMap(({ name, weights: one }) =>
        range(t).map((j) => ({ name, word: names[j], weight: one[j] }))).sort((a, b) => b.weight - a.weight)[0];
      const isAlike = theirs?.expected === expected;
      const isSeen = back?.weight >= SEEN;
      const instead = names[t + 1] === expected ? "" : `, which had ${next[tokens[t + 1]]?.toFixed(4)}`;
      const follows = ` “${names[t + 1]}” follows${instead}: a loss of ${loss[t]?.toFixed(4)}.`;
      last = {
        key: theirs
          ? [`${names[0]}, ${theirs.names[0]}${isAlike ? `: both ${expected}` : ""}`,
            [[expected, next], [theirs.expected, theirs.next]]
              .map(([word, one]) => `${isAlike ? "" : `${word} `}${format(Math.max(...one), 2)}`).join(", ")]
          : isSeen && [`“${names[t]}” looks at “${back.word}”`, format(back.weight, 2)],
        show: [
          row(mine, theirs?.picture),
          matrix({ name: "pick a token", values: names, heat: false, picked: [0, t], pick: (_, j) => (at.value = j) }),
        ],
        more: numbers.value && [
          matrix({ name: "loss", values: loss, columns: names.slice(1), marked: (_, j) => j === t }), row(...maps),
        ],
        say: `After “${names[t]}” the model expects “${expected}”, with ${format(Math.max(...next), 2)}`
          + (isSeen ? `; ${back.name} looks at “${back.word}”, with the weight ${format(back.weight, 2)}.`
            : `: ${back ? `an earlier token gets ${format(back.weight, 2)} at most` : "no head looks back"}${
              isAlike ? ", so both lines go on alike" : ""
            }.`)
          + (numbers.value && t < loss.length ? follows : ""),
      };
      return last;
    });
  },
};
