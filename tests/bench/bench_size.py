"""Measures a very large class: 20,000 made-up hand-ins of one exercise, or STUDENTS=2000, graded once.

    STUDENTS=20000 JOBS=2 python tests/bench/bench_size.py [local] [dask]

"local" grades with JOBS processes of this machine, "dask" with two workers of a Dask cluster on this machine, and as
many hand-ins as DASK_STUDENTS says. What is printed: seconds by stage, the memory of the process that was started
(the grading processes are others), the sizes of what it wrote, and how long Chromium takes to open class.html.
The sizes of pages are asserted: a first page of at most 2 MB.

Every hand-in has lines of its own, of a pool that all draw from, as students do who write the same in many ways. So
all are graded, and nearly every two share some fingerprints, the hardest case for the search for similar pairs. One in
fifty is another one's with new names, one in a hundred has a name that nobody can place.
"""

import ast
import contextlib
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from grader import catalog
from grader.catalog import mistakes, paths

STUDENTS = int(os.environ.get("STUDENTS", 20_000))
DASK_STUDENTS = int(os.environ.get("DASK_STUDENTS", 2_000))
JOBS, WORKERS = int(os.environ.get("JOBS", 2)), 2
EXERCISE, SEED = "03", 7
MOST_PAGE = 2 << 20  # bytes of class.html
COPIED, JUNK, UNTOUCHED, CRASHING, WRONG = 0.02, 0.03, 0.06, 0.08, 0.60  # cumulated shares; the rest is right
LINES = (
    "size = {x}.shape[-1]", "count = len({x})", "whole = {x}.sum().item()", "{x} = {x} + 0", "total = 0.0",
    "rows = list(range({n}))", "name = 'step {n}'", "half = {n} / 2",
    "{x} = {x} * 1", "squares = [i * i for i in range({n})]", "pairs = dict(zip(range({n}), range({n})))",
    "if {n} > 20: total = {n}", "device = {x}.device", "kind = {x}.dtype", "{x} = {x}.clone()",
    "for step in range({n}): pass", "seen = set(range({n}))", "flag = not {n}",
    "words = 'a b c'.split()", "text = f'{n}'", "low, high = 0, {n}", "longest = max({n}, 3)", "best = min({n}, 5)",
    "shape = tuple({x}.shape)", "mean = sum(range({n})) / {n}", "lookup = dict(a={n})", "{x} = {x}.to({x}.dtype)",
    "while False: pass", "empty = [[] for _ in range({n})]", "number = int('{n}')", "double = (lambda v: 2 * v)({n})",
)  # fmt: skip


def main(measurements: list[str]) -> None:
    """Take the named measurements, or both, and print them."""
    measurements = measurements or ["local", "dask"]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        root = Path(folder)
        if "local" in measurements:
            measure(root / "local", STUDENTS, "--jobs", str(JOBS))
        if "dask" in measurements:
            with cluster() as address:
                measure(root / "dask", DASK_STUDENTS, "--dask", address)


def measure(root: Path, students: int, *options: str) -> None:
    """Make a class, grade it, and print what that took."""
    began = time.perf_counter()
    make_class(root / "class", students)
    print(f"{students:,} hand-ins made in {time.perf_counter() - began:.0f} s; {' '.join(options)}", flush=True)
    for again in (False, True):
        seconds, peak_mb, lines = grade(root / "class", root / "out", *options)
        what = "the same command again" if again else "the whole command"
        print(f"{what}: {seconds:.0f} s, of which the process that was started took {peak_mb:.0f} MB at most")
        print(
            "".join(f"  {line}\n" for line in lines if re.search(r"a second\)|found|listed|nothing to do", line)),
            end="",
        )
    for name, size in sizes(root / "out").items():
        print(f"  {name}: {size / 1e6:,.2f} MB", flush=True)
    assert (root / "out" / "class.html").stat().st_size <= MOST_PAGE, "the first page is larger than 2 MB"
    print(f"  class.html in Chromium: {opened(root / 'out' / 'class.html')}", flush=True)


