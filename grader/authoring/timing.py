"""An exercise's own attention against torch's on one device: time and memory over the number of tokens."""

import importlib.util
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from grader.catalog import Exercise, paths
from grader.sandbox.memory import MEBIBYTE, Meter

HEADS, HEAD_SIZE, BLOCK_SIZE = 4, 64, 256
LENGTHS = {"cuda": (1_024, 4_096, 16_384)}  # numbers of tokens
FEW_LENGTHS = (256, 1_024, 2_048)  # on every other device
DTYPES = (torch.float32, torch.bfloat16)
ROUNDS = 3
RESET = "/proc/self/clear_refs"  # where Linux forgets the largest memory so far: "5"


@dataclass(frozen=True)
class Row:
    """One line of the table. Seconds are the median of ROUNDS calls; MiB are None where the device does not tell."""

    tokens: int
    dtype: str
    own_s: float
    own_mib: float | None
    torch_s: float
    torch_mib: float | None


def rows(exercise: Exercise, device: str, lengths: tuple[int, ...] = ()) -> tuple[Row, ...]:
    """The table of the exercise's `timed` function: f(query, keys, values, block_size) as the solution has it.

    lengths: numbers of tokens; as the device can bear, where none are given. Empty where the exercise times nothing.
    """
    if not exercise.timed:
        return ()
    flash_attention, ready_made = _solution(exercise), torch.nn.functional.scaled_dot_product_attention
    table = []
    for dtype in DTYPES:
        for tokens in lengths or LENGTHS.get(device, FEW_LENGTHS):
            inputs = [torch.randn(1, HEADS, tokens, HEAD_SIZE).to(device, dtype) for _ in range(3)]
            own_seconds, ready_made_seconds = (
                measured(device, flash_attention, *inputs, BLOCK_SIZE),
                measured(device, ready_made, *inputs),
            )
            table.append(Row(tokens, str(dtype).removeprefix("torch."), *own_seconds, *ready_made_seconds))
    return tuple(table)


def measured(device: str, function: Callable[..., Any], *args: Any) -> tuple[float, float | None]:
    """Seconds of a call, the first one left out, and the MiB that it takes beyond its arguments."""
    with torch.no_grad():
        function(*args)
        memory = _memory(device, function, *args)
        times = []
        for _ in range(ROUNDS):
            _wait(device)
            began = time.perf_counter()
            function(*args)
            _wait(device)
            times.append(time.perf_counter() - began)
    return statistics.median(times), memory


def _memory(device: str, function: Callable[..., Any], *args: Any) -> float | None:
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        allocated_before = torch.cuda.memory_allocated()
        function(*args)
        return float(torch.cuda.max_memory_allocated() - allocated_before) / MEBIBYTE
    try:
        with open(RESET, "w", encoding="ascii") as reset:
            reset.write("5")
    except OSError:
        return None
    meter = Meter(os.getpid())
    function(*args)
    meter.look()
    return meter.growth


def _wait(device: str) -> None:
    """A GPU answers before it has computed."""
    if device == "cuda":
        torch.cuda.synchronize()
    elif device == "mps":
        torch.mps.synchronize()


def _solution(exercise: Exercise) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location(f"timed_{exercise.slug}", paths.solution(exercise.folder))
    assert spec is not None and spec.loader is not None, "a file of Python"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[..., Any] = getattr(module, exercise.timed)
    return function
