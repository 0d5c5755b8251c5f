"""Takes a still picture of each figure as it opens, for the lessons. Usage: python .ci/stills.py [EX …]

The picture is the figure's own HTML and style in an SVG, so it is sharp at any size, follows the reader's light or dark
scheme, and needs no script. It lies beside the lesson as figure.svg.
"""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "figures")]
from browser import browser  # noqa: E402
from figure_pages import FIGURES, write_page  # noqa: E402

from grader.catalog import paths  # noqa: E402

WIDTH = 760
# Makes the figure a picture: without controls, with those rules of the page's style that it needs. Returns an SVG.
TAKE = """() => {
  const figure = document.querySelector('.kata-live');
  figure.querySelectorAll('.kata-controls, .kata-spoken, .hit, .handle').forEach(one => one.remove());
  figure.querySelectorAll('button').forEach(one => {
    one.parentElement.classList.remove('press'); // so that the cell has the room around its number
    Object.assign(one.parentElement.dataset, one.dataset);
    one.replaceWith(...one.childNodes);
  });
  figure.querySelector('.kata-view').dispatchEvent(new Event('scroll')); // threads lead to where the cells are now
  figure.querySelectorAll('[id], [tabindex], [aria-hidden]').forEach(
    one => ['id', 'tabindex', 'aria-hidden'].forEach(name => one.removeAttribute(name)));
  figure.style.cssText = 'margin: 0';
  const all = [figure, ...figure.querySelectorAll('*')];
  const needed = rule => rule.selectorText
    ? all.some(one => { try { return one.matches(rule.selectorText); } catch { return false; } })
    : false;
  const every = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules]);
  const rules = every.filter(needed).map(rule => rule.cssText);
  const { height } = figure.getBoundingClientRect();
  const [w, h] = [%d, Math.ceil(height) + 44]; // with the padding and the border of a figure on its own
  const html = new XMLSerializer().serializeToString(figure);
  const style = `.kata-figure { color-scheme: light dark !important; } ${rules.join(' ')}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}">`
    + `<style><![CDATA[${style}]]></style><foreignObject width="${w}" height="${h}">${html}</foreignObject></svg>\\n`;
}"""


def main(numbers: list[str]) -> None:
    """Write the stills of these exercises, of all by default."""
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        page = chromium.new_page(viewport={"width": WIDTH + 32, "height": 900})
        for name in FIGURES:
            if numbers and name[:2] not in numbers:
                continue
            page.goto(write_page(Path(folder), name).as_uri())
            page.wait_for_timeout(100)  # until the observers have placed what lies over the drawing
            svg = page.evaluate(TAKE % WIDTH)
            paths.still(name).write_text(svg, "utf-8")
            print(f"exercises/{name}/figure.svg: {len(svg.encode()) / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
