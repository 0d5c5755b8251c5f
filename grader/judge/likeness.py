"""When two failures or two answers are alike: a known mistake explains what it does alike."""

import re
from dataclasses import replace
from typing import Any

from grader.judge.compare import same
from grader.judge.mismatch import Mismatch
from grader.sandbox.call_results import Call, LearnerError

OWN_WORDS = re.compile(r"(raise|assert)\b")  # a line whose exception says what its author wrote
DIGITS = re.compile(r"\d+")
# What torch says of a product whose sizes do not fit: those of the left and of the right factor that should be equal.
NO_PRODUCT = (
    re.compile(r"mat1 and mat2 shapes cannot be multiplied \(\d+x(?P<left>\d+) and (?P<right>\d+)x\d+\)"),
    re.compile(r"Expected size for .* batch2 tensor to be: \[(\d+), (?P<left>\d+)\] but got: \[\1, (?P<right>\d+)\]"),
    re.compile(r"einsum\(\): subscript \w has size (?P<right>\d+) for operand 1 .* previously seen size (?P<left>\d+)"),
)
SUGGESTION = re.compile(r"\. Did you mean: '\w+'\?$")  # which other names there are differs from file to file
COUNTS = re.compile(r"(cell \d+, )?line \d+|\d+ of \d+ values? (differ|is|are)")


def differ(first: Call, second: Call) -> bool:
    """Whether two calls had other answers."""
    if first.problem is None and second.problem is None:
        if second.want == "describe":
            first, second = _without_names(first, second)
        return not same(_plain(first.value), _plain(second.value))
    return first.problem is None or second.problem is None or outline(first.problem) != outline(second.problem)


def outline(error: BaseException) -> tuple[Any, ...]:
    """The kind and the words of a failure. Two failures are alike where these are equal.

    The words of a learner's own `raise` or `assert` do not count: each writes others. The sizes in torch's count in any
    order: x.masked_fill(mask, 0) and its twin with _ tell them in another one. Of a product whose sizes do not fit,
    those two count alone, whether it was written with @ or as einsum. Where parameters are missing or surplus, it
    counts whether those that are there are weights, biases or neither: linear layers by other names are no
    nn.Parameters, and a bias is no mask.
    """
    if isinstance(error, LearnerError):
        own_words = OWN_WORDS.match(error.frame[2])
        text = "" if own_words else words(error)
        product = next((found for pattern in NO_PRODUCT if (found := pattern.match(text))), None)
        if product is not None:
            return (error.kind, error.facts.get("type"), "no product", [product["left"], product["right"]])
        return (error.kind, error.facts.get("type"), DIGITS.sub("", text), sorted(DIGITS.findall(text)))
    parameter_kinds = error.got if isinstance(error, Mismatch) and isinstance(error.got, frozenset) else None
    return ("mismatch", None, words(error), parameter_kinds)


def words(error: BaseException) -> str:
    """The words of a failure, without places and counts."""
    if isinstance(error, LearnerError):
        return SUGGESTION.sub("", str(error.facts.get("message", error.facts.get("signature", ""))))[:200]
    return COUNTS.sub("", error.summary if isinstance(error, Mismatch) else str(error))


def _without_names(first: Call, second: Call) -> tuple[Call, Call]:
    """Parameters that go by other names, as lists: only the check on names looks at the names."""
    first_value, second_value = first.value, second.value
    if isinstance(first_value, dict) and isinstance(second_value, dict) and first_value.keys() != second_value.keys():
        return replace(first, value=list(first_value.values())), replace(second, value=list(second_value.values()))
    return first, second


def _plain(value: Any) -> Any:
    """An answer with every object of the learner's replaced by its class's name."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return getattr(value, "class_name", value)
