"""What an exercise's interactive figure shows first, as plain data.

It stands beside the checks, in grader/checks/NN_slug/figure.py: one FIGURE, with inputs that everybody may know.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
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


def plain(value: float) -> str:
    """A number on an axis: a whole one in full, another with three digits."""
    return (f"{value:,.0f}" if value == round(value) else f"{value:.3g}").replace("-", "−")


def in_bytes(value: float) -> str:
    """A power of two of bytes on an axis, in the largest unit that fits."""
    unit = min(4, (int(value).bit_length() - 1) // 10)
    return f"{value / 1024**unit:g} {('B', 'KiB', 'MiB', 'GiB', 'TiB')[unit]}"


@dataclass(frozen=True)
class Curves:
    """Curves over x that the figure's script draws first with chart.js, under this name. at: the x of a mark.

    log, log_x: logarithmic axes; base: whose powers are marked on one. least: where the y axis begins. tick: how a
    value is written.
    """

    name: str
    x: Sequence[float]
    curves: Mapping[str, Sequence[float]]
    x_label: str
    at: float | None = None
    log: bool = False
    log_x: bool = False
    base: int = 10
    least: float | None = None
    tick: Callable[[float], str] = plain


@dataclass(frozen=True)
class Point:
    """A point of a plane. kind: "dot", "arrow" from the origin or "cross"; pulled_to: lines to places, with widths."""

    x: float
    y: float
    name: str
    kind: str = "dot"
    look: str = ""  # "other": the second colour, with dashes
    size: float = 6
    below: bool = False  # whether the name stands below the point
    pulled_to: tuple[tuple[tuple[float, float], float], ...] = ()


@dataclass(frozen=True)
class Points:
    """A plane of points that the figure's script draws first with plane.js, under this name. low, high: its corners."""

    name: str
    points: Sequence[Point]
    low: tuple[float, float] = (0, 0)
    high: tuple[float, float] = (1, 1)
    x_label: str = ""
    y_label: str = ""


@dataclass(frozen=True)
class Figure:
    """data(documented): what the figure's script is given, as JSON can hold it; documented: the printed numbers by id.

    start: by the name of the matrix shown. drawings(): what the script draws first besides, for the still picture.
    """

    title: str
    data: Callable[[Mapping[str, Any]], dict[str, Any]]
    start: Mapping[str, Start]
    drawings: Callable[[], Sequence[Curves | Points]] = tuple


def packed(tensor: torch.Tensor) -> str:
    """Numbers as base64 of their bytes, lowest byte first: `floats` (float32) and `bytes` (uint8) read them."""
    return base64.b64encode(tensor.detach().contiguous().cpu().numpy().tobytes()).decode()
