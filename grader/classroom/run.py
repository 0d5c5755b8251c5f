"""Grades a class: finds the submissions, grades those without a result, and writes the results."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader import catalog
from grader.catalog.errors import WrongUse
from grader.classroom import (
    arrivals,
    changes,
    losses,
    office,
    outputs,
    pool,
    private,
    pseudonyms,
    similar,
    version,
    versions,
    without_effect,
)
from grader.classroom.handins import Found, Graded, HandIn
from grader.classroom.history import History
from grader.classroom.intake import finder
from grader.classroom.ledger import STALE, Ledger, Memory
from grader.classroom.marking import Marking
from grader.classroom.plan import Event, Plan, Undone
from grader.classroom.roster import filling
from grader.classroom.store import Store
from grader.classroom.tasks import Order, Outcome
from grader.records import containment
from grader.records.own_time import own_time
from grader.records.results import Settings
from grader.records.seeds import secret_seed

if TYPE_CHECKING:
    from grader.classroom.cluster import Cluster


def run(plan: Plan, publish: Callable[[Event], None]) -> Undone:
    """Grade a class and write the results. Returns what could not be graded. publish: is called with each event.

    Raises WrongUse for a folder that cannot be used, and for results that would lie among the submissions,
    InfrastructureError where nothing can be graded.
    """
    if plan.out.resolve().is_relative_to(plan.submissions.resolve()):
        # A student's own folder may lie there, with a store of results in it.
        raise WrongUse(f"{plan.out} lies within {plan.submissions}, among what students chose. Name another: OUT=…")
    own_time.go_on_with("reading")
    submissions = finder.find(plan.submissions, plan.exercises)
    file = Store(plan.out)
    outputs.keep_out_of_git(plan.out)
    try:
        private.folder(plan.out)
        past = file.rolled()
        matched = office.matched(plan.office, submissions, past)
        submissions = matched.found
        publish(Event("found", submissions.facts()))
        publish(Event("notes", {"lines": matched.lines}))
        entered = replaced(plan, submissions)
        losses_of_run = losses.of(past, submissions, entered, plan.named, plan.office.roster is not None)
        if losses_of_run and not plan.drop:
            raise WrongUse(losses.message(losses_of_run, str(plan.submissions), str(plan.out)))
        file.note("level", plan.level)
        history = History(file)
        memory = Memory(history, arrivals.clock(plan.office.hand_in_times, plan.office.roster, plan.office.course.zone))
        memory = replace(memory, keeps=plan.office.keeps_attempts)
        others = [folder for folder in file.exercises() if folder not in entered]
        spent = grade(plan, file, submissions, publish, memory, losses_of_run.students, others)
        own_time.go_on_with("pages")
        file.finish()
        troubles = file.troubles()
        requested = {exercise.folder for exercise in plan.exercises} if plan.named else set()
        overridden = {override.exercise for override in plan.office.overrides}
        folders = sorted(requested.union(file.exercises(), overridden))
        with ThreadPoolExecutor(1) as executor:
            search = executor.submit(similar.pairs, submissions.handins, plan.jobs)  # it uses processes of its own

            def pairs() -> Sequence[similar.Pair]:
                """The pairs of similar submissions, once they are found."""
                return containment.optional("the pairs that agree", (), search.result)

            marking = Marking(plan.office, file, history, submissions)
            unwritten = None
            try:
                summary = outputs.write(
                    plan.out, file.students(), folders, plan.form, plan.level, pairs, troubles, submissions,
                    plan.office.rule, marking.standing, marking.pseudonyms(plan.out) if plan.anonymous else None,
                    marking.past,
                )  # fmt: skip
            except outputs.Unwritten as error:  # the marks are complete all the same
                unwritten = error
        publish(Event("changed", {"changes": marking.finish(plan.out)}))
        if unwritten is not None:
            raise unwritten
        outputs.move_away(plan.out, losses_of_run.students)
        facts = {"out": str(plan.out), "students": len(summary.rows), "ungraded": len(troubles)}
        facts |= {"needs_person": len(submissions.needs_person), "left_over": outputs.left_over(plan.out, summary)}
        publish(Event("written", facts | {"filled": marking.filled(plan.out, summary)}))
        notes = (*marking.notes, *without_effect.lines(plan.office, [row.student.id for row in summary.rows], folders))
        publish(Event("notes", {"lines": notes}))
        _protect(plan.out)
        publish(Event("spent", {"processes": spent, "own": own_time.seconds}))
        return Undone(troubles, submissions.needs_person, submissions.unplaced, not submissions.handins, notes)
    finally:
        file.close()


def _protect(out: Path) -> None:
    """Keep the results from other users, whatever the mode of an earlier run's files is."""
    names = {outputs.GRADES, outputs.PAGE, outputs.LEFT, changes.NAME, pseudonyms.NAME, versions.FOLDER, filling.FOLDER}
    for path in out.iterdir():
        if path.name in names or (path / outputs.RECORD).exists():
            private.everything(path)


