"""The exercises with their limits, documented numbers and known mistakes, and the paths of all files."""

from grader.catalog.exercise import (
    WARM_UP,
    Exercise,
    Forbidden,
    Misconception,
    NoSuchExercise,
    exercises,
    find,
    find_all,
    for_class,
    read,
)
from grader.catalog.toml import tomllib

__all__ = [
    "WARM_UP", "Exercise", "Forbidden", "Misconception", "NoSuchExercise", "exercises", "find", "find_all",
    "for_class", "read", "tomllib",
]  # fmt: skip
