"""The promise that a function can be trained: its gradients are the true ones."""

from collections.abc import Callable
from typing import Any

import torch

from grader.judge.compare import expect
from grader.judge.mismatch import Mismatch
from grader.judge.promises.targets import demand_object
from grader.judge.proxy import Target


def same_gradients(
    mine: Target,
    theirs: Target | Callable[..., torch.Tensor],
    *args: Any,
    tolerance: float | None = None,
    **kwargs: Any,
) -> None:
    """The gradients of every floating-point argument and parameter are the true ones.

    theirs: the reference's target, or a function of ours on tensors, whose gradients are taken in float64.
    """
    demand_object(mine, Target)
    if hasattr(theirs, "gradients"):  # a target, or a check's wrapper of one
        expected = theirs.gradients(*args, **kwargs)
    else:
        expected = _true_gradients(theirs, mine.cotangent_seed, args, kwargs)
    got = mine.gradients(*args, **kwargs)
    if not isinstance(got, dict):
        raise Mismatch("no gradients came back")
    for name, gradient in expected.items():
        if name not in got:
            raise Mismatch(f"no gradient reaches {name}")
        scale = max(1.0, float(gradient.abs().max())) if gradient.numel() else 1.0
        allowed = tolerance if tolerance is not None else _allowed_error(gradient) * scale
        expect(got[name], gradient, f"the gradient of {name}", allowed)


def _true_gradients(
    function: Callable[..., torch.Tensor], seed: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, torch.Tensor]:
    """The gradients of a function of ours by argument, computed in float64, in the dtype of each argument."""
    tensors = {f"argument {index}": value for index, value in enumerate(args) if isinstance(value, torch.Tensor)}
    leaves = {name: value.double().requires_grad_() for name, value in tensors.items()}
    inputs = [leaves.get(f"argument {index}", value) for index, value in enumerate(args)]
    result = function(*inputs, **kwargs)
    cotangent = torch.randn(result.shape, generator=torch.Generator().manual_seed(seed))
    gradients = torch.autograd.grad((result * cotangent).sum(), list(leaves.values()))
    return {name: gradient.to(tensors[name].dtype) for name, gradient in zip(leaves, gradients, strict=True)}


def _allowed_error(gradient: torch.Tensor) -> float:
    return {torch.float64: 1e-6, torch.float32: 2e-5}.get(gradient.dtype, 5e-2)
