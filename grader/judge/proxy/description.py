"""Whether a worker's description of an object has the form that Module.describe promises."""

import functools
from typing import Any

import torch

from grader.judge.mismatch import Mismatch
from grader.judge.proxy.tensors import device_of
from grader.judge.words import kind
from grader.sandbox.call_results import LearnerError


def demand_module(facts: Any, class_name: str, values: bool) -> dict[str, Any]:
    """The description of an object of this class. values: whether it holds the values of the parameters.

    Raises Mismatch where the object is no torch.nn.Module or a parameter is none, LearnerError where the form is wrong.
    """
    if not isinstance(facts, dict):
        raise no_module(class_name)
    if not _is_description(facts):
        raise LearnerError("protocol", {"message": "the description of the object is none of ours"})
    for value in facts["parameters"].values():
        if not isinstance(value, torch.Tensor):
            raise Mismatch(f"a parameter of {class_name} is {kind(value)}; expected a tensor of numbers")
        if values and device_of(value) == "meta":
            raise Mismatch(f"a parameter of {class_name} is on the device meta: it has no values")
    return facts


def no_module(class_name: str) -> Mismatch:
    """The error for an object that is no torch.nn.Module."""
    return Mismatch(f"{class_name} is not a torch.nn.Module. Write class {class_name}(nn.Module)")


def _is_description(facts: dict[str, Any]) -> bool:
    tables = [table for name in ("parameters", "modules") if type(table := facts.get(name)) is dict]
    if len(tables) < 2 or type(facts.get("frozen")) is not list:
        return False
    names = [*facts["frozen"], *(name for table in tables for name in table)]
    kinds = facts["modules"].values()
    is_known = all(type(name) is str for name in names) and all(map(_is_torchs, kinds))
    return is_known and type(facts.get("training")) is bool


def _is_torchs(kind_: Any) -> bool:
    """Whether this names a class of torch.nn."""
    return type(kind_) is str and kind_ in _torchs_classes()


@functools.cache
def _torchs_classes() -> frozenset[str]:
    """The names of all modules of torch.nn."""
    names, waiting = set(), [torch.nn.Module]
    while waiting:
        module_class = waiting.pop()
        names |= {module_class.__name__} if module_class.__module__.startswith("torch.nn") else set()
        waiting += module_class.__subclasses__()
    return frozenset(names)
