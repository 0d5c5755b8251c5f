"""Finds entries of the instructor's files that have no effect: a student, a title or a section that does not exist."""

from collections.abc import Collection, Iterator, Sequence

from grader.classroom import arrivals
from grader.classroom.course import comments, overrides
from grader.classroom.course.settings import TOTAL, Course
from grader.classroom.office import Office
from grader.classroom.roster import canvas_gradebook, moodle_files
from grader.classroom.roster.people import Listing, Roster
from grader.records.sanitize import label

MOST = 3  # texts of times that are shown


def lines(office: Office, students: Sequence[str], exercises: Collection[str]) -> tuple[str, ...]:
    """The entries that a person must look at. students: the ids of all with a row; exercises: those handed in."""
    notes = [*_strangers(office, students), *_titles(office.course, office.roster, exercises), *_sections(office)]
    if office.roster and (office.course.deadlines or office.course.cut_off or office.course.sections):
        notes += [line for listing in office.roster.listings for line in _unread(listing)]
    return tuple(notes)


def _strangers(office: Office, students: Sequence[str]) -> Iterator[str]:
    """Students in overrides.csv, comments and course.toml whom the class does not have."""
    of_class = {*students, *office.people}
    named = {
        overrides.NAME: {override.student for override in office.overrides},
        f"{comments.NAME} or {comments.FOLDER}/": {student for student, _ in office.comments},
        arrivals.NAME: {student for student, _ in office.hand_in_times},
        "course.toml, extensions": set(office.course.extensions),
    }
    by_key = {key.casefold(): person.id for person in office.people.values() for key in person.keys}
    for place, ids in named.items():
        for student in sorted(ids - of_class):
            id = by_key.get(student.casefold())
            meant = f". Do you mean {id}? Ids are those of grades.csv" if id else ""
            yield f"{place}: the class has no student {label(student)}{meant}"


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
        yield from (title.strip(), canvas_gradebook.title_of(title), moodle_files.title_of(title))


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
    texts = moodle_files.unread_times(listing.sheet) if listing.kind == "worksheet" else []
    if texts:
        some = "; ".join(label(text) for text in texts[:MOST])
        yield (
            f"{label(listing.sheet.path.name)}: {len(texts)} times of hand-ins cannot be read, and these count as in "
            f"time: {some}. Write them into {arrivals.NAME}, or download the worksheet with your profile in English"
        )
