"""What is done to the figure of exercise 19, and what torch computes must come out; the other numbers of its lesson."""

import torch
from figure_case import TO_LESSON, Case
from thorough import nightly
from truths import measure_again

from grader import catalog
from grader.catalog import paths

LESSON = paths.lesson(catalog.find("19").folder)


@nightly  # it trains
def test_the_table_of_positions_is_the_one_of_the_lesson():
    measure_again("19", "measure_positions.py", rows=8, names=13)


def test_the_waves_of_position_1_and_the_weights_of_a_slope():
    angles = torch.tensor([1.0, 0.1])
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten()
    assert f"[{', '.join(f'{value:.4f}' for value in waves)}]" in LESSON.read_text("utf-8")
    weights = torch.softmax(torch.tensor(2.0).log() * torch.tensor([-2.0, -1.0, 0.0]), dim=0)
    torch.testing.assert_close(weights, torch.tensor([1.0, 2.0, 4.0]) / 7)


def test_the_pairs_that_a_longer_text_stretches():
    frequencies = 10_000.0 ** (-2 * torch.arange(64, dtype=torch.float64) / 128)
    turns = 4096 * frequencies / (2 * torch.pi)
    keep = ((turns - 1) / (32 - 1)).clamp(0, 1)
    kinds = [int(kind.sum()) for kind in (turns >= 1, turns < 1, keep == 1, keep == 0, (keep > 0) & (keep < 1))]
    assert kinds == [46, 18, 21, 18, 25]
    last = float(turns[-1])
    text = " ".join(LESSON.read_text("utf-8").split())
    for words in ("first 46 pairs", "other 18", "21 pairs stay", "18 turn at half", "25 are in between"):
        assert words in text
    assert f"from {last:.2f} of a turn to {2 * last:.2f}" in text


def turned(query: int, key: int, base: float) -> dict[str, torch.Tensor]:
    """Exercise 19's vectors by complex numbers, and their score."""
    pairs = torch.complex(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))

    def at(position: int) -> torch.Tensor:
        one = pairs * torch.exp(1j * position * base ** (-torch.arange(2) / 2))
        return torch.cat([one.real, one.imag])

    return {"query, turned": at(query), "key, turned": at(key), "score": at(query) @ at(key)}


CASES = [
    Case([], says="distance is 2, and the score 15.4399"),
    Case([TO_LESSON, ("press", "Step")], lambda: turned(3, 1, 100.0), "distance is 2, and the score 15.4399"),
    Case(
        [TO_LESSON, {"Base": "10,000", "Query at": 20, "Key at": 7}], lambda: turned(20, 7, 10_000.0), "distance is 13"
    ),
]
