"""Collects the best file of each student for each exercise."""

import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from grader.catalog import Exercise
from grader.classroom.handins import Count, Found, HandIn, Misplaced, NeedsPerson, Origin, Student, Unplaced
from grader.classroom.intake import student_ids
from grader.classroom.intake.claims import likeness
from grader.classroom.intake.exercise_names import ALONE, exercise_meant, in_short, reading_of
from grader.classroom.intake.file_log import FileLog
from grader.classroom.intake.folders import Entry
from grader.classroom.intake.offers import Offer, better
from grader.records.sanitize import label

EXPECTED = {"readme.md", "hints.md", "timestamp.txt", "__init__.py", "conftest.py", "thumbs.db", "desktop.ini"}
USUAL, FOREIGN = "README and the like", "neither .py nor .ipynb"  # why a file is left out
OTHER_EXERCISES, OTHER_ATTEMPTS = "of exercises not asked for", "other attempts"
FEW, SEVERAL = 2, 3  # folders with the same exercise that may be a class's: in the only entry, and in one of several
SEVERAL_STUDENTS = "several folders in it hold the same exercise: is each a student's?"
ONE_EACH = (
    "if it holds a class, unpack it and name it alone as SUBMISSIONS; if it is one student's, leave one file of each "
    "exercise in it"
)
NO_CODE = "it is neither .py nor .ipynb, nor a .zip, .tar.gz or .tgz"
# Pictures and data that lie beside an answer. No other file without an answer to its exercise is passed over.
BESIDE_ANSWERS = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".csv", ".json", ".js", ".css", ".pt", ".npy", ".toml")


