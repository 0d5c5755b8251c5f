"""What learners really write, and what they read then: learner_mistakes.toml, one row for each mistake.

A row: its exercise; the file, which is the solution with a `change` (pairs of old and new text), with other `bodies`,
by the function's name, or with functions that are `unwritten`, as in the stub. What is a known mistake of the exercise
needs no row: `make verify` holds its sentence. Of the verdict as a terminal shows it,
in brief and with every check: `says` and `never` hold words that must and must not be there, `once` words that are
there exactly once in brief, `first` words of the first cause; `line` is a part of the line that is named.
"""

import ast
import re

import pytest
from sources import UNWRITTEN, rows, written
from thorough import THOROUGH, sample

from grader.judge.where import search
from grader.records.causes import causes
from grader.reports import terminal

WORK = 20_000  # more than a learner's desk takes


@pytest.mark.parametrize("row", sample(rows("learner_mistakes.toml"), 10), ids=lambda row: row["what"])
def test_what_a_learner_reads(row, judged, patient, monkeypatch):
    monkeypatch.setattr(search, "WORK", WORK)
    source = written(row)
    where = THOROUGH or "line" in row or "line" in " ".join(row.get("never", ()))  # a search takes seconds
    result = judged(row["exercise"], source, name="x.py", seed=3, where=where)
    text, every = terminal.plain(result), terminal.plain(result, every=True)
    words = flat(text)
    for said in row.get("says", ()):
        assert flat(said) in words + flat(every), text
    for said in row.get("never", ()):
        assert flat(said) not in words + flat(every), text
    for said in row.get("once", ()):
        assert words.count(flat(said)) == 1, text
    if "first" in row:
        first = causes(result)[0]
        assert flat(row["first"]) in flat(terminal.as_text(terminal.cause_lines(first))), text
    if "line" in row:
        line = next(number for number, code in enumerate(source.splitlines(), 1) if row["line"] in code)
        assert re.search(rf"(?m)line {line}\b|x\.py:{line}\b|^ +{line} │", text), text
    for number in map(int, re.findall(r"Look at line (\d+)", " ".join(check.where for check in result.checks))):
        assert not says_nothing(source, number), text


def says_nothing(source: str, number: int) -> bool:
    """Whether a line is a part of a docstring, or a body that is not written."""
    tree = ast.parse(source)
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    in_text = any(node.lineno <= number <= (node.end_lineno or 0) for node in texts)
    return in_text or source.splitlines()[number - 1].strip().startswith(UNWRITTEN)


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)
