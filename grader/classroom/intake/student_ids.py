"""The id of each student: a safe name of a folder, derived from the name that the platform or the entry gives."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from grader.classroom.intake.beneath import MAX_NAME

MAX_ID = 80  # characters of a student's id
UNSAFE = re.compile(r"[^\w.@+ -]")
# Names that some file systems refuse, and the names of our own folders beside those of the students.
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?|left|upload|history|handback", re.I)
OUTPUT = re.compile(r"\.(csv|html|jsonl?|sqlite|log|md|txt|toml|zip|new)$", re.I)  # no id ends like our own files
PREFIX_SHARE, MOST_DASHES = (
    0.8,
    20,
)  # a prefix's share of the clones; dashes of a name that count


def ids(keys: Iterable[str]) -> dict[str, str]:
    """An id for each key: safe as the name of a folder, and unique even where case is ignored.

    The ids depend on the set of keys, not on their order. A key that is not safe, or equals another but for case, gets
    an id that ends in a part of its hash. A safe key is its own id, whatever the other keys are.
    """
    safe = {key: _safe(key) for key in keys}
    unchanged_counts = Counter(_folded(key) for key, text in safe.items() if text == key)
    unique = {
        key: text if text == key and unchanged_counts[_folded(key)] == 1 else f"{text}-{_digest(key)[:8]}"
        for key, text in safe.items()
    }
    while len(meeting := Counter(map(_folded, unique.values()))) < len(unique):  # two ids are equal
        for key, text in unique.items():
            if meeting[_folded(text)] > 1 and text != key:
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


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
