"""Sources that cannot be told apart by running them: they differ in lines that hold nothing but a comment.

Many students write their name on top. Such files get one verdict, and its line numbers fit each of them.
"""

import hashlib
import io
import tokenize

from grader import machinery
from grader.submission import Submission
from grader.syntax import parsed

# With any other module a file may read its own source, or tell one run from the next.
BLIND = {"torch", "math", "numpy", "typing", "dataclasses", "collections", "functools", "itertools", "__future__"}


def code(submission: Submission) -> str | None:
    """The same for submissions that are alike; None for one that is judged for itself alone."""
    source = submission.source
    modules = {name.partition(".")[0] for name in machinery.aliases(source).values()}
    if parsed(source) is None or machinery.notes(source) or not modules <= BLIND:
        return None
    lines = source.split("\n")
    try:
        for number in _comments(source) if "#" in source else ():
            lines[number - 1] = ""
    except (tokenize.TokenError, SyntaxError):
        return None
    text = "\n".join(lines).rstrip()
    return hashlib.sha256(repr((text, submission.filename, submission.notes)).encode()).hexdigest()


def _comments(source: str) -> list[int]:
    """The numbers of the lines that hold nothing but a comment."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [token.start[0] for token in tokens if token.type == tokenize.COMMENT and token.line.lstrip()[:1] == "#"]
