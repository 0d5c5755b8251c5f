"""What is read of a source before anything is said of it: what it writes, and faults that its syntax tree shows."""

import re

import pytest
from globs import some

from grader.catalog import mistakes, paths
from grader.judge import general_sentences
from grader.judge.sentence_claims import DENIED, SPOKEN, Claims, named
from grader.judge.wrong_versions import WrongVersion
from grader.records import source
from grader.records.source import SourceWords, caret

FORWARD = """
import torch
from torch import nn

class Layer(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        {}
        return x
"""


def test_right_code_shows_no_fault():
    """Of what is said without a look at the answers: nn.Dropout in forward, and writing into an argument."""
    files = [*some(paths.SOLUTIONS.glob("*/*.py")), *some(paths.SOLUTIONS.glob("*/right/*.py"))]
    found = [(path, fault) for path in files for fault in source.written_faults(path.read_text("utf-8"))]
    assert not [pair for pair in found if pair[1]["kind"] != "join without dim"]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("x = nn.Dropout(0.5)(x)", "dropout in forward"),
        ("x = torch.nn.Linear(3, 3)(x)", "layer in forward"),
        ("x = x @ nn.Parameter(torch.randn(3, 3))", "layer in forward"),
        ("x = x @ torch.nn.Parameter(self.W)", "parameter in forward"),
        ("x = nn.Parameter(x @ self.W.data)", "parameter in forward"),
        ("y = torch.cat([x, x])", "join without dim"),
        ("x *= 2", "in place"),
        ("x[0] = 1", "in place"),
        ("x.add_(1)", "in place"),
        ("x = nn.Softmax(dim=-1)(x)", ""),
        ("y = torch.cat([x, x], dim=1)", ""),
        ("y = torch.cat([x, x], 1)", ""),
        ("x = x.clone(); x *= 2", ""),
        ("y = x * 1; y += 2", ""),
        ("x.requires_grad_(False)", ""),
    ],
)
def test_a_fault_is_seen_where_it_is(line, kind):
    found = source.written_faults(FORWARD.format(line))
    assert [fault["kind"] for fault in found] == ([kind] if kind else [])
    assert all((fault["owner"], fault["function"], fault["line"]) == ("Layer", "forward", 7) for fault in found)


KERNELS = """
import triton
import triton.language as tl

@triton.jit
def helper(x, y):
    {}

@triton.jit
def kernel(x, y):
    value = tl.load(x)
    {}

def launch(x, y):
    {}
"""


@pytest.mark.parametrize(
    ("helper", "kernel", "launch", "storeless"),
    [
        ("return x", "helper(value, y)", "kernel[(1,)](x, y)", ["kernel"]),
        ("return x", "tl.store(y, helper(value, y))", "kernel[(1,)](x, y)", []),
        ("tl.store(y, x)", "helper(value, y)", "kernel[(1,)](x, y)", []),
        ("return x", "tl.atomic_add(y, value)", "kernel[(1,)](x, y)", []),
        ("return x", "y.store([0], value)", "kernel[(1,)](x, y)", []),
        ("return x", "pass", "pass", []),
    ],
)
def test_a_kernel_that_stores_nothing_is_seen(helper, kernel, launch, storeless):
    assert source.storeless_kernels(KERNELS.format(helper, kernel, launch)) == storeless


def test_right_kernels_store():
    files = some(paths.SOLUTIONS.glob("*/right/*.py"))
    assert not [path for path in files if source.storeless_kernels(path.read_text("utf-8"))]


@pytest.mark.parametrize(("read", "lines"), [("x.shape", [3]), ("x[0]", [])])
def test_an_argument_without_an_annotation_is_a_tensor_by_what_is_read_of_it(read, lines):
    """A list may be written into."""
    found = general_sentences.faults_in_place(f"def f(x):\n    n = {read}\n    x[0] = 1\n", frozenset({"f"}))
    assert [fault["line"] for fault in found] == lines


def test_a_note_on_an_argument_is_of_functions_that_the_checks_call():
    source = "def _own(x: Tensor):\n    x *= 2\n\ndef asked(x: torch.Tensor):\n    x -= x.mean()\n"
    (note,) = general_sentences.early_notes(source, frozenset({"asked"}))
    assert note.startswith("line 5: asked changes its argument x in place (`x -= x.mean()`)")


def test_tokens_are_what_is_written_without_type_hints_and_own_names():
    tokens = source.written_tokens(
        "def f(x: torch.Tensor, n: float):\n    y = x.transpose(-2, 1)\n    return len(y)\n"
    )["f"]
    assert {"transpose", "transpose(", "transpose(-2, 1)", "-2", "1", "len("} <= set(tokens)
    assert not {"2", "Tensor", "float", "y"} & set(tokens)


def test_a_sentence_names_calls_dimensions_and_numbers():
    assert {"zeros"} <= named("It adds up in torch.zeros(T, d): that is float32.")
    assert {"transpose(1, 2)"} <= named("The keys are turned by transpose(1, 2).")
    assert {"0", "1"} <= named("Dimensions 0 and 1 change places") and {"-1", "2"} <= named("dim −1, dimension two")
    assert not {"1", "2"} & named("Each row sums to 1, divided by √2") and "-10000" in named("fills in −10,000")


