"""The solutions as texts, with what a learner wrote otherwise."""

from grader import catalog
from grader.catalog import mistakes, patches, paths


def solution(exercise: str) -> str:
    """The solution of an exercise."""
    return paths.solution(catalog.find(exercise).folder).read_text("utf-8")


def replace_in(exercise: str, *changes: tuple[str, str]) -> str:
    """The solution with other texts in the place of some, which are there."""
    source = solution(exercise)
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new)
    return source


def with_mistakes(exercise: str, *names: str) -> str:
    """The solution with all of these known mistakes."""
    folder = catalog.find(exercise).folder
    return patches.merge(solution(exercise), *(mistakes.find(folder, name).source for name in names))


def sentence(exercise: str, name: str) -> str:
    """What is said of a known mistake."""
    return mistakes.find(catalog.find(exercise).folder, name).sentence
