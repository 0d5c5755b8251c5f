// Numbered cells through view and transpose: the right way keeps each token's numbers together, the wrong way does not.

import { frame } from "../../grader/integrations/figures/frame.js";
import { matmul, range, transpose } from "../../grader/integrations/figures/maths.js";
import { matrix, row } from "../../grader/integrations/figures/tables.js";

const COUNTS = [1, 2, 4];

export default {
  render({ model, el }) {
    const { x } = model.get("data"); // (T, d): the heads side by side
    const [T, d] = [x.length, x[0].length];
    const flat = x.flat();
    const figure = frame(el, "First view, then transpose: a view at once gives a head the numbers of other tokens.");
    const wrong = figure.choice({
      label: "Split by",
      options: ["view(T, H, h).transpose(0, 1)", "view(H, T, h)"],
      value: 1,
    });
    const heads = figure.choice({ label: "Heads", options: COUNTS.map(String), value: 1 });
    const numbered = figure.choice({
      label: "Cells show",
      options: ["numbers of the lesson", "their place in memory"],
      value: 1,
    });
    figure.lesson(() => ([wrong.value, heads.value, numbered.value] = [0, 1, 0]));
    const cell = figure.state([0, 1, 0]);
    figure.draw(() => {
      const H = COUNTS[heads.value];
      const h = d / H;
      // The place in memory of number n of token t in head k.
      const place = (k, t, n) => (wrong.value ? (k * T + t) * h + n : t * d + k * h + n);
      const places = range(H).map((k) => range(T).map((t) => range(h).map((n) => place(k, t, n))));
      const token = (i) => Math.floor(i / d);
      const names = range(T).map((t) => `token ${t}`);
      const strays = places.flat().flatMap((one, t) => one.filter((i) => token(i) !== t % T)).length;
      const shown = (index) => (numbered.value ? index : flat[index]);
      const digits = numbered.value ? 0 : 4;
      const scores = places.map(
        (head) => head.map((one) => one.map((i) => flat[i]))
      ).map((head) => matmul(head, transpose(head)));
      const [k, t, n] = [Math.min(cell.value[0], H - 1), cell.value[1], Math.min(cell.value[2], h - 1)];
      const from = place(k, t, n);
      return {
        threads: [[["x", token(from), from % d], [`head ${k}`, t, n]]],
        show: [
          row(
            matrix({
              name: "x",
              values: x.map((one, t) => one.map((_, n) => shown(t * d + n))),
              digits,
              rows: names,
              scale: numbered.value ? T * d : 1,
              picked: [token(from), from % d],
            }),
            ...places.map((head, one) => matrix({
              name: `head ${one}`,
              values: head.map((one) => one.map(shown)),
              digits,
              rows: names,
              scale: numbered.value ? T * d : 1,
              marked: (i, j) => token(head[i][j]) !== i,
              picked: one === k ? [t, n] : undefined,
              pick: (i, j) => (cell.value = [one, i, j]),
            })),
          ),
          row(...scores.map((one, k) => matrix({
            name: `scores of head ${k}`,
            values: one,
            rows: names,
            columns: names.map((_, t) => `${t}`),
            scale: 2.5,
          }))),
        ],
        key: ["numbers of another token", `${strays} of ${T * d}`],
        say: strays
          ? `${strays} of ${T * d} cells (dashed) belong to another token than their row says: the scores mix tokens.`
          : `Every row of every head holds ${h} numbers of its own token.`,
      };
    });
  },
};
