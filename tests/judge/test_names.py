"""Names are not mathematics: a right layer under other names loses the check on names alone."""

import ast
import functools
import re

import pytest
from sources import replace_in, solution
from thorough import sample

from grader import catalog
from grader.judge import renaming

QKV = {"W_query": "w_query", "W_key": "w_key", "W_value": "w_value"}
SHORT = {"W_query": "Wq", "W_key": "Wk", "W_value": "Wv"}
PROJ = {"W_query": "query_proj", "W_key": "key_proj", "W_value": "value_proj", "out_proj": "to_out"}
HEADS = {"query": "q", "key": "k", "value": "v", "output_linear": "proj", "out": "final", "heads": "hs"}
MUTE = {"W_query": "alpha", "W_key": "beta", "W_value": "gamma"}
LATE = ("super().__init__()\n", "self.W = nn.Linear(2, 2)\n        super().__init__()\n")
EXERCISES = [exercise.folder[:2] for exercise in catalog.exercises()]
LESSON = "the lesson calls them W_query, W_key, W_value"


class OwnArguments(ast.NodeTransformer):
    """Puts "own_" before the name of each argument of the file's functions, but of those that autograd calls."""

    def __init__(self, tree: ast.Module):
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        self.names = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        self.renamed: list[set[str]] = [set()]
        self.arguments = {function.name: self.of(function) for function in functions}

    def of(self, function: ast.FunctionDef) -> set[str]:
        return {argument.arg for argument in function.args.args} - {"self", "ctx"}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.renamed.append(self.renamed[-1] | self.of(node))
        self.generic_visit(node)
        self.renamed.pop()
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(f"own_{node.arg}", node.annotation) if node.arg in self.renamed[-1] else node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(f"own_{node.id}", node.ctx) if node.id in self.renamed[-1] else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        for keyword in node.keywords:
            if keyword.arg in self.arguments.get(name, ()):
                keyword.arg = f"own_{keyword.arg}"
        return node


def own_arguments(source: str) -> str:
    tree = ast.parse(source)
    return ast.unparse(OwnArguments(tree).visit(tree))


def renamed(exercise: str, names: dict[str, str]) -> str:
    """The solution with attributes of other names."""
    source = solution(exercise)
    for name, other in names.items():
        source = re.sub(rf"\bself\.{name}\b", f"self.{other}", source)
        source = re.sub(rf"\bsa_v2\.{name}\b", f"sa_v2.{other}", source)
    return source


def failed(result) -> dict[str, str]:
    return {check.id: check.message for check in result.checks if check.outcome != "passed"}


@pytest.fixture
def graded(judged):
    return functools.partial(judged, diagnose=False)


@pytest.mark.parametrize(
    "exercise, names, checks, reveal",
    sample(
        [
            (*others, reveal)
            for others in (
                ("07", QKV, ["parameters"]),
                ("08", SHORT, ["parameters"]),
                ("11", PROJ, ["parameters", "wrapper_parameters"]),
                ("12", HEADS, ["head_parameters", "multi_head_parameters", "causal_head_parameters"]),
                ("13", PROJ, ["parameters"]),
                ("16", SHORT, ["parameters"]),
            )
            for reveal in (True, False)
        ],
        4,
    ),
)
def test_only_the_check_on_names_fails_and_says_so(graded, exercise, names, checks, reveal):
    found = failed(graded(exercise, renamed(exercise, names), reveal=reveal))
    assert list(found) == checks, found
    for message in found.values():
        first = message.splitlines()[0]
        assert first.startswith("the parameters are called ") and ": the lesson calls them " in first
    own = [names[name] for name in ("W_query", "W_key", "W_value", "out_proj") if name in names]
    if exercise in ("07", "08", "16"):
        assert first == f"the parameters are called {', '.join(own)}: {LESSON}"


def test_numbers_in_a_list_of_layers_are_names_too(graded):
    source = solution("07").replace(
        "self.W_query = nn.Parameter(torch.rand(d_in, d_out))",
        "made = [torch.rand(d_in, d_out) for _ in range(3)]\n        self.all = nn.ParameterList(made)",
    )
    source = re.sub(r" +self\.W_(key|value) = .*\n", "", source)
    for number, name in enumerate(("query", "key", "value")):
        source = source.replace(f"self.W_{name}", f"self.all[{number}]")
    found = failed(graded("07", source))
    assert list(found) == ["parameters"], found
    assert found["parameters"].startswith(f"the parameters are called all.0, all.1, all.2: {LESSON}")


def test_where_neither_words_nor_order_tell_behaviour_does(graded):
    """Created in another order under names that say nothing: only what the seed gives differs."""
    source = renamed("16", MUTE)
    lines = source.splitlines(keepends=True)
    at = [number for number, line in enumerate(lines) if re.search(r"self\.(alpha|beta|gamma) =", line)]
    lines[at[0]], lines[at[1]] = lines[at[1]], lines[at[0]]
    found = failed(graded("16", "".join(lines)))
    assert set(found) == {"parameters", "documented_context_vectors"}, found


