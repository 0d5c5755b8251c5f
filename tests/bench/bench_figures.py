"""Measures what the redraw of a figure takes after each interaction, for `make bench`.

Counted is what the page's own thread computes for script, style and layout: on a busy machine, too, that is the work of
the figure and not the waiting of the browser.
"""

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1] / folder) for folder in ("", "figures", "..")]

from browser import browser  # noqa: E402
from figure_pages import FIGURES, write_page  # noqa: E402

ROUNDS = 5
PROMISED = 16  # ms for the median redraw of a figure: one frame of a screen that shows 60 a second
PARTS = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
# The controls that are seen, those to type in last, when the sliders have brought the longest text.
COUNT = """() => {
  const pressed = '.kata-live :is(input, .kata-button:not(.kata-play), .picked button)';
  window.controls = [...document.querySelectorAll(pressed)]
    .filter(one => one.checkVisibility()).sort((a, b) => (a.type === 'text') - (b.type === 'text'));
  return controls.length;
}"""
# Sets a slider to the next of five places, presses a button, types a text with a word less and again. Says whether the
# figure was changed: to press what is chosen already is no redraw.
ACT = """([number, round, rounds]) => {
  const control = controls[number];
  const seen = new MutationObserver(() => {});
  seen.observe(document.querySelector('.kata-view'),
    {attributes: true, childList: true, characterData: true, subtree: true});
  if (control.type === 'range') {
    control.value = Number(control.min) + (control.max - control.min) * round / (rounds - 1);
    control.dispatchEvent(new Event('input'));
  } else if (control.type === 'text') {
    control.typed ??= control.value;
    control.value = round % 2 ? control.typed : control.typed.slice(0, control.typed.lastIndexOf(' '));
    control.dispatchEvent(new Event('input'));
  } else control.click();
  document.body.getBoundingClientRect(); // lays it out
  return seen.takeRecords().length > 0;
}"""


def main(numbers: list[str] | None = None) -> None:
    """Print the median and the longest redraw of each figure, or of those with these numbers."""
    with tempfile.TemporaryDirectory() as place, browser() as chromium:
        page = chromium.new_page(viewport={"width": 1000, "height": 900})
        devtools = page.context.new_cdp_session(page)
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        for name in FIGURES:
            if numbers and name[:2] not in numbers:
                continue
            page.goto(write_page(Path(place), name).as_uri())
            times = _redraws(page, devtools)
            facts = f"median {statistics.median(times):.1f} ms, longest {max(times):.0f} ms of {len(times)}"
            print(f"redraw of figure {name[:2]}: {facts} ({PROMISED} ms are promised for the median)", flush=True)


def _redraws(page: Any, devtools: Any) -> list[float]:
    def spent() -> float:
        """Milliseconds of the page's thread so far."""
        metrics = {one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]}
        return 1000 * sum(metrics[part] for part in PARTS)

    times = []
    for number in range(page.evaluate(COUNT)):
        for turn in range(ROUNDS):
            before = spent()
            if page.evaluate(ACT, [number, turn, ROUNDS]):
                times.append(spent() - before)
    return times


if __name__ == "__main__":
    main(sys.argv[1:])
