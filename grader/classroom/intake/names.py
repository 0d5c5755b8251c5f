"""Reads names: of platforms' downloads, of students' folders, of exercises; and claims that an entry is a student's.

Students choose names, so a name alone must not affect another student's mark. Where two entries could belong to one
student, or one entry to two students, none of them is graded until a person has decided.
"""

import difflib
import functools
import hashlib
import heapq
import itertools
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from grader import catalog
from grader.catalog import Exercise
from grader.classroom.intake.beneath import MAX_NAME
from grader.records.safe_files import plain_name
from grader.records.sanitize import label

# "First Last_123456_assignsubmission_file_" and, without folders, "…_assignsubmission_file_name.zip"
MOODLE = re.compile(r"(?P<name>[^/]*?)_(?P<id>\d+)_assignsubmission_(?P<kind>[a-z]+)_?(?P<rest>.*)", re.S)
# "lastfirst_12345_67890_name.py", late ones "lastfirst_LATE_12345_67890_name.py"
CANVAS = re.compile(r"(?P<name>[^_/]+)(?P<late>_LATE)?_(?P<id>\d+)_\d+_(?P<rest>.+)", re.S)
GRADESCOPE = re.compile(r"submission_(\d+)")
# When a folder of Gradescope's export was handed in, as Ruby writes a time: "2026-11-20 21:10:26.409000000 Z"
CREATED = re.compile(
    r"""  :created_at:\s*['"]?(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d*)?\s*(Z|UTC|[+-]\d\d:?\d\d|)['"]?\s*"""
)
# The platforms' marks in a name. The name of a student or of a file may hold such a mark too.
MOODLE_MARKS = re.compile(r"(?=_(\d+)_assignsubmission_[a-z])")
CANVAS_MARKS = re.compile(r"(?=_(\d+)_\d{3,}_)")  # a shorter second number is an exercise's: "_9001_03_context_…"
MAX_ID = 80  # characters of a student's id
UNSAFE = re.compile(r"[^\w.@+ -]")
# Names that some file systems refuse, and the names of our own folders beside those of the students.
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?|left|upload|history|handback", re.I)
OUTPUT = re.compile(r"\.(csv|html|jsonl?|sqlite|log|md|txt|toml|zip|new)$", re.I)  # no id ends like our own files
PREFIX_SHARE, MOST_DASHES = (
    0.8,
    20,
)  # a prefix's share of the clones; dashes of a name that count
REVISION = re.compile(r"(?:-(\d{1,3})|\s*\((\d{1,3})\))$")  # "-1" (Canvas), " (1)" (browsers): a later upload
# What Colab and Google Drive write before the name of a copy, in the language of who makes it.
COPIED = re.compile(
    r"(?:(?:copy of|kopie (?:von|van)|copie de|c[oó]pia (?:de|di)|kopia(?: av)?|kopi (?:af|av)|копия)[ _]+)+", re.I
)
KEPT = re.compile(r"\.before-\d{4}-\d\d-\d\d-\d{6}")  # the name that `make reset` gives to the file that it keeps
GAPS = re.compile(r"[\s\-]+")
WORDS = ("exercise", "ex", "kata")
NUMBER = re.compile(rf"(?:(?:{'|'.join(WORDS)})_?)?0*(\d{{1,2}})(?:_(.+))?")
CANONICAL, NUMBERED, LOOSE, ALONE = range(4)  # how certainly a name means an exercise
CODE = (".py", ".ipynb")  # suffixes of submissions
LIKE = 0.8  # the least likeness of a name to an exercise's: "attention" is none of the many that end so
MAX_COMPARED = 80  # characters of a name that are compared with the exercises' names
MAX_PARTS = 12  # parts of a download's name, between dashes
# Letters of other scripts that look like Latin ones.
LOOKALIKES = str.maketrans("аеорсухіјѕԁһԛԝνοραικτυωɑıγ", "aeopcyxijsdhqwvopaiktuwaiy")


