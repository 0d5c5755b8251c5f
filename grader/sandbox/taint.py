"""Finds the requests of a check that depend on an earlier reply, and so cannot be sent before that reply has arrived.

A check may pass on a part of the solution's replies: its parameters, its weights times two, a slice of its output.
While a check is recorded, every tensor that the grader's own code computes from a reply is tracked.
"""

import ctypes
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from grader.worker.codec import NAMES
from grader.worker.protocol import Request
from grader.worker.wire import RawTensor

# The operations that fill a tensor with bytes from outside torch: a reply, or a list of numbers.
NEW = (torch.ops.aten.empty.memory_format, torch.ops.aten.lift_fresh.default)
VALUE_FIELDS = ("args", "kwargs", "parameters")  # the fields of a request that hold a check's own values


class Flow(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Active while a check is recorded: tracks the tensors that were computed from replies."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # otherwise torch imports torch._dynamo at the first call, which takes most of a second

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        # The tensors by the address of their memory. They are kept alive, so that no other tensor gets the address.
        self.seen: dict[int, list[torch.Tensor]] = {}
        self.flowed: set[int] = set()  # the addresses of tensors that were computed from a reply
        self.sent: set[Any] = set()  # tensors and plain values of earlier requests, which a worker has already

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        inputs, outputs = _tensors((args, kwargs)), _tensors(result)
        for tensor in (*inputs, *outputs):
            self.seen.setdefault(_address(tensor), []).append(tensor)
        if function in NEW or any(_address(tensor) in self.flowed for tensor in inputs):
            self.flowed.update(map(_address, outputs))
        return result

    def reaches(self, request: Request, tensors: list[RawTensor]) -> bool:
        """Whether the next request holds a value that may come from a reply and was in no earlier request.

        Plain data cannot be tracked. A single whole number counts as a size, and all other plain data as from a reply.
        """
        values = {(raw.dtype, tuple(raw.shape), bytes(raw.data)) for raw in tensors}
        plain_values = {repr(node) for field in VALUE_FIELDS for node in _plain(getattr(request, field, None))}
        new_values = (values | plain_values) - self.sent
        self.sent |= new_values
        return any(isinstance(value, str) or self._computed(*value) for value in new_values)

    def _computed(self, dtype: str, shape: tuple[int, ...], data: bytes) -> bool:
        """Whether a tensor with these contents was computed from a reply."""
        same_shape = (
            tensor for address in self.flowed for tensor in self.seen[address] if tuple(tensor.shape) == shape
        )
        return bool(data) and any(NAMES.get(tensor.dtype) == dtype and _bytes(tensor) == data for tensor in same_shape)


def _tensors(value: Any) -> list[torch.Tensor]:
    """The tensors in the arguments or the result of an operation."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (tuple, list)):
        return []
    return [tensor for item in value for tensor in _tensors(item)]


def _address(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _bytes(tensor: torch.Tensor) -> bytes:
    with _disable_current_modes():
        contiguous = tensor.detach().resolve_conj().resolve_neg().contiguous()
    return ctypes.string_at(contiguous.data_ptr(), contiguous.nbytes)


def _plain(node: Any) -> Iterator[Any]:
    """The largest parts of a node that hold text or numbers, without single whole numbers."""
    if isinstance(node, str) or (isinstance(node, float) and not node.is_integer()):
        yield node
    elif isinstance(node, list) and node and node[0] in ("list", "tuple", "dict") and len(node) == 2:
        children = [pair[1] for pair in node[1]] if node[0] == "dict" else node[1]
        for child in children:
            is_container = isinstance(child, list) and child and child[0] in ("list", "tuple", "dict")
            numbers = is_container and any(isinstance(leaf, (int, float, str)) for leaf in _leaves(child))
            yield from [child] if numbers else _plain(child)


def _leaves(node: Any) -> Iterator[Any]:
    """The innermost values in a list, a tuple, or the values of a dict."""
    if isinstance(node, list) and node and node[0] in ("list", "tuple", "dict"):
        for child in [pair[1] for pair in node[1]] if node[0] == "dict" else node[1]:
            yield from _leaves(child)
    else:
        yield node
