"""Code of somebody who knows no stub: other names, other arguments, files of its own beside it."""

import functools
import re

import pytest
from sources import replace_in, solution

from grader import catalog
from grader.catalog import signatures
from grader.judge import messages, trials
from grader.judge.words import number

MULTI_HEAD = ("d_in", "d_out", "context_length", "dropout", "num_heads", "qkv_bias=False")
HEAD = "import torch\n\n\n"
CAUSAL = """
class CausalAttention(torch.nn.Module):
    def __init__(self, {arguments}):
        super().__init__()
        self.W_query = torch.nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = torch.nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = torch.nn.Linear(d_in, d_out, bias=qkv_bias)
        self.drop = torch.nn.Dropout({rate})
        self.register_buffer("hidden", torch.ones(context_length, context_length).triu(1).bool())

    def forward(self, x):
        T = x.shape[1]
        if T > len(self.hidden):
            raise ValueError("too many tokens")
        scores = self.W_query(x) @ self.W_key(x).mT / self.W_key.out_features**0.5
        return self.drop(scores.masked_fill(self.hidden[:T, :T], -torch.inf).softmax(-1)) @ self.W_value(x)
"""


@pytest.fixture
def grade(judged):
    """Without a diagnosis, unless it is asked for."""
    return functools.partial(judged, name="mine.py", diagnose=False)


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
    result = grade("02", f"{HEAD}def softmax_naive(x):\n    return x.exp() / x.exp().sum(0)\n")
    told = [check.message for check in result.checks if "defines no softmax_stable" in (check.message or "")]
    assert told and all("mine.py defines no softmax_stable (it defines softmax_naive)" in message for message in told)


def test_a_longer_name_is_not_taken_for_the_one_that_it_ends_with():
    told = messages.missing("Attention", ["GroupedQueryAttention", "MultiHeadAttention", "MyAttention"], "mine.py")
    assert "Rename it" not in told and "(it defines MyAttention, MultiHeadAttention, Gr" in told


@pytest.mark.parametrize("name", ["SelfAttentionV1", "SelfAttention_V1", "Self_Attention_v1", "SelfAtention_v1"])
def test_a_name_written_in_another_way_is_to_be_renamed(name):
    assert messages.missing("SelfAttention_v1", ["helper", name], "mine.py").endswith(f"found {name}. Rename it")


def test_of_many_names_the_most_alike_are_shown_and_the_others_counted():
    names = sorted([f"helper_{number}" for number in range(9)] + ["weights_of_attention"])
    told = messages.missing("attention_weights", names, "mine.py")
    assert "(it defines weights_of_attention, helper_" in told and told.endswith(" and 4 more)")


def test_a_layer_that_was_made_is_no_definition(grade):
    source = f"{HEAD}class Own(torch.nn.Module):\n    pass\n\n\nown_layer = Own()\n"
    told = {check.message for check in grade("07", source).checks if check.outcome == "failed"}
    assert told == {"mine.py defines no SelfAttention_v1 (it defines Own)"}


def test_the_file_of_another_exercise_is_named_as_such(grade):
    result = grade("07", solution("08"))
    told = {check.message for check in result.checks if check.outcome == "failed"}
    assert len(told) == 1 and "names of exercise 08: is this the file that you meant?" in told.pop()
    assert "names of exercise" not in messages.missing(
        "project", ["generate", "train"], "mine.py", "05_query_key_value"
    )


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
    assert not any("move it to the left" in (check.message or "") for check in grade("05", source).checks)


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
    told = next(check.message for check in grade("11", source).checks if check.outcome == "failed")
    assert told.startswith("ImportError: there is no module 'causal_attention' here")


def test_what_a_package_lacks_is_not_said_of_the_package(grade):
    result = grade("05", "from torch.nn import NotThere as init_weights\n")
    assert "cannot import name 'NotThere' from 'torch.nn'" in result.message
    assert "there is no module" not in result.message and "site" not in result.message


# Arguments.


def test_right_arguments_are_no_reason(grade):
    source = HEAD + CAUSAL.format(arguments="d_in, d_out, context_length, dropout, qkv_bias=False", rate="dropout")
    result = grade("11", source.replace(".softmax(-1)", ".softmax(-2)"))
    assert result.status == "failed"
    assert not any("\nlesson   " in (check.message or "") for check in result.checks)


def test_the_lesson_is_shown_where_a_class_cannot_be_made_as_it_says(grade):
    source = "class FeedForward:\n    def __init__(self, config):\n        pass\n"
    told = [check.message for check in grade("33", source).checks if "FeedForward cannot be called" in check.message]
    assert told and all("\nlesson   FeedForward(dim, hidden_dim)\n" in message for message in told)
    source = "class CrossAttention:\n    def __init__(self, d_model, num_heads, width):\n        assert width == 0\n"
    told = [check.message for check in grade("16", source).checks if "AssertionError" in check.message]
    assert told and all("\nlesson   CrossAttention(d_in, d_out_kq, d_out_v)\n" in message for message in told)


def test_who_calls_an_argument_otherwise_is_told_of_that_alone(grade):
    written = "d_in, d_out, context_len, dropout, qkv_bias=False"
    source = HEAD + CAUSAL.format(arguments=written, rate="dropout").replace("(context_length", "(context_len")
    source = source.replace(", context_length)", ", context_len)")
    result = grade("11", source, diagnose=True)
    told = [check for check in result.checks if "the lesson calls this argument" in (check.message or "")]
    assert told and not any(check.diagnosis for check in told)


# A file that is graded alone.


def test_a_hint_that_is_not_known_here_is_no_fault(grade):
    source = replace_in("13", ("x: torch.Tensor", 'x: Float[Tensor, "batch tokens d"]'))
    assert grade("13", f"from somewhere import Float, Tensor\n{source}").status == "passed"


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


# Variables of the whole file.

READS = """
keys = torch.ones(6, 2)


class SelfAttention_v2(torch.nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = torch.nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = torch.nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = torch.nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        query, key, value = self.W_query(x), self.W_key(x), self.W_value(x)
        weights = torch.softmax(query @ key.mT / {}.shape[-1] ** 0.5, dim=-1)
        return weights @ value
"""


def test_a_large_count_is_a_whole_number():
    told = [number(value) for value in (1049088.0, 123456.5, 2.0**40, 4.0)]
    assert told == ["1049088", "1.23e+05", "1.1e+12", "4.0000"]


# What a layer keeps from one call to the next.

PAST = """
        past = getattr(self, "past", [key[..., :0, :], value[..., :0, :]])
        key, value = torch.cat([past[0], key], -2), torch.cat([past[1], value], -2)
        LINE
"""


@pytest.mark.parametrize(
    "line, power, is_kept", [("self.past = [key, value]", "0.5", True), ("self.keys = key", "0.3", False)]
)
def test_a_layer_that_remembers_earlier_calls_is_said_to(grade, line, power, is_kept):
    source = READS.format("key").replace("        weights =", f"{PAST.replace('LINE', line)}        weights =")
    result = grade("08", HEAD + source.replace("0.5", power), diagnose=True)
    told = [check.diagnosis for check in result.checks if "values differ" in (check.message or "")]
    assert told and (trials.STATE in told) == is_kept
