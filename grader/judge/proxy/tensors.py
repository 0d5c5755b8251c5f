"""The tensors in an answer, and the devices that they lie on."""

from typing import Any

import torch

from grader.judge.mismatch import Mismatch

DEVICES = ("cpu", "cuda", "mps", "meta")


def demand_same_device(value: Any, args: Any, kwargs: Any, device: str) -> None:
    """Raise Mismatch where a result is on another device than the inputs, or has no values."""
    has_inputs = bool(tensors_in([args, kwargs]))
    for tensor in tensors_in(value):
        actual = device_of(tensor)
        if has_inputs and actual != device:
            where = f"the device {actual}" if actual in DEVICES else "another device"
            theirs = (
                "a stand-in device, which is tried since not every machine has a GPU" if device == "meta" else device
            )
            raise Mismatch(f"the result is on {where}, the inputs are on {theirs}")
        if actual == "meta" != device:
            raise Mismatch("the result is on the device meta: it has a shape, but no values")


def device_of(tensor: torch.Tensor) -> str:
    """The device of a tensor, as the worker tells it."""
    return "meta" if tensor.device.type == "meta" else str(tensor.facts["device"])  # type: ignore[attr-defined]


def tensors_in(value: Any) -> list[torch.Tensor]:
    """All tensors inside nested lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [tensor for item in value for tensor in tensors_in(item)] if isinstance(value, (list, tuple)) else []
