"""Finds the problems of an exercise that reading its files shows, before anything is run."""

import ast
import re
from collections.abc import Iterator

from grader.authoring import experiment_parts, figure_parts, lesson_parts, mistake_parts, reading_time
from grader.authoring.problem import Problem, again, check_places, line_of
from grader.catalog import Exercise, documented, paths, stubs

MIN_STYLES = 3
TODO = "TODO"
DEEPER = "Dig deeper:"


def problems(exercise: Exercise) -> list[Problem]:
    """All problems that reading shows, in the order of the steps in docs/authors.md."""
    folder = exercise.folder
    files = [*_missing(folder), *figure_parts.missing(exercise), *_unreadable(folder)]
    if any(problem.blocks for problem in files):
        return [*files, *_todos(folder)]
    parts = (
        _todos(folder),
        _stub(folder),
        _checks(exercise),
        _numbers(exercise),
        mistake_parts.problems(exercise),
        lesson_parts.wrong(folder),
        _notice(folder),
        experiment_parts.wrong(folder),
        reading_time.wrong(folder),
        figure_parts.wrong(folder),
    )
    return files + [problem for part in parts for problem in part]


def _missing(folder: str) -> Iterator[Problem]:
    """The files that every exercise needs."""
    stub, hidden = paths.stub(folder), paths.hidden_checks(folder)
    if paths.solution(folder).exists() and not stub.exists():
        yield Problem("the stub is missing", stub, f"Make it: make stub EX={folder[:2]}", blocks=True)
    needed = {
        "solution": paths.solution(folder),
        "lesson": paths.lesson(folder),
        "page of hints": paths.hints(folder),
        "experiment": paths.experiment(folder),
        "text on what to notice in the solution": paths.notice(folder),
        "file of known mistakes": paths.mistakes(folder),
        "file of documented checks": paths.documented_checks(folder),
        "file of hidden checks": hidden,
    }
    for noun, path in needed.items():
        if not path.exists():
            blocks = path.suffix == ".py" and path != paths.experiment(folder)
            yield Problem(f"the {noun} is missing", path, f"Write it, then: {again(folder)}", blocks=blocks)
    yield from _too_few(folder)


def _too_few(folder: str) -> Iterator[Problem]:
    """There must be enough right answers in other styles."""
    styles = len(paths.styles(folder))
    if styles < MIN_STYLES:
        reason = f"{styles} right answers in other styles are here, and {MIN_STYLES} are the least"
        mend = f"Write each as another person would, one file an answer, then: {again(folder)}"
        yield Problem(reason, paths.styles_folder(folder), mend)


def _unreadable(folder: str) -> Iterator[Problem]:
    """The solution and the checks must be Python."""
    for path in (paths.solution(folder), *paths.checks(folder)):
        if not path.exists():
            continue
        try:
            ast.parse(path.read_text("utf-8"))
        except SyntaxError as error:
            mend = f"Mend it, then: {again(folder)}"
            yield Problem(f"it cannot be read: {error.msg}", path, mend, error.lineno or 0, blocks=True)


def _todos(folder: str) -> Iterator[Problem]:
    """The stub is left out, since its comments are those of the solution."""
    lesson = (paths.lesson(folder), paths.hints(folder), paths.experiment(folder))
    lesson = (*lesson, paths.figure_script(folder), paths.figure_cases(folder))
    files = [*lesson, paths.solution(folder), paths.notice(folder), paths.mistakes(folder)]
    for path in (*files, *paths.check_files(folder), *paths.styles(folder)):
        if not path.exists():
            continue
        lines = [number for number, line in enumerate(path.read_text("utf-8").split("\n"), 1) if TODO in line]
        if lines:
            other_lines = f" (lines {', '.join(map(str, lines))})" if len(lines) > 1 else ""
            mend = f"Write what belongs there, or take it out, then: {again(folder)}"
            is_run = path.suffix not in (".md", ".js") and path not in lesson
            blocks = is_run or path == paths.mistakes(folder)
            yield Problem(f"a TODO is left{other_lines}", path, mend, lines[0], blocks=blocks)


def _stub(folder: str) -> Iterator[Problem]:
    """The stub and the solution may differ in bodies alone."""
    path = paths.stub(folder)
    line, difference = stubs.first_difference(path.read_text("utf-8"), paths.solution(folder).read_text("utf-8"))
    if difference:
        reason = f"the stub differs from the solution in more than bodies: {difference}"
        yield Problem(reason, path, f"Make it anew: make stub EX={folder[:2]}", line)


def _checks(exercise: Exercise) -> Iterator[Problem]:
    """Every check must have points, and every line of [points] a check."""
    places, toml = check_places(exercise.folder), paths.exercise_toml(exercise.folder)
    for name, (path, line) in places.items():
        if name not in exercise.points:
            mend = f"Write `{name} = 1` under [points] in {paths.shown(toml)}, then: {again(exercise.folder)}"
            yield Problem(f"the check {name} has no points", path, mend, line, blocks=True)
    for name in exercise.points:
        if name not in places:
            mend = f"Write the check `test_{name}`, or take its points out, then: {again(exercise.folder)}"
            line = line_of(toml, rf"^\s*{re.escape(name)}\s*=")
            yield Problem(f"{name} has points, and there is no such check", toml, mend, line, blocks=True)


def _numbers(exercise: Exercise) -> Iterator[Problem]:
    """The documented numbers must be readable and belong to checks."""
    toml, mend = paths.exercise_toml(exercise.folder), f"Mend it, then: {again(exercise.folder)}"
    try:
        numbers = documented.numbers(exercise.folder)
    except (ValueError, KeyError) as error:
        yield Problem(f"the documented numbers cannot be read: {error!r}", toml, mend, blocks=True)
        return
    for number in numbers:
        line = line_of(toml, rf"^id\s*=\s*['\"]{re.escape(number.id)}['\"]")
        try:
            number.data  # noqa: B018
        except ValueError as error:
            yield Problem(str(error), toml, mend, line, blocks=True)
        if number.check not in exercise.points:
            reason = f"the number {number.id} belongs to the check {number.check}, which has no points"
            mend = f"Name the check that looks at it, then: {again(exercise.folder)}"
            yield Problem(reason, toml, mend, line, blocks=True)


def _notice(folder: str) -> Iterator[Problem]:
    """The notice must say what to notice in the solution, and one way to dig deeper."""
    path = paths.notice(folder)
    if not path.exists():
        return
    first_paragraph, *other_paragraphs = [
        " ".join(paragraph.split()) for paragraph in path.read_text("utf-8").strip().split("\n\n")
    ]
    if (
        not first_paragraph
        or first_paragraph.startswith(DEEPER)
        or sum(paragraph.startswith(DEEPER) for paragraph in other_paragraphs) != 1
    ):
        mend = f"Write two or three sentences on the solution, then a paragraph `{DEEPER} …`, then: {again(folder)}"
        yield Problem("it does not say what to notice and how to dig deeper", path, mend, 1)
