"""A made-up result, and what platforms publish about the files that they take."""

import json

from extras import WhenUsed, needed

from grader import catalog
from grader.catalog import paths
from grader.records.results import CheckResult, ExerciseResult

needed("jsonschema", "dev")
jsonschema = WhenUsed("jsonschema")

EXERCISE = catalog.find("03")


def fits(content: dict, name: str) -> None:
    schema = json.loads((paths.ROOT / "tests/schemas" / f"{name}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(content, schema)


def result(text: str = "", status: str = "failed", **facts) -> ExerciseResult:
    checks = (
        CheckResult("a", "The weights are right.", "passed", 0.5, 0.5, task=1),
        CheckResult("b", f"Rows sum to 1. {text}", "failed", 0.0, 0.25, f"wrong\n{text}", text or None, True, 2),
        CheckResult("c", "Gradients.", "not_checked", 0.0, 1.0, "not checked: first fix “Rows sum to 1.”", None, True),
    )
    known = {"exercise": EXERCISE.folder, "title": EXERCISE.title, "submission": "context_vectors.py", "device": "cpu"}
    return ExerciseResult(**{**known, "seed": 1, "status": status, "duration_s": 0.1, "checks": checks, **facts})
