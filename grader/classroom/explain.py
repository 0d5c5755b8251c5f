"""Why a grade is what it is: the submission is graded again, and every call of every check is told."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from grader import catalog, runner
from grader.classroom import store
from grader.classroom.records import Found
from grader.classroom.run import Desk
from grader.classroom.store import Store
from grader.connection import Call
from grader.errors import WrongUse
from grader.nursery import Nursery
from grader.report.inert import inert
from grader.results import NOT_CHECKED, CheckResult, ExerciseResult
from grader.session import check_id, run_session
from grader.words import kind


@dataclass(frozen=True)
class Explanation:
    """A grade given again. calls: of each check, one line a call. then: the result that stands in the folder."""

    where: str
    result: ExerciseResult
    calls: dict[str, tuple[str, ...]]
    then: ExerciseResult | None

    @property
    def differs(self) -> bool:
        return self.then is not None and [c.outcome for c in self.then.checks] != [
            c.outcome for c in self.result.checks
        ]


class Witness(runner.Examiner):
    """Grades as ever and writes down what was called."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.told: dict[str, tuple[str, ...]] = {}

    def judge(self, item, subject, remote):
        key, error, calls = super().judge(item, subject, remote)
        self.told[check_id(item)] = tuple(map(_line, calls))
        return key, error, calls


def explain(out: Path, student: str, exercise: catalog.Exercise, tier: str | None = None) -> Explanation:
    """Grade what a student handed in again, with the run's own seed and device. Raises WrongUse."""
    if not (out / store.NAME).exists():
        raise WrongUse(f"{out} holds no results. Grade first: make grade SUBMISSIONS=… OUT={out}")
    file = Store(out)
    try:
        known = file.handin(student, exercise.folder)
        if known is None:
            raise WrongUse(f"{inert(student)} handed in nothing for {exercise.folder}, as far as {out} knows")
        handin, key = known
        facts = file.fact("settings")
        settings = runner.Settings(facts["device"], file.fact("seed"), facts["timeout"], reveal=True)
        desk = Desk(file, settings, Found("", ()))
        handed_in = desk.read(handin)
        if key is None or key.startswith("unreadable") or desk.key(exercise.folder, handed_in) != key:
            raise WrongUse(f"{handin.shown} or the checks have changed since it was graded. Grade again: make grade …")
        then = file.result(key)
    finally:
        file.close()
    found: list[tuple[ExerciseResult, dict]] = []

    def work(session) -> None:
        witness = Witness(session, nursery, settings)
        found.append((witness.examine(handed_in), witness.told))

    with Nursery(settings.device, tier) as nursery:
        sandbox = nursery.demand()
        run_session(exercise, settings.seed, work)
    result, told = found[0]
    return Explanation(handin.shown, replace(result, sandbox=sandbox), told, then)


def lines(explanation: Explanation) -> Iterator[str]:
    """The explanation as text."""
    result = explanation.result
    yield f"{explanation.where}  seed {result.seed}, device {result.device}, sandbox tier {result.sandbox.tier}"
    yield f"{result.title}: {result.points:g} of {result.max_points:g} points, {result.status}"
    if result.message:
        yield f"  {result.message}"
    for check in result.checks:
        yield ""
        yield from _check(check, explanation.calls.get(check.id, ()))
    if explanation.then is not None:
        yield ""
        yield "NOT the grade that stands in the folder." if explanation.differs else "The same as in the folder."


def _check(check: CheckResult, calls: tuple[str, ...]) -> Iterator[str]:
    yield f"{check.outcome.replace('_', ' '):<11} {check.points:g}/{check.max_points:g}  {check.title}  ({check.id})"
    if check.outcome != NOT_CHECKED:
        yield from (f"    called   {call}" for call in calls)
    for line in check.message.splitlines():
        yield f"    {line}"
    if check.diagnosis:
        yield f"    likely:  {check.diagnosis}"


def _line(call: Call) -> str:
    what = {"output": "", "gradients": "  gradients", "inputs": "  inputs afterwards"}.get(call.want, f"  {call.want}")
    came = f"no result ({call.problem.kind})" if call.problem else kind(call.value)
    return inert(f"{call.text}{what} → {came}")
