// Lines between cells of matrices: from where a number was made to the number itself.

import { create, fill, s } from "./elements.js";

const overlays = new WeakMap(); // view → the drawing that lies over it, and what is on it

// Draw lines over a view, from the edge of one cell to that of another, so that they cross neither number:
// [[name, row, column], the same], …
export function drawThreads(view, threads) {
  if (!overlays.has(view)) {
    if (!threads.length) return;
    const svg = create(s("svg", { class: "kata-threads", "aria-hidden": "true" }));
    const layer = { svg, threads };
    overlays.set(view, layer);
    view.after(svg);
    new ResizeObserver(() => drawOver(view, layer)).observe(view);
    view.addEventListener("scroll", () => drawOver(view, layer), true);
  }
  const layer = overlays.get(view);
  layer.threads = threads;
  drawOver(view, layer);
}

function drawOver(view, { svg, threads }) {
  if (!view.isConnected) return; // the observer calls again once it is laid out
  const ground = svg.getBoundingClientRect();
  fill(svg, threads.map(([from, to]) => {
    const [a, b] = [from, to].map((cell) => boxOf(view, cell, ground));
    if (!a || !b) return null;
    const [right, down] = [Math.sign(b.x - a.x), Math.sign(b.y - a.y)];
    if (Math.abs(b.x - a.x) > Math.abs(b.y - a.y)) {
      const [start, end] = [a.x + right * a.wide, b.x - right * b.wide];
      return s("path", { d: `M${start},${a.y}C${(start + end) / 2},${a.y} ${(start + end) / 2},${b.y} ${end},${b.y}` });
    }
    const [start, end] = [a.y + down * a.high, b.y - down * b.high];
    return s("path", { d: `M${a.x},${start}C${a.x},${(start + end) / 2} ${b.x},${(start + end) / 2} ${b.x},${end}` });
  }));
}

// The middle of a cell on the drawing with half its width and height, or null where the box of its matrix has scrolled
// it out of sight.
function boxOf(view, [name, row, column], ground) {
  const table = [...view.querySelectorAll("table[data-name]")].find((one) => one.dataset.name === name);
  const cell = table?.querySelector(`[data-row="${row}"][data-column="${column}"]`);
  if (!cell) return null;
  const [box, around] = [cell, table.parentElement].map((one) => one.getBoundingClientRect());
  const x = box.left + box.width / 2;
  if (x < around.left || x > around.right) return null;
  const y = box.top + box.height / 2;
  const [wide, high] = [box.width / 2, box.height / 2].map(Math.round);
  return { x: Math.round(x - ground.left), y: Math.round(y - ground.top), wide, high };
}
