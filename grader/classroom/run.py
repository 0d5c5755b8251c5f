"""Grades a class: finds the submissions, grades those without a result, and writes the results."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import catalog
from grader.catalog import Exercise
from grader.catalog.errors import WrongUse
from grader.classroom import arrivals, grades, handins, history, ledger, office, outputs, pool, private, similar
from grader.classroom.analysis import Chooser
from grader.classroom.course_rules import Course
from grader.classroom.handins import Found, Graded, HandIn, NeedsPerson, Passed, Student, Unplaced
from grader.classroom.history import History
from grader.classroom.intake import finder
from grader.classroom.ledger import STALE, Ledger, Memory
from grader.classroom.office import Marking, Office
from grader.classroom.pages.class_page import ROWS
from grader.classroom.pool import Order, Outcome
from grader.classroom.roster import filling
from grader.classroom.store import Store
from grader.classroom.untouched import is_begun
from grader.records import containment
from grader.records.results import Settings
from grader.records.sanitize import label
from grader.records.seeds import secret_seed

if TYPE_CHECKING:
    from grader.classroom.cluster import Cluster

NOT_BEGUN = "of exercises that nobody has begun"  # why a file is left out
MOST_LOST = 8  # names in the message


@dataclass(frozen=True)
class Plan:
    """A run as it was requested.

    seed None: a new secret, which is never shown; a resumed run keeps its own. timeout: seconds for one call; None: the
    exercise's own.
    """

    submissions: Path
    out: Path
    exercises: tuple[Exercise, ...]
    named: bool = True  # each exercise was named; False: only exercises with a submission count
    device: str = "cpu"
    seed: int | None = None
    timeout: float | None = None
    jobs: int = 1
    tier: str | None = None
    accept_tier: str | None = None
    dask: str | None = None
    form: str = "plain"
    level: str = "full"
    office: Office = field(default_factory=lambda: Office(Course()))
    drop: bool = False  # who is not in the class any more may go
    since: datetime | None = None  # the class page shows apart what came since then
    anonymous: bool = False  # the page of the class has pseudonyms


@dataclass(frozen=True)
class Event:
    """An event of a run, for the terminal and the log. `facts` are plain data."""

    kind: str  # "notes", "found", "begin", "graded", "ungraded", "changed", "written", "recorded"
    facts: dict[str, Any]


@dataclass(frozen=True)
class Undone:
    """The work that is left for a person.

    troubles: (student's id, exercise) → why there is no grade; needs_person: a person must say whose they are;
    unplaced: students of whom no file could be placed; nobody: no student handed in anything; notes: lines about the
    rest.
    """

    troubles: dict[tuple[str, str], str]
    needs_person: tuple[NeedsPerson, ...]
    unplaced: tuple[Unplaced, ...] = ()
    nobody: bool = False
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.troubles or self.needs_person or self.unplaced or self.nobody or self.notes)


@dataclass(frozen=True)
class Losses:
    """The rows and hand-ins that a run would remove. students: their ids; handins: (student's id, exercise)."""

    students: tuple[str, ...] = ()
    handins: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.students or self.handins)


def losses_of(
    earlier: Mapping[Student, Collection[str]], found: Found, replaced: Collection[str], named: bool, roster: bool
) -> Losses:
    """The rows and hand-ins that a run would remove.

    earlier: everybody in the class, with the exercises that they handed in; replaced: the exercises that the run enters
    again; named: the instructor named them; roster: the class is that of a roster.
    """
    unsure = {person for need in found.needs_person for person in need.who}  # they keep their row, and have no mark
    current_ids = {student.id for student in found.students}
    unplaced = {(one.student.id, one.exercise) for one in found.unplaced}  # exercise "": all of this student's
    handed_in = {(handin.student.id, handin.exercise) for handin in found.handins} | unplaced
    students, handins = [], []
    for student, exercises in earlier.items():
        stays = named and not roster and (not exercises or not set(exercises) <= set(replaced))
        if student.id not in current_ids | unsure and not stays:
            students.append(student.id)
        elif student.id not in unsure and (student.id, "") not in unplaced:
            replaced_exercises = (exercise for exercise in sorted(exercises) if exercise in replaced)
            handins += [
                (student.id, exercise) for exercise in replaced_exercises if (student.id, exercise) not in handed_in
            ]
    return Losses(tuple(students), tuple(handins))


def loss_message(losses: Losses, submissions: str, out: str, entered: Iterable[str] = ()) -> str:
    """The message to the instructor where the run was refused.

    entered: the exercises of the run. Those of which nothing would be lost are the ones to name.
    """
    lost = {exercise for _, exercise in losses.handins}
    safe = [exercise[:2] for exercise in entered if exercise not in lost] if lost else []
    named = f"its exercise, EX={','.join(safe)}" if 0 < len(safe) <= MOST_LOST else "its exercise, EX=03"
    lines = ["Nothing was changed, because this run would take something away:"]
    if losses.students:
        names = label(handins.listed(losses.students, MOST_LOST))
        lines.append(f"  {handins.count_in_words(len(losses.students), 'student')} would lose their row: {names}")
    if losses.handins:
        names = label(handins.listed([f"{student} {exercise}" for student, exercise in losses.handins], MOST_LOST))
        lines.append(f"  {handins.count_in_words(len(losses.handins), 'hand-in')} would be lost: {names}")
    lines += [
        f"Is {label(submissions)} the right folder? It must hold what everybody handed in so far.",
        "  several downloads: put them into one folder",
        f"  one assignment alone: name {named}     everybody keeps a row: ROSTER=file",
        f"  they left, or withdrew it: DROP=yes, which moves the pages of who left to {label(out)}/left/",
    ]
    return "\n".join(lines)


def run(plan: Plan, publish: Callable[[Event], None]) -> Undone:
    """Grade a class and write the results. Returns what could not be graded. publish: is called with each event.

    Raises WrongUse for a folder that cannot be used, and for results that would lie among the submissions,
    InfrastructureError where nothing can be graded.
    """
    if plan.out.resolve().is_relative_to(plan.submissions.resolve()):
        # A student's own folder may lie there, with a store of results in it.
        raise WrongUse(f"{plan.out} lies within {plan.submissions}, among what students chose. Name another: OUT=…")
    submissions = finder.find(plan.submissions, plan.exercises)
    file = Store(plan.out)
    outputs.keep_out_of_git(plan.out)
    try:
        private.folder(plan.out)
        past = file.rolled()
        matched = office.match_students(plan.office, submissions, past)
        submissions, not_begun = (
            (matched.found, ()) if plan.named else without_stubs(matched.found, plan.submissions, past)
        )
        entered = replaced(plan, submissions)
        losses_of_run = losses_of(past, submissions, entered, plan.named, plan.office.roster is not None)
        history = History(file)
        set_by_hand = {(one.student, one.exercise) for one in plan.office.overrides}
        waiting = [] if plan.drop else outputs.still_waiting(history.waiting(), matched.found, past, set_by_hand)
        submissions = outputs.settle(submissions, plan.office.overrides, entered)
        submissions = replace(submissions, unplaced=(*submissions.unplaced, *(one.unplaced for one in waiting)))
        publish(Event("found", submissions.facts()))
        publish(Event("notes", {"lines": (*matched.lines, *_of_stubs(not_begun))}))
        if losses_of_run and not plan.drop:
            raise WrongUse(loss_message(losses_of_run, str(plan.submissions), str(plan.out), entered))
        file.note("level", plan.level)
        places = (str(place.resolve()) if place else "" for place in plan.office.sources)
        file.note("sources", dict(zip(("rules", "roster"), places, strict=True)))
        history.note_waiting(outputs.remembered(submissions, entered, waiting))
        memory = Memory(history, arrivals.clock(plan.office.hand_in_times, plan.office.roster, plan.office.course.zone))
        memory = replace(memory, keeps=plan.office.keeps_attempts)
        others = [folder for folder in file.exercises() if folder not in entered]
        grade(plan, file, submissions, publish, memory, losses_of_run.students, others)
        file.finish()
        troubles = file.troubles()
        requested = {exercise.folder for exercise in plan.exercises} if plan.named else set()
        overridden = {override.exercise for override in plan.office.overrides}
        folders = sorted(requested.union(file.exercises(), overridden))
        file.note("exercises", folders)  # for the assistants' page
        with ThreadPoolExecutor(1) as executor:
            search = executor.submit(similar.pairs, submissions.handins, plan.jobs)  # it uses processes of its own

            def pairs() -> Sequence[similar.Pair]:
                """The pairs of similar submissions, once they are found."""
                return containment.optional("the pairs that agree", (), search.result)

            marking = Marking(plan.office, file, history, submissions)
            named = tuple(exercise.folder for exercise in plan.exercises) if plan.named else ()
            chooser = Chooser(named, plan.since)
            unwritten = None
            try:
                summary = outputs.write(
                    plan.out, file.students(), folders, plan.form, plan.level, pairs, troubles, submissions,
                    plan.office.rule, marking.standing, marking.pseudonyms(plan.out) if plan.anonymous else None,
                    marking.past, chooser.choice(file, history),
                )  # fmt: skip
            except outputs.Unwritten as error:  # the marks are complete all the same
                unwritten = error
        lines = outputs.accounts(submissions, plan.submissions, marking.given, troubles, file.entered())
        try:
            outputs.write_ledger(plan.out, lines)
        except outputs.Unwritten as error:
            unwritten = unwritten or error
        publish(Event("changed", {"changes": marking.finish(plan.out)}))
        if unwritten is not None:
            raise unwritten
        outputs.move_away(plan.out, losses_of_run.students)
        facts = {"out": str(plan.out), "students": len(summary.rows), "ungraded": len(troubles)}
        facts |= {"needs_person": len(submissions.needs_person), "left_over": outputs.left_over(plan.out, summary)}
        facts |= {"waiting": outputs.waiting_lines(submissions)}
        publish(Event("written", facts | {"filled": marking.fill_roster(plan.out, summary)}))
        notes = (
            *marking.notes,
            *office.lines_without_effect(plan.office, [row.student.id for row in summary.rows], folders),
        )
        publish(Event("notes", {"lines": notes}))
        _protect(plan.out)
        return Undone(troubles, submissions.needs_person, submissions.unplaced, not submissions.handins, notes)
    finally:
        file.close()


def without_stubs(
    found: Found, folder: Path, earlier: Mapping[Student, Collection[str]]
) -> tuple[Found, tuple[str, ...]]:
    """The class without the exercises that nobody has begun, of which a clone holds the stubs; and these exercises.

    earlier: everybody in the class, with the exercises handed in. One file that is no stub is enough for an exercise.
    """
    known = {exercise for exercises in earlier.values() for exercise in exercises}
    by_exercise: dict[str, list[HandIn]] = defaultdict(list)
    for handin in found.handins:
        by_exercise[handin.exercise].append(handin)
    not_begun = tuple(
        exercise for exercise, files in by_exercise.items() if exercise not in known and not any(map(is_begun, files))
    )
    left_out = [handin for handin in found.handins if handin.exercise in not_begun]
    files = len({(handin.place, handin.member) for handin in left_out})
    if not not_begun:
        return found, ()
    count = replace(
        found.count, to_grade=found.count.to_grade - files, left_out={**found.count.left_out, NOT_BEGUN: files}
    )
    passed = [
        Passed(handin.below(folder), NOT_BEGUN, handin.origin.key, handin.student, origin=handin.origin)
        for handin in {(handin.place, handin.member): handin for handin in left_out}.values()
    ]
    rest = tuple(handin for handin in found.handins if handin.exercise not in not_begun)
    students = (*found.enrolled, *(handin.student for handin in left_out))
    unplaced = tuple(one for one in found.unplaced if not one.lacks or one.lacks - {*not_begun})
    found = replace(found, handins=rest, unplaced=unplaced, enrolled=students)
    return replace(found, count=count, passed=(*found.passed, *passed)), not_begun


def _of_stubs(exercises: Sequence[str]) -> Iterator[str]:
    """The line about exercises that nobody has begun."""
    if exercises:
        numbers = ", ".join(exercise[:2] for exercise in sorted(exercises))
        yield f"Left out, since nobody has begun them: {numbers}. To grade them all the same, name them: EX=…"


def replaced(plan: Plan, submissions: Found) -> list[str]:
    """The exercises that a run enters again: those named, else those of which something was handed in."""
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
            found = file.handin(handin.student.id, handin.exercise)
            result = file.result(found[1]) if found and found[1] else None
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
) -> None:
    """Grade all submissions without a result, on this machine or on a cluster.

    memory: of earlier attempts; removed_students: those who leave the class; others: exercises whose hand-ins stay, and
    are graded again where their checks have changed.

    All submissions of one run get the same inputs. Once feedback is published, students may know these inputs and the
    answers. So a later grading gets a new seed, and a submission that has a result keeps it.
    """
    seed = next((seed for seed in (plan.seed, file.unfinished) if seed is not None), None)
    seed = secret_seed() if seed is None else seed
    where = plan.level == "where"
    file.note("settings", {"device": plan.device, "timeout": plan.timeout, "where": where})
    class_ledger = Ledger(
        file,
        Settings(plan.device, seed, plan.timeout, reveal=False, pictures=True, where=where),
        submissions,
        replaced(plan, submissions),
        any_seed=plan.seed is None,
        memory=memory,
        gone=removed_students,
        others=others,
    )
    order = Order(class_ledger.settings, plan.tier, plan.accept_tier)
    with contextlib.ExitStack() as stack:
        executors: list[pool.Pool | Cluster] = []  # at most one; its processes start while the rest is entered

        def begin() -> None:
            """Start the processes that grade."""
            file.begin(seed)
            executor = executor_of(plan, order)
            stack.enter_context(executor)
            executors.append(executor)

        to_grade = class_ledger.enter(begin)
        publish(Event("notes", {"lines": _of_changed_checks(class_ledger)}))
        if not to_grade:
            return
        executor = executors[0]
        sandbox = executor.wait()
        file.note("sandbox", sandbox)
        publish(Event("begin", {"to_grade": class_ledger.to_grade, "seed": plan.seed, "sandbox": sandbox["tier"]}))

        def record(outcome: Outcome) -> None:
            """Store one outcome."""
            facts = {"exercise": outcome.task.exercise, "key": outcome.task.key}
            if outcome.trouble:
                file.trouble(outcome.task.key, outcome.trouble)
                return publish(Event("ungraded", {**facts, "reason": outcome.trouble}))
            file.add(outcome.task.key, outcome.record, ledger.version_of_exercise(outcome.task.exercise))
            publish(Event("graded", {**facts, "status": outcome.status}))

        executor.run(class_ledger.rows(), record)


def executor_of(plan: Plan, order: Order) -> pool.Pool | Cluster:
    """The processes that grade: of this machine, or of a Dask cluster."""
    if plan.dask is None:
        return pool.Pool(order, plan.jobs)
    from grader.classroom.cluster import Cluster  # distributed is an extra

    return Cluster(order, plan.dask)


def _protect(out: Path) -> None:
    """Keep the results from other users, whatever the mode of an earlier run's files is."""
    names = {
        outputs.GRADES,
        outputs.PAGE,
        ROWS,
        outputs.LEDGER,
        outputs.LEFT,
        history.CHANGES,
        grades.PSEUDONYMS,
        private.VERSIONS,
        filling.FOLDER,
    }
    for path in out.iterdir():
        if path.name in names or (path / outputs.RECORD).exists():
            private.everything(path)


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
