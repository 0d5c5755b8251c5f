"""Reads names: of platforms' downloads, of students' folders, of exercises.

Students choose names, so a name must not affect another student's mark. If two entries could belong to one student, or
one entry to two students, none of them is graded until a person has decided.
"""

import difflib
import functools
import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grader import catalog
from grader.classroom.intake.beneath import MAX_NAME
from grader.records.safe_files import plain_name

# The names that platforms make. A folder: only Moodle and Gradescope; a file: Moodle, Canvas and plain lists.
#   "First Last_123456_assignsubmission_file_", and without folders "…_assignsubmission_file_name.zip"
MOODLE = re.compile(r"(?P<name>[^/]*?)_(?P<id>\d+)_assignsubmission_(?P<kind>[a-z]+)_?(?P<rest>.*)", re.S)
#   "lastfirst_12345_67890_name.py", late ones "lastfirst_LATE_12345_67890_name.py"
CANVAS = re.compile(r"(?P<name>[^_/]+)(?:_LATE)?_(?P<id>\d+)_\d+_(?P<rest>.+)", re.S)
#   "submission_123", which submission_metadata.yml explains
GRADESCOPE = re.compile(r"submission_(\d+)")
SUBMITTER = re.compile(r"(?m)^[ \t]*:(name|sid|email): *(.*)$")  # a fact there
# A student who chooses a name may write a platform's mark into it, so all marks in a name count.
MOODLE_MARKS = re.compile(r"(?=_(\d+)_assignsubmission_[a-z])")
CANVAS_MARKS = re.compile(r"(?=_(\d+)_\d{3,}_)")  # a shorter second number is an exercise's: "_9001_03_context_…"

MAX_ID = 80  # characters of an id that is made safe
UNSAFE = re.compile(r"[^\w.@+ -]")
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.I)  # names that some file systems refuse
PREFIX_SHARE, MOST_DASHES = 0.8, 20  # the share of clones that a prefix needs; dashes of a name that count
REVISION = re.compile(r"(?:-(\d{1,3})|\s*\((\d{1,3})\))$")  # "-1" (Canvas), " (1)" (browsers): a later upload
# What Colab and Google Drive write before the name of a copy, in the language of the person who makes it.
COPIED = re.compile(
    r"(?:(?:copy of|kopie (?:von|van)|copie de|c[oó]pia (?:de|di)|kopia(?: av)?|kopi (?:af|av)|копия)[ _]+)+", re.I
)
KEPT = re.compile(r"\.before-\d{4}-\d\d-\d\d-\d{6}")  # the name that `make reset` gives to the file that it keeps
GAPS = re.compile(r"[\s\-]+")
WORDS = ("exercise", "ex", "kata")
NUMBER = re.compile(rf"(?:(?:{'|'.join(WORDS)})_?)?0*(\d{{1,2}})(?:_(.+))?")
CANONICAL, NUMBERED, LOOSE, ALONE = range(4)  # how certainly a name means an exercise
CODE = (".py", ".ipynb")
LIKE, MAX_COMPARED = 0.8, 80  # the least likeness to an exercise's name, and the characters that are compared
MAX_PARTS = 12  # parts of a download's name, between dashes


@dataclass(frozen=True)
class Owner:
    """The student whom an entry's name names. rest: the name that the student gave the file ("" for a folder)."""

    key: str  # what the platform calls the student
    name: str
    rest: str
    platform: str
    kind: str = "file"  # or another kind of Moodle's: "onlinetext"


def owner_of(name: str) -> Owner | None:
    """The student in a name that Moodle or Canvas made; None for any other name."""
    if match := MOODLE.fullmatch(name):
        return Owner(match["id"], match["name"].strip(), match["rest"], "Moodle", match["kind"])
    if match := CANVAS.fullmatch(name):
        return Owner(match["id"], match["name"].strip(), match["rest"], "Canvas")
    return None


def possible_owners(name: str) -> tuple[str, ...]:
    """The keys of all students whom a platform's name could mean: several if a student added a mark."""
    keys = MOODLE_MARKS.findall(name)
    if canvas := CANVAS.fullmatch(name):
        keys += [canvas["id"], *CANVAS_MARKS.findall(name)]
    return tuple(dict.fromkeys(keys))


