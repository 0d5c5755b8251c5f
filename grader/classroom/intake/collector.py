"""Walks the files of one student and keeps the best one for each exercise.

A file in which something is written goes before a stub. Then these rules decide in turn: the better name (the lesson's
own, the number, the slug with more words, the only file of an exercise's folder), the later upload ("-1", "(1)"), the
lower depth, the later modification, the suffix .py.
"""

import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from grader.catalog import Exercise, stubs
from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.classroom.intake import archives, entries, names
from grader.classroom.intake.archives import Node
from grader.classroom.marks import PERSON, HandIn, Mark, Origin, Student, left_out, listed
from grader.classroom.students import Decisions
from grader.classroom.untouched import is_begun
from grader.records import limited
from grader.records.safe_files import plain_name
from grader.records.sanitize import label
from grader.records.source import written_definitions

DEEPEST, MOST_ENTRIES = 12, 10_000  # of one student: nested folders, entries
MOST_SECONDS = 5.0  # processor time to open the archives of one student; honest ones take a hundredth
SAME_TIME_S = 2.0  # archives keep times no finer
MOST_LISTED, MOST_NAMED = 20, 5  # files of one student that are listed one by one; exercises in a message
MOST_LOOKED_INTO = 100  # files of one student that are read because another one is for the same exercise
USUAL, BESIDE, OTHER_EXERCISES = "README and the like", "beside exercises/ in a clone", "of exercises not asked for"
NO_CODE = "it is neither .py nor .ipynb, nor a .zip, .tar.gz or .tgz"
ASK = "ask the student for a .py or .ipynb file"
# Pictures and data that lie beside an answer. Any other file without an answer to its exercise needs a person.
BESIDE_ANSWERS = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".csv", ".json", ".js", ".css", ".pt", ".npy", ".toml")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a student. name: as the student called it; hint: the exercise in whose folder it lies."""

    node: Node
    name: str
    where: str
    hint: str | None
    depth: int = 0


@dataclass(slots=True)
class Offer:
    """A file for an exercise. order: the criteria to compare, smaller is better; is_named: it says the exercise."""

    node: Node
    where: str
    order: tuple[int, int, int]
    origin: Origin
    is_named: bool


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file that cannot be graded. exercise: that it is for, or "" if it may be any; is_code: or an archive."""

    where: str
    reason: str
    exercise: str
    is_code: bool