def test_a_mistake_under_other_names_is_one_still(judged):
    result = judged("07", renamed("07", QKV).replace("** 0.5", "** 2.0"))
    assert {"parameters", "fresh_context_vectors"} <= set(failed(result))
    right_names = judged("07", replace_in("07", ("** 0.5", "** 2.0")))
    told, expected = ({check.id: check.diagnosis for check in one.checks} for one in (result, right_names))
    assert told["fresh_context_vectors"] == expected["fresh_context_vectors"]


def test_what_is_missing_or_of_another_shape_is_no_other_name(graded):
    fused = "self.w = nn.Parameter(torch.rand(d_in, 3 * d_out))"
    source = re.sub(r"self\.W_query = .*", fused, solution("07"))
    source = re.sub(r" +self\.W_(key|value) = .*\n", "", source)
    message = failed(graded("07", source))["parameters"]
    assert "W_query, W_key, W_value missing" in message


def test_maps_go_by_shape_then_by_words_then_by_order():
    shapes = dict.fromkeys(("W_query", "W_key", "W_value"), (3, 2))
    assert renaming.maps(shapes, dict.fromkeys(("Wk", "Wq", "Wv"), (3, 2))) == [
        {"W_query": "Wq", "W_key": "Wk", "W_value": "Wv"}
    ]
    first, *others = renaming.maps(shapes, dict.fromkeys("abc", (3, 2)))
    assert first == {"W_query": "a", "W_key": "b", "W_value": "c"} and len(others) == 5
    assert renaming.maps(shapes, dict.fromkeys("ab", (3, 2))) == []
    assert renaming.maps(shapes, {"a": (3, 2), "b": (3, 2), "c": (2, 3)}) == []
    lesson = {f"heads.{n}.{name}.weight": (2, 6) for n in range(2) for name in ("query", "key")}
    own = {f"blocks.{n}.{name}.weight": (2, 6) for n in range(2) for name in ("to_k", "to_q")}
    (found,) = renaming.maps(lesson, own)
    assert found["heads.1.query.weight"] == "blocks.1.to_q.weight"
    assert renaming.names_sentence(found) == (
        "the parameters are called blocks.0.to_q, blocks.0.to_k: the lesson calls them heads.0.query, heads.0.key"
    )


@pytest.mark.parametrize(
    "exercise, change, said",
    [
        ("07", ("def forward", "def foward"), "SelfAttention_v1 has no method forward: found foward (line "),
        ("07", ("def __init__", "def __int__"), "SelfAttention_v1 has no method __init__: found __int__ (line "),
        ("07", ("def __init__", "def _init_"), "SelfAttention_v1 has no method __init__: found _init_ (line "),
        ("08", ("        super().__init__()\n", ""), "does not call super().__init__(): that is its first line"),
        ("16", ("        super().__init__()\n", ""), "does not call super().__init__(): that is its first line"),
        ("07", LATE, "before it calls super().__init__(): call that first"),
    ],
)  # fmt: skip
def test_slips_of_a_class_are_named(graded, exercise, change, said):
    found = failed(graded(exercise, replace_in(exercise, change)))
    assert any(said in message.splitlines()[0] for message in found.values()), found


def test_a_method_at_a_wrong_depth_is_named(graded):
    head, _, body = solution("07").partition("    def forward")
    lines = f"    def forward{body}".splitlines(keepends=True)
    deeper = head + "".join(f"    {line}" if line.strip() else line for line in lines)
    found = failed(graded("07", deeper))["fresh_context_vectors"]
    assert "forward (line " in found and "is inside __init__: move it to the left" in found
    outside = head + "".join(line.removeprefix("    ") for line in lines)
    found = failed(graded("07", outside))["fresh_context_vectors"]
    assert "is outside the class SelfAttention_v1: move it to the right" in found


def test_a_function_one_level_too_deep_is_named(graded):
    head, _, rest = solution("03").partition("def context_vectors")
    lines = f"def context_vectors{rest}".splitlines(keepends=True)
    source = head.rstrip() + "\n\n" + "".join(f"    {line}" if line.strip() else line for line in lines)
    found = failed(graded("03", source))
    assert any("context_vectors (line " in text and "is inside context_vector: " in text for text in found.values())


@pytest.mark.parametrize("exercise", sample(EXERCISES, 2))
def test_only_one_check_asks_by_the_names_of_arguments(graded, exercise):
    """Every argument of every function and class of the file has another name."""
    result = graded(exercise, own_arguments(solution(exercise)), reveal=False)
    found = failed(result)
    assert list(found) == ["argument_names"], found
    assert re.match(r"the lesson calls (this argument|these arguments) \w+", found["argument_names"])
    assert result.points == result.max_points - 0.25


def test_what_is_said_of_one_argument(graded):
    signature = "forward(self, x: torch.Tensor)", "forward(self, X: torch.Tensor)"
    result = graded("07", replace_in("07", signature, ("queries = x", "x = X\n        queries = x")))
    assert result.points == result.max_points - 0.25
    assert failed(result)["argument_names"].startswith("the lesson calls this argument x\n")
