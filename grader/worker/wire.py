"""Frames between the grader and a worker: data that cannot execute.

A frame is a fixed prefix (magic, nonce, length) and a body: eight bytes of header length, a JSON header
{"message": {…}, "tensors": [[dtype, shape], …]}, and the tensors' bytes, row-major, one after the other.
Every length is checked before anything is allocated; nothing is ever unpickled.
"""

import json
import math
import socket
import struct
import time
from typing import NamedTuple

MAGIC = b"KATA"
MAX_HEADER = 1 << 20  # bytes of JSON in one frame
MAX_PAYLOAD = 64 << 20  # bytes of tensors in one frame
MAX_TENSORS = 4096
MAX_DIMENSIONS = 16
LOOK = 1 << 16  # bytes that one look into a socket fetches
PREFIX = struct.Struct("<4sQQ")
LENGTH = struct.Struct("<Q")
DUMP = json.JSONEncoder(allow_nan=False).encode
PLAIN = json.JSONDecoder()
ITEM_SIZE = {
    "F64": 8, "F32": 4, "F16": 2, "BF16": 2,
    "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1,
}  # fmt: skip


class ProtocolError(Exception):
    """The other side sent something that is not a frame. Says what, never shows the bytes."""


class Closed(ProtocolError):
    """The other side closed the connection (its process ended)."""


class Deadline(Exception):
    """The other side did not answer in time."""


class RawTensor(NamedTuple):
    """A tensor as bytes: the name of its dtype ("F32"), its shape, its data in row-major order."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes | memoryview | bytearray


def encode(message: dict, tensors: list[RawTensor] = ()) -> bytes:
    """One body. Raises ProtocolError where it would break a limit."""
    header = {"message": message, "tensors": [[tensor.dtype, list(tensor.shape)] for tensor in tensors]}
    text = DUMP(header).encode()
    text += b" " * (-len(text) % 8)
    size = sum(len(tensor.data) for tensor in tensors)
    if len(text) > MAX_HEADER or size > MAX_PAYLOAD or len(tensors) > MAX_TENSORS:
        raise ProtocolError("the message is too large")
    return b"".join([LENGTH.pack(len(text)), text, *(tensor.data for tensor in tensors)])


def decode(body: bytes | bytearray, strict: bool = True) -> tuple[dict, list[RawTensor]]:
    """The message and the tensors of one body. Raises ProtocolError on anything unexpected.

    strict: a stranger wrote it. A worker, which is asked by the grader alone, need not look so closely.
    """
    parse = _json if strict else PLAIN.decode
    if len(body) < LENGTH.size:
        raise ProtocolError("the frame is too short")
    (length,) = LENGTH.unpack_from(body)
    start = LENGTH.size + length
    if length > MAX_HEADER or start > len(body):
        raise ProtocolError("the header is longer than the frame")
    try:
        header = parse(body[LENGTH.size : start].decode("utf-8"))
    except UnicodeDecodeError:
        raise ProtocolError("the header is not valid JSON") from None
    if header.keys() != {"message", "tensors"}:
        raise ProtocolError("the header is none of ours")
    message, entries = header["message"], header["tensors"]
    if type(message) is not dict or type(entries) is not list or len(entries) > MAX_TENSORS:
        raise ProtocolError("the header is none of ours")
    payload, offset, tensors = memoryview(body)[start:], 0, []
    for entry in entries:
        tensor = _tensor(entry, payload, offset)
        offset += len(tensor.data)
        tensors.append(tensor)
    if offset != len(payload):
        raise ProtocolError("bytes are left over")
    return message, tensors


def frame(nonce: int, body: bytes) -> bytes:
    """A body as it goes over the wire."""
    return PREFIX.pack(MAGIC, nonce, len(body)) + body


def send(sock: socket.socket, nonce: int, body: bytes, deadline: float | None = None) -> None:
    """Send one frame before `deadline` (of time.monotonic). Raises Deadline or Closed."""
    send_all(sock, frame(nonce, body), deadline)


def send_all(sock: socket.socket, frames: bytes, deadline: float | None = None) -> None:
    """Send frames in one go. Raises as `send` does."""
    try:
        _arm(sock, deadline)
        sock.sendall(frames)
    except TimeoutError:
        raise Deadline from None
    except OSError:
        raise Closed("the connection is closed") from None


def receive(sock: socket.socket, deadline: float | None = None) -> tuple[int, bytearray]:
    """The nonce and body of the next frame. One deadline covers all of it, however it drips in."""
    nonce, length = _opened(_read(sock, PREFIX.size, deadline))
    return nonce, _read(sock, length, deadline)


class Inbox:
    """The frames that come on a socket, of which one look may fetch several."""

    def __init__(self, sock: socket.socket):
        self.sock, self.data = sock, bytearray()

    def take(self) -> tuple[int, bytearray] | None:
        """The next frame, where all of it lies here. Raises ProtocolError where what lies here is none."""
        end = self._end()
        if len(self.data) < end:
            return None
        nonce, _ = _opened(self.data)
        if len(self.data) == end:
            body, self.data = self.data, bytearray()
            del body[: PREFIX.size]
        else:
            body = self.data[PREFIX.size : end]
            del self.data[:end]
        return nonce, body

    def receive(self, deadline: float | None = None) -> tuple[int, bytearray]:
        """As the function `receive`."""
        while (found := self.take()) is None:
            self.data += _some(self.sock, max(self._end() - len(self.data), LOOK), deadline)
        return found

    def _end(self) -> int:
        """Where the next frame ends, or its prefix, as long as that is not all here."""
        return PREFIX.size + (_opened(self.data)[1] if len(self.data) >= PREFIX.size else 0)


def _opened(prefix: bytes | bytearray) -> tuple[int, int]:
    """The nonce and the body's length, of a frame that begins so."""
    magic, nonce, length = PREFIX.unpack_from(prefix)
    if magic != MAGIC:
        raise ProtocolError("the frame does not begin as one of ours")
    if length > LENGTH.size + MAX_HEADER + MAX_PAYLOAD:
        raise ProtocolError("the frame claims to be too large")
    return nonce, length


