"""Finds the problems of the file that says which misconception each known mistake shows."""

from collections import Counter
from collections.abc import Iterator

from grader.authoring.problem import Problem, again, line_of
from grader.catalog import misconceptions, paths
from grader.catalog.errors import InfrastructureError


def problems(folder: str) -> Iterator[Problem]:
    """Each mistake of an exercise must belong to one misconception; a lesson must have the sections that are named."""
    path = paths.assigned_mistakes(folder)
    try:
        by_id, rows = misconceptions.misconceptions(), misconceptions.assigned(folder)
    except InfrastructureError as error:
        yield Problem(str(error), path, f"Mend it, then: {again(folder)}")
        return
    yield from _sections(folder)
    for id in rows.keys() - by_id.keys():
        mend = f"Take an id from {paths.shown(paths.MISCONCEPTIONS)}, then: {again(folder)}"
        yield Problem(f"there is no misconception {id}", path, mend, line_of(path, rf"^{id}\b"))
    counts = Counter(name for names in rows.values() for name in names)
    mistakes = {file.stem: file for file in paths.mistakes(folder)}
    for name, file in mistakes.items():
        if not counts[name]:
            mend = f"Add its name to a line of {paths.shown(path)}, then: {again(folder)}"
            yield Problem("this mistake belongs to no misconception", file, mend)
    for name, count in counts.items():
        line = line_of(path, rf'"{name}"')
        if name not in mistakes:
            yield Problem(f"there is no mistake {name}", path, f"Take it out, then: {again(folder)}", line)
        elif count > 1:
            reason = f"the mistake {name} stands here {count} times"
            yield Problem(reason, path, f"Leave it where it belongs, then: {again(folder)}", line)


def _sections(folder: str) -> Iterator[Problem]:
    """The sections of this lesson to which misconceptions lead."""
    lesson = paths.lesson(folder)
    text = lesson.read_text("utf-8") if lesson.exists() else ""
    for misconception in misconceptions.misconceptions().values():
        if misconception.lesson == folder[:2] and not misconceptions.heading(text, misconception.section):
            mend = f"Name another section of {misconception.id}, then: {again(folder)}"
            line = line_of(paths.MISCONCEPTIONS, rf"^\[{misconception.id}\]")
            yield Problem(f"the lesson has no section “{misconception.section}”", paths.MISCONCEPTIONS, mend, line)
