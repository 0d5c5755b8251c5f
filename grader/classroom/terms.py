"""Sets the same exercises of several terms beside each other: points, checks, misconceptions, and no names.

It reads the results as they were judged: the latest hand-in of each student, before the rules of the course.
"""

import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader import catalog
from grader.catalog.errors import WrongUse
from grader.classroom import analysis
from grader.classroom.analysis import LEAST
from grader.classroom.grades import number
from grader.classroom.store import Store
from grader.classroom.summary import ABSENT, ALL_PASSED, Summary
from grader.records.sanitize import label

WIDTH, MOST_WORDS = 14, 50  # of a column, and of what is before the columns
MOST_LISTED = 8  # checks and misconceptions of one exercise


@dataclass(frozen=True)
class Term:
    """The results of one term. versions: those of each exercise's checks under which its hand-ins were judged."""

    folder: Path
    summary: Summary
    versions: dict[str, frozenset[str]]


@dataclass(frozen=True)
class Share:
    """How often something was seen in each term. counts: on how many files, of how many."""

    id: str
    title: str
    counts: tuple[tuple[int, int], ...]

    @property
    def shares(self) -> list[float | None]:
        """From 0 to 1; None of fewer than LEAST files."""
        return [seen / tried if tried >= LEAST else None for seen, tried in self.counts]

    @property
    def apart(self) -> tuple[float, float]:
        """How far the terms lie apart, and the largest share: the order in which shares are listed."""
        known = [share for share in self.shares if share is not None]
        return (max(known) - min(known), max(known)) if known else (0.0, 0.0)


@dataclass(frozen=True)
class Compared:
    """One exercise in all terms. spreads: None of fewer than LEAST hand-ins; has_changed: its checks did in between."""

    exercise: catalog.Exercise
    handed_in: tuple[int, ...]
    all_passed: tuple[int, ...]
    spreads: tuple[analysis.Spread | None, ...]
    checks: tuple[Share, ...]
    misconceptions: tuple[Share, ...]
    has_changed: bool


def read(folder: Path, chosen: Collection[str]) -> Term:
    """The results of a term. chosen: the exercises that count. Raises WrongUse where there are none to be read."""
    store = Store.existing(folder)
    try:
        known = {exercise.folder for exercise in catalog.exercises()}
        exercises = [exercise for exercise in store.exercises() if exercise in known and exercise in chosen]
        summary = Summary(exercises)
        for student, results in store.students():
            summary.add(student, [result for result in results if result.exercise in exercises])
        return Term(folder, summary, store.versions_of())
    except (KeyError, TypeError, ValueError) as error:
        raise WrongUse(f"{label(str(folder))} holds results of a release that cannot be read here: {error}") from None
    finally:
        store.close()


def compare(terms: Sequence[Term]) -> list[Compared]:
    """The exercises that at least two terms have."""
    count: dict[str, int] = defaultdict(int)
    for term in terms:
        for exercise in term.summary.exercises:
            count[exercise.folder] += 1
    return [_compare(folder, terms) for folder in sorted(count) if count[folder] > 1]


def _compare(folder: str, terms: Sequence[Term]) -> Compared:
    parts = [term.summary.only([e.folder for e in term.summary.exercises if e.folder == folder]) for term in terms]
    points = [[row.points[0] for row in part.rows if row.points and row.points[0] is not None] for part in parts]
    states = [[row.states for row in part.rows if row.states not in ("", ABSENT)] for part in parts]
    tried = [sum(bool(row.outcomes and row.outcomes[0]) for row in part.rows) for part in parts]
    checks: dict[str, dict[int, analysis.Difficulty]] = defaultdict(dict)
    shown: dict[str, dict[int, int]] = defaultdict(dict)
    titles: dict[str, str] = {}
    for place, part in enumerate(parts):
        names = [name for exercise in part.exercises for name in exercise.points]
        for name, check in zip(names, analysis.checks(part)):
            checks[name][place] = check
            titles[name] = check.title
        for lesson in analysis.to_teach(part):
            shown[lesson.misconception.id][place] = len(lesson.students)
            titles[lesson.misconception.id] = lesson.misconception.title
    failed = [
        Share(name, titles[name], tuple((o[i].failed, o[i].tried) if i in o else (0, 0) for i in range(len(terms))))
        for name, o in checks.items()
    ]
    misunderstood = [
        Share(id, titles[id], tuple((o.get(i, 0), tried[i]) for i in range(len(terms)))) for id, o in shown.items()
    ]
    versions = {term.versions.get(folder) for term in terms} - {None}
    return Compared(
        catalog.find(folder),
        tuple(map(len, states)),
        tuple(of_term.count(ALL_PASSED) for of_term in states),
        tuple(analysis.spread(one) if len(one) >= LEAST else None for one in points),
        tuple(sorted(failed, key=lambda one: one.apart, reverse=True)),
        tuple(sorted(misunderstood, key=lambda one: one.apart, reverse=True)),
        len(versions) > 1,
    )


