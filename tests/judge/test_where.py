"""The search for the line of a mistake: judge/where. How often it is true is measured by `make bench WHAT=where`."""

import ast
import itertools
import re
import textwrap

import pytest
from sources import replace_in, solution
from thorough import sample

from grader import catalog
from grader.catalog import paths
from grader.judge.grading import final
from grader.judge.where import search
from grader.judge.where.edits import Scope, Tree, together
from grader.judge.where.expressions import expression_edits
from grader.judge.where.statements import statement_edits
from grader.records.submission import Submission


def line_of(source: str, text: str) -> int:
    return source[: source.index(text)].count("\n") + 1


@pytest.fixture
def located(judge_of):
    """`located("03", source)`: the result before and after the search."""

    def locate(number: str, source: str, is_cancelled=lambda: False):
        examiner, submission = judge_of(number, seed=3).examiner, Submission(source, "x.py")
        before = final(examiner.examine(submission))
        return before, search.locate(examiner, submission, before, is_cancelled)

    return locate


def test_a_search_that_may_do_nothing_finds_nothing(judge_of):
    examiner = judge_of("06", seed=3).examiner
    wrong = Submission(replace_in("06", ("@ values", "@ values * 2")), "x.py")
    assert final(examiner.examine(wrong)).status == "failed"
    assert not any(place.lines for place in search.places(examiner, wrong, examiner.explained, work=0).values())


def test_of_a_class_that_is_defined_anew_the_last_counts():
    """Also of one that is extended, and of a method that is assigned."""
    source, again = (
        solution("07"),
        "class SelfAttention_v1(SelfAttention_v1):\n    def forward(self, x):\n        return x\n",
    )
    head, forward = source.split("    def forward", 1)
    assigned = f"{head}\ndef forward{textwrap.dedent(forward)}\nSelfAttention_v1.forward = forward\n"
    for text in (f"{source}\n{source}", f"{source}\n{again}", assigned):
        units = Tree(text).units
        assert [unit.name for unit in units] == ["SelfAttention_v1.__init__", "SelfAttention_v1.forward"]
    units = Tree(f"{source}\n{source}").units
    assert all(unit.lines.start > len(source.splitlines()) for unit in units)


def test_two_mistakes_in_two_functions_have_a_line_each(located):
    wrong = "torch.exp(2 * x)", "scores / scores.max()"
    source = replace_in("02", ("torch.exp(x)", wrong[0]), ("scores / scores.sum()", wrong[1]))
    before, after = located("02", source)
    assert [check.outcome for check in before.checks] == [check.outcome for check in after.checks]
    assert {check.lines for check in after.checks if check.lines} == {(line_of(source, text),) for text in wrong}


def test_a_right_file_a_stub_and_one_that_is_too_deep_or_too_long_are_not_searched(located):
    wrong, stub = (
        replace_in("03", ("scores, dim=-1", "scores, dim=0")),
        paths.stub(catalog.find("03").folder).read_text("utf-8"),
    )
    extras = f"x = {'(' * 80}1{',)' * 80}", "x = [" + "1, " * 8000 + "]"
    for source in (solution("03"), stub, *(f"{wrong}\n{extra}\n" for extra in extras)):
        before, after = located("03", source)
        assert before == after


@pytest.mark.parametrize("looks", [0, 3])
def test_a_search_that_is_cancelled_tells_nothing(looks, located):
    asked = itertools.count()
    _, after = located("03", replace_in("03", ("scores, dim=-1", "scores, dim=0")), lambda: next(asked) >= looks)
    assert not any(check.lines for check in after.checks)


@pytest.mark.parametrize(
    "number, style, right, wrong",
    sample(
        [
            ("08", "helper_class", "self.d_in, self.d_out =", "torch.manual_seed(7); self.d_in, self.d_out ="),
            ("02", "sorted_maximum", "(x - largest)", "x.clamp(max=50)"),
        ],
        1,
    ),
)
def test_the_line_is_found_in_another_style(number, style, right, wrong, located):
    """A statement too many, and a value that is used nowhere."""
    (path,) = (path for path in paths.styles(catalog.find(number).folder) if path.stem == style)
    source = path.read_text("utf-8").replace(right, wrong, 1)
    _, found = located(number, source)
    lines = {check.lines for check in found.checks if check.where}
    assert lines == {(line_of(source, wrong),)}, [check.where for check in found.checks]


def test_two_mistakes_of_one_definition_that_are_both_named_have_a_line_each(located):
    """The documented numbers fail for both of them, so that no single change helps there."""
    query, key = (f"        self.W_{name} = nn.Linear(d_in, d_out, bias=qkv_bias)\n" for name in ("query", "key"))
    source = replace_in("13", (query + key, key + query), ("triu(1)", "triu(0)"))
    of_the_order, of_the_mask = line_of(source, key + query), line_of(source, "triu(0)")
    _, after = located("13", source)
    lines = {check.id: check.lines for check in after.checks}
    assert lines["fresh_multi_head"] == lines["no_look_ahead"] == (of_the_mask,)
    assert {*lines["documented_multi_head"]} == {of_the_mask, of_the_order, of_the_order + 1}


ODD_SYNTAX = """
def f(x, *rest, p=0.5, **options):
    a, *b = x[:, -1], *rest
    y = x[..., 1:, -2, ::2][-1, :] if (n := len(b)) else [*b, -a]
    z = {**options, "p": -p}, {*b, -1}, [-i for i in range(n) if not i % 2], (lambda *v, w=-1: v[-w:])(*b, -1)
    x[:, -n], x[-n:, 1] = -y, f"{-p:.2f} of {n!r}"
    return max(*b, -1, key=lambda t: -t[0]), x[(-1, *b)], z[-1](*b, -n, **options)
"""
EDITED = [ODD_SYNTAX, *(solution(exercise.folder) for exercise in sample(catalog.exercises(), 4))]


@pytest.mark.parametrize("source", EDITED)
def test_every_edit_gives_a_source_that_parses_and_leaves_the_tree_as_it_was(source):
    tree = Tree(source)
    before = ast.dump(tree.module)
    for unit in tree.units:
        scope = Scope.of(unit)
        edits = [*expression_edits(unit.node, scope), *statement_edits(unit.node, scope, unit.owner is not None)]
        assert edits
        for edit in sample([*edits, *together(edits)], 200 if source == ODD_SYNTAX else 5):
            ast.parse(tree.changed(edit.changes, {unit.top}))
            assert edit.line in unit.lines
    assert ast.dump(tree.module) == before


def test_an_edit_is_never_told():
    """The sentence names a kind and shows the learner's own line; what would stand there instead is the solution."""
    tree = Tree("def f(x):\n    return x.sum(0)\n")
    for edit in expression_edits(tree.units[0].node, Scope.of(tree.units[0])):
        assert re.fullmatch(r"[\w .]+", edit.kind) and not re.search(r"\d", edit.kind)
