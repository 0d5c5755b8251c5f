"""What an exercise's interactive figure shows first, as plain data.

It stands beside the checks, in grader/checks/NN_slug/figure.py: one FIGURE, with inputs that everybody may know.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Start:
    """A matrix that the figure shows first, and the documented numbers that it must equal, digit for digit.

    id: of the documented number; several ids are the rows of one matrix. take: the part that is shown, from all.
    rows, columns: names for the still picture.
    """

    id: str | tuple[str, ...]
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    take: Callable[[torch.Tensor], torch.Tensor] = lambda numbers: numbers


@dataclass(frozen=True)
class Figure:
    """data(documented): what the figure's script is given, as JSON can hold it; documented: the printed numbers by id.

    start: by the name of the matrix shown.
    """

    title: str
    data: Callable[[Mapping[str, Any]], dict[str, Any]]
    start: Mapping[str, Start]


def packed(tensor: torch.Tensor) -> str:
    """Numbers as base64 of their bytes, lowest byte first: `floats` (float32) and `bytes` (uint8) read them."""
    return base64.b64encode(tensor.detach().contiguous().cpu().numpy().tobytes()).decode()
