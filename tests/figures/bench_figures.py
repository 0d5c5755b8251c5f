"""Measures how long an interaction with a figure takes until it is painted, for `make bench`."""

import statistics
import tempfile
from pathlib import Path

from browser import browser
from figure_pages import FIGURES, write_page

ROUNDS = 5
PROMISED = 50  # ms
# Sets every slider to five places and presses every button: the times until each change is painted.
MEASURE = """async rounds => {
  const painted = () => new Promise(done => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = done;
    channel.port2.postMessage(0);
  }));
  const times = [];
  for (const control of document.querySelectorAll('.kata-live :is(input, .kata-button, .picked button)')) {
    if (!control.checkVisibility()) continue;
    for (let round = 0; round < rounds; round++) {
      const began = performance.now();
      if (control.type === 'range') {
        control.value = Number(control.min) + (control.max - control.min) * round / (rounds - 1);
        control.dispatchEvent(new Event('input'));
      } else if (control.type === 'text') control.dispatchEvent(new Event('input'));
      else control.click();
      await painted();
      times.push(performance.now() - began);
    }
  }
  return times;
}"""


def main() -> None:
    """Print the median and the longest time of each figure."""
    with tempfile.TemporaryDirectory() as place, browser() as chromium:
        page = chromium.new_page(viewport={"width": 1000, "height": 900})
        for name in FIGURES:
            page.goto(write_page(Path(place), name).as_uri())
            times = page.evaluate(MEASURE, ROUNDS)
            late = sum(time > PROMISED for time in times)
            facts = (
                f"median {statistics.median(times):.0f} ms, longest {max(times):.0f} ms, {late} of {len(times)} late"
            )
            print(f"figure {name[:2]}: {facts} ({PROMISED} ms are promised)")


if __name__ == "__main__":
    main()
