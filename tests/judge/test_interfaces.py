"""Code of somebody who knows no stub: other names, other arguments, files of its own beside it."""

import ast
import functools
import re
from collections.abc import Callable

import pytest
from sources import replace_in, solution
from thorough import sample

from grader import catalog
from grader.catalog import stubs
from grader.judge import messages, renaming
from grader.sandbox.call_results import Call

MULTI_HEAD = ("d_in", "d_out", "context_length", "dropout", "num_heads", "qkv_bias=False")


@pytest.fixture
def grade(graded):
    return functools.partial(graded, name="mine.py")


def messages_of(result) -> list[str]:
    return [check.message for check in result.checks if check.outcome == "failed"]


# What an exercise asks for.


def test_what_an_exercise_asks_for_is_what_its_stub_leaves_to_the_learner():
    stub = (
        "def given(x):\n    return x\n\n\ndef f(a, /, b=1, *, c=None, **more):\n    raise NotImplementedError\n\n\n"
        "class Layer:\n    def __init__(self, d_in, *sizes):\n        raise NotImplementedError\n\n\n"
        "class Given:\n    def __init__(self, d_in):\n        self.d = d_in\n"
    )
    assert stubs.asked_by(stub) == {"f": ("a", "b=1", "*", "c=None", "**more"), "Layer": ("d_in", "*sizes")}


def test_each_exercise_asks_for_something_and_no_folder_that_is_not_there_does():
    assert all(stubs.asked(exercise.folder) for exercise in catalog.exercises())
    assert stubs.asked("99_not_there") == {}
    assert stubs.asked(catalog.find("13").folder)["MultiHeadAttention"] == MULTI_HEAD


# What a file lacks.


def test_of_the_names_that_are_there_the_most_alike_are_shown():
    told = messages.missing("Attention", ["GroupedQueryAttention", "MultiHeadAttention", "MyAttention"], "mine.py")
    assert "Rename it" not in told and "(it defines MyAttention, MultiHeadAttention, Gr" in told  # none of them is it
    for name in ("SelfAttentionV1", "SelfAttention_V1", "Self_Attention_v1", "SelfAtention_v1"):
        told = messages.missing("SelfAttention_v1", ["helper", name], "mine.py")
        assert told.endswith(f"found {name}. Rename it")
    names = sorted([f"helper_{number}" for number in range(9)] + ["weights_of_attention"])
    told = messages.missing("attention_weights", names, "mine.py")
    assert "(it defines weights_of_attention, helper_" in told and told.endswith(" and 4 more)")


def test_the_file_of_another_exercise_is_named_as_such(grade):
    (told,) = {*messages_of(grade("07", solution("08")))}
    assert "names of exercise 08: is this the file that you meant?" in told
    told = messages.missing("project", ["generate", "train"], "mine.py", "05_query_key_value")
    assert "names of exercise" not in told


def test_a_function_that_is_not_there_uses_nothing(grade):
    wrong = solution("08").partition("def weights_for_v1")[0].replace("** 0.5", "** 1.5")
    result = grade("08", wrong, diagnose=True)
    told = [check for check in result.checks if "defines no weights_for_v1" in (check.message or "")]
    assert told and not any(check.diagnosis for check in told)


def test_what_is_not_there_is_not_to_be_fixed_first(grade):
    source = "import torch\ndef linear_attention(queries, keys, values, feature_map=torch.exp):\n    "
    source += "return feature_map(queries) @ (feature_map(keys).mT @ values)\n"
    result = grade("27", source, diagnose=True)
    told = [check for check in result.checks if "values differ" in (check.message or "")]
    assert told and not any("feature_map" in (check.diagnosis or "") for check in told)


# Arguments.


def test_who_calls_an_argument_otherwise_is_told_of_that_alone(grade):
    result = grade("11", replace_in("11", ("context_length", "context_len")), diagnose=True)
    told = [check for check in result.checks if "the lesson calls this argument" in (check.message or "")]
    assert told and not any(check.diagnosis for check in told)


def test_an_argument_is_named_as_the_lesson_does():
    folder = catalog.find("16").folder
    for function, text, said in (
        ("CrossAttention.__call__", "the gradient of argument 1 is wrong", "the gradient of x_2 is wrong"),
        ("CrossAttention.__call__", "argument 0[1] after the call is wrong", "x_1[1] after the call is wrong"),
        ("CrossAttention.__call__", "no gradient reaches argument 2", "no gradient reaches argument 2"),
        ("unknown", "no gradient reaches argument 0", "no gradient reaches argument 0"),
    ):
        assert messages.name_arguments(text, Call("", function, "gradients"), folder) == said


# Names are not mathematics: a right layer under other names loses the check on names alone.

