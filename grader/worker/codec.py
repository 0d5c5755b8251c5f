"""Encodes Python values as plain data (nested JSON, and tensors beside it), and decodes them.

A value becomes a node. Numbers, texts, True, False and None stand for themselves; every other value is a tagged list
such as ["tuple", […]] or ["tensor", 0, {…}]. A value that has no plain form becomes ["opaque", "a numpy array"]: a
message can name it, but nothing can be computed with it.
"""

import io
import math
from dataclasses import dataclass

import torch

from .fake_device import Placed
from .wire import MAX_PAYLOAD, ProtocolError, RawTensor, is_shape

MAX_ITEMS = 20_000  # nodes of one value
MAX_DEPTH = 12
DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8,
    "U8": torch.uint8, "BOOL": torch.bool,
}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}
ARTICLES = {
    "ndarray": "a numpy array", "Tensor": "a subclass of torch.Tensor", "function": "a function",
    "builtin_function_or_method": "a function",
    "bytes": "bytes", "coroutine": "a coroutine", "generator": "a generator", "complex": "a complex number",
}  # fmt: skip


@dataclass(frozen=True)
class Opaque:
    """A value that cannot be sent to the other process, and the words that name it in a message."""

    description: str


@dataclass(frozen=True)
class Handle:
    """An object that stays in the worker's process: its number there, and the name of its class."""

    number: int
    class_name: str


class Encoder:
    """Turns values into nodes and collects their tensors.

    keep: is called with each value that has no plain form. It returns a Handle for an object that stays in this
    process, or None for one that cannot be sent at all. strides: whether tensors keep their layout in memory.
    """

    def __init__(self, keep=lambda value: None, strides: bool = False):
        self.tensors: list[RawTensor] = []
        self.keep, self.strides, self.count = keep, strides, 0

    def node(self, value, depth: int = 0):
        """The node of a value, at this depth of nesting. Its tensors are added to `tensors`."""
        self.count += 1
        if self.count > MAX_ITEMS or depth > MAX_DEPTH:
            return ["opaque", "a value nested too deeply or with too many parts"]
        if value is None or type(value) in (bool, str):
            return value if type(value) is not str else value[:10_000].encode(errors="replace").decode()
        if type(value) is int:
            return value if abs(value) < 1 << 63 else ["opaque", "a very large int"]
        if type(value) is float:
            return value if math.isfinite(value) else ["float", repr(value)]
        if isinstance(value, Handle):
            return ["object", value.number, value.class_name]
        if isinstance(value, Opaque):
            return ["opaque", value.description]
        if type(value) is torch.Generator and self.strides:  # only in the grader's arguments, never in a result
            return ["generator", self.tensor(value.get_state())]
        if type(value) is bytes and self.strides:  # likewise
            return ["bytes", self.tensor(torch.tensor(bytearray(value), dtype=torch.uint8))]
        if type(value) is torch.dtype and value in NAMES:
            return ["dtype", NAMES[value]]
        if type(value) in (torch.Tensor, torch.nn.Parameter):
            return self.tensor(value)
        if type(value) is Placed:
            return self.tensor(value.inner, value.device.type)
        if isinstance(value, torch.Tensor):
            return ["opaque", describe(value)]
        if isinstance(value, (list, tuple)):
            tag = "list" if isinstance(value, list) else "tuple"
            return [tag, [self.node(item, depth + 1) for item in value]]
        if isinstance(value, dict):
            pairs = list(value.items())
            return ["dict", [[self.node(k, depth + 1), self.node(v, depth + 1)] for k, v in pairs]]
        handle = self.keep(value)
        return self.node(handle if handle else Opaque(describe(value)), depth)

    def tensor(self, value: torch.Tensor, device: str = ""):
        """The node of a tensor. device: the one that it reports, where that is not its own."""
        if value.layout is not torch.strided or value.is_quantized:
            return ["opaque", f"a tensor with layout {str(value.layout).removeprefix('torch.')}"]
        if value.dtype not in NAMES:
            return ["opaque", f"a tensor of dtype {str(value.dtype).removeprefix('torch.')}"]
        if value.device.type == "meta":
            return ["meta", NAMES[value.dtype], list(value.shape)]
        facts = {"device": device or value.device.type, "requires_grad": value.requires_grad}
        tensor, size, is_contiguous = value, value.numel() * value.element_size(), value.is_contiguous()
        if size > MAX_PAYLOAD:  # an expanded tensor has more elements than its storage
            return ["opaque", f"a tensor of {value.numel():,} elements"]
        if self.strides and not is_contiguous and 0 not in value.stride():
            facts["stride"] = list(value.stride())
        if value.device.type != "cpu" or not is_contiguous or value.is_conj() or value.is_neg():
            tensor = value.detach().resolve_conj().resolve_neg().cpu().contiguous()
        self.tensors.append(RawTensor(NAMES[value.dtype], tuple(value.shape), bytes_of(tensor)))
        return ["tensor", len(self.tensors) - 1, facts]


