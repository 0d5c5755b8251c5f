"""Promises on what a call keeps: the dtype, the arguments, the device, and torch's state for gradients."""

from typing import Any

import torch

from grader.judge.compare import expect
from grader.judge.error_sentences import IN_PLACE
from grader.judge.mismatch import Mismatch
from grader.judge.promises.targets import demand_object, where
from grader.judge.proxy import Module, Target, tensors_in
from grader.sandbox.call_results import LearnerError
from grader.worker.fake_device import MIXED

STAND_IN = ". A stand-in device is tried here, since not every machine has a GPU"
WRITTEN = "The code changes an argument that was passed in: make a new object instead."


def keeps_dtype(
    mine: Target, theirs: Target, *args: Any, dtypes: Any = (torch.float64, torch.bfloat16), **kwargs: Any
) -> None:
    """float64 stays float64, a half type stays that type: inputs (and a module) of each dtype.

    A module is left in the last dtype; converting it back does not bring its digits back.
    """
    demand_object(mine, Target)
    for dtype in dtypes:
        for target in (mine, theirs):
            if isinstance(target, Module):
                target.to(dtype=dtype)
        cast = [_cast(value, dtype) for value in args]
        cast_kwargs = {name: _cast(value, dtype) for name, value in kwargs.items()}
        expect(mine(*cast, **cast_kwargs), theirs(*cast, **cast_kwargs))


def keeps_inputs(mine: Target, *args: Any, **kwargs: Any) -> None:
    """The call leaves its arguments as they were, and gives the same answer when it is made again.

    Both calls are made in the same way with the same seed, which is drawn for this check, so nothing tells the code
    which of the two it answers.
    """
    demand_object(mine, Target)
    first_call = mine.with_inputs(*args, **kwargs)
    second_call = mine.with_inputs(*args, seed=mine._learner.calls[-1].seed, **kwargs)
    for _, (listed, keyword_values) in (first_call, second_call):
        for index, (value_after, value_before) in enumerate(zip(listed, args, strict=True)):
            _unchanged(value_after, value_before, f"argument {index}")
        for name, value_before in kwargs.items():
            _unchanged(keyword_values[name], value_before, f"argument {name}")
    expect(second_call[0], first_call[0], "the answer to a second, equal call")


def keeps_device(mine: Target, *args: Any, **kwargs: Any) -> None:
    """On another device the result is the same and is on that device. A fake device replaces a GPU.

    Code that cannot run there fails, since it could not run on a GPU either; so does code that gives another result
    there. A module, also one among the arguments, is moved there and cannot be used afterwards.
    """
    demand_object(mine, Target)
    expected = mine(*args, **kwargs)
    seed = mine._learner.calls[-1].seed
    for module in (mine, *args, *kwargs.values()):
        if isinstance(module, Module):
            module.to(device="meta")
    try:
        result = mine.on_meta(*args, seed=seed, **kwargs)
    except LearnerError as error:
        if error.kind != "exception" or error.is_not_started:
            raise
        line, text = error.frame[0], str(error.facts.get("message", ""))
        if MIXED in text:
            summary = (
                f"{where(mine, line)} mixes tensors of two devices: make new tensors on the inputs' device{STAND_IN}"
            )
        else:
            summary = (
                f"{where(mine, line)} does not run where the inputs are on another device{STAND_IN} "
                f"({error.facts.get('type')})"
            )
        raise Mismatch(summary, text.partition("\n")[0][:300] if summary.endswith(")") else "") from None
    tensors = tensors_in(result)
    if not tensors or any(tensor.device.type == "meta" for tensor in tensors):  # torch's own meta device has no values
        raise Mismatch(f"the result is not on the device of the inputs{STAND_IN}")
    expect(result, expected, "the result for inputs on another device")


def keeps_no_graph(mine: Target, *args: Any, **kwargs: Any) -> Any:
    """No module in the call gives a result with a graph for gradients, and grad mode is on afterwards.

    Returns the result.
    """
    result, graph, grad_mode = mine.with_graph(*args, **kwargs)
    if graph:
        raise Mismatch(f"{mine.name} calls the model with a graph for gradients, which nobody needs: see torch.no_grad")
    if not grad_mode:
        raise Mismatch(f"after {mine.name} grad mode is off: whoever trains afterwards gets no gradients")
    return result


def _unchanged(after: Any, before: Any, name: str) -> None:
    if isinstance(before, Module):
        return
    try:
        expect(after, before, f"{name} after the call")
    except Mismatch as error:
        error.cause = IN_PLACE if isinstance(before, torch.Tensor) else WRITTEN
        raise


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.to(dtype)
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(item, dtype) for item in value)
    return value