def _read(sock: socket.socket, size: int, deadline: float | None) -> bytearray:
    data = bytearray()
    while len(data) < size:
        data += _some(sock, size - len(data), deadline)
    return data


def _some(sock: socket.socket, most: int, deadline: float | None) -> bytes:
    try:
        _arm(sock, deadline)
        chunk = sock.recv(min(most, 1 << 20))
    except TimeoutError:
        raise Deadline from None
    except OSError:
        raise Closed("the connection is closed") from None
    if not chunk:
        raise Closed("the connection is closed")
    return chunk


def _arm(sock: socket.socket, deadline: float | None) -> None:
    if deadline is None:
        if sock.gettimeout() is not None:  # a worker may not even ask: its system calls are numbered
            sock.settimeout(None)
        return
    left = deadline - time.monotonic()
    if left <= 0:
        raise Deadline
    sock.settimeout(left)


def _json(text: str) -> dict:
    """An object of JSON, read strictly: finite floats, ints of 64 bits, no half characters."""
    try:
        value = STRICT.decode(text)
        if "\\ud" in text.lower():  # perhaps half of a surrogate pair, which no encoding can write
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError, MemoryError):
        raise ProtocolError("the header is not valid JSON") from None
    if not isinstance(value, dict):
        raise ProtocolError("the header is not an object")
    return value


def _int(digits: str) -> int:
    if len(digits) > 20:  # Python 3.10 would compute a million digits for seconds
        raise ValueError("an int is too long")
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a float is too large")
    return value


def _refuse(constant: str):
    raise ValueError(f"{constant} is not JSON")


def _unique(pairs: list) -> dict:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice")
    return value


STRICT = json.JSONDecoder(parse_int=_int, parse_float=_float, parse_constant=_refuse, object_pairs_hook=_unique)


def _tensor(entry, payload: memoryview, offset: int) -> RawTensor:
    """The tensor whose bytes begin at `offset`."""
    if type(entry) is not list or len(entry) != 2:
        raise ProtocolError("a tensor's entry is malformed")
    dtype, shape = entry
    if type(dtype) is not str or dtype not in ITEM_SIZE:
        raise ProtocolError("a tensor's dtype is unknown")
    if not _naturals(shape) or len(shape) > MAX_DIMENSIONS:
        raise ProtocolError("a tensor's shape is malformed")
    # An empty tensor's other sizes are multiplied too, when torch computes its strides.
    if math.prod(max(length, 1) for length in shape) > MAX_PAYLOAD:
        raise ProtocolError("a tensor's shape is too large")
    end = offset + math.prod(shape) * ITEM_SIZE[dtype]
    if end > len(payload):
        raise ProtocolError("a tensor's bytes are missing")
    return RawTensor(dtype, tuple(shape), payload[offset:end])


def _naturals(value) -> bool:
    return type(value) is list and all(type(item) is int and item >= 0 for item in value)
