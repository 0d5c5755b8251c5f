"""What fails for one reason is told as one: records/results.py and the forms that show it."""

import json
from dataclasses import replace

import pytest

from grader.records.results import FIX_FIRST, CheckResult, ExerciseResult, cause_numbers, causes
from grader.reports import ci, html, templating, terminal
from grader.reports import json as as_json


def failed(name: str, **fields) -> CheckResult:
    return CheckResult(name, f"{name} is right.", "failed", 0.0, 1.0, **fields)


def result(*checks: CheckResult) -> ExerciseResult:
    return ExerciseResult("03_context_vectors", "Context vectors", "x.py", "cpu", 7, "failed", 0.1, checks)


SCALE = "The scores are not divided by the root of d_k."
WRONG = "the result is wrong: 9 of 9 values differ\ncalled   f(tensor ({}))\nexpected 1\ngot      2"
NINE = [
    failed(f"fresh_{size}", message=WRONG.format(f"{size}, 3"), diagnosis=SCALE, hidden=True) for size in (4, 2, 6, 5)
]


def test_one_diagnosis_is_one_cause_with_the_smallest_example():
    (cause,) = causes(result(*NINE))
    names = [f"fresh_{size}" for size in (4, 2, 6, 5)]
    assert cause.example.id == "fresh_2" and [check.id for check in cause.checks] == names


def test_an_example_of_a_document_comes_first():
    shown = failed("documented", message=WRONG.format("60, 30"), diagnosis=SCALE)
    assert causes(result(*NINE, shown))[0].example is shown


def test_plain_values_come_before_a_special_check_with_a_smaller_input():
    special = failed("large_values", message=WRONG.format("1, 3"), diagnosis=SCALE, hidden=True)
    assert causes(result(special, *NINE))[0].example.id == "fresh_2"


def test_the_earliest_of_special_checks_is_the_example():
    first = failed("dropout_on_the_weights", message="the heads differ\ncalled   f(tensor (9, 3))", hidden=True)
    other = failed("wrapper_dropout", message=WRONG.format("1, 3"), diagnosis=SCALE, hidden=True)
    assert causes(result(replace(first, diagnosis=SCALE), other))[0].example.id == first.id


def test_what_a_function_uses_is_told_only_where_that_function_is_not_the_example():
    uses = failed("fresh_f", message=WRONG.format("9, 3"), diagnosis=f"f uses g{FIX_FIRST}g first.", lines=(3,))
    used = failed("fresh_g", message=WRONG.format("2, 3"), lines=(3,))
    assert [cause.diagnosis for cause in causes(result(uses, used))] == [None]
    assert [cause.diagnosis for cause in causes(result(uses))] == [uses.diagnosis]


@pytest.mark.parametrize(
    "one, other, alike",
    [
        ({"diagnosis": "a"}, {"diagnosis": "b"}, False),
        ({"diagnosis": "a", "lines": (3,)}, {"diagnosis": "b", "lines": (3,)}, True),
        ({"diagnosis": "a", "lines": (3, 4)}, {"diagnosis": "b", "lines": (3, 4)}, False),
        ({"diagnosis": "a", "lines": (3, 4)}, {"lines": (3, 4)}, True),
        ({"diagnosis": "a"}, {"message": "x"}, False),
        ({"lines": (3,)}, {"lines": (4,)}, False),
        ({"message": "TypeError: 1\nx.py:3 in f\n    y\ncalled f(1)"}, {"message": "TypeError: 2\nx.py:3 in f"}, True),
        ({"message": "TypeError: 1\nx.py:3 in f"}, {"message": "TypeError: 1\nx.py:4 in f"}, False),
        ({"message": "x.py:9 in g\nx.py:3 in f"}, {"message": "x.py:3 in f"}, True),
        ({"message": "the result is wrong"}, {"message": "the result is wrong"}, True),
        ({"message": "the result is wrong"}, {"message": "the shape is wrong"}, False),
    ],
)
def test_what_is_one_cause(one, other, alike):
    found = causes(result(failed("a", **one), failed("b", **other)))
    assert (len(found) == 1) is alike


def test_causes_that_a_third_check_joins_are_one():
    joined = (failed("a", diagnosis="x"), failed("b", diagnosis="y"), failed("c", diagnosis="x", lines=(3,)))
    assert len(causes(result(*joined))) == 2
    assert len(causes(result(joined[0], replace(joined[1], lines=(3,)), joined[2]))) == 1


def test_a_cause_is_told_once_in_a_terminal_and_each_check_with_all():
    shown = result(*NINE, CheckResult("right", "right is right.", "passed", 1.0, 1.0))
    brief, every = terminal.plain(shown), terminal.plain(shown, every=True)
    assert brief.count(SCALE) == 1 and len(brief.splitlines()) <= 12
    assert "3 other checks fail for the same reason" in brief
    assert every.count(SCALE) == 4 and "for the same reason" not in every


def test_json_numbers_the_causes_and_reads_them_back():
    shown = result(*NINE, failed("other", message="no", lines=(3,), where="Look at line 3."))
    record = as_json.record(shown)
    assert [check["cause"] for check in record["checks"]] == [1, 1, 1, 1, 2] == list(cause_numbers(shown).values())
    assert as_json.read(json.loads(json.dumps(record))) == shown


def test_an_annotation_points_at_the_line_that_was_found():
    shown = result(*(replace(check, lines=(34,), where="Look at line 34.") for check in NINE))
    (line,) = [line for line in ci.annotations(shown).splitlines() if line.startswith("::")]
    assert "line=34" in line and "(and 3 more)" in line and "Look at line 34." in line


def test_a_place_is_told_once_in_a_verdict():
    """Two causes may share a line: a check that fails for both mistakes, and one that fails for the second alone."""
    two, four = "Look at line 2, `a`: an operand.", "Look at line 4, `b`: a sign."
    shown = result(
        failed("first", diagnosis="x", lines=(2, 4), where=f"{two}\n{four}"),
        failed("second", diagnosis="y", lines=(4,), where=four),
        failed("third", diagnosis="z", lines=(6,), where="Look at line 6."),
        failed("again", diagnosis="z", lines=(6,), where="Look at line 6."),
    )
    for text, written in ((terminal.plain(shown), str), (str(html.verdict(shown)), templating.code)):
        assert [text.count(written(place)) for place in (two, four, "Look at line 6.")] == [1, 1, 1]
    assert [check["where"] for check in as_json.record(shown)["checks"]] == [check.where for check in shown.checks]


def test_a_line_is_told_once_though_two_kinds_of_change_help_there():
    code = "Look at line 4, `return torch.softmax(x, dim=0)`: {}."
    first = failed("first", diagnosis="x", lines=(4,), where=code.format("a number"))
    second = failed("second", diagnosis="y", lines=(4, 5), where=code.format("the argument dim"))
    assert [cause.where for cause in causes(result(first, second))] == [first.where, ""]
    both = replace(first, where=f"{first.where}\n{second.where}")
    assert causes(result(both))[0].where == first.where
