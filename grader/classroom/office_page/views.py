"""What the assistants' page shows: plain data from the store, with marks by the functions that a run uses."""

import contextlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from grader import catalog
from grader.catalog import Exercise
from grader.catalog.errors import WrongUse
from grader.classroom import arrivals, course_rules, marking, office, outputs
from grader.classroom.handins import Found, Student
from grader.classroom.history import Given, History, Kept
from grader.classroom.marking import Attempt, Mark
from grader.classroom.office import Marking, Office
from grader.classroom.office_page import by_hand
from grader.classroom.office_page.by_hand import Request
from grader.classroom.roster import sheet
from grader.classroom.store import Store
from grader.classroom.summary import Row, Summary
from grader.records.submission import Submission

PAGE = 100  # students on one page


class NotThere(WrongUse):
    """Nobody, or nothing, has this name in these results."""


@dataclass(frozen=True)
class Place:
    """Where the course is: its results, its rules, its roster."""

    out: Path
    rules: Path
    roster: Path | None = None


@dataclass(frozen=True)
class Need:
    """Something that needs a person. exercise "": the work as a whole, or nobody knows which."""

    why: str
    student: str = ""
    exercise: str = ""
    text: str = ""


@dataclass(frozen=True)
class Tried:
    """One attempt. number: from 1 on; counts: it is the one whose points count; submission None: its text is gone."""

    number: int
    kept: Kept
    attempt: Attempt
    counts: bool
    submission: Submission | None


