"""Reads each hand-in once, and grades those without a result, on this machine or on a Dask cluster."""

import contextlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.classroom import store as stores
from grader.classroom import versions
from grader.classroom.cluster import Cluster
from grader.classroom.marks import GRADED, NOT_BEGUN, PERSON, HandIn, Mark
from grader.classroom.pool import Order, Outcome, Pool, Task
from grader.classroom.store import Store
from grader.classroom.untouched import is_begun
from grader.records import containment
from grader.records.results import Settings
from grader.records.seeds import secret_seed
from grader.records.submission import MARKS, NOT_A_CODE_CELL, Submission, is_conflicted

REPAIR = "ask the student for the file again, put it in this one's place, and grade again"


@dataclass(frozen=True)
class How:
    """How to grade. seed None: a new secret one; timeout: seconds for one call, None for the exercise's own.

    dask: the address of a scheduler, or its file; None: `jobs` processes of this machine.
    """

    device: str = "cpu"
    seed: int | None = None
    timeout: float | None = None
    jobs: int = 1
    tier: str | None = None
    accept_tier: str | None = None
    dask: str | None = None


@dataclass(frozen=True)
class Begun:
    """The gradings begin. seed: the instructor's own, None for a secret one; sandbox: its tier."""

    to_grade: int
    sandbox: str
    seed: int | None


def take_in(handin: HandIn, file: str, store: Store) -> Mark:
    """Read a hand-in and keep its source. What is broken needs a person. file: its place, as marks.csv shows it."""
    mark = Mark(PERSON, handin.student, handin.exercise, file, to_do=REPAIR, handin=handin)
    try:
        submission = handin.read()
        if reason := broken(submission):
            return replace(mark, note=reason)
        content = store.keep_source(handin.exercise, submission)
        status = GRADED if is_begun(submission.source, handin.exercise) else NOT_BEGUN
    except (BadSubmission, NoSuchFile) as error:
        return replace(mark, note=str(error).removesuffix("."))
    except OSError as error:
        return replace(mark, note=f"the file cannot be read: {error.strerror}")
    except Exception as error:
        if containment.strict:
            raise
        return replace(mark, note=f"the grader broke while it read the file: {containment.reason(error)}")
    return replace(mark, status=status, note=handin.read_as, to_do="", content=content)


def broken(submission: Submission) -> str:
    """Why a file that could be read is no answer, or ""."""
    if is_conflicted(submission.source):
        return f"it holds {MARKS}"
    return next((note for note in submission.notes if NOT_A_CODE_CELL in note), "")


def with_keys(marks: Sequence[Mark], store: Store, how: How) -> list[Mark]:
    """The marks with the keys of their results, whether or not there is a result.

    All hand-ins of a run get the same inputs. Once feedback is out, students may know them, so a later run draws new
    ones; what has a result keeps it, unless the instructor names a seed.
    """
    seed = store.fact("unfinished") if how.seed is None else how.seed
    seed = secret_seed() if seed is None else seed
    store.note("unfinished", seed)  # until the results are published
    return [replace(mark, key=_key(mark, store, how, seed)) if mark.content else mark for mark in marks]


def grade(marks: Sequence[Mark], store: Store, how: How) -> Iterator[Begun | Outcome]:
    """Grade what has no result yet, and keep each result at once."""
    waiting: defaultdict[str, dict[str, str]] = defaultdict(dict)  # by exercise and key, the source's digest
    for mark in marks:
        if mark.key and store.result(mark.key) is None:
            waiting[mark.exercise].setdefault(mark.key, mark.content)
    if not waiting:
        return
    # `reveal=False`: no hidden input or expected number is in the results.
    settings = Settings(how.device, store.fact("unfinished"), how.timeout, reveal=False, pictures=True)
    order = Order(settings, how.tier, how.accept_tier)
    with contextlib.closing(executor_of(order, how)) as executor:
        sandbox = executor.wait()
        store.note("sandbox", sandbox)
        yield Begun(sum(map(len, waiting.values())), sandbox["tier"], how.seed)
        # The last exercises take longest, so they come first, and short ones balance the end.
        rows = [_tasks(exercise, waiting[exercise], store) for exercise in sorted(waiting, reverse=True)]
        for outcome in executor.run(rows):
            if not outcome.trouble:
                task = outcome.task
                store.keep(task.key, task.exercise, waiting[task.exercise][task.key], outcome.record)
            yield outcome


def executor_of(order: Order, how: How) -> Pool | Cluster:
    return Pool(order, how.jobs) if how.dask is None else Cluster(order, how.dask)


def _tasks(exercise: str, contents: Mapping[str, str], store: Store) -> Iterator[Task]:
    for key, content in contents.items():
        submission = store.source(content)
        yield Task(key, exercise, submission.source, submission.filename, submission.notes)


def _key(mark: Mark, store: Store, how: How, seed: int) -> str:
    version = versions.of_exercise(mark.exercise)
    case = stores.digest(json.dumps([mark.content, version, how.device, how.timeout]))
    earlier = store.latest(case) if how.seed is None else None
    return earlier or f"{case}.{seed}"
