"""What is said of wrong code: two mistakes at once, a learner's own words, and sentences that were tried out."""

import functools

import pytest
import torch
from thorough import sample

from grader import catalog
from grader.catalog import mistakes, patches, paths
from grader.judge import general_sentences, grading, patterns, trials
from grader.judge.compare import Mismatch
from grader.judge.failure import Failure, says_little
from grader.records.results import AND, FIX_FIRST, OR, Settings
from grader.records.source import SourceWords
from grader.records.submission import Submission
from grader.sandbox.call_results import Call
from grader.sandbox.local import Local

SELF_ATTENTION = """
import torch
from torch import nn

class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        q, k, v = x @ self.W_query, x @ self.W_key, x @ self.W_value
        {body}
"""
WEIGHTS = "weights = torch.softmax(q @ k.T / k.shape[-1] ** 0.5, dim=-1)"


AVERAGES = """
import torch

kept = {}

def average_loop(x):
    return x.cumsum(1) / torch.arange(1, x.shape[1] + 1, device=x.device)[:, None]

def averaging_weights(T):
    ones = torch.ones(T, T).tril()
    return ones / ones.sum(1, keepdim=True)

def average_matmul(x):
    return kept.setdefault(len(x), averaging_weights(x.shape[1]).to(x)) @ x[:, -x.shape[1]:] if BODY else None

def average_softmax(x):
    scores = x.new_zeros(x.shape[1], x.shape[1])
    return scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf).softmax(-1) @ x
"""


@pytest.fixture
def graded(judged):
    return functools.partial(judged, seed=3)


def said(result) -> dict[str, str]:
    return {check.id: check.diagnosis or "" for check in result.checks if check.outcome == "failed"}


def changed(number: str, *replaced: tuple[str, str]) -> str:
    """The solution of an exercise with these pieces replaced."""
    source = paths.solution(catalog.find(number).folder).read_text("utf-8")
    for old, new in replaced:
        assert old in source, old
        source = source.replace(old, new)
    return source


def sentence(number: str, mistake: str) -> str:
    """What is said of a known mistake."""
    return mistakes.find(catalog.find(number).folder, mistake).sentence


# Two known mistakes in one file: what some checks say, by their ids, and which mistake's sentence nobody says. No id:
# each of the two is named by some check.
PAIRS = {
    "in two functions": ("03", "softmax_over_columns", "query_is_always_journey", {}, ""),
    "in two lines": ("11", "scaling_missing", "mask_shows_the_next_token", {}, ""),
    "in one line": ("07", "no_scale", "softmax_over_columns", {}, ""),
    "late among hundreds that fail alike": ("07", "inputs_centred_in_place", "softmax_over_everything", {}, ""),
    "of which only together one shows": ("05", "inputs_scaled_in_place", "keys_are_inputs", {}, ""),
    "of which the documented size tells one": (
        "13", "half_instead_of_root", "mask_zeros", {"half_instead_of_root": ("fresh_multi_head",)}, "",
    ),
    "of which one hides the other elsewhere": (
        "10", "scores_mask_not_kept", "causal_renormalized_afterwards",
        {"scores_mask_not_kept": ("documented_masked_scores", "fresh_masked_scores")}, "",
    ),
    "of a class and of its layer": (
        "14", "unscaled", "without_positions",
        {"unscaled": ("documented_attention",), "without_positions": ("documented_model", "fresh_model")}, "",
    ),
    "of which one is forbidden in another function": (
        "30", "attention_by_autograd", "gradient_of_log_softmax",
        {"gradient_of_log_softmax": ("documented_softmax",)}, "softmax_by_autograd",
    ),
}  # fmt: skip


@pytest.mark.parametrize("pair", sample(PAIRS, 4))
def test_two_mistakes_are_both_named(pair, graded):
    number, one, other, by, never = PAIRS[pair]
    solution = paths.solution(catalog.find(number).folder).read_text("utf-8")
    folder = catalog.find(number).folder
    source = patches.merge(solution, *(mistakes.find(folder, name).source for name in (one, other)))
    told = said(graded(number, source))
    for name, checks in by.items():
        assert all(sentence(number, name) in told[check] for check in checks), told
    if not by:
        assert all(sentence(number, name) in " ".join(told.values()) for name in (one, other)), told
    assert not never or sentence(number, never) not in told.values()


SPLIT = "return pieces.transpose(1, 2)  # (B, H, T, d / H)"
IN_PLACE = "x[..., :half], x[..., half:] = (x * cos + other * sin).split(half, -1)\n    return x"
OWN_WORDS = "[sorted(words).index(word) for word in words]"
FITS = 'words = sentence.replace(",", "").split()\n    return torch'
SCALE = "scores / keys.shape[-1] ** 0.5, dim=-1"
LOOP = """scores = torch.empty({0}, {0}).to(inputs)
    for i in range(len(inputs)):
        scores[i, :{1}] = (inputs[:{1}] * inputs[i]).sum(-1)
    return scores"""
