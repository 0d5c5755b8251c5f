"""Code of somebody who knows no stub: other names, other arguments, files of its own beside it."""

import functools
import re

import pytest
from sources import replace_in, solution

from grader import catalog
from grader.catalog import signatures
from grader.judge import messages, trials

MULTI_HEAD = ("d_in", "d_out", "context_length", "dropout", "num_heads", "qkv_bias=False")
HEAD = "import torch\n\n\n"
PAST = """past = getattr(self, "past", [keys[..., :0, :], values[..., :0, :]])
        keys, values = torch.cat([past[0], keys], -2), torch.cat([past[1], values], -2)
        {}
        scores = queries"""


@pytest.fixture
def grade(graded):
    return functools.partial(graded, name="mine.py")


def messages_of(result) -> list[str]:
    """What is said of the checks that fail."""
    return [check.message for check in result.checks if check.outcome == "failed"]


# What an exercise asks for.


def test_what_an_exercise_asks_for_is_what_its_stub_leaves_to_the_learner():
    stub = (
        "def given(x):\n    return x\n\n\ndef f(a, /, b=1, *, c=None, **more):\n    raise NotImplementedError\n\n\n"
        "class Layer:\n    def __init__(self, d_in, *sizes):\n        raise NotImplementedError\n\n\n"
        "class Given:\n    def __init__(self, d_in):\n        self.d = d_in\n"
    )
    assert signatures.of_stub(stub) == {"f": ("a", "b=1", "*", "c=None", "**more"), "Layer": ("d_in", "*sizes")}


def test_each_exercise_asks_for_something_and_no_folder_that_is_not_there_does():
    assert all(signatures.names(exercise.folder) for exercise in catalog.exercises())
    assert signatures.names("99_not_there") == {}
    assert signatures.names(catalog.find("13").folder)["MultiHeadAttention"] == MULTI_HEAD


# What a file lacks.


def test_no_name_that_an_exercise_asks_for_is_taken_for_another_one(grade):
    told = messages_of(grade("02", f"{HEAD}def softmax_naive(x):\n    return x.exp() / x.exp().sum(0)\n"))
    told = [message for message in told if "defines no softmax_stable" in message]
    assert told and all("mine.py defines no softmax_stable (it defines softmax_naive)" in message for message in told)


def test_of_the_names_that_are_there_the_most_alike_are_shown():
    told = messages.missing("Attention", ["GroupedQueryAttention", "MultiHeadAttention", "MyAttention"], "mine.py")
    assert "Rename it" not in told and "(it defines MyAttention, MultiHeadAttention, Gr" in told  # none of them is it
    for name in ("SelfAttentionV1", "SelfAttention_V1", "Self_Attention_v1", "SelfAtention_v1"):
        told = messages.missing("SelfAttention_v1", ["helper", name], "mine.py")
        assert told.endswith(f"found {name}. Rename it")
    names = sorted([f"helper_{number}" for number in range(9)] + ["weights_of_attention"])
    told = messages.missing("attention_weights", names, "mine.py")
    assert "(it defines weights_of_attention, helper_" in told and told.endswith(" and 4 more)")


def test_a_layer_that_was_made_is_no_definition(grade):
    told = messages_of(grade("07", f"{HEAD}class Own(torch.nn.Module):\n    pass\n\n\nown_layer = Own()\n"))
    assert {*told} == {"mine.py defines no SelfAttention_v1 (it defines Own)"}


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
    source = "def linear_attention(queries, keys, values, feature_map=torch.exp):\n    "
    source += "return feature_map(queries) @ (feature_map(keys).mT @ values)\n"
    result = grade("27", HEAD + source, diagnose=True)
    told = [check for check in result.checks if "values differ" in (check.message or "")]
    assert told and not any("feature_map" in (check.diagnosis or "") for check in told)


def test_a_method_is_not_to_be_moved_out_of_its_class(grade):
    source = f"{HEAD}class Model(torch.nn.Module):\n    def init_weights(self):\n        return None\n"
    assert "move it to the left" not in "".join(messages_of(grade("05", source)))


