"""Verbs for the instructor of a class, beside `grade`: explain a mark, fill a gradebook."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader import catalog
from grader.catalog import errors
from grader.catalog.errors import WrongUse
from grader.cli.options import COLUMN, OUT, option, verb
from grader.records import safe_files
from grader.records.sanitize import label

MOST_MISSING = 20  # names


@verb(
    "explain",
    option("student", metavar="STUDENT", help="id, full name, or the name of the entry in the download"),
    option("exercise", metavar="EX", nargs="?", help="default: all that the student handed in"),
    OUT,
)
def explain_marks(options: argparse.Namespace) -> int:
    """Explain marks: grade the kept sources again with their seeds, and print every call of every check."""
    exercise = catalog.find(options.exercise) if options.exercise else None
    from grader.classroom import explain  # heavy: torch

    differs = False
    for number, explanation in enumerate(explain.explain(options.out, options.student, exercise)):
        print("\n" * bool(number) + "\n".join(explain.lines(explanation)), flush=True)
        differs |= explanation.differs
    return errors.FAILED if differs else errors.PASSED


@verb(
    "fill",
    option("gradebook", metavar="GRADEBOOK.csv", type=Path, help="Canvas' gradebook, Moodle's worksheet, any CSV"),
    option("marks", metavar="MARKS.csv", nargs="+", type=Path, help="marks.csv of results, or nbgrader's export"),
    option("--output", metavar="FILE", type=Path, help="default: GRADEBOOK-filled.csv"),
    COLUMN,
)
def fill_gradebook(options: argparse.Namespace) -> int:
    """Write a platform's own CSV file with the points in it. Scores that are there stay where we have none.

    Returns exit code 3 if a student with points has no row.
    """
    from grader.classroom import fill

    marks = fill.read_marks(options.marks)
    filled = fill.fill(options.gradebook, marks, dict(options.column))
    output = options.output or options.gradebook.with_name(f"{options.gradebook.stem}-filled.csv")
    try:
        safe_files.write_whole(output, filled.text, mode=0o600)
    except OSError as error:
        raise WrongUse(f"{output} cannot be written: {error.strerror}. Another file: OUTPUT=…") from None
    print(fill.describe(marks))
    print("\n".join(filled.lines))
    for name in filled.missing[:MOST_MISSING]:
        print(f"  no row: {label(name)}")
    if len(filled.missing) > MOST_MISSING:
        print(f"  … and {len(filled.missing) - MOST_MISSING:,} more")
    print(f"To upload: {output}")
    return errors.NOT_DONE if filled.missing else errors.PASSED
