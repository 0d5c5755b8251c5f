"""One case of the fuzz of intake: what a stranger chose goes through all that reads it, under the promised limits."""

import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from random import Random

import hostile

from grader import catalog
from grader.catalog.errors import BadSubmission, NoSuchFile, WrongUse
from grader.classroom.intake import archives, beneath, names
from grader.classroom.intake.finder import find
from grader.records import forbidden, safe_files, submission
from grader.records.sanitize import label
from grader.records.submission import Submission

SLOW_S, LARGE = 1.0, 200 << 20  # of this process; in the helper grader/records/limited.py sees to it
OURS = (BadSubmission, NoSuchFile, WrongUse)
EXERCISES = catalog.exercises()
RULES = [rule for exercise in EXERCISES for rule in exercise.forbidden]


class Broken(AssertionError):
    """A case did what no case may."""


def case(kind: str, dice: Random, folder: Path) -> bool:
    """Try one case; whether it was accepted. Raises Broken, or whatever was not foreseen."""
    make, look = CASES[kind]
    made = make(dice)
    size, began = _peak(), time.process_time()
    try:
        look(made, folder)
        accepted = True
    except OURS as error:
        label(str(error)).encode()
        accepted = False
    seconds = time.process_time() - began
    if seconds > SLOW_S:
        raise Broken(f"{seconds:.1f} s")
    if _peak() - size > LARGE:
        raise Broken(f"{(_peak() - size) >> 20} MB")
    return accepted


def _name(made: list[str], folder: Path) -> None:
    text, other = made
    shown = label(text)
    if not shown.isprintable() or len(shown) > 400 or shown != shown.encode().decode():
        raise Broken(f"shown as {shown!r}")
    names.exercise_of(text), names.exercise_of_folder(text)
    names.owner_of(text), beneath.is_too_long(text)
    keys = [text, other, text.upper()]
    ids = names.ids(keys)
    if len({id.casefold() for id in ids.values()}) != len(set(keys)) or not all(map(str.isprintable, ids.values())):
        raise Broken(f"ids {ids!r}")
    names.submitters_of(f"{text}\nsubmission_1:\n  :submitters:\n  - :name: {text}\n")


def _archive(made: tuple[str, bytes], folder: Path) -> None:
    called, data = made
    path = folder / called
    path.write_bytes(data)
    waiting = [archives.tree(str(path))]
    while waiting:
        node = waiting.pop()
        label(node.name).encode()
        if node.kind == "dir":
            waiting += node.children()
        elif node.kind == "file" and node.name.endswith((".py", ".ipynb")):
            _looked_at(archives.read(str(path), node.member))


def _class(made: tuple, folder: Path) -> None:
    """A class of three: an archive, a file in a folder, and whatever the name makes of it."""
    root = Path(tempfile.mkdtemp(dir=folder))
    try:
        packed, name, source = made
        for number, (called, data) in enumerate(packed):
            (root / f"{number}{called}").write_bytes(data)
        _on_disk(root, name, source)
        for handin in find(root, EXERCISES).handins:
            handin.below(root).encode(), handin.student.id.encode(), handin.student.name.encode()
            try:
                _looked_at(handin.read())
            except OURS:
                pass
    finally:
        _emptied(root)


def _notebook(data: bytes, folder: Path) -> None:
    _looked_at(submission.decode(data, "a.ipynb", notebook=True))


def _source(text: str, folder: Path) -> None:
    data = text.encode("utf-8", "replace")
    if len(data) <= safe_files.MAX_SOURCE:
        _looked_at(submission.decode(data, "a.py", notebook=False))


CASES = {  # how each is made, which does not count, and what is done with it
    "name": (lambda dice: [hostile.name(dice), hostile.name(dice)], _name),
    "archive": (hostile.archive, _archive),
    "class": (lambda d: ([hostile.archive(d), hostile.archive(d)], hostile.name(d), hostile.source(d)), _class),
    "notebook": (hostile.notebook, _notebook),
    "source": (hostile.source, _source),
}


def _looked_at(found: Submission) -> None:
    """What is done with the source of everybody."""
    assert found.digest
    forbidden.notes(found.source), forbidden.reaches(found.source)
    for rule in RULES[:1]:
        forbidden.forbidden_uses(found.source, rule.names, rule.functions[0])
    if len(found.source.encode()) > safe_files.MAX_SOURCE:
        raise Broken("larger than a source may be")


def _on_disk(root: Path, called: str, text: str) -> None:
    called = called.replace("/", "_").replace("\0", "_").encode("utf-8", "replace")[:200] or b"a"
    place = os.fsencode(root) + b"/" + (b"\xff" + called).strip(b".")
    try:
        os.mkdir(place)
        with open(place + b"/context_vectors.py", "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError:
        pass


def _emptied(root: Path) -> None:
    for folder, _, files in os.walk(os.fsencode(root), topdown=False):
        for file in files:
            os.remove(os.path.join(folder, file))
        os.rmdir(folder)


def _peak() -> int:
    """The bytes of memory that this process ever took."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size << 10
