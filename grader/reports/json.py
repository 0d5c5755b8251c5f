"""A result as JSON, schema 1, for other tools. The README documents it."""

import json
from dataclasses import asdict
from typing import Any

from grader.judge.pictures import Picture
from grader.records.causes import Cause, causes
from grader.records.evidence import CodeLine, Evidence, Finding, Place
from grader.records.results import CheckResult, ExerciseResult
from grader.sandbox.tiers import Sandbox

SCHEMA = 1
STORED = (
    "exercise", "title", "submission", "device", "seed", "status", "duration_s", "output", "message", "started",
)  # fmt: skip


def record(result: ExerciseResult) -> dict[str, Any]:
    """The result as a dict of plain data."""
    found = causes(result)
    numbers = {check.id: cause.number for cause in found for check in cause.checks}
    fields = {
        "schema": SCHEMA,
        **{name: getattr(result, name) for name in STORED},
        "points": result.points,
        "max_points": result.max_points,
        "checks": [_check(check, numbers.get(check.id)) for check in result.checks],
        "causes": [_cause(cause) for cause in found],
        "notes": list(result.notes),
    }
    return fields | ({} if result.sandbox is None else {"sandbox": dict(vars(result.sandbox))})


def read(fields: dict[str, Any], pictures: tuple[Picture, ...] = ()) -> ExerciseResult:
    """The result from which `record` made the fields. Raises KeyError or TypeError where they are no record."""
    findings = {check: _finding(cause) for cause in fields.get("causes", ()) for check in cause["checks"]}
    unloaded = next((_finding(cause) for cause in fields.get("causes", ()) if not cause["checks"]), None)
    sandbox = fields.get("sandbox", {})
    sandbox = {key: tuple(value) if isinstance(value, list) else value for key, value in sandbox.items()}
    return ExerciseResult(
        **{name: fields[name] for name in STORED},
        checks=tuple(_read_check(check, findings.get(check["id"])) for check in fields["checks"]),
        finding=unloaded,
        notes=tuple(fields["notes"]),
        pictures=pictures,
        sandbox=Sandbox(**sandbox) if sandbox else None,
    )


def render(result: ExerciseResult, more: dict[str, Any] | None = None) -> str:
    """The record as indented JSON with a line end. more: fields that do not follow from the result."""
    return json.dumps(record(result) | (more or {}), indent=2, ensure_ascii=False) + "\n"


def _check(check: CheckResult, cause: int | None) -> dict[str, Any]:
    """One check as a dict of plain data. Its finding is that of its cause."""
    fields = {name: value for name, value in vars(check).items() if name != "finding"}
    return fields | {"lines": list(check.lines), "cause": cause, "call": _call(check.message)}


def _call(message: str) -> str:
    """The call that a failed check made, as its message shows it; "" where there is none."""
    lines = (line.strip().partition(" ") for line in message.splitlines())
    return next((rest.strip() for word, _, rest in lines if word == "called"), "")


def _cause(cause: Cause) -> dict[str, Any]:
    """One cause as a dict of plain data."""
    known = {"sentence": "\n".join(cause.sentences), **asdict(cause.finding)}
    return {**known, "checks": [check.id for check in cause.checks]}


def _finding(fields: dict[str, Any]) -> Finding:
    place, evidence = fields["place"], fields["evidence"]
    rows = {name: tuple(map(tuple, evidence[name])) for name in ("expected", "got", "wrong")}
    return Finding(
        place=None if place is None else Place(**place),
        frame=tuple(CodeLine(**line) for line in fields["frame"]),
        evidence=Evidence(**{**evidence, **rows}),
        says=fields["says"],
        tried=fields["tried"],
        kind=fields["kind"],
    )


def _read_check(fields: dict[str, Any], finding: Finding | None) -> CheckResult:
    stored_fields = {name: value for name, value in fields.items() if name not in ("cause", "call")}  # they follow
    return CheckResult(**{**stored_fields, "lines": tuple(fields.get("lines", ())), "finding": finding})