def make_class(root: Path, students: int) -> None:
    """Make the folder of a class."""
    exercise = catalog.find(EXERCISE)
    known = mistakes.mistakes(exercise.folder)
    right = [
        path.read_text("utf-8") for path in sorted((paths.solution(exercise.folder).parent / "right").glob("*.py"))
    ]
    right.append(paths.solution(exercise.folder).read_text("utf-8"))
    stub = paths.stub(exercise.folder).read_text("utf-8")
    dice, earlier = random.Random(SEED), []
    for number in range(students):
        draw, name = dice.random(), f"{exercise.slug}.py"
        if draw < COPIED and earlier:
            source = renamed(dice.choice(earlier), dice)
        elif draw < JUNK:
            source, name = b"%PDF-1.7", dice.choice(("homework.pdf", "my work.docx", f"{exercise.slug}.py.pdf"))
        elif draw < UNTOUCHED:
            source = f"# {number}\n{stub}"
        elif draw < CRASHING:
            source = own_lines(dice.choice(right), dice) + f"\nraise ValueError('{dice.randrange(10**6)}')\n"
        else:
            source = own_lines(dice.choice(known).source if draw < WRONG else dice.choice(right), dice)
            earlier = [*earlier[-500:], source]
        path = root / f"student{number:05d}" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(source if isinstance(source, bytes) else source.encode())


def own_lines(source: str, dice: random.Random) -> str:
    """The source with some lines at the start of each function that change nothing."""
    lines = source.split("\n")
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.args.args]
    for function in sorted(functions, key=lambda node: -node.lineno):
        first = function.body[1] if ast.get_docstring(function) and len(function.body) > 1 else function.body[0]
        indent, argument = " " * first.col_offset, function.args.args[0].arg
        chosen = dice.sample(LINES, dice.randint(1, 6))
        added = [indent + line.replace("{x}", argument).replace("{n}", str(dice.randint(2, 99))) for line in chosen]
        lines[first.lineno - 1 : first.lineno - 1] = added
    return "\n".join(lines)


def renamed(source: str, dice: random.Random) -> str:
    """The same code with other names of its variables."""
    for name in ("scores", "weights", "total", "size", "rows"):
        source = re.sub(rf"\b{name}\b(?!=)", f"{name}_{dice.randrange(100)}", source)
    return f"# my own work {dice.randrange(10**6)}\n{source}"


def grade(submissions: Path, out: Path, *options: str) -> tuple[float, float, list[str]]:
    """Run the command. Returns its seconds, the memory in MB of its process alone, and what it said."""
    words = [
        sys.executable,
        "-m",
        "grader",
        "grade",
        str(submissions),
        "--out",
        str(out),
        "--seed",
        str(SEED),
        *options,
    ]
    began, peak_kb = time.perf_counter(), 0
    with tempfile.TemporaryFile("w+") as stderr:
        with subprocess.Popen(words, cwd=paths.ROOT, stderr=stderr, stdout=subprocess.DEVNULL) as process:
            while process.poll() is None:
                time.sleep(0.2)
                with contextlib.suppress(OSError):
                    status = Path(f"/proc/{process.pid}/status").read_text()
                    found = re.search(r"VmHWM:\s+(\d+)", status)  # a process that has just ended has none
                    peak_kb = max(peak_kb, int(found[1]) if found else 0)
        stderr.seek(0)
        said = stderr.read()
    assert process.returncode == 3, said[-2000:]  # the junk waits for a person
    return time.perf_counter() - began, peak_kb / 1024, said.splitlines()


def sizes(out: Path) -> dict[str, int]:
    """The bytes of what a run wrote, by name; the students' folders as one."""
    found = {"students' folders": 0}
    for path in sorted(out.iterdir()):
        size = (
            sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
            if path.is_dir()
            else path.stat().st_size
        )
        if path.name.startswith("student") and path.is_dir():
            found["students' folders"] += size
        else:
            found[path.name] = size
    return found


def opened(page: Path) -> str:
    """How long Chromium takes to load a page, and until the table has all students."""
    from browser import browser

    with browser() as chromium:
        tab = chromium.new_page()
        began = time.perf_counter()
        tab.goto(page.as_uri())
        loaded = time.perf_counter() - began
        tab.wait_for_function("!document.getElementById('count').textContent.includes('loading')", timeout=60_000)
        whole = time.perf_counter() - began
        began = time.perf_counter()
        tab.click("[data-sort=total]")
        tab.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        return (
            f"{loaded:.2f} s, with all students {whole:.2f} s, sorted in {time.perf_counter() - began:.2f} s; "
            f"{tab.text_content('#count')}"
        )


@contextlib.contextmanager
def cluster() -> Iterator[str]:
    """A Dask cluster with two workers, each a process of its own. Gives its address."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as running:
        yield running.scheduler_address


if __name__ == "__main__":
    main(sys.argv[1:])
