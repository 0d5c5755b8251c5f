"""Measures a class: 200 students × 13 exercises, one job and two, the memory of 20,000 submissions, and nbgrader.

    python tests/bench/bench_classroom.py [speed] [jobs] [nbgrader] [memory] [hostile] [proof]

The default is the first three. "speed" prints the time of the class and of the processors, of fewer
students with STUDENTS=40 in the environment.
"memory" ends with "hostile": the memory of a process for a class of files whose answers are as large as allowed.
"proof" measures nothing: 100 honest students get the same verdicts with 60 hostile hand-ins among them, though the
grader is killed 20 times.

Every figure is a time or a ratio measured in this one run, on made-up submissions: right, each wrong version,
crashing, hanging (in a loop or asleep as they load, or in a function), stubs. In the class "names" each file has its
student's name on top and nothing else of its own; in "constants" each ends in a constant of its own, which nothing
reads; in "code" each has a line of its own in its first function, so that no two run the same code: the hardest class
there is.
"""

import ast
import contextlib
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))


from grader import catalog
from grader.catalog import mistakes, paths
from grader.worker import wire
from grader.worker.lockdown import kernel

STUDENTS = int(os.environ.get("STUDENTS", 200))
NOTEBOOKS = 300  # of a course of nbgrader
HOSTILE = 24  # files whose answers are as large as allowed
PROOF, PROVED = (100, 60, 20), ("02", "03", "07")  # students, hostile hand-ins and kills; exercises
SETTLED_S = 0.5  # after which orphaned processes have ended
STARTED_S = 4.0  # after which a grader that was started has begun to grade
FEW = 80  # students of the class that one job grades, then two
SEED = 7


def with_a_line(source: str, number: int) -> str:
    """The source with a line of its own at the start of its first function."""
    function = next(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    first = function.body[0]
    lines = source.split("\n")
    lines.insert(first.lineno - 1, " " * first.col_offset + f"student = {number}")
    return "\n".join(lines)


OWN = {
    "names": lambda source, number: f"# Student {number}\n{source}",
    "constants": lambda source, number: f"{source}\nSTUDENT = {number}\n",
    "code": with_a_line,
}


def main(measurements: list[str]) -> None:
    """Take the named measurements and print them."""
    kernel.adopt_orphans()  # so that their processor time is counted
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        core = [exercise for exercise in catalog.exercises() if exercise.path.name == "to GPT-2's attention"]
        if "speed" in measurements:
            for own in OWN:
                count = made_up(root / own, core, STUDENTS, own)
                before = children_s()
                seconds = timed(root / own, root / f"out-{own}", os.cpu_count())
                what = f"{STUDENTS} students × {len(core)} exercises, {count} files, class “{own}”"
                print(f"{what}: {seconds:.1f} s on {os.cpu_count()} cores", flush=True)
                print(f"  {1000 * (children_s() - before) / count:.0f} ms of processor time a file", flush=True)
        if "jobs" in measurements:
            made_up(root / "few", core, FEW)
            spent = {1: 0.0, 2: 0.0}
            for turn in range(2):  # alternately, since machines are noisy
                for jobs in spent:
                    spent[jobs] += timed(root / "few", root / f"out{jobs}{turn}", jobs, started=False)
            print(f"two jobs: {spent[1] / spent[2]:.2f} times the speed of one ({spent[1]:.1f} s, {spent[2]:.1f} s)")
        if "nbgrader" in measurements:
            arguments = [str(Path(__file__).with_name("bench_nbgrader.py")), str(NOTEBOOKS)]
            subprocess.run([sys.executable, *arguments], check=True)
        if "memory" in measurements:
            for students in (20, 2000):
                made_up(root / f"m{students}", [catalog.find("03")], students * 10)
                timed(root / f"m{students}", root / f"mo{students}", os.cpu_count())
                peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
                print(f"{students * 10} submissions: the largest process took {peak:.0f} MB")
        if "memory" in measurements or "hostile" in measurements:
            hostile(root / "hostile")
            with Peaks() as peaks:
                timed(root / "hostile", root / "out-hostile", os.cpu_count())
            largest = max(peaks.largest.values()) / 1024
            print(f"{HOSTILE} files that answer as much as they may: the largest grading process took {largest:.0f} MB")
            assert largest < 1000, "a grading process takes more than 1 GB"
        if "proof" in measurements:
            proof(root / "proof")


def made_up(root: Path, exercises: Sequence[catalog.Exercise], students: int, own: str = "code") -> int:
    """Make the folder of a class. own: what each file has of its own, one of OWN. Returns the number of files."""
    rng, count = random.Random(SEED), 0
    for number in range(students):
        for exercise in exercises:
            draw, source = rng.random(), paths.solution(exercise.folder).read_text("utf-8")
            if 0.60 <= draw < 0.90:
                source = rng.choice(mistakes.mistakes(exercise.folder)).source
            elif 0.90 <= draw < 0.96:
                source = paths.stub(exercise.folder).read_text("utf-8")
            elif 0.96 <= draw < 0.995:
                source += "\nimport os\nos._exit(1)\n"
            elif 0.995 <= draw < 0.9975:
                source += "\nwhile True:\n    pass\n"
            elif 0.9975 <= draw < 0.9985:
                source += "\nimport time\ntime.sleep(1e6)\n"
            elif draw >= 0.9985:  # in the first function
                source = re.sub(r"^( +)return .*$", r"\1while True:\n\1    pass", source, count=1, flags=re.M)
            path = root / f"student{number:05d}" / exercise.folder / f"{exercise.slug}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(OWN[own](source, number), "utf-8")
            count += 1
    return count


def hostile(root: Path) -> None:
    """Make files whose answers are as large as allowed: large tensors, half precision, many small parts, words."""
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
        path = root / f"student{number:05d}" / exercise.folder / f"{exercise.slug}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source.replace("CHANGE", f"({change})"), "utf-8")


def proof(root: Path) -> None:
    """Grade the class of tests/hostile/test_proof.py in full size, in every layout. Kill the grader in the first."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import hostile_class

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


def timed(
    submissions: Path,
    out: Path,
    jobs: int,
    started: bool = True,
) -> float:
    """Seconds of the whole command. started: the start of the processes counts, else the gradings alone."""
    arguments = ["grade", str(submissions), "--out", str(out), "--jobs", str(jobs), "--seed", str(SEED)]
    began = time.perf_counter()
    command = [sys.executable, "-m", "grader", *arguments]
    process = subprocess.run(command, cwd=paths.ROOT, stderr=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - began
    if process.returncode:
        sys.exit(process.stderr)
    rate = next(line for line in reversed(process.stderr.splitlines()) if "a second)" in line)
    print(f"  {rate}", flush=True)
    return seconds if started else float(re.search(r"in ([\d.]+) s", rate)[1])


if __name__ == "__main__":
    main(sys.argv[1:] or ["speed", "jobs", "nbgrader"])
