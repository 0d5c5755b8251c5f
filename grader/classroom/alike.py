"""Finds submissions that must get the same verdict, so that one of them is graded for all.

Many students write their name at the top: sources that differ only in comment lines share every verdict, since its line
numbers are right for each. Right answers to a small task are often the same code with other names and other words:
sources with the same normal form share the verdict that all checks passed.
"""

import ast
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.catalog.errors import BadSubmission
from grader.records import introspection
from grader.records.forbidden import forbidden_uses
from grader.records.limited import limited
from grader.records.normal_form import normal_form
from grader.records.results import PASSED, ExerciseResult
from grader.records.submission import Submission
from grader.records.syntax import parsed

if TYPE_CHECKING:  # the helper process starts faster without this import
    from grader.catalog import Forbidden

LONE_RETURN = re.compile(r"\r(?!\n)|\f")  # Python starts a new line here, or ignores the character
# Modules with which a file can neither read its own source nor distinguish one run from the next.
BLIND = {"torch", "math", "numpy", "typing", "dataclasses", "collections", "functools", "itertools", "__future__"}


@dataclass(frozen=True)
class Codes:
    """Digests that are equal for submissions that are alike; None where a submission must be graded on its own.

    lines: of the source without comment lines, for every verdict; form: of its normal form, for one that names no line.
    """

    lines: str | None = None
    form: str | None = None


def codes(submission: Submission, rules: Iterable["Forbidden"] = ()) -> Codes:
    """The digests of a submission. rules: of the exercise, which read the source by names that no normal form has."""
    try:
        lines, form = _texts(submission.source)
        if form is not None and any(forbidden_uses(submission.source, rule) for rule in rules):
            form = None
    except BadSubmission:
        return Codes()
    facts = submission.filename, submission.notes
    return Codes(*(text and hashlib.sha256(repr((text, facts)).encode()).hexdigest() for text in (lines, form)))


def names_no_line(submission: Submission, result: ExerciseResult) -> bool:
    """Whether a result is the same for each submission with this normal form: all passed, and nothing else is said."""
    said = result.message or result.output or any(check.message for check in result.checks)
    return result.status == PASSED and result.notes == submission.notes and not said


@limited
def _texts(source: str) -> list[str | None]:
    """The source without the lines that hold nothing but a comment, and a digest of its normal form; None as Codes."""
    modules = {name.partition(".")[0] for name in introspection.aliases(source).values()}
    tree = parsed(source)
    if tree is None or LONE_RETURN.search(source) or introspection.notes(source) or not modules <= BLIND:
        return [None, None]
    lines, in_strings = source.split("\n"), _lines_in_strings(tree)
    for number, line in enumerate(lines):
        if line.lstrip()[:1] == "#" and number not in in_strings:
            lines[number] = ""
    form = normal_form(source)
    return ["\n".join(lines).rstrip(), form and f"form {hashlib.sha256(form.encode()).hexdigest()}"]


def _lines_in_strings(tree: ast.Module) -> set[int]:
    """The lines, counted from 0, that begin within a string, where a # does not begin a comment."""
    numbers: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            numbers.update(range(node.lineno, node.end_lineno))
    return numbers
