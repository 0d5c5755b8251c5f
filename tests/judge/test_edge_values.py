"""Whatever an answer holds, a verdict comes, and every form of a report can tell it.

Values at the edge of every type are returned from the functions of exercises, through a real worker. A few files of
some exercises are tried, other ones each time; with THOROUGH=1 many of every exercise.
"""

import ast
import contextlib
import datetime
import functools
import json
from xml.etree import ElementTree

import pytest
import torch
from thorough import THOROUGH, sample

pytest.importorskip("hypothesis", reason="hypothesis is not installed (extra dev)")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader import catalog
from grader.catalog import paths
from grader.catalog.documented import Printed
from grader.classroom import class_page, feedback, grades, store
from grader.classroom.marks import HandIn, Mark, Student
from grader.classroom.summary import Summary
from grader.integrations import classroom50, gradescope
from grader.integrations.one_student import Graded
from grader.judge import grading, patterns, words
from grader.judge.compare import Mismatch, expect
from grader.judge.messages import failure
from grader.records.results import Settings
from grader.records.submission import Submission
from grader.reports import ci, heatmap, html, terminal
from grader.reports import json as as_json
from grader.sandbox.call_results import Call

pytestmark = pytest.mark.slow

EXAMPLES = 20 if THOROUGH else 1
EXERCISES = [exercise.folder for exercise in catalog.exercises()]
RUNNER = dict.fromkeys(("CLASSROOM", "ASSIGNMENT", "USERNAME", "COMMIT_URL", "RELEASE_URL"), "x")
RUNNER["SUBMISSION_TAG"] = "submit/x"
NOW = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)

DTYPES = [
    "complex64", "complex128", "float16", "bfloat16", "float64", "float8_e4m3fn", "float8_e5m2", "bool", "int8",
    "uint8", "int16", "int64", "uint16", "uint32", "uint64",
]  # fmt: skip

# What becomes of each tensor `t` of a right answer.
OF_TENSORS = [
    *(f"t * {number}" for number in ("1e200", "1e308", "1e-310", "-0.0", "inf", "nan", "2 ** 0.5", "1e-7")),
    "t * 1e200 if t.dtype == torch.float64 else t", "t + 1e38", "t - t", "t.masked_fill(t > 0, nan)",
    *(f"torch.full_like(t, torch.finfo(t.dtype).{name})" for name in ("max", "min", "tiny", "smallest_normal")),
    *(f"t.to(torch.{name})" for name in DTYPES), "t.to_sparse()", "t.reshape(1, -1).to_sparse_csr()",
    "torch.quantize_per_tensor(t.float(), 0.1, 0, torch.qint8)",
    "torch.nested.nested_tensor([t.flatten(), t.flatten()[:1]])", "t.to('meta')", "t.as_subclass(Sub)",
    "torch.nn.Parameter(t)", "t.conj()", "torch.view_as_real(t.to(torch.complex64))", "torch._neg_view(t)",
    "t.flatten()[:0]", "t[..., :0]", "t.sum()", "t[None]", "t.flatten()", "t.mT if t.ndim > 1 else t", "t.flip(0)",
    "t.roll(1)", "t.round(decimals=2)", "t.flatten()[:1].expand(1 << 20, 1 << 20)",
    "t.flatten()[:1].expand(7, 1 << 18)", "t.reshape((1,) * (16 - t.ndim) + t.shape)",
    "t.reshape((1,) * (20 - t.ndim) + t.shape)", "t.numpy()", "t.tolist()",
]  # fmt: skip
# What is in the place of the whole answer `y`.
WHOLE = [
    "None", "True", "10 ** 400", "1 << 63", "-(1 << 63)", "nan", "-inf", "1e308", "5e-324", "1j", "'\\ud800'",
    "'x' * 99_999", "'\\x00\\x1b[31m::error::\\u202e'", "b'\\xff'", "[0] * 30_000", "deep(50)", "deep(11)",
    "itself()", "{None: y, 1e308: y}", "{'\\ud800': y, ('a', 1): y}", "{float('nan'): 1, True: 2, 1.5: 3}",
    "object()", "range(3)", "{1, 2}", "(i for i in 'x')", "lambda: y", "Sub", "...", "Pair(y, y)", "Table(y=y)",
    "torch.Size([1 << 40, 3])", "torch.float32", "(y, y)", "[y]", "()", "[torch.zeros(0), 10 ** 400, '\\ud800', nan]",
    "torch.zeros(1 << 22)", "[torch.zeros(1)] * 5000", "ValueError(y)", "Thing()",
]  # fmt: skip
VALUES = [f"each(y, lambda t: {value})" for value in OF_TENSORS] + WHOLE
POSTLUDE = """

import collections as _collections, functools as _functools
import torch
nan, inf = float("nan"), float("inf")
Pair = _collections.namedtuple("Pair", "a b")
class Sub(torch.Tensor): pass
class Table(dict): pass
class Thing: pass
def deep(n): return [deep(n - 1)] if n else []
def itself():
    found = []
    found.append(found)
    return found
def each(y, change):
    if isinstance(y, torch.Tensor):
        return change(y.detach())
    if type(y) in (list, tuple):
        return type(y)(each(part, change) for part in y)
    return {key: each(part, change) for key, part in y.items()} if type(y) is dict else y
def _odd(function, value):
    @_functools.wraps(function)
    def changed(*args, **kwargs):
        return value(function(*args, **kwargs))
    return changed
"""


