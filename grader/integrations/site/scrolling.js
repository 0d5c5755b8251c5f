// The Tab key stops at a formula or at the table of an experiment only while it is wider than its box. The page gives
// each of them a tabindex, so that without this script the keyboard reaches them all.
const BOXES = ".formula, div.experiment";
const widths = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    const box = target.closest(BOXES);
    if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", 0);
    else box.removeAttribute("tabindex");
  }
});
for (const box of document.querySelectorAll(BOXES)) {
  widths.observe(box);
  widths.observe(box.firstElementChild);
}
