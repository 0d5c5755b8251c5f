"""The parts of judge/where, each on sources alone: alignment, donors, several mistakes, probes, and what is shown."""

import ast
from types import SimpleNamespace

import pytest
import torch

from grader.judge.failure import Failure
from grader.judge.where import alignment, place
from grader.judge.where.alignment import Alignment, Difference
from grader.judge.where.donors import donor_edits, narrow
from grader.judge.where.edits import COMPUTED, MISSING, Change, Scope, Tree
from grader.judge.where.expressions import expression_edits
from grader.judge.where.place import Blame, Group, Twins
from grader.judge.where.repair import lines_of_loops, minimize, steps, stretch
from grader.judge.where.slips import slips, uncutting_edits
from grader.judge.where.statements import NOT_KEPT, bypassed, statement_edits
from grader.judge.where.trial import SUPPORT, Probe, Swap, can_be_swapped, equal_answers
from grader.judge.where.undoing import undoing_edits
from grader.judge.where.values import KnownValues, Step, put_marks, scale
from grader.sandbox.call_results import Call, LearnerError
from grader.worker import protocol
from grader.worker.codec import Encoder
from grader.worker.fake_device import place as place_on_fake_device

RIGHT = """\
def attend(x, w):
    keys = x @ w
    scores = keys @ keys.T
    return scores.softmax(-1) @ x
"""
WRONG = """\
def attend(inputs, weight):
    k = inputs @ weight
    products = k @ k.T
    return products.softmax(0) @ inputs
"""
TWICE = WRONG.replace("k @ k.T", "k + k.T")


def aligned(source: str) -> tuple[Tree, Alignment]:
    tree = Tree(source)
    return tree, Alignment(tree.units[0], Tree(RIGHT).units[0])


def test_names_are_those_that_mean_the_same():
    _, alignment = aligned(WRONG)
    assert alignment.names == {"x": "inputs", "w": "weight", "keys": "k", "scores": "products"}


def test_a_right_answer_under_other_names_has_no_odd_statement():
    _, alignment = aligned(WRONG.replace("softmax(0)", "softmax(-1)"))
    assert alignment.unmatched == [] and alignment.missing == []


def test_the_statement_that_stands_in_no_solution_is_odd():
    _, alignment = aligned(WRONG)
    assert [node.lineno for node in alignment.unmatched] == [4]
    assert [ast.unparse(node) for node in alignment.missing] == ["return products.softmax(-1) @ inputs"]


def test_values_under_each_others_names_are_odd():
    right = (
        "def f(x, a, b):\n    k = split(turned(x @ a), 2, 3)\n    v = split(turned(x @ b), 2, 3)\n    return k @ v.T\n"
    )
    wrong = right.replace("@ a", "@ _").replace("@ b", "@ a").replace("@ _", "@ b")
    alignment = Alignment(Tree(wrong).units[0], Tree(right).units[0])
    assert [node.lineno for node in alignment.unmatched] == [2, 3] and len(alignment.missing) == 2


def test_what_has_no_counterpart_cannot_be_named():
    _, alignment = aligned("def attend(inputs, weight):\n    return inputs\n")
    keys = ast.parse("keys", mode="eval").body
    assert ast.unparse(alignment.rename(keys)) == "inputs @ weight"  # its value can
    assert alignment.rename(keys, 3) is None


def test_a_part_of_the_solution_is_put_in_with_the_learners_names():
    tree, alignment = aligned(WRONG)
    edits = list(donor_edits(alignment, frozenset()))
    right = WRONG.replace("softmax(0)", "softmax(-1)")
    mending = [edit for edit in edits if tree.changed(edit.changes, {0}) == right]
    assert mending and {edit.line for edit in mending} == {4}
    assert min(edit.tier for edit in mending) == 0
    assert tree.changed((), {0}) == WRONG  # the tree is as it was


UNDONE = {
    "a value that is rescaled": (
        "def f(blocks):\n    total = 0\n    largest = blocks[0]\n    for block in blocks:\n"
        "        larger = torch.maximum(largest, block)\n"
        "        total = total * torch.exp(largest - larger) + torch.exp(block - larger)\n        largest = larger\n"
        "    return total\n",
        ("total * torch.exp(largest - larger)", "total"),
        "def f(xs):\n    s, m = 0, xs[0]\n    for x in xs:\n        new = m.max(x)\n        s = s + (x - new).exp()\n"
        "        m = new\n    return s\n",
        "s = s * torch.exp(m - new) + (x - new).exp()",
    ),
    "the opposite comparison": (
        "def f(i, j, window):\n    hidden = i - j >= window\n    return hidden\n",
        (">=", ">"),
        "def f(i, j, window):\n    return (i - j <= window) & (j <= i)\n",
        "return (i - j < window) & (j <= i)",
    ),
    "an argument of a call": (
        "def f(q, k, v):\n    return F.scaled_dot_product_attention(q, k, v, is_causal=True)\n",
        (", is_causal=True", ""),
        "def f(q, k, v):\n    out = attend.scaled_dot_product_attention(q, k, v, attn_mask=None)\n    return out\n",
        "out = attend.scaled_dot_product_attention(q, k, v, attn_mask=None, is_causal=True)",
    ),
    "a product by a method": (
        "def f(q, k, h):\n    return q @ k.mT / h**0.5\n",
        (" / h**0.5", ""),
        "def f(q, k, h):\n    logits = q.matmul(k.transpose(-2, -1))\n    return logits\n",
        "logits = q.matmul(k.transpose(-2, -1)) / h ** 0.5",
    ),
}


