"""Collects the best file of each student for each exercise, and counts what is not graded.

A file in which something is written goes before one that holds what everybody got. Else these rules decide in turn: the
better name (the lesson's own, then the number, then the slug with more words, then the only file of an exercise's
folder), the later upload ("-1", "(1)"), the lower depth, the later modification, the suffix .py.
"""

import itertools
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from grader.catalog import Exercise, signatures
from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.classroom.handins import Count, Found, HandIn, Misplaced, NeedsPerson, Origin, Passed, Student, Unplaced
from grader.classroom.intake import archives, beneath, names
from grader.classroom.intake.beneath import is_too_long
from grader.classroom.intake.names import ALONE, exercise_meant, in_short, is_code, likeness, reading_of
from grader.classroom.untouched import is_begun
from grader.records.safe_files import plain_name
from grader.records.sanitize import label
from grader.records.source import defined_names

TEXT = 64 << 20  # bytes of a platform's list of its students
SAME_TIME_S = 2.0  # archives keep times no finer
MOST_LISTED = 20  # files of one student that are listed
MOST_LOOKED_INTO = 100  # files of one student that are read because another one is for the same exercise
NOTHING_WRITTEN = "in the other one nothing is written"  # why a file counts
MOST_PASSED, MOST_DEEP = 200_000, 40  # of one student: files that are counted without a look, and nested folders
T = TypeVar("T")
ARCHIVES = (".zip", ".rar", ".7z", ".tar", ".gz", ".tgz", ".bz2", ".xz")  # read or not, code may be in it
EXPECTED = {"readme.md", "hints.md", "timestamp.txt", "__init__.py", "conftest.py", "thumbs.db", "desktop.ini"}
# What lies beside a lesson: who hands in the whole folder hands it in too. A test holds this against exercises/.
OF_LESSONS = re.compile(
    r"review\.md|figure\.js|\w+\.svg|diagrams\.toml|config\.json|tokenizer\.json|model\.safetensors|\w+\.pt", re.I
)
SCRIPTS_OF_LESSONS = re.compile(r"(?:experiment|train|stories|portfolio|measure_\w+)\.py", re.I)
OF_LESSON = "it has the name of a file of the lesson's: call it {}.py"
USUAL, FOREIGN = "README and the like", "neither .py nor .ipynb"  # why a file is left out
OTHER_EXERCISES, OTHER_ATTEMPTS = "of exercises not asked for", "other attempts"
FEW, SEVERAL = 2, 3  # folders with the same exercise that may be a class's: in the only entry, and in one of several
SEVERAL_STUDENTS = "several folders in it hold the same exercise: is each a student's?"
ONE_EACH = (
    "if it holds a class, unpack it and name it alone as SUBMISSIONS; if it is one student's, leave one file of each "
    "exercise in it"
)
BY_CODE = "its name says no exercise, but its code has what {} for: {}"
MOST_NUMBERS = 4  # of exercises that a file may be for
NO_CODE = "it is neither .py nor .ipynb, nor a .zip, .tar.gz or .tgz"
# Pictures and data that lie beside an answer. No other file without an answer to its exercise is passed over.
BESIDE_ANSWERS = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".csv", ".json", ".js", ".css", ".pt", ".npy", ".toml")


@dataclass(frozen=True, slots=True)
class Disk:
    """An entry of a folder on disk; archives.Node offers the same of an archive's.

    kind: "dir", "file", "link", or "other" (pipes, devices); archives have "outside" too (an absolute path, or "..").
    "long" stands for a name of more than beneath.MAX_NAME bytes, which is refused.
    """

    name: str
    kind: str
    place: str
    member = ""

    @property
    def path(self) -> Path:
        return Path(self.place)

    @property
    def modified(self) -> float:
        """Seconds since 1970; 0 where they cannot be read."""
        try:
            return beneath.facts(self.place).st_mtime
        except OSError:
            return 0.0

    def children(self) -> list["Disk"]:
        """The entries of the folder in the order of their names. Raises OSError."""
        entries = (
            Disk(sys.intern(name), "long" if is_too_long(name) else kind, beneath.join(self.place, name))
            for name, kind in beneath.entries(self.place)
        )
        return sorted(entries, key=lambda entry: entry.name)

    def text(self) -> str:
        """The content as UTF-8 text. Raises NoSuchFile or BadSubmission."""
        return beneath.read(self.place, TEXT).decode("utf-8", "replace")

    def open(self, download: bool = False) -> archives.Node:
        """The root of this archive. Raises archives.BadArchive."""
        return archives.tree(self.place, download=download)


