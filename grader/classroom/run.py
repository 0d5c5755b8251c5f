"""A run over the download of a class, in five steps over one list: find, grade, keep, sum, write."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.catalog import Exercise
from grader.catalog.errors import WrongUse
from grader.classroom import marks as lists
from grader.classroom import students, write
from grader.classroom.grade import Begun, How, grade, take_in, with_keys
from grader.classroom.intake.finder import find
from grader.classroom.marks import GRADED, LEFT_OUT, NOT_BEGUN, PERSON, Found, Mark, count_in_words, listed
from grader.classroom.pool import Outcome
from grader.classroom.sheet import read_sheet
from grader.classroom.store import Entry, Store
from grader.records.sanitize import label

NOBODY_BEGAN = "nobody has begun this exercise. To grade it all the same, name it"
MOST_NAMED = 8  # names in a message
UNGRADED = "the grader could not do its work, which is not the file's fault: {}"


@dataclass(frozen=True)
class Plan:
    """A run as it was asked for.

    named: the exercises were named; if not, only those that somebody began count. people: LIST; decisions: names.csv;
    columns: titles of LIST by "id", "name", "email", "login"; level: of feedback.
    """

    download: Path
    out: Path
    exercises: tuple[Exercise, ...]
    named: bool = True
    people: Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    decisions: Path | None = None
    level: str = "full"
    how: How = field(default_factory=How)


@dataclass(frozen=True)
class Seen:
    layout: str
    marks: Sequence[Mark]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Written:
    out: Path
    marks: Sequence[Mark]

    @property
    def needs_person(self) -> list[Mark]:
        return [mark for mark in self.marks if mark.status == PERSON]

    @property
    def is_unfinished(self) -> bool:
        """True if something needs a person, or nobody handed in anything."""
        return bool(self.needs_person) or not any(mark.status in (GRADED, NOT_BEGUN) for mark in self.marks)


def run(plan: Plan, found: Found | None = None) -> Iterator[Seen | Begun | Outcome | Written]:
    """Grade a class and write the results. Yields what happens. found: what the download holds, if that is known.

    Raises WrongUse for a folder that cannot be used and for results of other students, InfrastructureError if nothing
    can be graded.
    """
    if plan.out.resolve().is_relative_to(plan.download.resolve()):
        # A student's own folder may lie there, with a store of results in it.
        raise WrongUse(f"{plan.out} lies within {plan.download}, among what students chose. Name another: OUT=…")
    found = find_all(plan) if found is None else found
    with Store(plan.out) as store:
        with store.transaction():  # a run that is refused changes nothing
            marks = read_all(found, plan, store)
            exercises = exercises_of(plan, marks)
            marks += lists.nothing_handed_in(found.students, exercises, marks)
            refuse_losses(store.entries(), marks, plan)
            notes = tuple(_notes(store, marks))
            marks = with_keys(marks, store, plan.how)
            store.replace_entries(_entry(mark) for mark in marks if mark.student and mark.key)
            store.note("run", {"device": plan.how.device, "timeout": plan.how.timeout, "level": plan.level})
        yield Seen(found.layout, marks, notes)
        troubles: dict[str, str] = {}  # by key
        for event in grade(marks, store, plan.how):
            if isinstance(event, Outcome) and event.trouble:
                troubles[event.task.key] = event.trouble
            yield event
        store.note("unfinished", None)  # the results are about to be published: later gradings get a new seed
        marks = lists.in_order(_with_result(mark, store, troubles) for mark in marks)
        write.write(plan.out, marks, exercises, store, plan.level)
    yield Written(plan.out, marks)


def find_all(plan: Plan) -> Found:
    """What the download holds, under the students of LIST."""
    decisions = students.read_decisions(plan.decisions) if plan.decisions else None
    people = students.people_of(read_sheet(plan.people), plan.columns) if plan.people else None
    found = find(plan.download, plan.exercises, decisions)
    return found if people is None else students.match(found, people)


def read_all(found: Found, plan: Plan, store: Store) -> list[Mark]:
    """The list: a mark for each hand-in and for each file without one. Exercises that nobody has begun are left out."""
    folder = plan.download if plan.download.is_dir() else plan.download.parent
    files = [(handin, handin.below(folder).removeprefix(f"{plan.download.name}:")) for handin in found.handins]
    marks = [take_in(handin, file, store) for handin, file in files]
    begun = {mark.exercise for mark in marks if mark.status != NOT_BEGUN}
    if not plan.named:
        marks = [
            mark if mark.exercise in begun else replace(mark, status=LEFT_OUT, note=NOBODY_BEGAN, content="")
            for mark in marks
        ]
    return [*marks, *found.others]


def exercises_of(plan: Plan, marks: Sequence[Mark]) -> list[str]:
    """The folders of the exercises that count: those that were named, else those of which something was handed in."""
    if plan.named:
        return [exercise.folder for exercise in plan.exercises]
    return sorted({mark.exercise for mark in marks if mark.exercise and mark.status != LEFT_OUT})


def refuse_losses(earlier: Sequence[Entry], marks: Sequence[Mark], plan: Plan) -> None:
    """Raise WrongUse if a run would take away hand-ins of the run before: a folder of results is one assignment."""
    still = {(mark.student, mark.exercise) for mark in marks if mark.file}
    files = {mark.file for mark in marks}
    people = {mark.student for mark in marks if mark.status == PERSON and not mark.exercise}
    lost = [
        one
        for one in earlier
        if (one.student, one.exercise) not in still and one.file not in files and one.student not in people
    ]
    if lost:
        names = label(listed([f"{one.student.id} {one.exercise[:2]}" for one in lost], MOST_NAMED))
        raise WrongUse(
            f"Nothing was changed, because {plan.out} has {count_in_words(len(lost), 'hand-in')} that "
            f"{plan.download} has not: {names}.\n"
            "A folder of results is one assignment. Another assignment: name another folder, OUT=…\n"
            "The same one: grade the whole download again, with what came before."
        )


def _notes(store: Store, marks: Sequence[Mark]) -> Iterator[str]:
    if old := store.outdated():
        yield (
            f"The grader has changed since {count_in_words(len(old), 'hand-in')} of this folder "
            f"{'was' if len(old) == 1 else 'were'} graded. Marks of two versions are never mixed: all are graded again."
        )
    left = sorted({mark.exercise[:2] for mark in marks if mark.note == NOBODY_BEGAN})
    if left:
        yield f"Left out, since nobody has begun them: {', '.join(left)}. To grade them all the same, name them: EX=…"


def _entry(mark: Mark) -> Entry:
    assert mark.student is not None and mark.handin is not None
    called = tuple(dict.fromkeys((mark.handin.origin.key, mark.handin.origin.name)))
    return Entry(mark.student, mark.exercise, mark.file, mark.content, mark.key, called)


def _with_result(mark: Mark, store: Store, troubles: Mapping[str, str]) -> Mark:
    if mark.key in troubles:
        return replace(mark, status=PERSON, note=UNGRADED.format(troubles[mark.key]), to_do="grade again", key="")
    result = store.result(mark.key) if mark.key else None
    if result is None:
        return mark
    note = "; ".join(result.notes) or mark.note
    return replace(mark, status=GRADED if result.started else NOT_BEGUN, points=result.points, note=note)
