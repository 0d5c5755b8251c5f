"""The one palette: words can be read on every ground, and a heat map in 256 colours is as clear as in all."""

import itertools
import re

import pytest
from rich.color import Color, ColorSystem

from grader.catalog import paths
from grader.reports import heatmap, templating

WORDS = ("ink", "quiet", "strong", "other", "third", "passed", "failed", "likely")
GROUNDS = ("page", "sheet")


def rgb(text: str) -> tuple[int, int, int]:
    return tuple(bytes.fromhex(text.removeprefix("#")))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_words_have_contrast_on_every_ground(scheme):
    colours = templating.palette()
    for word, ground in itertools.product(WORDS, GROUNDS):
        assert heatmap.contrast(rgb(colours[word][scheme]), rgb(colours[ground][scheme])) >= 4.5, (word, ground)
    for cell in ("more", "less"):
        assert heatmap.contrast(rgb(colours["ink"][scheme]), rgb(colours[cell][scheme])) >= 4.5, cell


@pytest.mark.parametrize("sign", [1, -1])
def test_a_larger_value_is_never_lighter_in_256_colours(sign):
    def seen(share: float) -> tuple[int, int, int]:
        colour = heatmap.hexadecimal(heatmap.background(sign * share, 1.0))
        return tuple(Color.parse(colour).downgrade(ColorSystem.EIGHT_BIT).get_truecolor())

    light = [heatmap.contrast(seen(place / 100), (0, 0, 0)) for place in range(101)]
    assert light == sorted(light, reverse=True) and len(set(light)) > 8


def test_no_style_has_a_colour_of_its_own():
    """But the site, whose theme has colours of its own."""
    styles = [path for path in paths.GRADER.rglob("*.css") if path.name != "site.css"]
    styles += paths.GRADER.rglob("templates/*.html")
    assert len(styles) > 10
    own = [(path.name, line) for path in styles for line in path.read_text("utf-8").splitlines() if "#" in line]
    assert [one for one in own if re.search(r":[^;{]*#[0-9a-f]{3,8}\b", one[1])] == []
