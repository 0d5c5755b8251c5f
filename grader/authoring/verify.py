"""Proves that the grader judges rightly, with stubs, solutions, known mistakes and documented numbers.

All of them are run by the sandboxed worker, as a learner's file is.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from grader.authoring import parts
from grader.authoring.parts import Problem, check_places, line_of
from grader.catalog import Exercise, documented, mistakes, paths, project
from grader.catalog.mistakes import Mistake, NotPassed
from grader.judge.collection import Check
from grader.judge.grading import Grading
from grader.judge.session import BrokenCheck
from grader.records.results import FAILED, FIX_FIRST, NOT_CHECKED, PASSED, CheckResult, ExerciseResult, Settings
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.local import Local

UNDEFINED = ("NameError", "ImportError", "ModuleNotFoundError")  # how the message on a name that is nowhere begins


@dataclass
class Report:
    """The problems of one exercise. tried: how many mistakes were run.

    not_passed: the checks that each of them does not pass; empty where nothing ran. waits: what a mistake in one task
    costs in others. not_here: why the exercise is not for this machine, if so: then only its files were read.
    """

    exercise: Exercise
    problems: list[Problem] = field(default_factory=list)
    not_passed: dict[str, NotPassed] = field(default_factory=dict)
    tried: int = 0
    waits: list[str] = field(default_factory=list)
    not_here: str = ""

    def out_of_date(self) -> list[str]:
        """What is not current in the exercise's failed_checks.json, in words; [] where all is, or a mistake passed."""
        folder = self.exercise.folder
        if not 0 < len(self.not_passed) == self.tried:  # one was not judged, or did not fail
            return []
        recorded, path = mistakes.failed_checks(folder), paths.failed_checks(folder)
        if not path.exists():
            return ["it is not there"]
        names = {mistake.name for mistake in mistakes.mistakes(folder)}
        # Of a mistake that was not run, what is recorded.
        not_passed = {name: row for name, row in recorded.items() if name in names} | self.not_passed
        if path.read_text("utf-8") == mistakes.as_json([*self.exercise.points], not_passed):
            return []
        lines = []
        for name in sorted({*recorded, *not_passed}):
            before, now = recorded.get(name, NotPassed(())), not_passed.get(name, NotPassed(()))
            sets = (
                ("fails", {*now.failed} - {*before.failed}),
                ("no longer fails", {*before.failed} - {*now.failed}),
                ("does not reach", {*now.not_checked} - {*before.not_checked}),
                ("reaches", {*before.not_checked} - {*now.not_checked} - {*now.failed}),
            )
            changes = [f"{verb} {', '.join(sorted(checks))}" for verb, checks in sets if checks]
            lines += [f"{name} {' and '.join(changes)}"] * bool(changes)
        return lines or ["it has other checks or mistakes than the exercise"]


def verify(
    exercise: Exercise, fork_server: ForkServer, seed: int, device: str = "cpu", thorough: bool = False, every: int = 1
) -> Report:
    """Read the files of an exercise, then run its checks on them.

    thorough: every check is run on every mistake. Otherwise a check that measures memory, which takes a second, is not
    run on a mistake that is recorded to pass it: the mistake must still fail the other checks that are recorded.
    every: of so many mistakes one is run, and for each check one that is recorded to fail it. In such a sample, memory
    is not measured of right answers in other styles either.
    """
    report = Report(exercise, parts.problems(exercise), not_here=project.not_here(exercise.limits.needs))
    if not report.not_here and not any(problem.blocks for problem in report.problems):
        known_mistakes = take_sample(mistakes.mistakes(exercise.folder), mistakes.failed_checks(exercise.folder), every)
        report.tried = len(known_mistakes)
        unloaded = [problem for mistake in known_mistakes for problem in _unloaded(exercise, mistake)]
        settings = Settings(device=device, seed=seed)
        report.problems += unloaded or _grade(report, known_mistakes, fork_server, settings, thorough, every > 1)
    return report


def waits_across_tasks(exercise: Exercise, checks: Iterable[Check]) -> list[str]:
    """A line for each task whose mistakes leave checks of other tasks untried, by `after=`, with their points.

    A check that waits, waits also for all that the checks above it wait for. A promise with `each=` gives a part of its
    points all the same, and is not listed.
    """
    by_id = {check.id: check for check in checks}
    awaited: dict[str, set[str]] = {}
    for check in by_id.values():  # a check waits only for checks above it
        awaited[check.id] = set(check.after).union(*(awaited.get(name, set()) for name in check.after))
    by_task: dict[int, list[Check]] = {}
    for check in by_id.values():
        tasks = {by_id[name].task for name in awaited[check.id] if name in by_id} - {check.task}
        for task in tasks if check.task is not None else ():
            if task is not None:
                by_task.setdefault(task, []).append(check)
    lines = []
    for task, waiting in sorted(by_task.items()):
        points = sum(exercise.points[check.id] for check in waiting)
        listed = ", ".join(f"{check.id} (task {check.task}, {exercise.points[check.id]:g})" for check in waiting)
        words = f"{points:g} point{'' if points == 1 else 's'} of other tasks untried (after=): {listed}"
        reason = exercise.waits.get(task)
        why = f". On purpose: {reason}" if reason else f". No reason is written: exercise.toml, [waits], {task} = …"
        lines.append(f"{exercise.folder}: a mistake in task {task} can leave {words}{why}")
    return lines


