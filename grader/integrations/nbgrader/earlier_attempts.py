"""Chooses the attempt that counts in nbgrader's gradebook, where course.toml lets an earlier one count.

nbgrader keeps the latest hand-in alone. So each run keeps the notebooks that it sees, in FOLDER of the course. An
earlier one that counts is laid there as `nbgrader collect` would have left it, and is recorded from there.
"""

import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nbgrader.apps import AutogradeApp

from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.classroom import office as offices
from grader.classroom import private
from grader.classroom.arrivals import MAX_TIMESTAMP, TIMESTAMP
from grader.classroom.course.marks import Mark
from grader.classroom.handins import HandIn
from grader.classroom.history import History
from grader.classroom.intake import beneath
from grader.classroom.office import Office
from grader.classroom.store import Store
from grader.integrations.nbgrader import submitted
from grader.records import regular_file, whole_file
from grader.records.results import ExerciseResult

FOLDER, COUNTING = ".attempts", "counting"  # COUNTING: the submitted/ from which earlier attempts are recorded
DIGITS = 20  # of a digest, in the name of a folder


@dataclass(frozen=True)
class Chosen:
    """The marks of an assignment, by student. earlier: of whom an earlier attempt counts."""

    marks: Mapping[str, Mark]
    earlier: frozenset[str] = frozenset()


def choose(course: Path, office: Office, handins: Sequence[HandIn], results: Mapping[str, ExerciseResult]) -> Chosen:
    """The attempts that count, of students whose latest hand-in has a result. Raises OSError.

    handins: the latest ones, which are kept where an earlier one may count; results: theirs, by student.
    """
    file = Store(course)
    try:
        history = History(file)
        marks, earlier_chosen = {}, set()
        for handin in handins:
            id, exercise = handin.student.id, handin.exercise
            if id not in results:
                continue
            own_overrides = [
                override for override in office.overrides if (override.student, override.exercise) == (id, exercise)
            ]
            student_office = replace(office, overrides=tuple(own_overrides))
            marks[id] = offices.marks(student_office, file, history, handin.student, [results[id]])[exercise]
            tried = history.of(id).get(exercise, [])
            if office.keeps_attempts and tried:
                _keep(_place(course, exercise, id, tried[-1].digest), handin)
            if marks[id].is_earlier and _place(course, exercise, id, marks[id].digest).is_dir():
                earlier_chosen.add(id)
        private.everything(course / FOLDER)
        return Chosen(marks, frozenset(earlier_chosen))
    finally:
        file.close()


def not_recorded(course: Path, app: AutogradeApp, chosen: Chosen) -> set[str]:
    """The students whose attempt that counts is not the one that the gradebook has."""
    directory, assignment = app.coursedir, app.coursedir.assignment_id
    recorded, folders = _facts(course, assignment), submitted.folders(app)
    found = set()
    for id, mark in chosen.marks.items():
        graded = directory.format_path(directory.autograded_directory, id, assignment)
        place = str(_place(course, assignment, id, mark.digest)) if id in chosen.earlier else folders[id]
        is_same = recorded.get(id, {}).get("digest") == mark.digest and os.path.isdir(graded)
        times = [directory.get_existing_timestamp(folder) for folder in (graded, place) if os.path.isdir(folder)]
        if not is_same or len(set(times)) > 1:  # the second: nbgrader's own autograde has recorded another one since
            found.add(id)
    return found


def lay(course: Path, assignment: str, chosen: Chosen, students: Iterable[str]) -> None:
    """Lay the earlier attempts that count where they are recorded from. Raises OSError."""
    counting = course / FOLDER / COUNTING
    shutil.rmtree(counting, ignore_errors=True)
    for id in students:
        shutil.copytree(_place(course, assignment, id, chosen.marks[id].digest), counting / id / assignment)


def note(course: Path, assignment: str, chosen: Chosen, students: Iterable[str]) -> None:
    """Remember which attempts the gradebook has now."""
    file = Store(course)
    try:
        facts = file.fact(f"recorded {assignment}", {})
        for id in students:
            mark = chosen.marks[id]
            facts[id] = {"digest": mark.digest, "words": [word for word in mark.notes if word != offices.CHANGED]}
        file.note(f"recorded {assignment}", facts)
    finally:
        file.close()


def words(course: Path, assignments: Iterable[str]) -> dict[tuple[str, str], tuple[str, ...]]:
    """The remarks on recorded attempts, by student and assignment."""
    return {
        (id, assignment): tuple(fact["words"])
        for assignment in assignments
        for id, fact in _facts(course, assignment).items()
    }


def _facts(course: Path, assignment: str) -> dict[str, dict]:
    """The facts that `note` stored."""
    file = Store(course)
    try:
        return file.fact(f"recorded {assignment}", {})
    finally:
        file.close()


def _place(course: Path, assignment: str, student: str, digest: str) -> Path:
    """The folder in which an attempt is kept."""
    return course / FOLDER / assignment / student / (digest[:DIGITS] or "none")


def _keep(place: Path, handin: HandIn) -> None:
    """Keep a notebook and its time as they were handed in."""
    folder, _, name = handin.place.rpartition("/")
    place.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(NoSuchFile, BadSubmission):
        whole_file.write(place / name, beneath.read(handin.place, regular_file.MAX_NOTEBOOK))
    with contextlib.suppress(NoSuchFile, BadSubmission):
        time = beneath.read(f"{folder}/{TIMESTAMP}", MAX_TIMESTAMP)
        if not (place / TIMESTAMP).exists():  # of equal hand-ins the first one
            whole_file.write(place / TIMESTAMP, time)
