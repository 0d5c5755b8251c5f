"""What names say: whose a file is, as the platforms name it, and which exercise it belongs to."""

import difflib
import functools
import hashlib
import os
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from grader import catalog
from grader.catalog import Exercise

# "First Last_123456_assignsubmission_file_" and, without folders, "…_assignsubmission_file_name.zip"
MOODLE = re.compile(r"(?P<name>[^/]*?)_(?P<id>\d+)_assignsubmission_(?P<kind>[a-z]+)_?(?P<rest>.*)", re.S)
# "lastfirst_12345_67890_name.py", late ones "lastfirst_LATE_12345_67890_name.py"
CANVAS = re.compile(r"(?P<name>[^_/]+)(?P<late>_LATE)?_(?P<id>\d+)_\d+_(?P<rest>.+)", re.S)
GRADESCOPE = re.compile(r"submission_(\d+)")

REVISION = re.compile(r"(?:-(\d{1,3})|\s*\((\d{1,3})\))$")  # "-1" (Canvas), " (1)" (browsers): a later upload
GAPS = re.compile(r"[\s\-]+")
WORDS = ("exercise", "ex", "kata")
NUMBER = re.compile(rf"(?:(?:{'|'.join(WORDS)})_?)?0*(\d{{1,2}})(?:_(.+))?")
CANONICAL, NUMBERED, LOOSE, ALONE = range(4)  # how surely a name says the exercise

UNSAFE = re.compile(r"[^\w.@+ -]")
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.I)
LONGEST = 80  # characters of a student's id


@dataclass(frozen=True)
class Owner:
    """Whose an entry is, as its name says. rest: the name that the student gave the file ("" for a folder)."""

    key: str  # what the platform calls the student
    name: str
    rest: str
    platform: str
    kind: str = "file"  # or what else Moodle keeps: "onlinetext"
    late: bool = False


def owner(name: str) -> Owner | None:
    """The student in a name that Moodle or Canvas made; None for other names."""
    if found := MOODLE.fullmatch(name):
        return Owner(found["id"], found["name"].strip(), found["rest"], "Moodle", found["kind"])
    if found := CANVAS.fullmatch(name):
        return Owner(found["id"], found["name"].strip(), found["rest"], "Canvas", late=bool(found["late"]))
    return None


@dataclass(frozen=True)
class Reading:
    """What a file's name says of the exercise. rank: how surely; revision: the higher, the later uploaded."""

    exercise: str | None
    rank: int = ALONE
    revision: int = 0
    near: str = ""  # the exercise that may have been meant
    reason: str = "its name says no exercise: call it by the exercise's slug or number"


@functools.lru_cache(maxsize=4096)
def exercise_of(stem: str) -> Reading:
    """The exercise that a name without its suffix says: "context_vectors", "03_context_vectors-1", "ex3"."""
    plain, revision = stem.strip(), 0
    while plain.lower() not in _names() and (found := REVISION.search(plain)):
        if plain[: found.start()].lower() in WORDS:  # "ex-3"
            break
        plain, revision = plain[: found.start()], max(revision, int(found[1] or found[2]))
    text = _plain(plain)
    if text in _names():
        folder = _names()[text]
        return Reading(folder, CANONICAL, revision)
    by_slug = max((slug for slug in _slugs() if text.startswith(slug + "_")), key=len, default=None)
    if found := NUMBER.fullmatch(text):
        folder = next((e.folder for e in catalog.exercises() if e.number == int(found[1])), None)
        rest = found[2] or ""
        other = exercise_of(rest).exercise if rest else None
        if folder and other in (None, folder) and not _is_test(rest):
            return Reading(folder, NUMBERED if not rest or other else LOOSE, revision)
        if folder and other:
            return Reading(None, reason=f"the number says {folder}, the name says {other}")
    elif by_slug and not _is_test(text):
        return Reading(_slugs()[by_slug], LOOSE, revision)
    near = next(iter(difflib.get_close_matches(text[:80], _names(), n=1, cutoff=0.6)), None)
    if near is None:
        return Reading(None)
    return Reading(None, near=_names()[near], reason=f"its name says no exercise: did you mean {_names()[near]}?")