def test_an_import_that_failed_is_no_reason_for_what_the_file_never_had(grade):
    result = grade("05", "import pandas\n\n\ndef init_weigths(d_in, d_out):\n    return None\n")
    assert result.status == "failed" and "found init_weigths. Rename it" in result.checks[0].message


@pytest.mark.parametrize(
    "line", ["from mine_too import *", "from .mine_too import project", "import pandas as project"]
)
def test_an_import_that_should_have_brought_it_is_the_reason(grade, line):
    result = grade("05", f"import matplotlib\n{line}\n")
    assert result.status == "error" and "put code of your other files into this one" in result.message


def test_another_file_may_be_called_like_the_exercise(grade):
    source = "from causal_attention import CausalAttention\n\n\nclass MultiHeadAttentionWrapper:\n    pass\n"
    assert messages_of(grade("11", source))[0].startswith("ImportError: there is no module 'causal_attention' here")


def test_what_a_package_lacks_is_not_said_of_the_package(grade):
    result = grade("05", "from torch.nn import NotThere as init_weights\n")
    assert "cannot import name 'NotThere' from 'torch.nn'" in result.message
    assert "there is no module" not in result.message and "site" not in result.message


# Arguments.


@pytest.mark.parametrize(
    "number, source, error, lesson",
    [
        ("33", "class FeedForward:\n    def __init__(self, config):\n        pass\n",
         "FeedForward cannot be called", "\nlesson   FeedForward(dim, hidden_dim)\n"),
        ("16", "class CrossAttention:\n    def __init__(self, d_model, num_heads, width):\n        assert width == 0\n",
         "AssertionError", "\nlesson   CrossAttention(d_in, d_out_kq, d_out_v)\n"),
    ],
)  # fmt: skip
def test_the_lesson_is_shown_where_a_class_cannot_be_made_as_it_says(grade, number, source, error, lesson):
    told = [message for message in messages_of(grade(number, source)) if error in message]
    assert told and all(lesson in message for message in told)


def test_right_arguments_are_no_reason(grade):
    told = messages_of(grade("11", replace_in("11", ("** 0.5, dim=-1", "** 0.5, dim=-2"))))
    assert told and "\nlesson   " not in "".join(told)


def test_who_calls_an_argument_otherwise_is_told_of_that_alone(grade):
    result = grade("11", replace_in("11", ("context_length", "context_len")), diagnose=True)
    told = [check for check in result.checks if "the lesson calls this argument" in (check.message or "")]
    assert told and not any(check.diagnosis for check in told)


# A file that is graded alone.


def test_what_a_base_class_comes_from_is_named(grade):
    source = "from .base import Base\n\n\nclass SelfAttention_v1(Base):\n    pass\n"
    told = grade("07", source).message
    assert told.startswith("NameError: name 'Base' is not defined")
    assert "it comes from line 1, which failed on loading: your other files are not here" in told


def test_code_for_a_gpu_is_told_to_stay_where_the_inputs_are(grade):
    result = grade("03", "def attention_weights(inputs):\n    return inputs.cuda()\n", diagnose=True)
    # what torch says depends on whether it was built for CUDA
    told = [check.diagnosis for check in result.checks if re.search("CUDA|NVIDIA", check.message or "")]
    assert told and all((diagnosis or "").startswith("The code asks for a GPU") for diagnosis in told)


# What a layer keeps from one call to the next.


@pytest.mark.parametrize(
    "line, power, is_kept", [("self.past = [keys, values]", "0.5", True), ("self.keys = keys", "0.3", False)]
)
def test_a_layer_that_remembers_earlier_calls_is_said_to(grade, line, power, is_kept):
    source = replace_in("08", ("scores = queries", PAST.format(line)), ("0.5", power))
    result = grade("08", source, diagnose=True)
    told = [check.diagnosis for check in result.checks if "values differ" in (check.message or "")]
    assert told and (trials.STATE in told) == is_kept
