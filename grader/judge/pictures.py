"""Pictures of attention: the learner's weights beside the expected ones, as plain data.

A picture's setup is beside the checks, in grader/checks/NN_slug/pictures.py: a list PICTURES of Drawings.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from grader.sentence import TOKENS

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Picture:
    """One panel: a matrix with tokens on both axes. learner: None where the learner's code gave none; `note` says why.

    `rows` attend, `columns` are looked at.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    learner: Matrix | None
    expected: Matrix
    note: str = ""

    @property
    def difference(self) -> Matrix | None:
        """learner − expected; 0 where both are the same infinity."""
        if self.learner is None:
            return None
        pairs = (zip(learner_row, expected_row) for learner_row, expected_row in zip(self.learner, self.expected))
        return tuple(tuple(0.0 if got == expected else got - expected for got, expected in row) for row in pairs)

    @property
    def largest_difference(self) -> float | None:
        """The largest distance from the expected; NaN where one is no number."""
        if self.difference is None:
            return None
        distances = [abs(value) for row in self.difference for value in row]
        return next((value for value in distances if value != value), max(distances, default=0.0))

    @functools.cached_property
    def scale(self) -> float:
        """The value of the darkest colour in all three panels: the largest expected value."""
        return max((abs(value) for row in self.expected for value in row), default=0.0) or 1.0


@dataclass(frozen=True)
class Drawing:
    """The description of a picture, with public inputs.

    expected(documented): the truth, from the printed numbers by id or from the inputs; ask(learner): the same
    from the learner's code, in few calls. Both give (rows, columns), or (heads, rows, columns): one picture a head.
    """

    title: str
    expected: Callable[..., Any]
    ask: Callable[..., Any]
    rows: tuple[str, ...] = TOKENS
    columns: tuple[str, ...] = TOKENS
    note: str = ""
