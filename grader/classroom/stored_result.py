"""A result as the store holds it: the key that it is stored under, and its text."""

import hashlib
import json
from dataclasses import asdict
from typing import Any

from grader.judge.pictures import Picture
from grader.records.results import ExerciseResult
from grader.records.submission import Submission
from grader.reports import json as as_json


def case(submission: Submission, version: str, device: str, more: str = "") -> str:
    """A digest of all that a result depends on besides the seed. more: further settings."""
    return digest(json.dumps([submission.digest, submission.filename, submission.notes, version, device, more]))


def key(case: str, seed: int) -> str:
    """The key of the result for a case whose fresh inputs are drawn with this seed."""
    return f"{case}.{mark(seed)}"


def digest(text: str) -> str:
    """A short hash of a text: 32 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def mark(seed: int) -> str:
    """A hash of a seed, from which the seed cannot be read in practice: keys may be shown, seeds may not."""
    return digest(f"seed {seed}")[:16]


def written(result: ExerciseResult) -> str:
    """A result as text for the store. The sandbox is the same for all results, so the store holds it once."""
    record = as_json.record(result)
    sandbox = record.pop("sandbox", None) or {}
    record["tier"] = sandbox.get("tier")
    return json.dumps({"result": record, "pictures": [asdict(picture) for picture in result.pictures]})


def read(text: str, sandbox: dict[str, Any] | None = None) -> ExerciseResult:
    """The result from which `written` made the text. sandbox: that of the run, which is not in the text."""
    stored = json.loads(text)
    record = stored["result"]
    if sandbox:
        record["sandbox"] = sandbox
    fields = [{name: _frozen(value) for name, value in picture.items()} for picture in stored["pictures"]]
    return as_json.read(record, tuple(Picture(**picture) for picture in fields))


def _frozen(value: Any) -> Any:
    """Lists of lists as tuples of tuples."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
