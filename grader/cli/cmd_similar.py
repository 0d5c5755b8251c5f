"""List clusters of submissions that agree more than chance and beyond the stub, for a person to judge."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from grader import catalog
from grader.catalog import errors
from grader.classroom.intake import tally
from grader.classroom.intake.finder import find
from grader.cli import processes
from grader.records.sanitize import label

if TYPE_CHECKING:
    from grader.classroom.similar import Pair

MOST, MOST_ENTRIES = 200, 10  # pairs that are printed (JSON has all); entries that need a person
MOST_NAMES = 30  # of a cluster


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
    """The clusters, and below each its pairs with the lines in which they agree, for a terminal."""
    from grader.classroom.similar import clusters

    if not listed:
        return "No two submissions agree more than chance would have it.\n"
    lines: list[str] = []
    shown_count = 0
    for number, cluster in enumerate(clusters(listed), 1):
        names = [student.label for student in cluster.students]
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        lines.append(f"Cluster {number}, {len(names)} students: {', '.join(names[:MOST_NAMES])}{more}")
        for (first, second), pairs in groupby(cluster.pairs, lambda pair: (pair.student_a, pair.student_b)):
            of_both = list(pairs)[: MOST - shown_count]
            shown_count += len(of_both)
            if of_both:
                lines.append(f"  {first.label} and {second.label}: weight {of_both[0].total:g}")
            for pair in of_both:
                share = f"{pair.score:.0%} of what is the smaller one's own"
                lines.append(f"    {pair.exercise}: {share}, weight {pair.weight:g}")
                lines += [f"      {agreement}" for agreement in pair.evidence]
    if len(listed) > shown_count:
        lines.append(f"… and {len(listed) - shown_count} more: --format json gives all")
    lines.append("Two people may well have the same thought: look at both before you say anything.")
    return "\n".join(lines) + "\n"


def as_json(listed: Sequence[Pair]) -> str:
    """The clusters and their pairs as JSON, schema 1."""
    from grader.classroom.similar import clusters

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
    groups = [[student.id for student in cluster.students] for cluster in clusters(listed)]
    return json.dumps({"schema": 1, "clusters": groups, "pairs": rows}, indent=2, ensure_ascii=False) + "\n"
