"""Messages between a process and a child of its own: a line of JSON, and after it raw bytes, if there are any.

A process that runs a stranger's code is spoken to by worker/framing.py, which takes nothing on trust.
"""

import json
import socket
import sys
from typing import Any

CHUNK = 1 << 20  # bytes that are read at once


class Lines:
    """One end of a connection between a process and its child."""

    def __init__(self, connection: socket.socket):
        self.connection, self.data = connection, bytearray()

    def send(self, message: Any, *parts: bytes) -> None:
        """Send one message, which JSON can hold, and bytes beside it, which are not copied. Raises OSError."""
        line = json.dumps([message, [len(part) for part in parts]]).encode() + b"\n"
        for piece in (line, *parts):
            self.connection.sendall(piece)

    def receive(self, most: int = sys.maxsize) -> tuple[Any, list[bytes]]:
        """The next message, and the bytes beside it.

        Raises EOFError where the other end is closed, OSError, and ValueError where it is larger than `most` bytes.
        """
        while (end := self.data.find(b"\n")) < 0:
            self._read(most)
        message, sizes = json.loads(self._take(end + 1))
        if sum(sizes) > most:
            raise ValueError("the message is too large")
        parts = []
        for size in sizes:
            while len(self.data) < size:
                self._read(most)
            parts.append(bytes(self._take(size)))
        return message, parts

    def _read(self, most: int) -> None:
        if len(self.data) > most:
            raise ValueError("the message is too large")
        chunk = self.connection.recv(CHUNK)
        if not chunk:
            raise EOFError("the other end is closed")
        self.data += chunk

    def _take(self, size: int) -> bytearray:
        taken = self.data[:size]
        del self.data[:size]
        return taken
