"""The format of a message's body between the grader and a worker. Decoding a body never executes code from it.

A body is eight bytes with the length of the header, a JSON header {"message": {…}, "tensors": [[dtype, shape], …]}, and
the tensors' bytes, row-major, one tensor after the other. Every length is checked before anything is allocated, and
pickle is not used. framing.py sends bodies over a socket.
"""

import json
import math
import struct
from collections.abc import Sequence
from typing import NamedTuple

MAX_HEADER = 1 << 20  # bytes of JSON in one frame
MAX_PAYLOAD = 64 << 20  # bytes of tensors in one frame
MAX_TENSORS = 4096
MAX_DIMENSIONS, MAX_ELEMENTS = 16, 1 << 40  # of a tensor without numbers, which is only a shape
LENGTH = struct.Struct("<Q")
DUMP = json.JSONEncoder(allow_nan=False, check_circular=False).encode  # a node holds no node above it
ITEM_SIZE = {
    "F64": 8, "F32": 4, "F16": 2, "BF16": 2,
    "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1,
}  # fmt: skip


class ProtocolError(Exception):
    """The other process sent something that is no valid message. The exception's text never contains its bytes."""


class RawTensor(NamedTuple):
    """A tensor as bytes: the name of its dtype ("F32"), its shape, its data in row-major order."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes | memoryview | bytearray


def encode(message: dict, tensors: Sequence[RawTensor] = ()) -> bytes:
    """The body of a message and its tensors. Raises ProtocolError where it would exceed a limit."""
    header = {"message": message, "tensors": [[tensor.dtype, list(tensor.shape)] for tensor in tensors]}
    text = DUMP(header).encode()
    size = sum(len(tensor.data) for tensor in tensors)
    if len(text) > MAX_HEADER or size > MAX_PAYLOAD or len(tensors) > MAX_TENSORS:
        raise ProtocolError("the message is too large")
    return b"".join([LENGTH.pack(len(text)), text, *(tensor.data for tensor in tensors)])


def decode(body: bytes | bytearray) -> tuple[dict, list[RawTensor]]:
    """The message and the tensors of one body. Raises ProtocolError on anything unexpected."""
    if len(body) < LENGTH.size:
        raise ProtocolError("the frame is too short")
    (length,) = LENGTH.unpack_from(body)
    start = LENGTH.size + length
    if length > MAX_HEADER or start > len(body):
        raise ProtocolError("the header is longer than the frame")
    try:
        text = body[LENGTH.size : start].decode("utf-8")
        header = STRICT.decode(text)
        if "\\ud" in text.lower():  # perhaps half of a surrogate pair, which cannot be encoded
            json.dumps(header, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError, MemoryError):
        raise ProtocolError("the header is not valid JSON") from None
    if type(header) is not dict or header.keys() != {"message", "tensors"}:
        raise ProtocolError("the header is none of ours")
    message, entries = header["message"], header["tensors"]
    if type(message) is not dict or type(entries) is not list or len(entries) > MAX_TENSORS:
        raise ProtocolError("the header is none of ours")
    payload, offset, tensors = memoryview(body)[start:], 0, []
    for entry in entries:
        tensor = _raw_tensor(entry, payload, offset)
        offset += len(tensor.data)
        tensors.append(tensor)
    if offset != len(payload):
        raise ProtocolError("bytes are left over")
    return message, tensors


def _int(digits: str) -> int:
    if len(digits) > 20:  # Python 3.10 takes seconds to convert a million digits
        raise ValueError("an int is too long")
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a float is too large")
    return value


# JSON whose floats are finite and whose ints are short.
STRICT = json.JSONDecoder(parse_int=_int, parse_float=_float, parse_constant=_float)


def is_shape(value, most: int = MAX_ELEMENTS) -> bool:
    """Whether a value is the shape of a tensor of at most so many elements."""
    if type(value) is not list or len(value) > MAX_DIMENSIONS or not all(type(n) is int and n >= 0 for n in value):
        return False
    # torch multiplies the sizes when it computes the strides, even those of an empty tensor.
    return math.prod(max(length, 1) for length in value) <= most


def _raw_tensor(entry, payload: memoryview, offset: int) -> RawTensor:
    """The tensor whose bytes begin at `offset`."""
    if type(entry) is not list or len(entry) != 2:
        raise ProtocolError("a tensor's entry is malformed")
    dtype, shape = entry
    if type(dtype) is not str or dtype not in ITEM_SIZE:
        raise ProtocolError("a tensor's dtype is unknown")
    if not is_shape(shape, MAX_PAYLOAD):
        raise ProtocolError("a tensor's shape is malformed")
    end = offset + math.prod(shape) * ITEM_SIZE[dtype]
    if end > len(payload):
        raise ProtocolError("a tensor's bytes are missing")
    return RawTensor(dtype, tuple(shape), payload[offset:end])
