"""The numbers of the interactive figures in a real browser after each interaction.

`tests/exercises/test_NN_slug.py` says what is done to a figure, and what torch computes must come out.
"""

import re
import runpy

import pytest
import torch
from figure_case import TO_LESSON
from figure_pages import FIGURES, FIRST, SENTENCE, act, agrees, shown, unfold
from figure_truths import CAUSAL, REPEATED, trained_loss, trained_model
from thorough import sample

from grader.catalog import paths

pytestmark = pytest.mark.slow

CASES = [
    pytest.param(folder, case, id=f"{folder[:2]}-{number}")
    for folder in FIGURES
    if paths.figure_cases(folder).exists()  # `make verify` demands it, and three cases
    for number, case in enumerate(runpy.run_path(str(paths.figure_cases(folder)))["CASES"])
]


@pytest.mark.parametrize(("folder", "case"), sample(CASES, 13))  # at night all of them
def test_an_interaction_gives_what_torch_computes(opened, folder, case):
    page = opened(folder)
    before = page.locator(".kata-live").inner_html()
    for step in case.steps:
        act(page, step)
    assert not case.steps or page.locator(".kata-live").inner_html() != before
    numbers = page.get_by_label("Numbers", exact=True)
    if case.expected is not dict and numbers.count():  # they may be hidden at first
        unfold(numbers).check()
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        wanted = case.expected()
    for name, expected in wanted.items():
        agrees(shown(page, name), expected, case.tolerance)
    said = page.locator(SENTENCE).inner_text()
    assert re.search(case.says, said), said
    assert wanted or case.says
    assert not re.search(r"(?<!\w)-\d", page.locator(".kata-live").inner_text()), "a minus is −, as in the tables"


@pytest.mark.parametrize("off", [(), ((1, 0),), ((0, 1), (1, 3))])
@pytest.mark.parametrize("tokens", [CAUSAL, REPEATED, [5, 17, 3, 29, 11] * 2])
def test_the_trained_model_in_half_the_room_shows_the_digits_of_the_full_one(tokens, off):
    """Losses and probabilities with two digits, means below 1 with three: what the figures of 14 and 15 print."""
    with torch.no_grad():
        (half, full), (likely, likely_in_full) = (
            [make(tokens, off, in_full) for in_full in (False, True)] for make in (trained_loss, trained_model)
        )
    assert (half["loss"] - full["loss"]).abs().max() < 0.01
    for mean in ("loss", "loss of the second half"):
        assert abs(half[mean].mean() - full[mean].mean()) < (5e-4 if full[mean].mean() < 1 else 5e-3)
    assert (likely.softmax(-1) - likely_in_full.softmax(-1)).abs().max() < 5e-3
    assert not torch.equal(likely, likely_in_full)


def test_arrow_keys_move_sliders_and_cells(opened):
    """The keyboard alone: a bent slider steps by its own step, and a cell hands the focus to its neighbour."""
    page = opened(FIRST["02"])
    act(page, TO_LESSON)
    slider = page.get_by_label("journey", exact=True)
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "1.5950"
    agrees(
        shown(page, "softmax_stable"),
        torch.softmax(torch.tensor([0.9544, 1.5950, 1.4754, 0.8434, 0.7070, 1.0865]), 0),
        1e-4,
    )
