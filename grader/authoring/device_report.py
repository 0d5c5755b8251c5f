"""The results of `verify --device` on one machine, as a Markdown page that anybody can send in."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from grader.authoring.problem import Problem
from grader.authoring.timing import Row
from grader.catalog import paths


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


def _mib(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
