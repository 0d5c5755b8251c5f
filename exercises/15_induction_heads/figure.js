// The trained model in the page: what follows a pattern, which head finds it, and what is lost without that head.

import { s } from "../../grader/integrations/figures/elements.js";
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
const LOSS_DIGITS = 2;
const SCORE_DIGITS = 3;
const digitsOf = (loss) => (loss < 1 ? 3 : LOSS_DIGITS);
const ROOM = 18; // for the name of a token below the arcs
const ROLES = { "0.1": ": one back", "1.0": ": induction" }; // the two heads of the rule

// A map, one of four in a line. The heads of the rule have a frame, the others are faint until they are pointed at.
function framed({ attributes, children: [caption, svg], ...panel }, isNamed) {
  const show = (opacity) => (event) => (event.currentTarget.querySelector("svg").style.opacity = opacity);
  const style = isNamed ? "outline: 2px solid var(--strong); outline-offset: 1px" : "opacity: .35";
  return {
    ...panel,
    attributes: { ...attributes, style: "flex-basis: 60px", pointerenter: show(1), pointerleave: show(isNamed || 0.35) },
    children: [caption, { ...svg, attributes: { ...svg.attributes, style } }],
  };
}

export default {
  render({ model: given, el }) {
    const { trained, tokens: first, more } = given.get("data");
    const model = transformer(trained);
    const { layers, heads } = model;
    const figure = frame(el, "The model goes on with any pattern. Which two heads find what comes next?");
    const typed = figure.entry({ label: "Tokens", value: first.join(" ") });
    const drawTokens = () => {
      const once = range(period.value).map(() => Math.floor(Math.random() * model.vocabulary));
      typed.value = [...once, ...once].join(" ");
    };
    const period = figure.slider({ label: "Period", min: 2, max: model.context / 2, value: 2, moved: drawTokens });
    figure.button("Draw a sequence, twice", drawTokens);
    const places = range(layers).flatMap((l) => range(heads).map((head) => [l, head]));
    const on = figure.switches({ label: "Heads", options: places.map(([l, head]) => `layer ${l}, head ${head}`) });
    const pointed = figure.state(first.length - 1);
    const keep = kept();
    const draw = () => {
      const { tokens, error } = ids(typed.value, model);
      if (error) return { show: [], say: error };
      const off = new Set([...on.off].map((i) => places[i].join(".")));
      const past = cache(model);
      const { logits, weights } = run(model, tokens, off, past, keep);
      const next = generate(model, logits.at(-1), Math.min(more, model.context - tokens.length), off, past);
      const loss = losses(logits, tokens);
      const names = tokens.map(String);
      const T = tokens.length;
      const p = periodOf(tokens);
      if (p) period.value = p;
      const mean = (values) => sum(values) / values.length;
      const scores = (score) => weights.map((layer) => layer.map(score));
      const rows = range(layers).map((l) => `layer ${l}`);
      const columns = range(heads).map((head) => `head ${head}`);
      const previous = scores((one) => mean(range(T - 1, 1).map((t) => one[t][t - 1])));
      const induction = p && scores((one) => mean(range(T - p, p).map((t) => one[t][t - p + 1])));
      const part = T === 2 * p ? "second half" : "tokens after the first period";
      // Where an induction head looks: the token after the earlier occurrence of the one at hand.
      const expected = (i, j) => j > 0 && j <= i && tokens[j - 1] === tokens[i];
      const title = p ? `loss of the ${part}` : "mean loss";
      const key = mean(loss.slice(p));
      const told = key.toFixed(digitsOf(key));
      // One head's attention as arcs over the tokens: from each token back to those that it looks at.
      const arcs = weights[1][0];
      const t = Math.min(pointed.value, T - 1);
      const wide = Math.min(30, 640 / T);
      const X = (n) => 10 + (n + 0.5) * wide;
      const top = arcs[t].indexOf(Math.max(...arcs[t]));
      const lookedAt = arcs.map((one, i) => range(i).filter((j) => one[j] > 0.04));
      const seen = (i) => lookedAt[i];
      const ground = 12 + Math.max(20, ...lookedAt.map((found, i) => (found.length ? ((i - found[0]) * wide) / 2 : 0)));
      const arc = (i, j) => {
        const r = Math.abs(X(i) - X(j)) / 2 || 5;
        return `M${X(i).toFixed(1)},${ground}A${r.toFixed(1)},${r.toFixed(1)} 0 0 0 ${X(j).toFixed(1)},${ground}`;
      };
      // Arcs of about one weight are one path: of 64 tokens there are many hundreds.
      const paths = (pairs, look, most) => range(WIDTHS, 1).map((wide) => s("path", {
        class: look,
        "stroke-width": (most * wide) / WIDTHS,
        d: pairs.filter(([i, j]) => Math.ceil(arcs[i][j] * WIDTHS) === wide).map(([i, j]) => arc(i, j)).join(""),
      }));
      const pairsOf = (i) => seen(i).map((j) => [i, j]);
      // Names that have no room are left out; the picked token and the one that it looks at most come first.
      const isFar = (a, b) => Math.abs(a - b) * wide >= ROOM;
      const isNamed = (n) => n === t
        || (isFar(n, t) && (n === top || (isFar(n, top) && n % Math.ceil(ROOM / wide) === 0)));
      const overTokens = drawing(
        {
          name: "where the induction head looks",
          label: `Token ${t}, ${tokens[t]}, looks most at token ${top}, ${tokens[top]}.`,
          width: 20 + T * wide,
          height: ground + 30,
        },
        paths(range(p).filter((i) => i !== t).flatMap(pairsOf), "link dim", 1.5), // before the pattern repeats
        paths(range(T - p, p).filter((i) => i !== t).flatMap(pairsOf), "link", 1.5),
        paths(pairsOf(t), "link now", 4),
        names.map((name, n) => isNamed(n) && s("text", {
          x: X(n), y: ground + 18, "text-anchor": "middle", class: n === t || n === top ? "strong" : null,
        }, name)),
        names.map((_, n) => s("rect", {
          class: "hit", x: X(n) - wide / 2, y: 0, width: wide, height: ground + 30,
          pointerenter: () => (pointed.value = n),
          pointerdown: () => (pointed.value = n),
        })),
      );
      const without = off.size ? ` with ${off.size} ${off.size === 1 ? "head" : "heads"} off` : "";
      return {
        key: [title, told],
        show: [
          overTokens,
          matrix({
            name: "the model goes on",
            values: [tokens, next],
            rows: ["given", "goes on"],
            digits: 0,
            heat: false,
            faint: (i) => i === 0,
            picked: [0, t],
            pick: (i, j) => (pointed.value = i * T + j),
          }),
          ...weights.map((layer, l) => row(...layer.map((one, head) => {
            const isOff = off.has(`${l}.${head}`);
            const role = ROLES[`${l}.${head}`] ?? "";
            return keep(`map ${l}.${head}`, [one, isOff], () => framed(map({
              name: `layer ${l}, head ${head}${isOff ? " (off)" : role}`,
              values: one,
              rows: names,
              columns: names,
              press: () => on.press(places.findIndex(([a, b]) => a === l && b === head)),
              marked: role ? [(i, j) => j === i - 1, expected][l] : undefined,
            }), role && 1));
          }))),
          row(
            matrix({ name: "previous-token score", values: previous, rows, columns, digits: SCORE_DIGITS, scale: 1 }),
            ...(p ? [
              matrix({ name: "induction score", values: induction, rows, columns, digits: SCORE_DIGITS, scale: 1 }),
            ] : []),
          ),
          matrix({ // before the pattern repeats there is nothing to copy
            name: `loss${p ? ` of each token of the ${part}` : ""}`, values: loss.slice(p),
            columns: names.slice(p + 1), digits: LOSS_DIGITS, scale: p ? 2 : undefined,
          }),
        ],
        say: `The ${title} is ${told}${without}.`
          + (expected(t, top) ? ` Token ${t} looks at what came after an earlier ${tokens[t]}: ${tokens[top]}.` : ""),
      };
    };
    figure.draw(() => keep("figure", [typed.value, [...on.off].join(), pointed.value], draw));
  },
};
