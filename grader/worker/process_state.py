"""Prepares torch for a call: restores its defaults, sets its seed, and moves the arguments to a device.

After a call it reads the states of the generators among the arguments.
"""

import torch

from .fake_device import place
from .nested import each


def restore_defaults() -> None:
    """Restore torch's default dtype, grad mode and device, which a learner's code may have changed for the process."""
    if torch.get_default_dtype() is not torch.float32:
        torch.set_default_dtype(torch.float32)
    if not torch.is_grad_enabled():
        torch.set_grad_enabled(True)
    if torch._C._len_torch_function_stack():  # a default device is a mode on this stack
        torch.set_default_device(None)


def set_seed(seed, device: str) -> None:
    """Seed torch's generators. seed: an int, or a state of the CPU's generator. device: the one to compute on."""
    if isinstance(seed, torch.Tensor):
        torch.set_rng_state(seed)
    elif device in ("cpu", "meta"):
        torch.default_generator.manual_seed(seed)  # the function torch.manual_seed takes 300 times as long
    else:
        torch.manual_seed(seed)


def on_device(value, device: str):
    """The arguments, with the tensors in them on the device of the request, with the same strides."""
    if device == "cpu":
        return value
    if device == "meta":
        return place(value)
    return each(lambda tensor: _copied(tensor, device), value)


def _copied(tensor: torch.Tensor, device: str) -> torch.Tensor:
    """The tensor on a device, itself if it is there. A copy is a leaf: a backward pass leaves its gradient there."""
    if tensor.device.type == device:
        return tensor
    copy = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)
    return copy.copy_(tensor.detach()).requires_grad_(tensor.requires_grad)


def with_states(args, kwargs):
    """The arguments with the state in place of each generator: a generator itself is not sent back."""
    read = lambda value: value.get_state() if type(value) is torch.Generator else value  # noqa: E731
    return [read(value) for value in args], {name: read(value) for name, value in kwargs.items()}