def folder_of(name: str) -> str | None:
    """The exercise that a folder is named after: "03_context_vectors", "context-vectors"."""
    return _names().get(_plain(name))


def ids(keys: Iterable[str]) -> dict[str, str]:
    """A name for each student that is safe as a folder's, and one student's alone even where case is ignored.

    It depends on the names alone, not on their order: what had to be changed, or would meet another, ends in a
    piece of its hash.
    """
    safe = {key: _safe(key) for key in keys}
    count: dict[str, int] = {}
    for text in safe.values():
        folded = _folded(text)
        count[folded] = count.get(folded, 0) + 1
    found = {
        key: text if text == key and count[_folded(text)] == 1 else f"{text}-{_digest(key)[:8]}"
        for key, text in safe.items()
    }
    if len(set(map(_folded, found.values()))) < len(found):  # somebody is called what another one's id became
        found = {key: _digest(key) for key in found}
    return found


def without_prefix(clones: list[str], folder: str, taken: Iterable[str]) -> dict[str, str]:
    """GitHub's names of clones, "assignment-user", without what all have in common; `folder`: where they lie.

    Only where it is sure: the folder is called "assignment-submissions", or there are two clones at least.
    """
    prefix = folder.removesuffix("-submissions") + "-"
    if folder == prefix[:-1] or not all(name.startswith(prefix) for name in clones):
        prefix = os.path.commonprefix(clones).rpartition("-")[0] + "-" if len(clones) > 1 else "-"  # noqa: RUF071
    short = {name: name.removeprefix(prefix) for name in clones}
    others = set(taken) - set(clones)
    return short if prefix != "-" and all(short.values()) and not others & set(short.values()) else {}


def submitters(text: str) -> dict[str, list[tuple[str, str]]]:
    """Gradescope's submission_metadata.yml: by folder, the key and name of everybody who handed it in."""
    found: dict[str, list[dict[str, str]]] = {}
    people: list[dict[str, str]] | None = None
    inside = False
    for line in text.splitlines():
        if top := re.fullmatch(r"['\"]?(submission_\w+)['\"]?:\s*", line):
            people, inside = found.setdefault(top[1], []), False
        elif section := re.fullmatch(r"  (:?\w+):.*", line):
            inside = section[1] == ":submitters"
        elif people is not None and inside and (fact := re.fullmatch(r"\s+(- )?:(name|sid|email): *(.*)", line)):
            if fact[1] or not people:
                people.append({})
            people[-1][fact[2]] = fact[3].strip().strip("'\"")
    return {
        folder: [(who.get("sid") or who.get("email") or folder, who.get("name", "")) for who in people]
        for folder, people in found.items()
        if people
    }


def _safe(key: str) -> str:
    text = unicodedata.normalize("NFC", key.encode("utf-8", "replace").decode())
    text = UNSAFE.sub("_", text)[:LONGEST]
    while len(text.encode()) > 2 * LONGEST:
        text = text[:-1]
    text = text.lstrip(" .-+@").rstrip(" .") or "student"
    return f"_{text}" if RESERVED.fullmatch(text) else text


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _plain(name: str) -> str:
    return GAPS.sub("_", name.strip().lower())


def _is_test(text: str) -> bool:
    return text.startswith("test_") or text.endswith("_test")


@functools.cache
def _names() -> dict[str, str]:
    """Every sure name of every exercise."""
    return {name: e.folder for e in catalog.exercises() for name in (e.folder, e.slug)}


@functools.cache
def _slugs() -> dict[str, str]:
    return {exercise.slug: exercise.folder for exercise in catalog.exercises()}


def asked_for(exercises: Iterable[Exercise]) -> str:
    """The exercises in short, for messages."""
    numbers = [exercise.folder[:2] for exercise in exercises]
    return ", ".join(numbers) if len(numbers) <= 5 else f"{numbers[0]} to {numbers[-1]} ({len(numbers)})"