class Decoder:
    """Turns nodes back into values. Raises ProtocolError where a node is malformed.

    find: gives the object of a handle, from its number and the name of its class. Tensors are created on the CPU. They
    have the attribute `facts`, {"device": str, "requires_grad": bool}, as the other process reported it. With
    `strides` they have their original layout in memory, require a gradient where they did, and have no such attribute.
    """

    def __init__(self, tensors: list[RawTensor], find=Handle, strides: bool = False):
        self.tensors: list[RawTensor | None] = list(tensors)
        self.find, self.strides, self.count = find, strides, 0

    def value(self, node, depth: int = 0):
        """The value of a node, at this depth of nesting. Raises ProtocolError where the node is malformed."""
        self.count += 1
        if self.count > MAX_ITEMS or depth > MAX_DEPTH + 2:
            raise ProtocolError("a value is nested too deeply")
        if node is None or type(node) in (bool, int, float, str):
            return node
        if type(node) is not list or not node or type(node[0]) is not str:
            raise ProtocolError("a value is malformed")
        tag, *rest = node
        if tag in ("list", "tuple") and len(rest) == 1 and type(rest[0]) is list:
            return (list if tag == "list" else tuple)(self.value(n, depth + 1) for n in rest[0])
        if tag == "dict" and len(rest) == 1 and type(rest[0]) is list:
            return self.mapping(rest[0], depth)
        if tag == "generator" and len(rest) == 1 and self.strides:
            generator = torch.Generator()
            return generator.set_state(self.value(rest[0], depth + 1))
        if tag == "bytes" and len(rest) == 1 and self.strides:
            return bytes_of(self.value(rest[0], depth + 1))
        if tag == "dtype" and len(rest) == 1 and type(rest[0]) is str and rest[0] in DTYPES:
            return DTYPES[rest[0]]
        if tag == "tensor" and len(rest) == 2:
            return self.tensor(*rest)
        if tag == "float" and rest in (["nan"], ["inf"], ["-inf"]):
            return float(rest[0])
        if tag == "opaque" and len(rest) == 1 and type(rest[0]) is str:
            return Opaque(rest[0][:200])
        if tag == "meta" and len(rest) == 2 and type(rest[0]) is str and rest[0] in DTYPES and is_shape(rest[1]):
            return torch.empty(rest[1], dtype=DTYPES[rest[0]], device="meta")
        if tag == "object" and len(rest) == 2 and type(rest[0]) is int and type(rest[1]) is str:
            return self.find(rest[0], rest[1][:200])
        raise ProtocolError("a value is malformed")

    def mapping(self, pairs: list, depth: int) -> dict:
        """The dict of a node's pairs. A key that is no plain value is replaced by its description."""
        result = {}
        for pair in pairs:
            if type(pair) is not list or len(pair) != 2:
                raise ProtocolError("a dict is malformed")
            key = self.value(pair[0], depth + 1)
            if type(key) not in (str, int, float, bool, type(None)):
                key = describe(key)
            result[key] = self.value(pair[1], depth + 1)
        return result

    def tensor(self, index, facts) -> torch.Tensor:
        """The tensor of a node: its number among `tensors`, and its facts. Raises ProtocolError."""
        if type(index) is not int or not 0 <= index < len(self.tensors) or type(facts) is not dict:
            raise ProtocolError("a tensor's place is malformed")
        raw, self.tensors[index] = self.tensors[index], None
        if raw is None:  # each use is a copy, so that a short message could request more memory than there is
            raise ProtocolError("a tensor is in two places")
        tensor = torch.empty(raw.shape, dtype=DTYPES[raw.dtype])
        size = tensor.nbytes
        if size != len(raw.data):
            raise ProtocolError("a tensor's shape and bytes do not agree")
        if size:
            tensor.view(-1).copy_(torch.frombuffer(bytearray(raw.data), dtype=tensor.dtype))
        if self.strides:
            stride = facts.get("stride")
            tensor = torch.empty_strided(raw.shape, stride, dtype=tensor.dtype).copy_(tensor) if stride else tensor
            return tensor.requires_grad_() if facts.get("requires_grad") else tensor
        device = str(facts.get("device", "cpu"))[:20]
        vars(tensor)["facts"] = {"device": device, "requires_grad": facts.get("requires_grad") is True}
        return tensor


def bytes_of(tensor: torch.Tensor) -> bytes:
    """The bytes of a contiguous tensor, read without ctypes, which some workers do not have."""
    written, storage = io.BytesIO(), tensor.untyped_storage()
    storage = storage if storage.nbytes() == tensor.nbytes else tensor.detach().clone().untyped_storage()
    storage._write_file(written, False, False, 1)
    return written.getvalue()


def describe(value) -> str:
    """The kind of a value in words ("a numpy array"), found without running any code of the value's class."""
    name = "Tensor" if isinstance(value, torch.Tensor) else type(value).__name__
    article = "an" if name[:1].lower() in "aeiou" else "a"
    return ARTICLES.get(name, f"{article} {name}")
