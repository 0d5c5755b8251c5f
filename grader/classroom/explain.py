"""Explains a mark: grades the attempt that counts again, lists every call of every check, and says what follows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader import catalog
from grader.catalog.errors import WrongUse
from grader.classroom.course_rules import Course
from grader.classroom.grades import number
from grader.classroom.handins import Found, Student
from grader.classroom.history import History
from grader.classroom.ledger import Ledger
from grader.classroom.marking import Mark
from grader.classroom.office import Office, find_student, marks_of
from grader.classroom.store import Store
from grader.judge.grading import Grading
from grader.judge.words import kind
from grader.records.results import NOT_CHECKED, CheckResult, ExerciseResult, Settings
from grader.records.sanitize import inert, label
from grader.sandbox.call_results import Call
from grader.sandbox.forkserver import ForkServer


@dataclass(frozen=True)
class Explanation:
    """A mark, and the second grading of the attempt that counts.

    where: the file; result: None where nothing was handed in; for a file that cannot be read, the recorded one; calls:
    one line for each call, by check; recorded: the result in the folder of results; mark: by the rules of the course.
    """

    student: Student
    exercise: catalog.Exercise
    mark: Mark
    where: str = ""
    result: ExerciseResult | None = None
    calls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    recorded: ExerciseResult | None = None

    @property
    def differs(self) -> bool:
        """Whether a check has another outcome than in the recorded result."""
        if self.recorded is None or self.result is None:
            return False
        return [check.outcome for check in self.recorded.checks] != [check.outcome for check in self.result.checks]


def explain(
    out: Path, name: str, exercise: catalog.Exercise, office: Office | None = None, tier: str | None = None
) -> Explanation:
    """Explain a student's mark: grade the attempt that counts again, with the seed and device of its result.

    name: of the student, as office.find_student understands it; office: the rules and the roster. Raises WrongUse
    where there is no mark, or the checks have changed since.
    """
    office = office or Office(Course())
    file = Store.existing(out)
    try:
        history = History(file)
        student = find_student(name, file.rolled(), office, history)
        entry = file.handin(student.id, exercise.folder)
        latest = file.result(entry[1]) if entry and entry[1] else None
        if (reason := file.troubles().get((student.id, exercise.folder))) is not None:
            raise WrongUse(f"{label(student.label)} has no mark for {exercise.folder}: {label(reason)}")
        mark = marks_of(office, file, history, student, [latest] if latest else []).get(exercise.folder)
        if mark is None:
            if why := history.why_unplaced(student.id, exercise.folder):
                raise WrongUse(f"{label(student.label)} has no mark for {exercise.folder}: {label(why)}")
            if entry:
                raise WrongUse(f"{label(student.label)}, {exercise.folder}: not graded yet. Grade again: make grade …")
            raise WrongUse(f"{label(student.label)} handed in nothing for {exercise.folder}, as far as {out} knows")
        explanation = Explanation(student, exercise, mark, recorded=mark.result)
        if entry is None or mark.result is None:
            return explanation
        handin, key = entry
        attempts = history.of(student.id).get(exercise.folder, [])
        attempt = next((attempt for attempt in reversed(attempts) if attempt.digest == mark.digest), None)
        key = attempt.key if attempt else key
        place = f"{attempt.origin.name}, an earlier attempt" if attempt and mark.is_earlier else handin.shown
        explanation = replace(explanation, where=label(place))
        seed = file.seed(key or "")
        if seed is None:  # the file cannot be read as a submission
            return replace(explanation, result=mark.result)
        facts = file.fact("settings")
        settings = Settings(facts["device"], seed, facts["timeout"], reveal=True, where=facts.get("where", False))
        ledger = Ledger(file, settings, Found("", ()))
        submission = history.submission(mark.digest) or ledger.unchanged(handin, mark.digest)
        if submission is None or ledger.key(exercise.folder, submission) != key:
            raise WrongUse(f"{label(place)} or the checks have changed since it was graded. Grade again: make grade …")
    finally:
        file.close()
    settings = replace(settings, where=True)
    with ForkServer(settings.device, tier) as fork_server, Grading(exercise, fork_server, settings) as grading:
        sandbox = fork_server.demand()
        result = grading.result(submission)
        calls = {check: tuple(map(_line, calls)) for check, calls in grading.examiner.calls.items()}
    return replace(explanation, result=replace(result, sandbox=sandbox), calls=calls)


def lines(explanation: Explanation) -> Iterator[str]:
    """The explanation as text."""
    result, mark = explanation.result, explanation.mark
    yield f"{label(explanation.student.label)}, {explanation.exercise.folder}"
    if result is None:
        yield "Nothing was handed in that could be graded."
    else:
        tier = f", sandbox tier {result.sandbox.tier}" if result.sandbox else ""
        seed = "" if result.seed is None else f"seed {result.seed}, "
        yield f"{explanation.where}  {seed}device {result.device}{tier}"
        yield f"{result.title}: {result.points:g} of {result.max_points:g} points, {result.status}"
        yield from (f"  note: {note}" for note in result.notes)
        if result.message:
            yield f"  {result.message}"
        for check in result.checks:
            yield ""
            yield from _check(check, explanation.calls.get(check.id, ()))
        yield ""
        yield "NOT what is in the folder." if explanation.differs else "The same as in the folder."
    yield ""
    points = (
        "none" if mark.points is None else f"{number(mark.points)} of {number(explanation.exercise.max_points)} points"
    )
    yield f"The mark: {points}"
    yield from (f"  {label(word)}" for word in mark.words)


def _check(check: CheckResult, calls: tuple[str, ...]) -> Iterator[str]:
    """The lines about one check."""
    yield f"{check.word:<15} {check.points:g}/{check.max_points:g}  {check.title}  ({check.id})"
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
