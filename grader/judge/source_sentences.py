"""Sentences on faults that the learner's syntax tree shows, where the failure is one that they lead to."""

import torch

from grader.judge.compare import Mismatch
from grader.judge.failure import Failure
from grader.records.sanitize import inert
from grader.records.source import SourceWords, written_faults, written_tokens
from grader.records.syntax import place
from grader.sandbox.call_results import LearnerError

FRESH_DROPOUT = (
    "nn.{what} is created in forward: a new module is always in training mode, so it drops values at random even after "
    "eval(). Create it once, in __init__."
)
FRESH_LAYER = (
    "nn.{what} is created in forward, so every call draws new weights, which nothing can train. Create it once, in "
    "__init__."
)
JOINED_ALONG_0 = "torch.{what} without dim joins along dim 0, the first one: say along which dimension to join."
LEAVES_TORCH = {
    "tolist(": ".tolist() turns a tensor into Python numbers, and ",
    "item(": ".item() turns a tensor into a Python number, and ",
    "numpy(": ".numpy() takes the values out of torch, and ",
    "float(": "float(…) turns a tensor into a Python number, and ",
}
LEFT = (
    "{}{} makes a new tensor without gradients, in float32 and on the CPU. "
    "Keep tensors, and join them with torch.stack."
)
MAKERS = {f"{name}(": f"torch.{name}(…)" for name in ("tensor", "as_tensor", "Tensor")}


def sentence(failure: Failure, words: SourceWords) -> str | None:
    """A sentence on a fault of the function or class that failed, or of what it uses; None where none is seen."""
    function = failure.last_called
    if not function or (failure.raised and getattr(failure.error, "kind", "") != "gradient"):
        return None
    used_names = words.uses(function)
    for fault in written_faults(words.source):
        if (fault["owner"] or fault["function"]) not in used_names:
            continue
        if fault["kind"] == "dropout in forward":
            return FRESH_DROPOUT.format(**fault)
        if fault["kind"] == "layer in forward":
            return FRESH_LAYER.format(**fault)
        if fault["kind"] == "join without dim" and _is_too_long(failure):
            return JOINED_ALONG_0.format(**fault)
    return _leaves_torch(failure, words)


def early_notes(source: str, called: frozenset[str]) -> tuple[str, ...]:
    """A note on each line that writes into an argument of a function that the checks call.

    The check on that waits for all the others, and a learner would hear of it last.
    """
    owners = {name.partition(".")[0] for name in called}
    found = [
        fault
        for fault in written_faults(source)
        if fault["kind"] == "in place" and (fault["owner"] or fault["function"]) in owners
    ]
    return tuple(
        f"{place(source, fault['line'])}: {fault['function']} changes its argument {fault['what']} in place "
        f"(`{inert(fault['code'])}`). The caller's tensor changes with it: make a new tensor instead."
        for fault in found
    )


def _is_too_long(failure: Failure) -> bool:
    """Whether the answer has as many numbers and dimensions as it should, and more than it should along dim 0."""
    error = failure.error
    pair = [getattr(error, name, None) for name in ("got", "expected")]
    got, expected = (one if isinstance(one, torch.Tensor) and one.ndim else None for one in pair)
    if got is None or expected is None or got.numel() != expected.numel():
        return False
    return got.ndim == expected.ndim and got.shape[0] > expected.shape[0]


def _leaves_torch(failure: Failure, words: SourceWords) -> str | None:
    """That values leave torch and come back as a new tensor, where gradients, a dtype or a device are wrong."""
    error = failure.error
    no_gradient = isinstance(error, LearnerError) and error.kind == "gradient"
    other_kind = isinstance(error, Mismatch) and ("has dtype" in error.summary or "device" in error.summary)
    expected = error.expected if isinstance(error, Mismatch) else None
    if isinstance(expected, torch.Tensor) and not expected.is_floating_point():
        return None  # tokens have no gradients, and are made as new tensors
    if not (no_gradient or other_kind):
        return None
    tokens = written_tokens(words.source).get(failure.last_called, [])
    leaving = next((text for name, text in LEAVES_TORCH.items() if name in tokens), "")
    making = next((text for name, text in MAKERS.items() if name in tokens), "")
    return LEFT.format(leaving, making) if making else None
