"""The claims of entries to students, and the conflicts between claims, where it is not certain whose an entry is.

Students choose names, so a name alone must not affect another student's mark. Where two entries could belong to one
student, or one entry to two students, none of them is graded until a person has decided.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from grader.records.sanitize import label

# Letters of other scripts that look like Latin ones.
LOOKALIKES = str.maketrans("аеорсухіјѕԁһԛԝνοραικτυωɑıγ", "aeopcyxijsdhqwvopaiktuwaiy")


@dataclass(frozen=True, slots=True)
class Claim:
    """One entry of a class that names a student, or a group of them.

    key: what holds its files together; people: id and name of each student; platform: who made the name ("": it is a
    folder's or an archive's own); layout: in words; rest: the name that the student gave; where: below the class's
    folder; hint: the exercise whose download this is; container: where that download lies; late: the platform marks it
    so.
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


@dataclass(frozen=True)
class Conflict:
    """Claims that can neither be told apart nor be merged with certainty. who: the ids concerned."""

    claims: tuple[Claim, ...]
    who: tuple[str, ...]
    why: str


def conflicts(
    claims: Iterable[Claim], shorter: dict[str, str], holds_work: Callable[[Claim], bool]
) -> Iterator[Conflict]:
    """The conflicts between claims. shorter: ids that are used without their prefix; holds_work: see Recognizer."""
    alike: dict[str, list[tuple[Claim, str, str]]] = defaultdict(list)
    for claim in claims:
        for id, name in claim.people:
            alike[likeness(shorter.get(id, id))].append((claim, id, name))
    for group in alike.values():
        if not _conflict(group, shorter):
            continue
        group = [entry for entry in group if holds_work(entry[0])]
        if why := _conflict(group, shorter):
            concerned = {claim.where: claim for claim, _, _ in group}
            yield Conflict(tuple(concerned.values()), tuple(sorted({label(id) for _, id, _ in group})), why)


def likeness(name: str) -> str:
    """A canonical form: equal for all names that a person, a spreadsheet or a file system would confuse."""
    text = unicodedata.normalize("NFKC", name).casefold()
    text = "".join(sign for sign in text if unicodedata.category(sign) not in ("Cf", "Cc"))
    return " ".join(unicodedata.normalize("NFKC", text).translate(LOOKALIKES).split()).strip(" .")


def _conflict(group: list[tuple[Claim, str, str]], shorter: dict[str, str]) -> str:
    """Why these claims with confusable names are not certainly one student's; "" where they are."""
    if len(group) < 2:
        return ""
    platforms = {claim.platform for claim, _, _ in group}
    spelled = sorted({shorter.get(id, id) for _, id, _ in group})
    names = sorted({name for _, _, name in group})
    if len(platforms) > 1:
        kinds = sorted(f"{label(claim.where)} ({claim.platform or 'a name of its own'})" for claim, _, _ in group)
        return f"one name, two origins: {', '.join(dict.fromkeys(kinds))}"
    if len(spelled) > 1:
        return f"names that are taken for one and the same: {', '.join(map(_quoted, spelled))}"
    if platforms != {""} and len(set(map(likeness, names))) > 1:
        return f"the number {label(spelled[0])} stands beside different names: {', '.join(map(_quoted, names))}"
    if platforms <= {"", "Gradescope"}:
        places = [(claim.container, claim.where) for claim, _, _ in group]
        if len({container for container, _ in places}) < len(places):
            return f"several entries are named after {_quoted(spelled[0])}"
    return ""


def _quoted(name: str) -> str:
    """A name in a form that shows invisible differences."""
    return label(name) if name.isascii() and name == name.strip(" .") else ascii(name)
