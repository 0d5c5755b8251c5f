"""Why the tolerances are what they are: measured on every right style and every wrong version.

`python tests/tolerances.py` prints the table of docs/tolerances.md. 1.0 is the tolerance itself.
"""

import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch

from grader import catalog, compare, paths, runner, submission
from grader.nursery import Nursery

SEEDS = (1, 2, 3)


def main() -> None:
    honest: dict = defaultdict(list)
    wrong: dict = defaultdict(list)
    with Nursery() as nursery:
        for exercise in catalog.exercises():
            styles = sorted((paths.ROOT / "tests" / "styles" / exercise.folder).glob("*.py"))
            for largest in measure(exercise, [paths.solution(exercise.folder), *styles], nursery):
                for dtype, ratios in largest.items():
                    # above 1: two answers that must differ (two draws of dropout)
                    honest[dtype].append(max((ratio for ratio in ratios if ratio <= 1), default=0.0))
            for largest in measure(exercise, paths.wrong_versions(exercise.folder), nursery):
                for dtype, ratios in largest.items():
                    wrong[dtype] += [max(ratios)] if max(ratios) > 1 else []
    print(
        "| dtype | absolute and relative | most that a right answer uses | least by which a wrong version exceeds it |"
    )
    print("|---|---|---:|---:|")
    for dtype, (absolute, _) in compare.TOLERANCE.items():
        name = str(dtype).removeprefix("torch.")
        least = f"{min(wrong[dtype]):.3g}" if wrong[dtype] else "–"
        print(f"| {name} | {absolute:g} | {max(honest[dtype], default=0):.2g} | {least} |")


def measure(exercise, files, nursery) -> list[dict]:
    """For each file and seed: dtype → the largest difference ÷ tolerance of each comparison."""
    found: list[dict] = []
    current: dict = defaultdict(list)

    def observe(dtype: torch.dtype, ratios: torch.Tensor) -> None:
        finite = ratios[torch.isfinite(ratios)]
        if finite.numel():
            current[dtype].append(float(finite.max()))

    def record(*_) -> None:
        found.append(dict(current))
        current.clear()

    compare.observer = observe
    handed_in = [submission.read(path) for path in files]
    for seed in SEEDS:
        runner.grade_all(exercise, handed_in, nursery, runner.Settings(seed=seed, diagnose=False), record)
    compare.observer = None
    return found


if __name__ == "__main__":
    main()
