// A trained head over a long text: what the newest token looks at, with the first tokens kept and without them.

import { h, s } from "../../grader/integrations/figures/elements.js";
import { frame } from "../../grader/integrations/figures/frame.js";
import { dot, floats, format, range, softmax, sum } from "../../grader/integrations/figures/maths.js";
import { drawing, matrix, row } from "../../grader/integrations/figures/tables.js";

const [WIDE, HIGH, TALL] = [346, 26, 110]; // of the drawing, of a token, and of a bar for all of the attention
const [KEPT, DROPPED, GAP, MARK] = [30, 14, 74, 16]; // of a token kept, of one dropped, of all dropped; <s> has more

const percent = (share) => format(100 * share, share > 0.99 && share < 1 ? 1 : 0);

// The tokens so far. On each token stands what it gets of the attention of the newest one; those that were dropped are
// dashed, and one box where `wide`, which have room in both ways to keep some, has none of them. look: of the bars.
function tape(names, wide, { title, positions, weights, most, look }) {
  const n = names.length;
  const isWide = (t) => wide.includes(t);
  const gap = Math.min(GAP, DROPPED * (n - wide.length));
  const room = Math.min(KEPT, (WIDE - MARK - 4 - gap) / wide.length);
  const lefts = [2];
  names.forEach((_, t) => lefts.push(lefts[t] + (isWide(t) ? room : gap / (n - wide.length)) + (t ? 0 : MARK)));
  const first = names.findIndex((_, t) => !isWide(t)); // of those that both ways drop
  const top = 20 + TALL;
  return drawing(
    { name: title, label: `Most of the newest token's attention goes to ${names[most]} at ${most}.`, width: WIDE,
      height: top + HIGH + 20, most: WIDE },
    names.map((name, t) => {
      const share = weights[positions.indexOf(t)];
      if (t !== first && !isWide(t)) return null;
      const [x, room] = [lefts[t], t === first ? gap : lefts[t + 1] - lefts[t]];
      const word = (y, text, look) => s("text", { class: look, x: x + room / 2, y, "text-anchor": "middle" }, text);
      const kept = share === undefined ? "gone" : t === n - 1 ? "chosen" : "";
      return [
        s("rect", { class: `cell ${kept}`, x: x + 1, y: top + 1, width: room - 2, height: HIGH }),
        isWide(t) && word(top + 18, name, "number"),
        t === first && room > 12 && word(top + 18, room > 70 ? `${n - wide.length} dropped` : `${n - wide.length}`),
        share > 0.005 && [
          s("rect", { class: `cell ${look}`, x: x + 3, y: top - share * TALL, width: room - 6, height: share * TALL }),
          word(top - share * TALL - 5, percent(share), "strong"),
        ],
      ];
    }),
    s("text", { x: lefts[n], y: top + HIGH + 15, "text-anchor": "end" }, "newest"),
  );
}

export default {
  render({ model, el }) {
    const { tokens, width, queries, keys, seen: first, sinks: kept, window: reach } = model.get("data");
    const rows = (text) => {
      const numbers = floats(text);
      return tokens.map((_, t) => Array.from(numbers.subarray(t * width, (t + 1) * width)));
    };
    const [query, key] = [rows(queries), rows(keys)];
    const half = width / 2;
    const rotated = (vector, place) => vector.map((value, i) => {
      const angle = place * 10000 ** (-(i % half) / half);
      const other = i < half ? -vector[i + half] : vector[i - half];
      return value * Math.cos(angle) + other * Math.sin(angle);
    });
    const figure = frame(el, "Once the first token is dropped, the last ones share all of the attention");
    figure.below();
    const seen = figure.slider({ label: "Tokens seen", min: 1, max: tokens.length, value: first });
    figure.player(seen, 900);
    const sinks = figure.slider({ label: "First tokens kept", min: 1, max: 4, value: kept });
    const window = figure.slider({ label: "Window", min: 2, max: 16, value: reach });
    const all = figure.toggle({ label: "Numbers" });
    figure.lesson(() => ([seen.value, sinks.value, window.value, all.value] = [first, kept, reach, true]));
    figure.draw(() => {
      const n = seen.value;
      const weigh = (title, first, look) => {
        const positions = range(n).filter((t) => t < first || t >= n - window.value);
        const last = rotated(query[n - 1], positions.length - 1);
        const weights = softmax(positions.map((t, place) => dot(last, rotated(key[t], place)) / Math.sqrt(width)));
        return { title, look, positions, weights, most: positions[weights.indexOf(Math.max(...weights))] };
      };
      const next = Math.min(sinks.value, n) - 1;
      const more = next ? ` and the next ${next} are` : " is";
      const ways = [
        weigh(`<s>${more} kept`, sinks.value, "now"),
        weigh(`<s> is dropped: only the last ${window.value} are kept`, 0, "strip kata-kind-1"),
      ];
      const [{ positions }, without] = ways;
      const isDropped = without.positions[0] > 0;
      if (!isDropped) ways.pop();
      const looks = "abc".includes(tokens[n - 1]);
      const finds = looks && isDropped;
      const onMark = `${percent(ways[0].weights[0])}\u00a0%`;
      const before = sum(ways[0].weights.filter((_, place) => without.positions.includes(positions[place])));
      const need = looks ? "looks for the token before it" : "has nothing to look for";
      return {
        show: [
          row(ways.map((way) => tape(tokens.slice(0, n), positions, way))),
          h("p", { class: "kata-note" }, `Bars: what ${tokens[n - 1]} gives to each letter, and to <s>, the start of the `
            + "text, in %. The small model was trained to look one letter back after a, b and c only."),
          all.value && [
            matrix({ name: "kept positions", values: positions, digits: 0, heat: false }),
            matrix({
              name: "weights of the newest token",
              values: ways.map((way) => positions.map((t) => way.weights[way.positions.indexOf(t)])),
              rows: ways.map((way) => way.title),
              columns: positions.map((t) => `${tokens[t]} at ${t}`),
            }),
          ],
        ],
        title: finds && "A token that finds what it looks for needs no first token",
        key: isDropped
          ? [`the last ${without.positions.length} get`,
            `${Number(format(100 * before, 1))}\u00a0% →\u00a0100\u00a0%`]
          : ["on <s>", onMark],
        say: `The newest token, ${tokens[n - 1]}, ${need}: <s> gets ${onMark} of its attention. `
          + (finds ? "Once <s> is dropped, nothing changes." : isDropped
            ? `Once <s> is dropped, the ${without.positions.length} tokens that are left share all of it.`
            : `<s> is still among the last ${window.value}.`),
      };
    });
  },
};
