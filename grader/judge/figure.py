"""The interactive figure of an exercise: what its author writes, and the numbers that its script gets.

`grader/checks/NN_slug/figure.py` holds one FIGURE, with inputs that everybody may know. What the figure shows first
must equal documented numbers.
"""

import base64
import functools
import runpy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import pad

from grader.catalog import documented, paths


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
    below: bool = False  # whether the name is below the point
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


@dataclass(frozen=True)
class Shown:
    """A matrix that a figure shows first: its numbers as they are printed, and the names of rows and columns."""

    name: str
    values: torch.Tensor  # (rows, columns) float64; nan where a shorter row has no number
    tolerance: torch.Tensor
    start: Start


def has_figure(folder: str) -> bool:
    """Whether an exercise has a figure."""
    return paths.figure_data(folder).exists() and paths.figure_script(folder).exists()


@functools.cache
def figure(folder: str) -> Figure:
    """The figure of an exercise. Raises whatever its module raises, and TypeError where that holds no FIGURE."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        figure_data = runpy.run_path(str(paths.figure_data(folder))).get("FIGURE")
    if not isinstance(figure_data, Figure):
        raise TypeError("it holds no FIGURE")
    return figure_data


@functools.cache
def data(folder: str) -> dict[str, Any]:
    """The data of the figure's script, as JSON can hold it."""
    printed = {number.id: number.data.value for number in documented.numbers(folder)}
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        numbers: dict[str, Any] = _plain(figure(folder).data(printed))
    return numbers


@functools.cache
def drawings(folder: str) -> list[Curves | Points]:
    """The curves and points that the figure draws first."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        return list(figure(folder).drawings())


def start(folder: str) -> list[Shown]:
    """The documented numbers that the figure shows first. Raises KeyError where an id is not documented."""
    by_id = {number.id: number for number in documented.numbers(folder)}
    matrices = []
    for name, start_matrix in figure(folder).start.items():
        ids = (start_matrix.id,) if isinstance(start_matrix.id, str) else start_matrix.id
        printed = [documented.parse(id, by_id[id].printed) for id in ids]
        values, tolerance = (
            _stacked([torch.as_tensor(row, dtype=torch.float64) for row in rows], start_matrix)
            for rows in (
                [number.value for number in printed],
                [torch.zeros(()) if number.tolerance is None else number.tolerance for number in printed],
            )
        )
        matrices.append(Shown(name, values, tolerance.expand_as(values), start_matrix))
    return matrices


def _stacked(rows: list[torch.Tensor], start_matrix: Start) -> torch.Tensor:
    """One matrix from its rows, or from all of it."""
    if len(rows) == 1:
        matrix = start_matrix.take(rows[0]) if rows[0].ndim else rows[0]
        return matrix.reshape(-1, matrix.shape[-1]) if matrix.ndim else matrix.reshape(1, 1)
    if not any(row.ndim for row in rows):
        return torch.stack(rows).reshape(1, -1)
    longest = max(row.numel() for row in rows)
    padding = [(0, longest - row.numel()) for row in rows]
    return torch.stack([pad(row.flatten(), row_padding, value=torch.nan) for row, row_padding in zip(rows, padding)])


def _plain(value: Any) -> Any:
    """Tensors as lists; float32 numbers with the nine digits that give each of them back."""
    match value:
        case torch.Tensor():
            return _plain(value.tolist())
        case dict():
            return {name: _plain(item) for name, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case float():
            return float(f"{value:.9g}")
    return value
