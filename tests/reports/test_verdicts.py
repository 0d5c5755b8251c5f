"""Whole verdicts as a terminal of eighty columns shows them: verdicts.txt, to be read and judged by a person.

`VERDICTS=write pytest tests/reports/test_verdicts.py` writes the file again.
"""

import os
import re
from pathlib import Path

import pytest
from extras import skip_unless_here
from thorough import nightly

from grader import catalog
from grader.catalog import paths, stubs
from grader.cli.learn import next_step
from grader.judge import grading
from grader.records.results import Settings
from grader.records.submission import Submission
from grader.reports import terminal

pytestmark = pytest.mark.slow

WIDTH, MOST_LINES = 80, 24
FILE = Path(__file__).with_name("verdicts.txt")
IN_README = re.compile(r"(?<=<!-- verdict -->\n```text\n).*?(?=\n```\n<!-- /verdict -->)", re.S)
# title, exercise, changes of the solution (of the stub where the title says so)
CASES: list[tuple[str, str, list[tuple[str, str]]]] = [
    ("Passed", "03", []),
    ("Not started (the stub)", "03", []),
    ("Begun (the stub)", "03", [("raise NotImplementedError", "return torch.softmax(inputs @ inputs.T, dim=-1)")]),
    ("One cause", "03", [("dim=-1", "dim=0")]),
    ("One cause, in a class", "11", [("keys.shape[-1] ** 0.5", "keys.shape[-1]")]),
    ("Two causes", "00", [("dim=1", "dim=0"), ("a @ b.T", "a * b")]),
    (
        "Four causes, of which three are shown in full",
        "00",
        [("dim=1", "dim=0"), ("a @ b.T", "a * b"), ("dtype=x.dtype, ", ""), (".mean().detach()", ".mean()")],
    ),
    ("No cause is known", "01", [("inputs @ query", "(inputs @ query).cumsum(0)")]),
    ("Some entries of a matrix", "10", [("dtype=torch.bool).tril()", "dtype=torch.bool).tril(-1)")]),
    ("A part of a result", "27", [("(sums, normalizer)\n", "(sums * 2, normalizer)\n")]),
    ("A wrong shape", "03", [("attention_weights(inputs) @ inputs", "attention_weights(inputs)[0] @ inputs")]),
    ("An exception", "03", [("inputs @ inputs.T", "inputs @ inputs")]),
    ("A mistyped name", "01", [("inputs @ inputs.T", "inptus @ inputs.T")]),
    ("Error at load", "03", [("inputs @ inputs.T", "inputs @ inputs.T)")]),
    ("A line that fails at load", "03", [("import torch\n", "import torch\nimport pandas\n")]),
    ("Too slow", "03", [("    return torch.softmax(", "    while True:\n        pass\n    return torch.softmax(")]),
    ("Too much memory", "03", [("inputs @ inputs.T", "inputs @ inputs.T + torch.zeros(10**12)[0]")]),
    ("A forbidden call", "02", [("torch.exp(x)", "torch.softmax(x, dim=0)")]),
    ("A gradient that is cut", "03", [("inputs @ inputs.T", "inputs @ inputs.T.detach()")]),
    ("A notebook", "06", [("keys.shape[-1] ** 0.5", "keys.shape[-1]")]),
    ("A kernel", "32", [("x - tl.max(x, axis=0)", "x")]),
]
BY_DAY = [pytest.param(*case, marks=nightly) if case[0] == "A kernel" else case for case in CASES]  # it is interpreted


def verdict(title: str, number: str, changes: list[tuple[str, str]], fork_server) -> str:
    """What the terminal shows, with what is to be typed next."""
    exercise = catalog.find(number)
    is_stub = title.endswith("(the stub)")
    source = stubs.original(exercise.folder) if is_stub else paths.solution(exercise.folder).read_text("utf-8")
    for old, new in changes:
        source = source.replace(old, new, 1)
    shown = paths.shown(paths.stub(exercise.folder))
    if title == "A notebook":
        source, shown = f"# --- cell 7 ---\n{source}", "your notebook"
    result = grading.result(exercise, Submission(source, shown), fork_server, Settings(seed=7, where=True))
    closing = next_step(result)
    return terminal.as_text(terminal.render(result, WIDTH, closing=closing))


@pytest.mark.parametrize("title, number, changes", BY_DAY, ids=lambda value: value if isinstance(value, str) else "")
def test_a_verdict_reads_as_it_did(title, number, changes, fork_server, patient, history):
    skip_unless_here(catalog.find(number))
    text = verdict(title, number, changes, fork_server)
    assert all(len(line) <= WIDTH or "not written yet: " in line for line in text.splitlines()), text
    assert text.count(".py:") > 1 or len(text.splitlines()) <= MOST_LINES, text
    kept = {} if not FILE.exists() else read()
    if os.environ.get("VERDICTS") == "write":
        kept[title] = text
        titles = [case[0] for case in CASES]
        parts = [f"# {one}\n\n{kept[one].strip()}\n" for one in titles if one in kept]
        FILE.write_text("\n\n".join(parts), "utf-8")
    assert text.strip() == kept[title].strip()


def test_the_readme_shows_a_verdict_as_it_is():
    page, shown = paths.at_root("README.md"), read()["One cause"].strip()
    text = page.read_text("utf-8")
    if os.environ.get("VERDICTS") == "write":
        text = IN_README.sub(lambda _: shown, text)
        page.write_text(text, "utf-8")
    assert IN_README.findall(text) == [shown]


def read() -> dict[str, str]:
    parts = re.split(r"(?m)^# (.*)\n", FILE.read_text("utf-8"))
    return dict(zip(parts[1::2], parts[2::2]))
