"""The instructor's files of a course as one run uses them: read, applied to its results, and what has no effect."""

import statistics
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any

from grader.catalog.errors import WrongUse
from grader.classroom import arrivals, course_rules, grades, history, ledger, marking, private
from grader.classroom.course_rules import TOTAL, Course
from grader.classroom.handins import READ_AS, Found, Student, Unplaced
from grader.classroom.history import Change, Given, History, Kept
from grader.classroom.marking import Attempt, Comments, Mark, Override, Standing, TotalRule, lateness, mark
from grader.classroom.roster import filling, matching, moodle, reading
from grader.classroom.roster.matching import NOT_OURS, Open, plain, spoken, words
from grader.classroom.roster.sheet import Listing, Person, Roster
from grader.classroom.store import Store
from grader.classroom.summary import Past, Summary, run_facts, stuck
from grader.records import containment
from grader.records.forbidden import TO_LOOK_AT
from grader.records.results import ExerciseResult
from grader.records.sanitize import label

CHANGED = "the hand-in changed since this was set by hand: look again, then change the line of overrides.csv"
MOST_UNREAD = 3  # texts of times that are shown
MOST_NAMED = 5  # students who are named in a message


@dataclass(frozen=True)
class Office:
    """All that a run knows besides the hand-ins.

    folder: where the instructor's CSV files stand, or None; sources: the paths of the rules and of the roster.
    """

    course: Course
    roster: Roster | None = None
    folder: Path | None = None
    overrides: tuple[Override, ...] = ()
    comments: Comments = field(default_factory=dict)
    hand_in_times: arrivals.Times = field(default_factory=dict)
    sources: tuple[Path | None, Path | None] = (None, None)

    @property
    def rule(self) -> TotalRule:
        """The rule by which totals are computed."""
        return TotalRule(self.course.weights, self.course.drop_lowest)

    @property
    def keeps_attempts(self) -> bool:
        """Whether an earlier attempt may count, so that it is graded too."""
        ends = self.course.cut_off or any(section[1] for section in self.course.sections.values())
        return self.course.attempts == course_rules.BEST or bool(ends)

    def set_by_hand(self, exercise: str) -> frozenset[str]:
        """The students who have points for this exercise, or for a check of it, from a person."""
        return frozenset(override.student for override in self.overrides if override.exercise == exercise)

    @cached_property
    def people(self) -> Mapping[str, Person]:
        """The people of the roster, by id; asked for once a student, so that a class of 20,000 needs it made once."""
        return self.roster.by_id if self.roster else {}


@dataclass(frozen=True)
class Matched:
    """The hand-ins with their students, and what the instructor reads about it."""

    found: Found
    lines: tuple[str, ...] = ()


def read(rules: Path | None, roster: Path | None) -> Office:
    """Read the instructor's files. Raises WrongUse, with file and line, for what is wrong in them."""
    course = course_rules.read_rules(rules) if rules else Course()
    roster = roster or course.roster
    people = reading.read_roster(roster, course.titles) if roster else None
    folder = rules.parent if rules else (roster if roster and roster.is_dir() else roster and roster.parent)
    if folder is None:
        return Office(course, people, sources=(rules, roster))
    times = arrivals.read_handed_in(folder / arrivals.HANDED_IN, course.zone)
    overridden = marking.read_overrides(folder / marking.OVERRIDES)
    return Office(course, people, folder, overridden, marking.read_comments(folder), times, (rules, roster))


def sources_of(
    out: Path, rules: Path | None, roster: Path | None, is_strict: bool = True
) -> tuple[Path | None, Path | None]:
    """The rules and the roster for a look at results: those that are named, else those of the run that made them.

    Otherwise a mark would be another one here than in grades.csv. Raises WrongUse where there are no results, and where
    a file of that run is gone; unless it is strict, it does without the file.
    """
    file = Store.existing(out)
    try:
        of_run = {name: Path(place) for name, place in file.fact("sources", {}).items() if place}
    finally:
        file.close()
    if not is_strict:
        of_run = {name: place for name, place in of_run.items() if place.exists()}
    rules = rules or of_run.get("rules")
    if rules == of_run.get("rules"):
        _demand_source(out, "RULES", rules)
    if roster is None and not (rules and course_rules.read_rules(rules).roster):
        roster = of_run.get("roster")
        _demand_source(out, "ROSTER", roster)
    return rules, roster


def _demand_source(out: Path, name: str, place: Path | None) -> None:
    if place is not None and not place.exists():
        raise WrongUse(f"The marks in {out} were made with {label(str(place))}, which is not there. Name it: {name}=…")


