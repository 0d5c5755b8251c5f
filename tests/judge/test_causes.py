"""What fails for one reason is told as one: records/causes.py and the forms that show it."""

import json
from dataclasses import replace

import pytest

from grader.classroom import feedback
from grader.records.causes import causes, waiting
from grader.records.evidence import CodeLine, Evidence, Finding, Place
from grader.records.results import AND, FIX_FIRST, OR, CheckResult, ExerciseResult
from grader.reports import ci, terminal
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


def test_one_diagnosis_is_one_cause_with_the_example_that_is_easiest_to_read():
    (cause,) = causes(result(*NINE))
    assert cause.example.id == "fresh_2" and cause.checks == (*NINE,)  # the smallest
    shown = failed("documented", message=WRONG.format("60, 30"), diagnosis=SCALE)
    assert causes(result(*NINE, shown))[0].example is shown
    special = failed("large_values", message=WRONG.format("1, 3"), diagnosis=SCALE, hidden=True)
    assert causes(result(special, *NINE))[0].example.id == "fresh_2"  # plain values, though the input is larger
    heads = "the heads differ\ncalled   f(tensor (9, 3))"
    first = failed("dropout_on_the_weights", message=heads, diagnosis=SCALE, hidden=True)
    assert causes(result(first, replace(special, id="wrapper_dropout")))[0].example is first


def test_what_waits_for_a_function_belongs_to_its_cause():
    uses = failed("fresh_f", message=WRONG.format("9, 3"), diagnosis=f"f uses g{FIX_FIRST}g first.", task=2)
    used = failed("fresh_g", message=WRONG.format("2, 3"), task=1)
    (cause,) = found = causes(result(uses, used))
    assert cause.example is used and cause.diagnosis is None and cause.checks == (uses, used)
    assert waiting(result(uses, used), found) == "Task 2 waits for this."
    assert [cause.diagnosis for cause in causes(result(uses))] == [uses.diagnosis]


HEAD = Place("x.py", 1, 1, function="f")


def raised(line: int, says: str) -> dict:
    return {"message": f"{says}\nx.py:{line} in f", "finding": Finding(Place("x.py", line, line, 5, 9, "f"), says=says)}


def hung(how: str) -> dict:
    says = f"This looks like an infinite loop: f {how}"
    return {"message": says, "finding": Finding(HEAD, says=f"{says}.")}


@pytest.mark.parametrize(
    "one, other, alike",
    [
        ({"diagnosis": "a"}, {"diagnosis": "b"}, False),
        ({"diagnosis": "a", "lines": (3,)}, {"diagnosis": "b", "lines": (3,)}, True),
        ({"diagnosis": "a", "lines": (3, 4)}, {"diagnosis": "b", "lines": (3, 4)}, False),
        ({"diagnosis": "a", "lines": (3, 4)}, {"lines": (3, 4)}, True),
        ({"diagnosis": "a"}, {"message": "x"}, False),
        ({"lines": (3,)}, {"lines": (4,)}, False),
        (raised(3, "TypeError: 1"), raised(3, "ValueError: 1"), True),
        (raised(3, "TypeError: 1"), raised(4, "TypeError: 1"), False),
        (hung("so it was stopped"), hung("was not called again"), True),
        (hung("so it was stopped"), {"message": "the result is wrong", "finding": Finding(HEAD)}, False),
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


FOUND = Finding(
    Place("x.py", 34, 34, 12, 17, "f"),
    (CodeLine(33, "a = 1"), CodeLine(34, "return g(a, dim=0)", 12, 17)),
    Evidence("f(x)[1]", "with x (9, 3)", "", (("1.0", "2.0"),), (("1.0", "-2.5"),), ((0, 1),)),
)


def test_what_is_said_is_the_sentences_or_the_promise_that_is_not_kept():
    for join, said in ((AND, f"{SCALE}\nAlso: b"), (OR, f"{SCALE}\nOr: b")):
        assert said in terminal.plain(result(failed("a", diagnosis=f"{SCALE}{join}b", finding=FOUND)))
    assert f"Probably: {SCALE}" in terminal.plain(result(replace(NINE[0], finding=replace(FOUND, tried=False))))
    shown = terminal.plain(result(replace(NINE[0], diagnosis=None, finding=replace(FOUND, kind="this argument"))))
    assert "Not yet true: fresh_4 is right.\n" in shown and "^^^^^ this argument\n" in shown


@pytest.mark.parametrize(
    "note, sentence",
    [
        ("in training it is wrong", "In training it is wrong."),  # a part of linear_step is no name
        ("NaN at the end.", "NaN at the end."),
        ("x[..., 0] is missing", "x[..., 0] is missing."),
        ("scores is missing", "scores is missing."),
    ],
)
def test_a_fault_besides_the_values_is_a_sentence(note, sentence):
    check = replace(failed("f"), finding=Finding(evidence=Evidence("linear_step(scores)", note=note)))
    (cause,) = causes(result(check))
    assert cause.sentences == (sentence,) and cause.evidence.note == f"promise: {check.title}"


@pytest.mark.parametrize("width", [60, 80, 160])
def test_no_line_is_wider_than_the_terminal(width):
    wide = replace(FOUND.evidence, expected=(("0.1234",) * 30,), got=(("0.4321",) * 30,), wrong=((0, 29),))
    long = replace(FOUND, evidence=wide, frame=(CodeLine(1, "x = " + "y + " * 50, 4, 150),), says="word " * 60)
    shown = terminal.plain(result(failed("a", finding=long)), width=width)
    assert max(map(len, shown.splitlines())) <= width


def test_json_holds_the_causes_and_reads_them_back():
    other = failed("other", message="no", lines=(3,), where="Look at line 3.", finding=FOUND)
    shown = result(*NINE, other)
    record = as_json.record(shown)
    assert [check["cause"] for check in record["checks"]] == [1, 1, 1, 1, 2]
    assert [cause["checks"] for cause in record["causes"]] == [[check.id for check in NINE], ["other"]]
    read = as_json.read(json.loads(json.dumps(record)))
    assert read == shown and causes(read)[1].finding == FOUND
    assert as_json.record(read) == record


LOCATED = result(*(replace(check, lines=(34,), finding=FOUND) for check in NINE))


def test_what_a_student_gets_as_json_holds_no_line():
    record = as_json.record(LOCATED)
    full, names = feedback.limit(record, "full"), feedback.limit(record, "names")
    assert "dim=0" not in json.dumps(full) and "34" not in json.dumps(full["causes"]) and SCALE in json.dumps(full)
    assert names["causes"] == [] and SCALE not in json.dumps(names)


def test_an_annotation_points_at_the_columns_that_were_found():
    (line,) = [line for line in ci.annotations(LOCATED).splitlines() if line.startswith("::")]
    assert "file=x.py,line=34,col=12,endColumn=17," in line and "(and 3 more)" in line and SCALE in line