def by_known_outcome(
    folder: str, known_mistakes: tuple[Mistake, ...], measured: frozenset[str]
) -> dict[frozenset[str], list[Mistake]]:
    """The mistakes by the checks that need not be run: those of `measured`, where none is recorded as failed."""
    recorded = mistakes.failed_checks(folder)
    groups: dict[frozenset[str], list[Mistake]] = {}
    for mistake in known_mistakes:
        row = recorded.get(mistake.name)
        passed = measured if row is not None and not measured & set(row.failed) else frozenset()
        groups.setdefault(passed, []).append(mistake)
    return groups


def take_sample(known: tuple[Mistake, ...], recorded: dict[str, NotPassed], every: int) -> tuple[Mistake, ...]:
    """One of so many mistakes, evenly, and each that is not recorded.

    For the checks that fail none of these, the mistakes that most of them fail.
    """
    failed = {mistake: {*recorded[mistake.name].failed} for mistake in known if mistake.name in recorded}
    chosen = {*known[::every], *(mistake for mistake in known if mistake not in failed)}
    missing = set().union(*failed.values()).difference(*(failed.get(mistake, ()) for mistake in chosen))
    while missing:
        best = max(failed, key=lambda mistake: len(missing & failed[mistake]))
        chosen.add(best)
        missing -= failed[best]
    return tuple(mistake for mistake in known if mistake in chosen)


def _unloaded(exercise: Exercise, mistake: Mistake) -> Iterator[Problem]:
    """The problem of a mistake that cannot be loaded."""
    try:
        Local(mistake.source, paths.stub(exercise.folder).name, exercise.slug)
    except RuntimeError as error:
        yield Problem(f"{mistake.name} cannot be loaded: {error}", mistake.path, "Fix it", mistake.line)


def _grade(
    report: Report,
    known_mistakes: tuple[Mistake, ...],
    fork_server: ForkServer,
    settings: Settings,
    thorough: bool,
    is_sample: bool,
) -> list[Problem]:
    """Grade the solution, the stub, the mistakes and the right answers in other styles."""
    exercise = report.exercise
    stub, solution, styles = paths.stub(exercise.folder), paths.solution(exercise.folder), paths.styles(exercise.folder)
    try:
        with Grading(exercise, fork_server, settings) as grading:
            session = grading.session
            measured = frozenset() if thorough else frozenset(check.id for check in session.checks if check.measured)
            groups: dict[frozenset[str], list[Submission]] = {frozenset(): [_read(solution), _read(stub)]}
            groups.setdefault(measured if is_sample else frozenset(), []).extend(map(_read, styles))
            for passed, group in by_known_outcome(exercise.folder, known_mistakes, measured).items():
                groups.setdefault(passed, []).extend(
                    Submission(mistake.source, f"{mistake.name}.py") for mistake in group
                )
            results = {one.filename: grading.result(one) for one in groups.pop(frozenset())}
        report.waits = waits_across_tasks(exercise, session.checks)
        for passed, submissions in groups.items():
            with Grading(exercise, fork_server, settings, passed) as grading:
                results |= {one.filename: grading.result(one) for one in submissions}
    except BrokenCheck as error:
        return [Problem(error.reason, error.file, "Fix it", error.line)]
    failing = [*_solution(report, results[str(solution)])]
    problems = [*failing, *_stub(report, results[str(stub)])]
    if failing:
        return problems  # the other results mean nothing where the solution fails
    problems += _unused_numbers(exercise.folder, session.numbers_read)
    for path in styles:
        problems += _style(report, path, results[str(path)])
    for mistake in known_mistakes:
        problems += _mistake(report, mistake, results[f"{mistake.name}.py"])
    return [*problems, *_checks_that_fail_nothing(report)]


def _read(path: Path) -> Submission:
    return Submission(path.read_text("utf-8"), str(path))


def _solution(report: Report, result: ExerciseResult) -> Iterator[Problem]:
    """The solution must pass every check."""
    folder, path = report.exercise.folder, paths.solution(report.exercise.folder)
    places, fix = check_places(folder), "Fix the check or the solution"
    if result.message:
        yield Problem(f"the solution cannot be graded: {result.message}", path, fix)
    for check in result.checks:
        if check.outcome != PASSED and not result.message:
            file, line = places[check.id]
            yield Problem(f"the solution does not pass {check.id}: {_first_sentence(check)}", file, fix, line)