def places(source: str) -> list[str]:
    """What can be called of a solution: its functions, its classes, and the public methods of these."""
    found = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            found.append(node.name)
        if isinstance(node, ast.ClassDef):
            methods = [part.name for part in node.body if isinstance(part, ast.FunctionDef)]
            found += [node.name, *(f"{node.name}.{name}" for name in methods if not name.startswith("_"))]
    return found


def spoilt(folder: str, chosen: dict[str, str | None]) -> Submission:
    """The solution with other answers at some places."""
    lines = [f"{place} = _odd({place}, lambda y: {value})" for place, value in chosen.items() if value]
    source = paths.solution(folder).read_text("utf-8") + POSTLUDE + "\n".join(lines) + "\n"
    return Submission(source, f"{paths.slug(folder)}.py")


def tell_in_every_form(exercise, submission: Submission, result) -> None:
    assert terminal.plain(result, every=True)
    assert as_json.read(json.loads(as_json.render(result)), result.pictures) == result
    ElementTree.fromstring(ci.as_junit(result))
    assert ci.annotations(result) and ci.summary(result)
    html.cause_blocks(result)
    assert all(html.verdict(result, level, result.pictures) for level in feedback.LEVELS)
    assert store.read(store.write(result)).points == result.points
    heatmap.figures(result.pictures)
    assert all(map(heatmap.render, result.pictures))
    student, summary = Student("ada", "Ada"), Summary([exercise.folder])
    for level in feedback.LEVELS:
        assert feedback.page(result, student, level)
        assert json.loads(feedback.records(student, [result], level))
    handin = HandIn(student, exercise.folder, "/x")
    marks = [Mark("graded", student, exercise.folder, points=result.points, handin=handin)]
    summary.add(student, marks, [result])
    assert grades.grades_csv(summary).encode() and grades.marks_csv(marks).encode()
    assert class_page.class_page(summary, marks).encode()
    graded = Graded(((exercise, result),))
    assert gradescope.results(graded)["tests"] and classroom50.result(graded, RUNNER, NOW)["tests"]


@pytest.mark.parametrize("folder", sample(EXERCISES, 1))
def test_every_answer_has_a_verdict_in_every_form(folder, fork_server):
    exercise, solution = catalog.read(folder), paths.solution(folder).read_text("utf-8")
    where = places(solution)
    assert where
    one = st.tuples(st.sampled_from(where), st.sampled_from(VALUES)).map(lambda pair: dict([pair]))
    every = st.fixed_dictionaries({place: st.none() | st.sampled_from(VALUES) for place in where})

    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(one | every, min_size=3, max_size=3), st.booleans(), st.integers(0, 1 << 31))
    def tried(drawn_values, reveal, seed):
        handed_in = [*(spoilt(folder, chosen) for chosen in drawn_values), Submission(solution, "honest.py")]
        how = Settings(seed=seed, reveal=reveal, pictures=True)
        results = [*grading.results(exercise, handed_in, fork_server, how)]
        assert [result.status in ("passed", "failed") for result in results] == [True] * 4
        assert results[-1].points == results[-1].max_points
        for submission, result in zip(handed_in, results):
            tell_in_every_form(exercise, submission, result)

    tried()


@functools.cache
def odd_values() -> list:
    """The same values as our own process has them before anything has made them plain."""
    names: dict = {}
    exec(POSTLUDE, names)
    found = []
    answers = (torch.rand(2, 3), torch.rand(2, 3, dtype=torch.float64), torch.tensor(1.5), torch.arange(6).view(2, 3))
    for number, value in enumerate(VALUES):
        for y in answers if THOROUGH else (answers[0], answers[1 + number % 3]):
            with contextlib.suppress(RuntimeError, TypeError, NotImplementedError, ValueError, IndexError):
                found.append(eval(value, {**names, "y": y}))  # not each is one of this tensor
    return found


EXPECTED = [
    torch.rand(2, 3), torch.rand(2, 3, dtype=torch.float64), torch.rand(2, 3).bfloat16(),
    torch.ones(2, 3, dtype=torch.bool), torch.arange(6).view(2, 3), torch.tensor(2.5), torch.zeros(0),
    torch.zeros(2, 3, device="meta"), torch.full((2, 3), -torch.inf), 3, 2.5, True, None, "text", (2, 3),
    [1.5, torch.zeros(2)], {"a": torch.zeros(2)}, {1: 2},
    Printed("p", torch.rand(2, 3, dtype=torch.float64), torch.tensor(1e-4)), Printed("s", (2, 3), None),
]  # fmt: skip


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda value: words.kind(value)[:30])
def test_comparing_and_telling_never_break(expected):
    for got in sample(odd_values(), 50):
        assert isinstance(words.kind(got), str)
        try:
            expect(got, expected)
        except Mismatch as error:
            call = Call("f(x)", "f", "output", value=got)
            assert failure(error, call, "f.py") and failure(error, call, "f.py", reveal=False)
            patterns.describe(error)
