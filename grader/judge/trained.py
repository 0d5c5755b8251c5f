"""Trained models, read as plain tensors: those beside some lessons, and one that `make train` wrote on this machine."""

import functools
from pathlib import Path

import torch

from grader.catalog import paths
from grader.catalog.errors import InfrastructureError


def trained_state(folder: str) -> dict[str, torch.Tensor]:
    """The parameters of an exercise's trained model by name, copies of what its file holds.

    Only this file of ours is ever read: a state dict that somebody hands in is not. Raises InfrastructureError where it
    is missing or is no state dict.
    """
    return {name: value.clone() for name, value in _read(folder).items()}


@functools.cache
def _read(folder: str) -> dict[str, torch.Tensor]:
    try:
        return read_state(paths.trained(folder))
    except ValueError as error:
        raise InfrastructureError(str(error)) from None


def read_state(path: Path) -> dict[str, torch.Tensor]:
    """The state dict in a file that was written on this machine. Raises ValueError where it holds none."""
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever torch raises where a file is missing, damaged, or more than tensors
        raise ValueError(f"{paths.shown(path)} cannot be read: {type(error).__name__}") from None
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise ValueError(f"{paths.shown(path)} is no state dict")
    return dict(state)
