"""Measures the promised speeds, each as a ratio within one run, for `make bench`. No test depends on it."""

# ruff: noqa: E402  (a script: it finds its modules itself)
import importlib.util
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import bench_figures
import pytest
from at_terminal import WATCH, AtTerminal, checkout

from grader import catalog
from grader.catalog import Exercise, mistakes, paths
from grader.judge import collection, grading
from grader.records import submission
from grader.records.results import CheckResult, Settings
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.mounts import Tier
from grader.warm import control

ROUNDS = 9
GRADINGS = 40
PICTURES = 6
SAVES = 24
WATCHED = ("03", "13")
MOST_S, MOST_MEASURED_S = 0.5, 3.0  # without the checks that measure memory or compile kernels, and with them
WRONG_FILES = (("07", "** 0.5", "** 0.37 + 0.11"), ("13", "keys.shape[-1] ** 0.5", "keys.shape[-1] ** 0.37 + 0.11"))
COMMAND = """
import functools, sys
from grader.cli import main
from grader.records import results
if sys.argv[1] == "without":
    results.Settings = functools.partial(results.Settings, diagnose=False)
sys.exit(main(sys.argv[2:]))
"""
TORCH = [sys.executable, "-c", "import torch"]
CHECK = [sys.executable, "-m", "grader", "check", "03", "--seed", "7"]
CHECK += ["--submission", str(ROOT / "solutions/03_context_vectors/context_vectors.py")]


def seconds(command: list[str], **options: Any) -> float:
    """How long a command takes. options: of subprocess.run."""
    began = time.perf_counter()
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True, **options)
    return time.perf_counter() - began


def main() -> None:
    if importlib.util.find_spec("watchfiles") is None:
        sys.exit("The watch is measured with watchfiles, which is not installed: pip install '.[dev]', or make bench")
    os.environ["WARM"] = "0"  # a command that finds a warm process would not be measured
    start()
    warm()
    sandbox()
    diagnosis()
    right_files()
    watch()
    try:
        bench_figures.main()
    except pytest.skip.Exception as missing:  # no browser, or no playwright
        print(f"The figures are not measured: {missing}")


def start() -> None:
    """`make check EX=03` from nothing, against `import torch` alone."""
    for command in (TORCH, CHECK):
        seconds(command)  # warm the disk
    pairs = [(seconds(TORCH), seconds(CHECK)) for _ in range(ROUNDS)]  # alternately, since machines are noisy
    alone = statistics.median(first for first, _ in pairs)
    check = statistics.median(second for _, second in pairs)
    ratio = statistics.median(second / first for first, second in pairs)
    print(f"check of exercise 03: {check:.2f} s; import torch alone: {alone:.2f} s")
    print(f"ratio {ratio:.2f} (at most 1.35 is promised)")


def warm() -> None:
    """The same command where a warm process is there, as make and as kata; and the memory that is held for it."""
    without = ("CI", "GRADER_DEBUG", "WARM", "PYTEST_VERSION", "PYTEST_CURRENT_TEST")
    own = {name: value for name, value in os.environ.items() if name not in without}
    del os.environ["WARM"]
    end_warm()
    first = seconds(CHECK, env=own)
    while (found := control.status()) is None:
        time.sleep(0.1)
    make = ["make", "-s", "check", "EX=03", "SEED=7", f"SUBMISSION={CHECK[-1]}", f"PYTHON={sys.executable}"]
    seconds(make, env=own)
    rows = [[seconds(one, env=own) for one in (TORCH, CHECK, make)] for _ in range(ROUNDS)]  # in turns, as above
    alone, check, by_make = (statistics.median(times) for times in zip(*rows, strict=True))
    ratio = statistics.median(row[1] / row[0] for row in rows)
    print(f"first check of exercise 03: {first:.2f} s; then, warm: {check * 1e3:.0f} ms, make {by_make * 1e3:.0f} ms")
    print(f"ratio {ratio:.3f} to import torch alone, {alone:.2f} s (at most 0.2 is promised, and 250 ms)")
    beside = statistics.median(beside_the_verdict(own) for _ in range(ROUNDS))
    print(f"warm check besides its verdict: {beside * 1e3:.0f} ms (at most 80 ms is promised)")
    print(f"held while idle, beside the files that are mapped: {held(found[0])} MB (at most 400 MB)")
    end_warm()
    os.environ["WARM"] = "0"


