"""Finds a student by any name that is known: id, e-mail address, login, alias, an entry of a download, full name."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from grader.catalog.errors import WrongUse
from grader.classroom.handins import Student
from grader.classroom.history import History
from grader.classroom.office import Office
from grader.classroom.roster import matching
from grader.classroom.roster.matching import NOT_OURS, plain, spoken, words
from grader.records.sanitize import label

MOST_NAMED = 5  # students who are named in a message


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