@pytest.mark.parametrize(("solution", "change", "learner", "undone"), UNDONE.values(), ids=UNDONE)
def test_a_named_mistake_is_undone_in_code_of_another_style(solution, change, learner, undone):
    guide = alignment.of(solution.replace(*change), solution)
    unit, twin = (Tree(source).units[0] for source in (learner, solution))
    edits = list(undoing_edits(Alignment(unit, twin), guide.differences["f"]))
    assert undone in "\n".join(Tree(learner).text(unit, edit.changes) for edit in edits)


def test_the_lines_of_a_loop_are_its_range_and_what_that_reads():
    source = "def f(x, size):\n    T = len(x)\n    step = min(size, T)\n    total = 0\n"
    source += "    for start in range(0, T, step):\n        total = total + x[start]\n    return total\n"
    assert lines_of_loops(Tree(source).units[0].node) == {2, 3, 5}


WHILE = """\
def f(x, size):
    parts, start, T = [], 0, len(x)
    while start < x.shape[0]:
        end = min(start + size, T + 1)
        if end > T:
            end = T
        part = x[start:end]
        if size > 1:
            part = part + 1
        parts.append(part)
        start = end
    while len(parts) > 1:
        parts = parts[1:]
    return parts
"""


def test_the_lines_of_a_while_are_its_condition_and_the_numbers_that_it_counts_with():
    assert lines_of_loops(Tree(WHILE).units[0].node) == {2, 3, 4, 5, 6, 11, 12}


def test_no_return_stands_for_what_the_learner_computed_before_it():
    looped = "    for i, x in enumerate(inputs):\n        out[i] = x @ query\n    return out\n"
    tree = Tree(f"def f(inputs, query):\n    out = inputs.new_empty(len(inputs))\n{looped}")
    alignment = Alignment(tree.units[0], Tree("def f(inputs, query):\n    return inputs @ query\n").units[0])
    changed = [tree.changed(edit.changes, {0}) for edit in donor_edits(alignment, frozenset())]
    assert changed and all(text.count("return") == 1 and text.endswith("return out\n") for text in changed)
    assert steps(alignment, frozenset())[0] == []


def test_tensors_of_two_devices_are_not_compared():
    values = torch.ones(2)
    assert not KnownValues([Step(place_on_fake_device(values), ())]).holds(values)


def test_of_a_call_that_does_not_fit_the_first_line_of_the_definition_is_told():
    tree = Tree("class A:\n    def forward(self, inputs):\n        return inputs\n\ndef f(y):\n    return y\n")
    for function, line in (("A.__call__", 2), ("f", 5), ("A", 0)):
        call = Call(f"{function}(x=1)", function, "output")
        error = LearnerError("signature", {"signature": "missing a required argument: 'y'"}, call)
        assert place.head_line(Failure(None, error, []), tree) == line
    assert place.head_line(Failure(None, LearnerError("timeout", {}, call), []), tree) == 0


def test_no_edit_goes_round_a_helper_of_the_learners():
    source = WRONG.replace("k @ k.T", "product(k)")
    _, alignment = aligned(source)
    without = [edit for edit in donor_edits(alignment, frozenset({"product"})) if edit.line == 3]
    every = [edit for edit in donor_edits(alignment, frozenset()) if edit.line == 3]
    assert any("product" in ast.unparse(edit.changes[0].old()) for edit in every if edit.changes[0].index is None)
    replaced = [edit.changes[0] for edit in without if isinstance(edit.changes[0].new, ast.expr)]
    assert not any("product" in ast.unparse(change.old()) for change in replaced)


def test_a_change_that_goes_round_a_value_is_known():
    tree = Tree(WRONG)
    last = tree.units[0].node.body[-1]
    direct = ast.parse("(inputs @ weight).softmax(-1)", mode="eval").body
    assert bypassed(tree.units[0], (Change(last, "value", None, direct),)) == {3}
    same = ast.parse("products.softmax(-1) @ inputs", mode="eval").body
    assert bypassed(tree.units[0], (Change(last, "value", None, same),)) == frozenset()
    looked_at = WRONG.replace("    return", "    _, size = inputs.shape\n    print(products)\n    return")
    tree = Tree(
        looked_at.replace("softmax(0)", "softmax(0) / size").replace("@ inputs", "@ inputs / products.shape[0]")
    )
    division = tree.units[0].node.body[-1].value
    change = Change(division, "left", None, direct)
    assert bypassed(tree.units[0], (change,)) == {3}  # neither what is printed nor a size counts


