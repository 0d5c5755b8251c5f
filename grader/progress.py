"""What a learner has done so far: one small file in the checkout, never fatal, never lost."""

import json
import os
import time
from dataclasses import asdict, dataclass

from grader import paths
from grader.results import ExerciseResult

SCHEMA = 1


@dataclass
class State:
    """One exercise's history. first_pass: seconds since 1970, or None."""

    status: str = "not started"  # "not started", "begun" or "passed"
    points: float = 0.0
    attempts: int = 0
    first_pass: float | None = None
    hints: int = 0


def load() -> dict[str, State]:
    """States by exercise folder. A damaged or newer file is set aside under another name."""
    path = paths.PROGRESS
    try:
        data = json.loads(path.read_text("utf-8"))
        if data["schema"] != SCHEMA:
            raise ValueError
        return {folder: State(**state) for folder, state in data["exercises"].items()}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        _set_aside()
        return {}


def save(states: dict[str, State]) -> None:
    """Write all states at once: the file is whole at any moment. A read-only checkout keeps none."""
    text = json.dumps({"schema": SCHEMA, "exercises": {k: asdict(v) for k, v in states.items()}}, indent=1)
    new = paths.PROGRESS.with_suffix(f".{os.getpid()}.new")
    try:
        new.write_text(text + "\n", "utf-8")
        os.replace(new, paths.PROGRESS)
    except OSError:
        new.unlink(missing_ok=True)


def note(result: ExerciseResult) -> None:
    """Take the result of the learner's own file into the history."""
    states = load()
    state = states.setdefault(result.exercise, State())
    if result.started:
        state.attempts += 1
    state.points = result.points
    if result.status == "passed":
        state.status, state.first_pass = "passed", state.first_pass or round(time.time())
    else:
        state.status = "begun" if result.started else "not started"
    save(states)


def _set_aside() -> None:
    path = paths.PROGRESS
    for number in range(1, 1000):
        aside = path.with_name(f"{path.name}.damaged-{number}")
        if not aside.exists():
            try:
                path.rename(aside)
            except OSError:
                pass
            return
