"""The page of `make verify DEVICE=…`: what was proved on a device, and a table of time and memory measured there."""

import importlib.util
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from grader.authoring.parts import Problem
from grader.catalog import Exercise, paths
from grader.sandbox.process import MEBIBYTE, Meter

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
                measure(device, flash_attention, *inputs, BLOCK_SIZE),
                measure(device, ready_made, *inputs),
            )
            table.append(Row(tokens, str(dtype).removeprefix("torch."), *own_seconds, *ready_made_seconds))
    return tuple(table)


def measure(device: str, function: Callable[..., Any], *args: Any) -> tuple[float, float | None]:
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


@dataclass(frozen=True)
class Verified:
    """One exercise: how many right answers and mistakes were graded, and what was not as it should be."""

    folder: str
    right: int
    mistakes: int
    problems: tuple[Problem, ...]


def machine(device: str) -> dict[str, str]:
    """The machine and software of the measurements."""
    facts = {
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "torch": torch.__version__,
        "processor": f"{torch.backends.cpu.get_cpu_capability()}, {torch.get_num_threads()} threads",
    }
    if device == "cuda":
        facts |= {"GPU": torch.cuda.get_device_name(), "CUDA": str(torch.version.cuda)}
    return facts


def markdown(
    device: str, facts: dict[str, str], verified: Sequence[Verified], timed: dict[str, tuple[Row, ...]]
) -> str:
    """The page. timed: the rows of an exercise's table by its folder."""
    lines = [f"# Verified on {device}", "", *(f"- {name}: {fact}" for name, fact in facts.items()), ""]
    lines += ["| exercise | right answers | mistakes rejected | failures |", "|---|---:|---:|---:|"]
    lines += [
        f"| {report.folder} | {report.right} | {report.mistakes} | {len(report.problems)} |" for report in verified
    ]
    failures = [(report.folder, problem) for report in verified for problem in report.problems]
    lines += ["", "## Failures", ""]
    lines += [f"- {folder}: {paths.shown(problem.file)}: {problem.reason}" for folder, problem in failures] or ["None."]
    for folder, rows in timed.items():
        lines += ["", f"## Time and memory: {folder}", "", *table(rows)]
    return "\n".join(lines) + "\n"


def table(rows: Sequence[Row]) -> list[str]:
    """The exercise's own attention beside torch's scaled_dot_product_attention, line by line."""
    head = ["| dtype | tokens | own, ms | torch, ms | times | own, MiB | torch, MiB |", "|---|" + "---:|" * 6]
    return head + [
        f"| {row.dtype} | {row.tokens:,} | {row.own_s * 1e3:.2f} | {row.torch_s * 1e3:.2f} "
        f"| {row.own_s / row.torch_s:.1f} | {_mib(row.own_mib)} | {_mib(row.torch_mib)} |"
        for row in rows
    ]


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


def _mib(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