def match_students(office: Office, found: Found, earlier: Mapping[Student, Collection[str]]) -> Matched:
    """The hand-ins of the students on the roster; without one, Moodle's numbers joined by name.

    earlier: everybody in the class, with the exercises handed in. Names that are open are added to aliases.csv.
    """
    if office.roster is None:
        found, count = matching.join_by_name(found, earlier)
        line = f"{count} numbers of Moodle were joined to others by full name. A roster is surer: ROSTER=file"
        return Matched(found.narrow_lacks(), (line,) if count else ())
    path = (office.folder or Path()) / matching.ALIASES
    result = matching.match(found, office.roster, matching.read_aliases(path, office.roster), str(path))
    earlier_names = matching.unsettled(path, result)
    added = matching.add_aliases(path, result.open)
    private.everything(path)
    lines = [f"Roster: {len(office.roster.people):,} students in {_files(office.roster)}."]
    lines += [_foreign(listing) for listing in office.roster.listings if listing.is_guessed]
    if result.open:
        new = f", {added} of them new" if added else ""
        wait = "1 name waits" if len(result.open) == 1 else f"{len(result.open):,} names wait"
        lines.append(f"{wait} in {label(str(path))}{new}: {_listed(result.open)}")
    needs_person = (*result.found.needs_person, *earlier_names)
    return Matched(replace(result.found.narrow_lacks(), needs_person=needs_person), tuple(lines))


