"""Moodle's "Upload multiple feedback files in a zip": one archive for each assignment.

Rule, as it stands in mod/assign/feedback/file/importziplib.php: each part of a path is split at the first four
underscores into name, number, plugin type and plugin; the number must be one of the assignment's participants, the
plugin one that exists, the name is not looked at. What follows is the name of the feedback file, which may not begin
with "." or "~". A file of the same name is replaced. So the submission's folder comes back with the feedback in it.
"""

from grader.classroom.handback.released import Assignment, File, Handed
from grader.classroom.intake.platform_names import MOODLE
from grader.classroom.pages import feedback

PLATFORM = "Moodle"


def file_of(handed: Handed, assignment: Assignment, level: str) -> File | None:
    """The feedback of one student on one assignment; None where Moodle did not name the entry."""
    folder = _folder(handed.origin.name)
    if folder is None:
        return None
    page = feedback.page(handed.student, handed.results, assignment.exercises, level, None, handed.standing)
    return File(f"{folder}/feedback_{assignment.name}.html", page)


def _folder(entry: str) -> str | None:
    """The submission's folder, from the name of the downloaded entry; None where Moodle did not name it."""
    match = MOODLE.fullmatch(entry)
    if not match:
        return None
    name = match["name"].strip()
    safe = name if name and "_" not in name and name.isprintable() and name[0] not in ".~" else "Participant"
    return f"{safe}_{match['id']}_assignsubmission_file_"
