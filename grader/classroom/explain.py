"""Explains a grade: grades the submission again and lists every call of every check."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from grader import catalog
from grader.catalog.errors import WrongUse
from grader.classroom.handins import Found
from grader.classroom.ledger import Ledger
from grader.classroom.store import Store
from grader.judge.collection import Check
from grader.judge.examiner import Examiner
from grader.judge.proxy import Learner
from grader.judge.recording import Tried
from grader.judge.session import Session
from grader.judge.where import search
from grader.judge.words import kind
from grader.records.results import NOT_CHECKED, CheckResult, ExerciseResult, Settings
from grader.records.sanitize import inert
from grader.sandbox.call_results import Call
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.remote import Remote


@dataclass(frozen=True)
class Explanation:
    """A second grading.

    where: the file; calls: one line for each call, by check; recorded: the result in the folder of results.
    """

    where: str
    result: ExerciseResult
    calls: dict[str, tuple[str, ...]]
    recorded: ExerciseResult | None

    @property
    def differs(self) -> bool:
        """Whether a check has another outcome than in the recorded result."""
        return self.recorded is not None and [c.outcome for c in self.recorded.checks] != [
            c.outcome for c in self.result.checks
        ]


class CallLister(Examiner):
    """An examiner that keeps a line for each call, by check."""

    def __init__(self, session: Session, fork_server: ForkServer, settings: Settings) -> None:
        super().__init__(session, fork_server, settings)
        self.lines: dict[str, tuple[str, ...]] = {}

    def judge(self, check: Check, subject: Learner, remote: Remote) -> Tried:
        """Judge one check and keep a line for each of its calls."""
        key, error, calls = super().judge(check, subject, remote)
        self.lines[check.id] = tuple(map(_line, calls))
        return key, error, calls


def explain(out: Path, student: str, exercise: catalog.Exercise, tier: str | None = None) -> Explanation:
    """Grade a student's submission again, with the seed and device of its result.

    Raises WrongUse where there is no such result, or the file or the checks have changed since.
    """
    file = Store.existing(out)
    try:
        entry = file.handin(student, exercise.folder)
        if entry is None:
            raise WrongUse(f"{inert(student)} handed in nothing for {exercise.folder}, as far as {out} knows")
        handin, key = entry
        facts = file.fact("settings")
        seed = file.seed(key or "")
        settings = Settings(facts["device"], seed, facts["timeout"], reveal=True, where=facts.get("where", False))
        ledger = Ledger(file, settings, Found("", ()))
        submission = ledger.read(handin)
        if seed is None or ledger.key(exercise.folder, submission) != key:
            raise WrongUse(f"{handin.shown} or the checks have changed since it was graded. Grade again: make grade …")
        recorded = file.result(key)
    finally:
        file.close()
    with ForkServer(settings.device, tier) as fork_server, Session(exercise, settings.seed) as session:
        sandbox = fork_server.demand()
        lister = CallLister(session, fork_server, settings)
        result = lister.examine(submission)
        calls = dict(lister.lines)  # the search asks the same checks again
        result = search.located(lister, submission, result)
    return Explanation(handin.shown, replace(result, sandbox=sandbox), calls, recorded)


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
    if explanation.recorded is not None:
        yield ""
        yield "NOT the grade that stands in the folder." if explanation.differs else "The same as in the folder."


def _check(check: CheckResult, calls: tuple[str, ...]) -> Iterator[str]:
    """The lines about one check."""
    yield f"{check.outcome.replace('_', ' '):<11} {check.points:g}/{check.max_points:g}  {check.title}  ({check.id})"
    if check.outcome != NOT_CHECKED:
        yield from (f"    called   {call}" for call in calls)
    for line in check.message.splitlines():
        yield f"    {line}"
    if check.diagnosis:
        yield f"    likely:  {check.diagnosis}"
    if check.where:
        yield f"    where:   {check.where}"


def _line(call: Call) -> str:
    """One call and what came of it."""
    names = {"output": "", "gradients": "  gradients", "inputs": "  inputs afterwards"}
    request = names.get(call.want, f"  {call.want}")
    outcome = f"no result ({call.problem.kind})" if call.problem else kind(call.value)
    return inert(f"{call.text}{request} → {outcome}")
