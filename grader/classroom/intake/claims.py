"""Claims that an entry is a certain student's, and conflicts between claims, where this is not certain.

Students choose names, so a name alone must not affect another student's mark. Where two entries could belong to one
student, or one entry to two students, none of them is graded until a person has decided.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from grader.records.sanitize import label

# Letters of other scripts that look like Latin ones.
LOOKALIKES = str.maketrans("аеорсухіјѕԁһԛԝνοραικτυωɑıγ", "aeopcyxijsdhqwvopaiktuwaiy")


@dataclass(frozen=True, slots=True)
class Claim:
    """One entry of a class that names a student, or a group of them.

    key: identifies the student's files; people: id and name of each student; platform: the platform that made the name,
    "" for the own name of a folder or an archive; layout: in words; rest: the name that the student gave; where: the
    place below the class's folder; hint: the exercise whose download this is; container: the place of that download;
    late: whether the platform marks the entry as late; time: when it was handed in, where the platform says so.
    """

    key: str
    people: tuple[tuple[str, str], ...]
    platform: str
    layout: str
    node: object
    rest: str
    where: str
    hint: str | None
    container: str
    late: bool = False
    time: datetime | None = None


@dataclass(frozen=True)
class Conflict:
    """Claims that can neither be told apart nor be merged with certainty. who: the ids concerned."""

    claims: tuple[Claim, ...]
    who: tuple[str, ...]
    why: str


def conflicts(
    claims: Iterable[Claim], shorter: dict[str, str], holds_work: Callable[[Claim], bool]
) -> Iterator[Conflict]:
    """The conflicts between claims. shorter: short forms of ids by id; holds_work: see Recognizer."""
    by_likeness: dict[str, list[tuple[Claim, str, str]]] = defaultdict(list)
    for claim in claims:
        for id, name in claim.people:
            by_likeness[likeness(shorter.get(id, id))].append((claim, id, name))
    for group in by_likeness.values():
        if not _conflict(group, shorter):
            continue
        group = [entry for entry in group if holds_work(entry[0])]
        if reason := _conflict(group, shorter):
            by_place = {claim.where: claim for claim, _, _ in group}
            yield Conflict(tuple(by_place.values()), tuple(sorted({label(id) for _, id, _ in group})), reason)


def likeness(name: str) -> str:
    """A canonical form: equal for all names that a person, a spreadsheet or a file system would confuse."""
    text = unicodedata.normalize("NFKC", name).casefold()
    text = "".join(sign for sign in text if unicodedata.category(sign) not in ("Cf", "Cc"))
    return " ".join(unicodedata.normalize("NFKC", text).translate(LOOKALIKES).split()).strip(" .")


def _conflict(group: list[tuple[Claim, str, str]], shorter: dict[str, str]) -> str:
    """The reason why claims with confusable names may be of several students; "" where they are one student's."""
    if len(group) < 2:
        return ""
    platforms = {claim.platform for claim, _, _ in group}
    ids = sorted({shorter.get(id, id) for _, id, _ in group})
    names = sorted({name for _, _, name in group})
    if len(platforms) > 1:
        kinds = sorted(f"{label(claim.where)} ({claim.platform or 'a name of its own'})" for claim, _, _ in group)
        return f"one name, two origins: {', '.join(dict.fromkeys(kinds))}"
    if len(ids) > 1:
        return f"names that are taken for one and the same: {', '.join(map(_quoted, ids))}"
    if platforms != {""} and len(set(map(likeness, names))) > 1:
        return f"the number {label(ids[0])} stands beside different names: {', '.join(map(_quoted, names))}"
    if platforms <= {"", "Gradescope"}:
        places = [(claim.container, claim.where) for claim, _, _ in group]
        if len({container for container, _ in places}) < len(places):
            return f"several entries are named after {_quoted(ids[0])}"
    return ""


def _quoted(name: str) -> str:
    """A name in a form that shows invisible differences."""
    return label(name) if name.isascii() and name == name.strip(" .") else ascii(name)
