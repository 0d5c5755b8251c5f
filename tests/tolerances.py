"""Why the tolerances are what they are: measured on every right style and every wrong version.

`python tests/tolerances.py` prints the table of docs/tolerances.md. 1.0 is the tolerance itself.
"""

import math
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
            measure(exercise, [paths.solution(exercise.folder), *styles], nursery, honest)
            measure(exercise, paths.wrong_versions(exercise.folder), nursery, wrong)
    print("| dtype | absolute and relative | most that a right answer uses | least by which a wrong one exceeds it |")
    print("|---|---|---:|---:|")
    for dtype, (absolute, _) in compare.TOLERANCE.items():
        name = str(dtype).removeprefix("torch.")
        least = min((value for value in wrong[dtype] if value > 1), default=math.nan)
        print(f"| {name} | {absolute:g} | {max(honest[dtype], default=0):.3g} | {least:.3g} |")


def measure(exercise, files, nursery, found: dict) -> None:
    """Collect the largest difference ÷ tolerance of every comparison of float tensors."""

    def observe(dtype: torch.dtype, ratios: torch.Tensor) -> None:
        finite = ratios[torch.isfinite(ratios)]
        if finite.numel():
            found[dtype].append(float(finite.max()))

    compare.observer = observe
    for path in files:
        for seed in SEEDS:
            settings = runner.Settings(seed=seed, diagnose=False)
            runner.grade(exercise, submission.read(path), nursery, settings)
    compare.observer = None


if __name__ == "__main__":
    main()