@dataclass(frozen=True)
class Slice:
    """A part of a list that is too long for one page. page: from 1 on."""

    items: Sequence[Any]
    page: int
    pages: int
    total: int

    @classmethod
    def of(cls, items: Sequence[Any], page: int) -> "Slice":
        """The page with this number, or the nearest one there is."""
        pages = max(1, -(-len(items) // PAGE))
        page = min(max(page, 1), pages)
        return cls(items[(page - 1) * PAGE : page * PAGE], page, pages, len(items))


@dataclass(frozen=True)
class Single:
    """One exercise of one student. before, after: students, by id, in the order of the list of this exercise."""

    student: Student
    exercise: Exercise
    mark: Mark | None
    tried: Sequence[Tried]
    entry: by_hand.Entry
    trouble: str = ""
    requests: Sequence[Request] = ()
    log: Sequence[dict[str, str]] = ()
    before: str = ""
    after: str = ""
    next_need: Need | None = None
    conflict: bool = False
    titles: dict[str, str] = field(default_factory=dict)


@contextlib.contextmanager
def open_results(place: Place) -> Iterator["Results"]:
    """A context with the results of a course. The store is open meanwhile, so that no run can write: keep it short."""
    own_office = _read(place)
    store = Store.existing(place.out)
    try:
        yield Results(place, own_office, store, History(store))
    finally:
        store.close()


_kept: dict[Place, tuple[list[tuple[Any, ...]], Office]] = {}  # the roster of a large class takes a second to read


def _read(place: Place) -> Office:
    """The instructor's files, read again if one of them has changed."""
    before = _state(place)
    if place not in _kept or _kept[place][0] != before:
        _kept[place] = before, office.read(place.rules, place.roster)
    return _kept[place][1]


def _state(place: Place) -> list[tuple[Any, ...]]:
    """The files that the rules of the course are made of, as they are now."""
    folder, roster = place.rules.parent, place.roster or course_rules.read_rules(place.rules).roster
    files = [place.rules, *(folder / name for name in (marking.OVERRIDES, marking.COMMENTS, arrivals.HANDED_IN))]
    files += [*(folder / marking.COMMENTS_FOLDER).glob("*.md"), *([roster, *roster.glob("*")] if roster else [])]
    found = [(path, path.stat()) for path in files if path.exists()]
    return [(path, status.st_ino, status.st_mtime_ns, status.st_size) for path, status in found]


class Results:
    """The results of a course."""

    def __init__(self, place: Place, own_office: Office, store: Store, history: History) -> None:
        self.place, self.office, self.store, self.history = place, own_office, store, history
        self.folder = place.rules.parent

    @cached_property
    def rolled(self) -> dict[Student, tuple[str, ...]]:
        """Everybody in the class, with the exercises handed in."""
        return self.store.rolled()

    @cached_property
    def ids(self) -> set[str]:
        """The ids of everybody in the class."""
        return {student.id for student in self.rolled}

    @cached_property
    def exercises(self) -> list[Exercise]:
        """The exercises that the last run knew, and those for which a person gave points since."""
        by_hand = {override.exercise for override in self.office.overrides}
        return [catalog.read(folder) for folder in sorted({*self._of_run, *by_hand})]

    @cached_property
    def requests(self) -> list[Request]:
        """The requests for a second look that nobody has answered."""
        done = by_hand.answered(self.folder)
        asked = by_hand.read_requests(self.office, self.rolled, self.history)
        return [request for request in asked if request.name not in done]

    def student(self, id: str) -> Student:
        """The student with this id. Raises NotThere where there is none."""
        for student in self.rolled:
            if student.id == id:
                return student
        raise NotThere("There is no such student in these results.")

    def exercise(self, folder: str) -> Exercise:
        """The exercise with this folder. Raises NotThere where the class does not have it."""
        for exercise in self.exercises:
            if exercise.folder == folder:
                return exercise
        raise NotThere("There is no such exercise in these results.")

    def students(self, text: str, page: int) -> Slice:
        """The students whose id or name holds a text."""
        text = text.casefold().strip()
        found = [student for student in self.rolled if text in student.label.casefold()]
        return Slice.of(sorted(found), page)

    def points(self, student: str | None = None, exercise: str | None = None) -> dict[tuple[str, str], float | None]:
        """The marks of the last run, with those that were set by hand since."""
        given = self.history.marks(student, exercise)
        points = {key: mark.points for key, mark in given.items()}
        for key in self._set_since(given, student, exercise):
            mark = self.marks(key[0], {key[1]}).get(key[1])
            points[key] = mark.points if mark else None
        return points

    def with_exercise(self, exercise: str) -> list[Student]:
        """The students who handed it in, or have points for it by hand, in the order of the class."""
        by_hand = self.office.set_by_hand(exercise)
        return [one for one, exercises in self.rolled.items() if exercise in exercises or one.id in by_hand]

    def standing(self, student: Student) -> tuple[Row, marking.Standing, set[str]]:
        """A student's row, marks and dropped exercises, as the next run would write them."""
        folders = [exercise.folder for exercise in self.exercises]
        results = [result for result in self.store.results_of(student.id) if result.exercise in folders]
        standing = Marking(self.office, self.store, self.history, Found("", ())).standing(student, results)
        trouble = outputs.by_student(self.store.troubles()).get(student.id, {})
        trouble = {folder: reason for folder, reason in trouble.items() if folder in folders}
        summary = Summary(folders, self.office.rule)
        counting = [outputs.counting(result, standing) for result in results]
        row = summary.add(student, counting, trouble, standing.marks, standing.notes)
        most = [exercise.max_points for exercise in self.exercises]
        left = marking.counted(folders, row.points, most, self.office.rule)
        return row, standing, set(folders) - {folders[index] for index in left}

    def marks(self, id: str, folders: Collection[str]) -> dict[str, Mark]:
        """The marks of a student for some exercises, by the rules as they are now."""
        results = [result for result in self.store.results_of(id) if result.exercise in folders]
        marks = office.marks_of(self.office, self.store, self.history, Student(id), results)
        return {folder: mark for folder, mark in marks.items() if folder in folders}

    def single(self, id: str, folder: str) -> Single:
        """All that an assistant looks at for one exercise of one student."""
        student, exercise = self.student(id), self.exercise(folder)
        mark = self.marks(id, {folder}).get(folder)
        order = [one.id for one in self.with_exercise(folder)]
        place = order.index(id) if id in order else None
        needs = self.needs()
        here = next((index for index, need in enumerate(needs) if (need.student, need.exercise) == (id, folder)), -1)
        later = [need for need in (*needs[here + 1 :], *needs[: max(here, 0)]) if need.student]
        checks = mark.result.checks if mark and mark.result else ()
        trouble = self.store.troubles().get((id, folder), "")
        if mark is None:
            trouble = trouble or self.history.why_unplaced(id, folder)
        return Single(
            student, exercise, mark, self._tried(student, folder, mark),
            by_hand.read(self.folder, id, folder, mark.digest if mark else ""),
            trouble=trouble,
            requests=[one for one in self.requests if one.student == id and one.exercise in ("", folder)],
            log=by_hand.log(self.folder, id, folder),
            before=order[place - 1] if place else "",
            after=order[place + 1] if place is not None and place + 1 < len(order) else "",
            next_need=later[0] if later else None,
            conflict=bool(mark and office.conflicts({folder: mark})),
            titles={check.id: check.title for check in checks},
        )  # fmt: skip

    def needs(self) -> list[Need]:
        """All that needs a person and that a person can do here: the requests first."""
        needs = [Need(one.doubt or "asks for a second look", one.student, one.exercise, one.text)
                 for one in self.requests]  # fmt: skip
        by_student: dict[str, set[str]] = {}
        for override in self.office.overrides:
            by_student.setdefault(override.student, set()).add(override.exercise)
        for id in sorted(by_student.keys() & self.ids):
            for exercise in office.conflicts(self.marks(id, by_student[id])):
                needs.append(Need("handed in again after points were set by hand", id, exercise))
        done = {(override.student, override.exercise) for override in self.office.overrides}
        for (id, exercise), reason in sorted(self.store.troubles().items()):
            if (id, exercise) not in done:
                needs.append(Need("could not be graded", id, exercise, reason))
        for one in outputs.still_waiting(self.history.waiting(), Found("", ()), {}, done):
            student = one.unplaced.student.id if one.unplaced.student.id in self.ids else ""
            text = one.unplaced.why if student else one.unplaced.shown
            needs.append(Need("files that could not be placed", student, one.unplaced.exercise, text))
        return needs

    def elsewhere(self) -> list[str]:
        """What the last run could give to nobody: lines of ledger.csv that need a person, and name none."""
        path = self.place.out / outputs.LEDGER
        if not path.exists():
            return []
        rows = sheet.read_sheet(path).cells("file", "student", "outcome", "reason")
        return [f"{file}: {why}" for file, who, outcome, why in rows if outcome == outputs.PERSON and not who]

    @cached_property
    def _of_run(self) -> list[str]:
        return self.store.fact("exercises") or self.store.exercises()

    def _tried(self, student: Student, folder: str, mark: Mark | None) -> list[Tried]:
        """All attempts, and which of them counts."""
        stored = self.history.of(student.id).get(folder, [])
        section = self.office.people[student.id].sections if student.id in self.office.people else ""
        latest = next((one for one in self.store.results_of(student.id) if one.exercise == folder), None)
        attempts = office.attempts_of(self.office, self.store, stored, section, latest)
        considered = attempts if self.office.keeps_attempts else attempts[-1:]
        counting = marking.counting_attempt(considered, self.office.course.attempts, self.office.course.late)
        return [
            Tried(
                number,
                kept,
                attempt,
                attempt is counting and mark is not None and mark.digest == kept.digest,
                self.history.submission(kept.digest),
            )
            for number, (kept, attempt) in enumerate(zip(stored, attempts), 1)
        ]

    def _set_since(
        self, given: dict[tuple[str, str], Given], student: str | None, exercise: str | None
    ) -> Iterator[tuple[str, str]]:
        """The marks whose overrides are others than in the last run."""
        words: dict[tuple[str, str], list[str]] = {key: [] for key, mark in given.items() if mark.given}
        for one in self.office.overrides:
            if student in (None, one.student) and exercise in (None, one.exercise):
                words.setdefault((one.student, one.exercise), []).append(one.words)
        for key, own in words.items():
            if key[0] in self.ids and (key not in given or "; ".join(own) != given[key].given):
                yield key
