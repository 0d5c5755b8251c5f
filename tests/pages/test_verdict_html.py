"""A verdict as HTML: what each level of feedback says."""

from grader.records.evidence import CodeLine, Evidence, Finding, Place
from grader.records.results import CheckResult, ExerciseResult
from grader.reports import html

FOUND = Finding(Place("x.py", 7), (CodeLine(7, "the line"),), Evidence("f(x)", note="the message <b>"))
CHECKS = (
    CheckResult("right", "Right & good.", "passed", 1, 1),
    CheckResult("wrong", "Wrong.", "failed", 0, 2, "the message <b>", "the diagnosis", lines=(7,), finding=FOUND),
    CheckResult("later", "Later.", "not_checked", 0, 1, "not checked: first fix “Wrong.”"),
)
RESULT = ExerciseResult("03_x", "Title", "a<b>.py", "cpu", 7, "failed", 0.1, CHECKS, output="<i>printed</i>")


def test_a_level_tells_so_much_and_no_more():
    everything = {"the line", "the message", "the diagnosis", "Wrong.", "printed", "1 of 4 points"}
    for level, left_out in (("full", {"the line"}), ("names", everything - {"Wrong.", "1 of 4 points"})):
        text = html.verdict(RESULT, level)
        assert {word for word in everything if word not in text} == left_out
        assert text.count("the message") == text.count("the diagnosis") == (level == "full")  # of a check only once
        assert "<b>" not in text and "<i>" not in text