class Collector:
    """Collects files of students for exercises. `result` gives all of them as plain data."""

    root: Entry  # the entry of the folder or archive that holds the class
    place: Path  # where it lies

    def __init__(self, exercises: Sequence[Exercise]) -> None:
        self.log = FileLog()
        self.exercises = exercises
        self.requested = {exercise.folder for exercise in exercises}
        self.only = exercises[0].folder if len(exercises) == 1 else None
        self.people: dict[str, tuple[tuple[str, str], ...]] = {}  # by key of the files: id and name of each student
        self.shorter: dict[str, str] = {}  # ids of clones without their prefix
        self.clones: list[str] = []
        self.offers: dict[tuple[str, str], Offer] = {}  # by key of the files and exercise
        # Files of which only the folder names the exercise, each with its place, by key of the files and exercise.
        self.unnamed: dict[tuple[str, str], list[tuple[Entry, str, Origin]]] = {}
        self.rivals: dict[tuple[str, str], set[str]] = {}  # places of files for one exercise, where there are several
        self.unusable: dict[tuple[str, str], str] = {}  # why a file cannot be graded, by key of the files and exercise
        self.reasons: dict[str, str] = {}  # the same of the first such file, by key of the files
        self.elsewhere: set[str] = set()  # keys with files of exercises that were not asked for
        self.origins: dict[str, Origin] = {}  # of each student's latest entry, by key
        self.beside: set[str] = set()  # keys of entries beside downloads, which may belong to no student
        self.layouts: Counter[str] = Counter()

    def collect_code(self, key: str, node: Entry, name: str, where: str, hint: str | None, depth: int) -> None:
        """Offer one .py or .ipynb file for the exercise that its name or its folder names."""
        if name.lower() in EXPECTED:
            self.log.left_out[USUAL] += 1
            return
        reading = reading_of(name)
        folder = reading.exercise
        if folder and hint and folder != hint:
            return self.refuse(key, name, where, f"its name says {folder}, but it lies in {hint}", hint)
        if folder is None:
            meant = hint or (self.only if reading.near in ("", self.only) else None)
            if meant is None or name.lower().startswith("test_"):
                return self.refuse(key, name, where, reading.reason, hint)
            folder = meant
        if folder not in self.requested:
            self.log.left_out[OTHER_EXERCISES] += 1
            self.elsewhere.add(key)
        elif reading.exercise is None:
            self.unnamed.setdefault((key, folder), []).append((node, where, self.origin_of(key)))
        else:
            self.offer(key, folder, Offer(node, (reading.rank, -reading.revision, depth), self.origin_of(key)))

    def origin_of(self, key: str) -> Origin:
        """The latest entry of this student."""
        return self.origins.get(key, Origin(key=key))

    def offer(self, key: str, folder: str, new_offer: Offer) -> None:
        """Keep the better one of this file and the earlier file for the exercise, and list the other."""
        old_offer = self.offers.get((key, folder))
        if old_offer is None:
            self.offers[key, folder] = new_offer
            return
        self.rivals.setdefault((key, folder), {self.trail(old_offer)}).add(self.trail(new_offer))
        chosen, reason = better(old_offer, new_offer)
        refused = old_offer if chosen is new_offer else new_offer
        self.offers[key, folder] = chosen
        self.log.left_out[OTHER_ATTEMPTS] += 1
        self.log.list_file(
            key, self.trail(refused), f"for {folder} the file {label(self.trail(chosen))} counts: {reason}"
        )

    def trail(self, offer: Offer) -> str:
        """The path of the file, relative to the folder that holds the class."""
        node = offer.node
        place = os.path.relpath(node.path, self.place)
        if not node.member:
            return place
        return node.member if place == "." else f"{place}:{node.member}"

    def leave_out_foreign(self, key: str, name: str, where: str, hint: str | None) -> None:
        """Leave out a file that is neither code nor an archive."""
        if name.lower() in EXPECTED:
            self.log.left_out[USUAL] += 1
            return
        self.log.left_out[FOREIGN] += 1
        self.log.list_file(key, where, NO_CODE)
        if not name.lower().endswith(BESIDE_ANSWERS):
            self.note_unusable(key, name, NO_CODE, hint)

    def refuse(self, key: str, name: str, where: str, reason: str, hint: str | None) -> None:
        """Refuse a file, which is missed where its exercise has no other one."""
        self.log.refuse(key, where, reason)
        self.note_unusable(key, name, reason, hint)

    def note_unusable(self, key: str, name: str, reason: str, hint: str | None) -> None:
        """Note why a file cannot be graded: it may be the only one of the student, or of the exercise that it names."""
        sentence = f"{label(name)}: {reason}"
        self.reasons.setdefault(key, sentence)
        meant = exercise_meant(name) or hint
        if meant in self.requested and not name.lower().startswith("test_"):
            self.unusable.setdefault((key, meant), sentence)

    def result(self) -> Found:
        """All files that were found, as plain data. It empties the collector."""
        self.ask_about_classes()
        for (key, folder), nodes in self.unnamed.items():
            slug = folder.partition("_")[2]
            if (key, folder) in self.offers:
                best = label(self.trail(self.offers[key, folder]))
                self.log.left_out[OTHER_ATTEMPTS] += len(nodes)
                for _, where, _ in nodes:
                    self.log.list_file(key, where, f"for {folder} the file {best} counts: it has the better name")
                continue
            if len(nodes) == 1:
                self.offers[key, folder] = Offer(nodes[0][0], (ALONE, 0, 0), nodes[0][2])
                continue
            for _, where, _ in nodes:
                reason = f"one of {len(nodes)} files that could be {folder}: call the right one {slug}.py"
                self.refuse(key, f"{slug}.py", where, reason, folder)
        self.log.list_the_rest()
        placed = {key for key, _ in self.offers}
        for key in self.people:
            if key not in placed and not self.log.listed[key]:
                self.log.misplaced.append(Misplaced(label(key), f"nothing for {in_short(self.exercises)} in it"))
        count = Count(
            self.log.files,
            len(self.offers),
            self.log.refused,
            sum(need.files for need in self.log.needs_person),
            {reason: files for reason, files in self.log.left_out.most_common() if files},
            self.log.complete,
        )
        unplaced = tuple(sorted(self.unplaced(placed), key=lambda one: (one.student, one.exercise)))
        handins = sorted(self.handins(), key=lambda handin: (handin.student.id, handin.exercise))
        misplaced = sorted(self.log.misplaced, key=lambda entry: entry.path)
        needing = sorted(self.log.needs_person, key=lambda need: need.where)
        return Found(self.layout(), tuple(handins), tuple(misplaced), tuple(needing), count, unplaced)

    def ask_about_classes(self) -> None:
        """Ask a person about entries in which several folders hold the same exercise: perhaps each is a student's."""
        least = FEW if len(self.people) == 1 else SEVERAL
        rivals = [*self.rivals.items(), *((own, {where for _, where, _ in n}) for own, n in self.unnamed.items())]
        for key in dict.fromkeys(key for (key, _), places in rivals if len(_branches(places)) >= least):
            if key not in self.origins:  # the folder of one student
                continue
            own = [pair for pair in self.offers if pair[0] == key]
            files = len(own)
            for pair in own:
                del self.offers[pair]
            files += sum(len(self.unnamed.pop(pair)) for pair in list(self.unnamed) if pair[0] == key)
            del self.people[key]
            place = (label(self.origin_of(key).name),)
            self.log.needs_person.append(NeedsPerson((label(key),), place, SEVERAL_STUDENTS, ONE_EACH, files))

    def students(self, keys: Iterable[str]) -> dict[str, Student]:
        """The students whose files have these keys, by the id that their platform gives."""
        names_by_id = {self.shorter.get(id, id): name for key in keys for id, name in self.people[key]}
        ids = student_ids.ids(names_by_id)
        return {id: Student(ids[id], label(self.shorter.get(name, name))) for id, name in names_by_id.items()}

    def unplaced(self, placed: set[str]) -> Iterable[Unplaced]:
        """The students of whom nothing could be placed, or nothing for an exercise. placed: the keys of the others."""
        known_names = set(map(likeness, placed))
        unplaced_keys = [
            key
            for key in self.people
            if key not in placed | self.beside | self.elsewhere
            and (key in self.reasons or key in self.log.refusals or likeness(key) not in known_names)
        ]
        students = self.students([*placed, *unplaced_keys])
        nothing = f"nothing for {in_short(self.exercises)} in it"
        missing = {(key, ""): self.reasons.get(key) or self.log.refusals.get(key, nothing) for key in unplaced_keys}
        missing |= {
            (key, folder): why
            for (key, folder), why in self.unusable.items()
            if key in placed and key not in self.beside and (key, folder) not in self.offers
        }
        for (key, folder), why in missing.items():
            for id, _ in self.people[key]:
                yield Unplaced(students[self.shorter.get(id, id)], why, self.origin_of(key), folder)

    def handins(self) -> Iterable[HandIn]:
        """The best file of each student for each exercise. It empties `offers`."""
        students = self.students({key for key, _ in self.offers})
        while self.offers:  # they are removed one by one, so that a large class is not in memory twice
            (key, folder), offer = self.offers.popitem()
            for id in (self.shorter.get(id, id) for id, _ in self.people[key]):
                yield HandIn(students[id], folder, offer.node.place, offer.node.member, offer.origin)

    def layout(self) -> str:
        """The layout in words: "Moodle's folders (180), an archive a student (20)"."""
        parts = [f"{name} ({count})" if count > 1 else name for name, count in self.layouts.most_common()]
        if self.clones:
            parts.append(f"clones of this repository ({len(self.clones)})")
        return ", ".join(parts) or "nothing that looks like a class"


def _branches(places: Iterable[str]) -> set[str]:
    """The folders and archives in which the ways to these files part."""
    ways = [re.split("[/:]+", place)[:-1] for place in places]
    shared = sum(1 for _ in itertools.takewhile(lambda parts: len(set(parts)) == 1, zip(*ways)))
    return {way[shared] for way in ways if len(way) > shared}
