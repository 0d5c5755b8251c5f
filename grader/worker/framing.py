"""Frames on a socket, in which a body (wire.py) is sent between the grader and a worker.

A frame is a fixed prefix (magic, nonce, length of the body) and the body. The nonce of a reply is that of its request.
The length is checked before anything is allocated.
"""

import socket
import struct
import time

from .wire import LENGTH, MAX_HEADER, MAX_PAYLOAD, ProtocolError

MAGIC = b"KATA"
PREFIX = struct.Struct("<4sQQ")
MAX_BODY = LENGTH.size + MAX_HEADER + MAX_PAYLOAD  # bytes
READ_AHEAD = 1 << 16  # bytes that one read of a socket asks for at least


class Closed(ProtocolError):
    """The other side closed the connection (its process ended)."""


class Deadline(Exception):
    """The other process did not answer in time."""


def frame(nonce: int, body: bytes | bytearray) -> bytes:
    """The frame of a body, as it is sent."""
    return PREFIX.pack(MAGIC, nonce, len(body)) + body


def send_all(sock: socket.socket, frames: bytes | bytearray, deadline: float | None = None) -> None:
    """Send encoded frames before `deadline` (of time.monotonic). Raises Deadline or Closed."""
    try:
        _set_timeout(sock, deadline)
        sock.sendall(frames)
    except TimeoutError:
        raise Deadline from None
    except OSError:
        raise Closed("the connection is closed") from None


class Inbox:
    """The frames that arrive on a socket. One read of the socket may give several."""

    def __init__(self, sock: socket.socket):
        self.sock, self.data = sock, bytearray()

    def take(self) -> tuple[int, bytearray] | None:
        """The next frame if it has arrived completely, else None. Raises ProtocolError where the bytes are no frame."""
        data = self.data
        if len(data) < PREFIX.size:
            return None
        nonce, length = _parse_prefix(data)
        end = PREFIX.size + length
        if len(data) < end:
            return None
        if len(data) == end:
            body, self.data = data, bytearray()
            del body[: PREFIX.size]
        else:
            body = data[PREFIX.size : end]
            del data[:end]
        return nonce, body

    def receive(self, deadline: float | None = None) -> tuple[int, bytearray]:
        """The nonce and body of the next frame. The deadline holds for all of it, even if it comes in small pieces.

        Raises Deadline, Closed, or ProtocolError where the bytes are no frame.
        """
        while (complete := self.take()) is None:
            self.data += _read_some(self.sock, max(self._end() - len(self.data), READ_AHEAD), deadline)
        return complete

    def _end(self) -> int:
        """The end of the next frame in `data`, or of its prefix while that is incomplete."""
        return PREFIX.size + (_parse_prefix(self.data)[1] if len(self.data) >= PREFIX.size else 0)


def _parse_prefix(prefix: bytes | bytearray) -> tuple[int, int]:
    """The nonce and the length of the body, from the prefix at the beginning of a frame."""
    magic, nonce, length = PREFIX.unpack_from(prefix)
    if magic != MAGIC:
        raise ProtocolError("the frame does not begin as one of ours")
    if length > MAX_BODY:
        raise ProtocolError("the frame claims to be too large")
    return nonce, length


def _read_some(sock: socket.socket, max_bytes: int, deadline: float | None) -> bytes:
    try:
        _set_timeout(sock, deadline)
        chunk = sock.recv(min(max_bytes, 1 << 20))
    except TimeoutError:
        raise Deadline from None
    except OSError:
        raise Closed("the connection is closed") from None
    if not chunk:
        raise Closed("the connection is closed")
    return chunk


def _set_timeout(sock: socket.socket, deadline: float | None) -> None:
    if deadline is None:
        if sock.gettimeout() is not None:  # a worker may make few system calls, and this is one
            sock.settimeout(None)
        return
    remaining_s = deadline - time.monotonic()
    if remaining_s <= 0:
        raise Deadline
    sock.settimeout(remaining_s)
