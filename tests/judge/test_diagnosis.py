"""What is said of wrong code: two mistakes at once, a learner's own words, and sentences that were tried out."""

import pytest
import torch
from sources import replace_in, sentence, with_mistakes
from thorough import sample

from grader import catalog
from grader.catalog import patches
from grader.judge import claims, general_sentences, grading, patterns
from grader.judge.compare import Mismatch
from grader.judge.failure import Failure
from grader.judge.wrong_versions import WrongVersion
from grader.records.results import AND, FIX_FIRST, Settings
from grader.records.source import SourceWords
from grader.records.submission import Submission
from grader.sandbox.call_results import Call
from grader.sandbox.local import Local

SCALE = "keys.shape[-1] ** 0.5"
WRITTEN_INTO = "x[..., :half], x[..., half:] = (x * cos + other * sin).split(half, -1)\n    return x"
NAMED = [  # exercise, what is written, and the known mistakes that checks name
    # The mask is lost in mask_scores, and what the softmax of all scores shows is masked and rescaled afterwards.
    ("10", ("scores_mask_not_kept", "causal_renormalized_afterwards"),
     {"documented_masked_scores": "scores_mask_not_kept", "fresh_masked_scores": "scores_mask_not_kept"}),
    # For heads of size 2 the square of a size divides as its product with 2; the documented size tells.
    ("13", ("half_instead_of_root", "mask_zeros"),
     dict.fromkeys(("fresh_multi_head", "documented_multi_head"), "half_instead_of_root mask_zeros")),
    # Inputs that are scaled in place show in keys that are the inputs themselves.
    ("05", ("inputs_scaled_in_place", "keys_are_inputs"),
     {"documented_query_and_key": "inputs_scaled_in_place keys_are_inputs"}),
    # Large scores give the same answer for columns that sum to 1 and for weights that are turned: a pair tells which.
    ("07", (("dim=-1", "dim=0"), ("keys.shape[-1]", "x.shape[-1]")),
     {"fresh_context_vectors": "scaled_by_d_in softmax_over_columns", "large_scores": "softmax_over_columns"}),
    # Along dim 0 and dim -2 a softmax of a matrix is the same, and so are no scale and √1 for a batch of one.
    ("06", ((f"scores / {SCALE}, dim=-1", "scores, dim=-2"),),
     dict.fromkeys(("documented_weights_of_a_batch", "fresh_weights"), "scaling_left_out softmax_over_queries")),
    # Of two mistakes that answer alike, the one is named whose words are there.
    ("04", (('.split()\n    return torch', '.split(" ")\n    return torch'),), {"*": "split_at_single_spaces"}),
    # The mistake of a class only shows together with that of its layer.
    ("14", ("unscaled", "without_positions"),
     {"documented_attention": "unscaled", "documented_model": "without_positions", "fresh_model": "without_positions"}),
    # What is forbidden is blamed on no function but the one that uses it.
    ("30", ("attention_by_autograd", "gradient_of_log_softmax"),
     {"documented_softmax": "gradient_of_log_softmax", "fresh_softmax": "gradient_of_log_softmax",
      "no_autograd": "attention_by_autograd"}),
    # Nothing that autograd says of a write into the input.
    ("19", (("return (x * cos + other * sin).to(x.dtype)", WRITTEN_INTO),), {"*": "in_place"}),
]  # fmt: skip


@pytest.fixture
def said(judged):
    """`said("03", source)`: what is said of each check that fails."""

    def diagnose(number: str, source: str) -> dict[str, str]:
        checks = judged(number, source, seed=3).checks
        return {check.id: check.diagnosis or "" for check in checks if check.outcome == "failed"}

    return diagnose


# Known mistakes, two of them at once, and what they are taken for.


@pytest.mark.parametrize(("number", "parts", "expected"), sample(NAMED, 4))
def test_a_check_names_the_mistakes_that_explain_it(number, parts, expected, said):
    written = with_mistakes if isinstance(parts[0], str) else replace_in
    told = said(number, written(number, *parts))
    for check, names in expected.items():
        texts = told.values() if check == "*" else [told[check]]
        sentences = {sentence(number, name) for name in names.split()}
        assert {frozenset(text.split(AND)) for text in texts} == {frozenset(sentences)}, check


