"""What the truths of several exercises share: the solution as a module, and attention in Python's own numbers."""

import importlib.util
import math
import re
import subprocess
import sys
from collections.abc import Sequence
from types import ModuleType

import torch
from torch import nn

from grader import catalog
from grader.catalog import paths

Rows = Sequence[Sequence[float]]


def load(number: str) -> ModuleType:
    path = paths.solution(catalog.find(number).folder)
    spec = importlib.util.spec_from_file_location(f"truth_{number}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drawn(*shape: int, seed: int = 7) -> torch.Tensor:
    """Random numbers in float64, always the same."""
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def leaves(*shape: int, many: int = 3) -> list[torch.Tensor]:
    """Tensors of such numbers that take gradients, each with its own."""
    return [drawn(*shape, seed=seed).requires_grad_() for seed in range(many)]


def dot(first: Sequence[float], second: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(first, second, strict=True))


def softmax(scores: Sequence[float]) -> list[float]:
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / math.fsum(powers) for power in powers]


def attention(queries: Rows, keys: Rows, values: Rows, scale: float | None = None) -> tuple[Rows, Rows]:
    """The weights and the context vectors. scale: of the scores, by default 1 / √d_k."""
    scale = 1 / math.sqrt(len(keys[0])) if scale is None else scale
    weights = [softmax([scale * dot(query, key) for key in keys]) for query in queries]
    return weights, [[dot(row, column) for column in zip(*values, strict=True)] for row in weights]


def multi_head(
    heads: int, weight: torch.Tensor, bias: torch.Tensor | None = None, last: nn.Linear | None = None
) -> nn.MultiheadAttention:
    """torch's own layer in float64, with the weights of queries, keys and values below each other.

    last: its last layer; by default that gives what it gets.
    """
    size = weight.shape[1]
    layer = nn.MultiheadAttention(size, heads, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        layer.in_proj_weight.copy_(weight)
        layer.in_proj_bias.copy_(torch.zeros(3 * size) if bias is None else bias)
        layer.out_proj.weight.copy_(torch.eye(size) if last is None else last.weight)
        layer.out_proj.bias.copy_(torch.zeros(size) if last is None else last.bias)
    return layer


def tensor(rows: object) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def measure_again(number: str, script: str, rows: int, names: int) -> None:
    """Compare the table that a script beside a lesson prints with the lesson's. names: the width of its first column.

    To three percent: training adds up rounding errors, which differ from one processor to the next.
    """
    lesson = paths.lesson(catalog.find(number).folder)
    command = [sys.executable, str(lesson.with_name(script))]
    head, *measured = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    printed = lesson.read_text("utf-8").partition(head)[2].partition("\n```")[0].splitlines()[1:]
    assert len(printed) == len(measured) == rows
    for row, again in zip(printed, measured, strict=True):
        assert row[:names] == again[:names]
        pairs = zip(*(map(int, re.findall(r"\d+", text[names:])) for text in (row, again)), strict=True)
        assert all(abs(one - other) <= 3 for one, other in pairs), f"{row}\n{again}"
