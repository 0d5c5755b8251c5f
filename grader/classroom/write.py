"""Writes the results of a class into a folder, one student after the other, so a class may have any size."""

import contextlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from grader.catalog.errors import InfrastructureError
from grader.classroom import feedback
from grader.classroom.class_page import class_page
from grader.classroom.grades import grades_csv, marks_csv
from grader.classroom.intake import names
from grader.classroom.marks import LEFT_OUT, Mark, Student
from grader.classroom.store import Store
from grader.classroom.summary import Summary
from grader.records import containment, safe_files

PAGE, MARKS, GRADES = "class.html", "marks.csv", "grades.csv"
JSON = "json"


def write(out: Path, marks: Sequence[Mark], exercises: Sequence[str], store: Store, level: str) -> None:
    """Write all results. A file that would not change is not written; pages of earlier runs that are no more go.

    Raises InfrastructureError if a file cannot be written: the store has all results, so grading again goes on there.
    """
    summary = Summary(exercises)
    written = {out / name for name in (PAGE, MARKS, GRADES)}
    groups: dict[Student, list[Mark]] = defaultdict(list)
    for mark in marks:
        if mark.student and mark.status != LEFT_OUT:
            groups[mark.student].append(mark)
    file_names = names.ids(student.id for student in groups)
    for student, own in sorted(groups.items()):
        results = []
        for mark in own:
            result = store.result(mark.key) if mark.key else None
            if result is None or mark.handin is None:
                continue
            results.append(result)
            path = out / feedback.link_of(mark)
            page = containment.optional(str(path), None, feedback.page, result, student, level)
            if page is not None:
                written.add(_put(path, page))
        summary.add(student, own, results)
        if results:
            records = feedback.records(student, results, level)
            written.add(_put(out / JSON / f"{file_names[student.id]}.json", records))
    _put(out / MARKS, marks_csv(marks))
    _put(out / GRADES, grades_csv(summary))
    html = containment.optional(str(out / PAGE), None, class_page, summary, marks)
    if html is not None:
        _put(out / PAGE, html)
    for path in (*(out / feedback.FOLDER).glob("*/feedback_*.html"), *(out / JSON).glob("*.json")):
        if path not in written:
            path.unlink()
            with contextlib.suppress(OSError):
                path.parent.rmdir()


def _put(path: Path, text: str) -> Path:
    """Write a file as a whole, unless it has this text."""
    data = text.encode("utf-8", "backslashreplace")
    try:
        if not path.exists() or path.read_bytes() != data:
            for folder in (path.parent.parent, path.parent):
                folder.mkdir(mode=0o700, exist_ok=True)
            safe_files.write_whole(path, data, mode=0o600)
    except OSError as error:
        raise InfrastructureError(
            f"{path} cannot be written: {error.strerror}. All results are kept: grade again. To write elsewhere: OUT=…"
        ) from None
    return path