def test_code_that_nothing_explains_is_soon_given_up(fork_server, monkeypatch):
    """The work is counted in requests to known mistakes, since a verdict must not depend on the time that it takes."""
    requests, answered = [], Local.answer
    monkeypatch.setattr(Local, "answer", lambda *given: requests.append(given) or answered(*given))
    source = replace_in("11", (SCALE, "keys.shape[-1] ** 0.37 + 0.11"))
    grading.result(catalog.find("11"), Submission(source, "submission.py"), fork_server, Settings(seed=3))
    assert 200 < len(requests) < 1500


def test_changes_of_the_same_tokens_are_not_merged():
    base, less, times, two = (f"def f(x):\n    return x {change}\n" for change in ("+ 1", "- 1", "* 1", "+ 2"))
    assert patches.merge(base, less, times) is None and patches.merge(base, less, less) is None
    assert "return x - 2" in patches.merge(base, less, two)


def test_two_mistakes_that_read_oddly_together_warn_nobody(recwarn):
    Local("a = b = [1]\ntry:\n    a[0] ** 2[0]\nexcept TypeError:\n    pass\n", "joined.py", "joined")
    assert not [warning for warning in recwarn if warning.category is SyntaxWarning]


def test_what_is_tried_with_a_wrong_model_is_not_blamed(said):
    """The weights of layer 0 are right, those of layer 1 are not, and the tokens written are those of any mistake."""
    right = "self.attention_weights(x) @ values"
    told = said("14", replace_in("14", (f"mixed = {right}", f"mixed = 1.3 * {right}")))
    of_the_model = [told[name] for name in ("documented_weights", "fresh_weights", "fresh_generation")]
    assert all(FIX_FIRST in text for text in of_the_model)


def test_a_result_does_not_use_what_the_backward_pass_alone_calls():
    methods = "    def forward(ctx, x): return x * x\n    def backward(ctx, grad): return gradients(grad)\n"
    source = f"def gradients(x): return x\nclass Squared:\n{methods}def squared(x): return Squared.apply(x)\n"
    assert "gradients" in SourceWords(source).uses("squared")
    assert SourceWords(source).uses("squared", backward=False) == {"squared", "Squared", "x"}


@pytest.mark.parametrize(
    "got, expected, is_said",
    [
        (torch.zeros(2), torch.ones(2), True),
        (torch.tensor([3, 2]), torch.tensor([3, 1]), False),
        (torch.zeros(3), torch.ones(2), False),
        (torch.zeros(3), (2,), False),
    ],
)
def test_a_dtype_is_not_blamed_for_wrong_tokens_and_shapes(got, expected, is_said):
    """A function that gives tokens may be asked in float64 alone, and then all its failures are in float64."""
    error = Mismatch("the text is wrong", "", got, expected)
    failure = Failure(None, error, [Call("generate(tensor (2, 2) float64)", "generate", "output")])
    said = patterns.of_checks(failure, {"fresh_generate": failure}, {"fresh_residual"})
    assert bool(said and "float64" in said) is is_said


@pytest.mark.parametrize("expected, is_said", [(torch.ones(2).double(), True), (torch.tensor([3, 1]), False)])
def test_gradients_are_not_missed_in_tokens(expected, is_said):
    error = Mismatch("the text has dtype float32; expected another", "", torch.ones(2), expected)
    failure = Failure(None, error, [Call("generate(3)", "generate", "output")])
    words = SourceWords("import torch\ndef generate(n):\n    return torch.tensor([n.item(), 1.0])\n")
    assert bool(general_sentences.of_source(failure, words)) is is_said


@pytest.mark.parametrize(("value", "is_told"), [(0.0, True), (torch.nan, False)])
def test_a_graph_that_is_cut_explains_no_nan(value, is_told):
    error = Mismatch("the gradient is wrong", got=torch.full((2,), value), expected=torch.ones(2))
    failure = Failure(None, error, [Call("f(tensor (2,))", "f", "gradients", error.got)])
    told = general_sentences.of_source(failure, SourceWords("def f(x):\n    return x.detach() * x\n"))
    assert bool(told and ".detach()" in told) is is_told


CHANGES = ("-    x.masked_fill(m, -inf)", "+    x.masked_fill(m, -1e4)")
FILLED = WrongVersion("wrong", "wrong", "Fills with −10,000, by masked_fill.", str, changes=CHANGES)


def test_a_number_that_a_mistake_adds_must_be_in_the_file():
    told = ("x = x.masked_fill(m, -10_000.0)", "x[m] = -1e4")  # masked_fill is in the solution, too, and so no claim
    untold = ("x = x.masked_fill(m, 10000)", "x = x.masked_fill(m, -inf)  # not -10000")
    assert [claims.contradicted(FILLED, source) for source in (*told, *untold)] == [False, False, True, True]
