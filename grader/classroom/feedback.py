"""The feedback on one hand-in: a page, and the records of a student as JSON.

level "full": messages, diagnoses, prints and pictures; "names": which checks passed. The results were graded with
`reveal=False`, so no hidden input or expected number is in them.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from grader.classroom import versions
from grader.classroom.intake import archives
from grader.classroom.intake.names import CODE, MOODLE, ids
from grader.classroom.marks import Mark, Origin, Student
from grader.records.results import ExerciseResult
from grader.records.safe_files import plain_name
from grader.records.sanitize import label
from grader.reports import json as as_json
from grader.reports.html import verdict
from grader.reports.templating import document

LEVELS = ("full", "names")
FOLDER = "feedback"


def page(result: ExerciseResult, student: Student, level: str) -> str:
    return document(
        "classroom/templates/feedback.html",
        "Your result",
        student=student.label,
        verdict=verdict(result, level, result.pictures),
        version=versions.shown(),
    )


def records(student: Student, results: Sequence[ExerciseResult], level: str) -> str:
    """json/<student>.json: an object with schema, student, name, grader, feedback, results."""
    head = {
        "schema": as_json.SCHEMA,
        "student": student.id,
        "name": student.name,
        "grader": versions.shown(),
        "feedback": level,
        "results": [limit(as_json.record(result), level) for result in results],
    }
    return json.dumps(head, ensure_ascii=False, indent=1) + "\n"


def limit(record: dict[str, Any], level: str) -> dict[str, Any]:
    """The record of a result with as much detail as the page shows. All keys stay; the texts are left out."""
    if level == "full":
        checks = [{**check, "lines": [], "where": ""} for check in record["checks"]]
        unplaced = [{**cause, "place": None, "frame": [], "kind": ""} for cause in record["causes"]]
        return {**record, "checks": checks, "causes": unplaced}
    emptied: dict[str, Any] = {"message": "", "call": "", "diagnosis": None, "lines": [], "where": ""}
    checks = [{**check, **emptied} for check in record["checks"]]
    return {**record, "checks": checks, "causes": [], "message": "", "output": "", "notes": []}


def link_of(mark: Mark) -> str:
    assert mark.handin is not None and mark.student is not None
    return f"{FOLDER}/{folder_of(mark.handin.origin, mark.student)}/feedback_{mark.exercise}.html"


def folder_of(origin: Origin, student: Student) -> str:
    """The folder for the feedback on an entry: its name in the download, so that Moodle takes a zip of the folders."""
    if match := MOODLE.fullmatch(origin.name):
        name = match["name"].strip()
        is_plain = name and "_" not in name and name.isprintable() and name[0] not in ".~"
        return f"{name if is_plain else 'Participant'}_{match['id']}_assignsubmission_file_"
    stem = archives.stem(origin.name)
    if plain_name(stem).lower().endswith(CODE):
        stem = plain_name(stem).rpartition(".")[0]
    stem = re.sub(r"\s+", " ", label(stem)) or student.id
    return ids([stem])[stem]
