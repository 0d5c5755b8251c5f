"""A result as JSON, schema 1: what other tools read. Documented in the README."""

import json

from grader.records import causes
from grader.records.results import CheckResult, ExerciseResult
from grader.sandbox.tiers import Sandbox

SCHEMA = 1


def record(result: ExerciseResult) -> dict:
    """The result as a dict of plain data."""
    cause = causes.numbers(result)
    known = {
        "schema": SCHEMA,
        "exercise": result.exercise,
        "title": result.title,
        "submission": result.submission,
        "device": result.device,
        "seed": result.seed,
        "status": result.status,
        "points": result.points,
        "max_points": result.max_points,
        "duration_s": result.duration_s,
        "checks": [_check(check, cause.get(check.id)) for check in result.checks],
        "output": result.output,
        "message": result.message,
        "started": result.started,
        "notes": list(result.notes),
    }
    if result.sandbox is not None:
        known["sandbox"] = dict(vars(result.sandbox))
    return known


def read(known: dict, pictures: tuple = ()) -> ExerciseResult:
    """The result from which `record` was made. Raises KeyError or TypeError where it is not a record."""
    same = ("exercise", "title", "submission", "device", "seed", "status", "duration_s", "output", "message", "started")
    sandbox = {key: tuple(v) if isinstance(v, list) else v for key, v in known.get("sandbox", {}).items()}
    return ExerciseResult(
        **{key: known[key] for key in same},
        checks=tuple(_read_check(check) for check in known["checks"]),
        notes=tuple(known["notes"]),
        pictures=pictures,
        sandbox=Sandbox(**sandbox) if sandbox else None,
    )


def render(result: ExerciseResult) -> str:
    """The record as indented JSON with a line end."""
    return json.dumps(record(result), indent=2, ensure_ascii=False) + "\n"


def _check(check: CheckResult, cause: int | None) -> dict:
    return {
        "id": check.id,
        "title": check.title,
        "outcome": check.outcome,
        "points": check.points,
        "max_points": check.max_points,
        "message": check.message,
        "diagnosis": check.diagnosis,
        "hidden": check.hidden,
        "task": check.task,
        "lines": list(check.lines),
        "where": check.where,
        "cause": cause,
    }


def _read_check(known: dict) -> CheckResult:
    own = {name: value for name, value in known.items() if name != "cause"}  # it follows from the others
    return CheckResult(**{**own, "lines": tuple(known.get("lines", ()))})