def end_warm() -> None:
    if (running := control.status()) is not None:
        os.kill(running[0], signal.SIGTERM)


def held(pid: int) -> int:
    """The megabytes that a process and all that it has started hold beside the files that they map."""
    pages = list(map(int, Path(f"/proc/{pid}/statm").read_text().split()))
    below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return ((pages[1] - pages[2]) * os.sysconf("SC_PAGESIZE") >> 20) + sum(held(int(child)) for child in below)


def beside_the_verdict(environment: dict[str, str]) -> float:
    """The seconds of a check that the judging does not take."""
    began = time.perf_counter()
    command = [*CHECK, "--format", "json"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return time.perf_counter() - began - json.loads(done.stdout)["duration_s"]


def sandbox() -> None:
    """One verdict on exercise 02 in a grader that has started: in the strongest sandbox here, and without one."""
    exercise = catalog.find("02")
    solution = submission.read(paths.solution(exercise.folder))
    with ForkServer() as sandboxed, ForkServer(tier=Tier("D")) as unprotected:
        times: dict[ForkServer, list[float]] = {sandboxed: [], unprotected: []}

        def grade(fork_server: ForkServer) -> None:
            """Grade in one session, so that pytest's start does not count."""
            began = time.perf_counter()
            for _ in grading.results(exercise, [solution] * (GRADINGS // 4), fork_server, Settings(seed=1)):
                times[fork_server].append(time.perf_counter() - began)  # since the verdict before
                began = time.perf_counter()

        for _ in range(4):  # alternately, since machines are noisy
            for fork_server in times:
                grade(fork_server)
        protected, bare_s = (statistics.median(measured) for measured in times.values())
        name = sandboxed.tier.name
        print(f"one verdict on exercise 02: {protected * 1e3:.0f} ms in tier {name}, {bare_s * 1e3:.0f} ms bare")
        print(f"ratio {protected / bare_s:.2f} (at most 1.3 is promised)")


def diagnosis() -> None:
    """The command on a wrong file with and without diagnosis: a known mistake, and one that nothing explains."""
    for number, old, new in WRONG_FILES:
        exercise = catalog.find(number)
        solution = paths.solution(exercise.folder).read_text("utf-8")
        assert old in solution, f"the solution of exercise {number} is another one now"
        known, unknown = mistakes.mistakes(exercise.folder)[0].source, solution.replace(old, new)
        for what, source in (("known", known), ("unknown", unknown)):
            print(f"wrong file of exercise {number}, {what} mistake:", end=" ")
            whole_command(number, source)


def whole_command(number: str, source: str) -> None:
    """`check` of a wrong file from nothing, with and without diagnosis, in turns."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "submission.py"
        file.write_text(source, "utf-8")
        options = ["check", number, "--submission", str(file), "--where", "0", "--format", "json", "--seed", "1"]

        def taken(diagnosed: str) -> float:
            began = time.perf_counter()
            command = [sys.executable, "-c", COMMAND, diagnosed, *options]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            assert done.returncode == 1, done.stderr
            found = any(check["diagnosis"] for check in json.loads(done.stdout)["checks"])
            assert diagnosed == "with" or not found
            return time.perf_counter() - began

        taken("with")  # warm the disk
        pairs = [(taken("without"), taken("with")) for _ in range(ROUNDS)]
        ratio = statistics.median(full / plain for plain, full in pairs)
        print(f"ratio {ratio:.2f} (at most 2 is promised)")


def right_files() -> None:
    """The verdict on the right file of each exercise."""
    with ForkServer() as fork_server:
        for exercise in catalog.exercises():
            source = paths.solution(exercise.folder).read_text("utf-8")
            whole, plain = sorted(_time_apart(exercise, source, fork_server) for _ in range(3))[1]
            over = ": too long" if plain > MOST_S or whole > MOST_MEASURED_S else ""
            apart = f", {plain:.2f} s without what measures memory" if plain < whole else ""
            print(f"right file of exercise {exercise.folder[:2]}: {whole:.2f} s{apart}{over}")
    print(f"  (at most {MOST_S:g} s is promised, with what measures memory or compiles kernels {MOST_MEASURED_S:g} s)")


def _time_apart(exercise: Exercise, source: str, fork_server: ForkServer) -> tuple[float, float]:
    """The seconds of one verdict, where the fork server is warm, and those of it without the checks that measure."""
    measured = {check.id for check in collection.collect(exercise) if check.measured}
    began = before = time.perf_counter()
    of_measured = 0.0
    for event in grading.grade(exercise, Submission(source, "submission.py"), fork_server, Settings(seed=1)):
        now = time.perf_counter()
        if isinstance(event, CheckResult) and event.id in measured:
            of_measured += now - before
        before = now
    return before - began, before - began - of_measured


def watch() -> None:
    """From save to verdict on the screen of a real terminal, with a right answer and a wrong one in turns."""
    torch = statistics.median(seconds(TORCH) for _ in range(3))
    for name in WATCHED:
        folder = catalog.find(name).folder
        sources = [paths.solution(folder).read_text("utf-8"), mistakes.mistakes(folder)[0].source]
        times: list[list[float]] = [[], []]
        with tempfile.TemporaryDirectory() as place:
            file = checkout(Path(place)) / "exercises" / folder / f"{paths.slug(folder)}.py"
            desk = AtTerminal([*WATCH, name], Path(place), rows=80)  # a verdict fits, with what the file prints
            desk.shows("Not started")
            for number in range(SAVES + 2):
                text = f"{sources[number % 2]}\nprint('save {number}.')\n"
                time.sleep(0.3)  # nobody saves quicker than that
                began = time.perf_counter()
                file.write_text(text)
                desk.shows(f"│ save {number}.")
                times[number % 2].append(time.perf_counter() - began)
            drawn = pictures(desk, file, sources)
            desk.type("q")
            desk.ends()
            desk.close()
        right, wrong = (measured[1:] for measured in times)  # the first of each fills the caches
        median = statistics.median(right + wrong)
        parts = f"right {statistics.median(right) * 1e3:.0f}, wrong {statistics.median(wrong) * 1e3:.0f}"
        print(f"watch of exercise {name}: {median * 1e3:.0f} ms from save to verdict ({parts}; {SAVES} saves)")
        print(f"ratio {median / torch:.3f} to import torch alone, {torch:.2f} s (150 ms is promised)")
        first, later = drawn[0], statistics.median(drawn[1:])
        print(f"pictures of exercise {name} in the watch: the first {first:.2f} s, each later one {later * 1e3:.0f} ms")
        print(f"ratio {later / torch:.3f} to import torch alone (a second is promised)")


def pictures(desk: AtTerminal, file: Path, sources: Sequence[str]) -> list[float]:
    """Seconds from the key to the picture, of a file that was just changed and so is drawn again."""
    times = []
    for number in range(PICTURES):
        file.write_text(f"{sources[number % 2]}\nprint('drawn {number}.')\n")
        desk.shows(f"│ drawn {number}.")
        time.sleep(1)  # a learner reads the verdict first
        began = time.perf_counter()
        desk.type("g")
        desk.shows("expected", "other keys: back")
        times.append(time.perf_counter() - began)
        desk.type("x")
        desk.shows(f"│ drawn {number}.")
    return times


if __name__ == "__main__":
    main()
