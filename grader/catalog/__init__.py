"""The exercises with their limits, documented numbers and known mistakes, and the paths of all files."""

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

__all__ = [
    "Exercise", "Forbidden", "LearningPath", "Misconception", "NoSuchExercise", "exercises", "find",
    "find_all", "for_class", "learning_paths", "read",
]  # fmt: skip
