"""A class on disk with honest and hostile hand-ins in many layouts, which is graded, killed, resumed and compared."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent / room) for room in ("intake", "judge", "classroom", "")]

import bombs  # noqa: E402
import hostile as made_up  # noqa: E402
import test_edge_values as edge  # noqa: E402
from attacks import ATTACKS  # noqa: E402
from test_find import HOSTILE as NAMES  # noqa: E402
from test_find import zipped  # noqa: E402

from grader import catalog  # noqa: E402
from grader.catalog import mistakes, paths  # noqa: E402

SEED = 11
KILLED_S = 3.7  # seconds after its start, when a grader has begun to grade
LINGERING_S = 60.0  # seconds in which the processes of a killed grader must end; they finish their submission
RAW_NAMES = (b"b\xff", b"c\xed\xa0\x80", b"d\x1b[31m\ne", "\u202eyp".encode(), b"=cmd()", b"[red]", b"<b>", b"%s", b"'")
LOOPS = (
    "\nwhile True:\n    pass\n",
    "\nimport time\ntime.sleep(1e6)\n",
    "\ndef deep(n):\n    return deep(n + 1) + [n]\nimport sys\nsys.setrecursionlimit(1 << 30)\ndeep(0)\n",
    "\nimport os\nwhile True:\n    os.fork()\n",
    "\nwhile True:\n    print('x' * 100_000)\n",
    "\nhoard = []\nwhile True:\n    hoard.append(bytearray(1 << 20))\n",
    "\nimport os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nos.kill(0, signal.SIGKILL)\n",
)
IN_CALLS = ("while True: pass", "raise SystemExit(0)", "raise KeyboardInterrupt", "__import__('os')._exit(0)")


# The class


def lay(root: Path, layout: str, exercises: tuple[str, ...], students: int, strangers: int) -> Path:
    """Make a class of honest `students`, with `strangers` hostile hand-ins among them. Returns what is to be graded.

    The honest hand-ins do not depend on the hostile ones.
    """
    folders = [catalog.find(exercise).folder for exercise in exercises]
    inside = root / "class"
    for number in range(students):
        dice = random.Random(f"{SEED} honest {number}")
        files = {folder: honest(folder, number, dice) for folder in folders}
        hand_in(inside, "downloads" if layout == "downloads" else number % 7, number, files)
    makers = list(HOSTILE)
    for number in range(strangers):
        dice = random.Random(f"{SEED} hostile {number}")
        folder = dice.choice(folders)
        where = inside / folder if layout == "downloads" else inside
        HOSTILE[makers[number % len(makers)]](where, f"student{dice.randrange(students):03d}h{number}", folder, dice)
    return zipped(inside) if layout == "zip" else inside


def honest(folder: str, number: int, dice: random.Random) -> str:
    """The source of an honest student: right, wrong or the stub, as others have it or with a line of its own."""
    source, draw = paths.solution(folder).read_text("utf-8"), dice.random()
    if draw < 0.4:
        source = dice.choice(mistakes.mistakes(folder)).source
    elif draw < 0.5:
        source = paths.stub(folder).read_text("utf-8")
    return dice.choice((source, f"# Student {number}\n{source}", f"{source}\nSTUDENT = {number}\n"))


def hand_in(root: Path, form: int | str, number: int, files: dict[str, str]) -> None:
    """Write the files of one student in one of the layouts that platforms and students use."""
    name = f"student{number:03d}"
    slugs = {f"{paths.slug(folder)}.py": source for folder, source in files.items()}
    inside = {f"{folder}/{slug}": source for folder, (slug, source) in zip(files, slugs.items())}
    moodle, canvas = f"Student {number}_{5000 + number}_assignsubmission_file_", f"{6000 + number}_{90_000 + number}"
    forms = {
        "downloads": {path.replace("/", f"/{name}/"): text for path, text in inside.items()},
        0: {f"{name}/{path}": text for path, text in inside.items()},
        1: {f"{name}/{slug}": text for slug, text in slugs.items()},
        2: {f"{name}.zip": bombs.zipped(*((path, text.encode()) for path, text in inside.items()))},
        3: {f"{name}.tgz": bombs.tgz(*((slug, text.encode(), {}) for slug, text in slugs.items()))},
        4: {f"{moodle}/{slug}": text for slug, text in slugs.items()},
        5: {f"{name}_{canvas}_{slug}": text for slug, text in slugs.items()},
        6: {f"{name}/{slug[:-3]}.ipynb": bombs.notebook(text) for slug, text in slugs.items()},
    }
    for path, data in forms[form].items():
        written(root / path, data)


def written(path: Path, data: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "replace"))


# Hostile hand-ins. Each function is given the folder, the name of the student, the exercise and a generator.


def _file(where: Path, name: str, folder: str, data: str | bytes, suffix: str = ".py") -> None:
    written(where / name / f"{paths.slug(folder)}{suffix}", data)


def _attack(where: Path, name: str, folder: str, dice: random.Random) -> None:
    fitting = [attack for attack in ATTACKS if attack.exercise == folder[:2]]
    attack = dice.choice(fitting or ATTACKS)
    text = attack.source.replace("@TREE@", os.fsencode(paths.ROOT).hex())
    text = text.replace("@BESIDE@", os.fsencode(where).hex()) + (eval(attack.appends) if attack.appends else "")
    _file(where, name, catalog.find(attack.exercise).folder if fitting else folder, text)


def _edge(where: Path, name: str, folder: str, dice: random.Random) -> None:
    places = edge.places(paths.solution(folder).read_text("utf-8"))
    chosen = {place: dice.choice(edge.VALUES) for place in places}
    _file(where, name, folder, edge.spoilt(folder, chosen).source)


def _loop(where: Path, name: str, folder: str, dice: random.Random) -> None:
    _file(where, name, folder, paths.solution(folder).read_text("utf-8") + dice.choice(LOOPS))


def _call(where: Path, name: str, folder: str, dice: random.Random) -> None:
    source = paths.solution(folder).read_text("utf-8")
    lines = [f"{place} = _bad" for place in edge.places(source)]
    bad = f"\ndef _bad(*args, **kwargs):\n    {dice.choice(IN_CALLS)}\n"
    _file(where, name, folder, source + bad + "\n".join(lines) + "\n")


def _archive(where: Path, name: str, folder: str, dice: random.Random) -> None:
    called = dice.choice(list(bombs.ARCHIVES))
    written(where / f"{name}-{called}", bombs.ARCHIVES[called][0]())


def _made_up_archive(where: Path, name: str, folder: str, dice: random.Random) -> None:
    called, data = made_up.archive(dice)
    written(where / f"{name}{called}", data)


def _notebook(where: Path, name: str, folder: str, dice: random.Random) -> None:
    notebooks = [data for data, _ in bombs.NOTEBOOKS.values()]
    _file(where, name, folder, dice.choice(notebooks) if dice.random() < 0.5 else made_up.notebook(dice), ".ipynb")


def _source(where: Path, name: str, folder: str, dice: random.Random) -> None:
    text = dice.choice(list(bombs.BOMBS.values())) if dice.random() < 0.5 else made_up.source(dice)
    _file(where, name, folder, text)


def _raw_name(where: Path, name: str, folder: str, dice: random.Random) -> None:
    """A folder with a name that no student has, and with honest work, so that it has an id, a row and pages."""
    random_name = made_up.name(dice).encode("utf-8", "surrogatepass").replace(b"/", b"_").replace(b"\0", b"_")[:200]
    called = dice.choice((*RAW_NAMES, random_name.strip(b".") or b"a"))
    place = os.fsencode(where) + b"/" + called
    os.makedirs(place, exist_ok=True)
    Path(os.fsdecode(place), f"{paths.slug(folder)}.py").write_bytes(paths.solution(folder).read_bytes())


def _wrong_place(where: Path, name: str, folder: str, dice: random.Random) -> None:
    """An entry with the name of a part of the layout, of a file of the class or of a result."""
    entry = dice.choice([entry for entry, uncertain in NAMES.items() if not uncertain])
    outer, _, inner = entry.partition(":")
    target = where / outer
    if target.exists():
        target = where / name / outer
    written(target, bombs.zipped((inner, b"x = 1")) if inner else "x = 1")


def _link(where: Path, name: str, folder: str, dice: random.Random) -> None:
    (where / name).mkdir(parents=True)
    target = dice.choice((paths.solution(folder), Path("/dev/zero"), Path("/proc/self/environ"), Path("..")))
    (where / name / f"{paths.slug(folder)}.py").symlink_to(target)
    (where / f"{name}x").symlink_to(dice.choice((paths.ROOT / "solutions", Path("/"), Path("."))))


HOSTILE: dict[str, Callable] = {
    "attack": _attack, "edge": _edge, "archive": _archive, "loop": _loop, "notebook": _notebook,
    "source": _source, "name": _raw_name, "call": _call, "made-up archive": _made_up_archive,
    "wrong place": _wrong_place, "attack again": _attack, "link": _link,
}  # fmt: skip

# Grading it


Command = Callable[..., subprocess.CompletedProcess]  # runs `python -m grader` with these words


def grading(submissions: Path, out: Path, *options: object) -> list[str]:
    """The words of the command that grades the class."""
    words = ["grade", submissions, "--out", out, "--seed", SEED, *options]
    return list(map(str, words))


def process_of(*words: str) -> list[str]:
    return [sys.executable, "-m", "grader", *words]


def by_a_process(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run(process_of(*words), cwd=paths.ROOT, capture_output=True, text=True, errors="replace")


def grade(submissions: Path, out: Path, *options: object, run: Command = by_a_process) -> dict[tuple[str, str], dict]:
    """Grade the class to its end. Returns the verdicts.

    Asserts that nothing in the grader failed.
    """
    process = run(*grading(submissions, out, *options))
    output = process.stdout + process.stderr
    has_failed = "Traceback" in output or "left out:" in process.stderr
    assert process.returncode in (0, 3) and not has_failed, output[-2000:]
    return verdicts(out)


def verdicts(out: Path) -> dict[tuple[str, str], dict]:
    """(student, exercise) → the result in the student's JSON file, without the time that it took."""
    results = {}
    for path in out.glob("json/*.json"):
        record = json.loads(path.read_text("utf-8"))
        for result in record["results"]:
            verdict = {key: value for key, value in result.items() if key not in ("duration_s", "sandbox")}
            results[record["student"], result["exercise"]] = verdict
    return results


def killed(submissions: Path, out: Path, *options: object) -> bool:
    """Start the grader, and kill it while it grades. Returns whether it had not ended by itself."""
    run = subprocess.Popen(
        process_of(*grading(submissions, out, *options)), cwd=paths.ROOT, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with contextlib.suppress(subprocess.TimeoutExpired):
        run.wait(timeout=KILLED_S)
    landed = run.poll() is None
    run.kill()
    run.wait()
    deadline = time.monotonic() + LINGERING_S
    while (remaining := session(run.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    outliving = [Path(f"/proc/{pid}/cmdline").read_text() for pid in remaining]
    for pid in remaining:
        os.kill(pid, signal.SIGKILL)
    assert not remaining, f"processes outlive the grader that was killed: {outliving}"
    return landed


def session(leader: int) -> list[int]:
    """The ids of the processes of a session. leader: the id of its first process."""
    pids = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[3]) == leader and words[0] != "Z":
            pids.append(int(path.parent.name))
    return pids


def differing(expected: dict, got: dict) -> list[str]:
    """A line about each expected verdict that is another one now."""
    return [f"{key}: {verdict} became {got.get(key)}" for key, verdict in expected.items() if got.get(key) != verdict]
