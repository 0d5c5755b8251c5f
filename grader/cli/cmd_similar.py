"""List pairs of submissions that agree more than chance and beyond the stub, for a person to judge."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader import catalog
from grader.catalog import errors
from grader.classroom.handins import Student
from grader.classroom.intake import tally
from grader.classroom.intake.finder import find
from grader.cli import processes
from grader.records.sanitize import label

if TYPE_CHECKING:
    from grader.classroom.similar import Pair

MOST, MOST_ENTRIES = 200, 10  # pairs that are printed (JSON has all); entries that need a person


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("submissions", metavar="SUBMISSIONS", type=Path, help="a folder or archive, as for grade")
    parser.add_argument("exercises", metavar="EX", nargs="?", help="3, or 3,7, or all; default: all")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--anonymous", metavar="KEY", type=Path, help="pseudonyms; this file says whose each is")
    parser.add_argument("--jobs", type=processes.number, help="processes that read; default: one a core")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    from grader.classroom.similar import pairs

    submissions = find(options.submissions, catalog.find_all(options.exercises))
    print(tally.sum_of(submissions.count, "to compare"), file=sys.stderr)
    students, files = len(submissions.students), len(submissions.handins)
    print(f"{students} students, {files} files: {submissions.layout}", file=sys.stderr)
    for line in tally.lines(submissions.needs_person, MOST_ENTRIES):
        print(label(line), file=sys.stderr)
    agreeing = pairs(submissions.handins, options.jobs or processes.cores())
    if options.anonymous is not None:
        from grader.classroom import outputs, pseudonyms

        agreeing = outputs.anonymous(agreeing, pseudonyms.of(options.anonymous, submissions.students))
    sys.stdout.write(as_json(agreeing) if options.format == "json" else text(agreeing))
    return errors.PASSED


def text(listed: Sequence[Pair]) -> str:
    """Each pair with the lines in which it agrees, for a terminal."""
    if not listed:
        return "No two submissions agree more than chance would have it.\n"
    lines, last = [], None
    for pair in listed[:MOST]:
        both = (pair.student_a, pair.student_b)
        if both != last:
            lines.append(f"{named(pair.student_a)} and {named(pair.student_b)}: weight {pair.total:g}")
            last = both
        lines.append(f"  {pair.exercise}: {pair.score:.0%} of what is the smaller one's own, weight {pair.weight:g}")
        lines += [f"    {piece}" for piece in pair.evidence]
    if len(listed) > MOST:
        lines.append(f"… and {len(listed) - MOST} more: --format json gives all")
    lines.append("Two people may well have the same thought: look at both before you say anything.")
    return "\n".join(lines) + "\n"


def named(student: Student) -> str:
    """The student's name and id, once where they are the same."""
    return f"{student.name} ({student.id})" if student.name not in ("", student.id) else student.id


def as_json(listed: Sequence[Pair]) -> str:
    """The pairs as JSON, schema 1."""
    rows = [
        {
            "students": [pair.student_a.id, pair.student_b.id],
            "exercise": pair.exercise,
            "score": round(pair.score, 3),
            "weight": pair.weight,
            "total": pair.total,
            "evidence": [{"a": [e.a.first, e.a.last], "b": [e.b.first, e.b.last]} for e in pair.evidence],
        }
        for pair in listed
    ]
    return json.dumps({"schema": 1, "pairs": rows}, indent=2, ensure_ascii=False) + "\n"
