"""The search for the line of a mistake: judge/where. How often it is true is measured by `make bench WHAT=where`."""

import ast
import itertools
import json
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

MISTAKES = [  # exercise, what is in the solution, what is written instead
    ("06", "scores / keys.shape[-1] ** 0.5, dim=-1", "scores / keys.shape[-1], dim=-1"),
    ("06", "@ values", "@ values * 2"),
    ("03", "dim=-1", "dim=0"),
    ("07", "self.W_key = nn.Parameter(torch.rand(d_in, d_out))", "self.W_key = nn.Parameter(torch.randn(d_in, d_out))"),
]


def replaced(source: str, right: str, wrong: str) -> str:
    """The source with another text in the place of the first that is there."""
    assert right in source
    return source.replace(right, wrong, 1)


def line_of(source: str, text: str) -> int:
    """The number of the first line in which it stands."""
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
    examiner, wrong = (
        judge_of("06", seed=3).examiner,
        Submission(replace_in("06", ("@ values", "@ values * 2")), "x.py"),
    )
    assert final(examiner.examine(wrong)).status == "failed"
    assert not any(place.lines for place in search.places(examiner, wrong, examiner.explained, work=0).values())


@pytest.mark.parametrize("number, right, wrong", sample(MISTAKES, 3))
def test_the_line_is_found(number, right, wrong, located):
    source = replaced(solution(number), right, wrong)
    line = line_of(source, wrong)
    before, after = located(number, source)
    assert [check.outcome for check in before.checks] == [check.outcome for check in after.checks]
    lines = {check.lines for check in after.checks if check.lines}
    assert lines == {(line,)}, [check.where for check in after.checks]
    code = source.splitlines()[line - 1].strip()
    sentences = {check.where for check in after.checks if check.where}
    assert all(f"line {line}, `{code[:30]}" in sentence for sentence in sentences)


def test_of_a_class_that_is_defined_anew_the_last_counts():
    source = solution("07")
    units = Tree(f"{source}\n{source}").units
    assert [unit.name for unit in units] == ["SelfAttention_v1.__init__", "SelfAttention_v1.forward"]
    assert all(unit.lines.start > len(source.splitlines()) for unit in units)
    extended = Tree(
        f"{source}\nclass SelfAttention_v1(SelfAttention_v1):\n    def forward(self, x):\n        return x\n"
    )
    assert [unit.name for unit in extended.units] == [unit.name for unit in units]


def test_a_line_that_writes_into_an_argument_is_named_without_an_annotation_too(located):
    """Its gradients and the argument itself are wrong, while a trial of one change gives the same answers."""
    right = solution("09")
    tree = ast.parse(right)
    (loop,) = (node for node in tree.body if getattr(node, "name", "") == "average_loop")
    written = """
def average_loop(x):
    result = torch.zeros_like(x)
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            if t > 0:
                x[b, t] += x[b, t - 1]
            result[b, t] = x[b, t] / (t + 1)
    return result
"""
    lines = right.splitlines()
    source = "\n".join([*lines[: loop.lineno - 1], *written.splitlines(), *lines[loop.end_lineno :]]) + "\n"
    _, after = located("09", source)
    assert {check.lines for check in after.checks if check.outcome == "failed"} == {(line_of(source, "x[b, t] += "),)}


def test_a_function_that_is_assigned_to_a_class_is_its_method():
    head, forward = solution("07").split("    def forward", 1)
    source = f"{head}\ndef forward{textwrap.dedent(forward)}\nSelfAttention_v1.forward = forward\n"
    assert [unit.name for unit in Tree(source).units] == ["SelfAttention_v1.__init__", "SelfAttention_v1.forward"]


def test_the_line_is_found_though_checks_that_wait_for_it_fail_for_another_reason(located):
    source = replace_in("22", ("/ h**0.5", "/ h"), (", device=query.device", ""))
    assert source.count("/ h ") == 1 and "device=" not in source
    _, after = located("22", source)
    assert {check.id for check in after.checks if check.outcome == "not_checked"} >= {"dtype_and_device"}
    assert {check.lines for check in after.checks if check.lines} == {(line_of(source, "/ h "),)}


def test_a_missing_scale_is_told_at_a_line_where_it_may_stand(located):
    forward = """
        B, T, _ = x.shape
        G, R = self.num_kv_groups, self.num_heads // self.num_kv_groups
        q = self.W_query(x).reshape(B, T, G, R, -1)
        k, v = (layer(x).reshape(B, T, G, -1) for layer in (self.W_key, self.W_value))
        sim = torch.einsum("btgrh,bsgh->bgrts", q, k)
        t = torch.arange(T, device=x.device)
        sim = sim.masked_fill(t > t[:, None], float("-inf"))
        out = torch.einsum("bgrts,bsgh->btgrh", sim.softmax(-1), v)
        return self.out_proj(out.flatten(2))
"""
    source = f"{solution('21').partition('def forward')[0]}def forward(self, x: torch.Tensor):{forward}"
    _, found = located("21", source)
    (lines,) = {check.lines for check in found.checks if check.lines}
    assert lines[0] in {line_of(source, text) for text in ("sim = torch.einsum", "sim.masked_fill", "sim.softmax")}