def student_of_file(name: str) -> str | None:
    """The student in "ada_context_vectors.py" or "ada_03_context_vectors.ipynb"; None for any other name."""
    stem = plain_name(name).rpartition(".")[0]
    text = _plain(stem)
    slug = max((slug for slug in _slugs() if text.endswith(f"_{slug}")), key=len, default=None)
    if not is_code(name) or slug is None:
        return None
    number = _slugs()[slug][:2]
    student = re.sub(rf"[\s_-]+(?:ex_?)?0*{int(number)}$", "", stem[: -len(slug) - 1])
    return None if exercise_of(stem).exercise or not student.strip("_- ") or student.isdecimal() else student


def submitters_of(text: str) -> dict[str, list[tuple[str, str]]]:
    """Gradescope's submission_metadata.yml: by folder, the key and name of everybody who handed it in."""
    found: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    parts = re.split(r"(?m)^['\"]?(submission_\w+)['\"]?:[ \t]*$", text)[1:]
    for folder, facts in zip(parts[::2], parts[1::2]):
        section = re.search(r"(?ms)^  :submitters:[^\n]*\n(.*?)(?=^  :?\w+:|\Z)", facts)
        for person in re.split(r"(?m)^[ \t]+- ", section[1] if section else "")[1:]:
            told = {fact: text.strip().strip("'\"") for fact, text in SUBMITTER.findall(person)}
            found[folder].append((told.get("sid") or told.get("email") or folder, told.get("name", "")))
    return found


def ids(keys: Iterable[str]) -> dict[str, str]:
    """A text for each key that is safe as a file name, and unique even if case is ignored.

    A safe key stays as it is. One that is not safe, or equals another but for case, ends in a part of its hash.
    """
    safe = {key: _safe(key) for key in keys}
    counts = Counter(likeness(text) for key, text in safe.items() if text == key)
    unique = {
        key: text if text == key and counts[likeness(text)] == 1 else f"{text}-{_digest(key)}"
        for key, text in safe.items()
    }
    while len(meeting := Counter(map(likeness, unique.values()))) < len(unique):  # somebody chose the other one's hash
        for key, text in unique.items():
            if meeting[likeness(text)] > 1 and text != key:
                unique[key] = _digest(f"{key} {text}")
    return unique


def without_prefix(clones: Sequence[str], folder: str) -> dict[str, str]:
    """GitHub's names of clones, "assignment-user", without their common prefix, by full name.

    folder: the name of the folder that holds them. The prefix is removed only if it is certain: the folder is called
    "assignment-submissions", or nearly all of at least two clones have it.
    """
    of_folder = folder.removesuffix("-submissions") + "-"
    if of_folder[:-1] != folder and any(name.startswith(of_folder) for name in clones):
        prefix = of_folder
    else:
        ends = {name: [i + 1 for i, sign in enumerate(name[:255]) if sign == "-"][:MOST_DASHES] for name in clones}
        shared = Counter(name[:end] for name in clones for end in ends[name])
        least = max(2, PREFIX_SHARE * max(shared.values(), default=0), len(clones) / 2)
        prefix = max((text for text, count in shared.items() if count >= least), key=len, default="")
    return {name: name.removeprefix(prefix) for name in clones if prefix and name.startswith(prefix) and name != prefix}


@dataclass(frozen=True)
class Reading:
    """The exercise that a file's name means. rank: how certain it is; revision: higher for a later upload."""

    exercise: str | None
    rank: int = ALONE
    revision: int = 0
    near: str = ""  # the exercise that may have been meant
    reason: str = "its name says no exercise"
    is_torn: bool = False  # it says two


