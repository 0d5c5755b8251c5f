"""The proof that the judge judges: stubs, solutions, wrong versions and documented numbers.

Everything here goes through the sandboxed worker, as a learner's file does.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader import documented, paths, runner, stubs, submission
from grader.catalog import Exercise
from grader.nursery import Nursery
from grader.results import FAILED, NOT_CHECKED, PASSED, ExerciseResult

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
    """What verify found of one exercise. kills: wrong version → the checks it fails; untried: those behind them."""

    exercise: Exercise
    problems: list[Problem] = field(default_factory=list)
    kills: dict[str, set[str]] = field(default_factory=dict)
    untried: dict[str, set[str]] = field(default_factory=dict)
    sentences: dict[str, str] = field(default_factory=dict)


def verify(exercise: Exercise, nursery: Nursery, seed: int) -> Report:
    """Try the exercise's own files on its own checks, all in one session."""
    report = Report(exercise)
    folder, again = exercise.folder, f"make verify EX={exercise.folder[:2]}"
    for path, what in _needed(folder):
        if not path.exists() or "TODO" in path.read_text("utf-8"):
            report.problems.append(Problem(f"{what} is missing or still holds a TODO", paths.shown(path), again))
    report.problems = report.problems or _stub_text(folder)
    if report.problems:
        return report
    verdicts = {paths.stub(folder): _stub, paths.solution(folder): _solution}
    verdicts |= dict.fromkeys(paths.wrong_versions(folder), _wrong)

    def record(handed_in: submission.Submission, result: ExerciseResult) -> None:
        path = Path(handed_in.filename)
        report.problems += verdicts[path](report, path, result, again)

    documented.used.clear()
    handed_in = [replace(submission.read(path), filename=str(path)) for path in verdicts]
    runner.grade_all(exercise, handed_in, nursery, runner.Settings(seed=seed), record)
    report.problems += _kills(report, again) if not report.problems else []
    return report


def _needed(folder: str) -> Iterator[tuple[Path, str]]:
    lesson = paths.EXERCISES / folder
    yield lesson / "README.md", "the lesson"
    yield lesson / "hints.md", "the hints"
    yield paths.stub(folder), "the stub"
    yield paths.solution(folder), "the solution"
    yield paths.documented_toml(folder), "the documented numbers"


def _stub_text(folder: str) -> list[Problem]:
    path = paths.stub(folder)
    difference = stubs.difference(path.read_text("utf-8"), paths.solution(folder).read_text("utf-8"))
    if not difference:
        return []
    mend = f"Make it anew: make stub EX={folder[:2]}"
    return [Problem(f"the stub differs from the solution in more than bodies: {difference}", paths.shown(path), mend)]


def _stub(report: Report, path: Path, result: ExerciseResult, again: str) -> list[Problem]:
    passed = [check.id for check in result.checks if check.outcome == PASSED]
    if not result.started and not passed:
        return []
    what = f"the stub is not “not started” (checks that pass: {', '.join(passed) or 'none'}; {result.message})"
    return [Problem(what, paths.shown(path), again)]


def _solution(report: Report, path: Path, result: ExerciseResult, again: str) -> list[Problem]:
    for check in result.checks:
        if check.outcome != PASSED:
            first = check.message.splitlines()[0] if check.message else check.outcome
            return [Problem(f"the solution does not pass {check.id}: {first}", paths.shown(path), again)]
    if result.status != PASSED:
        return [Problem(f"the solution cannot be graded: {result.message}", paths.shown(path), again)]
    folder = report.exercise.folder
    unused = [number.id for number in documented.numbers(folder) if number.id not in documented.used]
    if not unused:
        return []
    toml = paths.shown(paths.documented_toml(folder))
    return [Problem(f"no check looks at the number {unused[0]}", toml, "Use it in its check, or name the right one")]


def _wrong(report: Report, path: Path, result: ExerciseResult, again: str) -> list[Problem]:
    """A wrong version must be rejected, and every diagnosis must be its own sentence."""
    shown, own = paths.shown(path), sentence(path)
    report.kills[path.stem] = {check.id for check in result.checks if check.outcome == FAILED}
    report.untried[path.stem] = {check.id for check in result.checks if check.outcome == NOT_CHECKED}
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
