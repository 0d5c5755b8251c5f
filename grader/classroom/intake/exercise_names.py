"""Reads names of files, folders and assignments: to which exercise each one belongs."""

import difflib
import functools
import heapq
import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from grader import catalog
from grader.catalog import Exercise
from grader.classroom.intake.beneath import MAX_NAME

REVISION = re.compile(r"(?:-(\d{1,3})|\s*\((\d{1,3})\))$")  # "-1" (Canvas), " (1)" (browsers): a later upload
KEPT = re.compile(r"\.before-\d{4}-\d\d-\d\d-\d{6}")  # the name that `make reset` gives to the file that it keeps
GAPS = re.compile(r"[\s\-]+")
WORDS = ("exercise", "ex", "kata")
NUMBER = re.compile(rf"(?:(?:{'|'.join(WORDS)})_?)?0*(\d{{1,2}})(?:_(.+))?")
CANONICAL, NUMBERED, LOOSE, ALONE = range(4)  # how certainly a name means an exercise
CODE = (".py", ".ipynb")  # suffixes of submissions
MAX_COMPARED = 80  # characters of a name that are compared with the exercises' names
MAX_PARTS = 12  # parts of a download's name, between dashes


@dataclass(frozen=True)
class Reading:
    """The exercise that a file's name means. rank: how certain it is; revision: higher for a later upload."""

    exercise: str | None
    rank: int = ALONE
    revision: int = 0
    near: str = ""  # the exercise that may have been meant
    reason: str = "its name says no exercise: call it by the exercise's slug or number"


@functools.lru_cache(maxsize=4096)
def exercise_of(stem: str) -> Reading:
    """The exercise that a name without its suffix means: "context_vectors", "03_context_vectors-1", "ex3".

    Only the first MAX_NAME characters are examined.
    """
    if KEPT.search(stem[:MAX_NAME]):
        return Reading(None, reason="it is an older file, which make reset has kept")
    name_text, revision = stem[:MAX_NAME].strip(), 0
    while name_text.lower() not in _names() and (match := REVISION.search(name_text)):
        if name_text[: match.start()].lower() in WORDS:  # "ex-3"
            break
        name_text, revision = name_text[: match.start()], max(revision, int(match[1] or match[2]))
    text = _plain(name_text)
    if text in _names():
        folder = _names()[text]
        return Reading(folder, CANONICAL, revision)
    if match := NUMBER.fullmatch(text):
        folder = next((e.folder for e in catalog.exercises() if e.number == int(match[1])), None)
        remaining = match[2] or ""
        other_exercise = _exercise_of_rest(remaining) if remaining else None
        if folder and other_exercise in (None, folder) and not _is_test(remaining):
            return Reading(folder, NUMBERED if not remaining or other_exercise else LOOSE, revision)
        if folder and other_exercise:
            return Reading(None, reason=f"the number says {folder}, the name says {other_exercise}")
    elif (folder := _slug_before(text)) and not _is_test(text):
        return Reading(folder, LOOSE, revision)
    near = _nearest(text[:MAX_COMPARED])
    if near is None:
        return Reading(None)
    return Reading(None, near=_names()[near], reason=f"its name says no exercise: did you mean {_names()[near]}?")


def is_code(name: str) -> bool:
    """Whether a file of this name may be a submission."""
    return name.lower().endswith(CODE)


def reading_of(name: str) -> Reading:
    """The exercise that the name of a file, with its suffix, means."""
    return exercise_of(name.rpartition(".")[0])


def exercise_meant(name: str) -> str | None:
    """The exercise that a file of any ending is called like, or nearly: "softmax_naive.py.txt"."""
    reading = exercise_of(name.partition(".")[0])
    return reading.exercise or reading.near or None


def exercise_of_folder(name: str) -> str | None:
    """The exercise after which a folder is named, or None: "03_context_vectors", "context-vectors"."""
    return _names().get(_plain(name))


def exercise_of_title(title: str) -> str | None:
    """The exercise after which a platform's column, file or assignment is certainly named, or None."""
    plain_title = _plain(title)
    titles = {_plain(f"{exercise.folder[:2]} {exercise.title}"): exercise.folder for exercise in catalog.exercises()}
    return _names().get(plain_title) or titles.get(plain_title)


def exercise_of_download(stem: str) -> str | None:
    """The exercise in the name of a download, as in Moodle's "course-03 context vectors-9"; None where it says none."""
    parts = stem.split("-")
    pieces = {"-".join(parts[start:end]) for start in range(len(parts)) for end in range(start + 1, len(parts) + 1)}
    exercises = {exercise_of_title(piece) for piece in pieces} if len(parts) <= MAX_PARTS else set()
    return next(iter(exercises - {None})) if len(exercises - {None}) == 1 else None


def in_short(exercises: Iterable[Exercise]) -> str:
    """The numbers of the exercises, for messages: "03, 04", or "01 to 24 (24)"."""
    numbers = [exercise.folder[:2] for exercise in exercises]
    return ", ".join(numbers) if len(numbers) <= 5 else f"{numbers[0]} to {numbers[-1]} ({len(numbers)})"


def _plain(name: str) -> str:
    """The name in lower case, with one underscore for each gap."""
    return GAPS.sub("_", name.strip().lower())


def _exercise_of_rest(text: str, deeper: int = 2) -> str | None:
    """The exercise that the rest of a name means. deeper: how many more numbers in a row are examined."""
    if text in _names():
        return _names()[text]
    if _is_test(text):
        return None
    if match := NUMBER.fullmatch(text):
        folder = next((e.folder for e in catalog.exercises() if e.number == int(match[1])), None)
        remaining = match[2] or ""
        other_exercise = _exercise_of_rest(remaining, deeper - 1) if remaining and deeper else None
        return folder if other_exercise in (None, folder) and not _is_test(remaining) else None
    return _slug_before(text)


def _slug_before(text: str) -> str | None:
    """The exercise with the longest slug with which the name begins, as in "softmax_naive_final"."""
    slug = max((slug for slug in _slugs() if text.startswith(slug + "_")), key=len, default=None)
    return slug and _slugs()[slug]


def _nearest(text: str) -> str | None:
    """The unambiguous name that is nearest, or None: one of the few that share most pairs of letters."""
    own_pairs = _pairs(text)
    shared = {name: len(own_pairs & _pairs(name)) / (len(own_pairs) + len(_pairs(name)) or 1) for name in _names()}
    few = heapq.nlargest(3, shared, key=shared.get)
    return next(iter(difflib.get_close_matches(text, few, n=1, cutoff=0.6)), None)


@functools.lru_cache(maxsize=256)
def _pairs(text: str) -> frozenset[str]:
    """The pairs of neighbouring letters."""
    return frozenset(map("".join, itertools.pairwise(text)))


def _is_test(text: str) -> bool:
    return text.startswith("test_") or text.endswith("_test")


@functools.cache
def _names() -> dict[str, str]:
    """The folder of each exercise by its unambiguous names."""
    return {name: e.folder for e in catalog.exercises() for name in (e.folder, e.slug)}


@functools.cache
def _slugs() -> dict[str, str]:
    return {exercise.slug: exercise.folder for exercise in catalog.exercises()}
