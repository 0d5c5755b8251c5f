"""What a class costs: 200 students × 13 exercises, twice the jobs, 20,000 submissions' memory, nbgrader beside it.

    python tests/bench_classroom.py [speed] [jobs] [nbgrader] [memory]        default: the first three

Every figure is a time or a ratio measured in this one run, on made-up submissions: right, each wrong version,
crashing, hanging (in a loop or asleep as they load, or in a function), stubs. In the class "names" each file has its
student's name on top and nothing else of its own; in "code" each has a line of code of its own, so that no two are
alike: the hardest class there is.
"""

import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from grader import catalog, paths

STUDENTS = 200
NOTEBOOKS, STOCK = 300, 5  # for us, and of these for nbgrader's own autograde
FEW = 80  # students of the class that one job grades, then two
SEED = 7


def main(wanted: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        core = [exercise for exercise in catalog.exercises() if exercise.track == "core"]
        if "speed" in wanted:
            for own in ("names", "code"):
                count = made_up(root / own, core, STUDENTS, own)
                seconds = timed(root / own, root / f"out-{own}", os.cpu_count())
                what = f"{STUDENTS} students × {len(core)} exercises, {count} files, class “{own}”"
                print(f"{what}: {seconds:.1f} s on {os.cpu_count()} cores", flush=True)
        if "jobs" in wanted:
            made_up(root / "few", core, FEW)
            spent = {1: 0.0, 2: 0.0}
            for turn in range(2):  # in turns: machines are noisy
                for jobs in spent:
                    spent[jobs] += timed(root / "few", root / f"out{jobs}{turn}", jobs, started=False)
            print(f"two jobs: {spent[1] / spent[2]:.2f} times the speed of one ({spent[1]:.1f} s, {spent[2]:.1f} s)")
        if "nbgrader" in wanted:
            words = [str(Path(__file__).with_name("bench_nbgrader.py")), str(NOTEBOOKS), str(STOCK)]
            subprocess.run([sys.executable, *words], check=True)
        if "memory" in wanted:
            for students in (20, 2000):
                made_up(root / f"m{students}", [catalog.find("03")], students * 10)
                timed(root / f"m{students}", root / f"mo{students}", os.cpu_count())
                peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
                print(f"{students * 10} submissions: the largest process took {peak:.0f} MB")


def made_up(root: Path, exercises, students: int, own: str = "code") -> int:
    """A class's folder. Gives the number of files."""
    rng, count = random.Random(SEED), 0
    for number in range(students):
        for exercise in exercises:
            draw, source = rng.random(), paths.solution(exercise.folder).read_text("utf-8")
            if 0.60 <= draw < 0.90:
                source = rng.choice(paths.wrong_versions(exercise.folder)).read_text("utf-8")
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
            more = f"# Student {number}\n{source}" if own == "names" else f"{source}\nSTUDENT = {number}\n"
            path.write_text(more, "utf-8")
            count += 1
    return count


def timed(submissions: Path, out: Path, jobs: int, started: bool = True) -> float:
    """Seconds of the whole command, from its start to its last file; of the gradings alone without `started`."""
    words = ["grade", str(submissions), "--out", str(out), "--jobs", str(jobs), "--seed", str(SEED)]
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "grader", *words], cwd=paths.ROOT, stderr=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - began
    if done.returncode:
        sys.exit(done.stderr)
    told = next(line for line in reversed(done.stderr.splitlines()) if "a second)" in line)
    print(f"  {told}", flush=True)
    return seconds if started else float(re.search(r"in ([\d.]+) s", told)[1])


if __name__ == "__main__":
    main(sys.argv[1:] or ["speed", "jobs", "nbgrader"])
