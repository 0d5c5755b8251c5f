"""The numbers of a figure, from grader/checks/NN_slug/figure.py: what its script gets, and what it must show first."""

import functools
import runpy
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import pad

from grader.catalog import documented, paths
from grader.judge.figure import Curves, Figure, Points, Start


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
        made = runpy.run_path(str(paths.figure_data(folder))).get("FIGURE")
    if not isinstance(made, Figure):
        raise TypeError("it holds no FIGURE")
    return made


@functools.cache
def data(folder: str) -> dict[str, Any]:
    """What the script is given, as JSON can hold it."""
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
    shown = []
    for name, one in figure(folder).start.items():
        ids = (one.id,) if isinstance(one.id, str) else one.id
        printed = [documented.parse(id, by_id[id].printed) for id in ids]
        values, tolerance = (
            _stacked([torch.as_tensor(part, dtype=torch.float64) for part in parts], one)
            for parts in (
                [one.value for one in printed],
                [torch.zeros(()) if one.tolerance is None else one.tolerance for one in printed],
            )
        )
        shown.append(Shown(name, values, tolerance.expand_as(values), one))
    return shown


def _stacked(parts: list[torch.Tensor], one: Start) -> torch.Tensor:
    """One matrix from its rows, or from all of it."""
    if len(parts) == 1:
        matrix = one.take(parts[0]) if parts[0].ndim else parts[0]
        return matrix.reshape(-1, matrix.shape[-1]) if matrix.ndim else matrix.reshape(1, 1)
    if not any(part.ndim for part in parts):
        return torch.stack(parts).reshape(1, -1)
    longest = max(part.numel() for part in parts)
    missing = [(0, longest - part.numel()) for part in parts]
    return torch.stack([pad(part.flatten(), more, value=torch.nan) for part, more in zip(parts, missing)])


def _plain(value: Any) -> Any:
    """Tensors as lists; float32 numbers with the nine digits that give each of them back."""
    match value:
        case torch.Tensor():
            return _plain(value.tolist())
        case dict():
            return {name: _plain(one) for name, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
        case float():
            return float(f"{value:.9g}")
    return value