@functools.lru_cache(maxsize=4096)
def exercise_of(stem: str) -> Reading:
    """The exercise that a name without its suffix means: "context_vectors", "03_context_vectors-1", "ex3"."""
    if KEPT.search(stem[:MAX_NAME]):
        return Reading(None, reason="it is an older file, which make reset has kept")
    name, revision = unicodedata.normalize("NFC", stem[:MAX_NAME]).strip(), 0
    if copied := COPIED.match(name.replace("_", " ")):
        name = name[copied.end() :]
    while name.lower() not in _names() and (match := REVISION.search(name)):
        if name[: match.start()].lower() in WORDS:  # "ex-3"
            break
        name, revision = name[: match.start()], max(revision, int(match[1] or match[2]))
    text = _plain(name)
    if text in _names():
        return Reading(_names()[text], CANONICAL, revision)
    if match := NUMBER.fullmatch(text):
        folder, rest = _of_number(match[1]), match[2] or ""
        other = _names().get(rest) or _slug_before(rest) or _of_number(rest)
        if folder and other not in (None, folder):
            return Reading(None, reason=f"the number says {folder}, the name says {other}", is_torn=True)
        if folder and not _is_test(rest):
            return Reading(folder, NUMBERED if not rest or other else LOOSE, revision)
    elif (folder := _slug_before(text)) and not _is_test(text):
        return Reading(folder, LOOSE, revision)
    near = difflib.get_close_matches(text[:MAX_COMPARED], _names(), n=1, cutoff=LIKE)
    if not near:
        return Reading(None)
    return Reading(None, near=_names()[near[0]], reason=f"its name says no exercise: is it {_names()[near[0]]}?")


def is_code(name: str) -> bool:
    """True if a file of this name may be a submission: x.py, even if it came as x.py.txt."""
    return plain_name(name).lower().endswith(CODE)


def reading_of(name: str) -> Reading:
    return exercise_of(plain_name(name).rpartition(".")[0])


def exercise_meant(name: str) -> str:
    """The exercise that a file of any ending is called like, or nearly: "softmax_naive.docx"; "" for none."""
    reading = exercise_of(name.partition(".")[0])
    return reading.exercise or reading.near


def exercise_of_folder(name: str) -> str | None:
    """The exercise that a folder is named after, or None: "03_context_vectors", "context-vectors"."""
    return _names().get(_plain(name))


def exercise_of_title(title: str) -> str | None:
    """The exercise that a platform's column, file or assignment is certainly named after, or None."""
    text = _plain(title)
    titles = {_plain(f"{exercise.folder[:2]} {exercise.title}"): exercise.folder for exercise in catalog.exercises()}
    return _names().get(text) or titles.get(text)


def exercise_of_download(stem: str) -> str | None:
    """The exercise in the name of a download, as in Moodle's "course-03 context vectors-9"; None if it says none."""
    parts = stem.split("-")
    if len(parts) > MAX_PARTS:
        return None
    pieces = {"-".join(parts[start:end]) for start in range(len(parts)) for end in range(start + 1, len(parts) + 1)}
    found = {exercise_of_title(piece) for piece in pieces} - {None}
    return next(iter(found)) if len(found) == 1 else None


def likeness(name: str) -> str:
    """A form that is equal for names that a person, a spreadsheet or a file system would confuse."""
    text = unicodedata.normalize("NFKC", name).casefold()
    text = "".join(sign for sign in text if unicodedata.category(sign) not in ("Cf", "Cc"))
    return " ".join(unicodedata.normalize("NFKC", text).split()).strip(" .")


@functools.cache
def _names() -> dict[str, str]:
    """The folder of each exercise by its unambiguous names."""
    return {name: e.folder for e in catalog.exercises() for name in (e.folder, e.slug)}


@functools.cache
def _slugs() -> dict[str, str]:
    return {exercise.slug: exercise.folder for exercise in catalog.exercises()}


def _of_number(text: str) -> str | None:
    """The exercise with this number, perhaps followed by more."""
    match = NUMBER.fullmatch(text)
    return match and next((e.folder for e in catalog.exercises() if e.number == int(match[1])), None)


def _slug_before(text: str) -> str | None:
    """The exercise with the longest slug that the name begins with, as in "softmax_naive_final"."""
    slug = max((slug for slug in _slugs() if text.startswith(slug + "_")), key=len, default=None)
    return slug and _slugs()[slug]


def _is_test(text: str) -> bool:
    return text.startswith("test_") or text.endswith("_test")


def _plain(name: str) -> str:
    """The name in lower case, with one underscore for each gap."""
    return GAPS.sub("_", name.strip().lower())


def _safe(key: str) -> str:
    text = unicodedata.normalize("NFC", key[:MAX_NAME].encode("utf-8", "replace").decode())
    text = UNSAFE.sub("_", text)[:MAX_ID]
    while len(text.encode()) > 2 * MAX_ID:
        text = text[:-1]
    text = text.lstrip(" .-+@").rstrip(" .") or "student"
    return f"_{text}" if RESERVED.fullmatch(text) else text


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:8]
