"""Grades a class: finds what was handed in, grades what is not graded yet, writes the results."""

import contextlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from grader import catalog, similar
from grader.catalog import Exercise
from grader.classroom import find, pool, results, store, version
from grader.classroom.pool import Order, Outcome, Task
from grader.classroom.records import Found, Graded, HandIn
from grader.classroom.store import Store
from grader.results import Settings, unreadable
from grader.submission import BadSubmission, NoSuchFile


@dataclass(frozen=True)
class Plan:
    """What was asked for. seed None: that of the run before, else a new one."""

    submissions: Path
    out: Path
    exercises: tuple[Exercise, ...]
    named: bool = True  # each exercise was asked for by name; else only those that somebody handed in count
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
    """Something that happened, for the terminal and the log. `facts` are plain data."""

    kind: str  # "found", "begin", "graded", "ungraded", "written", "recorded"
    facts: dict


def run(plan: Plan, tell: Callable[[Event], None]) -> dict[tuple[str, str], str]:
    """Grade a class. Gives what could not be graded: (student's id, exercise) → why.

    Raises WrongUse for a folder that cannot be used, InfrastructureError where nothing can be graded.
    """
    found = find.find(plan.submissions, plan.exercises)
    tell(Event("found", {"layout": found.layout, **_counts(found), "misplaced": found.misplaced}))
    file = Store(plan.out)
    try:
        grade(plan, file, found, tell)
        troubles = file.troubles()
        asked = {exercise.folder for exercise in plan.exercises} if plan.named else set()
        folders = sorted(asked.union(file.exercises()))
        with ThreadPoolExecutor(1) as beside:
            pairs = beside.submit(similar.pairs, found.handins, plan.jobs)  # in processes of its own, meanwhile
            summary = results.write(plan.out, file.students(), folders, plan.form, plan.level, pairs.result, troubles)
        tell(Event("written", {"out": str(plan.out), "students": len(summary.rows), "ungraded": len(troubles)}))
        return troubles
    finally:
        file.close()


def graded(plan: Plan, handins: Sequence[HandIn], tell: Callable[[Event], None]) -> Iterator[Graded]:
    """Grade what others found; what could not be graded is not among the results. Nothing is written but the store."""
    folders = {handin.exercise for handin in handins}
    plan = replace(plan, exercises=tuple(catalog.read(folder) for folder in sorted(folders)))
    file = Store(plan.out)
    try:
        grade(plan, file, Found("", tuple(handins)), tell)
        for handin in handins:
            _, key = file.handin(handin.student.id, handin.exercise)
            result = file.result(key) if key else None
            if result:
                yield Graded(handin.student, result)
    finally:
        file.close()


def grade(plan: Plan, file: Store, found: Found, tell: Callable[[Event], None]) -> None:
    """Grade all that has no result yet, here or on a cluster. What was graded of other exercises stays."""
    seed = plan.seed if plan.seed is not None else file.fact("seed", secrets.randbelow(1_000_000))
    file.note("seed", seed)
    file.note("settings", {"device": plan.device, "timeout": plan.timeout})
    desk = Desk(
        file,
        Settings(plan.device, seed, plan.timeout, reveal=False, pictures=True),
        found,
        [e.folder for e in plan.exercises],
    )
    order = Order(desk.settings, plan.tier, plan.accept_tier)
    with contextlib.ExitStack() as stack:
        hired: list = []  # they start, which takes seconds, while the rest is entered
        if not desk.enter(lambda: hired.append(stack.enter_context(crew(plan, order)))):
            return
        hands = hired[0]
        file.note("sandbox", hands.wait())
        tell(Event("begin", {"to_grade": desk.left, "seed": seed, "sandbox": hands.sandbox["tier"]}))

        def record(outcome: Outcome) -> None:
            facts = {"exercise": outcome.task.exercise, "key": outcome.task.key}
            if outcome.trouble:
                file.trouble(outcome.task.key, outcome.trouble)
                return tell(Event("ungraded", {**facts, "reason": outcome.trouble}))
            file.add(outcome.task.key, outcome.record)
            tell(Event("graded", {**facts, "status": outcome.status}))

        hands.run(desk.rows(), record)


def crew(plan: Plan, order: Order):
    """Who grades: processes of this machine, or of a Dask cluster."""
    if plan.dask is None:
        return pool.Pool(order, plan.jobs)
    from grader.classroom.cluster import Cluster  # distributed is an extra

    return Cluster(order, plan.dask)


class Desk:
    """What was handed in, and which of it has a result."""

    def __init__(self, file: Store, settings: Settings, found: Found, exercises: Sequence[str] = ()):
        self.file, self.settings, self.found, self.exercises, self.left = file, settings, found, exercises, 0
        self.waiting: dict[str, dict[str, HandIn]] = {}  # by exercise and key: what is to be graded

    def enter(self, begin: Callable[[], None]) -> int:
        """Enter everything, and judge what cannot even be read. Gives how much is to be graded.

        begin: called at the first that is to be graded.
        """
        with self.file.roll(self.exercises):
            for student in self.found.students:
                self.file.enrol(student)
            for handin in self.found.handins:
                try:
                    handed_in = self.read(handin)
                except (BadSubmission, NoSuchFile) as error:
                    self.refuse(handin, str(error))
                except OSError as error:
                    self.file.enter(handin, None, f"the file cannot be read: {error.strerror}")
                else:
                    key = self.key(handin.exercise, handed_in)
                    self.file.enter(handin, key)
                    if not self.file.has(key):
                        if not self.waiting:
                            begin()
                        self.waiting.setdefault(handin.exercise, {}).setdefault(key, handin)
        self.left = sum(map(len, self.waiting.values()))
        return self.left

    def rows(self) -> list[Iterator[Task]]:
        """The tasks of each exercise, the late ones first: they take longest, and small ones fill the end evenly.

        A file is read again when its turn comes.
        """
        return [self._row(exercise) for exercise in sorted(self.waiting, reverse=True)]

    def read(self, handin: HandIn):
        """The submission under the name that the lesson gives it: equal files are the same to the grader."""
        handed_in = handin.read()
        name = f"{handin.exercise.partition('_')[2]}{Path(handin.member or handin.place).suffix}"
        notes = tuple(note.replace(handed_in.filename, name) for note in handed_in.notes)
        return replace(handed_in, filename=name, notes=notes)

    def key(self, exercise: str, handed_in) -> str:
        more = f"{self.settings.timeout}"
        return store.key(handed_in, version.exercise(exercise), self.settings.seed, self.settings.device, more)

    def refuse(self, handin: HandIn, message: str) -> None:
        """The verdict on a file that cannot be graded as it is."""
        exercise = catalog.read(handin.exercise)
        result = unreadable(exercise, handin.shown, message, self.settings)
        key = f"unreadable {store.digest(store.written(result))}"
        self.file.add(key, store.written(result))
        self.file.enter(handin, key)

    def _row(self, exercise: str) -> Iterator[Task]:
        for key, handin in self.waiting[exercise].items():
            try:
                handed_in = self.read(handin)
            except (BadSubmission, NoSuchFile, OSError):
                handed_in = None
            if handed_in is None or self.key(exercise, handed_in) != key:
                self.file.trouble(key, "the file changed while the class was graded. Grade again")
                continue
            yield Task(key, exercise, handed_in.source, handed_in.filename, handed_in.notes)


def _counts(found: Found) -> dict[str, int]:
    return {"students": len(found.students), "handins": len(found.handins)}