@pytest.mark.parametrize(
    ("mistake", "body", "is_contradicted"),
    [
        ("01_dot_product_scores/scores_as_numbers", "return inputs.detach() @ inputs.T", True),
        ("02_softmax_naive/clamped_above", "return torch.exp(query - torch.relu(query.amax()))", True),
        ("02_softmax_naive/mean_subtracted", "return torch.exp(query - query.median())", True),
        ("02_softmax_naive/stable_with_epsilon", "return query / (query.sum() + 1e-6)", False),
        ("02_softmax_naive/stable_with_epsilon", "return query - query.sum()", True),
        ("06_scaled_dot_product_attention/scaled_by_len_of_keys", "return query / 2 ** 0.5", True),
        ("07_self_attention_v1/root_rounded", "return query / (query.shape[-1] // 2)", True),
        ("07_self_attention_v1/root_rounded", "return query / int(query.shape[-1] ** 0.5)", False),
        ("09_causal_averages/weights_not_kept", "return torch.full((3, 3), 1 / 3)", True),
        ("09_causal_averages/weights_not_kept", "query.tril()\n    return query", False),
        ("03_context_vectors/contexts_in_float32", "out = torch.zeros(len(inputs), 3)\n    return out", False),
        ("03_context_vectors/contexts_in_float32", "return torch.tensor([[1.0]])", True),
        ("06_scaled_dot_product_attention/softmax_over_dim_1", "return torch.softmax(query, dim=1)", False),
        ("06_scaled_dot_product_attention/softmax_over_dim_1", "return torch.softmax(query, dim=-1)", True),
        ("11_causal_attention/dropout_always_one_half", "return nn.Dropout(0.5)", True),
        ("30_triton_kernels/softmax_nothing_masked", "tl.store(query, tl.load(inputs), mask=inputs < 3)", True),
        ("30_triton_kernels/softmax_nothing_masked", "tl.store(query, tl.load(inputs))", False),
        ("30_triton_kernels/softmax_mask_of_the_row", "tl.store(query, tl.load(inputs))", True),
    ],
)
def test_a_sentence_is_held_against_the_source(mistake, body, is_contradicted):
    folder, name = mistake.split("/")
    read = mistakes.find(folder, name)
    version = WrongVersion(name, folder, read.sentence, read.compose, read.definitions)
    function = min(version.changed)
    claims = Claims(paths.solution(folder).read_text("utf-8"))
    source = f"def {function}(query, inputs):\n    {body}\n"
    assert claims.contradicted(version, SourceWords(source)) is is_contradicted
    assert not claims.contradicted(version, SourceWords(read.source)), "its own file holds what it claims"


def test_a_known_mistake_has_what_its_sentence_says_in_plain_words():
    for folder in some(path.name for path in paths.SOLUTIONS.glob("*_*")):
        claims = Claims(paths.solution(folder).read_text("utf-8"))
        for one in mistakes.mistakes(folder):
            if any(re.search(pattern, one.sentence) for pattern in {**SPOKEN, **DENIED}):
                version = WrongVersion(one.name, folder, one.sentence, one.compose, one.definitions)
                assert not claims.contradicted(version, SourceWords(version.source)), one.sentence


@pytest.mark.parametrize(
    ("body", "is_unkept"),
    [("x.tril()\n    return x", True), ("x / 2\n    return x", True), ("y = x.tril()\n    return y / 2", False)],
)
def test_a_result_that_is_not_kept_is_a_token(body, is_unkept):
    assert (source.UNKEPT in source.written_tokens(f"def f(x):\n    {body}\n")["f"]) is is_unkept


@pytest.mark.parametrize(("source", "columns"), [("x = (1 +\n", [4, 5]), ("def f(x y):\n    pass\n", [8, 9])])
def test_the_caret_of_a_syntax_error(source, columns):
    assert caret(source, 1) == columns and caret(source, 2) == []


def test_two_definitions_are_one_text_where_they_differ_in_hints_docstrings_and_form_alone():
    plain = source.written_definitions("def f(x):\n    return x + 1\n\nclass A:\n    def g(self):\n        pass\n")
    function = 'def f(x: int) -> int:\n    """One more."""\n    return (x +\n        1)\n'
    other = source.written_definitions(f"{function}\nclass A:\n    def g(self):\n        return 1\n")
    assert plain.keys() == other.keys() == {"f", "A", "A.g"}
    assert plain["f"] == other["f"] and plain["A"] != other["A"] and plain["A.g"] != other["A.g"]
    assert source.written_definitions("def f(:") == {}


def test_statements_are_one_text_where_they_are_written_alike():
    found = source.written_statements("def f(x):\n    'Two.'\n    if x:\n        return(x  + 1)\n    y = x\n")
    other = source.written_statements("def f(x):\n    y = x\n    return x + 1  # more\n")
    assert found == other and len(found["f"]) == 2
    assert source.written_statements("def f(:") == {}
