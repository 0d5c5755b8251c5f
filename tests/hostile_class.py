"""A class on disk, with hostile hand-ins among honest ones, which is graded and compared."""

import functools
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent / room) for room in ("intake", "judge", "classroom", "")]

import a_class  # noqa: E402
import bombs  # noqa: E402
import hostile as made_up  # noqa: E402
import test_edge_values as edge  # noqa: E402
from attacks import ATTACKS  # noqa: E402

from grader import catalog  # noqa: E402
from grader.catalog import paths  # noqa: E402

SEED = 11
RAW_NAMES = (b"b\xff", b"c\xed\xa0\x80", b"d\x1b[31m\ne", "\u202eyp".encode(), b"=cmd()", b"[red]", b"<b>", b"%s", b"'")


# The class


def lay(root: Path, exercises: tuple[str, ...], students: int, strangers: int) -> Path:
    """Make a class of honest students, with hostile hand-ins among them. Returns what is to be graded."""
    inside, _ = a_class.lay("folders", root / "class", students)
    folders, makers = [catalog.find(exercise).folder for exercise in exercises], list(HOSTILE)
    for number in range(strangers):
        dice = random.Random(f"{SEED} hostile {number}")
        name = f"s{dice.randrange(students):04}h{number}"
        HOSTILE[makers[number % len(makers)]](inside, name, dice.choice(folders), dice)
    return inside


def written(path: Path, data: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "replace"))


# Hostile hand-ins. Each function is given the folder, the name of the student, the exercise and a generator.


def _file(where: Path, name: str, folder: str, data: str | bytes, suffix: str = ".py") -> None:
    written(where / name / f"{paths.slug(folder)}{suffix}", data)


def _attack(where: Path, name: str, folder: str, dice: random.Random, group: str = "") -> None:
    attacks = [attack for attack in ATTACKS if attack.name.startswith(group)]
    fitting = [attack for attack in attacks if attack.exercise == folder[:2]]
    attack = dice.choice(fitting or attacks)
    text = attack.source.replace("@TREE@", os.fsencode(paths.ROOT).hex())
    text = text.replace("@BESIDE@", os.fsencode(where).hex()) + (eval(attack.appends) if attack.appends else "")
    _file(where, name, catalog.find(attack.exercise).folder if fitting else folder, text)


def _edge(where: Path, name: str, folder: str, dice: random.Random) -> None:
    places = edge.places(paths.solution(folder).read_text("utf-8"))
    chosen = {place: dice.choice(edge.VALUES) for place in places}
    _file(where, name, folder, edge.spoilt(folder, chosen).source)


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


HOSTILE: dict[str, Callable] = {
    "attack": _attack, "edge": _edge, "archive": _archive, "notebook": _notebook, "source": _source, "name": _raw_name,
    "made-up archive": _made_up_archive, "denial": functools.partial(_attack, group="I"),
}  # fmt: skip

# Grading it


Command = Callable[..., subprocess.CompletedProcess]  # runs `python -m grader` with these words


def grading(submissions: Path, out: Path, *options: object) -> list[str]:
    words = ["grade", submissions, "--out", out, "--seed", SEED, *options]
    return list(map(str, words))


def by_a_process(*words: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "grader", *words]
    return subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, errors="replace")


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


def differing(expected: dict, got: dict) -> list[str]:
    """A line about each expected verdict that is another one now."""
    return [f"{key}: {verdict} became {got.get(key)}" for key, verdict in expected.items() if got.get(key) != verdict]
