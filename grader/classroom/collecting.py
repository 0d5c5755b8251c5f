"""Collects what was found: the best file of each student for each exercise, and what could not be placed.

Where several files of a student could be one exercise, the better name counts (the lesson's own, then the number,
then the slug with more words, then the only file of an exercise's folder), then the later upload ("-1", "(1)"), then
the one less deep, then the one changed last, then the .py. The others are listed, and why.
"""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.catalog import Exercise
from grader.classroom import names
from grader.classroom.records import Found, HandIn, Misplaced, Student
from grader.report.inert import label
from grader.submission import BadSubmission, NoSuchFile

CODE = (".py", ".ipynb")
EXPECTED = {"readme.md", "hints.md", "timestamp.txt", "__init__.py", "conftest.py", "thumbs.db", "desktop.ini"}
SAME_TIME_S = 2.0  # archives keep times no finer
MOST_LISTED = 20  # files of one student that could not be placed


@dataclass(slots=True)
class Offer:
    """The best file so far of one student for one exercise. order: what is compared, the smaller the better."""

    node: object
    order: tuple


class Collector:
    """What was found so far. A node is a folders.Disk or an archives.Node."""

    place: Path  # of the folder or archive that holds the class

    def __init__(self, exercises: Sequence[Exercise]):
        self.exercises = exercises
        self.asked = {exercise.folder for exercise in exercises}
        self.only = exercises[0].folder if len(exercises) == 1 else None
        self.people: dict[str, list[tuple[str, str]]] = {}  # by key of the files: key and name of each student
        self.offers: dict[tuple[str, str], Offer] = {}
        self.unnamed: dict[tuple[str, str], list[tuple[object, str]]] = {}  # files that a folder alone tells of
        self.misplaced: list[Misplaced] = []
        self.listed: Counter[str] = Counter()  # files not placed, by student
        self.entries: Counter[str] = Counter()
        self.layouts: Counter[str] = Counter()
        self.clones: list[str] = []
        self.others = 0  # files of exercises that were not asked for

    def add(self, key: str, name: str, layout: str) -> None:
        if key not in self.people:
            self.people[key] = [(key, label(name))]
            self.layouts[layout] += 1

    def code(self, key: str, node, name: str, where: str, hint: str | None, deep: int) -> None:
        """Offer one .py or .ipynb file for the exercise that its name or its folder tells."""
        if name.lower() in EXPECTED:
            return
        reading = reading_of(name)
        folder = reading.exercise
        if folder and hint and folder != hint:
            return self.refuse(key, where, f"its name says {folder}, but it lies in {hint}")
        if folder is None:
            meant = hint or (self.only if reading.near in ("", self.only) else None)
            if meant is None or name.lower().startswith("test_"):
                return self.refuse(key, where, reading.reason)
            folder = meant
        if folder not in self.asked:
            self.others += 1
        elif reading.exercise is None:
            self.unnamed.setdefault((key, folder), []).append((node, where))
        else:
            self.offer(key, folder, Offer(node, (reading.rank, -reading.revision, deep)))

    def offer(self, key: str, folder: str, new: Offer) -> None:
        old = self.offers.get((key, folder))
        if old is None:
            self.offers[key, folder] = new
            return
        better, why = _better(old, new)
        worse = old if better is new else new
        self.offers[key, folder] = better
        self.refuse(key, self.trail(worse), f"for {folder} the file {label(self.trail(better))} counts: {why}")

    def trail(self, offer: Offer) -> str:
        """Where it lies below the folder that holds the class."""
        node = offer.node
        place = os.path.relpath(node.path, self.place)
        if not node.member:
            return place
        return node.member if place == "." else f"{place}:{node.member}"

    def foreign(self, key: str, name: str, where: str) -> None:
        if name.lower() not in EXPECTED:
            self.refuse(key, where, "neither .py nor .ipynb, nor a .zip, .tar.gz or .tgz")

    def attempt(self, where: str, step, key: str = "") -> None:
        """Do one step that a broken folder or archive can make fail; then say why."""
        try:
            step()
        except (BadSubmission, NoSuchFile) as error:
            self.refuse(key, where, str(error))
        except OSError as error:
            self.refuse(key, where, f"it cannot be read: {error.strerror}")

    def refuse(self, key: str, where: str, reason: str) -> None:
        self.listed[key] += 1
        if not key or self.listed[key] <= MOST_LISTED:
            self.misplaced.append(Misplaced(label(where), reason))

    # The end.

    def found(self) -> Found:
        """Everything seen, as plain data."""
        for (key, folder), nodes in self.unnamed.items():
            slug = folder.partition("_")[2]
            if (key, folder) in self.offers:
                best = label(self.trail(self.offers[key, folder]))
                reason = f"for {folder} the file {best} counts: it has the better name"
            elif len(nodes) == 1:
                self.offers[key, folder] = Offer(nodes[0][0], (names.ALONE, 0, 0))
                continue
            else:
                reason = f"one of {len(nodes)} files that could be {folder}: call the right one {slug}.py"
            for _, where in nodes:
                self.refuse(key, where, reason)
        for key, count in self.listed.items():
            if key and count > MOST_LISTED:
                self.misplaced.append(Misplaced(label(key), f"{count - MOST_LISTED:,} more files could not be placed"))
        placed = {key for key, _ in self.offers}
        for key in self.people:
            if key not in placed and not self.listed[key]:
                self.misplaced.append(Misplaced(label(key), f"nothing for {names.asked_for(self.exercises)} in it"))
        handins = sorted(self.handins(), key=lambda handin: (handin.student.id, handin.exercise))
        return Found(self.layout(), tuple(handins), tuple(sorted(self.misplaced, key=lambda entry: entry.path)))

    def handins(self) -> Iterable[HandIn]:
        shorter = names.without_prefix(self.clones, self.root.name, self.people)
        people = {key: [(shorter.get(one, one), name) for one, name in who] for key, who in self.people.items()}
        known = dict(person for who in people.values() for person in who)
        ids = names.ids(known)
        students = {key: Student(ids[key], label(shorter.get(key, name))) for key, name in known.items()}
        while self.offers:  # taken out one by one: a large class is not held twice
            (key, folder), offer = self.offers.popitem()
            for one, _ in people[key]:
                yield HandIn(students[one], folder, offer.node.place, offer.node.member)

    def layout(self) -> str:
        """In words: "Moodle's folders (180), an archive a student (20)"."""
        parts = [f"{name} ({count})" if count > 1 else name for name, count in self.layouts.most_common()]
        if self.clones:
            parts.append(f"clones of this repository ({len(self.clones)})")
        if self.others:
            parts.append(f"{self.others:,} files of exercises not asked for, left out")
        return ", ".join(parts) or "nothing that looks like a class"


def is_code(name: str) -> bool:
    return name.lower().endswith(CODE)


def reading_of(name: str) -> names.Reading:
    return names.exercise_of(name.rpartition(".")[0])


def _better(old: Offer, new: Offer) -> tuple[Offer, str]:
    reasons = ("it has the better name", "it was uploaded later", "it lies less deep")
    for first, second, why in zip(old.order, new.order, reasons):
        if first != second:
            return (old if first < second else new), why
    difference = new.node.modified - old.node.modified
    if abs(difference) > SAME_TIME_S:
        return (new if difference > 0 else old), "it was changed last"
    notebooks = [offer.node.name.lower().endswith(".ipynb") for offer in (old, new)]
    if notebooks[0] != notebooks[1]:
        return (new if notebooks[0] else old), "of a .py and an .ipynb of the same time the .py does"
    return old, "its path comes first"