@dataclass(frozen=True)
class Owner:
    """The student whom the name of an entry names. rest: the name that the student gave the file ("" for a folder)."""

    key: str  # what the platform calls the student
    name: str
    rest: str
    platform: str
    kind: str = "file"  # or another kind of Moodle's: "onlinetext"
    late: bool = False


def owner_of(name: str) -> Owner | None:
    """The student in a name that Moodle or Canvas made; None for other names."""
    if match := MOODLE.fullmatch(name):
        return Owner(match["id"], match["name"].strip(), match["rest"], "Moodle", match["kind"])
    if match := CANVAS.fullmatch(name):
        return Owner(match["id"], match["name"].strip(), match["rest"], "Canvas", late=bool(match["late"]))
    return None


def possible_owners(name: str) -> tuple[str, ...]:
    """The keys of all students whom a platform's name could mean. There are several where a student added a mark."""
    keys = MOODLE_MARKS.findall(name)
    if canvas := CANVAS.fullmatch(name):
        keys += [canvas["id"], *CANVAS_MARKS.findall(name)]
    return tuple(dict.fromkeys(keys))


def submitters_of(text: str) -> dict[str, list[tuple[str, str]]]:
    """Gradescope's submission_metadata.yml: by folder, the key and name of everybody who handed it in."""
    by_folder: dict[str, list[dict[str, str]]] = {}
    people: list[dict[str, str]] | None = None
    inside = False
    for line in text.split("\n"):
        if top := re.fullmatch(r"['\"]?(submission_\w+)['\"]?:\s*", line):
            people, inside = by_folder.setdefault(top[1], []), False
        elif section := re.fullmatch(r"  (:?\w+):.*", line):
            inside = section[1] == ":submitters"
        elif people is not None and inside and (fact := re.fullmatch(r"\s+(- )?:(name|sid|email): *(.*)", line)):
            if fact[1] or not people:
                people.append({})
            people[-1][fact[2]] = fact[3].strip().strip("'\"")
    return {
        folder: [(person.get("sid") or person.get("email") or folder, person.get("name", "")) for person in people]
        for folder, people in by_folder.items()
        if people
    }


def times_of(text: str) -> dict[str, datetime]:
    """The time at which each folder of Gradescope's export was handed in, by the same file; UTC without a zone."""
    times: dict[str, datetime] = {}
    folder = ""
    for line in text.split("\n"):
        if top := re.fullmatch(r"['\"]?(submission_\w+)['\"]?:\s*", line):
            folder = top[1]
        elif folder and folder not in times and (created := CREATED.fullmatch(line)):
            zone = "+0000" if created[3] in ("", "Z", "UTC") else created[3].replace(":", "")
            try:
                times[folder] = datetime.strptime(f"{created[1]} {created[2]} {zone}", "%Y-%m-%d %H:%M:%S %z")
            except ValueError:
                continue
    return times


def ids(keys: Iterable[str]) -> dict[str, str]:
    """An id for each key: safe as the name of a folder, and unique even where case is ignored.

    The ids depend on the set of keys, not on their order. A key that is not safe, or equals another but for case, gets
    an id that ends in a part of its hash. A safe key is its own id, whatever the other keys are.
    """
    safe = {key: _safe(key) for key in keys}
    unchanged_counts = Counter(_fold(key) for key, text in safe.items() if text == key)
    unique = {
        key: text if text == key and unchanged_counts[_fold(key)] == 1 else f"{text}-{_digest(key)[:8]}"
        for key, text in safe.items()
    }
    while len(meeting := Counter(map(_fold, unique.values()))) < len(unique):  # two ids are equal
        for key, text in unique.items():
            if meeting[_fold(text)] > 1 and text != key:
                unique[key] = _digest(f"{key} {text}")
    return unique


