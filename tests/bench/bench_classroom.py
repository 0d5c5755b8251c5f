"""Measures a class of made-up hand-ins: right, wrong, crashing, hanging and not begun.

    python tests/bench/bench_classroom.py [speed | hostile | proof] …     speed

"speed" prints the time of 200 students × 13 exercises, and the processors' time a file. No two files run the same code.
"hostile" prints the memory of a process that grades files whose answers are as large as allowed.
"proof" measures nothing: 100 honest students get the same verdicts with 60 hostile hand-ins among them, though the
grader is killed 20 times.
"""

import ast
import contextlib
import os
import random
import re
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

import hostile_class

from grader import catalog
from grader.catalog import mistakes, paths
from grader.worker import wire
from grader.worker.lockdown import kernel

STUDENTS = 200
HOSTILE = 24  # files whose answers are as large as allowed
PROOF, PROVED = (100, 60, 20), ("02", "03", "07")  # students, hostile hand-ins and kills; exercises
SETTLED_S = 0.5  # after which orphaned processes have ended
STARTED_S = 4.0  # after which a grader that was started has begun to grade
SEED = 7


def main(measurements: list[str]) -> None:
    kernel.adopt_orphans()  # so that their processor time is counted
    with tempfile.TemporaryDirectory() as folder:
        for name in measurements:
            MEASUREMENTS[name](Path(folder) / name)


def speed(root: Path) -> None:
    core = [exercise for exercise in catalog.exercises() if exercise.path.name == "to GPT-2's attention"]
    count = make_class(root / "class", core)
    before, began = children_s(), time.perf_counter()
    grade(root)
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
            hostile_class.written(place(root, number, exercise), "\n".join(lines))
            count += 1
    return count


def place(root: Path, number: int, exercise: catalog.Exercise) -> Path:
    """The file of a student."""
    return root / f"student{number:05d}" / exercise.folder / f"{exercise.slug}.py"


def grade(root: Path) -> None:
    words = hostile_class.grading(root / "class", root / "out", "--jobs", os.cpu_count())
    if (done := hostile_class.by_a_process(*words)).returncode:
        sys.exit(done.stderr)


def hostile(root: Path) -> None:
    """Print the memory for answers that are as large as allowed: large tensors, many small parts, words."""
    answers = (
        "torch.rand(MOST // 4)", "torch.rand(MOST // 8).double()", "torch.rand(MOST // 4).bfloat16()",
        "torch.zeros(MOST, dtype=torch.int8)", "[torch.rand(MOST // 4096) for _ in range(1000)]", "['x' * 9000] * 100",
        "[[]] * 19_000", "[1.5 + i for i in range(19_000)]", "{str(i): float(i) for i in range(9_000)}",
        "torch.zeros(1).expand(MOST // 4)", "torch.rand(MOST // 64).expand(4, MOST // 64).clone()",
    )  # fmt: skip
    for number in range(HOSTILE):
        exercise = catalog.find(("02", "03", "06", "07")[number % 4])
        most = wire.MAX_PAYLOAD // (1, 2, 8, 20)[number // 4 % 4] - number * 4096  # no two are alike
        change = f"lambda *_, **__: {answers[number % len(answers)]}".replace("MOST", str(most))
        source = paths.solution(exercise.folder).read_text("utf-8")
        source = f"import torch\n{source}\nfor _name, _it in list(globals().items()):\n"
        source += "    if isinstance(_it, type) and hasattr(_it, 'forward'):\n        _it.forward = CHANGE\n"
        source += "    elif hasattr(_it, '__code__'):\n        globals()[_name] = CHANGE\n"
        hostile_class.written(place(root / "class", number, exercise), source.replace("CHANGE", f"({change})"))
    with Peaks() as peaks:
        grade(root)
    largest = max(peaks.largest.values()) / 1024
    print(f"{HOSTILE} files that answer as much as they may: the largest grading process took {largest:.0f} MB")
    assert largest < 1000, "a grading process takes more than 1 GB"


def proof(root: Path) -> None:
    """Grade the class of tests/hostile/test_hostile.py in full size, in every layout. Kill the grader in the first."""
    for layout in hostile_class.LAYOUTS:
        sizes, folder = {"students": PROOF[0], "layout": layout, "exercises": PROVED}, root / layout
        alone = hostile_class.lay(folder / "alone", strangers=0, **sizes)
        began = time.perf_counter()
        expected = hostile_class.grade(alone, folder / "expected")
        seconds = time.perf_counter() - began
        among = hostile_class.lay(folder / "among", strangers=PROOF[1], **sizes)
        kills = PROOF[2] if layout == "mixed" else 0
        longest = STARTED_S + 2 * seconds / PROOF[2]  # so that there is work left for the last of them
        landed = hostile_class.killed(among, folder / "out", kills, longest)
        got = hostile_class.grade(among, folder / "out")
        differing = hostile_class.differing(expected, got)
        what = (
            f"{PROOF[0]} honest students and {PROOF[1]} hostile hand-ins, “{layout}”, killed {landed} times of {kills}"
        )
        print(f"{what}: {len(expected)} honest verdicts of {len(got)}, {len(differing)} not as they were", flush=True)
        assert not differing, differing[:3]


class Peaks:
    """Watches the processes of the grader. largest: the largest memory in kB of each, by its id."""

    def __enter__(self) -> "Peaks":
        self.largest: dict[int, int] = {}
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._look)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()

    def _look(self) -> None:
        while not self.over.wait(0.1):
            for path in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError, ValueError):
                    words = (path / "cmdline").read_bytes().split(b"\0")
                    if any(b"pool.work(" in word for word in words) or (b"grader" in words and b"grade" in words):
                        peak = re.search(r"VmHWM:\s+(\d+)", (path / "status").read_text())
                        self.largest[int(path.name)] = int(peak[1])


def children_s() -> float:
    """The processor time of all processes that this one started, and of theirs, that have ended."""
    time.sleep(SETTLED_S)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:  # what was orphaned, as bubblewrap's own process is
            pass
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


MEASUREMENTS = {"speed": speed, "hostile": hostile, "proof": proof}

if __name__ == "__main__":
    main(sys.argv[1:] or ["speed"])
