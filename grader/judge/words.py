"""Words for values: what an answer is, how two shapes differ, numbers as a person writes them.

What a value is made of may be told to anybody, so none of these words is the worker's own: a name that it
tells is repeated only where it is one of Python's or torch's.
"""

import builtins
import collections
import difflib
import itertools
import math
import re
from typing import Any

import torch

from grader.worker.codec import ARTICLES, Opaque, describe

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
MANY, MOST_EXACT = 1e5, 2.0**24  # between these a float32 that is whole is a count, or no less readable
MOST_DIGITS = 10**40  # int that is written out
SHOWN = 8  # values of a tensor that a message shows
LARGEST_SIZE = 9_999  # entry of a shape that is written out: a larger one could be a hidden number's digits
UNCALLED = ("a function", "a method")  # as the worker describes them
SENTENCES = {
    *ARTICLES.values(), "a very large int", "a value nested too deeply or with too many parts",
    "a result too large to send",
}  # fmt: skip
# The noun that a phrase is about, which ends before the first of these words: "the context vectors with padding on …".
AFTER_HEAD = "of|in|at|on|with|without|where|that|for|from|to|after|before|and|is|are|has|have"
HEAD = re.compile(rf"the (?:[\w-]+ )*?([\w-]+)(?=,|$| (?:{AFTER_HEAD})\b)")
SINGULAR = ("ss", "bias", "axis", "status")  # how a noun in the singular may end with an s
LAYOUT, DTYPE, ELEMENTS = "a tensor with layout ", "a tensor of dtype ", re.compile(r"a tensor of [\d,]+ elements")


def kind(value: Any) -> str:
    """A value in words: "a tensor of shape (6, 3)", "None", "a list of 6 floats"."""
    if value is None:
        return "None (is a return missing?)"
    if isinstance(value, Opaque):
        return _opaque(value.description)
    if hasattr(value, "class_name"):
        return f"an object of class {value.class_name}" if value.class_name else "an object"
    if isinstance(value, torch.Tensor):
        layout = "quantised values" if value.is_quantized else f"layout {str(value.layout).removeprefix('torch.')}"
        return f"a tensor of shape {sizes(value.shape)}" if is_plain(value) else f"a tensor with {layout}"
    if isinstance(value, (list, tuple)) and value:
        nouns = {_noun(item) for item in value}
        noun = nouns.pop() if len(nouns) == 1 else "value"
        return f"a {type(value).__name__} of {len(value)} {noun}{'s' if len(value) != 1 else ''}"
    return describe(value)


def is_plain(tensor: torch.Tensor) -> bool:
    """Whether its numbers are contiguous in memory, as those of all tensors that a worker sends."""
    return tensor.layout is torch.strided and not tensor.is_quantized and not tensor.is_nested


def shape_words(got: tuple[Any, ...], expected: tuple[Any, ...], what: str) -> str:
    """The sentence on two different shapes, with the difference that the sizes show."""
    guess = ""
    if got != expected and sorted(got) == sorted(expected):
        guess = ": the same sizes in another order"
    elif len(got) == len(expected) + 1 and 1 in got and math.prod(got) == math.prod(expected):
        guess = ": one dimension of size 1 too many"
    elif len(got) + 1 == len(expected) and got == expected[1:]:
        guess = ": dimension 0 is missing"
    elif len(got) + 1 == len(expected):
        guess = ": one dimension is missing"
    elif len(got) == len(expected):
        axes = [i for i in range(len(got)) if got[i] != expected[i]]
        if len(axes) == 1:
            size = sizes(got[axes[0] :][:1]).strip("(,)")
            noun = "entry" if size == "1" else "entries"
            guess = f": dimension {axes[0]} has {size} {noun} instead of {expected[axes[0]]}"
    verb = "have" if is_plural(what) else "has"
    return f"{what} {verb} the wrong shape: got {sizes(got)}, expected {expected}{guess}"


