"""A call in words: for the learner with the values of its arguments, and as an outline that tells no hidden value."""

from collections.abc import Callable
from typing import Any

import torch

from grader.judge.proxy.held_object import HeldObject
from grader.judge.words import kind

MAX_VALUE = 60  # characters of one argument
ADDRESS = " at 0x"  # stands in what Python writes of an object that has no words of its own


def described(function: str, args: Any, kwargs: Any) -> str:
    """The call as the learner reads it: "attention_weights(tensor (6, 3))"."""
    return _call(function, args, kwargs, _value)


def outlined(function: str, args: Any, kwargs: Any) -> str:
    """The call without values that may be hidden inputs: "encode(a str, a dict)". It shows sizes and switches."""
    return _call(function, args, kwargs, _outline)


def _call(function: str, args: Any, kwargs: Any, text: Callable[[Any], str]) -> str:
    keyword_texts = [f"{name}={text(value)}" for name, value in kwargs.items()]
    return f"{function}({', '.join([*map(text, args), *keyword_texts])})"


def _value(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        dtype = "" if value.dtype == torch.float32 else " " + str(value.dtype).removeprefix("torch.")
        return f"tensor {tuple(value.shape)}{dtype}{'' if value.is_contiguous() else ' non-contiguous'}"
    if isinstance(value, (list, tuple, dict)) and len(repr(value)) > MAX_VALUE:
        return kind(value)
    if isinstance(value, HeldObject):
        return value.class_name
    text = repr(value)
    return kind(value) if ADDRESS in text else text[:MAX_VALUE]


def _outline(value: Any) -> str:
    is_shown = isinstance(value, (torch.Tensor, HeldObject)) or type(value) in (int, bool, type(None))
    return _value(value) if is_shown else kind(value)
