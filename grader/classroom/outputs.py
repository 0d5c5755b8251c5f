"""Writes the results of a class into a folder. Takes one student at a time: a class of any size fits.

results/grades.csv  results/class.html  results/<student>/result.json  results/<student>/feedback.html
"""

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from grader.catalog.errors import WrongUse
from grader.classroom import grades
from grader.classroom.handins import Found, Student
from grader.classroom.pages import class_page, feedback
from grader.classroom.summary import Summary
from grader.records import containment
from grader.records.results import ExerciseResult
from grader.records.sanitize import label

GRADES, PAGE = "grades.csv", "class.html"
RECORD = "result.json"


class Unwritten(WrongUse):
    """Some files are not there. All others are, and every result is kept: grading again writes them without work."""


def write(
    out: Path,
    students: Iterable[tuple[Student, Sequence[ExerciseResult]]],
    exercises: Sequence[str],
    form: str = "plain",
    level: str = "full",
    pairs: Callable[[], Sequence] = tuple,
    ungraded: Mapping[tuple[str, str], str] | None = None,
    submissions: Found | None = None,
) -> Summary:
    """Write all results; each file is whole or as it was before. What has not changed is not touched.

    students: each once, with the results there are (none: nothing was handed in), graded with reveal=False; each
    may be forgotten once taken. form: of grades.FORMS. level: of reports.html.LEVELS. pairs: gives
    grader.classroom.similar.Pair.
    ungraded: what the grader could not do, (student's id, exercise) → reason. submissions: what was found.
    Raises WrongUse; Unwritten where a file could not be written, after all others are: the grades then go to standard
    output.
    """
    summary, lost = Summary(exercises), []

    def put(path: Path, make: Callable[..., str], *arguments) -> None:
        text = containment.optional(str(path), None, make, *arguments)
        why = _replace(path, text) if text is not None else "could not be made"
        if why:
            lost.append(f"{path} {why}")
        if why and path.name == GRADES and text is not None:
            sys.stdout.write(text)

    troubles = _by_student(ungraded or {})
    seen: dict[str, str] = {}  # the id that was first, by what a file system that ignores case takes it for
    for student, found in students:
        trouble = troubles.get(student.id, {})
        results = _ordered(found, [folder for folder in exercises if folder not in trouble])
        summary.add(student, results, trouble)
        why = _no_folder(out, student.id, seen.setdefault(student.id.casefold(), student.id))
        if why:
            lost.append(f"the pages of {label(student.id)} {why}")
            continue
        put(out / student.id / RECORD, feedback.record, student, results, exercises, level, trouble)
        put(out / student.id / class_page.FEEDBACK, feedback.page, student, results, exercises, level, trouble)
    put(out / GRADES, grades.table, summary, form)
    missing = _files(submissions, troubles) if submissions else 0
    put(out / PAGE, lambda: class_page.render(summary, pairs(), submissions, missing))
    if lost:
        more = f" (and {len(lost) - 1} files more)" if len(lost) > 1 else ""
        raise Unwritten(f"{lost[0]}{more}. All results are kept: grade again. To write elsewhere: OUT=…")
    return summary


def left_over(out: Path, summary: Summary) -> tuple[str, ...]:
    """The folders of students who have no row any more: what stands there is of an earlier run, and counts no more.

    So it is with whoever handed in before, and now needs a person or is gone.
    """
    now = {row.student.id for row in summary.rows}
    return tuple(sorted(path.parent.name for path in out.glob(f"*/{RECORD}") if path.parent.name not in now))


def _no_folder(out: Path, id: str, first: str) -> str:
    """Why a student has no folder of results, or "". first: the first id that differs from this one in case alone."""
    if not id or id.startswith(".") or "/" in id or "\\" in id or "\0" in id or id.casefold() in (GRADES, PAGE):
        return "cannot be written: the id is no name of a folder"
    # One of them may be of an earlier run: what stands for other exercises is kept.
    with contextlib.suppress(OSError):
        if id != first and (out / id).samefile(out / first):
            return f"would overwrite those of {label(first)}"
    return ""


def _ordered(results: Sequence[ExerciseResult], exercises: Sequence[str]) -> list[ExerciseResult]:
    """In the order of the exercises; of others nothing."""
    by_folder = {result.exercise: result for result in results}
    return [by_folder[folder] for folder in exercises if folder in by_folder]


def _by_student(ungraded: Mapping[tuple[str, str], str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for (student, exercise), reason in ungraded.items():
        found.setdefault(student, {})[exercise] = reason
    return found


def _files(submissions: Found, troubles: Mapping[str, Mapping[str, str]]) -> int:
    """The files that could not be graded; a group's is one."""
    return len({(h.place, h.member) for h in submissions.handins if h.exercise in troubles.get(h.student.id, ())})


def _replace(path: Path, text: str) -> str:
    """Make the file hold the text, at once or not at all; an unchanged file is left alone. Gives what went wrong."""
    data = text.encode("utf-8", "backslashreplace")
    beside = path.with_name(f".{path.name}.new")
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            if path.read_bytes() == data:
                return ""
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(data)
        os.replace(beside, path)
    except OSError as error:
        return f"cannot be written: {error.strerror}"
    return ""