@pytest.mark.parametrize(
    "body",
    [
        "    out = []\n    out.append(x.detach())\n    return torch.stack(out)",
        "    out = torch.zeros(3)\n    out[0] = x.detach()\n    return torch.stack(out)",
        "    out = x.detach()\n    out = out / 2\n    return torch.stack(out)",
    ],
)
def test_what_is_only_filled_or_changed_is_gone_round(body):
    """Nothing reads what was put there, if the return does not."""
    unit = Tree(f"def repeat(x):\n{body}\n").units[0]
    last = unit.node.body[-1]
    direct = ast.parse("x.repeat(2, 1)", mode="eval").body
    assert 2 in bypassed(unit, (Change(last, "value", None, direct),))
    assert not bypassed(unit, (Change(last, "value", None, ast.Name("out", ast.Load())),))


def test_a_named_mistake_is_at_the_one_call_that_lacks_its_argument():
    right = "def f(x):\n    y = attend(x, rate=0.1)\n    return cat(y, dim=0)\n"
    guide = alignment.of("def f(x):\n    y = attend(x)\n    return cat(y)\n", right)
    lines = {
        "    a = g(x)\n    b = attend(a)\n": 3,
        "    b = attend(attend(x))\n": None,
        "    b = attend(x, rate=1)\n": None,
    }
    for body, line in lines.items():
        tree = Tree(f"def f(x):\n{body}    return cat(b, 0)\n")
        assert guide.construct(tree, tree.units) == line


def test_of_several_new_statements_in_a_mistake_none_is_told():
    right = "def f(x):\n    return softmax(x)\n"
    guide = alignment.of("def f(x):\n    e = exp(x - x.amax())\n    return e / (e.sum() + 1)\n", right)
    tree = Tree("def f(x):\n    e = (x - x.amax()).exp()\n    return e / sum(e, 1)\n")
    assert guide.construct(tree, tree.units) is None


def test_a_line_that_reads_a_size_alone_is_not_the_mistakes():
    guide = alignment.of("def f(m):\n    m.weight.zero()\n    return m\n", "def f(m):\n    return m\n")
    tree = Tree("def f(m):\n    n = m.weight.shape[0]\n    return n\n")
    assert guide.construct(tree, tree.units) is None


def test_no_return_is_put_before_statements_that_have_to_run():
    source = "def load(self, state):\n    with no_grad():\n        self.w.copy_(state)\n    self.w.freeze_()\n"
    unit = Tree(source).units[0]
    kept = [edit for edit in statement_edits(unit.node, Scope.of(unit), True) if edit.kind == NOT_KEPT]
    returning = [edit for edit in kept if any(isinstance(node, ast.Return) for node in edit.changes[0].value)]
    assert [edit.line for edit in returning] == [4]
    assert {edit.line for edit in kept} == {3, 4}


@pytest.mark.parametrize(
    "wrong, right",
    [
        ("cat((b, -a), -1)", "cat((-b, a), -1)"),
        ("a[:, 1:]", "a[:, :-1]"),
        ("a[:, b:-1]", "a[:, b + 1:]"),
        ("a[:, b + 1:]", "a[:, b:-1]"),
        ("a.view(1, 2, 3, 4)", "a.view(1, 3, 2, 4).transpose(1, 2)"),
        ("f(a.max())", "f(a.amax(-1))"),
        ("list(range(0, a - b + 1, b))", "list(range(0, a, b))"),
    ],
)
def test_a_common_slip_is_undone_among_the_first(wrong, right):
    tried = tried_slips(f"    return {wrong}")
    assert f"return {right}" in tried and len(tried) < 10


@pytest.mark.parametrize(
    "wrong, right",
    [
        ("    for b in b:\n        a = b * 2", "for b in b:\n    a = a + b * 2"),
        ("    for c in b:\n        a[c] = b", "for c in b:\n    a[c] += b"),
        ("    a = b\n    c = a - b", "c = a - b\na = b"),
    ],
)
def test_a_statement_that_slipped_is_undone_among_the_first(wrong, right):
    tried = tried_slips(wrong)
    assert right in tried and len(tried) < 10


def tried_slips(body: str) -> set[str]:
    """The bodies that the edits of common slips make of a function of a and b."""
    tree = Tree(f"def f(a, b):\n{body}\n")
    unit = tree.units[0]
    texts = [tree.text(unit, edit.changes) for edit in slips(unit)]
    return {ast.unparse(ast.parse(text).body[0].body).strip() for text in texts}


@pytest.mark.parametrize(
    "cut, whole",
    [
        ("return a.detach() @ b", "return a @ b"),
        ("return a.data @ b", "return a @ b"),
        ("return torch.tensor(a[0]) @ b", "return a[0] @ b"),
        ("with torch.no_grad():\n        c = a @ b\n    return c", "c = a @ b\n    return c"),
        ("a.requires_grad_(False)\n    return a @ b", "return a @ b"),
        ("return a.detach() @ b.detach()", "return a @ b"),
    ],
)
def test_what_cuts_a_gradient_is_taken_away(cut, whole):
    tree = Tree(f"def f(a, b):\n    {cut}\n")
    unit = tree.units[0]
    texts = [ast.dump(ast.parse(tree.text(unit, edit.changes))) for edit in uncutting_edits(unit)]
    assert ast.dump(ast.parse(f"def f(a, b):\n    {whole}\n")) in texts
    assert not [*uncutting_edits(Tree(f"def f(a, b):\n    {whole}\n").units[0])]