def _unused_numbers(folder: str, read: set[str]) -> Iterator[Problem]:
    """Every documented number must be used by a check. read: the ids of the numbers that were."""
    toml = paths.exercise_toml(folder)
    for number in documented.numbers(folder):
        if number.id not in read:
            line = line_of(toml, f"^id.*{number.id}")
            fix = f"Look at it in its check, documented[{number.id!r}]"
            yield Problem(f"no check looks at the number {number.id}", toml, fix, line)


def _stub(report: Report, result: ExerciseResult) -> Iterator[Problem]:
    """The stub must fail every check as "not started"."""
    folder = report.exercise.folder
    places = check_places(folder)
    passed = [check.id for check in result.checks if check.outcome == PASSED]
    for name in passed:
        file, line = places[name]
        yield Problem(f"the stub passes {name}", file, "Let the check call the learner's function first", line)
    if result.started and not passed:
        reason = f"the stub is not “not started”: {result.message or 'it does not raise NotImplementedError'}"
        yield Problem(reason, paths.stub(folder), f"Make it again: make verify EX={folder[:2]} WRITE=1")


def _style(report: Report, path: Path, result: ExerciseResult) -> Iterator[Problem]:
    """A right answer in another style must pass every check."""
    fix = "Fix the check if the answer is right, else the answer"
    if result.message:
        yield Problem(f"this right answer cannot be graded: {result.message}", path, fix)
        return
    for check in result.checks:
        if check.outcome == FAILED:
            yield Problem(f"this right answer does not pass {check.id}: {_first_sentence(check)}", path, fix)


def _mistake(report: Report, mistake: Mistake, result: ExerciseResult) -> Iterator[Problem]:
    """A mistake must be rejected, and every diagnosis must be its own sentence."""
    folder, line = report.exercise.folder, mistake.line
    failed = tuple(check.id for check in result.checks if check.outcome == FAILED)
    not_checked = tuple(check.id for check in result.checks if check.outcome == NOT_CHECKED)
    if result.status == PASSED:
        yield Problem(f"{mistake.name} passes every check", mistake.path, "Add a check that fails it", line)
        return
    if not result.started or not failed:
        reason = f"{mistake.name} is not judged at all: {result.message}"
        yield Problem(reason, mistake.path, "Let it give a wrong result", line)
        return
    report.not_passed[mistake.name] = NotPassed(failed, not_checked)
    if undefined := next((check for check in result.checks if check.message.startswith(UNDEFINED)), None):
        reason = f"{mistake.name} fails with {_first_sentence(undefined)}"
        yield Problem(reason, mistake.path, "Import or define it", line)
    recorded = mistakes.failed_checks(folder).get(mistake.name)
    if recorded is not None and recorded != report.not_passed[mistake.name]:
        return  # a diagnosis reads what is recorded, which must be written again first
    if mistake.sentence:  # that it is missing is a problem of its own
        yield from _diagnosed_otherwise(mistake, result)


def _diagnosed_otherwise(mistake: Mistake, result: ExerciseResult) -> Iterator[Problem]:
    """Every failed check must show the mistake's own sentence."""
    folder = result.exercise
    known = [other for other in mistakes.mistakes(folder) if other.sentence and other.name != mistake.name]
    others: dict[str | None, list[str]] = {}  # diagnosis → checks
    for check in result.checks:
        if check.outcome == FAILED and check.diagnosis != mistake.sentence:
            others.setdefault(check.diagnosis, []).append(check.id)
    is_named = any(check.diagnosis == mistake.sentence for check in result.checks)
    for diagnosis, checks in others.items():
        if is_named and FIX_FIRST in (diagnosis or ""):  # a check of a function that only uses the wrong one
            continue
        failed = ", ".join(checks)
        alike = [other.name for other in known if diagnosis and other.sentence in diagnosis]
        if alike:
            names = " and ".join(alike)
            reason = f"in {failed} {mistake.name} answers as {names} does, whose sentence is shown: {diagnosis}"
            fix = "Add an input to a check with which their answers differ"
        else:
            says = f"says: {diagnosis}" if diagnosis else "has no diagnosis"
            reason = f"in {failed} the grader {says}, and not the sentence of {mistake.name}"
            fix = "Let those checks compare values that this mistake alone changes"
        yield Problem(reason, mistake.path, fix, mistake.line + 1)


def _checks_that_fail_nothing(report: Report) -> Iterator[Problem]:
    """Every check must fail some mistake."""
    failed = {name for row in report.not_passed.values() for name in row.failed}  # of a sample: one for each check
    for name, (path, line) in check_places(report.exercise.folder).items():
        if name not in failed:
            fix = f"Write a mistake in {paths.shown(paths.mistakes(report.exercise.folder))} that does"
            yield Problem(f"no mistake fails the check {name}", path, fix, line)


def _first_sentence(check: CheckResult) -> str:
    """The first line of a check's message, or its outcome."""
    return check.message.splitlines()[0] if check.message else check.outcome
