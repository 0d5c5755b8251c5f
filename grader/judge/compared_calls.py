"""What calls have in common: their answers, and the sizes and whole numbers in their arguments."""

import re

from grader.judge.likeness import differ
from grader.sandbox.call_results import Call

TENSOR = re.compile(r"tensor \(([\d, ]*)\)")  # with its shape, in the outline of a call
CREATION = re.compile(r"[A-Z]\w*\([^()]*\)")  # of an object, at the start of the outline of its call


def alike(first: list[Call], second: list[Call]) -> bool:
    """Whether the same calls had the same answers."""
    return len(first) == len(second) and not any(map(differ, first, second))


def sizes(call: Call) -> list[str]:
    """The numbers in a call: the sizes of its tensors, and whole numbers."""
    return re.findall(r"\d+", call.outline)


def is_of_object(call: Call) -> bool:
    """Whether it creates an object, or calls one."""
    return CREATION.match(call.outline) is not None


def shapes(call: Call) -> list[list[str]]:
    """The shapes of the tensors in a call."""
    return [re.findall(r"\d+", shape) for shape in TENSOR.findall(call.outline)]


def most_dimensions(calls: list[Call]) -> int:
    """The dimensions of the tensor in these calls that has most of them, 0 where there is no tensor."""
    return max((len(shape) for call in calls for shape in shapes(call)), default=0)


def numbers(call: Call) -> list[str]:
    """The whole numbers in a call that are no sizes: not those in the creation of its object."""
    return re.findall(r"-?\d+", TENSOR.sub("", CREATION.sub("", call.outline, count=1)))


def options(call: Call) -> list[str]:
    """The arguments of a call and of the creation of its object that are True, False or None."""
    return re.findall(r"\b(?:True|False|None)\b", call.outline)
