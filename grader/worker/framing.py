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
READ_AHEAD = 1 << 16  # bytes that one read of a socket asks for


class Closed(ProtocolError):
    """The other side closed the connection (its process ended)."""


def frame(nonce: int, body: bytes | bytearray) -> bytes:
    """The frame of a body, as it is sent."""
    return PREFIX.pack(MAGIC, nonce, len(body)) + body


def send_all(sock: socket.socket, frames: bytes | bytearray, deadline: float | None = None) -> None:
    """Send encoded frames before `deadline` (of time.monotonic). Raises TimeoutError or Closed."""
    try:
        _set_timeout(sock, deadline)
        sock.sendall(frames)
    except TimeoutError:  # which is an OSError
        raise
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
        magic, nonce, length = PREFIX.unpack_from(data)
        if magic != MAGIC:
            raise ProtocolError("the frame does not begin as one of ours")
        if length > MAX_BODY:
            raise ProtocolError("the frame claims to be too large")
        end = PREFIX.size + length
        if len(data) < end:
            return None
        self.data = data[end:]
        del data[end:], data[: PREFIX.size]
        return nonce, data

    def receive(self, deadline: float | None = None) -> tuple[int, bytearray]:
        """The nonce and body of the next frame. The deadline holds for all of it, even if it comes in small pieces.

        Raises TimeoutError, Closed, or ProtocolError where the bytes are no frame.
        """
        while (complete := self.take()) is None:
            try:
                _set_timeout(self.sock, deadline)
                chunk = self.sock.recv(READ_AHEAD)
            except TimeoutError:
                raise
            except OSError:
                chunk = b""
            if not chunk:
                raise Closed("the connection is closed")
            self.data += chunk
        return complete


def _set_timeout(sock: socket.socket, deadline: float | None) -> None:
    if deadline is None:
        if sock.gettimeout() is not None:  # a worker may make few system calls, and this is one
            sock.settimeout(None)
        return
    remaining_s = deadline - time.monotonic()
    if remaining_s <= 0:
        raise TimeoutError
    sock.settimeout(remaining_s)