QKV = {"W_query": "w_query", "W_key": "w_key", "W_value": "w_value"}
SHORT = {"W_query": "Wq", "W_key": "Wk", "W_value": "Wv"}
PROJ = {"W_query": "query_proj", "W_key": "key_proj", "W_value": "value_proj", "out_proj": "to_out"}
HEADS = {"query": "q", "key": "k", "value": "v", "output_linear": "proj", "out": "final", "heads": "hs"}
MUTE = {"W_query": "alpha", "W_key": "beta", "W_value": "gamma"}
EXERCISES = [exercise.folder[:2] for exercise in catalog.exercises()]
LESSON = "the lesson calls them W_query, W_key, W_value"


def own_arguments(source: str) -> str:
    """The source with "own_" before the name of each argument, but in functions that autograd or Triton calls."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and not node.decorator_list]
    names = {node.name for node in (*functions, *tree.body) if isinstance(node, ast.ClassDef) or node in functions}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names:
            for keyword in call.keywords:
                keyword.arg = f"own_{keyword.arg}"
    for function in functions:
        for argument in function.args.args:
            if argument.arg != "self":
                function.body.insert(0, ast.parse(f"{argument.arg} = own_{argument.arg}").body[0])
                argument.arg = f"own_{argument.arg}"
    return ast.unparse(tree)


def renamed(exercise: str, names: dict[str, str]) -> str:
    source = solution(exercise)
    for name, other in names.items():
        source = re.sub(rf"\bself\.{name}\b", f"self.{other}", source)
        source = re.sub(rf"\bsa_v2\.{name}\b", f"sa_v2.{other}", source)
    return source


def failed(result) -> dict[str, str]:
    return {check.id: check.message for check in result.checks if check.outcome != "passed"}


OTHERS = (  # exercise, other names of attributes, and the checks on names
    ("07", QKV, ["parameters"]),
    ("08", SHORT, ["parameters"]),
    ("11", PROJ, ["parameters", "wrapper_parameters"]),
    ("12", HEADS, ["head_parameters", "multi_head_parameters", "causal_head_parameters"]),
    ("13", PROJ, ["parameters"]),
    ("16", SHORT, ["parameters"]),
)


@pytest.mark.parametrize("exercise, names, checks", sample(OTHERS, 2))
@pytest.mark.parametrize("reveal", [True, False])
def test_only_the_check_on_names_fails_and_says_so(graded, exercise, names, checks, reveal):
    found = failed(graded(exercise, renamed(exercise, names), reveal=reveal))
    assert list(found) == checks, found
    for message in found.values():
        first = message.splitlines()[0]
        assert first.startswith("the parameters are called ") and ": the lesson calls them " in first
    if exercise in ("07", "08", "16"):
        own = ", ".join(names[name] for name in ("W_query", "W_key", "W_value"))
        assert first == f"the parameters are called {own}: {LESSON}"


def test_numbers_in_a_list_of_layers_are_names_too(graded):
    made = "made = [torch.rand(d_in, d_out) for _ in range(3)]\n        self.all = nn.ParameterList(made)"
    source = re.sub(r"self\.W_query = .*", made, solution("07"))
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


def moved(number: str, start: str, change: Callable[[str], str]) -> str:
    """The solution whose lines from a start on are changed."""
    head, _, rest = solution(number).partition(start)
    return head + "".join(change(line) if line.strip() else line for line in f"{start}{rest}".splitlines(keepends=True))


def test_what_is_at_a_wrong_depth_is_named(graded):
    deeper = moved("07", "    def forward", lambda line: f"    {line}")
    found = failed(graded("07", deeper))["fresh_context_vectors"]
    assert "forward (line " in found and "is inside __init__: move it to the left" in found
    outside = moved("07", "    def forward", lambda line: line.removeprefix("    "))
    found = failed(graded("07", outside))["fresh_context_vectors"]
    assert "is outside the class SelfAttention_v1: move it to the right" in found
    found = failed(graded("03", moved("03", "def context_vectors", lambda line: f"    {line}")))
    assert any("context_vectors (line " in text and "is inside context_vector: " in text for text in found.values())


# The solution of 33 passes its arguments as a dict, whose keys are theirs.
@pytest.mark.parametrize("exercise", [number for number in sample(EXERCISES, 2) if number != "33"])
def test_only_one_check_asks_by_the_names_of_arguments(graded, exercise):
    """Every argument of every function and class of the file has another name."""
    result = graded(exercise, own_arguments(solution(exercise)), reveal=False)
    found = failed(result)
    assert list(found) == ["argument_names"], found
    assert re.match(r"the lesson calls (this argument|these arguments) \w+", found["argument_names"])
    assert result.points == result.max_points - 0.25
