"""Prepares torch for a call: its defaults, its seed, and the device of the arguments."""

import torch

from .fake_device import each, place


def restore_defaults() -> None:
    """Undo what a learner's code may have set for the whole process."""
    if torch.get_default_dtype() is not torch.float32:
        torch.set_default_dtype(torch.float32)
    if not torch.is_grad_enabled():
        torch.set_grad_enabled(True)
    if torch._C._len_torch_function_stack():  # a default device is a mode on this stack
        torch.set_default_device(None)


def set_seed(seed, device: str) -> None:
    """Set torch's generators. seed: an int, or a state of the CPU's generator."""
    if isinstance(seed, torch.Tensor):
        torch.set_rng_state(seed)
    elif device in ("cpu", "meta"):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed takes 300 times as long
    else:
        torch.manual_seed(seed)


def on_device(value, device: str):
    """Arguments on the device of the request, with the same strides."""
    if device == "cpu":
        return value
    if device == "meta":
        return place(value)
    return each(lambda t: torch.empty_strided(t.shape, t.stride(), dtype=t.dtype, device=device).copy_(t), value)