def marks_of(
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
        counted = stored if office.keeps_attempts else stored[-1:]
        attempts = attempts_of(office, store, counted, section, latest.get(exercise))
        if not attempts and exercise in latest:
            attempts = [Attempt("", latest[exercise])]
        exercise_overrides = [override for override in own_overrides if override.exercise == exercise]
        attempt = mark(office.course, exercise, attempts, exercise_overrides)
        by_folder[exercise] = _with_conflicts(attempt, history)
    return by_folder


def attempts_of(
    office: Office, store: Store, stored: Sequence[Kept], section: str, latest: ExerciseResult | None
) -> list[Attempt]:
    """Hand-ins of one student for an exercise, with results and lateness. latest: the result of the last one."""
    results = [*(None for _ in stored[1:]), latest]
    return [_attempt(office, store, kept, section, result) for kept, result in zip(stored, results)]


def given(mark: Mark) -> Given:
    """A mark as the next run remembers it."""
    return Given(
        mark.points, mark.digest, ledger.version_of_exercise(mark.exercise), "; ".join(o.words for o in mark.overrides)
    )


def conflicts(marks_by_exercise: Mapping[str, Mark]) -> tuple[str, ...]:
    """The exercises with an override that was made for another hand-in."""
    return tuple(folder for folder, mark in marks_by_exercise.items() if CHANGED in mark.notes)


class Marking:
    """The marks of one run. notes: lines about what a person must look at."""

    def __init__(self, own_office: Office, store: Store, history: History, found: Found) -> None:
        self.office, self.store, self.history = own_office, store, history
        self.unplaced: dict[str, list[Unplaced]] = defaultdict(list)  # by the student's id
        for unplaced in found.unplaced:
            self.unplaced[unplaced.student.id].append(unplaced)
        self.given: dict[tuple[str, str], Given] = {}
        self.notes: list[str] = []

    def standing(self, student: Student, results: Sequence[ExerciseResult]) -> Standing:
        """The standing of one student by the rules. results: those of the latest hand-ins."""
        marks = marks_of(self.office, self.store, self.history, student, results)
        for exercise, own in marks.items():
            self.given[student.id, exercise] = given(own)
        for exercise in conflicts(marks):
            self.notes.append(f"{label(student.id)} {exercise}: {CHANGED}")
        of_files = [f"{one.exercise[:2]}: {note}" for one in results for note in one.notes if _is_for_teacher(note)]
        comments = {
            exercise: text for (student_id, exercise), text in self.office.comments.items() if student_id == student.id
        }
        unplaced = self.unplaced.get(student.id, ())
        notes = (*(one.note for one in unplaced), *of_files)
        return Standing(marks, comments, notes, self.office.rule, {one.exercise: one.why for one in unplaced})

    def finish(self, out: Path) -> tuple[Change, ...]:
        """Remember the marks, and write what changed since the last run. The first run has no changes."""
        before = self.history.marks()
        for key in self.store.troubles().keys() & before.keys() - self.given.keys():
            self.given[key] = replace(before[key], points=None)  # it is the same hand-in when it is graded again
        changed = history.changes_between(before, self.given) if before else ()
        if changed:
            containment.optional(history.CHANGES, None, history.append_changes, out / history.CHANGES, changed)
        self.history.note([(student, exercise, given) for (student, exercise), given in self.given.items()])
        return changed

    def pseudonyms(self, out: Path) -> Callable[[Summary], Mapping[str, Student]]:
        """A function that gives the students of a summary their pseudonyms."""
        return lambda summary: grades.pseudonyms_of(out / grades.PSEUDONYMS, [row.student for row in summary.rows])

    def past(self, summary: Summary) -> Past:
        """The facts about this run and earlier ones that the page of the class shows."""
        runs = self.history.runs()
        counts = run_facts(summary, datetime.now(timezone.utc))
        current_run = replace(counts, **self._progress(summary))
        if current_run.is_news(runs[-1] if runs else None):
            self.history.add_run(current_run)
            runs = [*runs, current_run]
        return Past(stuck(self.history.repeated(), self.store.result), runs)

    def _progress(self, summary: Summary) -> dict[str, Any]:
        """How the hand-ins that the last run had too compare with then, but for changed checks."""
        earlier = self.history.marks()
        most = {exercise.folder: exercise.max_points for exercise in summary.exercises}
        pairs = [
            (old.points, new.points, most[key[1]])
            for key, new in self.given.items()
            if (old := earlier.get(key)) and old.version == new.version and most.get(key[1])
            and old.points is not None and new.points is not None
        ]  # fmt: skip
        if not pairs:
            return {}
        before, after = (round(statistics.fmean(pair[i] / pair[2] for pair in pairs), 6) for i in (0, 1))
        return {"same": len(pairs), "before": before, "after": after}

    def fill_roster(self, out: Path, summary: Summary) -> tuple[str, ...]:
        """Write the roster's files with the points filled in. Returns lines about them."""
        if self.office.roster is None:
            return ()
        return filling.write(out / filling.FOLDER, self.office.roster, self.office.course.columns, summary)


def lines_without_effect(office: Office, students: Sequence[str], exercises: Collection[str]) -> tuple[str, ...]:
    """The entries that a person must look at. students: the ids of all with a row; exercises: those handed in."""
    notes = [
        *_strangers(office, students),
        *_unread_comments(office, exercises),
        *_titles(office.course, office.roster, exercises),
        *_sections(office),
    ]
    if office.roster and (office.course.deadlines or office.course.cut_off or office.course.sections):
        notes += [line for listing in office.roster.listings for line in _unread(listing)]
    return tuple(notes)


def _attempt(office: Office, store: Store, stored: Kept, section: str, result: ExerciseResult | None) -> Attempt:
    """An attempt with its result and its lateness."""
    course = office.course
    deadline = course.deadline(stored.student, section, stored.exercise)
    end = course.last(stored.student, section, stored.exercise)
    marked = stored.origin.late and stored.exercise not in course.extensions.get(stored.student, {})
    late = lateness(course.late, stored.handed_in, marked, deadline, end)
    if result is None and stored.key and store.version(stored.key) == ledger.version_of_exercise(stored.exercise):
        result = store.result(stored.key)  # one of other checks could not be compared
    return Attempt(stored.digest, result, late)


def _with_conflicts(mark: Mark, history: History) -> Mark:
    """The mark, with a note where the hand-in is another one than when an override was first seen."""
    lines = [
        "\t".join(str(getattr(override, title)) for title in marking.OVERRIDE_TITLES) for override in mark.overrides
    ]
    first_seen = [history.handin_of(line, mark.digest) for line in lines]
    return replace(mark, notes=(*mark.notes, CHANGED)) if set(first_seen) - {mark.digest} else mark


def _is_for_teacher(note: str) -> bool:
    """Whether a note on a file belongs into the student's row as well: a person does something about it."""
    return note.startswith(READ_AS) or note.endswith(TO_LOOK_AT)


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


def _strangers(office: Office, students: Sequence[str]) -> Iterator[str]:
    """Students in overrides.csv, comments and course.toml whom the class does not have."""
    of_class = {*students, *office.people}
    named = {
        marking.OVERRIDES: {override.student for override in office.overrides},
        f"{marking.COMMENTS} or {marking.COMMENTS_FOLDER}/": {student for student, _ in office.comments},
        arrivals.HANDED_IN: {student for student, _ in office.hand_in_times},
        "course.toml, extensions": set(office.course.extensions),
    }
    by_key = {key.casefold(): person.id for person in office.people.values() for key in person.keys}
    for place, ids in named.items():
        for student in sorted(ids - of_class):
            id = by_key.get(student.casefold())
            meant = f". Do you mean {id}? Ids are those of grades.csv" if id else ""
            yield f"{place}: the class has no student {label(student)}{meant}"


def _unread_comments(office: Office, exercises: Collection[str]) -> Iterator[str]:
    """Comments on exercises that are on no student's page."""
    for student, exercise in sorted(office.comments):
        if exercise and exercise not in exercises:
            yield f"{marking.COMMENTS}: nobody handed in {exercise}, so the comment to {label(student)} is not shown"


def _titles(course: Course, roster: Roster | None, exercises: Collection[str]) -> Iterator[str]:
    """Titles in course.toml that no file of the roster has. The column of a later exercise may be yet to come."""
    there = {name for listing in (roster.listings if roster else ()) for name in _names(listing)}
    awaited = {
        title
        for title, exercises_of_column in course.columns.items()
        if exercises_of_column != (TOTAL,) and not set(exercises_of_column) & set(exercises)
    }
    for table, titles in (("columns", course.columns.keys() - awaited), ("titles", course.titles.keys())):
        for title in sorted(titles - there):
            yield f'course.toml, {table}: no file of the roster has a column "{label(title)}"'


def _names(listing: Listing) -> Iterator[str]:
    """All by which course.toml may name a column of a file, and the file itself, where it is a worksheet."""
    yield listing.sheet.path.name
    for title in listing.sheet.header:
        yield from (title.strip(), reading.title_of(title), moodle.title_of_moodle(title))


def _sections(office: Office) -> Iterator[str]:
    """Sections in course.toml in which nobody is."""
    for name in sorted(office.course.sections):
        if not any(name in office.course.sections_of(person.sections) for person in office.people.values()):
            reason = (
                "nobody on the roster is in it" if office.roster else "only a roster says who is in it: ROSTER=file"
            )
            yield f'course.toml, sections: "{label(name)}" has no effect, {reason}'


def _unread(listing: Listing) -> Iterator[str]:
    """Times of hand-ins that cannot be read: these hand-ins count as in time."""
    texts = moodle.unread_times(listing.sheet) if listing.kind == "worksheet" else []
    if texts:
        some = "; ".join(label(text) for text in texts[:MOST_UNREAD])
        yield (
            f"{label(listing.sheet.path.name)}: {len(texts)} times of hand-ins cannot be read, and count as in time: "
            f"{some}. Write them into {arrivals.HANDED_IN}, or download the worksheet with your profile in English"
        )


def find_student(text: str, students: Iterable[Student], office: Office, history: History) -> Student:
    """The student whom the text means. Raises WrongUse where it means nobody, or several.

    students: all in the folder of results. The first kind of name that fits decides: id, else what the roster and
    aliases.csv know, else the name of an entry in a download, else the full name, else words of it.
    """
    by_id = {student.id: student for student in students}
    for found in _candidates(text, by_id, office, history):
        ids = sorted(found & by_id.keys())
        if len(ids) == 1:
            return by_id[ids[0]]
        if ids:
            names = "; ".join(by_id[id].label for id in ids[:MOST_NAMED])
            raise WrongUse(
                f"{label(text)} could be {label(names)}{'; …' * (len(ids) > MOST_NAMED)}. Name one by the id"
            )
    raise WrongUse(f"Nobody in these results is called {label(text)}. The ids are in grades.csv, column student")


def is_name(text: str, entry: str) -> bool:
    """Whether a text is the name of an entry, without the prefix that GitHub gives to the clones of an assignment."""
    return text == entry or entry.endswith(f"-{text}")


def _candidates(text: str, by_id: Mapping[str, Student], office: Office, history: History) -> Iterator[set[str]]:
    """The ids that each kind of name gives."""
    yield {text}
    folded = text.casefold()
    people = office.people.values()
    yield {person.id for person in people if folded in map(str.casefold, person.keys)}
    yield {id for id in by_id if id.casefold() == folded}
    if office.roster and office.folder:
        settled = matching.read_aliases(office.folder / matching.ALIASES, office.roster)
        yield {id for name, id in settled.items() if id != NOT_OURS and is_name(folded, name.casefold())}
    entries: dict[str, set[str]] = defaultdict(set)
    for student, *names in history.entries():
        entries[student].update(name.casefold() for name in names)
    yield {student for student, names in entries.items() if any(is_name(folded, name) for name in names)}
    full = {id: student.name or id for id, student in by_id.items()}
    yield {id for id, name in full.items() if plain(text) in map(plain, spoken(name))}
    yield {id for id, name in full.items() if words(text) and words(text) <= words(name)}
