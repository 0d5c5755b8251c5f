"""The entries of a download, on disk or in an archive, and what they look like.

A name that a student may have chosen decides only if no entry beside it contradicts it.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.classroom.intake import archives, beneath, names
from grader.classroom.intake.archives import Node

SKIPPED = {"__pycache__", "node_modules", "venv", "env", "solutions", "tests", "grader", "build"}
HIDDEN, FORKS, TOOLING = "hidden", "made by macOS", "in venv/, tests/, build/ and the like"  # why files are left out
METADATA = "submission_metadata.yml"
COURSE_FILES = {"gradebook.db", "nbgrader_config.py"}
COURSE_FOLDERS = {"source", "release", "autograded", "feedback", "exchange"}
EXPECTED = {"readme.md", "hints.md", "timestamp.txt", "__init__.py", "conftest.py", "thumbs.db", "desktop.ini"}
# What lies beside a lesson: who hands in the whole folder hands it in too. A test holds this against exercises/.
OF_LESSONS = re.compile(
    r"review\.md|problems\.md|figure\.js|\w+\.svg|diagrams\.toml|config\.json|tokenizer\.json|model\.safetensors|\w+\.pt",
    re.I,
)
SCRIPTS_OF_LESSONS = re.compile(r"(?:experiment|train|stories|portfolio|measure_\w+)\.py", re.I)
CLONE_FILES = {".git", "makefile", "pyproject.toml"}
REFUSED = {  # kinds of entries, and why
    "link": "a link: links are not followed. Hand in the file itself", "outside": "its name leads out of the archive",
    "long": f"its name is longer than {beneath.MAX_NAME} bytes", "other": "no regular file",
}  # fmt: skip
MAX_ENTRIES, MAX_DEPTH = 2_000, 3  # entries and nested folders that are examined to recognize a student's folder


def root_folder(folder: Path) -> Node:
    """The folder that the instructor names, the only one that may be reached through a link."""
    place = beneath.place(folder)
    return Node(os.path.basename(os.path.realpath(place)), "dir" if os.path.isdir(place) else "file", place)


def hidden(node: Node) -> str:
    if node.kind == "outside":
        return ""
    if node.name.lower() == "__macosx" or node.name.startswith("._"):
        return FORKS
    return HIDDEN if node.name.startswith(".") else ""


def passed_over(node: Node) -> str:
    """Why an entry of a student is not their work, or ""."""
    return hidden(node) or (TOOLING if node.kind == "dir" and node.name.lower() in SKIPPED else "")


def inside(node: Node) -> Sequence[Node]:
    """The entries of a folder; none if it cannot be read."""
    try:
        return node.children()
    except OSError:
        return []


def of(node: Node) -> Sequence[Node]:
    """The entries of a folder, or of an archive that may hold a class. Raises OSError, BadSubmission or NoSuchFile."""
    return node.children() if node.kind == "dir" else node.open(download=True).children()


def opened(node: Node) -> Sequence[Node]:
    """The entries of what may be a download, a folder or a zip; none if it cannot be read."""
    if node.kind == "file" and not node.name.lower().endswith(".zip"):
        return []  # a student's, which only the helper process reads
    try:
        return of(node)
    except (BadSubmission, NoSuchFile, OSError):
        return []


def is_container(node: Node) -> bool:
    return node.kind == "dir" or (node.kind == "file" and archives.is_archive(node.name))


def is_class_file(node: Node) -> bool:
    """True for a file that a platform or a course puts beside the students."""
    return node.kind == "file" and node.name.lower() in {METADATA, *COURSE_FILES, *EXPECTED}


def is_exercises(node: Node) -> bool:
    return (
        node.name == "exercises" and node.kind == "dir" and any(names.exercise_of_folder(c.name) for c in inside(node))
    )


def is_clone(node: Node) -> bool:
    children = inside(node) if node.kind == "dir" else ()
    return any(child.name == ".git" for child in children) and any(map(is_exercises, children))


def exercise_of_entry(node: Node) -> str | None:
    """The exercise that a folder or an archive is named after, or None."""
    return names.exercise_of_download(archives.stem(node.name)) if is_container(node) else None


def is_like_a_students(node: Node, only: str | None) -> bool:
    """True if an entry looks like a student's: it has a platform's name, is an archive, or holds answers."""
    if names.owner_of(node.name) or (node.kind == "file" and archives.is_archive(node.name)):
        return True
    return node.kind == "dir" and holds_code(node, only, is_any=False)


def holds_code(node: Node, only: str | None, is_any: bool = True) -> bool:
    """True if a folder has too many entries, or holds an archive, a file named after an exercise, or (is_any) any."""
    waiting, remaining = [(node, 0)], MAX_ENTRIES
    while waiting:
        folder, depth = waiting.pop()
        is_named = bool(is_any or only or names.exercise_of_folder(folder.name))
        for child in inside(folder):
            remaining -= 1
            if remaining < 0:
                return True
            if passed_over(child) or (child.kind == "dir" and depth == MAX_DEPTH):
                continue
            if child.kind == "dir":
                waiting.append((child, depth + 1))
            elif archives.is_archive(child.name) or (
                names.is_code(child.name)
                and child.name.lower() not in EXPECTED
                and (is_named or names.reading_of(child.name).exercise)
            ):
                return True
    return False


def is_course(children: Sequence[Node], submitted: Node, only: str | None) -> bool:
    """True if these are the entries of an nbgrader course, and not of a class with a student called "submitted"."""
    if any(child.kind == "file" and child.name in COURSE_FILES for child in children):
        return True
    others = (c for c in children if c is not submitted and c.name not in COURSE_FOLDERS and not is_class_file(c))
    return not any(is_like_a_students(child, only) for child in others)


def is_one_students(children: Sequence[Node], only: str | None) -> bool:
    """True if these entries are exercises of one student, not students."""
    visible = [child for child in children if not hidden(child)]
    if any(names.owner_of(child.name) or names.student_of_file(child.name) for child in visible):
        return False
    if any(map(is_exercises, visible)):
        if any(child.name.lower() in CLONE_FILES for child in children):
            return True
        others = (c for c in visible if not (is_exercises(c) or c.name in SKIPPED))
        return not any(is_like_a_students(child, only) for child in others)
    files = sum(c.kind == "file" and names.is_code(c.name) and bool(names.reading_of(c.name).exercise) for c in visible)
    exercises = sum(c.kind == "dir" and bool(names.exercise_of_folder(c.name)) and _has_code_in_it(c) for c in visible)
    others_count = sum(map(is_container, visible)) - exercises
    if exercises < max(others_count, 1) and files <= others_count + exercises:
        return False
    return not any(is_like_a_students(child, only) for child in visible if not exercise_of_entry(child))


def is_wrapper(node: Node, only: str | None) -> bool:
    """True if an entry, the only one in its folder, holds the class and not the files of one student."""
    if node.kind != "dir" or names.owner_of(node.name) or names.exercise_of_folder(node.name):
        return False
    visible = [entry for entry in inside(node) if not hidden(entry)]
    return any(names.owner_of(entry.name) or names.GRADESCOPE.fullmatch(entry.name) for entry in visible) or (
        any(map(is_container, visible)) and not is_one_students(inside(node), only)
    )


def holds_class(node: Node) -> bool:
    """True if an entry named after an exercise holds a class: platforms' names, folders, archives, files of several."""
    visible = [child for child in opened(node) if not (hidden(child) or is_class_file(child))]
    work = [child for child in visible if not (child.kind == "dir" and child.name.lower() in SKIPPED)]
    return any(names.owner_of(c.name) or names.student_of_file(c.name) for c in work) or any(
        is_container(child) and not exercise_of_entry(child) for child in work
    )


def has_students(children: Sequence[Node], only: str | None) -> bool:
    """True if an entry looks like a student's and is not named after an exercise, which a student's may be too."""
    others = (c for c in children if not (hidden(c) or exercise_of_entry(c) or is_class_file(c)))
    return any(is_like_a_students(child, only) for child in others)


def are_downloads(children: Sequence[Node]) -> bool:
    """True if each container among these entries is a download of Moodle or Canvas, and there is one.

    A student's own archive may imitate one, so a single entry that is none makes all of them students' entries.
    """
    containers = [child for child in children if is_container(child) and not hidden(child)]
    return bool(containers) and all(map(_names_only_people, containers))


def _names_only_people(node: Node) -> bool:
    """True if a platform named everything in a folder or an archive."""
    if names.owner_of(node.name):
        return False
    within = [child for child in opened(node) if not (hidden(child) or is_class_file(child))]
    return bool(within) and all(names.owner_of(child.name) for child in within)


def _has_code_in_it(node: Node) -> bool:
    return any(
        child.kind == "file" and names.is_code(child.name) and not names.owner_of(child.name) for child in inside(node)
    )
