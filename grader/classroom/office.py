"""The instructor's files of a course, as one run uses them: roster, rules, overrides, comments, aliases."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.classroom import arrivals, private, version
from grader.classroom.course import comments, overrides, rules_file, settings
from grader.classroom.course.attempts import Attempt
from grader.classroom.course.comments import Comments
from grader.classroom.course.lateness import lateness
from grader.classroom.course.marks import Mark, mark
from grader.classroom.course.overrides import Override
from grader.classroom.course.settings import Course
from grader.classroom.course.totals import TotalRule
from grader.classroom.handins import Found, Student
from grader.classroom.history import Given, History, Kept
from grader.classroom.roster import aliases, by_name, matching, reading
from grader.classroom.roster.matching import Open
from grader.classroom.roster.people import Listing, Person, Roster
from grader.classroom.store import Store
from grader.records.results import ExerciseResult
from grader.records.sanitize import label

CHANGED = "the hand-in changed since this was set by hand: look again, then change the line of overrides.csv"


@dataclass(frozen=True)
class Office:
    """All that a run knows besides the hand-ins. folder: where the instructor's CSV files stand, or None."""

    course: Course
    roster: Roster | None = None
    folder: Path | None = None
    overrides: tuple[Override, ...] = ()
    comments: Comments = field(default_factory=dict)
    hand_in_times: arrivals.Times = field(default_factory=dict)

    @property
    def rule(self) -> TotalRule:
        """The rule by which totals are computed."""
        return TotalRule(self.course.weights, self.course.drop_lowest)

    @property
    def keeps_attempts(self) -> bool:
        """Whether an earlier attempt may count, so that it is graded too."""
        ends = self.course.cut_off or any(section[1] for section in self.course.sections.values())
        return self.course.attempts == settings.BEST or bool(ends)

    def set_by_hand(self, exercise: str) -> frozenset[str]:
        """The students who have points for this exercise, or for a check of it, from a person."""
        return frozenset(override.student for override in self.overrides if override.exercise == exercise)

    @property
    def people(self) -> Mapping[str, Person]:
        """The people of the roster, by id."""
        return self.roster.by_id if self.roster else {}


@dataclass(frozen=True)
class Matched:
    """The hand-ins with their students, and what the instructor is told about it."""

    found: Found
    lines: tuple[str, ...] = ()


def opened(rules: Path | None, roster: Path | None) -> Office:
    """Read the instructor's files. Raises WrongUse, with file and line, for what is wrong in them."""
    course = rules_file.read(rules) if rules else Course()
    roster = roster or course.roster
    people = reading.read(roster, course.titles) if roster else None
    folder = rules.parent if rules else (roster if roster and roster.is_dir() else roster and roster.parent)
    if folder is None:
        return Office(course, people)
    times = arrivals.read(folder / arrivals.NAME, course.zone)
    overridden = overrides.read(folder / overrides.NAME)
    return Office(course, people, folder, overridden, comments.read(folder), times)


def matched(office: Office, found: Found, earlier: Mapping[Student, Collection[str]]) -> Matched:
    """The hand-ins of the students on the roster; without one, Moodle's numbers joined by name.

    earlier: everybody in the class, with the exercises handed in. Names that are open are added to aliases.csv.
    """
    if office.roster is None:
        found, count = by_name.joined(found, earlier)
        line = f"{count} numbers of Moodle were joined to others by full name. A roster is surer: ROSTER=file"
        return Matched(found, (line,) if count else ())
    path = (office.folder or Path()) / aliases.NAME
    result = matching.match(found, office.roster, aliases.read(path, office.roster), str(path))
    added = aliases.add(path, result.open)
    private.everything(path)
    lines = [f"Roster: {len(office.roster.people):,} students in {_files(office.roster)}."]
    lines += [_foreign(listing) for listing in office.roster.listings if listing.is_guessed]
    if result.open:
        new = f", {added} of them new" if added else ""
        wait = "1 name waits" if len(result.open) == 1 else f"{len(result.open):,} names wait"
        lines.append(f"{wait} in {label(str(path))}{new}: {_listed(result.open)}")
    return Matched(result.found, tuple(lines))


def marks(
    office: Office, store: Store, history: History, student: Student, results: Sequence[ExerciseResult]
) -> dict[str, Mark]:
    """The marks of one student, by exercise: of what was handed in, and of what overrides give.

    results: of the latest hand-ins. Further ones are read from the store where an earlier attempt may count.
    """
    section = office.people[student.id].sections if student.id in office.people else ""
    latest = {result.exercise: result for result in results}
    own_overrides = [override for override in office.overrides if override.student == student.id]
    by_exercise = history.of(student.id)
    by_folder = {}
    for exercise in sorted(latest.keys() | {override.exercise for override in own_overrides}):
        stored = by_exercise.get(exercise, []) if exercise in latest else []
        attempts = [
            _attempt(office, store, attempt, section, latest[exercise] if attempt is stored[-1] else None)
            for attempt in (stored if office.keeps_attempts else stored[-1:])
        ]
        if not attempts and exercise in latest:
            attempts = [Attempt("", latest[exercise])]
        exercise_overrides = [override for override in own_overrides if override.exercise == exercise]
        attempt = mark(office.course, exercise, attempts, exercise_overrides)
        by_folder[exercise] = _with_conflicts(attempt, history)
    return by_folder


def given(mark: Mark) -> Given:
    """A mark as the next run remembers it."""
    return Given(mark.points, mark.digest, version.exercise(mark.exercise), "; ".join(o.words for o in mark.overrides))


def conflicts(marks_by_exercise: Mapping[str, Mark]) -> tuple[str, ...]:
    """The exercises with an override that was made for another hand-in."""
    return tuple(folder for folder, mark in marks_by_exercise.items() if CHANGED in mark.notes)


def _attempt(office: Office, store: Store, stored: Kept, section: str, result: ExerciseResult | None) -> Attempt:
    """An attempt with its result and its lateness."""
    course = office.course
    deadline = course.deadline(stored.student, section, stored.exercise)
    end = course.last(stored.student, section, stored.exercise)
    marked = stored.origin.late and stored.exercise not in course.extensions.get(stored.student, {})
    late = lateness(course.late, stored.handed_in, marked, deadline, end)
    if result is None and stored.key and store.version(stored.key) == version.exercise(stored.exercise):
        result = store.result(stored.key)  # one of other checks could not be compared
    return Attempt(stored.digest, result, late)


def _with_conflicts(mark: Mark, history: History) -> Mark:
    """The mark, with a note where the hand-in is another one than when an override was first seen."""
    lines = ["\t".join(str(getattr(override, title)) for title in overrides.TITLES) for override in mark.overrides]
    first_seen = [history.handin_of(line, mark.digest) for line in lines]
    return replace(mark, notes=(*mark.notes, CHANGED)) if set(first_seen) - {mark.digest} else mark


def _files(roster: Roster) -> str:
    return label(", ".join(listing.sheet.path.name for listing in roster.listings[:4]))


def _foreign(listing: Listing) -> str:
    """The line that says how a file in another language was understood."""
    titles = ", ".join(
        f"{label(listing.sheet.header[i])} = {title}" for i, title in sorted(listing.sheet.english.items())
    )
    name = label(listing.sheet.path.name)
    return f"{name} is Moodle's in another language: {titles}. Is one wrong? Say in course.toml what it is: [titles]"


def _listed(names: Sequence[Open]) -> str:
    labels = [label(f"{name.name} ({name.key})" if name.name != name.key else name.key) for name in names[:5]]
    return ", ".join(labels) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
