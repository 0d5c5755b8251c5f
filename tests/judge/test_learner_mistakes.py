"""What learners really write, and what they read then: learner_mistakes.toml, one row for each mistake.

A row: the exercise; the file, which is the solution with a `change` (pairs of old and new text), with other `bodies`,
by the function's name, or with functions that are `unwritten`, as in the stub. Of the verdict as a terminal shows it,
in brief and with every check: `says` and `never` hold words that must and must not be there, `once` words that are
there exactly once in brief, `first` words of the first cause; `line` is a part of the line that is named.
"""

import ast
import re
import textwrap
from pathlib import Path

import pytest
from thorough import sample

from grader import catalog
from grader.catalog import paths
from grader.catalog.project import read_toml
from grader.judge.where import search
from grader.records.causes import causes
from grader.reports import terminal

ROWS = read_toml(Path(__file__).with_suffix("").with_name("learner_mistakes.toml"))["mistake"]
WORK = 20_000  # more than a learner's desk takes
UNWRITTEN = "raise NotImplementedError"


@pytest.mark.parametrize("row", sample(ROWS, 8), ids=lambda row: row["what"])
def test_what_a_learner_reads(row, judged, patient, monkeypatch):
    monkeypatch.setattr(search, "WORK", WORK)
    source = written(row)
    result = judged(row["exercise"], source, name="x.py", seed=3, where=True)
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


def written(row: dict) -> str:
    source = paths.solution(catalog.find(row["exercise"]).folder).read_text("utf-8")
    for old, new in row.get("change", ()):
        assert old in source, old
        source = source.replace(old, new, 1)
    bodies = row.get("bodies", {}) | dict.fromkeys(row.get("unwritten", ()), UNWRITTEN)
    return source if not bodies else with_bodies(source, {name: body.strip("\n") for name, body in bodies.items()})


def with_bodies(source: str, bodies: dict[str, str]) -> str:
    """The source in which these functions and methods ("C.f") have other bodies, below their docstrings."""
    tree, lines = ast.parse(source), source.splitlines()
    found = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for owner in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        found |= {f"{owner.name}.{node.name}": node for node in owner.body if isinstance(node, ast.FunctionDef)}
    for name, node in sorted(found.items(), key=lambda pair: -pair[1].lineno):
        if name in bodies:
            first = node.body[0].end_lineno if ast.get_docstring(node) else node.body[0].lineno - 1
            indent = " " * node.body[0].col_offset
            lines[first : node.end_lineno] = textwrap.indent(bodies[name], indent).splitlines()
    assert bodies.keys() <= found.keys(), bodies
    return "\n".join(lines) + "\n"


def says_nothing(source: str, number: int) -> bool:
    """Whether a line is a part of a docstring, or a body that is not written."""
    tree = ast.parse(source)
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    in_text = any(node.lineno <= number <= (node.end_lineno or 0) for node in texts)
    return in_text or source.splitlines()[number - 1].strip().startswith(UNWRITTEN)


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)
