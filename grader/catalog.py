"""The exercises there are: found in the folders, never listed by hand."""

import difflib
import functools
import re
import sys
from dataclasses import dataclass

from grader import paths
from grader.nursery import InfrastructureError, Limits

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = re.compile(r"\d\d_[a-z0-9_]+")


class NoSuchExercise(Exception):
    """What was asked for names no exercise. The text says what to type instead."""


@dataclass(frozen=True)
class Forbidden:
    """Ready-made functions that an exercise asks the learner to write.

    `functions`: where (these and all they call), `names`: what must not be called by name,
    `operations`: the same as torch's dispatcher names them.
    """

    functions: tuple[str, ...]
    names: tuple[str, ...]
    operations: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Exercise:
    """One exercise, as its exercise.toml describes it."""

    folder: str  # "03_context_vectors"
    title: str
    track: str  # "core" or "beyond"
    points: dict[str, float]  # of each check, in the order shown
    limits: Limits
    forbidden: tuple[Forbidden, ...] = ()
    hidden_points: float = 0.0  # in a learner's bundle: what the checks give that are not in it

    @property
    def number(self) -> int:
        return int(self.folder[:2])

    @property
    def slug(self) -> str:
        return paths.slug(self.folder)

    @property
    def max_points(self) -> float:
        return round(sum(self.points.values()), 6)


@functools.cache
def exercises() -> tuple[Exercise, ...]:
    """All exercises in order of their numbers."""
    folders = [path.parent.name for path in paths.CHECKS.glob("*/exercise.toml") if FOLDER.fullmatch(path.parent.name)]
    return tuple(read(folder) for folder in sorted(folders))


def find(wanted: str) -> Exercise:
    """The exercise named by a number ("3", "03"), a slug or a folder name.

    Raises NoSuchExercise with the nearest name.
    """
    text = wanted.strip().rstrip("/").rpartition("/")[2].lower()
    for exercise in exercises():
        names = {exercise.folder, exercise.slug, str(exercise.number), exercise.folder[:2]}
        if text in names or (text.isdigit() and int(text) == exercise.number):
            return exercise
    known = [name for exercise in exercises() for name in (exercise.slug, exercise.folder)]
    close = difflib.get_close_matches(text, known, n=1, cutoff=0.5)
    hint = f'Did you mean "{close[0]}"?' if close else f"There are {_span()}."
    raise NoSuchExercise(f'No exercise is called "{wanted}". {hint} See all: make list')


def find_all(wanted: str | None) -> tuple[Exercise, ...]:
    """The exercises of "03", "3,softmax_naive" or "all", each once, in their order. Raises NoSuchExercise."""
    if wanted in (None, "", "all"):
        return exercises()
    asked = {find(word).folder for word in wanted.split(",") if word.strip()}
    return tuple(exercise for exercise in exercises() if exercise.folder in asked)


def read(folder: str) -> Exercise:
    """One exercise from its exercise.toml."""
    path = paths.exercise_toml(folder)
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        points = {name: float(value) for name, value in data["points"].items()}
        limits = Limits(**data.get("limits", {}))
        forbidden = tuple(Forbidden(**_tuples(entry)) for entry in data.get("forbidden", ()))
        hidden = float(data.get("hidden_points", 0))
        return Exercise(folder, data["title"], data["track"], points, limits, forbidden, hidden)
    except (ValueError, KeyError, TypeError) as error:
        raise InfrastructureError(f"{paths.shown(path)} cannot be read: {error!r}") from None


def _tuples(entry: dict) -> dict:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}


def _span() -> str:
    numbers = [exercise.folder[:2] for exercise in exercises()]
    return f"{len(numbers)} exercises, {numbers[0]} to {numbers[-1]}" if numbers else "none yet"
