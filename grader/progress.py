"""What a learner has done so far: one small file in the checkout, never fatal, never lost.

Beside it lies the last verdict on each exercise. Both may be deleted: a grading makes them anew.
"""

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from grader import paths
from grader.results import ExerciseResult

SCHEMA = 1
STATUSES = ("not started", "begun", "passed")
LOCK_S = 2.0  # a process that was stopped may hold the lock: nobody waits longer for it


@dataclass
class State:
    """One exercise's history. first_pass: seconds since 1970, or None."""

    status: str = "not started"  # one of STATUSES
    points: float = 0.0
    attempts: int = 0
    first_pass: float | None = None
    hints: dict[str, int] = field(default_factory=dict)  # stages seen, by task

    @property
    def done(self) -> bool:
        """Whether the exercise was passed once: an edit that breaks it again takes nothing away."""
        return self.first_pass is not None


def load() -> dict[str, State]:
    """States by exercise folder. A damaged or newer file is set aside under another name."""
    with _locked():
        return _load()


def note(result: ExerciseResult, attempt: bool = True) -> None:
    """Take the result of the learner's own file into the history.

    attempt: False for a look at a file that was graded before.
    """

    def take(state: State) -> None:
        if result.started:
            state.attempts += attempt
        state.points = result.points
        if result.status == "passed":
            state.status, state.first_pass = "passed", state.first_pass or round(time.time())
        else:
            state.status = "begun" if result.started else "not started"

    change(result.exercise, take)
    _keep(result)


def change(folder: str, edit: Callable[[State], None]) -> State:
    """`edit(state)` of one exercise, with no other process writing in between. Gives the new state."""
    with _locked():
        states = _load()
        state = states.setdefault(folder, State())
        edit(state)
        _save(states)
    return state


def last(folder: str) -> ExerciseResult | None:
    """The last verdict on the learner's own file, or None where there is none that can be read."""
    from grader.report import json as as_json

    try:
        return as_json.read(json.loads(paths.last_result(folder).read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _keep(result: ExerciseResult) -> None:
    from grader.report import json as as_json

    path = paths.last_result(result.exercise)
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
    _write(path, as_json.render(result))


def _load() -> dict[str, State]:
    try:
        data = json.loads(paths.PROGRESS.read_text("utf-8"))
        if data["schema"] != SCHEMA:
            raise ValueError
        return {folder: _state(**known) for folder, known in data["exercises"].items()}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
        _set_aside()
        return {}


def _state(**known) -> State:
    """A state read from the file. Raises TypeError or ValueError where it is none of ours."""
    state = State(**{**known, "hints": known.get("hints") or {}})
    if state.status not in STATUSES:
        raise ValueError(state.status)
    numbers = [state.points, state.attempts, state.first_pass or 0, *state.hints.values()]
    if not all(type(number) in (int, float) and 0 <= number < 1e12 for number in numbers):
        raise ValueError(numbers)
    return state


def _save(states: dict[str, State]) -> None:
    known = {"schema": SCHEMA, "exercises": {folder: asdict(state) for folder, state in states.items()}}
    _write(paths.PROGRESS, json.dumps(known, indent=1) + "\n")


def _write(path: Path, text: str) -> None:
    """All at once: the file is whole at any moment. A read-only checkout keeps nothing."""
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with new.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked() -> Iterator[None]:
    """Alone among the processes of this checkout, where the system knows locks; never for long."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, ImportError):
            import fcntl

            file = stack.enter_context(paths.PROGRESS.with_name(f"{paths.PROGRESS.name}.lock").open("w"))
            until = time.monotonic() + LOCK_S
            while time.monotonic() < until:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    time.sleep(0.005)
        yield


def _set_aside() -> None:
    path = paths.PROGRESS
    for number in range(1, 1000):
        aside = path.with_name(f"{path.name}.damaged-{number}")
        if not aside.exists():
            with contextlib.suppress(OSError):
                path.rename(aside)
            return
