"""Compares two ways to grade the same course of nbgrader with this grader, from start to end.

    python tests/bench/bench_nbgrader.py [NOTEBOOKS]     of as many students; 100

One is nbgrader's own `autograde`, which takes one notebook after the other. For the other, `kata grade` has graded them
all at once, and `autograde` takes the results. The scores must be the same.
"""

# ruff: noqa: E402  (a script: it finds its modules itself)
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "nbgrader"), str(TESTS), str(TESTS.parent)]

from a_course import FOLDER, Course, cell, environment

from grader import catalog

WRONG = "return attention_weights(inputs)", "return attention_weights(inputs).T"
AUTOGRADE = ("nbgrader", "autograde", FOLDER)


def main(notebooks: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one, all_at_once = Course(Path(folder) / "one" / "kata"), Course(Path(folder) / "all" / "kata")
        from grader.integrations.nbgrader import course

        course.make(one.root, (catalog.find("03"),))
        one.nbgrader("generate_assignment", FOLDER)
        for number in range(notebooks):
            submit(one, number)
        shutil.copytree(one.root, all_at_once.root)
        slow = timed(one, AUTOGRADE)
        graded = timed(all_at_once, ("grader", "grade", ".", "--assignment", FOLDER))
        taken = timed(all_at_once, AUTOGRADE)
        print(f"{notebooks} notebooks, {os.cpu_count()} cores, seconds (of the processors)")
        print(f"  nbgrader autograde                 {slow[0]:7.1f} ({slow[1]:.1f})")
        print(f"  kata grade, then autograde         {graded[0] + taken[0]:7.1f} ({graded[1] + taken[1]:.1f})")
        print(f"    of which kata grade              {graded[0]:7.1f} ({graded[1]:.1f})")
        print(f"ratio: {slow[0] / (graded[0] + taken[0]):.1f} ({slow[1] / (graded[1] + taken[1]):.1f})")
        for number in range(notebooks):
            assert one.scores(f"s{number}") == all_at_once.scores(f"s{number}")


def submit(where: Course, number: int) -> None:
    """Hand in a notebook of one student. Every third is wrong."""
    notebook = where.solved()
    if number % 3 == 1:
        code = cell(notebook, "write_context_vectors")
        code.source = code.source.replace(*WRONG)
    code = cell(notebook, "write_context_vector")
    code.source += f"\n\ndef student():\n    return {number}"  # so that no two are alike
    where.submit(f"s{number}", notebook)


def timed(where: Course, command: tuple[str, ...]) -> tuple[float, float]:
    """Seconds of a command in a course, and seconds of the processors."""
    before, started = _spent(), time.perf_counter()
    subprocess.run([sys.executable, "-m", *command], cwd=where.root, env=environment(), check=True, capture_output=True)
    return time.perf_counter() - started, _spent() - before


def _spent() -> float:
    """Seconds of the processors for all processes that were waited for."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
