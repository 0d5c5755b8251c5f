"""The exercises with their limits, documented numbers and known mistakes, and the paths of all files."""

import sys

from grader.catalog.exercise import (
    Exercise,
    Forbidden,
    LearningPath,
    Misconception,
    NoSuchExercise,
    exercises,
    find,
    find_all,
    for_class,
    learning_paths,
    read,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "Exercise", "Forbidden", "LearningPath", "Misconception", "NoSuchExercise", "exercises", "find",
    "find_all", "for_class", "learning_paths", "read", "tomllib",
]  # fmt: skip