class Collector:
    """Takes in the files of one student, or of a group that hands in together.

    decisions: by place, what names.csv says; people: the id and name of each; origin: the entry of the download that
    is walked; chosen: the best file for each exercise, once `settle` has been called.
    """

    def __init__(self, exercises: Sequence[Exercise], decisions: Decisions, people: Sequence[tuple[str, str]]) -> None:
        self.exercises, self.decisions, self.people = exercises, decisions, people
        self.requested = {exercise.folder for exercise in exercises}
        self.only = exercises[0].folder if len(exercises) == 1 else None
        self.origin = Origin()
        self.offers: defaultdict[str, list[Offer]] = defaultdict(list)
        self.chosen: dict[str, Offer] = {}
        self.refusals: list[Refusal] = []
        self.passed: list[tuple[str, str]] = []  # what needs no person: where, and why
        self.has_others = False  # files for exercises that are not requested
        self.files = self.entries = self.looked_into = 0  # how many, so far
        self.seconds = 0.0  # that opening archives took

    @property
    def label(self) -> str:
        return label(self.origin.name or self.origin.key)

    def walk(self, item: Item) -> None:
        node, name = item.node, item.name
        if node.kind == "dir":
            return self.walk_folder(Item(node, "", item.where + "/", item.hint, item.depth))
        self.files += 1
        if node.kind != "file":
            self.refuse(item, entries.REFUSED[node.kind])
        elif archives.is_archive(name):
            self.walk_archive(item)
        elif names.is_code(name):
            self.collect(item)
        elif name.lower() in entries.EXPECTED or (item.hint and entries.OF_LESSONS.fullmatch(name)):
            self.leave_out(item.where, USUAL)
        elif name.lower().endswith(BESIDE_ANSWERS):
            self.leave_out(item.where, NO_CODE)
        else:
            self.refuse(item, NO_CODE)

    def walk_archive(self, item: Item) -> None:
        """Take in an archive, unless the student's archives take too much."""
        if self.seconds > MOST_SECONDS:
            return self.refuse(item, f"the archives took more than {MOST_SECONDS:g} s: this one was not opened")
        before = limited.helper.spent
        root, reason = attempt(lambda: item.node.open())
        self.seconds += limited.helper.spent - before
        if root is None:
            self.refuse(item, reason)
        else:
            self.walk_folder(Item(root, "", item.where + ":", item.hint, item.depth))

    def walk_folder(self, folder: Item) -> None:
        """Take in what lies in a folder or an archive. where: what comes before the names of its entries."""
        children, reason = attempt(lambda: folder.node.children())
        if children is None or folder.depth > DEEPEST:
            return self.refuse(folder, reason or f"more than {DEEPEST} folders deep")
        clone = next((child for child in children if entries.is_exercises(child)), None)
        for child in children:
            where = folder.where + child.name
            if reason := entries.passed_over(child) or (BESIDE if clone not in (None, child) else ""):
                self.leave_out(where, reason)
                self.files += reason != entries.FORKS  # those of only hidden files are listed too
                continue
            self.entries += 1
            if self.entries > MOST_ENTRIES:
                return self.refuse(folder, f"more than {MOST_ENTRIES:,} entries: the rest was not looked at")
            is_box = entries.is_container(child)
            inner = names.exercise_of_folder(archives.stem(child.name)) if is_box else None
            self.walk(Item(child, child.name, where, inner or folder.hint, folder.depth + is_box))

    def collect(self, item: Item) -> None:
        """Offer a .py or .ipynb file for the exercise that names.csv, its name or its folder says."""
        name, hint, decided = item.name, item.hint, self.decided(item.where)
        if name.lower() in entries.EXPECTED:
            return self.leave_out(item.where, USUAL)
        if hint and entries.SCRIPTS_OF_LESSONS.fullmatch(name) and not decided:
            return self.refuse(item, f"it has the name of a file of the lesson's: call it {hint.partition('_')[2]}.py")
        reading = names.reading_of(name)
        folder = said = decided or reading.exercise
        if said and hint and said != hint and not decided:
            return self.refuse(item, f"its name says {said}, but it lies in {hint}")
        if folder is None:
            folder = hint or (self.only if reading.near in ("", self.only) else None)
            if folder is None or reading.is_torn or name.lower().startswith("test_"):
                return self.refuse(item, by_code(item.node) or reading.reason)
        if folder not in self.requested:
            self.has_others = True
            return self.leave_out(item.where, OTHER_EXERCISES)
        rank = names.CANONICAL if decided else 2 * reading.rank + (plain_name(name) != name)
        order = rank, -reading.revision, item.depth
        self.offers[folder].append(Offer(item.node, item.where, order, self.origin, bool(said)))

    def decided(self, where: str) -> str:
        """The exercise that names.csv gives a file, or ""."""
        decision = self.decisions.of(label(where))
        return decision.exercise if decision else ""

    def refuse(self, item: Item, reason: str) -> None:
        """Note a file that cannot be graded. Whether a person must look is known once all files are."""
        name = item.name
        if name.lower().startswith("test_"):
            return self.leave_out(item.where, reason)
        is_work = not name or names.is_code(name) or archives.is_archive(name)
        exercise = self.decided(item.where) or names.exercise_meant(name) or item.hint or self.only or ""
        self.refusals.append(Refusal(item.where, reason, exercise, is_work))

    def leave_out(self, where: str, reason: str) -> None:
        self.passed.append((where, reason))

    def branches(self) -> int:
        """In how many folders, side by side, files for one exercise lie. In a class each of them is a student's."""
        return max((len(_branches([one.where for one in offers])) for offers in self.offers.values()), default=0)

    def settle(self) -> None:
        """Choose a file for each exercise. Several, none of which says the exercise, are refused."""
        for folder, offers in self.offers.items():
            named = [one for one in offers if one.is_named]
            if not named and len(offers) > 1:
                reason = f"one of {len(offers)} files that could be {folder}"
                self.refusals += [Refusal(one.where, reason, folder, True) for one in offers]
                continue
            begun = [one for one in named if len(named) == 1 or self.is_begun(folder, one)]
            best = functools.reduce(lambda old, new: better(old, new)[0], begun or named or offers)
            self.chosen[folder] = best
            for one in offers:
                reason = better(best, one)[1] if one.is_named else "it has the better name"
                if begun and one.is_named and one not in begun:
                    reason = "nothing is written in this one"
                if one is not best:
                    self.leave_out(one.where, f"for {folder} the file {label(best.where)} counts: {reason}")

    def is_begun(self, folder: str, offer: Offer) -> bool:
        """True if something is written in a file, as far as a student's first files are looked into."""
        self.looked_into += 1
        source = _source(offer.node) if self.looked_into <= MOST_LOOKED_INTO else None
        return source is None or is_begun(source, folder)

    def handins(self, students: Sequence[Student]) -> Iterator[HandIn]:
        for folder, offer in self.chosen.items():
            for student in students:
                yield HandIn(student, folder, offer.node.place, offer.node.member, offer.origin)

    def misplaced(self, students: Sequence[Student], handed_in: set[str]) -> Iterator[Mark]:
        """The files without which a student lacks an exercise. handed_in: the exercises of the class."""
        own = set(self.chosen)
        is_placed = bool(own or self.has_others)
        for one in self.refusals:
            if one.exercise:
                is_missed = one.exercise in self.requested - own
                is_placed |= one.exercise not in self.requested
            else:
                is_missed = not own or (one.is_code and bool(handed_in - own))
            if is_missed:
                is_placed = True
                where = label(one.where)
                say = f'ask the student, or write into names.csv: "{where}",STUDENT,EXERCISE'
                to_do = say if names.is_code(where) else ASK
                yield from (Mark(PERSON, each, one.exercise, where, one.reason, to_do) for each in students)
            else:
                self.leave_out(one.where, one.reason)
        if self.files and not is_placed:
            reason = f"nothing for {listed([one.folder[:2] for one in self.exercises], MOST_NAMED)} in it"
            yield from (Mark(PERSON, student, "", self.label, reason, ASK) for student in students)

    def left_out(self, student: Student) -> Iterator[Mark]:
        """What is not graded and needs no person: the first files one by one, the others in one line."""
        for one in self.passed[:MOST_LISTED]:
            yield left_out(*one, student)
        if more := len(self.passed[MOST_LISTED:]):
            yield left_out(self.label, f"{more:,} more files and folders of the same student", student)


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


def by_code(node: Node) -> str:
    """Which exercises the code of a file may be for, in words; "" if it tells none. A person decides."""
    source = _source(node)
    numbers = stubs.exercises_of(written_definitions(source))[:4] if source is not None else []
    return f"its name says no exercise; its code looks like {' or '.join(numbers)}" if numbers else ""


def attempt(step: Callable[[], T]) -> tuple[T | None, str]:
    """What `step` returns, or None and why a broken folder or archive makes it fail."""
    try:
        return step(), ""
    except (BadSubmission, NoSuchFile) as error:
        return None, str(error)
    except OSError as error:
        return None, f"it cannot be read: {error.strerror}"


def _source(node: Node) -> str | None:
    try:
        return archives.read(node.place, node.member).source
    except (BadSubmission, NoSuchFile, OSError):
        return None


def _branches(places: Sequence[str]) -> set[str]:
    """The folders and archives in which the ways to these files part."""
    ways = [re.split("[/:]+", place)[:-1] for place in places]
    shared = sum(1 for _ in itertools.takewhile(lambda parts: len(set(parts)) == 1, zip(*ways)))
    return {way[shared] for way in ways if len(way) > shared}
