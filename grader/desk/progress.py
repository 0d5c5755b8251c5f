"""A learner's progress, in one small file of the checkout. Its loss or damage is never an error.

The last verdict on each exercise is stored beside it. Both may be deleted: a grading writes them again.
"""

import contextlib
import fcntl
import itertools
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from grader import catalog
from grader.catalog import Exercise, paths, project
from grader.records import safe_files
from grader.records.results import ExerciseResult

SCHEMA = 2
FILE, NOTEBOOK = "py", "notebook"  # the kinds of a learner's files: each has a last verdict of its own
NOT_KEPT = f"Nothing of this is kept: {paths.DESK} cannot be written."
SIGNS = {"passed": "✔", "begun": "…", "not started": " "}
BAR, WIDTH = 10, 30  # characters of a bar, and of a title beside it


@dataclass(frozen=True)
class CardState:
    """When a card of `make review` comes next. step: how often in a row it was known; due: an ISO date."""

    step: int
    due: str


@dataclass
class State:
    """One exercise's history. Nothing that was earned is ever taken back.

    points: the most that were ever reached; first_pass: seconds since 1970, or None; hints: stages seen, by task;
    cards: those that were answered, by their headings.
    """

    begun: bool = False
    points: float = 0.0
    attempts: int = 0
    first_pass: float | None = None
    hints: dict[str, int] = field(default_factory=dict)
    cards: dict[str, CardState] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        """Whether the exercise was ever passed."""
        return self.first_pass is not None

    @property
    def status(self) -> str:
        """One of SIGNS."""
        return "passed" if self.done else "begun" if self.begun else "not started"


def load() -> dict[str, State]:
    """States by exercise folder. A damaged or newer file is set aside under another name."""
    with _lock():
        return _load()


def state(folder: str, states: dict[str, State] | None = None) -> State:
    """The history of one exercise, which may be empty. states: as `load` gives them; None: as they are now."""
    return (load() if states is None else states).get(folder, State())


def note(result: ExerciseResult, attempt: bool = True, kind: str = FILE) -> bool:
    """Record the result of the learner's own file. Returns whether it could be written.

    attempt: False where the same file was graded before. kind: FILE or NOTEBOOK.
    """

    def update(state: State) -> None:
        """Write the result into the state of its exercise."""
        if result.started:
            state.begun = True
            state.attempts += attempt
        state.points = max(state.points, result.points)
        if result.status == "passed":
            state.first_pass = state.first_pass or round(time.time())

    change(result.exercise, update)
    if result.tried:
        from grader.reports import json as as_json

        path = paths.last_result(result.exercise, kind)
        with contextlib.suppress(OSError):
            path.parent.mkdir(exist_ok=True)
        _write(path, as_json.render(result))
    return is_kept()


def is_kept() -> bool:
    """Whether what is noted can be written."""
    return os.access(paths.DESK, os.W_OK)


def change(folder: str, edit: Callable[[State], None]) -> State:
    """Call `edit(state)` for one exercise while no other process writes. Returns the new state."""
    with _lock():
        states = _load()
        state = states.setdefault(folder, State())
        edit(state)
        _save(states)
    return state


def rename(moved: dict[str, str]) -> None:
    """Give exercises with another number their history and last verdicts. moved: the new folder by the old one."""
    with _lock():
        _save({moved.get(folder, folder): state for folder, state in _load().items()})
    for path in [*paths.LAST_RESULTS.glob("*.json")]:
        folder, _, kind = path.name.partition(".")
        if folder in moved:
            _write(path, path.read_text("utf-8").replace(folder, moved[folder]))
            path.rename(path.with_name(f"{moved[folder]}.{kind}"))


