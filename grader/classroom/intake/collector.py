"""Collects the best file of each student for each exercise, and the files that could not be placed.

Where several files of a student could be one exercise, these rules decide in turn: the better name (the lesson's own,
then the number, then the slug with more words, then the only file of an exercise's folder), the later upload ("-1",
"(1)"), the lower depth, the later modification, the suffix .py. The other files are listed with the reason.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.catalog import Exercise
from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.classroom.handins import Count, Found, HandIn, Misplaced, NeedsPerson, Origin, Student, Unplaced
from grader.classroom.intake import names, student_ids
from grader.classroom.intake.archives import Node
from grader.classroom.intake.folders import Entry
from grader.records.sanitize import label

CODE = (".py", ".ipynb")
EXPECTED = {"readme.md", "hints.md", "timestamp.txt", "__init__.py", "conftest.py", "thumbs.db", "desktop.ini"}
SAME_TIME_S = 2.0  # archives keep times no finer
MOST_LISTED = 20  # files of one student that could not be placed
MOST_PASSED, MOST_DEEP = 200_000, 40  # files of one student that are counted unseen, and folders below one another
USUAL, FOREIGN = "README and the like", "neither .py nor .ipynb"  # why a file is left out
OTHER_EXERCISES, OTHER_ATTEMPTS = "of exercises not asked for", "other attempts"


@dataclass(slots=True)
class Offer:
    """The best file so far of one student for one exercise. order: the criteria to compare, smaller is better."""

    node: Entry
    order: tuple[int, int, int]
    origin: Origin


class Collector:
    """What was found so far."""

    root: Entry  # the entry of the folder or archive that holds the class
    place: Path  # where it lies

    def __init__(self, exercises: Sequence[Exercise]) -> None:
        self.exercises = exercises
        self.requested = {exercise.folder for exercise in exercises}
        self.only = exercises[0].folder if len(exercises) == 1 else None
        self.people: dict[str, tuple[tuple[str, str], ...]] = {}  # by key of the files: id and name of each student
        self.shorter: dict[str, str] = {}  # ids of clones without their prefix
        self.clones: list[str] = []
        self.offers: dict[tuple[str, str], Offer] = {}
        self.unnamed: dict[tuple[str, str], list[tuple[object, str, Origin]]] = {}  # that a folder alone tells of
        self.origins: dict[str, Origin] = {}  # of each student's latest entry, by key
        self.refusals: dict[str, str] = {}  # why the first file of a student was refused, by key
        self.beside: set[str] = set()  # keys of entries beside downloads: perhaps no student's
        self.misplaced: list[Misplaced] = []
        self.needing: list[NeedsPerson] = []
        self.listed: Counter[str] = Counter()  # files that were told of, by student
        self.passed: Counter[str] = Counter()  # files that were counted without a look, by student
        self.layouts: Counter[str] = Counter()
        self.files = self.refused = 0
        self.left_out: Counter[str] = Counter()
        self.complete = True

    def code(self, key: str, node: Entry, name: str, where: str, hint: str | None, deep: int) -> None:
        """Offer one .py or .ipynb file for the exercise that its name or its folder names."""
        if name.lower() in EXPECTED:
            self.left_out[USUAL] += 1
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
        if folder not in self.requested:
            self.left_out[OTHER_EXERCISES] += 1
        elif reading.exercise is None:
            self.unnamed.setdefault((key, folder), []).append((node, where, self.origin_of(key)))
        else:
            self.offer(key, folder, Offer(node, (reading.rank, -reading.revision, deep), self.origin_of(key)))

    def origin_of(self, key: str) -> Origin:
        """The entry that is walked now, of this student."""
        return self.origins.get(key, Origin(key=key))

    def offer(self, key: str, folder: str, new: Offer) -> None:
        """Keep the better one of this file and the earlier file for the exercise, and list the other."""
        old = self.offers.get((key, folder))
        if old is None:
            self.offers[key, folder] = new
            return
        better, why = _better(old, new)
        worse = old if better is new else new
        self.offers[key, folder] = better
        self.left_out[OTHER_ATTEMPTS] += 1
        self.tell(key, self.trail(worse), f"for {folder} the file {label(self.trail(better))} counts: {why}")

    def trail(self, offer: Offer) -> str:
        """Where the file lies, relative to the folder that holds the class."""
        node = offer.node
        place = os.path.relpath(node.path, self.place)
        if not node.member:
            return place
        return node.member if place == "." else f"{place}:{node.member}"

    def foreign(self, key: str, name: str, where: str) -> None:
        """Leave out a file that is neither code nor an archive."""
        if name.lower() in EXPECTED:
            self.left_out[USUAL] += 1
        else:
            self.left_out[FOREIGN] += 1
            self.tell(key, where, "neither .py nor .ipynb, nor a .zip, .tar.gz or .tgz")

    def attempt(self, key: str, where: str, step: Callable[[], Node]) -> Node | None:
        """The result of `step`. Where a broken folder or archive makes it fail, the entry is refused, and None."""
        try:
            return step()
        except (BadSubmission, NoSuchFile) as error:
            reason = str(error)
        except OSError as error:
            reason = f"it cannot be read: {error.strerror}"
        self.files += 1
        self.refuse(key, where, reason)
        return None

    def refuse(self, key: str, where: str, reason: str, files: int = 1) -> None:
        """Count files as refused, and list them with the reason."""
        self.refused += files
        self.refusals.setdefault(key, reason)
        self.tell(key, where, reason)

    def leave(self, key: str, node: Entry, reason: str) -> None:
        """Leave out a file, or a folder with everything in it."""
        files = self.count(key, node)
        self.files += files
        self.left_out[reason] += files

    def ask(self, entries: Sequence[tuple[object, str]], who: Iterable[str], why: str, to_do: str) -> None:
        """List entries, each with its place, as in need of a person, who must say whose they are."""
        files = sum(self.count(where, node) for node, where in entries)
        self.files += files
        places = tuple(sorted(label(where) for _, where in entries))
        self.needing.append(NeedsPerson(tuple(map(label, who)), places, why, to_do, files))

    def tell(self, key: str, where: str, reason: str) -> None:
        """List a file that does not count, with the reason. At most MOST_LISTED files of a student are listed."""
        self.listed[key] += 1
        if not key or self.listed[key] <= MOST_LISTED:
            self.misplaced.append(Misplaced(label(where), reason))

    def count(self, key: str, node: Entry, deep: int = 0) -> int:
        """The number of files in an entry that is not examined. An archive is one file.

        Where there are too many, the count stops and is marked as incomplete.
        """
        if node.kind != "dir":
            self.passed[key] += 1
            return 1
        try:
            if deep > MOST_DEEP or self.passed[key] > MOST_PASSED:
                raise OSError
            return sum(self.count(key, child, deep + 1) for child in node.children())
        except OSError:
            self.complete = False
            return 0

    def found(self) -> Found:
        """Everything that was found, as plain data."""
        for (key, folder), nodes in self.unnamed.items():
            slug = folder.partition("_")[2]
            if (key, folder) in self.offers:
                best = label(self.trail(self.offers[key, folder]))
                self.left_out[OTHER_ATTEMPTS] += len(nodes)
                for _, where, _ in nodes:
                    self.tell(key, where, f"for {folder} the file {best} counts: it has the better name")
                continue
            if len(nodes) == 1:
                self.offers[key, folder] = Offer(nodes[0][0], (names.ALONE, 0, 0), nodes[0][2])
                continue
            for _, where, _ in nodes:
                reason = f"one of {len(nodes)} files that could be {folder}: call the right one {slug}.py"
                self.refuse(key, where, reason)
        for key, count in self.listed.items():
            if key and count > MOST_LISTED:
                self.misplaced.append(Misplaced(label(key), f"{count - MOST_LISTED:,} more files could not be placed"))
        placed = {key for key, _ in self.offers}
        for key in self.people:
            if key not in placed and not self.listed[key]:
                self.misplaced.append(Misplaced(label(key), f"nothing for {names.asked_for(self.exercises)} in it"))
        count = Count(
            self.files,
            len(self.offers),
            self.refused,
            sum(need.files for need in self.needing),
            {reason: files for reason, files in self.left_out.most_common() if files},
            self.complete,
        )
        unplaced = tuple(self.unplaced(placed))
        handins = sorted(self.handins(), key=lambda handin: (handin.student.id, handin.exercise))
        misplaced = sorted(self.misplaced, key=lambda entry: entry.path)
        needing = sorted(self.needing, key=lambda need: need.where)
        return Found(self.layout(), tuple(handins), tuple(misplaced), tuple(needing), count, unplaced)

    def students(self, keys: Iterable[str]) -> dict[str, Student]:
        """The students whose files have these keys, by the id that their platform gives."""
        names_by_id = {self.shorter.get(id, id): name for key in keys for id, name in self.people[key]}
        ids = student_ids.ids(names_by_id)
        return {id: Student(ids[id], label(self.shorter.get(name, name))) for id, name in names_by_id.items()}

    def unplaced(self, placed: set[str]) -> Iterable[Unplaced]:
        """The students with files of which none could be placed. placed: the keys of all others."""
        lost = [key for key in self.people if key not in placed | self.beside and key in self.refusals]
        students = self.students([*placed, *lost])
        for key in lost:
            for id, _ in self.people[key]:
                yield Unplaced(students[self.shorter.get(id, id)], self.refusals[key], self.origin_of(key))

    def handins(self) -> Iterable[HandIn]:
        """The best file of each student for each exercise. It empties `offers`."""
        students = self.students({key for key, _ in self.offers})
        while self.offers:  # removed one by one, so that a large class is not in memory twice
            (key, folder), offer = self.offers.popitem()
            for id in (self.shorter.get(id, id) for id, _ in self.people[key]):
                yield HandIn(students[id], folder, offer.node.place, offer.node.member, offer.origin)

    def layout(self) -> str:
        """The layout in words: "Moodle's folders (180), an archive a student (20)"."""
        parts = [f"{name} ({count})" if count > 1 else name for name, count in self.layouts.most_common()]
        if self.clones:
            parts.append(f"clones of this repository ({len(self.clones)})")
        return ", ".join(parts) or "nothing that looks like a class"


def is_code(name: str) -> bool:
    """Whether a file of this name may be a submission."""
    return name.lower().endswith(CODE)


def reading_of(name: str) -> names.Reading:
    """What the name of a file, with its suffix, says about the exercise."""
    return names.exercise_of(name.rpartition(".")[0])


def _better(old: Offer, new: Offer) -> tuple[Offer, str]:
    """The better one of two files, and why it is better."""
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
