"""What checks put into a learner's code: random numbers, and the numbers of trained models."""

import functools
from pathlib import Path

import torch

from grader.catalog import paths
from grader.catalog.errors import InfrastructureError
from grader.records.seeds import part, torch_seed


def manual_seed(seed: int) -> None:
    """As torch.manual_seed, on the CPU alone: where there is no GPU that one notes the seed for later, with a
    traceback each time, which takes 300 times as long and is never forgotten."""
    torch.default_generator.manual_seed(seed)


class Random:
    """The `rng` fixture. One check's stream depends on the run's seed and the check's name alone."""

    def __init__(self, seed: int, check: str):
        self.generator = torch.Generator().manual_seed(torch_seed(part(seed, check)))

    def randn(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Standard normal numbers."""
        return torch.randn(*shape, generator=self.generator, dtype=torch.float64).to(dtype)

    def rand(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Uniform numbers from 0 to 1."""
        return torch.rand(*shape, generator=self.generator, dtype=torch.float64).to(dtype)

    def integers(self, low: int, high: int, *shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        """Whole numbers from low to high - 1, of an integer or a floating dtype."""
        return torch.randint(low, high, shape, generator=self.generator).to(dtype)

    def integer(self, low: int, high: int) -> int:
        """One whole number from low to high - 1."""
        return int(torch.randint(low, high, (), generator=self.generator))

    def permutation(self, n: int) -> torch.Tensor:
        """The whole numbers from 0 to n - 1 in a random order, (n,)."""
        return torch.randperm(n, generator=self.generator)

    def strided(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Standard normal numbers that do not lie row by row in memory (not contiguous)."""
        return self.randn(*shape[::-1], dtype=dtype).permute(*range(len(shape) - 1, -1, -1))


def trained_state(folder: str) -> dict[str, torch.Tensor]:
    """The parameters of an exercise's trained model by name, copies of what its file holds.

    Only this file of ours is ever read: a state dict that somebody hands in is not. Raises InfrastructureError where it
    is missing or is no state dict.
    """
    return {name: value.clone() for name, value in _read_state(paths.trained(folder)).items()}


@functools.cache
def _read_state(path: Path) -> dict[str, torch.Tensor]:
    """The state dict in a file that was written on this machine."""
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever torch raises where a file is missing, damaged, or more than tensors
        raise InfrastructureError(f"{paths.shown(path)} cannot be read: {type(error).__name__}") from None
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise InfrastructureError(f"{paths.shown(path)} is no state dict")
    return dict(state)
