"""Prints what docs/promises.md says of the tolerances: `python tests/bench/tolerances.py [EX …]`.

How much of a tolerance right answers use, and by how much each mistake exceeds it: 1.0 is the tolerance itself.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch

from grader import catalog
from grader.catalog import mistakes, paths
from grader.judge import compare, grading
from grader.records.results import Settings
from grader.records.submission import Submission, read
from grader.sandbox.forkserver import ForkServer

SEEDS = (1, 2, 3)
Ratios = dict[torch.dtype, list[float]]  # the largest difference ÷ tolerance of each comparison


def main(numbers: list[str]) -> None:
    honest, wrong = defaultdict(list), defaultdict(list)
    with ForkServer() as fork_server:
        for exercise in map(catalog.find, numbers) if numbers else catalog.exercises():
            right = [read(path) for path in (paths.solution(exercise.folder), *paths.styles(exercise.folder))]
            for dtype, ratios in measure(exercise, right, fork_server):
                honest[dtype] += [ratio for ratio in ratios if ratio <= 1]  # above: what must differ, as two draws
            known = [Submission(mistake.source, "x.py") for mistake in mistakes.mistakes(exercise.folder)]
            for dtype, ratios in measure(exercise, known, fork_server):
                wrong[dtype] += [max(ratios)] if max(ratios) > 1 else []
    for dtype in compare.TOLERANCE:
        least = min(wrong[dtype], default=float("nan"))
        print(f"{dtype}: right answers use {max(honest[dtype], default=0):.2g}, a mistake exceeds it {least:.3g} times")


def measure(
    exercise: catalog.Exercise, submissions: list[Submission], fork_server: ForkServer
) -> Iterator[tuple[torch.dtype, list[float]]]:
    """The ratios of each submission, seed and dtype."""
    current: Ratios = defaultdict(list)

    def observed(got: torch.Tensor, expected: torch.Tensor, absolute: float, relative: float) -> torch.Tensor:
        """Takes the place of compare.close_in_chunks, and notes the ratio."""
        ratios = (got.double() - expected.double()).abs() / (absolute + relative * expected.double().abs())
        if (finite := ratios[torch.isfinite(ratios)]).numel():
            current[expected.dtype].append(float(finite.max()))
        return close(got, expected, absolute, relative)

    close, compare.close_in_chunks = compare.close_in_chunks, observed
    for seed in SEEDS:
        for _ in grading.results(exercise, submissions, fork_server, Settings(seed=seed, diagnose=False)):
            yield from current.items()
            current.clear()
    compare.close_in_chunks = close


if __name__ == "__main__":
    main(sys.argv[1:])
