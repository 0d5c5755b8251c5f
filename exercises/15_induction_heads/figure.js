// The trained model in the page: what follows a pattern, which head finds it, and what is lost without that head.

import { h, s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { kept, range, sum } from "../../grader/integrations/figures/maths.js";
import { map } from "../../grader/integrations/figures/plane.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";
import { cache, generate, ids, losses, run, transformer } from "../../grader/integrations/figures/transformer.js";

// The smallest period, of two tokens or more, with which the tokens repeat at least once in full; 0 without one.
const periodOf = (tokens) =>
  range(Math.max(0, Math.floor(tokens.length / 2) - 1), 2)
    .find((p) => tokens.every((token, t) => t < p || token === tokens[t - p])) ?? 0;

// The model is in the page with 11 bits a number: the digits that are shown are those of the full one.
const WIDTHS = 8; // of arcs, from thin to broad
const printed = (loss) => loss.toFixed(loss < 1 ? 3 : 2);
const [WIDE, GROUND] = [340, 100]; // of the drawing, and where the arcs stand
const ROOM = 18; // for the name of a token below the arcs
const ROLES = { "0.1": "one back", "1.0": "induction" }; // the two heads of the rule
const mean = (values) => sum(values) / values.length;

export default {
  render({ model: given, el }) {
    const { trained, tokens: first, more } = given.get("data");
    const model = transformer(trained);
    const { layers, heads } = model;
    const figure = frame(el, "One head notes what came before each token, another looks for that note");
    figure.below();
    const places = range(layers).flatMap((l) => range(heads).map((head) => `${l}.${head}`));
    const nameOf = (place) => `layer ${place[0]}, head ${place[2]}`;
    const on = figure.switches({ label: "Heads", options: places.map(nameOf) });
    const isThere = (i) => whole.value || ROLES[places[i]];
    const whole = figure.toggle({ label: "All heads", moved: () => on.show(isThere) });
    on.show(isThere);
    figure.fold("Another sequence");
    const toEnd = () => (pointed.value = model.context); // beyond all tokens: the last that is given
    const typed = figure.entry({ label: "Tokens", value: first.join(" "), moved: toEnd });
    const drawTokens = () => {
      const once = range(period.value).map(() => Math.floor(Math.random() * model.vocabulary));
      typed.value = [...once, ...once].join(" ");
      toEnd();
    };
    const period = figure.slider({ label: "Period", min: 2, max: model.context / 2, value: 2, moved: drawTokens });
    figure.button("Draw a sequence, twice", drawTokens);
    const pointed = figure.state(first.length - 1);
    const [keep, keepWithout] = [kept(), kept()];
    let last = { show: [] }; // what stays while the text that is typed has an error
    const draw = () => {
      const { tokens, error } = ids(typed.value, model);
      if (error) return { ...last, say: error };
      const off = new Set([...on.off].map((i) => places[i]));
      const past = cache(model);
      const { logits, weights } = run(model, tokens, off, past, keep);
      const next = generate(model, logits.at(-1), Math.min(more, model.context - tokens.length), off, past);
      const loss = losses(logits, tokens);
      const names = tokens.map(String);
      const T = tokens.length;
      const p = periodOf(tokens);
      if (p) period.value = p;
      const part = T === 2 * p ? "second half" : "tokens after the first period";
      const title = p ? `loss of the ${part}` : "mean loss";
      const lossOf = (logits) => printed(mean(losses(logits, tokens).slice(p)));
      const told = lossOf(logits);
      // What comes before the induction head is the same without it.
      const without = (name, of, make) => (["after 1", "logits"].includes(name) ? keepWithout : keep)(name, of, make);
      const lost = off.size ? null : lossOf(run(model, tokens, new Set(["1.0"]), undefined, without).logits);
      // One head's attention as arcs over the tokens: from each token back to those that it looks at.
      const arcs = weights[1][0];
      const t = Math.min(pointed.value, T - 1);
      const wide = WIDE / (T + 1); // with a place for what the model writes next
      const X = (n) => (n + 0.5) * wide;
      const top = arcs[t].indexOf(Math.max(...arcs[t]));
      // The token that is looked at has been told by the head before which one came before it.
      const isLost = off.has("1.0");
      const isNoteless = off.has("0.1");
      const isPair = !isNoteless
        && top > 0 && tokens[top - 1] === tokens[t] && weights[0][1][top][top - 1] > 0.5;
      const arc = (i, j) => {
        const far = X(i) - X(j);
        const [x, r, high, across] = [X(i), far / 2, Math.min(far / 2, 90), -far].map((value) => value.toFixed(1));
        return `M${x},${GROUND}a${r},${high} 0 0 0 ${across},0`;
      };
      // Arcs of about one weight are one path: of 64 tokens there are many hundreds.
      const paths = (pairs, look, most) => range(WIDTHS, 1).map((wide) => s("path", {
        class: look,
        "stroke-width": (most * wide) / WIDTHS,
        d: pairs.filter(([i, j]) => Math.ceil(arcs[i][j] * WIDTHS) === wide).map(([i, j]) => arc(i, j)).join(""),
      }));
      const pairsOf = (i) => range(i).filter((j) => arcs[i][j] > 0.04).map((j) => [i, j]);
      // Names that have no room are left out; the picked token and the one that it looks at most come first.
      const isFar = (a, b) => Math.abs(a - b) * wide >= ROOM;
      const isNamed = (n) => n === t
        || (isFar(n, t) && (n === top || (isFar(n, top) && n % Math.ceil(ROOM / wide) === 0)));
      const overTokens = drawing(
        {
          name: isLost ? "the induction head is off" : "where the induction head looks",
          label: `Token ${t}, ${tokens[t]}, looks most at token ${top}, ${tokens[top]}.`,
          width: WIDE, height: GROUND + 30 + 52, most: 440,
        },
        next.length > 0 && wide >= ROOM && [
          s("rect", { class: "cell gone", x: X(T) - 11, y: GROUND + 4, width: 22, height: 20 }),
          s("text", { x: X(T), y: GROUND + 18, "text-anchor": "middle" }, String(next[0])),
          !isLost && t === T - 1 && tokens[top] === next[0] && s("path", {
            class: "link now", "stroke-width": 1.5, d: `M${X(top)},${GROUND + 24}v12H${X(T)}v-10m-4,5l4,-5l4,5`,
          }),
        ],
        paths(range(T).filter((i) => i !== t).flatMap(pairsOf), "link dim", 1.5),
        paths(pairsOf(t), isLost ? "link dim" : "link now", 4),
        isPair && s("path", { class: "pull kata-kind-1", "stroke-width": 4, d: arc(top, top - 1) }),
        (isPair || isNoteless) && [
          isPair ? `1. orange, layer 0, head 1: ${tokens[top]} notes that ${tokens[t]} came before`
            : "1. layer 0, head 1: off, so nothing is noted",
          `2. ${isLost ? "grey" : "blue"}, layer 1, head 0: ${isLost ? `off${isPair ? ", so the note is not read" : ""}`
            : isPair ? `${tokens[t]} looks for what noted ${tokens[t]}`
              : `${tokens[t]} finds no note, looks at ${tokens[top]}`}`,
        ].map((words, n) => s("text", { x: 0, y: GROUND + 54 + 18 * n }, words)),
        names.map((name, n) => isNamed(n) && s("text", {
          x: X(n), y: GROUND + 18, "text-anchor": "middle", class: n === t || n === top ? "strong" : null,
        }, name)),
        names.map((_, n) => s("rect", {
          class: "hit", x: X(n) - wide / 2, y: 0, width: wide, height: GROUND + 30,
          pointerenter: () => (pointed.value = n),
          pointerdown: () => (pointed.value = n),
        })),
      );
      // Where an induction head looks: the token after the earlier occurrence of the one at hand.
      const expected = (i, j) => j > 0 && j <= i && tokens[j - 1] === tokens[i];
      const seen = (place) => {
        const [one, role, isOff] = [weights[place[0]][place[2]], ROLES[place], off.has(place)];
        return keep(`map ${place}`, [one, isOff], () => map({
          name: `${nameOf(place)}${isOff ? " (off)" : role ? `: ${role}` : ""}`,
          values: one, rows: names, columns: names,
          press: () => on.press(places.indexOf(place)),
          marked: role ? [(i, j) => j === i - 1, expected][place[0]] : undefined,
        }));
      };
      const scores = (name, score) => matrix({
        name, values: weights.map((layer) => layer.map(score)), digits: 3, scale: 1,
        rows: range(layers).map((l) => `layer ${l}`), columns: range(heads).map((head) => `head ${head}`),
      });
      // The pattern below itself, and below that what the model makes of it.
      const long = p || T;
      const cut = (all) => range(Math.ceil(all.length / long)).map((n) => all.slice(n * long, (n + 1) * long));
      const given = cut(tokens);
      const at = pointed.value < T + next.length ? pointed.value : t; // also a cell of what the model wrote
      const isWrong = (n) => p > 0 && next[n] !== tokens[(T + n) % p];
      const fewer = off.size ? ` with ${off.size} ${off.size === 1 ? "head" : "heads"} off` : "";
      last = {
        key: off.size ? [title, told] : ["loss without induction", `${told} → ${lost}`],
        show: row(
          overTokens,
          matrix({
            name: "the model goes on",
            values: [...given, ...cut(next)],
            rows: [...given.map(() => "given"), ...cut(next).map(() => "goes on")],
            digits: 0,
            heat: false,
            faint: (i) => i < given.length,
            marked: (i, j) => i >= given.length && isWrong((i - given.length) * long + j),
            note: range(next.length).some(isWrong) && "dashed: not the pattern",
            picked: [Math.floor(at / long), at % long],
            pick: (i, j) => (pointed.value = i * long + j),
          }),
        ),
        more: whole.value && [
          ...range(layers).map((l) => row(places.filter((one) => Number(one[0]) === l).map(seen))),
          h("p", { class: "kata-note" }, "Rows look at columns."),
          row(
            scores("previous-token score", (one) => mean(range(T - 1, 1).map((t) => one[t][t - 1]))),
            p && scores("induction score", (one) => mean(range(T - p, p).map((t) => one[t][t - p + 1]))),
          ),
          matrix({ // before the pattern repeats there is nothing to copy
            name: `loss${p ? ` of each token of the ${part}` : ""}`, values: loss.slice(p),
            columns: names.slice(p + 1), digits: 2, scale: p ? 2 : undefined,
          }),
        ],
        say: `The ${title} is ${told}${fewer}.`
          + (off.size ? "" : ` Without the induction head it is ${lost}.`)
          + ` Guessing: ${printed(Math.log(model.vocabulary))}.`
          + (!isLost && expected(t, top)
            ? ` Token ${tokens[t]} looks at what came after an earlier ${tokens[t]}: ${tokens[top]}.` : ""),
      };
      return last;
    };
    figure.draw(() => keep("figure", [typed.value, [...on.off].join(), pointed.value, whole.value], draw));
  },
};
