"""Compares the grader with stock `nbgrader autograde` on the same submissions, from start to end.

    python tests/bench/bench_nbgrader.py [NOTEBOOKS [STOCK]]     for the grader (100) and for nbgrader (the same number)

Stock means nbgrader's default settings: every notebook is run by a kernel of its own. Where STOCK is smaller than
NOTEBOOKS, nbgrader's time for the other notebooks is estimated from its time per notebook without its start.
"""

# ruff: noqa: E402  (a script: it finds its modules itself)
import os
import re
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
from grader.catalog import paths

WRONG = "return attention_weights(inputs)", "return attention_weights(inputs).T"


def main(notebooks: int, stock_notebooks: int) -> None:
    """Measure and print both times."""
    with tempfile.TemporaryDirectory() as folder:
        ours, stock = Course(Path(folder) / "ours" / "kata"), Course(Path(folder) / "stock" / "kata")
        from grader.integrations.nbgrader import course

        course.make(ours.root, (catalog.find("03"),))
        ours.run("nbgrader", "generate_assignment", FOLDER)
        shutil.copytree(ours.root, stock.root)
        (stock.root / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'kata'\n")
        for number in range(notebooks):
            submit(ours, number)
        started = time.perf_counter()
        command = [sys.executable, "-m", "grader", "grade", "--nbgrader", str(ours.root), "--assignment", FOLDER]
        subprocess.run(command, check=True, env=environment(), cwd=paths.ROOT, stderr=subprocess.DEVNULL)
        fast = time.perf_counter() - started
        print(f"the fast road: {notebooks} notebooks in {fast:.1f} s, {os.cpu_count()} cores", flush=True)
        graded = by_the_classroom(ours, Path(folder) / "results")
        submit(stock, 0)
        first = timed(stock)
        for number in range(1, stock_notebooks):
            submit(stock, number)
        rest = timed(stock) if stock_notebooks > 1 else 0.0
        slow = first + rest * (notebooks - 1) / max(stock_notebooks - 1, 1)
        measured = "" if stock_notebooks == notebooks else f" (measured: {stock_notebooks} in {first + rest:.1f} s)"
        print(f"stock autograde: {notebooks} notebooks in {slow:.1f} s{measured}")
        print(f"ratio: {slow / fast:.1f}")
        if stock_notebooks > 1:
            each = rest / (stock_notebooks - 1)
            print(f"per notebook, starts not counted: stock {each:.2f} s, make grade {graded * 1000:.0f} ms")
            print(f"ratio per notebook: {each / graded:.0f}")
        with ours.gradebook() as book:
            assert len(book.assignment_submissions(FOLDER)) == notebooks
        assert ours.scores("s0")["task_3"] > ours.scores("s1")["task_3"]


def submit(where: Course, number: int) -> None:
    """Hand in a notebook of one student. Every third is wrong."""
    notebook = where.solved()
    if number % 3 == 1:
        code = cell(notebook, "write_context_vectors")
        code.source = code.source.replace(*WRONG)
    code = cell(notebook, "write_context_vector")
    code.source += f"\n\ndef student():\n    return {number}"  # so that no two are alike
    where.submit(f"s{number}", notebook)


def by_the_classroom(where: Course, out: Path) -> float:
    """Seconds for one of the same notebooks where `grade` grades the folder of submissions."""
    command = [sys.executable, "-m", "grader", "grade", str(where.root / "submitted"), "--out", str(out)]
    process = subprocess.run(command, check=True, env=environment(), cwd=paths.ROOT, capture_output=True, text=True)
    count, seconds = re.search(r"^([\d,]+) gradings in ([\d.]+) s", process.stderr, re.M).groups()
    return float(seconds) / int(count.replace(",", ""))


def timed(where: Course) -> float:
    """Seconds of nbgrader's own autograde for all notebooks that wait."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "nbgrader", "autograde", FOLDER]
    subprocess.run(command, cwd=where.root, env=environment(), check=True, capture_output=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    main(count, int(sys.argv[2]) if len(sys.argv) > 2 else count)
