"""Which requests of a check hold something of an answer: these must not be sent before the answers are there.

A check may hand on what the solution answered: its parameters, its weights times two, a part of its output. While a
check is recorded, every tensor that the grader's own code computes from an answer is known, whatever was done to it.
"""

import ctypes
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_flatten

from grader.worker.codec import NAMES
from grader.worker.protocol import Request
from grader.worker.wire import RawTensor

# What puts bytes from elsewhere into a tensor: an answer that comes, or a list of numbers.
NEW = (torch.ops.aten.empty.memory_format, torch.ops.aten.lift_fresh.default)
PLACES = ("args", "kwargs", "parameters")  # of a request, where a check's own values stand


class Flow(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Active while a check is recorded: knows the tensors that answers flowed into, and asks for each request."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: dict[int, list[torch.Tensor]] = {}  # by the place of their memory; kept, so that it stays theirs
        self.flowed: set[int] = set()  # the places that something of an answer came to
        self.sent: set[Any] = set()  # tensors and plain values of earlier requests: they tell nothing new

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        given, made = _tensors((args, kwargs)), _tensors(result)
        for tensor in (*given, *made):
            self.seen.setdefault(_place(tensor), []).append(tensor)
        if function in NEW or any(_place(tensor) in self.flowed for tensor in given):
            self.flowed.update(map(_place, made))
        return result

    def reaches(self, request: Request, tensors: list[RawTensor]) -> bool:
        """Whether the next request holds anything that may come from an answer, and was not in a request before it.

        Of plain data nothing is known. Whole numbers by themselves are sizes; all else counts as if it were one.
        """
        values = {(raw.dtype, tuple(raw.shape), bytes(raw.data)) for raw in tensors}
        plain = {repr(node) for place in PLACES for node in _plain(getattr(request, place, None))}
        new = (values | plain) - self.sent
        self.sent |= new
        return any(isinstance(value, str) or self._computed(*value) for value in new)

    def _computed(self, dtype: str, shape: tuple[int, ...], data: bytes) -> bool:
        """Whether a tensor of these numbers was computed from an answer."""
        alike = (tensor for place in self.flowed for tensor in self.seen[place] if tuple(tensor.shape) == shape)
        return bool(data) and any(NAMES.get(tensor.dtype) == dtype and _bytes(tensor) == data for tensor in alike)


def _tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, torch.Tensor)]


def _place(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _bytes(tensor: torch.Tensor) -> bytes:
    with _disable_current_modes():
        plain = tensor.detach().resolve_conj().resolve_neg().contiguous()
    return ctypes.string_at(plain.data_ptr(), plain.nbytes)


def _plain(node: Any) -> Iterator[Any]:
    """The parts of a node that hold text or numbers, as large as they come; no whole numbers by themselves."""
    if isinstance(node, str) or (isinstance(node, float) and not node.is_integer()):
        yield node
    elif isinstance(node, list) and node and node[0] in ("list", "tuple", "dict") and len(node) == 2:
        parts = [pair[1] for pair in node[1]] if node[0] == "dict" else node[1]
        for part in parts:
            within = isinstance(part, list) and part and part[0] in ("list", "tuple", "dict")
            numbers = within and any(isinstance(leaf, (int, float, str)) for leaf in _leaves(part))
            yield from [part] if numbers else _plain(part)


def _leaves(node: Any) -> Iterator[Any]:
    """All that stands in a list, tuple or dict; of a dict the values."""
    if isinstance(node, list) and node and node[0] in ("list", "tuple", "dict"):
        for part in [pair[1] for pair in node[1]] if node[0] == "dict" else node[1]:
            yield from _leaves(part)
    else:
        yield node
