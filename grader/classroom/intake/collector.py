"""Walks the files of each student and keeps the best one for each exercise.

A file in which something is written goes before a stub. Then these rules decide in turn: the better name (the lesson's
own, the number, the slug with more words, the only file of an exercise's folder), the later upload ("-1", "(1)"), the
lower depth, the later modification, the suffix .py.
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from grader.catalog import Exercise, signatures
from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.classroom.handins import HandIn, LeftOut, Misplaced, Origin, Student
from grader.classroom.intake import archives
from grader.classroom.intake.entries import (
    EXPECTED,
    FORKS,
    OF_LESSONS,
    SCRIPTS_OF_LESSONS,
    Entry,
    count,
    is_exercises,
    kind_reason,
    passed_over,
)
from grader.classroom.intake.names import (
    ALONE,
    CANONICAL,
    exercise_meant,
    exercise_of_folder,
    in_short,
    is_code,
    reading_of,
)
from grader.classroom.students import Decision
from grader.classroom.untouched import is_begun
from grader.records import limited
from grader.records.safe_files import plain_name
from grader.records.sanitize import label
from grader.records.source import defined_names

DEEPEST, MOST_ENTRIES, MOST_ARCHIVES = 12, 10_000, 30  # of one student: nested folders, entries, archives
MOST_SECONDS = 5.0  # processor time to open the archives of one student; honest ones take a hundredth
SAME_TIME_S = 2.0  # archives keep times no finer
MOST_LISTED = 20  # files of one student that are listed one by one
MOST_LOOKED_INTO = 100  # files of one student that are read because another one is for the same exercise
USUAL, BESIDE, OTHER_EXERCISES = "README and the like", "beside exercises/ in a clone", "of exercises not asked for"
NO_CODE = "it is neither .py nor .ipynb, nor a .zip, .tar.gz or .tgz"
# Pictures and data that lie beside an answer. Any other file without an answer to its exercise needs a person.
BESIDE_ANSWERS = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".csv", ".json", ".js", ".css", ".pt", ".npy", ".toml")
FEW, SEVERAL = 2, 3  # folders with the same exercise that may be a class's: in the only entry, and in one of several
SEVERAL_STUDENTS = "several folders in it hold the same exercise: is each a student's?"
T = TypeVar("T")


@dataclass(slots=True)
class Offer:
    """A file of one student for one exercise. order: the criteria to compare, smaller is better."""

    node: Entry
    where: str
    order: tuple[int, int, int]
    origin: Origin
    is_begun: bool | None = None  # None: nobody has looked


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file that cannot be graded. exercise: that it is for, or "" if it may be any; is_code: or an archive."""

    key: str
    where: str
    reason: str
    exercise: str
    is_code: bool