def last(folder: str, kind: str = FILE) -> ExerciseResult | None:
    """The last verdict on the learner's own file whose checks were run, or None where there is none that can be read.

    So a syntax error since then does not change the learner's task.
    """
    from grader.reports import json as as_json

    try:
        return as_json.read(json.loads(paths.last_result(folder, kind).read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


@contextlib.contextmanager
def _lock() -> Iterator[None]:
    """Hold the lock of this checkout, where the system has locks."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            fcntl.flock(stack.enter_context(paths.PROGRESS_LOCK.open("w")), fcntl.LOCK_EX)
        yield


def listed(states: dict[str, State] | None = None) -> list[tuple[str, str]]:
    """A line for each exercise below its path: its text with a bar, and its folder, "" for that of a path."""
    states, lines = load() if states is None else states, []
    for path, exercises in itertools.groupby(catalog.exercises(), lambda exercise: exercise.path.name):
        history = [(exercise, state(exercise.folder, states)) for exercise in exercises]
        bar = _bar(sum(own.points for _, own in history), sum(exercise.max_points for exercise, _ in history))
        lines.append((f"{path}  {bar} {sum(own.done for _, own in history)} of {len(history)} passed", ""))
        for exercise, own in history:
            reached, bar = f"{own.points:g}/{exercise.max_points:g}", _bar(own.points, exercise.max_points)
            name = f"{SIGNS[own.status]} {exercise.folder[:2]} {exercise.title:<{WIDTH}}"
            lines.append((f" {name} {bar} {reached:>7}  {_history(exercise, own)}", exercise.folder))
    return lines


def text() -> str:
    """The whole history, for `make progress`."""
    states, graded = load(), catalog.for_class()
    lines = [line for line, _ in listed(states)]
    points = sum(state(exercise.folder, states).points for exercise in graded)
    return "\n".join([*lines, f"{points:g} of {sum(exercise.max_points for exercise in graded):g} points."]) + "\n"


def _load() -> dict[str, State]:
    try:
        data = json.loads(paths.PROGRESS.read_text("utf-8"))
        if data["schema"] != SCHEMA:
            raise ValueError
        return {folder: _state(**fields) for folder, fields in data["exercises"].items()}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
        path = paths.PROGRESS
        with contextlib.suppress(OSError):
            path.rename(path.with_name(f"{path.name}.damaged-{time.time_ns()}"))
        return {}


def _state(**fields: Any) -> State:
    """A state from the fields in the file. Raises TypeError or ValueError where they are not valid."""
    files = fields.pop("files", {}).values()  # of a history that was written before there was `begun`
    begun = fields.pop("begun", any(file["status"] != "not started" for file in files))
    cards = {title: CardState(**card) for title, card in fields.pop("cards", {}).items()}
    state = State(begun is True, **fields, cards=cards)
    numbers = [state.points, state.attempts, state.first_pass or 0, *state.hints.values()]
    numbers += [card.step for card in cards.values()]
    for card in cards.values():
        date.fromisoformat(card.due)
    if not all(type(number) in (int, float) and 0 <= number < 1e12 for number in numbers):
        raise ValueError(numbers)
    return state


def _save(states: dict[str, State]) -> None:
    document = {"schema": SCHEMA, "exercises": {folder: asdict(state) for folder, state in states.items()}}
    _write(paths.PROGRESS, json.dumps(document, indent=1) + "\n")


def _write(path: Path, text: str) -> None:
    """Replace the file as a whole. In a read-only checkout nothing is written."""
    with contextlib.suppress(OSError):
        safe_files.write_whole(path, text, durable=True)


def _bar(points: float, most: float) -> str:
    full = min(int(round(points / most, 6) * BAR), BAR) if most else 0  # never full before all is done
    return "█" * full + "░" * (BAR - full)


def _history(exercise: Exercise, own: State) -> str:
    waiting = project.NOT_HERE if project.not_here(exercise.limits.needs) else own.status
    tries = f", {own.attempts} {'try' if own.attempts == 1 else 'tries'}" if own.attempts else ""
    passed = own.first_pass is not None and time.strftime("%Y-%m-%d", time.localtime(own.first_pass))
    return (passed or waiting) + tries
