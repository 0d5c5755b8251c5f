"""The interactive figure of an exercise: what its author writes, and the numbers that its script gets.

`grader/checks/NN_slug/figure.py` holds one FIGURE, with inputs that everybody may know. What the figure shows first
must equal documented numbers.
"""

import base64
import functools
import runpy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import pad

from grader.catalog import documented, paths


@dataclass(frozen=True)
class Start:
    """A matrix that the figure shows first, and the documented numbers that it must equal, digit for digit.

    id: of the documented number; several ids are the rows of one matrix. take: the part that is shown, from all.
    """

    id: str | tuple[str, ...]
    take: Callable[[torch.Tensor], torch.Tensor] = lambda numbers: numbers


@dataclass(frozen=True)
class Figure:
    """data(documented): what the figure's script is given, as JSON can hold it; documented: the printed numbers by id.

    title: of the still picture, which names what it shows; start: by the name of the matrix shown.
    """

    title: str
    data: Callable[[Mapping[str, Any]], dict[str, Any]]
    start: Mapping[str, Start]


def pack(tensor: torch.Tensor) -> str:
    """Numbers as base64 of their bytes, the lowest first: `floats` (float32), `halves` (float16), `bytes` (uint8)."""
    return base64.b64encode(tensor.detach().contiguous().cpu().numpy().tobytes()).decode()


@dataclass(frozen=True)
class Shown:
    """A matrix that a figure shows first: its numbers as they are printed."""

    name: str
    values: torch.Tensor  # (rows, columns) float64; nan where a shorter row has no number
    tolerance: torch.Tensor


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


def start(folder: str) -> list[Shown]:
    """The documented numbers that the figure shows first. Raises KeyError where an id is not documented."""
    by_id = {number.id: number for number in documented.numbers(folder)}
    matrices = []
    for name, start_matrix in figure(folder).start.items():
        ids = (start_matrix.id,) if isinstance(start_matrix.id, str) else start_matrix.id
        printed = [documented.parse(id, by_id[id].printed) for id in ids]
        values, tolerance = (
            _stack([torch.as_tensor(row, dtype=torch.float64) for row in rows], start_matrix)
            for rows in (
                [number.value for number in printed],
                [torch.zeros(()) if number.tolerance is None else number.tolerance for number in printed],
            )
        )
        matrices.append(Shown(name, values, tolerance.expand_as(values)))
    return matrices


def _stack(rows: list[torch.Tensor], start_matrix: Start) -> torch.Tensor:
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