def is_plural(what: str) -> bool:
    """Whether what is compared are several things: "the context vectors of the second head", not "the loss of all"."""
    head = HEAD.match(what)
    return head is not None and head[1].endswith("s") and not head[1].endswith(SINGULAR)


def sizes(shape: Any) -> str:
    """A shape as Python writes it; of numbers that no shape here has, only that they are large."""
    few = itertools.islice(shape, SHOWN)
    size_texts = [str(size) if 0 <= size <= LARGEST_SIZE else f">{LARGEST_SIZE}" for size in few]
    size_texts += ["…"] * (len(shape) > SHOWN)
    return f"({', '.join(size_texts)}{',' if len(size_texts) == 1 else ''})"


def values(tensor: torch.Tensor, index: tuple[int, ...] = ()) -> str:
    """One row of a tensor, as a person would write it: the one with the element `index`, otherwise the first."""
    if tensor.ndim == 0:
        return number(tensor.item())
    row, prefix = tensor, ""
    if tensor.ndim > 1 and tensor.numel():
        row_index = index[:-1] or (0,) * (tensor.ndim - 1)
        row = tensor[row_index]  # no copy, however large
        row_name = f"row {row_index[0] if len(row_index) == 1 else list(row_index)}" if any(row_index) else "first row"
        prefix = f"shape {tuple(tensor.shape)}, {row_name} "
    items = [number(item) for item in row[:SHOWN].tolist()]
    return f"{prefix}[{', '.join(items)}{', …' if row.numel() > SHOWN else ''}]"


def number(value: Any) -> str:
    """A number with four digits after the point, or more where it is small. A large whole one, as a count, is whole."""
    if isinstance(value, int) and abs(value) > MOST_DIGITS:
        return "a very large int"
    if not isinstance(value, float) or not math.isfinite(value):
        return str(value)
    if value.is_integer() and MANY <= abs(value) <= MOST_EXACT:
        return f"{value:.0f}"
    return f"{value:.4f}" if value == 0 or 1e-3 <= abs(value) < MANY else f"{value:.3g}"


def numbers_apart(first: Any, second: Any) -> tuple[str, str]:
    """Two different numbers with as many digits as it takes to see a difference."""
    texts = number(first), number(second)
    for digits in (6, 9, 12, 17) if texts[0] == texts[1] else ():
        texts = f"{first:.{digits}g}", f"{second:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return texts


def ordinal(index: int) -> str:
    """The place of an item, counted from 1 as people count: index 0 is the "first"."""
    number = index + 1
    return ORDINALS[index] if index < len(ORDINALS) else f"{number}th"


def shorten(text: str, most: int) -> str:
    """The first characters of a text, and an … where it is longer."""
    return text if len(text) <= most else f"{text[:most]}…"


def likeness(first: str, second: str) -> float:
    """How alike two names or lines are, from 0 to 1."""
    return difflib.SequenceMatcher(None, first.lower(), second.lower()).ratio()


def dtype_name(tensor: torch.Tensor) -> str:
    """The name of a tensor's dtype: "float32"."""
    return str(tensor.dtype).removeprefix("torch.")


def _noun(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return "tensor"
    return "object" if isinstance(value, Opaque) or hasattr(value, "class_name") else type(value).__name__


def _opaque(text: str) -> str:
    """The worker's words for a value that cannot be sent, where they are ours, Python's or torch's."""
    if text in UNCALLED:
        return f"{text} (are the parentheses of a call missing?)"
    if text in SENTENCES:
        return text
    if ELEMENTS.fullmatch(text):  # not to the digit, which could be a hidden number's
        return f"a tensor of some 10^{len(re.sub('[^0-9]', '', text)) - 1} elements"
    name = text.removeprefix(LAYOUT)
    if isinstance(vars(torch).get(name), torch.layout):
        return text
    name = text.removeprefix(DTYPE)
    if isinstance(vars(torch).get(name), torch.dtype):
        return text
    name = text.removeprefix("a ").removeprefix("an ")
    return text if any(isinstance(vars(home).get(name), type) for home in (builtins, collections)) else "an object"
