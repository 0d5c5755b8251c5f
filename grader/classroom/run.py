"""Grades a class: finds the submissions, grades those without a result, and writes the results."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader import catalog
from grader.catalog import Exercise
from grader.catalog.errors import WrongUse
from grader.classroom import outputs, pool, similar
from grader.classroom.handins import Found, Graded, HandIn, NeedsPerson
from grader.classroom.intake import finder
from grader.classroom.ledger import Ledger
from grader.classroom.store import Store
from grader.classroom.tasks import Order, Outcome
from grader.records import containment
from grader.records.results import Settings
from grader.records.seeds import secret_seed

if TYPE_CHECKING:
    from grader.classroom.cluster import Cluster


@dataclass(frozen=True)
class Plan:
    """A run as it was requested. seed None: a new secret, which is never shown; a resumed run keeps its own."""

    submissions: Path
    out: Path
    exercises: tuple[Exercise, ...]
    named: bool = True  # each exercise was named; otherwise only those with a submission count
    device: str = "cpu"
    seed: int | None = None
    timeout: float | None = None
    jobs: int = 1
    tier: str | None = None
    accept_tier: str | None = None
    dask: str | None = None
    form: str = "plain"
    level: str = "full"


@dataclass(frozen=True)
class Event:
    """An event of a run, for the terminal and the log. `facts` are plain data."""

    kind: str  # "found", "begin", "graded", "ungraded", "written", "recorded"
    facts: dict


@dataclass(frozen=True)
class Undone:
    """The submissions without a grade. troubles: (student's id, exercise) → why; needs_person: of unclear owners."""

    troubles: dict[tuple[str, str], str]
    needs_person: tuple[NeedsPerson, ...]

    def __bool__(self) -> bool:
        return bool(self.troubles or self.needs_person)


def run(plan: Plan, tell: Callable[[Event], None]) -> Undone:
    """Grade a class. Returns what could not be graded.

    Raises WrongUse for a folder that cannot be used, and for results that would lie among the submissions,
    InfrastructureError where nothing can be graded.
    """
    if plan.out.resolve().is_relative_to(plan.submissions.resolve()):
        # A student's own folder may lie there, with a store of results in it.
        raise WrongUse(f"{plan.out} lies within {plan.submissions}, among what students chose. Name another: OUT=…")
    found = finder.find(plan.submissions, plan.exercises)
    tell(Event("found", _facts(found)))
    file = Store(plan.out)
    try:
        grade(plan, file, found, tell)
        file.finish()
        troubles = file.troubles()
        requested = {exercise.folder for exercise in plan.exercises} if plan.named else set()
        folders = sorted(requested.union(file.exercises()))
        with ThreadPoolExecutor(1) as executor:
            search = executor.submit(similar.pairs, found.handins, plan.jobs)  # it uses processes of its own

            def pairs() -> Sequence:
                return containment.optional("the pairs that agree", (), search.result)

            students = file.students()
            summary = outputs.write(plan.out, students, folders, plan.form, plan.level, pairs, troubles, found)
        facts = {"out": str(plan.out), "students": len(summary.rows), "ungraded": len(troubles)}
        facts |= {"needs_person": len(found.needs_person), "left_over": outputs.left_over(plan.out, summary)}
        tell(Event("written", facts))
        return Undone(troubles, found.needs_person)
    finally:
        file.close()


def graded(plan: Plan, handins: Sequence[HandIn], tell: Callable[[Event], None]) -> Iterator[Graded]:
    """Grade the given submissions; yields the results of those that could be graded. Only the store is written."""
    folders = {handin.exercise for handin in handins}
    plan = replace(plan, exercises=tuple(catalog.read(folder) for folder in sorted(folders)))
    file = Store(plan.out)
    try:
        grade(plan, file, Found("", tuple(handins)), tell)
        file.finish()
        for handin in handins:
            _, key = file.handin(handin.student.id, handin.exercise)
            result = file.result(key) if key else None
            if result:
                yield Graded(handin.student, result)
    finally:
        file.close()


def grade(plan: Plan, file: Store, found: Found, tell: Callable[[Event], None]) -> None:
    """Grade all submissions without a result, on this machine or on a cluster. Results of other exercises stay.

    All submissions of one run get the same inputs. Once feedback was given out, students may know these inputs and the
    answers. So what is graded later gets a new seed, and what has a result keeps it.
    """
    seed = next((seed for seed in (plan.seed, file.unfinished) if seed is not None), None)
    seed = secret_seed() if seed is None else seed
    file.note("settings", {"device": plan.device, "timeout": plan.timeout})
    ledger = Ledger(
        file,
        Settings(plan.device, seed, plan.timeout, reveal=False, pictures=True),
        found,
        [e.folder for e in plan.exercises],
        any_seed=plan.seed is None,
    )
    order = Order(ledger.settings, plan.tier, plan.accept_tier)
    with contextlib.ExitStack() as stack:
        executors: list = []  # one, whose processes start while the rest is entered

        def begin() -> None:
            file.begin(seed)
            executors.append(stack.enter_context(executor_of(plan, order)))

        if not ledger.enter(begin):
            return
        executor = executors[0]
        file.note("sandbox", executor.wait())
        tell(Event("begin", {"to_grade": ledger.left, "seed": plan.seed, "sandbox": executor.sandbox["tier"]}))

        def record(outcome: Outcome) -> None:
            facts = {"exercise": outcome.task.exercise, "key": outcome.task.key}
            if outcome.trouble:
                file.trouble(outcome.task.key, outcome.trouble)
                return tell(Event("ungraded", {**facts, "reason": outcome.trouble}))
            file.add(outcome.task.key, outcome.record)
            tell(Event("graded", {**facts, "status": outcome.status}))

        executor.run(ledger.rows(), record)


def executor_of(plan: Plan, order: Order) -> "pool.Pool | Cluster":
    """The processes that grade: of this machine, or of a Dask cluster."""
    if plan.dask is None:
        return pool.Pool(order, plan.jobs)
    from grader.classroom.cluster import Cluster  # distributed is an extra

    return Cluster(order, plan.dask)


def _facts(found: Found) -> dict:
    return {
        "layout": found.layout,
        "students": len(found.students),
        "handins": len(found.handins),
        "files": found.count,
        "misplaced": found.misplaced,
        "needs_person": found.needs_person,
    }
