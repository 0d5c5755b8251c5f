// Lines between cells of matrices: from where a number was made to the number itself.

import { create, fill, s } from "./elements.js";

const overlays = new WeakMap(); // view → the drawing that lies over it, and what is on it

// Draw lines over a view, from the middle of one cell to the middle of another: [[name, row, column], the same], …
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
    const [a, b] = [from, to].map((cell) => middleOf(view, cell, ground));
    if (!a || !b) return null;
    const bend = (a.x + b.x) / 2;
    return s("path", { d: `M${a.x},${a.y}C${bend},${a.y} ${bend},${b.y} ${b.x},${b.y}` });
  }));
}

// The middle of a cell on the drawing, or null where the box of its matrix has scrolled it out of sight.
function middleOf(view, [name, row, column], ground) {
  const table = [...view.querySelectorAll("table[data-name]")].find((one) => one.dataset.name === name);
  const cell = table?.querySelector(`[data-row="${row}"][data-column="${column}"]`);
  if (!cell) return null;
  const [box, around] = [cell, table.parentElement].map((one) => one.getBoundingClientRect());
  const x = box.left + box.width / 2;
  if (x < around.left || x > around.right) return null;
  return { x: Math.round(x - ground.left), y: Math.round(box.top + box.height / 2 - ground.top) };
}
