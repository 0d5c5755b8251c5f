"""Says whether the tensors of a result have memory of their own."""

import ctypes

import torch

# What can be wrong. The grader shows these texts and no others.
LARGER = "a tensor of the result keeps more memory alive than its own numbers take"
OF_ARGUMENTS = "a tensor of the result shares its memory with an argument: writing into one changes the other"
OF_EACH_OTHER = "two tensors of the result share their memory: writing into one changes the other"
SHARED = (LARGER, OF_ARGUMENTS, OF_EACH_OTHER)


def shared_memory(result, arguments) -> str:
    """One of SHARED, or "" if each tensor of the result has a storage of its own, no larger than its numbers."""
    tensors, taken = _tensors(result), [place for value in arguments for place in _places(value)]
    own: list[tuple[int, int]] = []
    for tensor in tensors:
        place = _place(tensor)
        if _overlaps(place, taken):
            return OF_ARGUMENTS
        if _overlaps(place, own):
            return OF_EACH_OTHER
        own.append(place)
    is_larger = any(end - begin > tensor.numel() * tensor.element_size() for tensor, (begin, end) in zip(tensors, own))
    return LARGER if is_larger else ""


def _place(tensor: torch.Tensor) -> tuple[int, int]:
    """From where to where the storage of a tensor lies."""
    storage = tensor.untyped_storage()
    return storage.data_ptr(), storage.data_ptr() + storage.nbytes()


def _overlaps(place: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    begin, end = place
    return begin < end and any(begin < other_end and other_begin < end for other_begin, other_end in others)


def _places(value) -> list[tuple[int, int]]:
    """From where to where the bytes and the tensors in an argument lie."""
    if type(value) is bytes:
        address = ctypes.cast(ctypes.c_char_p(value), ctypes.c_void_p).value or 0
        return [(address, address + len(value))]
    return [_place(tensor) for tensor in _tensors(value)]


def _tensors(value) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value] if value.device.type != "meta" else []
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [tensor for item in items for tensor in _tensors(item)]
