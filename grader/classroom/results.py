"""Writes the results of a class into a folder. Takes one student at a time: a class of any size fits.

results/grades.csv  results/class.html  results/<student>/result.json  results/<student>/feedback.html
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from grader.classroom import feedback, grades, page
from grader.classroom.records import Student
from grader.classroom.summary import Summary
from grader.errors import WrongUse
from grader.results import ExerciseResult

GRADES, PAGE = "grades.csv", "class.html"
RECORD = "result.json"


def write(
    out: Path,
    students: Iterable[tuple[Student, Sequence[ExerciseResult]]],
    exercises: Sequence[str],
    form: str = "plain",
    level: str = "full",
    pairs: Callable[[], Sequence] = tuple,
    ungraded: Mapping[tuple[str, str], str] | None = None,
) -> Summary:
    """Write all results; each file is whole or as it was before. What has not changed is not touched.

    students: each once, with the results there are (none: nothing was handed in), graded with reveal=False; each
    may be forgotten once taken. form: of grades.FORMS. level: of report.html.LEVELS. pairs: gives grader.similar.Pair.
    ungraded: what the grader could not do, (student's id, exercise) → reason. Raises WrongUse.
    """
    summary = Summary(exercises)
    troubles = _by_student(ungraded or {})
    seen: set[str] = set()
    for student, found in students:
        trouble = troubles.get(student.id, {})
        results = _ordered(found, [folder for folder in exercises if folder not in trouble])
        if student.id.casefold() in seen:
            raise WrongUse(f"two students are called {student.id!r}: their results would overwrite each other")
        seen.add(student.id.casefold())
        folder = out / _folder(student.id)
        _replace(folder / RECORD, feedback.record(student, results, exercises, level, trouble))
        _replace(folder / page.FEEDBACK, feedback.page(student, results, exercises, level, trouble))
        summary.add(student, results, trouble)
    _replace(out / GRADES, grades.table(summary, form))
    _replace(out / PAGE, page.render(summary, pairs()))
    return summary


def _folder(id: str) -> str:
    """The student's folder. Raises WrongUse where the id is no plain name of one."""
    if not id or id.startswith(".") or "/" in id or "\\" in id or "\0" in id or id.casefold() in (GRADES, PAGE):
        raise WrongUse(f"{id!r} cannot name a student's folder of results. Rename what was handed in")
    return id


def _ordered(results: Sequence[ExerciseResult], exercises: Sequence[str]) -> list[ExerciseResult]:
    """In the order of the exercises; of others nothing."""
    by_folder = {result.exercise: result for result in results}
    return [by_folder[folder] for folder in exercises if folder in by_folder]


def _by_student(ungraded: Mapping[tuple[str, str], str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for (student, exercise), reason in ungraded.items():
        found.setdefault(student, {})[exercise] = reason
    return found


def _replace(path: Path, text: str) -> None:
    """Make the file hold the text, at once or not at all; an unchanged file is left alone."""
    data = text.encode("utf-8", "backslashreplace")
    beside = path.with_name(f".{path.name}.new")
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            if path.read_bytes() == data:
                return
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(data)
        os.replace(beside, path)
    except OSError as error:
        raise WrongUse(f"{path} cannot be written: {error.strerror}. Name another folder: OUT=…") from None