def test_two_mistakes_in_two_functions_have_a_line_each(located):
    source = replaced(solution("02"), "torch.exp(x)", "torch.exp(2 * x)")
    source = replaced(source, "scores / scores.sum()", "scores / scores.max()")
    _, found = located("02", source)
    lines = {(line_of(source, text),) for text in ("2 * x", "scores.max()")}
    assert {check.lines for check in found.checks if check.lines} == lines and len(lines) == 2


def test_a_right_file_and_a_stub_are_not_searched(located):
    for source in (solution("03"), paths.stub(catalog.find("03").folder).read_text("utf-8")):
        before, after = located("03", source)
        assert before == after


@pytest.mark.parametrize("looks", [0, 3])
def test_a_search_that_is_cancelled_tells_nothing(looks, located):
    source = replaced(solution("03"), "dim=-1", "dim=0")
    asked = itertools.count()
    before, after = located("03", source, lambda: next(asked) >= looks)
    assert [check.lines for check in after.checks] == [()] * len(before.checks)


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
    source = replaced(path.read_text("utf-8"), right, wrong)
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


def test_a_source_that_is_too_deep_or_too_long_is_not_searched(located):
    wrong = replaced(solution("03"), "dim=-1", "dim=0")
    for extra in (f"x = {'(' * 80}1{',)' * 80}", "x = [" + "1, " * 8000 + "]"):
        before, after = located("03", f"{wrong}\n{extra}\n")
        assert before == after


def test_every_edit_gives_a_source_that_parses_and_leaves_the_tree_as_it_was():
    for folder in sample([exercise.folder for exercise in catalog.exercises()], 4):
        tree = Tree(paths.solution(folder).read_text("utf-8"))
        before = ast.dump(tree.module)
        for unit in tree.units:
            scope = Scope.of(unit)
            edits = [*expression_edits(unit.node, scope), *statement_edits(unit.node, scope, unit.owner is not None)]
            assert edits
            for edit in sample([*edits, *together(edits)], 5):
                ast.parse(tree.changed(edit.changes, {unit.top}))
                assert edit.line in unit.lines
        assert ast.dump(tree.module) == before


ODD_SYNTAX = """
def f(x, *rest, p=0.5, **options):
    a, *b = x[:, -1], *rest
    y = x[..., 1:, -2, ::2][-1, :] if (n := len(b)) else [*b, -a]
    z = {**options, "p": -p}, {*b, -1}, [-i for i in range(n) if not i % 2], (lambda *v, w=-1: v[-w:])(*b, -1)
    x[:, -n], x[-n:, 1] = -y, f"{-p:.2f} of {n!r}"
    return max(*b, -1, key=lambda t: -t[0]), x[(-1, *b)], z[-1](*b, -n, **options)
"""


def test_every_edit_of_rare_syntax_gives_a_source_that_parses():
    tree = Tree(ODD_SYNTAX)
    scope = Scope.of(tree.units[0])
    edits = [*expression_edits(tree.units[0].node, scope), *statement_edits(tree.units[0].node, scope, False)]
    assert len(edits) > 100
    for edit in sample([*edits, *together(edits)], 200):
        ast.parse(tree.changed(edit.changes, {tree.units[0].top}))


def test_an_edit_is_never_told():
    """The sentence names a kind and shows the learner's own line; what would stand there instead is the solution."""
    tree = Tree("def f(x):\n    return x.sum(0)\n")
    for edit in expression_edits(tree.units[0].node, Scope.of(tree.units[0])):
        assert re.fullmatch(r"[\w .]+", edit.kind) and not re.search(r"\d", edit.kind)


@pytest.mark.slow
def test_check_shows_the_line_and_the_columns_before_the_values(said, tmp_path):
    path = tmp_path / "x.py"
    path.write_text(replaced(solution("03"), "dim=-1", "dim=0"))
    shown = said("check", "03", "--submission", path, "--seed", 7).stdout.splitlines()
    carets = next(number for number, line in enumerate(shown) if line.endswith(" ^^^^^"))
    code = shown[carets - 1]
    assert code[shown[carets].index("^") :].startswith("dim=0")
    assert re.match(rf"{path}:\d+:\d+: in attention_weights$", shown[2]) and shown[carets + 3].startswith("  expected")
    without = json.loads(
        said("check", "03", "--submission", path, "--seed", 7, "--format", "json", "--where", 0).stdout
    )
    assert all(check["lines"] == [] and check["where"] == "" for check in without["checks"])
