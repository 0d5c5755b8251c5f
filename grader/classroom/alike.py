"""Finds sources that must behave alike, because they differ only in lines that hold nothing but a comment.

Many students write their name at the top. Such files share one verdict, and its line numbers are right for each.
"""

import ast
import hashlib
import re

from grader.catalog.errors import BadSubmission
from grader.records import introspection
from grader.records.limited import limited
from grader.records.submission import Submission
from grader.records.syntax import parsed

LONE_RETURN = re.compile(r"\r(?!\n)|\f")  # Python starts a new line here, or ignores the character
# Modules with which a file can neither read its own source nor distinguish one run from the next.
BLIND = {"torch", "math", "numpy", "typing", "dataclasses", "collections", "functools", "itertools", "__future__"}


def code(submission: Submission) -> str | None:
    """A digest that is equal for submissions that are alike; None for one that must be graded on its own."""
    try:
        text = _text(submission.source)
    except BadSubmission:
        return None
    facts = (text, submission.filename, submission.notes)
    return None if text is None else hashlib.sha256(repr(facts).encode()).hexdigest()


@limited
def _text(source: str) -> str | None:
    """The source without the lines that hold nothing but a comment; None as `code`."""
    modules = {name.partition(".")[0] for name in introspection.aliases(source).values()}
    tree = parsed(source)
    if tree is None or LONE_RETURN.search(source) or introspection.notes(source) or not modules <= BLIND:
        return None
    lines, in_strings = source.split("\n"), _lines_in_strings(tree)
    for number, line in enumerate(lines):
        if line.lstrip()[:1] == "#" and number not in in_strings:
            lines[number] = ""
    return "\n".join(lines).rstrip()


def _lines_in_strings(tree: ast.Module) -> set[int]:
    """The lines, counted from 0, that begin within a string, where a # does not begin a comment."""
    numbers: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            numbers.update(range(node.lineno, node.end_lineno))
    return numbers