@pytest.mark.parametrize(
    "wrong, right",
    [
        ("torch.clamp_min(a * b, 0)", "torch.clamp_min(a, 0) * b"),
        ("(a * b).relu()", "a * b.relu()"),
        ("torch.softmax(a, dim=-1) / b", "torch.softmax(a / b, dim=-1)"),
        ("a - b.exp()", "(a - b).exp()"),
    ],
)
def test_a_function_is_taken_of_less_or_of_more(wrong, right):
    unit = Tree(f"def f(a, b):\n    return {wrong}\n").units[0]
    edits = expression_edits(unit.node, Scope.of(unit))
    texts = {ast.unparse(edit.changes[0].value) for edit in edits if isinstance(edit.changes[0].value, ast.AST)}
    assert right in texts


def test_what_is_done_to_one_attribute_is_done_to_its_neighbour_too():
    lines = ("self.keys = a", "self.values = b", "self.norm(a)", "self.keys[0].copy_(self.keys[1])", "self.keys[2] = a")
    unit = Tree("class C:\n    def f(self, a, b):\n        " + "\n        ".join(lines) + "\n").units[0]
    edits = statement_edits(unit.node, Scope.of(unit), is_method=True)
    bodies = ["\n".join(map(ast.unparse, edit.changes[0].value)) for edit in edits if edit.kind == MISSING]
    for line in lines[3:]:
        assert any(f"{line}\n{line.replace('keys', 'values')}" in body for body in bodies)
    assert not any("self.norm[" in body for body in bodies)


def test_a_block_without_gradients_around_a_function_is_taken_away():
    tree = Tree("@torch.no_grad()\ndef f(a):\n    return a\n")
    (edit,) = uncutting_edits(tree.units[0])
    assert tree.text(tree.units[0], edit.changes) == "def f(a):\n    return a"


def test_the_solutions_definitions_come_without_type_hints():
    definition = ast.parse("def f(a: Cache, *b: int) -> Cache:\n    c: int = a\n    return c\n").body[0]
    assert ast.unparse(place.without_hints(definition)).startswith("def f(a, *b):")
    assert "Cache" in ast.unparse(definition)


def test_a_change_that_goes_round_a_local_function_is_known():
    source = WRONG.replace("    products", "    def multiply(a):\n        return a @ a.T\n\n    products")
    unit = Tree(source.replace("k @ k.T", "multiply(k)")).units[0]
    statement = next(node for node in unit.node.body if isinstance(node, ast.Assign) and node.lineno == 6)
    direct = ast.parse("k @ k.T", mode="eval").body
    assert bypassed(unit, (Change(statement, "value", None, direct),)) == {4}


def test_a_mistake_is_undone_on_what_the_learner_computed_before():
    """The solution's name has no counterpart, and its value would make the learner's line unused."""
    right = "def attend(x):\n    kept = x.masked_fill(x < 0, 0.0)\n    return kept / kept.sum(-1)\n"
    wrong = "def attend(x):\n    clipped = relu(x)\n    return softmax(clipped, -1)\n"
    alignment = Alignment(Tree(wrong).units[0], Tree(right).units[0])
    known = (ast.parse(text, mode="eval").body for text in ("softmax(kept, -1)", "kept / kept.sum(-1)"))
    difference = Difference(*known, Tree(right).units[0].node.body[-1])
    edits = list(undoing_edits(alignment, [difference]))
    assert ast.unparse(edits[0].changes[0].value) == "clipped / clipped.sum(-1)"


def test_a_parameter_of_another_name_is_renamed_wherever_it_is_read():
    tree, alignment = aligned(WRONG)
    texts = [tree.text(tree.units[0], edit.changes) for edit in donor_edits(alignment, frozenset()) if edit.line == 1]
    assert WRONG.replace("weight", "w").rstrip() in texts


def test_what_makes_an_own_part_of_self_is_searched_too():
    right = "class A:\n    def __init__(self):\n        self.w = 1\n    def f(self, x):\n        return x * self.w\n"
    source = right.replace("self.w = 1", "self.v = B(1)").replace("x * self.w", "self.v(x)")
    source += "class B:\n    def __call__(self, x):\n        return x\n"
    for text, names in ((source, ["A.f", "A.__init__", "B.__call__"]), (right, ["A.f"])):
        twins = Twins(Tree(text), Tree(right))
        assert [unit.name for unit in twins.with_helpers([twins.tree.units[1]])] == names
    assert Twins(Tree(source), Tree(right)).own == {"v", "B", "__call__"}
    twins = Twins(
        Tree("class B:\n    def __call__(self, x):\n        return x\nb = B()\ndef f(x):\n    return b(x)\n"),
        Tree(RIGHT),
    )
    assert [unit.name for unit in twins.with_helpers([twins.tree.units[1]])] == ["f", "B.__call__"]


def test_neither_another_class_nor_a_size_by_another_name_is_searched_too():
    right = "class A:\n    def __init__(self, n):\n        super().__init__()\n        self.size = n\n"
    right += "    def f(self, x):\n        return x * self.size\n"
    source = right.replace("self.size", "self.s") + "class B:\n    def __init__(self):\n        self.x = 1\n"
    twins = Twins(Tree(source), Tree(right))
    for unit in twins.tree.units[:2]:
        assert twins.with_helpers([unit]) == (unit,)
    alignment = Alignment(twins.tree.units[1], Tree(right).units[1])
    assert alignment.attributes == {"size": "s"}