# The solution with these pieces replaced: what some check says, and what none says. Where the words begin with "@",
# they are the name of a known mistake.
CHANGES = [
    ("04", [("[vocabulary[word] for word in words]", OWN_WORDS)], "encode never reads its argument vocabulary.", ""),
    ("04", [(FITS, FITS.replace("split()", 'split(" ")'))], "@split_at_single_spaces", ""),
    ("07", [("x @ self.W_key", "x @ W_key")], "W_key is kept as self.W_key", ""),
    ("07", [("super().__init__()", "super().__init__")], "super().__init__() has run", ""),
    ("07", [("return weights @ values", "return (weights @ values).numpy()")], "numpy", ""),
    ("07", [("keys = x @ self.W_key  # (T, d_out)", "keys = x @ self.W_key.mul_(1)")], general_sentences.IN_PLACE, ""),
    # Large scores give the same answer for columns that sum to 1 and for weights that are turned.
    ("07", [("dim=-1", "dim=0"), ("keys.shape[-1]", "x.shape[-1]")], f"{AND}@softmax_over_columns", ""),
    ("06", [("return query @ key  # ()", "return (query @ key).item()")], patterns.NUMBER, ""),
    # Along dim 0 and dim -2 a softmax of a matrix is the same, and so are no scale and √1 for a batch of one.
    ("06", [(SCALE, "scores, dim=-2")], f"@scaling_left_out{AND}@softmax_over_queries", ""),
    ("06", [(SCALE, "scores / keys.shape[-2] ** 0.5, dim=-1"), ("keys) @ values", "keys) @ keys")], "", OR),
    # Each printed example has sizes of its own, where the factor is one of two others of known mistakes.
    ("06", [(SCALE, "scores / 0.5, dim=-1")], "", AND),
    ("20", [("(future, -torch.inf)", "(future, torch.inf)")], "", AND),  # the first row is right, and all others NaN
    # An error alone is no proof: cut along the tokens, the heads are as many as the tokens.
    ("13", [(SPLIT, "return torch.stack(x.chunk(num_heads, dim=1), dim=1)")], "", AND),
    # key_padding_mask refuses arguments in another order as a wrong one refuses the right ones.
    ("18", [("key_padding_mask(lengths, x.shape[1])", "key_padding_mask(x.shape[1], lengths)")], "", "@full_refused"),
    ("19", [("return (x * cos + other * sin).to(x.dtype)", IN_PLACE)], "@in_place", ""),
    ("01", [("return inputs @ inputs.T", LOOP.format("6", "len(inputs)"))], "", trials.STATE),
    ("01", [("return inputs @ inputs.T", LOOP.format("len(inputs)", "i + 1"))], "", trials.STATE),
    ("13", [(SPLIT, "return pieces")], "split_heads", ""),
    ("08", [("self.W_", "self.w_")], "", "nn.Parameter"),
]


@pytest.mark.parametrize("number, replaced, words, never", sample(CHANGES, 6))
def test_what_is_said_of_a_changed_solution(number, replaced, words, never, graded):
    told = said(graded(number, changed(number, *replaced)))
    for part in words.split(AND):
        wanted = sentence(number, part[1:]) if part.startswith("@") else part
        assert any(wanted in text for text in told.values()), told
    assert (AND in " ".join(told.values())) == (AND in words)
    unwanted = sentence(number, never[1:]) if never.startswith("@") else never
    assert told and not (never and any(unwanted in text for text in told.values())), told


def test_no_function_is_blamed_that_is_right(graded):
    """The known mistake of split_heads answers as a forward pass that splits the heads by another function."""
    solution = changed("13")
    wrong = solution[solution.index("def split_heads") : solution.index("def merge_heads")].replace(
        SPLIT, "return pieces"
    )
    own = changed("13", ("= split_heads(", "= pieces_of(")) + wrong.replace("split_heads", "pieces_of")
    told = said(graded("13", own))["fresh_multi_head"]
    assert told and "split_heads" not in told


def test_the_words_of_an_assert_are_the_learners_own(graded):
    lines = mistakes.find(catalog.find("12").folder, "multi_head_assert").source.splitlines()
    own = [line.split(",")[0] + ', f"{embed_dim} is odd"' if "assert " in line else line for line in lines]
    assert said(graded("12", "\n".join(own))) == {"uneven_heads": sentence("12", "multi_head_assert")}


