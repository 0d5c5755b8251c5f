"""A made-up term of two assignments: who hands in what and when, and the points that follow, by arithmetic of its own.

What a text is worth stands in the known mistakes' own table of failed checks; nothing here asks the judge or the rules.
Students are numbers, to which each platform gives ids of its own.
"""

import contextlib
import csv
import functools
import io
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from copies import copy
from thorough import THOROUGH

from grader import catalog
from grader.catalog import mistakes, paths
from grader.classroom import ledger
from grader.judge import grading
from grader.records.results import Settings
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer

SOFTMAX, CONTEXT = "02_softmax_naive", "03_context_vectors"
# Each assignment's known mistakes that are handed in: much goes wrong with the first, little with the second.
MISTAKES = {
    SOFTMAX: {"wrong": "dim_ignored", "nearly": "clamped_above"},
    CONTEXT: {"wrong": "plain_average", "nearly": "contexts_in_float32"},
}
DEADLINE = {
    SOFTMAX: datetime(2026, 11, 6, 12, tzinfo=timezone.utc),
    CONTEXT: datetime(2026, 11, 13, 12, tzinfo=timezone.utc),
}
LEAVER, JOINER, EXTENDED = 5, 300, 34
NUMBERS = list(range(200)) if THOROUGH else [*range(120), *range(190, 200)]  # some of each fate
# Student 17 comes late, which an override of the whole assignment does not ask for.
OVERRIDES = {(10, CONTEXT): 1.0, (11, CONTEXT): 0.0, (12, CONTEXT): 7.0, (13, CONTEXT): 3.5, (17, SOFTMAX): 2.25}
WEIGHT = {SOFTMAX: 1, CONTEXT: 2}
PERCENT, CAP = 10, 30  # of the points, for each begun day


@dataclass(frozen=True)
class Try:
    """One hand-in. text: "right", "wrong" or "nearly"."""

    text: str
    time: datetime


def source(folder: str, text: str) -> str:
    """What is handed in."""
    if text == "right":
        return paths.solution(folder).read_text("utf-8")
    return mistakes.find(folder, MISTAKES[folder][text]).source


def worth(folder: str, text: str, broken: str = "") -> float:
    """The points of a text. broken: the id of a check that nobody passes."""
    return sum(points for check, points in of_checks(folder, text).items() if check != broken)


@functools.cache
def of_checks(folder: str, text: str) -> dict[str, float]:
    """The points of each check on a text, as the judge gives them; a promise may give a part of its points."""
    exercise = catalog.find(folder)
    if text == "right":
        return exercise.points
    with ForkServer() as fork_server:
        result = grading.result(exercise, Submission(source(folder, text), "x.py"), fork_server, Settings(seed=1))
    return {check.id: check.points for check in result.checks}


def tries(number: int, folder: str, week: int) -> list[Try]:
    """What a student has handed in by the end of a week, in order. The leaver leaves in week two, the joiner joins."""
    due, found = DEADLINE[folder], []
    if folder == SOFTMAX:
        wrong = number % 3 == 0 and number != JOINER
        if number < 180:
            hours = 1 + number // 17 % 5 * 20 if number % 17 == 0 else -5
            found.append((1, Try("wrong" if wrong else "right", due + timedelta(hours=hours))))
        if number == JOINER or (found and wrong and number % 2 == 0):
            found.append((2, Try("right", due + timedelta(days=7 if number != JOINER else 1))))
    else:
        hours = 2 if number % 19 == 0 else -5
        found.append((2, Try("wrong" if number % 5 == 0 else "right", due + timedelta(hours=hours))))
        if number % 5 == 0 and number % 2 == 1:
            found.append((3, Try("nearly", due + timedelta(days=1, hours=1))))
    return [one for since, one in found if since <= week and not (number == LEAVER and week > 1)]


def days_late(number: int, folder: str, one: Try) -> int:
    """Begun days after the deadline; one student has until the end of the month for the first assignment."""
    if number == EXTENDED and folder == SOFTMAX:
        return 0
    return max(0, math.ceil((one.time - DEADLINE[folder]) / timedelta(days=1)))


def deducted(points: float, days: int) -> float:
    """What is left of the points."""
    return round(points * (100 - min(CAP, PERCENT * days)) / 100, 6)


def expected(
    number: int,
    folder: str,
    week: int,
    pick: Callable[[list[float]], float] = max,
    broken: str = "",
    days: Callable[[int, str, Try], int] = days_late,
) -> float | None:
    """The points after a week; None where there are none.

    pick: the attempt that counts, of the points of all in order; days: how late one is as far as the platform tells.
    """
    if week >= 3 and (number, folder) in OVERRIDES:
        return OVERRIDES[number, folder]
    tried = tries(number, folder, week)
    found = [deducted(worth(folder, one.text, broken), days(number, folder, one)) for one in tried]
    return pick(found) if found else None


def last(points: list[float]) -> float:
    """The latest attempt."""
    return points[-1]


def rules(id_of: Callable[[int], str], more: str = "") -> str:
    """course.toml. more: further keys of the top."""
    return f"""\
{more}
[late]
percent = {PERCENT}
cap = {CAP}
[deadlines]
"02" = 2026-11-06T12:00:00
"03" = 2026-11-13T12:00:00
[extensions]
"{id_of(EXTENDED)}" = {{ "02" = 2026-11-30 }}
[weights]
"03" = {WEIGHT[CONTEXT]}
"""


def overrides(id_of: Callable[[int], str]) -> str:
    """overrides.csv."""
    lines = [f"{id_of(number)},{folder},{given},seen in person,me" for (number, folder), given in OVERRIDES.items()]
    return "\n".join(["student,exercise,points,reason,who", *lines]) + "\n"


def table(path: Path, key: str = "student") -> dict[str, dict[str, str]]:
    """The rows of a CSV file, by one of its columns."""
    return {row[key]: row for row in csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline=""))}


def shown(points: float | None) -> str:
    """A cell of a CSV file."""
    return "" if points is None else f"{points:g}"


@contextlib.contextmanager
def other_checkout(root: Path) -> Iterator[None]:
    """A copy of the checkout, from which this process grades: what is edited there, is judged by."""
    copy(root, "exercises", "solutions", "grader")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("GRADER", "CHECKS", "EXERCISES", "SOLUTIONS", "ROOT"):
            patch.setattr(paths, name, root / getattr(paths, name).relative_to(paths.ROOT))
        _forget_versions()
        yield
    _forget_versions()


def break_a_check(root: Path) -> str:
    """Edit a check of the first assignment so that nobody passes it. Returns its id."""
    path = root / "grader/checks" / SOFTMAX / "test_softmax_naive.py"
    text = path.read_text("utf-8")
    right = "expect(learner.softmax_naive(torch.tensor([1000.0, 900.0])), torch.full((2,), torch.nan))"
    assert text.count(right) == 1
    path.write_text(text.replace(right, right.replace("torch.nan", "0.5")), "utf-8")
    return "naive_overflows"


def _forget_versions() -> None:
    ledger.version_of_grader.cache_clear()
    ledger.version_of_exercise.cache_clear()
