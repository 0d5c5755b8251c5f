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
    measure_again("19", "measure_positions.py", rows=6, names=13)


def test_the_pairs_that_a_longer_text_stretches():
    turns = 4096 * 10_000.0 ** (-2 * torch.arange(64, dtype=torch.float64) / 128) / (2 * torch.pi)
    whole, last = int((turns >= 1).sum()), float(turns[-1])
    text = " ".join(LESSON.read_text("utf-8").split())
    for words in (f"first {whole} pairs", f"other {64 - whole}", f"from {last:.2f} of a turn to {2 * last:.2f}"):
        assert words in text


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
