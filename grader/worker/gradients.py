"""Computes the gradients of a call with respect to its arguments and parameters, and trains a module by them."""

from collections.abc import Callable
from typing import Any

import torch

from .fake_device import tensors_in
from .modules import MODULE, REQUIRES_GRAD, parameters

# The reasons why a call has no gradients. The grader shows these texts and no others.
NO_LEAVES = "nothing among the arguments and parameters can have a gradient"
NO_FLOATS = "the result holds no floating-point tensor"
NO_PATH = "the result has no grad_fn: the path back to the inputs was cut"
NO_GRADIENT = (NO_LEAVES, NO_FLOATS, NO_PATH)


def leaves_of(target, args: list, kwargs: dict) -> dict[str, torch.Tensor]:
    """The tensors whose gradients are computed, by name: the float tensors in the arguments, and the parameters.

    Names are "argument 0", "argument x", "parameter W_query.weight". The parameters that require no gradient are left
    out. The arguments become leaves that require a gradient.
    """
    leaves: dict[str, torch.Tensor] = {}
    for name, value in [*((str(i), value) for i, value in enumerate(args)), *kwargs.items()]:
        _add_leaves(f"argument {name}", value, leaves)
    owner = getattr(target, "__self__", target)
    if isinstance(owner, MODULE):
        for name, parameter in parameters(owner).items():
            if REQUIRES_GRAD(parameter):
                leaves[f"parameter {name}"] = parameter
    return leaves


def _add_leaves(name: str, value, leaves: dict) -> None:
    """Add the float tensors inside an argument, which become leaves of the graph, and the parameters of a module."""
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        leaves[name] = value.requires_grad_()
    elif isinstance(value, MODULE):
        parameters_by_path = {f"{name}.{key}": parameter for key, parameter in parameters(value).items()}
        leaves |= {key: parameter for key, parameter in parameters_by_path.items() if REQUIRES_GRAD(parameter)}
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _add_leaves(f"{name}[{index}]", item, leaves)


def gradients_of(result, leaves: dict, seed: int) -> tuple[dict[str, torch.Tensor] | None, str | None]:
    """The gradients of the sum of the result times random numbers, by the name of the leaf, and None.

    Returns None and the reason (one of NO_GRADIENT) where there are none. seed: that of the random numbers. A leaf that
    the result does not depend on has a gradient of zeros.
    """
    outputs = [tensor for tensor in tensors_in(result) if tensor.is_floating_point()]
    if not leaves:
        return None, NO_LEAVES
    if not outputs:
        return None, NO_FLOATS
    if not any(output.requires_grad for output in outputs):
        return None, NO_PATH
    generator = torch.Generator().manual_seed(seed)
    total: Any = 0.0
    for output in outputs:
        cotangent = torch.randn(output.shape, generator=generator).to(output.device, output.dtype)
        if output.requires_grad:
            total = total + (output * cotangent).sum()
    # A scalar needs no grad_outputs, which would import sympy and take a quarter of a second in each fork.
    grads = torch.autograd.grad(total, list(leaves.values()), materialize_grads=True)
    return dict(zip(leaves, grads, strict=True)), None


def descend(
    module: torch.nn.Module, losses: Callable[[], Any], steps: int, rate: float
) -> tuple[torch.Tensor | None, str | None]:
    """The mean of `losses()` before each of so many steps of gradient descent, which the module has then taken.

    Returns None and the reason (one of NO_GRADIENT) where there is none. By hand, since torch.optim takes seconds to
    import. A parameter that the loss does not depend on stays as it is.
    """
    means = []
    for _ in range(steps):
        values = losses()
        if not isinstance(values, torch.Tensor) or not values.is_floating_point():
            return None, NO_FLOATS
        leaves = [parameter for parameter in parameters(module).values() if REQUIRES_GRAD(parameter)]
        mean = values.mean()
        if not leaves or not mean.requires_grad:
            return None, NO_PATH if leaves else NO_LEAVES
        grads = torch.autograd.grad(mean, leaves, materialize_grads=True)
        means.append(mean.detach())
        with torch.no_grad():
            for parameter, grad in zip(leaves, grads, strict=True):
                parameter.sub_(grad, alpha=rate)
    return torch.stack(means), None


def entries_of(result, grad: torch.Tensor) -> list:
    """What the backward of the autograd.Function that made the result gives: one entry for each argument; else []."""
    backward = getattr(getattr(result, "grad_fn", None), "apply", None)
    entries = () if backward is None else backward(grad)
    return list(entries) if isinstance(entries, (list, tuple)) else [entries]
