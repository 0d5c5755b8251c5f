"""What a case of a figure is: steps, as `act` in figure_pages.py takes them, and what must come out."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

TO_LESSON = ("press", "As in the lesson")


@dataclass(frozen=True)
class Case:
    """Steps, and what must be shown afterwards: matrices by name, a pattern that the figure's sentence has."""

    steps: list[tuple | dict]
    expected: Callable[[], dict[str, torch.Tensor]] = field(default=dict)
    says: str = ""
    tolerance: float = 0.0
