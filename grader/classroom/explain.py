"""Explains marks: grades the kept sources again with their seeds, and lists every call of every check."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader import catalog
from grader.catalog.errors import WrongUse
from grader.classroom import versions
from grader.classroom.marks import listed
from grader.classroom.store import Entry, Store, seed_of
from grader.classroom.students import fold, names_of
from grader.judge.grading import Grading
from grader.judge.words import kind
from grader.records.causes import causes
from grader.records.results import NOT_CHECKED, CheckResult, ExerciseResult, Settings
from grader.records.sanitize import inert, label
from grader.reports import terminal
from grader.sandbox.call_results import Call
from grader.sandbox.forkserver import ForkServer

MOST_NAMED = 8


@dataclass(frozen=True)
class Explanation:
    """A mark, and the second grading of its source. recorded: what is in the folder; calls: a line each, by check."""

    entry: Entry
    recorded: ExerciseResult
    result: ExerciseResult
    calls: Mapping[str, tuple[str, ...]]

    @property
    def differs(self) -> bool:
        """True if a check has a different outcome than in the recorded result."""
        return [check.outcome for check in self.recorded.checks] != [check.outcome for check in self.result.checks]


def explain(out: Path, name: str, exercise: catalog.Exercise | None) -> Iterator[Explanation]:
    """Grade the sources of a student again, each with its seed, and everything revealed.

    name: id, full name, or that of an entry in the download; exercise: only this one. Raises WrongUse if there is no
    mark, or the grader has changed since.
    """
    with Store.existing(out) as store:
        device, timeout = (store.fact("run")[name] for name in ("device", "timeout"))
        entries = [one for one in _of_student(store, name) if exercise is None or one.exercise == exercise.folder]
        if not entries:
            number = f" of {exercise.folder}" if exercise else ""
            raise WrongUse(f"{out} has no graded hand-in{number} of {label(name)}. See {out}/marks.csv")
        if old := {one.exercise for one in store.outdated()} & {one.exercise for one in entries}:
            raise WrongUse(f"The grader has changed since {', '.join(sorted(old))} was graded. Grade again first")
        with ForkServer(device) as fork_server:
            fork_server.demand()
            for entry in entries:
                recorded = store.result(entry.key)
                if recorded is None:
                    raise WrongUse(f"{label(entry.student.label)}, {entry.exercise}: not graded yet. Grade again")
                settings = Settings(device, seed_of(entry.key), timeout, reveal=True, where=True)
                with Grading(catalog.read(entry.exercise), fork_server, settings) as grading:
                    result = grading.result(store.source(entry.content))
                    calls = {check: tuple(map(_line, calls)) for check, calls in grading.examiner.calls.items()}
                yield Explanation(entry, recorded, result, calls)


def lines(explanation: Explanation) -> Iterator[str]:
    result, entry = explanation.result, explanation.entry
    yield f"{label(entry.student.label)}, {entry.exercise}: {result.points:g} of {result.max_points:g} points"
    yield f"{label(entry.file)}  seed {result.seed}, device {result.device}, attention-kata {versions.shown()}"
    yield from (f"  note: {note}" for note in result.notes)
    if result.message and not causes(result):
        yield f"  {result.message}"
    yield from (f"  {text}".rstrip() for text, _ in terminal.cause_blocks(causes(result), every=True))
    for check in result.checks:
        yield ""
        yield from _check(check, explanation.calls.get(check.id, ()))
    yield ""
    yield "NOT what is in the folder." if explanation.differs else "The same as in the folder."


def _of_student(store: Store, name: str) -> list[Entry]:
    """The hand-ins of the student with this name. Raises WrongUse if nobody, or several, are called so."""
    entries = store.entries()
    found = [one for one in entries if fold(name) in map(fold, (one.student.id, *one.called))]
    found = found or [one for one in entries if names_of(name) & names_of(one.student.name)]
    people = sorted({one.student for one in found})
    if not people:
        raise WrongUse(f"{store.folder} knows nobody called {label(name)} who has a mark. See {store.folder}/marks.csv")
    if len(people) > 1:
        who = listed([label(student.label) for student in people], MOST_NAMED)
        raise WrongUse(f"{label(name)} may be several: {who}. Name the id")
    return found


def _check(check: CheckResult, calls: tuple[str, ...]) -> Iterator[str]:
    yield f"{check.word:<15} {check.points:g}/{check.max_points:g}  {check.title}  ({check.id})"
    if check.outcome != NOT_CHECKED:
        yield from (f"    called   {call}" for call in calls)
    yield from (f"    {line}" for line in check.message.splitlines())


def _line(call: Call) -> str:
    names = {"output": "", "gradients": "  gradients", "inputs": "  inputs afterwards"}
    request = names.get(call.want, f"  {call.want}")
    outcome = f"no result ({call.problem.kind})" if call.problem else kind(call.value)
    return inert(f"{call.text}{request} → {outcome}")
