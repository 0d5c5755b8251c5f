"""Whose a file is: LIST, the CSV file of a class, and names.csv, the decisions of the instructor.

Nobody is guessed: what fits nobody, or several, needs a person.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from grader import catalog
from grader.catalog import NoSuchExercise
from grader.catalog.errors import WrongUse
from grader.classroom.marks import LEFT_OUT, PERSON, Found, Mark, Origin, Student
from grader.classroom.sheet import Sheet, read_sheet
from grader.records.sanitize import label

# What columns are called in Canvas, Moodle, nbgrader and plain lists. The first title that there is counts; a person is
# found by any of them.
IDS = ("id number", "sis user id", "student id", "student_id", "id", "identifier", "login", "username", "student")
NAMES = ("name", "full name", "student name", "student")
FIRST, LAST = ("first name", "first_name"), ("last name", "last_name", "surname")
EMAILS = ("email address", "email", "e-mail", "e-mail address")
LOGINS = ("sis login id", "login", "username", "user name", "login id", "github", "github_username")
KINDS = {"id": IDS, "name": NAMES, "email": EMAILS, "login": LOGINS}  # what --column may name
NOT_STUDENTS = ("points possible", "student, test")  # rows of Canvas' gradebook
PARTICIPANT = re.compile(r"\D*(\d+)")  # "Participant 123", the identifier of Moodle's worksheet
DECISIONS = ("found", "student", "exercise")


@dataclass(frozen=True)
class Person:
    """One student of LIST. keys: ids, e-mail address and logins, as `fold` writes them."""

    student: Student
    row: int
    keys: frozenset[str]


@dataclass(frozen=True)
class Decision:
    """A line of names.csv: whose a file or a folder is, and for which exercise ("": as its name says)."""

    student: str
    exercise: str = ""


class Decisions:
    """What names.csv says, by place. unused: the places that nobody has asked for."""

    def __init__(self, by_place: Mapping[str, Decision]) -> None:
        self._by_place, self.unused = by_place, set(by_place)

    def of(self, place: str) -> Decision | None:
        """The decision on this place."""
        self.unused.discard(place)
        return self._by_place.get(place)


def fold(text: str) -> str:
    """A key in the form in which two are compared."""
    return unicodedata.normalize("NFC", text).strip().casefold()


def names_of(name: str) -> set[str]:
    """The forms of a full name, letters only: "Ada Lovelace", "Lovelace, Ada", Canvas' "lovelaceada"."""
    words = re.findall(r"[^\W\d_]+", fold(name))
    last, comma, first = fold(name).partition(",")
    turned = re.findall(r"[^\W\d_]+", f"{first} {last}") if comma else [*words[-1:], *words[:-1]]
    return {"".join(words), "".join(turned)} - {""}


def people_of(sheet: Sheet, columns: Mapping[str, str]) -> list[Person]:
    """The students in a sheet. columns: titles by "id", "name", "email", "login", for those that we don't know.

    Raises WrongUse if it has no column of ids, or names a student without an id, or two with the same id.
    """
    shown = label(str(sheet.path))
    titles = {kind: (columns[kind],) if kind in columns else known for kind, known in KINDS.items()}
    for kind, title in columns.items():
        if kind in KINDS and sheet.column(title) is None:
            raise WrongUse(f"{shown} has no column {title}. It has: {label(', '.join(sheet.header))}")
    id_at = sheet.column(*titles["id"])
    name_at = sheet.column(*(title for title in titles["name"] if sheet.column(title) != id_at))
    if id_at is None:
        raise WrongUse(
            f"{shown} has no column of ids that we know. It has: {label(', '.join(sheet.header))}. "
            "Say which it is: --column id=TITLE"
        )
    keys_at = {at for kind in ("id", "email", "login") for title in (*titles[kind], *KINDS[kind])
               if (at := sheet.column(title)) is not None and at != name_at}  # fmt: skip
    people = []
    for row in range(len(sheet.rows)):
        name = sheet.cell(row, name_at) or " ".join(
            filter(None, (sheet.cell(row, sheet.column(*FIRST)), sheet.cell(row, sheet.column(*LAST))))
        )
        cells = {fold(sheet.cell(row, at)) for at in keys_at} - {"", "-"}
        id = sheet.cell(row, id_at) or next((c for at in sorted(keys_at) if (c := sheet.cell(row, at))), "")
        if any(words in name.casefold() for words in NOT_STUDENTS) or not (id or name or cells):
            continue
        if not id:
            raise WrongUse(f"{shown}, line {row + 2}: {label(name)} has no id. Write one, or take the line out")
        match = PARTICIPANT.fullmatch(sheet.cell(row, sheet.column("identifier")))
        people.append(Person(Student(label(id), label(name)), row, frozenset(cells | ({match[1]} if match else set()))))
    twice = [id for id, count in Counter(fold(person.student.id) for person in people).items() if count > 1]
    if twice:
        raise WrongUse(f"{shown} names two students with the id {label(twice[0])}")
    return people