# Of a changed solution: the checks that must fail, and words of ids that no failed check has.
NOT_BLAMED = [
    ("11", ("keys.shape[-1] ** 0.5", "keys.shape[-1] ** 0.0"), {"fresh_causal_attention"}, "dropout"),
    ("11", ("keys.shape[-1] ** 0.5", "keys.shape[-1] ** -0.5"), {"fresh_causal_attention"}, "dropout"),
    ("20", ("triu(1 + past)", "triu(1)"), {"chunks"}, "cache_unchanged"),
]


@pytest.mark.parametrize("number, replaced, failing, never", sample(NOT_BLAMED, 2))
def test_no_check_speaks_that_looks_at_something_else(number, replaced, failing, never, graded):
    told = said(graded(number, changed(number, replaced)))
    assert failing <= told.keys() and not any(never in name for name in told)


def test_what_is_tried_with_a_wrong_model_is_not_blamed(graded):
    """The weights of layer 0 are right, those of layer 1 are not, and the tokens written are those of any mistake."""
    mixed = "self.attention_weights(x) @ values"
    told = said(graded("14", changed("14", (f"mixed = {mixed}", f"mixed = 1.3 * {mixed}"))))
    assert all(FIX_FIRST in told[name] for name in ("documented_weights", "fresh_weights", "fresh_generation"))


@pytest.mark.parametrize(
    ("number", "replaced", "check", "words"),
    [
        ("22", ("max(0, start - window + 1)", "start"), "many_tokens", "the first token of a block sees only itself"),
        ("22", ("torch.arange(first, end", "torch.arange(end - first"), "many_tokens", "the first wrong token is NaN"),
        # The check asks for both sides before it compares the first one.
        (
            "18",
            ("places < lengths", "places <= lengths"),
            "documented_mask",
            "key_padding_mask(tensor (2,) int64, 4)\n",
        ),
    ],
)
def test_a_message_shows_where_the_first_wrong_answer_is(number, replaced, check, words, graded):
    wider = [("max(window, 64)", "max(window, 100)")] if number == "22" else []
    result = graded(number, changed(number, *wider, replaced), diagnose=False)
    assert words in next(one.message for one in result.checks if one.id == check)


def test_code_that_nothing_explains_is_soon_given_up(fork_server, monkeypatch):
    """The work is counted in requests to known mistakes, since a verdict must not depend on the time that it takes."""
    unexplained = changed("11", ("keys.shape[-1] ** 0.5", "keys.shape[-1] ** 0.37 + 0.11"))
    requests = []
    handled = Local.handle
    monkeypatch.setattr(Local, "handle", lambda *given: requests.append(given) or handled(*given))
    grading.result(catalog.find("11"), Submission(unexplained, "x.py"), fork_server, Settings(seed=3))
    assert 200 < len(requests) < 1500


def test_a_function_that_uses_a_wrong_one_is_told_so(graded):
    source = """
import torch

def dot_product(a, b):
    total = torch.zeros(())
    for i in range(len(a)):
        total = a[i] * b[i]
    return total

def _all(inputs, query):  # not of the exercise
    return torch.stack([dot_product(row, query) for row in inputs])

def attention_scores_for_query(inputs, query):
    return _all(inputs, query)

def attention_scores(inputs):
    return inputs @ inputs.mT * 2
"""
    told = said(graded("01", source))
    assert "uses dot_product" in told["fresh_scores_for_query"]
    assert not any("uses" in told[name] for name in ("fresh_dot_product", "fresh_attention_scores"))


def test_changes_of_the_same_tokens_are_not_merged():
    base = "def f(x):\n    return x + 1\n"
    assert patches.merge(base, "def f(x):\n    return x - 1\n", "def f(x):\n    return x * 1\n") is None
    assert patches.merge(base, "def f(x):\n    return x - 1\n", "def f(x):\n    return x - 1\n") is None
    assert "return y - 2" not in patches.merge(base, "def f(x):\n    return x - 1\n", "def f(x):\n    return x + 2\n")
    assert "return x - 2" in patches.merge(base, "def f(x):\n    return x - 1\n", "def f(x):\n    return x + 2\n")


def of_self_attention(body: str, graded) -> dict[str, str]:
    return said(graded("07", SELF_ATTENTION.format(body=body.replace("\n", "\n        "))))


def test_what_is_kept_between_calls_is_told_where_it_was_tried(graded):
    source = AVERAGES.replace("kept.setdefault(len(x), ", "kept.setdefault(x.shape[1] < 9, ").replace(
        " if BODY else None", ""
    )
    assert trials.STATE in said(graded("09", source)).values()


