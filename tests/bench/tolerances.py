"""Measures the tolerances on every right answer and every mistake.

`python tests/bench/tolerances.py` prints what docs/promises.md says of them: 1.0 is the tolerance itself.
Numbers of exercises as arguments measure these alone.
"""

import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch

from grader import catalog
from grader.catalog import mistakes, paths
from grader.judge import compare, grading
from grader.judge.compare import TOLERANCE
from grader.records import submission
from grader.records.results import Settings
from grader.sandbox.forkserver import ForkServer

SEEDS = (1, 2, 3)


def main(numbers: list[str]) -> None:
    """Measure these exercises (none: all), and print the table."""
    honest: dict[torch.dtype, list[float]] = defaultdict(list)
    wrong: dict[torch.dtype, list[float]] = defaultdict(list)
    with ForkServer() as fork_server:
        for exercise in map(catalog.find, numbers) if numbers else catalog.exercises():
            right = [
                submission.read(path) for path in (paths.solution(exercise.folder), *paths.styles(exercise.folder))
            ]
            for largest in measure(exercise, right, fork_server):
                for dtype, ratios in largest.items():
                    # above 1 are answers that must differ, as two draws of dropout
                    honest[dtype].append(max((ratio for ratio in ratios if ratio <= 1), default=0.0))
            files = [
                submission.Submission(mistake.source, f"{mistake.name}.py")
                for mistake in mistakes.mistakes(exercise.folder)
            ]
            for largest in measure(exercise, files, fork_server):
                for dtype, ratios in largest.items():
                    wrong[dtype] += [max(ratios)] if max(ratios) > 1 else []
    print("| dtype | absolute and relative | most that a right answer uses | least by which a mistake exceeds it |")
    print("|---|---|---:|---:|")
    for dtype, (absolute, _) in TOLERANCE.items():
        name = str(dtype).removeprefix("torch.")
        least = f"{min(wrong[dtype]):.3g}" if wrong[dtype] else "–"
        print(f"| {name} | {absolute:g} | {max(honest[dtype], default=0):.2g} | {least} |")


def measure(
    exercise: catalog.Exercise, submissions: list[submission.Submission], fork_server: ForkServer
) -> list[dict[torch.dtype, list[float]]]:
    """For each submission and seed: dtype → the largest difference ÷ tolerance of each comparison."""
    measured: list[dict[torch.dtype, list[float]]] = []
    current: dict[torch.dtype, list[float]] = defaultdict(list)

    def observed(got: torch.Tensor, expected: torch.Tensor, absolute: float, relative: float) -> torch.Tensor:
        """Takes the place of compare.close_in_chunks, and notes the ratio."""
        tolerance = absolute + relative * expected.double().abs()
        ratios = (got.double() - expected.double()).abs() / tolerance
        finite = ratios[torch.isfinite(ratios)]
        if finite.numel():
            current[expected.dtype].append(float(finite.max()))
        return close(got, expected, absolute, relative)

    close, compare.close_in_chunks = compare.close_in_chunks, observed
    for seed in SEEDS:
        for _ in grading.results(exercise, submissions, fork_server, Settings(seed=seed, diagnose=False)):
            measured.append(dict(current))  # the ratios of one submission
            current.clear()
    compare.close_in_chunks = close
    return measured


if __name__ == "__main__":
    main(sys.argv[1:])