Entry = Disk | archives.Node


def root_folder(folder: Path) -> Disk:
    """The folder that the instructor names, the only one that may be reached through a link."""
    place = beneath.place(folder)
    kind = "dir" if os.path.isdir(place) else "file"
    return Disk(os.path.basename(os.path.realpath(place)), kind, place)


@dataclass(slots=True)
class Offer:
    """A file of one student for one exercise. order: the criteria to compare, smaller is better."""

    node: Entry
    order: tuple[int, int, int]
    origin: Origin
    is_begun: bool | None = None  # whether something is written in it; None: nobody has looked


def better(old: Offer, new: Offer) -> tuple[Offer, str]:
    """The better one of two files, and why it is better."""
    reasons = ("it has the better name", "it was uploaded later", "it lies less deep")
    for first, second, reason in zip(old.order, new.order, reasons):
        if first != second:
            return (old if first < second else new), reason
    difference = new.node.modified - old.node.modified
    if abs(difference) > SAME_TIME_S:
        return (new if difference > 0 else old), "it was changed last"
    notebooks = [offer.node.name.lower().endswith(".ipynb") for offer in (old, new)]
    if notebooks[0] != notebooks[1]:
        return (new if notebooks[0] else old), "of a .py and an .ipynb of the same time the .py does"
    return old, "its path comes first"