def test_a_method_of_the_solution_s_fits_a_class_with_other_names():
    """What it reads of `self` is added: sizes and methods. The solution's constructor keeps the learner's sizes too."""
    right = "class A:\n    def __init__(self, n, m):\n        self.n, self.root = n, m**0.5\n"
    right += (
        "    def f(self, x):\n        return self.g(x) * self.root\n    def g(self, x):\n        return x + self.n\n"
    )
    own = "class A:\n    def __init__(self, n, m):\n        self.sizes = n, m\n    def f(self, x):\n        return x\n"
    blame = Blame.__new__(Blame)
    Twins.__init__(blame, Tree(own), Tree(right))
    maker, method = blame.tree.units
    for units, value in (((method,), 14.0), ((maker,), 3)):
        names: dict = {}
        exec(blame.with_solution(blame.swap(units), {0}), names)
        assert names["A"](4, 4).f(3) == value
    assert names["A"](4, 4).sizes == (4, 4)


COUNTER = """\
class Counter:
    def __init__(self):
        self.number = 0
    def add(self):
        self.number += 1

class Twice:
    def __init__(self):
        self.counter = Counter()
    def add(self):
        self.counter.add()
        self.counter.add()
    def total(self):
        return self.counter.number
"""


@pytest.mark.parametrize("asked", ["Twice", "Counter"])
def test_a_class_of_the_solutions_brings_the_class_whose_insides_it_reads(asked):
    """Unless a check of that other class alone fails: then it is not taken for right."""
    own = COUNTER.replace("number", "how_many").replace("        self.counter.add()\n", "", 1)
    blame = Blame.__new__(Blame)
    Twins.__init__(blame, Tree(own), Tree(COUNTER))
    check = object()
    blame.trial, blame.probes = SimpleNamespace(is_over=False), {"total": Probe(check, (), b"", frozenset({asked}))}

    def passing(source: str) -> frozenset:
        names: dict = {}
        exec(source, names)
        twice = names["Twice"]()
        twice.add()
        try:
            return frozenset({check} if twice.total() == 2 else ())
        except AttributeError:
            return frozenset()

    blame._passing = passing
    groups = blame._of_classes((check,))
    assert [group.units[0].name for group in groups] == (["Twice.__init__"] if asked == "Twice" else [])
    for group in groups:
        assert place.in_definition(group, blame.tree).sentence == "The mistake is in the class Twice."


def test_a_local_name_of_the_learners_stands_for_an_attribute_of_the_solutions():
    right = "class A:\n    def __init__(self, n, m):\n        self.n, self.m = n, m\n"
    right += "    def f(self, x):\n        return x / self.m\n"
    own = right.replace("self.n, self.m = n, m", "self.sizes = (n, m)").replace(
        "return x / self.m", "n, m = self.sizes\n        return x / n"
    )
    alignment = Alignment(Tree(own).units[1], Tree(right).units[1])
    known = (ast.parse(text, mode="eval").body for text in ("self.n", "self.m"))
    difference = Difference(*known, Tree(right).units[1].node.body[-1])
    values = [ast.unparse(edit.changes[0].value) for edit in undoing_edits(alignment, [difference])]
    assert values == ["m"]


def test_names_that_begin_alike_or_are_made_from_one_tuple_belong_to_each_other():
    right = "def f(x):\n    outputs, sums = [], []\n    output = g(x)\n    output = output * 2 + x @ x\n"
    own = "def f(a):\n    n = a.shape[0]\n    outs, sums = [], []\n    out = zeros(n)\n    out = out + a @ a\n"
    alignment = Alignment(Tree(own).units[0], Tree(right).units[0])
    assert alignment.names == {"x": "a", "outputs": "outs", "sums": "sums", "output": "out"}


def test_two_mistakes_are_two_steps_and_both_are_needed():
    tree, alignment = aligned(TWICE)
    replaced, left_out = steps(alignment, frozenset())
    assert sorted(step.line for step in replaced) == [3, 4] and not left_out
    right = WRONG.replace("softmax(0)", "softmax(-1)")

    def fixes(found) -> bool:
        return tree.changed(tuple(change for step in found for change in step.changes), {0}) == right

    assert fixes(replaced)
    assert minimize(replaced, fixes) == replaced
    alone = [step for step in replaced if step.line == 4]
    assert minimize(replaced, lambda found: any(step.line == 4 for step in found)) == alone


def test_a_stretch_that_differs_is_replaced_as_a_whole():
    right = "def f(x, w, n):\n    n = n + 1\n    a = x @ w\n    b = a.exp()\n    c = b / b.sum()\n    return c * n\n"
    wrong = "def f(x, w, n):\n    n = n + 1\n    return x.tanh() + w\n"
    tree = Tree(wrong)
    found = stretch(Alignment(tree.units[0], Tree(right).units[0]))
    assert found is not None and found[1] == (3,)
    assert tree.edit(tree.units[0], found[0].changes) == right
    assert stretch(Alignment(tree.units[0], Tree(right).units[0]), frozenset({"tanh"})) is None  # goes round a helper
    same = stretch(Alignment(tree.units[0], Tree(wrong).units[0]))
    assert same is None  # nothing differs
    whole = Tree("def f(x, w, n):\n    y = x - w\n    z = y - n\n    return z\n")
    assert stretch(Alignment(whole.units[0], Tree(right).units[0])) is None  # all of it differs