def read_decisions(path: Path) -> Decisions:
    """names.csv. Raises WrongUse if it cannot be read, or a line is not as it should be."""
    sheet = read_sheet(path)
    found_at, student_at, exercise_at = (sheet.column(title) for title in DECISIONS)
    if found_at is None or student_at is None:
        raise WrongUse(f"{label(str(path))} begins with the line: found,student,exercise")
    decisions = {}
    for row in range(len(sheet.rows)):
        found, student, exercise = (sheet.cell(row, at) for at in (found_at, student_at, exercise_at))
        if found and student:
            try:
                folder = catalog.find(exercise).folder if exercise else ""
            except NoSuchExercise as error:
                raise WrongUse(f"{label(str(path))}, line {row + 2}: {error}") from None
            decisions[found.rstrip("/")] = Decision(student, folder)
    return Decisions(decisions)


class Matcher:
    """Finds the people of LIST by what a download says of a student."""

    def __init__(self, people: Iterable[Person]) -> None:
        self.by_key: defaultdict[str, list[Person]] = defaultdict(list)
        self.by_name: defaultdict[str, list[Person]] = defaultdict(list)
        for person in people:
            for key in person.keys | {fold(person.student.id)}:
                self.by_key[key].append(person)
            for name in names_of(person.student.name):
                self.by_name[name].append(person)

    def find(self, *keys: str, name: str = "") -> list[Person]:
        """All who have one of these keys; else all who have this full name, or one of the keys as a full name."""
        for key in filter(None, map(fold, keys)):
            if key in self.by_key:
                return self.by_key[key]
        found = {p.student.id: p for text in (name, *keys) for form in names_of(text) for p in self.by_name[form]}
        return list(found.values())


def match(found: Found, people: list[Person]) -> Found:
    """The same hand-ins under the students of LIST. What is nobody's, or of several, needs a person."""
    matcher = Matcher(people)
    origins = {handin.student: handin.origin for handin in found.handins}
    fits = {student: matcher.find(student.id, origins.get(student, Origin()).key, name=student.name)
            for student in found.students}  # fmt: skip
    who = {student: persons[0].student for student, persons in fits.items() if len(persons) == 1}
    times = Counter(who.values())
    doubts = {}
    for student, persons in fits.items():
        if not persons:
            doubts[student] = f"LIST names nobody like {label(student.label)}"
        elif len(persons) > 1:
            ids = ", ".join(person.student.id for person in persons)
            doubts[student] = f"{label(student.label)} may be several of LIST: {ids}"
        elif times[who[student]] > 1:
            doubts[student] = f"two entries are of {who[student].label}: which one counts?"
    handins = tuple(replace(one, student=who[one.student]) for one in found.handins if one.student not in doubts)
    asked = {one.student: one.origin.name for one in found.handins if one.student in doubts}
    asked |= {student: "" for student in found.students if student in doubts and student not in asked}
    others = []
    for student, entry in asked.items():
        name = label(entry or student.id)
        to_do = f'write into names.csv: "{name}",ID with the id of the student, as it is in LIST'
        others.append(Mark(PERSON, student, "", name, doubts[student], to_do))
    for one in found.others:
        if one.status == LEFT_OUT or one.student not in doubts:
            others.append(replace(one, student=one.student and who.get(one.student)))
    return Found(
        found.layout,
        tuple(sorted(handins, key=lambda one: (one.student, one.exercise))),
        tuple(others),
        tuple(person.student for person in people),
    )
