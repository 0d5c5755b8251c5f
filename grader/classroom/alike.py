"""Sources that cannot be told apart by running them: they differ in lines that hold nothing but a comment.

Many students write their name on top. Such files get one verdict, and its line numbers fit each of them.
"""

import ast
import hashlib
import re

from grader import machinery
from grader.submission import Submission
from grader.syntax import parsed

LONE_RETURN = re.compile(r"\r(?!\n)|\f")  # Python begins a line there too, or looks past it
# With any other module a file may read its own source, or tell one run from the next.
BLIND = {"torch", "math", "numpy", "typing", "dataclasses", "collections", "functools", "itertools", "__future__"}


def code(submission: Submission) -> str | None:
    """The same for submissions that are alike; None for one that is judged for itself alone."""
    source = submission.source
    modules = {name.partition(".")[0] for name in machinery.aliases(source).values()}
    tree = parsed(source)
    if tree is None or LONE_RETURN.search(source) or machinery.notes(source) or not modules <= BLIND:
        return None
    lines, inside = source.split("\n"), _within_text(tree)
    for number, line in enumerate(lines):
        if line.lstrip()[:1] == "#" and number not in inside:
            lines[number] = ""
    text = "\n".join(lines).rstrip()
    return hashlib.sha256(repr((text, submission.filename, submission.notes)).encode()).hexdigest()


def _within_text(tree: ast.Module) -> set[int]:
    """The lines, from 0, that begin within a string: what looks like a comment there is none."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            found.update(range(node.lineno, node.end_lineno))
    return found