class Collector:
    """The files of all students whose names are certain. In each method `key` is a student's key.

    decisions: by place, what names.csv says.
    """

    def __init__(self, exercises: Sequence[Exercise], decisions: Mapping[str, Decision]) -> None:
        self.exercises, self.decisions = exercises, decisions
        self.requested = {exercise.folder for exercise in exercises}
        self.only = exercises[0].folder if len(exercises) == 1 else None
        self.people: dict[str, tuple[tuple[str, str], ...]] = {}  # the id and name of each student of an entry
        self.shorter: dict[str, str] = {}  # ids without the prefix of clones
        self.origin: dict[str, Origin] = {}  # the entry that is being walked, by key
        self.offers: dict[tuple[str, str], Offer] = {}
        self.unnamed: defaultdict[tuple[str, str], list[Offer]] = defaultdict(list)
        self.rivals: defaultdict[tuple[str, str], set[str]] = defaultdict(set)  # places of files for one exercise
        self.refusals: list[Refusal] = []
        self.passed: list[tuple[str, LeftOut]] = []  # with the key
        self.asked: list[Misplaced] = []  # entries of no certain student
        self.elsewhere: set[str] = set()  # who handed in exercises that are not requested
        self.files: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()  # entries that were walked
        self.archives: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)  # that opening archives took
        self.looked_into: Counter[str] = Counter()

    # The walk.

    def walk_entry(self, key: str, node: Entry, name: str, where: str, hint: str | None, depth: int = 0) -> None:
        """Take in one entry of a student. name: as the student called it; hint: the exercise of its folder."""
        if node.kind == "dir":
            return self.walk_student(key, node, where + "/", hint, depth)
        self.files[key] += 1
        if node.kind != "file":
            self.refuse(key, name, where, kind_reason(node.kind), hint)
        elif archives.is_archive(name):
            self.walk_archive(key, node, name, where, hint, depth)
        elif is_code(name):
            self.collect_code(key, node, name, where, hint, depth)
        elif name.lower() in EXPECTED or (hint and OF_LESSONS.fullmatch(name)):
            self.leave_out(key, where, USUAL)
        elif name.lower().endswith(BESIDE_ANSWERS):
            self.leave_out(key, where, NO_CODE)
        else:
            self.refuse(key, name, where, NO_CODE, hint)

    def walk_archive(self, key: str, node: Entry, name: str, where: str, hint: str | None, depth: int) -> None:
        """Take in a student's archive, unless their archives take too much."""
        self.archives[key] += 1
        if self.archives[key] > MOST_ARCHIVES:
            return self.refuse(key, name, where, f"more than {MOST_ARCHIVES} archives: this one was not opened", hint)
        if self.seconds[key] > MOST_SECONDS:
            reason = f"the archives took more than {MOST_SECONDS:g} s: this one was not opened"
            return self.refuse(key, name, where, reason, hint)
        before = limited.spent()
        root, reason = attempt(lambda: node.open())
        self.seconds[key] += limited.spent() - before
        if root is None:
            self.refuse(key, name, where, reason, hint)
        else:
            self.walk_student(key, root, where + ":", hint, depth)

    def walk_student(self, key: str, node: Entry, trail: str, hint: str | None = None, depth: int = 0) -> None:
        """Walk a student's folder. hint: the exercise whose folder this is, or lies in."""
        children, reason = attempt(lambda: list[Entry](node.children()))
        if depth > DEEPEST:
            children, reason = None, f"more than {DEEPEST} folders deep"
        if children is None:
            return self.refuse(key, "", trail, reason, hint)
        clone = next((child for child in children if is_exercises(child)), None)
        for child in children:
            where = trail + child.name
            if reason := passed_over(child) or (BESIDE if clone not in (None, child) else ""):
                self.leave_out(key, where, reason, count(child))
                self.files[key] += reason != FORKS  # those of only hidden files are listed too
                continue
            self.seen[key] += 1
            if self.seen[key] > MOST_ENTRIES:
                reason = f"more than {MOST_ENTRIES:,} entries: the rest was not looked at"
                return self.refuse(key, "", trail, reason, hint)
            is_archive = child.kind == "file" and archives.is_archive(child.name)
            inner = exercise_of_folder(archives.stem(child.name) if is_archive else child.name)
            is_box = child.kind == "dir" or is_archive
            self.walk_entry(key, child, child.name, where, (is_box and inner) or hint, depth + is_box)

    def collect_code(self, key: str, node: Entry, name: str, where: str, hint: str | None, depth: int) -> None:
        """Offer one .py or .ipynb file for the exercise that names.csv, its name or its folder says."""
        if name.lower() in EXPECTED or (hint and SCRIPTS_OF_LESSONS.fullmatch(name) and not self.decided(where)):
            if name.lower() not in EXPECTED:
                slug = (hint or "").partition("_")[2]
                reason = f"it has the name of a file of the lesson's: call it {slug}.py"
                return self.refuse(key, name, where, reason, hint)
            return self.leave_out(key, where, USUAL)
        reading, decided = reading_of(name), self.decided(where)
        folder = decided or reading.exercise
        if folder and hint and folder != hint and not decided:
            return self.refuse(key, name, where, f"its name says {folder}, but it lies in {hint}", hint)
        if folder is None:
            folder = hint or (self.only if reading.near in ("", self.only) else None)
            if folder is None or reading.is_torn or name.lower().startswith("test_"):
                return self.refuse(key, name, where, by_code(node) or reading.reason, hint)
        if folder not in self.requested:
            self.elsewhere.add(key)
            return self.leave_out(key, where, OTHER_EXERCISES)
        rank = CANONICAL if decided else 2 * reading.rank + (plain_name(name) != name)
        offer = Offer(node, where, (rank, -reading.revision, depth), self.origin[key])
        if reading.exercise is None and not decided:
            self.unnamed[key, folder].append(offer)
        else:
            self.offer(key, folder, offer)

    def decided(self, where: str) -> str:
        """The exercise that names.csv gives this file, or ""."""
        decision = self.decisions.get(label(where))
        return decision.exercise if decision else ""

    def offer(self, key: str, folder: str, new: Offer) -> None:
        """Keep the better one of this file and the earlier file for the exercise, and leave out the other one."""
        self.rivals[key, folder].add(new.where)
        old = self.offers.get((key, folder))
        if old is None:
            self.offers[key, folder] = new
            return
        chosen, reason = better(old, new)
        other = old if chosen is new else new
        if not self.is_begun(key, folder, chosen) and self.is_begun(key, folder, other):
            chosen, other, reason = other, chosen, "nothing is written in this one"
        self.offers[key, folder] = chosen
        self.leave_out(key, other.where, f"for {folder} the file {label(chosen.where)} counts: {reason}")

    def is_begun(self, key: str, folder: str, offer: Offer) -> bool:
        """True if something is written in a file, as far as a student's first files are looked into."""
        if offer.is_begun is None:
            self.looked_into[key] += 1
            source = _source(offer.node)
            offer.is_begun = self.looked_into[key] > MOST_LOOKED_INTO or source is None or is_begun(source, folder)
        return offer.is_begun

    def refuse(self, key: str, name: str, where: str, reason: str, hint: str | None) -> None:
        """Note a file that cannot be graded. Whether a person must look is known once all files are."""
        is_work = not name or is_code(name) or archives.is_archive(name)
        exercise = self.decided(where) or exercise_meant(name) or hint or self.only or ""
        if name.lower().startswith("test_"):
            return self.leave_out(key, where, reason)
        self.refusals.append(Refusal(key, where, reason, exercise, is_work))

    def leave_out(self, key: str, where: str, reason: str, files: int = 1) -> None:
        """Note files that need no person."""
        self.passed.append((key, LeftOut(label(where), reason, files=files)))

    def ask(self, where: str, reason: str, to_do: str) -> None:
        """Note an entry that a person must place."""
        self.asked.append(Misplaced(label(where), reason, to_do))

    # The outcome.

    def settle_files(self) -> None:
        """Decide about the files whose names say no exercise, and about entries that may hold a class."""
        self._ask_about_classes()
        for (key, folder), offers in self.unnamed.items():
            if (key, folder) in self.offers:
                best = label(self.offers[key, folder].where)
                for one in offers:
                    self.leave_out(key, one.where, f"for {folder} the file {best} counts: it has the better name")
            elif len(offers) == 1:
                self.offers[key, folder] = Offer(offers[0].node, offers[0].where, (2 * ALONE, 0, 0), offers[0].origin)
            else:
                reason = f"one of {len(offers)} files that could be {folder}"
                self.refusals += [Refusal(key, one.where, reason, folder, True) for one in offers]

    def _ask_about_classes(self) -> None:
        """Ask a person about entries in which several folders hold the same exercise: perhaps each is a student's."""
        least = FEW if len(self.people) == 1 else SEVERAL
        places = {pair: {offer.where for offer in offers} for pair, offers in self.unnamed.items()}
        for key in {key for (key, _), where in {**self.rivals, **places}.items() if len(_branches(where)) >= least}:
            if not self.origin[key].name:  # the folder of one student
                continue
            for pair in [pair for pair in (*self.offers, *self.unnamed) if pair[0] == key]:
                self.offers.pop(pair, None)
                self.unnamed.pop(pair, None)
            del self.people[key]
            self.refusals = [one for one in self.refusals if one.key != key]
            to_do = "if it holds a class, unpack it and grade it alone; else leave one file of each exercise in it"
            self.ask(self.origin[key].name, SEVERAL_STUDENTS, to_do)

    def handins(self, students: Mapping[str, Student]) -> Iterator[HandIn]:
        """The best file of each student for each exercise. students: by id."""
        for (key, folder), offer in self.offers.items():
            for id in self.ids_of(key):
                yield HandIn(students[id], folder, offer.node.place, offer.node.member, offer.origin)

    def misplaced(self, students: Mapping[str, Student]) -> Iterator[Misplaced]:
        """All that needs a person: entries of nobody, and files without which a student lacks an exercise."""
        yield from self.asked
        handed_in = {folder for _, folder in self.offers}
        own: defaultdict[str, set[str]] = defaultdict(set)
        for key, folder in self.offers:
            own[key].add(folder)
        missed = set()
        for one in self.refusals:
            if one.exercise:
                is_missed = one.exercise in self.requested - own[one.key]
            else:
                is_missed = not own[one.key] or (one.is_code and bool(handed_in - own[one.key]))
            if not is_missed:
                if one.exercise and one.exercise not in self.requested:
                    self.elsewhere.add(one.key)
                self.leave_out(one.key, one.where, one.reason)
                continue
            missed.add(one.key)
            for id in self.ids_of(one.key):
                yield Misplaced(label(one.where), one.reason, "", students[id], one.exercise)
        for key in self.people:
            if self.files[key] and key not in {*own} | missed | self.elsewhere:
                reason = f"nothing for {in_short(self.exercises)} in it"
                for id in self.ids_of(key):
                    yield Misplaced(label(self.origin[key].name or key), reason, "", students[id])

    def left_out(self, students: Mapping[str, Student]) -> Iterator[LeftOut]:
        """All that is not graded and needs no person: a student's first files one by one, the others in one line."""
        listed: Counter[str] = Counter()
        more: Counter[str] = Counter()
        for key, one in self.passed:
            student = next((students[id] for id in self.ids_of(key)), None)
            listed[key] += 1
            if not key or listed[key] <= MOST_LISTED:
                yield LeftOut(one.path, one.reason, student, one.files)
            else:
                more[key] += one.files
        for key, files in more.items():
            student = next((students[id] for id in self.ids_of(key)), None)
            yield LeftOut(label(key), "more files of the same student", student, files)

    def ids_of(self, key: str) -> list[str]:
        """The ids of the students whose files have this key."""
        return [self.shorter.get(id, id) for id, _ in self.people.get(key, ())]


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


def by_code(node: Entry) -> str:
    """Which exercises the code of a file may be for, in words; "" if it tells none. A person decides."""
    source = _source(node)
    numbers = signatures.exercises_of(defined_names(source))[:4] if source is not None else []
    return f"its name says no exercise; its code looks like {' or '.join(numbers)}" if numbers else ""


def attempt(step: Callable[[], T]) -> tuple[T | None, str]:
    """What `step` returns, or None and why a broken folder or archive makes it fail."""
    try:
        return step(), ""
    except (BadSubmission, NoSuchFile) as error:
        return None, str(error)
    except OSError as error:
        return None, f"it cannot be read: {error.strerror}"


def _source(node: Entry) -> str | None:
    """The source in a file; None if it cannot be read."""
    try:
        return HandIn(Student(""), "", node.place, node.member).read().source
    except (BadSubmission, NoSuchFile, OSError):
        return None


def _branches(places: Iterable[str]) -> set[str]:
    """The folders and archives in which the ways to these files part."""
    ways = [re.split("[/:]+", place)[:-1] for place in places]
    shared = sum(1 for _ in itertools.takewhile(lambda parts: len(set(parts)) == 1, zip(*ways)))
    return {way[shared] for way in ways if len(way) > shared}
