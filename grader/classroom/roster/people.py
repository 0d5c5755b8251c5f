"""The plain data of a roster: people, and the files that name them."""

from dataclasses import dataclass, replace

from grader.classroom.handins import Student
from grader.classroom.roster.sheet import Sheet
from grader.records.sanitize import label


@dataclass(frozen=True, slots=True)
class Person:
    """One student of the roster. id: safe as the name of a folder; numbers: by which platforms name files."""

    id: str
    name: str = ""
    email: str = ""
    sis_id: str = ""
    login: str = ""
    section: str = ""
    group: str = ""
    numbers: tuple[str, ...] = ()

    @property
    def student(self) -> Student:
        """The person as the results know them."""
        return Student(self.id, self.name)

    @property
    def sections(self) -> str:
        """Section and group in one text, as Canvas names several sections: either may have times of its own."""
        return " and ".join(filter(None, (self.section, self.group)))

    @property
    def keys(self) -> tuple[str, ...]:
        """All that stands for this person alone, without the name."""
        return tuple(key for key in (self.id, self.email, self.sis_id, self.login, *self.numbers) if key)


@dataclass(frozen=True)
class Listing:
    """One file of a roster. kind: "canvas", "worksheet", "moodle" or "plain"; people: by row of the sheet.

    exercise: the one whose file this is, or None; is_guessed: what the columns hold is told by their order and content,
    not by their titles, which are in another language.
    """

    kind: str
    sheet: Sheet
    people: dict[int, Person]
    exercise: str | None = None
    is_guessed: bool = False


@dataclass(frozen=True)
class Roster:
    """A class list. ids: of the person in each row, by the number of the listing and the row."""

    people: tuple[Person, ...]
    listings: tuple[Listing, ...]
    ids: dict[tuple[int, int], str]

    @property
    def by_id(self) -> dict[str, Person]:
        """The people by their id."""
        return {person.id: person for person in self.people}


def without_id(sheet: Sheet, row: int, name: str, column: str) -> str:
    """The message about a row that names a student without an id, whose hand-ins would be nobody's."""
    place = f"{label(str(sheet.path))}, line {row + 2}"
    return f'{place}: {label(name)} has no id. Write one into the column "{column}", or take the line out'


def merged(first: Person, second: Person) -> Person:
    """One person of two files: what the first does not know is taken from the second."""
    facts = {
        name: getattr(first, name) or getattr(second, name)
        for name in ("name", "email", "sis_id", "login", "section", "group")
    }
    return replace(first, **facts, numbers=tuple(dict.fromkeys(first.numbers + second.numbers)))