def replaced(plan: Plan, submissions: Found) -> list[str]:
    """The exercises that a run enters anew: those named, else those of which something was handed in."""
    if plan.named:
        return [exercise.folder for exercise in plan.exercises]
    return sorted({handin.exercise for handin in submissions.handins})


def graded(plan: Plan, handins: Sequence[HandIn], publish: Callable[[Event], None]) -> Iterator[Graded]:
    """Grade the given submissions and yield the results of those that could be graded. Only the store is written.

    It remembers the attempts, with earlier ones graded too where the rules of the course let them count.
    """
    folders = {handin.exercise for handin in handins}
    plan = replace(plan, exercises=tuple(catalog.read(folder) for folder in sorted(folders)))
    file = Store(plan.out)
    try:
        clock = arrivals.clock(plan.office.hand_in_times, plan.office.roster, plan.office.course.zone)
        memory = Memory(History(file), clock, keeps=plan.office.keeps_attempts)
        grade(plan, file, Found("", tuple(handins)), publish, memory)
        file.finish()
        for handin in handins:
            _, key = file.handin(handin.student.id, handin.exercise)
            result = file.result(key) if key else None
            if result:
                yield Graded(handin.student, result)
    finally:
        file.close()


def grade(
    plan: Plan,
    file: Store,
    submissions: Found,
    publish: Callable[[Event], None],
    memory: Memory | None = None,
    removed_students: Sequence[str] = (),
    others: Sequence[str] = (),
) -> dict[str, float]:
    """Grade all submissions without a result, on this machine or on a cluster.

    memory: of earlier attempts; removed_students: those who leave the class; others: exercises whose hand-ins stay, and
    are graded again where their checks have changed. Returns the processor time of the processes that graded, as
    Job.spent gives it.

    All submissions of one run get the same inputs. Once feedback is published, students may know these inputs and the
    answers. So a later grading gets a new seed, and a submission that has a result keeps it.
    """
    seed = next((seed for seed in (plan.seed, file.unfinished) if seed is not None), None)
    seed = secret_seed() if seed is None else seed
    where = plan.level == "where"
    file.note("settings", {"device": plan.device, "timeout": plan.timeout, "where": where})
    ledger = Ledger(
        file,
        Settings(plan.device, seed, plan.timeout, reveal=False, pictures=True, where=where),
        submissions,
        replaced(plan, submissions),
        any_seed=plan.seed is None,
        memory=memory,
        gone=removed_students,
        others=others,
    )
    order = Order(ledger.settings, plan.tier, plan.accept_tier)
    with contextlib.ExitStack() as stack:
        executors: list[pool.Pool | Cluster] = []  # at most one; its processes start while the rest is entered

        def begin() -> None:
            """Start the processes that grade."""
            file.begin(seed)
            executors.append(stack.enter_context(executor_of(plan, order)))

        to_grade = ledger.enter(begin)
        publish(Event("notes", {"lines": _of_changed_checks(ledger)}))
        if not to_grade:
            return {}
        executor = executors[0]
        file.note("sandbox", executor.wait())
        publish(Event("begin", {"to_grade": ledger.to_grade, "seed": plan.seed, "sandbox": executor.sandbox["tier"]}))

        def record(outcome: Outcome) -> None:
            """Store one outcome."""
            facts = {"exercise": outcome.task.exercise, "key": outcome.task.key}
            if outcome.trouble:
                file.trouble(outcome.task.key, outcome.trouble)
                return publish(Event("ungraded", {**facts, "reason": outcome.trouble}))
            file.add(outcome.task.key, outcome.record, version.exercise(outcome.task.exercise))
            publish(Event("graded", {**facts, "status": outcome.status}))

        own_time.go_on_with("storing")
        executor.run(ledger.rows(), record)
        return executor.all_spent()


def _of_changed_checks(ledger: Ledger) -> tuple[str, ...]:
    """Lines about the hand-ins of other exercises whose checks have changed."""
    lines = []
    for counts, words in (
        (ledger.again, "graded again, from the texts that were kept"),
        (ledger.stale, f"no grade: {STALE}"),
    ):
        if counts:
            listed = ", ".join(f"{folder} ({count:,})" for folder, count in sorted(counts.items()))
            lines.append(f"The checks changed since these were graded: {listed}: {words}.")
    return tuple(lines)


def executor_of(plan: Plan, order: Order) -> pool.Pool | Cluster:
    """The processes that grade: of this machine, or of a Dask cluster."""
    if plan.dask is None:
        return pool.Pool(order, plan.jobs)
    from grader.classroom.cluster import Cluster  # distributed is an extra

    return Cluster(order, plan.dask)