class FileLog:
    """The outcomes of files so far. In each method `key` is a student's key, "" for a file of no student."""

    def __init__(self) -> None:
        self.files = self.refused = 0
        self.left_out: Counter[str] = Counter()  # files, by reason
        self.misplaced: list[Misplaced] = []
        self.passed_over: list[Passed] = []  # every file that is refused or left out
        self.further: dict[tuple[str, bool], Passed] = {}  # those of a student beyond the first ones, as one entry
        self.needs_person: list[NeedsPerson] = []
        self.refusals: dict[str, str] = {}  # why the first file of a student was refused, by key
        self.listed: Counter[str] = Counter()  # files that were listed, by student
        self.accounted: Counter[str] = Counter()  # places in passed_over, by student
        self.passed: Counter[str] = Counter()  # files that were counted without a look, by student
        self.complete = True  # whether every file could be counted
        self.failure = ""  # why the last attempt failed

    def attempt(self, key: str, where: str, step: Callable[[], T]) -> T | None:
        """The result of `step`. Where a broken folder or archive makes it fail, the entry is refused, and None."""
        try:
            return step()
        except (BadSubmission, NoSuchFile) as error:
            reason = str(error)
        except OSError as error:
            reason = f"it cannot be read: {error.strerror}"
        self.files += 1
        self.refuse(key, where, reason)
        self.failure = reason
        return None

    def refuse(self, key: str, where: str, reason: str, files: int = 1) -> None:
        """Count files as refused, and list them with the reason."""
        self.refused += files
        self.account(key, where, reason, files, refused=True)
        self.refusals.setdefault(key, reason)
        self.list_file(key, where, reason)

    def leave_out(self, key: str, node: Entry, where: str, reason: str) -> None:
        """Leave out a file, or a folder with everything in it."""
        files = self.count(key, node)
        self.files += files
        self.pass_over(key, where, reason, files=files)

    def pass_over(self, key: str, where: str, reason: str, detail: str = "", files: int = 1) -> None:
        """Count files as left out. detail: more than the reason, for the ledger."""
        self.left_out[reason] += files
        self.account(key, where, detail or reason, files)

    def account(self, key: str, where: str, reason: str, files: int, refused: bool = False) -> None:
        """Note files that are not graded. A student's first MOST_LISTED places stand alone, all others in one entry."""
        self.accounted[key] += 1
        if not key or self.accounted[key] <= MOST_LISTED:
            self.passed_over.append(Passed(label(where), reason, key, refused=refused, files=files))
            return
        before = self.further.get((key, refused))
        entry = Passed(label(key), "more of the same student's files", key, refused=refused)
        self.further[key, refused] = replace(entry, files=files + (before.files if before else 0))

    def ask(self, entries: Sequence[tuple[Entry, str]], who: Iterable[str], reason: str, to_do: str) -> None:
        """List entries, each with its place, as in need of a person, who must say whose they are."""
        files = sum(self.count(where, node) for node, where in entries)
        self.files += files
        places = tuple(sorted(label(where) for _, where in entries))
        self.needs_person.append(NeedsPerson(tuple(map(label, who)), places, reason, to_do, files))

    def list_file(self, key: str, where: str, reason: str) -> None:
        """List a file that does not count, with the reason. At most MOST_LISTED files of a student are listed."""
        self.listed[key] += 1
        if not key or self.listed[key] <= MOST_LISTED:
            self.misplaced.append(Misplaced(label(where), reason))

    def list_the_rest(self) -> None:
        """Add a line for each student of whom more files could not be placed than were listed."""
        for key, count in self.listed.items():
            if key and count > MOST_LISTED:
                self.misplaced.append(Misplaced(label(key), f"{count - MOST_LISTED:,} more files could not be placed"))

    def count(self, key: str, node: Entry, depth: int = 0) -> int:
        """The number of files in an entry that is not examined. An archive is one file.

        Where there are too many, the count stops and is marked as incomplete.
        """
        if node.kind != "dir":
            self.passed[key] += 1
            return 1
        try:
            if depth > MOST_DEEP or self.passed[key] > MOST_PASSED:
                raise OSError
            return sum(self.count(key, child, depth + 1) for child in node.children())
        except OSError:
            self.complete = False
            return 0


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
        self.looked_into: Counter[str] = Counter()  # rival files that were read, by key
        self.rivals: dict[tuple[str, str], set[str]] = {}  # places of files for one exercise, where there are several
        self.unusable: dict[tuple[str, str], str] = {}  # why a file cannot be graded, by key of the files and exercise
        self.reasons: dict[str, str] = {}  # the same of the first such file, by key of the files
        self.elsewhere: set[str] = set()  # keys with files of exercises that were not asked for
        self.origins: dict[str, Origin] = {}  # of each student's latest entry, by key
        self.beside: set[str] = set()  # keys of entries beside downloads, which may belong to no student
        self.download = ""  # the place of the download that is walked; "": the class is in no download of its own
        self.subjects: dict[str, set[str]] = {}  # the exercises that each download is of, by its place
        self.useful: set[tuple[str, str]] = set()  # keys and downloads with code for some exercise
        self.reasons_in: dict[tuple[str, str], str] = {}  # why a file cannot be graded, by key and download
        self.unknown: dict[tuple[str, str], str] = {}  # the same of code or an archive that names no exercise
        self.layouts: Counter[str] = Counter()

    def collect_code(self, key: str, node: Entry, name: str, where: str, hint: str | None, depth: int) -> None:
        """Offer one .py or .ipynb file for the exercise that its name or its folder names."""
        if name.lower() in EXPECTED:
            self.log.pass_over(key, where, USUAL)
            return
        reading = reading_of(name)
        folder = reading.exercise
        if folder and hint and folder != hint:
            return self.refuse(key, name, where, f"its name says {folder}, but it lies in {hint}", hint)
        if folder is None:
            if hint and SCRIPTS_OF_LESSONS.fullmatch(name):
                self.log.pass_over(key, where, USUAL)
                return self.note_unusable(key, name, OF_LESSON.format(hint.partition("_")[2]), hint)
            meant = hint or (self.only if reading.near in ("", self.only) else None)
            if meant is None or name.lower().startswith("test_"):
                return self.refuse(key, name, where, self.by_code(node) or reading.reason, hint)
            folder = meant
        self.useful.add((key, self.download))
        self.subjects.setdefault(self.download, set()).add(folder)
        if folder not in self.requested:
            self.log.pass_over(key, where, OTHER_EXERCISES)
            self.elsewhere.add(key)
        elif reading.exercise is None:
            self.unnamed.setdefault((key, folder), []).append((node, where, self.origin_of(key)))
        else:
            rank = 2 * reading.rank + (plain_name(name) != name)
            self.offer(key, folder, Offer(node, (rank, -reading.revision, depth), self.origin_of(key)))

    def by_code(self, node: Entry) -> str:
        """Which exercises a file without their names may be for, as its code tells; "" where it tells none.

        A file of a chapter may be for several, so a person decides.
        """
        try:
            defined = defined_names(HandIn(Student(""), "", node.place, node.member).read().source)
        except (BadSubmission, NoSuchFile, OSError):
            return ""
        numbers = signatures.exercises_of(defined)[:MOST_NUMBERS]
        if not numbers:
            return ""
        if len(numbers) == 1:
            return BY_CODE.format(
                f"{numbers[0]} asks", f"call it {numbers[0]}, or name that exercise alone (EX={numbers[0]})"
            )
        return BY_CODE.format(f"{', '.join(numbers[:-1])} and {numbers[-1]} ask", "call it by one of these numbers")

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
        other = old_offer if chosen is new_offer else new_offer
        if not self.is_begun(key, folder, chosen) and self.is_begun(key, folder, other):
            chosen, reason = other, NOTHING_WRITTEN
        refused = old_offer if chosen is new_offer else new_offer
        self.offers[key, folder] = chosen
        sentence = f"for {folder} the file {label(self.trail(chosen))} counts: {reason}"
        self.log.pass_over(key, self.trail(refused), OTHER_ATTEMPTS, sentence)
        self.log.list_file(key, self.trail(refused), sentence)

    def is_begun(self, key: str, folder: str, offer: Offer) -> bool:
        """Whether something is written in a file, as far as a student's first files are looked into."""
        if offer.is_begun is None:
            self.looked_into[key] += 1
            handin = HandIn(Student(""), folder, offer.node.place, offer.node.member)
            offer.is_begun = self.looked_into[key] > MOST_LOOKED_INTO or is_begun(handin)
        return offer.is_begun

    def trail(self, offer: Offer) -> str:
        """The path of the file, relative to the folder that holds the class."""
        node = offer.node
        place = os.path.relpath(node.path, self.place)
        if not node.member:
            return place
        return node.member if place == "." else f"{place}:{node.member}"

    def leave_out_foreign(self, key: str, name: str, where: str, hint: str | None) -> None:
        """Leave out a file that is neither code nor an archive."""
        if name.lower() in EXPECTED or (hint and OF_LESSONS.fullmatch(name)):
            self.log.pass_over(key, where, USUAL)
            return
        self.log.pass_over(key, where, FOREIGN, NO_CODE)
        self.log.list_file(key, where, NO_CODE)
        if not name.lower().endswith(BESIDE_ANSWERS):
            self.note_unusable(key, name, NO_CODE, hint)

    def refuse(self, key: str, name: str, where: str, reason: str, hint: str | None) -> None:
        """Refuse a file, which is missed where its exercise has no other one."""
        self.log.refuse(key, where, reason)
        self.note_unusable(key, name, reason, hint)

    def note_unusable(self, key: str, name: str, reason: str, hint: str | None) -> None:
        """Note why a file cannot be graded: it may be the only one of the student, or of the exercise that it names."""
        if hint and hint not in self.requested:
            self.elsewhere.add(key)
            return
        sentence = f"{label(name)}: {reason}"
        self.reasons.setdefault(key, sentence)
        self.reasons_in.setdefault((key, self.download), sentence)
        meant = exercise_meant(name) or hint
        if name.lower().startswith("test_"):
            return
        if meant in self.requested:
            self.unusable.setdefault((key, meant), sentence)
        elif meant is None and (is_code(name) or name.lower().endswith(ARCHIVES)):
            self.unknown.setdefault((key, self.download), sentence)

    def result(self) -> Found:
        """All files that were found, as plain data. It empties the collector."""
        self.ask_about_classes()
        for (key, folder), nodes in self.unnamed.items():
            slug = folder.partition("_")[2]
            if (key, folder) in self.offers:
                best = label(self.trail(self.offers[key, folder]))
                sentence = f"for {folder} the file {best} counts: it has the better name"
                for _, where, _ in nodes:
                    self.log.pass_over(key, where, OTHER_ATTEMPTS, sentence)
                    self.log.list_file(key, where, sentence)
                continue
            if len(nodes) == 1:
                self.offers[key, folder] = Offer(nodes[0][0], (2 * ALONE, 0, 0), nodes[0][2])
                continue
            for _, where, _ in nodes:
                reason = f"one of {len(nodes)} files that could be {folder}: call the right one {slug}.py"
                self.log.refuse(key, where, reason)
                self.reasons.setdefault(key, f"{slug}.py: {reason}")
                self.unusable.setdefault((key, folder), f"{slug}.py: {reason}")
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
        passed = tuple(sorted(self.passed(), key=lambda one: one.where))
        return Found(self.layout(), tuple(handins), tuple(misplaced), tuple(needing), count, unplaced, passed=passed)

    def passed(self) -> Iterator[Passed]:
        """All that is not graded and waits for nobody, with the students whose it is."""
        entries = [*self.log.passed_over, *self.log.further.values()]
        students = self.students({entry.key for entry in entries if entry.key in self.people})
        for entry in entries:
            people = [self.shorter.get(id, id) for id, _ in self.people.get(entry.key, ())]
            student = students[people[0]] if people else None
            yield replace(entry, student=student, origin=self.origin_of(entry.key) if entry.key else Origin())

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
        ids = names.ids(names_by_id)
        return {id: Student(ids[id], label(self.shorter.get(name, name))) for id, name in names_by_id.items()}

    def unplaced(self, placed: set[str]) -> Iterable[Unplaced]:
        """The students of whom nothing could be placed, or nothing for an exercise. placed: the keys of the others."""
        known_names = set(map(likeness, placed))
        elsewhere = placed | self.beside | self.elsewhere  # made once: of a large class it is a large set
        unplaced_keys = [
            key
            for key in self.people
            if key not in elsewhere
            and (key in self.reasons or key in self.log.refusals or likeness(key) not in known_names)
        ]
        nothing = f"nothing for {in_short(self.exercises)} in it"
        missing = {(key, ""): self.reasons.get(key) or self.log.refusals.get(key, nothing) for key in unplaced_keys}
        missing |= {
            (key, folder): why
            for (key, folder), why in self.unusable.items()
            if key in placed and key not in self.beside and (key, folder) not in self.offers
        }
        beside_others = {(key, folder): (why, lacks) for key, folder, why, lacks in self.missing_beside_others(placed)}
        not_asked_for = {place for place, folders in self.subjects.items() if place and not folders & self.requested}
        told = {(key, "") for key, _ in beside_others}
        told |= {(key, "") for key, download in self.reasons_in if download in not_asked_for}
        missing = {one: why for one, why in missing.items() if one not in told}
        missing = {one: why for one, (why, _) in beside_others.items()} | missing
        students = self.students({*placed, *(key for key, _ in missing)})
        for (key, folder), why in missing.items():
            for id, _ in self.people[key]:
                student = students[self.shorter.get(id, id)]
                lacks = beside_others[key, folder][1] if (key, folder) in beside_others else frozenset[str]()
                yield Unplaced(student, why, self.origin_of(key), folder, lacks)

    def missing_beside_others(self, placed: set[str]) -> Iterator[tuple[str, str, str, frozenset[str]]]:
        """What a student lacks and others handed in, where a file of this student cannot be graded.

        That is any file of a download with nothing else of the student's, or code or an archive that names no exercise.
        Yields the key, the exercise ("" where the student lacks several), the reason, and all that is lacking.
        """
        for (key, download), why in (self.reasons_in | self.unknown).items():
            subjects = self.subjects.get(download, set()) & self.requested
            lacking = {folder for folder in subjects if (key, folder) not in self.offers}
            is_all = download and (key, download) not in self.useful
            is_unknown = key in placed and (key, download) in self.unknown
            if lacking and (is_all or is_unknown) and key in self.people and key not in self.beside:
                yield key, min(lacking) if len(lacking) == 1 else "", why, frozenset(lacking)

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
