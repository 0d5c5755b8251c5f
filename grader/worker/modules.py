"""Reads and sets the parameters and parts of a torch.nn.Module by torch's own functions.

The functions are looked up before a learner's code runs. A learner's class may override `named_parameters` or
`__getattr__`, and a file may replace those of nn.Module. A module is therefore described by the dicts that torch keeps
in it, with which its forward pass computes.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

MODULE, TENSOR = torch.nn.Module, torch.Tensor
COPY = TENSOR.copy_
REQUIRES_GRAD, GRAPH = vars(torch._C.TensorBase)["requires_grad"].__get__, vars(torch._C.TensorBase)["grad_fn"].__get__
ON_FORWARD = torch.nn.modules.module.register_module_forward_hook
OWN_DICT, BASES = MODULE.__dict__["__dict__"].__get__, type.__dict__["__mro__"].__get__


# The names of torch's own classes, by id, since a learner's class can define equality.
KINDS = {id(kind): name for name, kind in vars(torch.nn).items() if isinstance(kind, type) and issubclass(kind, MODULE)}


def parts(module: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Module]]:
    """The module and all modules inside it, each once and with its dotted name, as named_modules gives them."""
    seen_ids: set[int] = set()
    waiting = [("", module)]
    while waiting:
        name, submodule = waiting.pop()
        if id(submodule) in seen_ids or not isinstance(submodule, MODULE):
            continue
        seen_ids.add(id(submodule))
        yield name, submodule
        children = [(f"{name}.{key}".strip("."), value) for key, value in dict.items(table(submodule, "_modules"))]
        waiting += reversed(children)


@contextlib.contextmanager
def watched_graphs() -> Iterator[list[bool]]:
    """Yields a list, to which each forward pass of a module within the block adds whether its result has a graph."""
    graphs: list[bool] = []
    handle = ON_FORWARD(
        lambda module, args, result: graphs.append(isinstance(result, TENSOR) and GRAPH(result) is not None)
    )
    try:
        yield graphs
    finally:
        handle.remove()


def table(module: torch.nn.Module, name: str) -> dict:
    """The dict "_parameters", "_buffers" or "_modules" that torch keeps in a module; AttributeError without one."""
    entries = OWN_DICT(module).get(name)
    if not isinstance(entries, dict):
        raise AttributeError(f"{type(module).__name__} has no {name}: call super().__init__() first in __init__")
    return entries


def parameters(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Every parameter once, by name, as named_parameters gives them."""
    by_name, seen_ids = {}, set()
    for prefix, submodule in parts(module):
        for key, value in dict.items(table(submodule, "_parameters")):
            if value is not None and id(value) not in seen_ids:
                seen_ids.add(id(value))
                by_name[f"{prefix}.{key}".strip(".")] = value
    return by_name


def describe(module: torch.nn.Module, values: bool) -> dict:
    """A module as a dict of its parts.

    parameters: tensors by name; unless `values`, on the device "meta". frozen: the names of those that require no
    gradient. modules: the name of torch's class (see `kind`) by the part's name. training: whether it is in this mode.
    """
    by_name = parameters(module)
    tensors = {name: value for name, value in by_name.items() if isinstance(value, TENSOR)}
    empty = {name: torch.empty(value.shape, dtype=value.dtype, device="meta") for name, value in tensors.items()}
    return {
        "parameters": by_name if values else empty,
        "frozen": [name for name, value in tensors.items() if not REQUIRES_GRAD(value)],
        "modules": {name: kind(submodule) for name, submodule in parts(module)},
        "training": OWN_DICT(module).get("training") is not False,
    }


def set_parameters(module: torch.nn.Module, values: dict[str, torch.Tensor]) -> dict[str, Any]:
    """Set parameters by name, in place. Returns the fields `unknown`, `misshapen` and `surplus` of protocol.Reply.

    unknown: names that the module lacks. misshapen: [name, its shape, the shape of the value], for parameters that were
    not set. surplus: names of parameters for which there is no value.
    """
    by_name = parameters(module)
    unknown, misshapen = [], []
    with torch.no_grad():
        for name, value in values.items():
            if name not in by_name:
                unknown.append(name)
            elif by_name[name].shape != value.shape:
                misshapen.append([name, list(by_name[name].shape), list(value.shape)])
            else:
                COPY(by_name[name], value)
    return {"unknown": unknown, "misshapen": misshapen, "surplus": [name for name in by_name if name not in values]}


def kind(module: torch.nn.Module) -> str:
    """The name of torch's class that a part is an instance of, or that its class derives from: "Linear", "Module"."""
    return next((KINDS[id(base)] for base in BASES(type(module)) if id(base) in KINDS), "Module")