def without_prefix(clones: list[str], folder: str) -> dict[str, str]:
    """GitHub's names of clones, "assignment-user", without their common prefix, by full name.

    folder: the name of the folder that holds them. The prefix is removed only where it is certain: the folder is called
    "assignment-submissions", or there are at least two clones. Nearly all must have it: one name that is chosen
    otherwise does not change the others.
    """
    of_folder = folder.removesuffix("-submissions") + "-"
    if of_folder[:-1] != folder and any(name.startswith(of_folder) for name in clones):
        prefix = of_folder
    else:
        shared = Counter(name[:end] for name in clones for end in _dashes(name))
        largest_group = max(shared.values(), default=0)
        common = [
            text for text, count in shared.items() if count >= max(2, PREFIX_SHARE * largest_group, len(clones) / 2)
        ]
        prefix = max(common, key=len, default="")
    return {name: name.removeprefix(prefix) for name in clones if prefix and name.startswith(prefix) and name != prefix}


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
    name_text, revision = unicodedata.normalize("NFC", stem[:MAX_NAME]).strip(), 0
    if copied := COPIED.match(name_text.replace("_", " ")):
        name_text = name_text[copied.end() :]
    while name_text.lower() not in _names() and (match := REVISION.search(name_text)):
        if name_text[: match.start()].lower() in WORDS:  # "ex-3"
            break
        name_text, revision = name_text[: match.start()], max(revision, int(match[1] or match[2]))
    text = _plain(name_text)
    folder: str | None
    if text in _names():
        return Reading(_names()[text], CANONICAL, revision)
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
    """Whether a file of this name may be a submission: x.py, also where it came as x.py.txt."""
    return plain_name(name).lower().endswith(CODE)


def reading_of(name: str) -> Reading:
    """The exercise that the name of a file, with its suffix, means."""
    return exercise_of(plain_name(name).rpartition(".")[0])


def exercise_meant(name: str) -> str | None:
    """The exercise that a file of any ending is called like, or nearly: "softmax_naive.docx"."""
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


@functools.lru_cache(maxsize=256)
def _pairs(text: str) -> frozenset[str]:
    """The pairs of neighbouring letters."""
    return frozenset(map("".join, itertools.pairwise(text)))


@functools.cache
def _names() -> dict[str, str]:
    """The folder of each exercise by its unambiguous names."""
    return {name: e.folder for e in catalog.exercises() for name in (e.folder, e.slug)}


@functools.cache
def _slugs() -> dict[str, str]:
    return {exercise.slug: exercise.folder for exercise in catalog.exercises()}


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
    node: Any  # a collector.Entry
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


def _safe(key: str) -> str:
    text = unicodedata.normalize("NFC", key[:MAX_NAME].encode("utf-8", "replace").decode())
    text = UNSAFE.sub("_", text)[:MAX_ID]
    while len(text.encode()) > 2 * MAX_ID:
        text = text[:-1]
    text = text.lstrip(" .-+@").rstrip(" .") or "student"
    text = OUTPUT.sub(r"_\1", text)
    return f"_{text}" if RESERVED.fullmatch(text) else text


def _dashes(name: str) -> list[int]:
    """The ends of the first prefixes that end in a dash."""
    return [index + 1 for index, sign in enumerate(name[:255]) if sign == "-"][:MOST_DASHES]


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]


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
    few = heapq.nlargest(3, shared, key=shared.__getitem__)
    return next(iter(difflib.get_close_matches(text, few, n=1, cutoff=LIKE)), None)


def _is_test(text: str) -> bool:
    return text.startswith("test_") or text.endswith("_test")


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
        return f"names that are taken for one and the same: {', '.join(map(_quote, ids))}"
    if platforms != {""} and len(set(map(likeness, names))) > 1:
        return f"the number {label(ids[0])} is beside different names: {', '.join(map(_quote, names))}"
    if platforms <= {"", "Gradescope"}:
        places = [(claim.container, claim.where) for claim, _, _ in group]
        if len({container for container, _ in places}) < len(places):
            return f"several entries are named after {_quote(ids[0])}"
    return ""


def _quote(name: str) -> str:
    """A name in a form that shows invisible differences."""
    return label(name) if name.isascii() and name == name.strip(" .") else ascii(name)
