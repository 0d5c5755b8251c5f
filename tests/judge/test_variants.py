"""Wrong answers that nobody chose for this grader: peer_variants.toml, and each step of a solution replaced by another.

A variant must be refused. The file's variants must be named too: a learner who gets no points reads why.
"""

import ast
import re

import pytest
from sources import rows, written
from thorough import nightly, sample

from grader import catalog
from grader.catalog import paths
from grader.records.causes import causes
from grader.records.results import PASSED

ROWS = rows("peer_variants.toml")
NAMED = 65  # all of them
FILLS = ("0.0", "-20.0", "-10000.0", "-1000000000.0")


def is_named(result) -> bool:
    return any(cause.diagnosis for cause in causes(result))


@pytest.mark.parametrize("row", sample(ROWS, 5), ids=lambda row: f"{row['exercise']}: {row['what']}")
def test_a_variant_that_other_tests_accepted_is_refused(row, judged):
    assert judged(row["exercise"], written(row), seed=3, diagnose=False).status != "passed"


@nightly
def test_nearly_all_of_them_are_named(judged):
    nameless = [
        f"{row['exercise']}: {row['what']}"
        for row in ROWS
        if not is_named(judged(row["exercise"], written(row), seed=3))
    ]
    assert len(ROWS) - len(nameless) >= NAMED, nameless


# What people write instead of a step, made from the solution itself.


def steps(tree: ast.AST) -> list[tuple[ast.AST, str]]:
    """Each expression that some rule fits, with each of what people write instead."""
    return [(node, instead) for node in ast.walk(tree) for instead in instead_of(node)]


class Replacing(ast.NodeTransformer):
    def __init__(self, expression: ast.AST, instead: str) -> None:
        self.expression, self.instead = expression, instead

    def visit(self, node):
        return ast.parse(self.instead, mode="eval").body if node is self.expression else self.generic_visit(node)


def instead_of(node: ast.AST) -> list[str]:
    """What people write instead of an expression: nothing, the mean, a bound, a large negative number."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return []
    name, given = node.func.attr, [ast.unparse(argument) for argument in node.args]
    owner = ast.unparse(node.func.value)
    if isinstance(node.func.value, ast.BinOp):
        owner = f"({owner})"
    if owner == "tl":  # Triton's functions are no methods
        bounded = [f"tl.exp(tl.maximum({given[0]}, {bound}))" for bound in ("-12.0", "-15.0", "-20.0")]
        return [given[0], *bounded] if name == "exp" else []
    whole = ast.unparse(node)
    if name == "masked_fill" and given[-1].endswith("inf"):
        return [owner, *(f"{owner}.masked_fill({given[0]}, {fill})" for fill in FILLS)]
    if name == "softmax" and owner in ("torch", "F"):
        return [given[0], f"torch.full_like({given[0]}, 1 / ({given[0]}).shape[-1])"]
    if name == "exp" and owner == "torch":
        return [given[0], *(f"torch.exp(({given[0]}).clamp(min={bound}))" for bound in ("-12", "-15", "-20"))]
    if name == "sum":
        return [re.sub(r"\.sum\(", ".mean(", whole), owner]
    if name in ("amax", "transpose", "flatten", "flip") and owner != "torch":
        return [owner]
    if name == "maximum" and owner == "torch":
        return given
    return []


def parsed(exercise) -> ast.Module:
    return ast.parse(paths.solution(exercise.folder).read_text("utf-8"))


def replaced(exercise, number: int) -> str:
    tree = parsed(exercise)
    return ast.unparse(ast.fix_missing_locations(Replacing(*steps(tree)[number]).visit(tree)))


# A fill of −1e9 hides as well as −inf in float32, where scores of ±10,000 are promised, and −10,000 where they are not:
# 15 and 23 have the scores of a model, 27 sums of logarithms of decays, 09 scores of 0 alone.
# exp(−20) is below the last digit of a weight of 1: in the softmax of 32, and beside the decays of 27.
AS_GOOD = re.compile(
    r"[1-3]\d: .*, -1000000000\.0\)|(?:15|23|27): .*, -10000\.0\)|09: .*, -10*\.0\)"
    r"|32: tl\.exp\(tl\.maximum\(x - tl\.max.*, -20\.0\)\)|27: .*, -20\.0\)"
)
STEPS = [
    (exercise, number, f"{ast.unparse(node)} → {instead}")
    for exercise in catalog.for_class()
    for number, (node, instead) in enumerate(steps(parsed(exercise)))
]


@pytest.mark.parametrize(
    ("exercise", "number", "what"), sample(STEPS, 8), ids=lambda part: getattr(part, "folder", str(part)[:60])[:60]
)
def test_what_people_write_instead_of_a_step_is_refused(exercise, number, what, judged):
    instead = f"{exercise.folder[:2]}: {what.partition(' → ')[2]}"
    is_accepted = judged(exercise, replaced(exercise, number), seed=3, diagnose=False).status == PASSED
    assert not is_accepted or AS_GOOD.fullmatch(instead), what


def test_the_steps_are_many_and_each_differs():
    assert len(STEPS) > 250 and all(len({*what.split(" → ")}) == 2 for _, _, what in STEPS)
    without = {exercise.folder[:2] for exercise in catalog.for_class()} - {one.folder[:2] for one, _, _ in STEPS}
    assert without == {"04", "05", "19"}  # these have none of these steps
