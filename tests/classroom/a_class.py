"""A made-up class in three shapes, with what each student must get: by arithmetic, and by the judge on single files."""

import csv
import functools
import zipfile
from dataclasses import dataclass
from pathlib import Path

from grader import catalog
from grader.catalog import mistakes, paths, stubs
from grader.judge import grading
from grader.records.results import Settings
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer

EXERCISES = ("02_softmax_naive", "03_context_vectors")
# By turns. A digit is a known mistake.
FATES = ("right", "0", "1", "2", "right", "stub", "broken", "nothing", "right", "3")
FIRST = ("Ada", "Björn", "Chloé", "Đorđe", "Émile", "Fatma", "Grace", "Håkon", "Inês", "Łukasz")
LAST = ("Lovelace", "Müller", "O'Hara", "de la Cruz", "Ünal", "van Dijk", "Çelik", "Ångström", "Nguyễn", "Smith-Jones")


@dataclass(frozen=True)
class Somebody:
    """One student, with the names that each platform has for them. Numbers 0 and 1 are namesakes."""

    number: int

    @property
    def id(self) -> str:
        return f"s{self.number:04}"

    @property
    def name(self) -> str:
        number = max(self.number, 1)
        return f"{FIRST[number % 10]} {LAST[number // 10 % 10]}{'' if number < 100 else number // 100}"

    @property
    def platform_id(self) -> str:
        return str(70_000 + 7 * self.number)

    def fate(self, exercise: str) -> str:
        return FATES[(self.number + 3 * EXERCISES.index(exercise)) % len(FATES)]


def source(exercise: str, fate: str) -> str:
    """What is handed in; "" for nothing."""
    if fate.isdigit():
        return mistakes.mistakes(exercise)[int(fate)].source
    broken = "def attention(:\n    pass\n"
    texts = {"right": paths.solution(exercise).read_text("utf-8"), "broken": broken, "nothing": ""}
    return texts[fate] if fate in texts else stubs.original(exercise) or ""


def text_of(one: Somebody, exercise: str) -> str:
    """A file of one student, like no one else's; a stub stays as it is."""
    text = source(exercise, one.fate(exercise))
    return text if one.fate(exercise) in ("stub", "nothing") else f"{text}\n# {one.id}\n"


@functools.cache
def worth(exercise: str, fate: str, workers: ForkServer) -> float | None:
    """The points; None for no mark."""
    if fate == "nothing":
        return None
    if fate in ("right", "stub", "broken"):
        return catalog.find(exercise).max_points if fate == "right" else 0.0
    made = Submission(source(exercise, fate), "x.py")
    return grading.result(catalog.read(exercise), made, workers, Settings(seed=1, diagnose=False)).points


def truth(count: int, workers: ForkServer) -> dict[tuple[str, str], float | None]:
    """(id, exercise) → the points that everybody must get."""
    return {
        (one.id, exercise): worth(exercise, one.fate(exercise), workers)
        for one in people(count)
        for exercise in EXERCISES
    }


def people(count: int) -> list[Somebody]:
    return [Somebody(number) for number in range(count)]


def lay(shape: str, root: Path, count: int) -> tuple[Path, Path]:
    """Write a class in one shape. Returns the download and LIST."""
    root.mkdir(parents=True)
    return LAYOUTS[shape](root, people(count))


def marks_of(out: Path) -> dict[tuple[str, str], float | None]:
    """(id, exercise) → the points in marks.csv."""
    with (out / "marks.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["student"] and row["exercise"]]
    return {(row["student"], row["exercise"]): float(row["points"]) if row["points"] else None for row in rows}


def write(path: Path, rows: list[list[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def _moodle(root: Path, students: list[Somebody]) -> tuple[Path, Path]:
    """One zip an exercise, as Moodle calls it, in one folder; LIST is a worksheet."""
    (root / "in").mkdir()
    for exercise in EXERCISES:
        title = catalog.find(exercise).title
        with zipfile.ZipFile(root / "in" / f"CS1-{exercise[:2]} {title}-{exercise[:2]}9.zip", "w") as packed:
            for one in students:
                entry = f"{one.name}_{one.platform_id}_assignsubmission_file_"
                if text := text_of(one, exercise):
                    packed.writestr(f"{entry}/{exercise.partition('_')[2]}.py", text)
    header = ["Identifier", "Full name", "ID number", "Email address", "Status", "Grade", "Last modified (grade)"]
    rows = [[f"Participant {s.platform_id}", s.name, s.id, f"{s.id}@x.edu", "", "", "-"] for s in students]
    return root / "in", write(root / "list.csv", [header, *rows])


def _canvas(root: Path, students: list[Somebody]) -> tuple[Path, Path]:
    """Canvas calls each download submissions.zip: a folder an exercise around it; LIST is the gradebook."""
    for exercise in EXERCISES:
        (root / "in" / exercise).mkdir(parents=True)
        with zipfile.ZipFile(root / "in" / exercise / "submissions.zip", "w") as packed:
            for one in students:
                first, _, last = one.name.partition(" ")
                letters = "".join(filter(str.isalpha, f"{last}{first}".lower()))
                late = "_LATE" * (one.number % 7 == 0)
                if text := text_of(one, exercise):
                    packed.writestr(
                        f"{letters}{late}_{one.platform_id}_9{one.number}_{exercise.partition('_')[2]}-1.py", text
                    )
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    rows = [[", ".join(reversed(s.name.split(" ", 1))), s.platform_id, s.id, f"{s.id}@x.edu", "A"] for s in students]
    points = ["    Points Possible", "", "", "", ""]
    return root / "in", write(root / "list.csv", [header, points, *rows, ["Student, Test", "9", "", "abc", "A"]])


def _folders(root: Path, students: list[Somebody]) -> tuple[Path, Path]:
    for one in students:
        for exercise in EXERCISES:
            if text := text_of(one, exercise):
                path = root / "in" / one.id / f"{exercise.partition('_')[2]}.py"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
    return root / "in", write(root / "list.csv", [["Matrikelnummer", "Name"], *([s.id, s.name] for s in students)])


LAYOUTS = {"moodle": _moodle, "canvas": _canvas, "folders": _folders}  # by the names of the shapes