def test_a_stretch_within_a_loop_is_the_statement_that_differs():
    right = "def f(x):\n    for row in x:\n        y = row + 1\n        row.copy_(y)\n    return x\n"
    tree = Tree(right.replace("row + 1", "(row * row).exp()"))
    found = stretch(Alignment(tree.units[0], Tree(right).units[0]))
    assert found is not None and found[1] == (3,)
    assert tree.edit(tree.units[0], found[0].changes) == right


def test_a_missing_statement_comes_first_where_it_stands_in_the_solution():
    right = "def f(x, n):\n    y = x.exp()\n    z = y.sum()\n    if n % 2:\n        raise ValueError\n    return z\n"
    tree = Tree(right.replace("    if n % 2:\n        raise ValueError\n", ""))
    edits = list(donor_edits(Alignment(tree.units[0], Tree(right).units[0]), frozenset()))
    inserted = [edit for edit in edits if edit.kind == MISSING and "if n % 2" in tree.text(tree.units[0], edit.changes)]
    assert [edit.line for edit in inserted if edit.tier == 0] == [4]
    assert {edit.line for edit in inserted} == {2, 3, 4}


def test_what_a_loop_runs_over_is_not_replaced_where_the_mistake_may_be_in_it():
    right = "def f(x):\n    y = 0\n    for row in x.split(2):\n        y = y + row.sum()\n    return y\n"
    for body, lines in (("row.sum()", {3}), ("row.exp().sum() * 2", set())):
        tree = Tree(right.replace("x.split(2)", "x.split(3)").replace("row.sum()", body))
        edits = donor_edits(Alignment(tree.units[0], Tree(right).units[0]), frozenset())
        found = [edit for edit in edits if edit.kind == "an argument of split"]
        assert {edit.line for edit in found if "x.split(2):" in tree.text(tree.units[0], edit.changes)} == lines


def test_one_layer_under_two_names_is_made_anew():
    right = "class A:\n    def __init__(self, n):\n        self.q = Linear(n)\n        self.k = Linear(n)\n"
    tree = Tree(right.replace("self.k = Linear(n)", "self.k = self.q"))
    edits = donor_edits(Alignment(tree.units[0], Tree(right).units[0]), frozenset())
    texts = {tree.edit(tree.units[0], edit.changes) for edit in edits if edit.kind == "what is made there"}
    assert right in texts


def test_no_edit_goes_round_what_was_computed():
    other_way = WRONG.replace("    return", "    if products.softmax(0).any():\n        return inputs\n    return")
    tree, alignment = aligned(other_way)
    edits = [edit for edit in donor_edits(alignment, frozenset()) if edit.line == 4]
    assert not any(isinstance(change.parent, ast.If) and change.field == "test" for e in edits for change in e.changes)
    tree = Tree("def f(m):\n    q = m.q * 2\n    k = m.k * 2\n    return q, k\n")
    alignment = Alignment(tree.units[0], Tree("def f(m):\n    return tuple(w for w in (m.q, m.k))\n").units[0])
    changed = [tree.changed(edit.changes, {0}) for edit in donor_edits(alignment, frozenset())]
    assert changed and not any("return tuple" in text for text in changed)


def test_what_is_meant_is_among_the_edits():
    for wrong, right in (
        ("return (x, [y, y])", "return (x, (y, y))"),
        ("return (x, torch.stack([y, y]))", "return (x, (y, y))"),
        ("return x.setdefault(y, 0)", "return x[y]"),
        ("return x.masked_fill(y, torch.nan)", "return x.masked_fill(y, float('-inf'))"),
        ("return {one: y for one in x}", "return {one: y for one in enumerate(x)}"),
        ("return x / y.shape[0] ** 0.5", "return x / y.shape[-1] ** 0.5"),
        ("return x.masked_fill(x == 1, 0)", "return x.masked_fill(x == 1, float('-inf'))"),
        ("return x @ x[1]", "return x @ y"),
    ):
        tree = Tree(f"def f(x, y):\n    {wrong}\n")
        edits = expression_edits(tree.units[0].node, Scope.of(tree.units[0]))
        assert f"def f(x, y):\n    {right}" in {tree.text(tree.units[0], edit.changes) for edit in edits}, wrong
    for wrong, right in (
        ("x[i] = y", "x[y] = i"),
        ("print(x)", "return x"),
        ("x.masked_fill(i, y)", "x = x.masked_fill(i, y)"),
        ("return [i, y]", "return torch.stack([i, y])"),
    ):
        tree = Tree(f"def f(x, i, y):\n    {wrong}\n")
        edits = statement_edits(tree.units[0].node, Scope.of(tree.units[0]), False)
        assert f"def f(x, i, y):\n    {right}" in {tree.text(tree.units[0], edit.changes) for edit in edits}, wrong
    tree = Tree("@torch.no_grad()\ndef f(x):\n    return x\n")
    (edit,) = [one for one in statement_edits(tree.units[0].node, Scope(), False) if one.kind == "a decorator"]
    assert tree.edit(tree.units[0], edit.changes) == "def f(x):\n    return x\n" and edit.line == 1


