"""Words for values: what an answer is, how two shapes differ, numbers as a person writes them."""

import itertools
import math

import torch

from grader.worker.trees import Opaque, describe

SHOWN = 8  # values of a tensor that a message shows


def kind(value) -> str:
    """A value in words: "a tensor of shape (6, 3)", "None", "a list of 6 floats"."""
    if value is None:
        return "None (is a return missing?)"
    if isinstance(value, Opaque):
        return value.description
    if hasattr(value, "class_name"):
        return f"an object of class {value.class_name}"
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, (list, tuple)) and value:
        inside = {"a tensor" if isinstance(v, torch.Tensor) else type(v).__name__ for v in value}
        noun = inside.pop().removeprefix("a ") if len(inside) == 1 else "value"
        return f"a {type(value).__name__} of {len(value)} {noun}{'s' if len(value) != 1 else ''}"
    return describe(value)


def shape_words(got: tuple, expected: tuple, what: str) -> str:
    """Two shapes that differ, and the likeliest reason."""
    guess = ""
    if got != expected and sorted(got) == sorted(expected):
        guess = ": transposed?"
    elif len(got) == len(expected) + 1 and 1 in got and math.prod(got) == math.prod(expected):
        guess = ": one dimension of size 1 too many"
    elif len(got) + 1 == len(expected) and got == expected[1:]:
        guess = ": is the batch dimension lost?"
    elif len(got) + 1 == len(expected):
        guess = ": one dimension is lost"
    elif len(got) == len(expected):
        axes = [i for i in range(len(got)) if got[i] != expected[i]]
        if len(axes) == 1:
            guess = f": dimension {axes[0]} has {got[axes[0]]} entries instead of {expected[axes[0]]}"
    return f"{what} has the wrong shape: got {got}, expected {expected}{guess}"


def values(tensor: torch.Tensor) -> str:
    """The first row of a tensor, as a person would write it."""
    if tensor.ndim == 0:
        return number(tensor.item())
    row, lead = tensor, ""
    if tensor.ndim > 1 and tensor.numel():
        row = tensor.reshape(-1, tensor.shape[-1])[0]
        lead = f"shape {tuple(tensor.shape)}, first row "
    items = [number(item) for item in itertools.islice(row.tolist(), SHOWN)]
    return f"{lead}[{', '.join(items)}{', …' if row.numel() > SHOWN else ''}]"


def number(value) -> str:
    """A number with four digits after the point, or more where it is small."""
    if not isinstance(value, float) or not math.isfinite(value):
        return str(value)
    return f"{value:.4f}" if value == 0 or 1e-3 <= abs(value) < 1e5 else f"{value:.3g}"


def dtype_name(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
