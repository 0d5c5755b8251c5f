"""What surrounds one call: torch's state before it, the device of its arguments, and the memory of its result."""

import ctypes

import torch

from .fake_device import each, place, tensors_in

# What can be wrong. The grader shows these texts and no others.
LARGER = "a tensor of the result keeps more memory alive than its own numbers take"
OF_ARGUMENTS = "a tensor of the result shares its memory with an argument: writing into one changes the other"
OF_EACH_OTHER = "two tensors of the result share their memory: writing into one changes the other"
SHARED = (LARGER, OF_ARGUMENTS, OF_EACH_OTHER)


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
    """The arguments, with the tensors in them on the device of the request: a leaf for each that is elsewhere."""
    if device == "cpu":
        return value
    if device == "meta":
        return place(value)
    move = lambda tensor: tensor.detach().to(device).requires_grad_(tensor.requires_grad)  # noqa: E731
    return each(lambda tensor: tensor if tensor.device.type == device else move(tensor), value)


def with_states(args, kwargs):
    """The arguments with the state in place of each generator: a generator itself is not sent back."""
    read = lambda value: value.get_state() if type(value) is torch.Generator else value  # noqa: E731
    return [read(value) for value in args], {name: read(value) for name, value in kwargs.items()}


def shared_memory(result, arguments) -> str:
    """One of SHARED, or "" if each tensor of the result has a storage of its own, no larger than its numbers."""
    tensors = [tensor for tensor in tensors_in(result) if tensor.device.type != "meta"]
    taken, own = [place for value in arguments for place in _extents(value)], [_extent(tensor) for tensor in tensors]
    if any(_overlaps(place, taken) for place in own):
        return OF_ARGUMENTS
    if any(_overlaps(place, own[:number]) for number, place in enumerate(own)):
        return OF_EACH_OTHER
    is_larger = any(end - begin > tensor.nbytes for tensor, (begin, end) in zip(tensors, own))
    return LARGER if is_larger else ""


def _extent(tensor: torch.Tensor) -> tuple[int, int]:
    """From where to where the storage of a tensor lies."""
    storage = tensor.untyped_storage()
    return storage.data_ptr(), storage.data_ptr() + storage.nbytes()


def _overlaps(place: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    begin, end = place
    return begin < end and any(begin < other_end and other_begin < end for other_begin, other_end in others)


def _extents(value) -> list[tuple[int, int]]:
    """From where to where the bytes and the tensors in an argument lie."""
    if type(value) is bytes:
        address = ctypes.cast(ctypes.c_char_p(value), ctypes.c_void_p).value or 0
        return [(address, address + len(value))]
    return [_extent(tensor) for tensor in tensors_in(value) if tensor.device.type != "meta"]