def test_a_difference_is_told_by_its_innermost_part():
    for old, new, part, kind in (
        ("f(x, dim=1)", "f(x, dim=-1)", "1", "the argument dim"),
        ("f(a / b, dim=1)", "f(a / b ** 0.5, dim=1)", "b", MISSING),
        ("f(\n  x.detach())", "f(x)", "x.detach()", "the call of detach"),
        ("x.mean()", "x.y().mean()", "x", MISSING),
        ("self.q(x)", "self.k(x)", "self.q(x)", "the call of q"),
        ("f(x, 1).bool()", "g(x).h()", "f(x, 1).bool()", COMPUTED),
        ("f(x).bool()", "f(x)", "f(x).bool()", "the call of bool"),
        ("f(x, 1)", "f(x)", "f(x, 1)", "what f is called with"),
        ("a * b", "a @ b", "a * b", "an operation"),
        ("g(a) > b", "g(a) >= b", "g(a) > b", "a comparison"),
        ("[x, -1e4]", "[x, lowest(x)]", "-10000.0", "a number"),
        ("f(x, -1e4)", "f(x, lowest(x))", "-10000.0", "an argument of f"),
    ):
        inner, words = narrow(ast.parse(old, mode="eval").body, ast.parse(new, mode="eval").body)
        assert (ast.unparse(inner), words) == (part, kind)


def test_answers_are_alike_where_the_checks_take_them_for_the_same():
    x = torch.tensor([0.5, 1.0, -2.0])
    assert equal_answers(reply(x), reply(x + 1e-7))
    assert not equal_answers(reply(x), reply(x + 0.1))
    assert not equal_answers(reply(x), reply(x.tolist()))
    assert equal_answers(reply([x, {"a": x}]), reply([x, {"a": x + 1e-7}]))
    assert not equal_answers(reply(x), protocol.encode_reply(protocol.Reply(missing="softmax_naive", names=[])))
    assert not equal_answers(reply(x), b"no reply")


def reply(value: object) -> bytes:
    """A worker's reply with this result."""
    encoder = Encoder()
    return protocol.encode_reply(protocol.Reply(value=encoder.node(value)), encoder.tensors)


LAYER = """\
class Base:
    def size(self):
        return 1
class Layer(Base):
    @staticmethod
    def factor():
        return 2
    def __init__(self, size=3):
        self.__own = size
    def size(self):
        return super().size() + self.__own
def times(x, y=5):
    total = x * y; total += 0
    return total  # a word
"""


def test_a_definition_is_swapped_in_a_loaded_source_and_the_one_before_comes_back():
    tree = Tree(LAYER)
    module: dict = {}
    exec(LAYER + SUPPORT, module)
    put, layer = module["where_swap"], module["Layer"]()
    put("Layer", "class Layer:\n    def size(self):\n        return super().size() + 10 * self.__own\n")
    assert layer.size() == 31
    put("Layer", "class Layer:\n    @staticmethod\n    def factor():\n        return 7\n")
    assert layer.size() == 4 and layer.factor() == 7
    put("", "def times(x, y=6):\n    return Layer.factor() * x * y\n")
    assert layer.factor() == 2 and module["times"](1) == 12
    units = {unit.name: unit for unit in tree.units}
    request, _ = protocol.decode_request(Swap("", tree.text(units["times"], ())).request())
    assert request.target == ["where_swap"]
    args = units["Layer.__init__"].node.args
    assert not can_be_swapped(units["Layer.__init__"], (Change(args, "defaults", 0, ast.Constant(4)),))
    assert can_be_swapped(units["Layer.size"], (Change(units["Layer.size"].node.args, "defaults", None, []),))


def test_of_a_definition_one_statement_is_written_anew():
    tree = Tree(LAYER)
    times = tree.units[-1]
    value = ast.parse("x ** y", mode="eval").body
    assert tree.text(times, (Change(times.node.body[2], "value", None, value),)).splitlines()[-2:] == [
        "    total = x * y; total += 0",
        "    return x ** y",
    ]
    assert tree.text(times, (Change(times.node.body[0], "value", None, value),)).splitlines()[1:3] == [
        "    total = x ** y",
        "    total += 0",
    ]


def test_every_value_can_be_read_and_replaced():
    tree = Tree(WRONG)
    source, marks = put_marks(tree, tree.units)
    module: dict = {}
    exec(source, module)
    x, weight = torch.eye(3), torch.arange(9.0).view(3, 3)
    plain: dict = {}
    exec(WRONG, plain)
    assert torch.equal(module["attend"](x, weight), plain["attend"](x, weight))
    values = {marks[number].name: value for number, value in module["where_log"]() if marks[number].name}
    assert values.keys() == {"inputs", "weight", "k", "products"} and torch.equal(values["products"], weight @ weight.T)
    (number,) = (mark.number for mark in marks if mark.name == "products")
    module["where_put"](number, torch.zeros(3, 3))
    assert torch.equal(module["attend"](x, weight), torch.full((3, 3), 1 / 3))


