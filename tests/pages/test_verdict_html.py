"""A verdict as HTML: what each level of feedback says, and what is read once."""

from dataclasses import replace

import pytest
from made_up_class import result_of

from grader import catalog
from grader.records.evidence import CodeLine, Evidence, Finding, Place
from grader.records.results import FAILED, PASSED, CheckResult, ExerciseResult
from grader.reports import html


def test_what_checks_have_in_common_is_read_once():
    result = result_of(catalog.find("03").folder, 0.0)
    one, two, three, *_ = (
        replace(check, outcome=FAILED, message="TypeError: no\nline 16", diagnosis="A column is taken.")
        for check in result.checks
    )
    three = replace(three, message="another one", diagnosis="A row is taken.")
    passed = [replace(check, outcome=PASSED, message="", diagnosis="") for check in result.checks[3:5]]
    text = html.verdict(replace(result, checks=(one, two, three, *passed)), "full")
    assert text.count("line 16") == text.count("A column is taken.") == 1
    assert "another one" in text and "A row is taken." in text


EVIDENCE = Evidence("f(x)", note="the message <b>")
FOUND = Finding(Place("x.py", 7), (CodeLine(7, "the line"),), EVIDENCE)
CHECKS = (
    CheckResult("right", "Right & good.", "passed", 1, 1),
    CheckResult("wrong", "Wrong.", "failed", 0, 2, "the message <b>", "the diagnosis", lines=(7,), finding=FOUND),
    CheckResult("later", "Later.", "not_checked", 0, 1, "not checked: first fix “Wrong.”"),
)
RESULT = ExerciseResult("03_x", "Title", "a<b>.py", "cpu", 7, "failed", 0.1, CHECKS, output="<i>printed</i>")


@pytest.mark.parametrize(
    ("level", "told"),
    [
        ("full", {"the message", "the diagnosis", "Wrong.", "printed", "1 of 4 points"}),
        ("names", {"Wrong.", "1 of 4 points"}),
    ],
)
def test_a_level_tells_so_much_and_no_more(level, told):
    text = html.verdict(RESULT, level)
    everything = {"the line", "the message", "the diagnosis", "Wrong.", "printed", "1 of 4 points"}
    assert {word for word in everything if word in text} == told
    assert "<b>" not in text and "<i>" not in text
