"""What a torch.nn.Module holds, read and set by torch's own functions.

These are looked up before a learner's code runs. A learner's class may override `named_parameters` or `__getattr__`,
and a file may replace those of nn.Module. So a module is described by the tables that torch keeps in it, with which its
forward pass computes.
"""

import contextlib
from collections.abc import Iterator

import torch

MODULE, TENSOR = torch.nn.Module, torch.Tensor
COPY = TENSOR.copy_
REQUIRES_GRAD = TENSOR.requires_grad.__get__
GRAPH = TENSOR.grad_fn.__get__
ON_FORWARD = torch.nn.modules.module.register_module_forward_hook
OWN_DICT, BASES = MODULE.__dict__["__dict__"].__get__, type.__dict__["__mro__"].__get__


def _kinds() -> dict[int, str]:
    found, waiting = {}, [MODULE]
    while waiting:
        kind = waiting.pop()
        if kind.__module__.startswith("torch.nn"):
            found[id(kind)] = kind.__name__
        waiting += kind.__subclasses__()
    return found


KINDS = _kinds()  # the names of torch's own classes, by id: a class of the learner's may claim to equal one


def parts(module: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Module]]:
    """The module and all inside it, each once with its dotted name, as named_modules does."""
    seen: set[int] = set()
    waiting = [("", module)]
    while waiting:
        name, part = waiting.pop()
        if id(part) in seen or not isinstance(part, MODULE):
            continue
        seen.add(id(part))
        yield name, part
        inside = [(f"{name}.{key}".strip("."), value) for key, value in dict.items(table(part, "_modules"))]
        waiting += reversed(inside)


@contextlib.contextmanager
def watched_graphs() -> Iterator[list[bool]]:
    """A list that gets, for each result of a module's within the block, whether it has a graph for gradients."""
    seen: list[bool] = []
    handle = ON_FORWARD(lambda module, args, result: seen.append(_has_graph(result)))
    try:
        yield seen
    finally:
        handle.remove()


def table(module: torch.nn.Module, name: str) -> dict:
    """torch's own table "_parameters", "_buffers" or "_modules" of a module.

    Raises AttributeError where there is none.
    """
    found = OWN_DICT(module).get(name)
    if not isinstance(found, dict):
        raise AttributeError(f"{type(module).__name__} has no {name}: call super().__init__() first in __init__")
    return found


def parameters(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Every parameter once, by name, as named_parameters gives them."""
    found, seen = {}, set()
    for prefix, part in parts(module):
        for key, value in dict.items(table(part, "_parameters")):
            if value is not None and id(value) not in seen:
                seen.add(id(value))
                found[f"{prefix}.{key}".strip(".")] = value
    return found


def described(module: torch.nn.Module, values: bool) -> dict:
    """parameters (without values: their shapes alone), frozen, modules (name → torch's class), training."""
    held = parameters(module)
    tensors = {name: value for name, value in held.items() if isinstance(value, TENSOR)}
    empty = {name: torch.empty(value.shape, dtype=value.dtype, device="meta") for name, value in tensors.items()}
    return {
        "parameters": held if values else empty,
        "frozen": [name for name, value in tensors.items() if not REQUIRES_GRAD(value)],
        "modules": {name: kind(part) for name, part in parts(module)},
        "training": OWN_DICT(module).get("training") is not False,
    }


def set_parameters(module: torch.nn.Module, values: dict[str, torch.Tensor]) -> dict[str, list]:
    """Set parameters by name, in place. Returns {"unknown", "misshapen", "surplus"}, as protocol.Reply has them.

    unknown: names that the module lacks; misshapen: [name, its shape, the shape given], left as they were; surplus:
    names of the module for which no value is given.
    """
    held = parameters(module)
    unknown, misshapen = [], []
    with torch.no_grad():
        for name, value in values.items():
            if name not in held:
                unknown.append(name)
            elif held[name].shape != value.shape:
                misshapen.append([name, list(held[name].shape), list(value.shape)])
            else:
                COPY(held[name], value)
    return {"unknown": unknown, "misshapen": misshapen, "surplus": [name for name in held if name not in values]}


def kind(part: torch.nn.Module) -> str:
    """The class of torch's own that a part is or is built on: "Linear", "ModuleList", "Module"."""
    return next((KINDS[id(base)] for base in BASES(type(part)) if id(base) in KINDS), "Module")


def _has_graph(result) -> bool:
    return isinstance(result, TENSOR) and GRAPH(result) is not None