def test_a_value_is_known_in_another_form():
    scores = torch.arange(24.0).view(2, 3, 4)
    known = KnownValues([Step(scores, (scores,))])
    assert known.holds(scores.mT) and known.holds(scores.view(2, 3, 2, 2)) and not known.holds(scores + 1)
    assert [step.value.shape for step in known.replacements_of(torch.zeros(2, 4, 3))] == [(2, 4, 3)] * 5


def test_a_value_is_known_divided_earlier():
    q, k = torch.rand(3, 4), torch.rand(5, 4)
    scores = q @ k.T
    steps = scale([Step(scores, (q, k)), Step(q, ())], [2.0])
    assert KnownValues(steps).holds(scores / 2) and not KnownValues(steps).holds(scores / 4)
    assert not KnownValues(steps).holds(q / 2)  # an input is not computed


def test_a_list_of_values_can_be_read_and_replaced():
    tree = Tree("def total(x):\n    parts = [row * 2 for row in x]\n    return sum(parts)\n")
    source, marks = put_marks(tree, tree.units)
    module: dict = {}
    exec(source, module)
    assert torch.equal(module["total"](torch.eye(3)), torch.full((3,), 2.0))
    (number,) = (mark.number for mark in marks if mark.name == "parts")
    assert torch.equal(dict(module["where_log"]())[number], 2 * torch.eye(3))
    module["where_put"](number, torch.ones(3, 3))
    assert torch.equal(module["total"](torch.eye(3)), torch.full((3,), 3.0))


def test_a_scope_names_own_functions_and_values_that_are_not_used():
    source = "def words(text):\n    return text.split()\ndef f(x, y):\n    largest = x.amax()\n    return x.exp()\n"
    units = Tree(source).units
    scope = Scope.of(units[1], units)
    assert scope.functions == ["words"] and scope.unused == ["largest"]


def test_a_place_shows_a_single_line_and_lists_several():
    lines = WRONG.splitlines()
    assert place.at_lines(WRONG, lines, (4,), "repair", "an argument of softmax") == place.Place(
        (4,), "Look at line 4, `return products.softmax(0) @ inputs`: an argument of softmax.", "repair"
    )
    assert place.at_lines(WRONG, lines, (2, 3, 4), "several").sentence == "Look at lines 2, 3 and 4."
    long = f"x = {'1 + ' * 40}1"
    assert place.at_lines(long, [long], (1,), "repair").sentence.endswith("…`.")


def test_of_two_places_of_one_check_both_are_told_once():
    one, other = place.Place((2,), "Look at line 2.", "repair"), place.Place((4,), "Look at line 4.", "repair")
    assert place.both(one, one) is one
    assert place.both(one, other) == place.Place((2, 4), "Look at line 2.\nLook at line 4.", "repair")


def test_a_method_that_is_not_sure_is_told_as_its_class():
    source = "class A:\n    def f(self):\n        pass\n    def g(self):\n        pass\ndef h():\n    pass\n"
    tree = Tree(source)
    f, g, h = tree.units
    assert place.in_definition(Group((f,), (), is_sure=True), tree).sentence == "The mistake is in A.f."
    assert place.in_definition(Group((f,), ()), tree).sentence == "The mistake is in the class A."
    assert place.in_definition(Group((h, g), ()), tree).sentence == "The mistake is in h, or in what it calls: A.g."
    assert place.in_definition(Group((f, g, h), ()), tree) is None
    with_helper = Tree(source + "class B:\n    def i(self):\n        pass\n    def j(self):\n        pass\n")
    units = (*with_helper.units[:2], *with_helper.units[3:])
    assert place.in_definition(Group(units, ()), with_helper).sentence == "The mistake is in the class A."


def test_the_construct_of_a_mistake_holds_the_words_that_the_solution_lacks():
    right = 'def f(x: torch.Tensor) -> torch.Tensor:\n    """Words."""\n    return torch.softmax(x @ x.mT, dim=-1)\n'
    other = "\n\ndef g(x):\n    return x.sum()\n"
    wrong = right.replace('    """Words."""\n', "").replace("x.mT", "x.mT.detach() / x.shape[0]")
    guide = alignment.of(wrong, right + other)
    assert guide.right == {} and guide.alone == {"detach"}
    tree = Tree("def f(a):\n    b = torch.ones(a.shape[0]) - 1\n    c = a.detach()\n    return a @ c\n")
    assert guide.construct(tree, tree.units) == 3
    tree = Tree("def f(a):\n    b = torch.ones(a.shape[0]) - 1\n    return a @ a\n")
    assert guide.construct(tree, tree.units) is None


def test_what_is_printed_in_a_stretch_is_not_told():
    mine = Tree("def f(x):\n    y = x.sum(0)\n    print(y)\n    return y + 1\n").units[0]
    theirs = Tree("def f(x):\n    z = x.sum(-1)\n    return z\n").units[0]
    assert stretch(Alignment(mine, theirs)) is None  # that is the whole definition
    mine = Tree("def f(x):\n    y = x * 2\n    y = y - 1\n    print(y)\n    return y.sum(0)\n").units[0]
    theirs = Tree("def f(x):\n    y = x * 2\n    y = y - 1\n    return y.sum(-1)\n").units[0]
    assert stretch(Alignment(mine, theirs))[1] == (5,)
