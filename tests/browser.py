"""A headless Chromium for the tests of pages, and the script that they run in it."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """A context with a running browser (playwright's). The test is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra dev)")
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    if executable is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    with playwright.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        try:
            yield chromium
        finally:
            chromium.close()


class Tab:
    """A tab for all tests of a file, which load their page anew: to open another one costs as much as three loads.

    page: playwright's; requests: the addresses that were asked for since the last `load`; complaints: what the console
    and the scripts said.
    """

    def __init__(self, chromium: Any) -> None:
        self.page = chromium.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda message: self.complaints.append(message.text))

    def load(self, place: Path | str, width: int = 1280, height: int = 720, scheme: str = "light") -> Any:
        """Load a file, or an address, for a screen of this size. Returns the page."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(media="screen", color_scheme=scheme)
        self.requests.clear()
        self.complaints.clear()
        self.page.goto(place.as_uri() if isinstance(place, Path) else place)
        return self.page


# A function of JavaScript: every visible text, with the contrast between its colour and its background.
CONTRASTS = """() => {
  const parse = colour => {
    const parts = colour.match(/[\\d.]+/g).map(Number), full = colour.startsWith('color(srgb') ? 255 : 1;
    return {rgb: parts.slice(0, 3).map(part => part * full), alpha: parts.length > 3 ? parts[3] : 1};
  };
  const light = rgb => {
    const [r, g, b] = rgb.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = element => {
    if (element instanceof SVGElement) {
      const box = element.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
      for (const rect of element.ownerSVGElement.querySelectorAll('rect')) {
        const r = rect.getBoundingClientRect(), fill = getComputedStyle(rect).fill;
        if (fill === 'none' || parse(fill).alpha < 1) continue;
        if (r.left <= x && x <= r.right && r.top <= y && y <= r.bottom) return parse(fill).rgb;
      }
    }
    for (let node = element; node; node = node.parentElement) {
      const colour = parse(getComputedStyle(node).backgroundColor);
      if (colour.alpha === 1) return colour.rgb;
    }
    return matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18] : [255, 255, 255];
  };
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), element = walker.currentNode.parentElement;
    if (!text || ['SCRIPT', 'STYLE', 'TITLE', 'title', 'desc'].includes(element.tagName)) continue;
    if (!element.checkVisibility({visibilityProperty: true})) continue;
    const style = getComputedStyle(element);
    const ink = parse(element instanceof SVGElement ? style.fill : style.color).rgb;
    const [high, low] = [light(ink), light(behind(element))].sort((a, b) => b - a);
    found.push({text: text.slice(0, 40), ratio: (high + 0.05) / (low + 0.05)});
  }
  return found;
}"""
