"""Canvas' re-upload of submissions: one archive for each assignment, in which files keep the names of the download.

Rules, as they stand in canvas-lms (lib/content_zipper.rb, generate_comments_from_files in the assignment's model): of a
file's name the first number between underscores is the user and the second one an attachment of that user's submission.
The file becomes an attachment of a comment, and is shown under the name that the student gave the submitted file. So
it has that kind: of a .py file it is Python with nothing but comments, of a notebook a notebook, of an archive a zip.
Each upload adds a comment: upload once.
"""

import io
import json
import zipfile
from collections.abc import Sequence

from grader.classroom.handback import spoken_feedback
from grader.classroom.handback.released import Assignment, File, Handed
from grader.classroom.intake.platform_names import CANVAS
from grader.classroom.pages import feedback

PLATFORM = "Canvas"
NOTEBOOK = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}}


def file_of(handed: Handed, assignment: Assignment, level: str) -> File | None:
    """The feedback of one student on one assignment, under the name of the first file; None if Canvas did not name it.

    One file, whatever the number of exercises: each upload is one comment.
    """
    name = handed.origin.name
    return File(name, _content(name, handed, assignment, level)) if CANVAS.fullmatch(name) else None


def _content(name: str, handed: Handed, assignment: Assignment, level: str) -> str | bytes:
    """The feedback as a file of the kind that this name says."""
    lines = list(spoken_feedback.lines(handed, assignment.exercises, level))
    suffix = name.lower().rpartition(".")[2]
    if suffix == "ipynb":
        cell = {"cell_type": "markdown", "id": "feedback", "metadata": {}, "source": _fenced(lines)}
        return json.dumps(NOTEBOOK | {"cells": [cell]}, indent=1) + "\n"
    if suffix in ("zip", "gz", "tgz"):
        page = feedback.page(handed.student, handed.results, assignment.exercises, level, None, handed.standing)
        return zipped([File(f"feedback_{assignment.name}.html", page)])
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)


def _fenced(lines: Sequence[str]) -> str:
    """Lines as Markdown that shows them as they are."""
    return "\n".join(f"    {line}" for line in lines)


def zipped(files: Sequence[File]) -> bytes:
    """A zip archive: the same files give the same bytes."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(zipfile.ZipInfo(file.name), file.content, zipfile.ZIP_DEFLATED)
    return data.getvalue()
