"""Measures a class of made-up hand-ins, right, wrong, crashing, hanging and not begun: `make bench WHAT=classroom`.

Prints the time of 200 students × 13 exercises, and the processors' time a file. No two files run the same code.
"""

import ast
import contextlib
import os
import random
import re
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

import hostile_class

from grader import catalog
from grader.catalog import mistakes, paths
from grader.worker.lockdown import kernel

STUDENTS = 200
SETTLED_S = 0.5  # after which orphaned processes have ended
SEED = 7


def main() -> None:
    kernel.adopt_orphans()  # so that their processor time is counted
    core = [exercise for exercise in catalog.exercises() if exercise.path.name == "to GPT-2's attention"]
    with tempfile.TemporaryDirectory() as folder:
        count = make_class(Path(folder) / "class", core)
        before, began = children_s(), time.perf_counter()
        grade(Path(folder))
        seconds, processors = time.perf_counter() - began, children_s() - before
    print(f"{STUDENTS} students × {len(core)} exercises, {count} files: {seconds:.1f} s on {os.cpu_count()} cores")
    print(f"  {1000 * processors / count:.0f} ms of processor time a file")


def make_class(root: Path, exercises: Sequence[catalog.Exercise]) -> int:
    """Make the folder of a class. Returns the number of files."""
    rng, count = random.Random(SEED), 0
    for number in range(STUDENTS):
        for exercise in exercises:
            draw, source = rng.random(), paths.solution(exercise.folder).read_text("utf-8")
            if 0.60 <= draw < 0.90:
                source = rng.choice(mistakes.mistakes(exercise.folder)).source
            elif 0.90 <= draw < 0.96:
                source = paths.stub(exercise.folder).read_text("utf-8")
            elif 0.96 <= draw < 0.995:
                source += "\nimport os\nos._exit(1)\n"
            elif 0.995 <= draw < 0.9985:
                source += "\nwhile True:\n    pass\n"
            elif draw >= 0.9985:  # in the first function
                source = re.sub(r"^( +)return .*$", r"\1while True:\n\1    pass", source, count=1, flags=re.M)
            function = next(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
            lines = source.split("\n")
            lines.insert(function.body[0].lineno - 1, " " * function.body[0].col_offset + f"student = {number}")
            place = root / f"student{number:05d}" / exercise.folder / f"{exercise.slug}.py"
            hostile_class.written(place, "\n".join(lines))
            count += 1
    return count


def grade(root: Path) -> None:
    words = hostile_class.grading(root / "class", root / "out", "--jobs", os.cpu_count())
    if (done := hostile_class.by_a_process(*words)).returncode:
        sys.exit(done.stderr)


def children_s() -> float:
    """The processor time of all processes that this one started, and of theirs, that have ended."""
    time.sleep(SETTLED_S)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:  # what was orphaned, as bubblewrap's own process is
            pass
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
