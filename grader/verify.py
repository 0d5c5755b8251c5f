"""The proof that the judge judges: stubs, solutions, wrong versions and documented numbers.

Everything here goes through the sandboxed worker, as a learner's file does.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from grader import documented, paths, runner, stubs, submission
from grader.catalog import Exercise
from grader.nursery import Nursery
from grader.results import FAILED, PASSED, ExerciseResult

SENTENCE_END = (".", "?", "!")
LEAST_WRONG = 5
LEAST_SENTENCE = 30  # characters


@dataclass(frozen=True)
class Problem:
    """One thing that is not as it must be. `mend` is a command or an edit."""

    what: str
    file: str
    mend: str

    def __str__(self) -> str:
        return f"{self.file}: {self.what}. {self.mend}"


@dataclass
class Report:
    """What verify found of one exercise. kills: wrong version → the checks it fails."""

    exercise: Exercise
    problems: list[Problem] = field(default_factory=list)
    kills: dict[str, set[str]] = field(default_factory=dict)
    sentences: dict[str, str] = field(default_factory=dict)


def verify(exercise: Exercise, nursery: Nursery, seed: int, say: Callable[[str], None] = lambda _: None) -> Report:
    """Try the exercise's own files on its own checks."""
    report = Report(exercise)
    folder, again = exercise.folder, f"make verify EX={exercise.folder[:2]}"
    for path, what in _needed(folder):
        if not path.exists() or "TODO" in path.read_text("utf-8"):
            report.problems.append(Problem(f"{what} is missing or still holds a TODO", paths.shown(path), again))
    if report.problems:
        return report
    grade = Grader(exercise, nursery, seed)
    report.problems += _stub(exercise, grade, again)
    report.problems += _solution(exercise, grade, again)
    if report.problems:
        return report
    for path in paths.wrong_versions(folder):
        say(path.stem)
        report.problems += _wrong(report, path, grade(path), again)
    report.problems += _kills(report, again)
    return report


class Grader:
    """Grades one file after the other of one exercise."""

    def __init__(self, exercise: Exercise, nursery: Nursery, seed: int):
        self.exercise, self.nursery = exercise, nursery
        self.settings = runner.Settings(seed=seed)

    def __call__(self, path: Path) -> ExerciseResult:
        return runner.grade(self.exercise, submission.read(path), self.nursery, self.settings)


def _needed(folder: str) -> Iterator[tuple[Path, str]]:
    lesson = paths.EXERCISES / folder
    yield lesson / "README.md", "the lesson"
    yield lesson / "hints.md", "the hints"
    yield paths.stub(folder), "the stub"
    yield paths.solution(folder), "the solution"
    yield paths.documented_toml(folder), "the documented numbers"


def _stub(exercise: Exercise, grade: Grader, again: str) -> list[Problem]:
    path = paths.stub(exercise.folder)
    difference = stubs.difference(path.read_text("utf-8"), paths.solution(exercise.folder).read_text("utf-8"))
    if difference:
        mend = f"Make it anew: make stub EX={exercise.folder[:2]}"
        what = f"the stub differs from the solution in more than bodies: {difference}"
        return [Problem(what, paths.shown(path), mend)]
    result = grade(path)
    if result.started or result.points or any(check.outcome == PASSED for check in result.checks):
        passed = ", ".join(check.id for check in result.checks if check.outcome == PASSED) or "none"
        what = f"the stub is not “not started” (checks that pass: {passed}; {result.message})"
        return [Problem(what, paths.shown(path), again)]
    return []


def _solution(exercise: Exercise, grade: Grader, again: str) -> list[Problem]:
    path = paths.solution(exercise.folder)
    documented.used.clear()
    result = grade(path)
    for check in result.checks:
        if check.outcome != PASSED:
            first = check.message.splitlines()[0] if check.message else check.outcome
            return [Problem(f"the solution does not pass {check.id}: {first}", paths.shown(path), again)]
    if result.status != PASSED:
        return [Problem(f"the solution cannot be graded: {result.message}", paths.shown(path), again)]
    unused = [n.id for n in documented.numbers(exercise.folder) if n.id not in documented.used]
    if unused:
        toml = paths.shown(paths.documented_toml(exercise.folder))
        return [
            Problem(f"no check looks at the number {unused[0]}", toml, "Use it in its check, or name the right one")
        ]
    return []


def _wrong(report: Report, path: Path, result: ExerciseResult, again: str) -> list[Problem]:
    """A wrong version must be rejected, and every diagnosis must be its own sentence."""
    shown, own = paths.shown(path), sentence(path)
    report.kills[path.stem] = {check.id for check in result.checks if check.outcome == FAILED}
    report.sentences[path.stem] = own
    if len(own) < LEAST_SENTENCE or not own.endswith(SENTENCE_END):
        mend = "Write what is wrong and where to look"
        return [Problem("the first docstring line is no sentence to a learner", shown, mend)]
    if result.status == PASSED:
        return [Problem("this wrong version passes every check", shown, "Add a check that fails it")]
    if not result.started or not report.kills[path.stem]:
        return [Problem(f"it is not judged at all: {result.message}", shown, again)]
    for check in result.checks:
        if check.outcome == FAILED and check.diagnosis != own:
            what = f"its diagnosis in {check.id} is another: {check.diagnosis}"
            return [Problem(what, shown, "Make the two versions differ in some check")]
    return []


def _kills(report: Report, again: str) -> list[Problem]:
    killed = set().union(*report.kills.values()) if report.kills else set()
    folder = report.exercise.folder
    where = paths.shown(paths.SOLUTIONS / folder / "wrong")
    problems = []
    if len(report.kills) < LEAST_WRONG:
        problems.append(Problem(f"{len(report.kills)} wrong versions; {LEAST_WRONG} are the least", where, again))
    for check in report.exercise.points:
        if check not in killed:
            problems.append(Problem(f"no wrong version fails the check {check}", where, "Write one that does"))
    return problems


def sentence(path: Path) -> str:
    """The first line of a wrong version's docstring: what the learner reads."""
    docstring = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return docstring.splitlines()[0] if docstring else ""


def table(report: Report) -> str:
    """The kill table as Markdown: one row a check, one column a wrong version."""
    columns = list(report.kills)
    lines = ["| check | " + " | ".join(str(i + 1) for i in range(len(columns))) + " |"]
    lines.append("|---|" + ":-:|" * len(columns))
    for check in report.exercise.points:
        marks = ["✗" if check in report.kills[name] else " " for name in columns]
        lines.append(f"| {check} | " + " | ".join(marks) + " |")
    lines.append("")
    lines += [f"{i}. `{name}`: {report.sentences[name]}" for i, name in enumerate(columns, 1)]
    return "\n".join(lines) + "\n"