def test_a_factor_is_told_where_every_wrong_answer_has_it(graded):
    told = of_self_attention(WEIGHTS + "\nreturn 1.25 * weights @ v", graded)
    assert "Every value is the right one times 1.2500." in told.values()
    told = of_self_attention(WEIGHTS + "\nreturn (1 + len(x) / 24) * weights @ v", graded)
    assert not any(sentence.startswith("Every value") for sentence in told.values())


def test_two_mistakes_that_read_oddly_together_warn_nobody(recwarn):
    Local("a = b = [1]\ntry:\n    a[0] ** 2[0]\nexcept TypeError:\n    pass\n", "joined.py", "joined")
    assert not [warning for warning in recwarn if warning.category is SyntaxWarning]


def test_a_result_does_not_use_what_the_backward_pass_alone_calls():
    source = """
def gradients(x): return x

class Squared:
    def forward(ctx, x): return x * x
    def backward(ctx, grad): return gradients(grad)

def squared(x): return Squared.apply(x)
"""
    assert "gradients" in SourceWords(source).uses("squared")
    assert SourceWords(source).uses("squared", backward=False) == {"squared", "Squared", "x"}


@pytest.mark.parametrize(
    ("answer", "sentence"),
    sample(
        [
            (
                "return weights @ v, weights",
                "The right answer is the first item of a tuple of 2: return only that one.",
            ),
            ("return list(weights @ v)", patterns.JOINED.format("list", "torch.stack")),
            ("return (weights @ v).tolist()", patterns.NUMBERS),
        ],
        2,
    ),
)
def test_a_right_answer_of_the_wrong_kind_is_told_so(answer, sentence, graded):
    told = of_self_attention(f"{WEIGHTS}\n{answer}", graded)
    assert told["documented_context_vectors"] == told["fresh_context_vectors"] == sentence
    wrong = of_self_attention(f"{WEIGHTS}\n{answer.replace('@ v', '@ v * 2')}", graded)
    assert sentence not in wrong.values()


@pytest.mark.parametrize("wrong", sample(["keys", "values"], 1))
def test_a_product_that_does_not_fit_is_the_same_as_einsum(wrong, graded):
    queries, keys, values = ("x_1" if name in ("queries", wrong) else "x_2" for name in ("queries", "keys", "values"))
    forward = f"""
        q, k, v = {queries} @ self.W_query, {keys} @ self.W_key, {values} @ self.W_value
        weights = torch.softmax(torch.einsum("id,jd->ij", q, k) / k.shape[-1] ** 0.5, dim=-1)
        return torch.einsum("ij,jf->if", weights, v)
"""
    solution = paths.solution("16_cross_attention").read_text("utf-8")
    source = solution[: solution.index("def forward")] + "def forward(self, x_1, x_2):" + forward
    known = mistakes.find("16_cross_attention", f"{wrong}_from_the_first")
    assert said(graded("16", source))["fresh_context_vectors"] == known.sentence


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
    said = patterns.of_checks(failure, {"fresh_generate": failure}, {"fresh_residual"}, ())
    assert bool(said and "float64" in said) is is_said


@pytest.mark.parametrize("expected, is_said", [(torch.ones(2).double(), True), (torch.tensor([3, 1]), False)])
def test_gradients_are_not_missed_in_tokens(expected, is_said):
    error = Mismatch("the text has dtype float32; expected another", "", torch.ones(2), expected)
    failure = Failure(None, error, [Call("generate(3)", "generate", "output")])
    words = SourceWords("import torch\ndef generate(n):\n    return torch.tensor([n.item(), 1.0])\n")
    assert bool(general_sentences.of_source(failure, words)) is is_said


@pytest.mark.parametrize(
    "answer, is_little",
    [
        (torch.zeros(5, 5, dtype=torch.bool), True),
        (torch.tensor([3, 1, 2]), True),
        (torch.tensor([3, 1, 2, 0, 4]), False),
        (torch.zeros(5), False),
    ],
)
def test_a_few_whole_numbers_and_one_again_and_again_say_little(answer, is_little):
    failure = Failure(None, Mismatch("the result is wrong"), [Call("f()", "f", "output", answer)])
    assert says_little(failure) is is_little


@pytest.mark.parametrize(("value", "is_told"), [(0.0, True), (torch.nan, False)])
def test_a_graph_that_is_cut_explains_no_nan(value, is_told):
    error = Mismatch("the gradient is wrong", got=torch.full((2,), value), expected=torch.ones(2))
    failure = Failure(None, error, [Call("f(tensor (2,))", "f", "gradients", error.got)])
    told = general_sentences.of_source(failure, SourceWords("def f(x):\n    return x.detach() * x\n"))
    assert bool(told and ".detach()" in told) is is_told