def lines(terms: Sequence[Term], compared: Sequence[Compared]) -> Iterator[str]:
    """The comparison for a terminal."""
    for place, term in enumerate(terms, 1):
        yield f"Term {place}: {label(str(term.folder))}, {len(term.summary.rows):,} students"
    if not compared:
        yield "No two of these terms have an exercise in common."
    for one in compared:
        spreads = one.spreads
        yield ""
        yield _line(f"{one.exercise.folder[:2]} {one.exercise.title}", [f"term {i + 1}" for i in range(len(terms))])
        if one.has_changed:
            yield "  Its checks or its grader changed in between: look at the differences with care."
        yield _line("  handed in", [f"{count:,}" for count in one.handed_in])
        passed = Share("", "", tuple(zip(one.all_passed, one.handed_in)))
        yield _line("  passed all checks", _percent(passed))
        most = number(one.exercise.max_points)
        yield _line(f"  mean, of {most} points", [f"{s.mean:.2f}" if s else "–" for s in spreads])
        yield _line("  standard deviation", [f"{s.deviation:.2f}" if s else "–" for s in spreads])
        yield _line(
            "  lower quartile, median, upper",
            [" ".join(number(round(x, 2)) for x in (s.lower, s.median, s.upper)) if s else "–" for s in spreads],
        )
        for heading, shares in (("failed, where tried", one.checks), ("misunderstood", one.misconceptions)):
            seen = [share for share in shares if any(share.shares)]
            if seen:
                yield f"  {heading}:"
            for share in seen[:MOST_LISTED]:
                yield _line(f"    {share.title}", _percent(share))
            if len(seen) > MOST_LISTED:
                yield f"    … and {len(seen) - MOST_LISTED} more: FORMAT=json has all"
    yield ""
    yield f"–: fewer than {LEAST} hand-ins, which allow no conclusion. The largest differences come first."


def plain(terms: Sequence[Term], compared: Sequence[Compared]) -> dict[str, Any]:
    """The comparison as plain data, schema 1."""
    return {
        "schema": 1,
        "terms": [{"folder": str(term.folder), "students": len(term.summary.rows)} for term in terms],
        "exercises": [
            {
                "exercise": one.exercise.folder,
                "max_points": one.exercise.max_points,
                "changed": one.has_changed,
                "handed_in": one.handed_in,
                "all_passed": one.all_passed,
                "points": [spread and vars(spread) for spread in one.spreads],
                "checks": [_plain(share) for share in one.checks],
                "misconceptions": [_plain(share) for share in one.misconceptions],
            }
            for one in compared
        ],
    }


def _plain(share: Share) -> dict[str, Any]:
    return {"id": share.id, "title": share.title, "counts": share.counts}


def _percent(share: Share) -> list[str]:
    return ["–" if one is None else f"{100 * one:.0f} %" for one in share.shares]


def _line(words: str, values: Sequence[str]) -> str:
    indent = " " * (len(words) - len(words.lstrip()))
    *first, last = textwrap.wrap(words.strip(), MOST_WORDS - 2, initial_indent=indent, subsequent_indent=indent + "  ")
    return "\n".join([*first, f"{last:{MOST_WORDS}}"]) + "".join(f"{value:>{WIDTH}}" for value in values)
