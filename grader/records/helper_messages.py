"""Messages between the grader and the helper process that reads submissions (limited.py)."""

import json
import socket
import struct
from typing import Any

MAX_ANSWER = 8 << 20  # bytes
SIZE = struct.Struct("<Q")


def pack(module: str, name: str, args: tuple[Any, ...]) -> list[bytes]:
    """A call as parts of one message: a line of JSON, then the arguments that are bytes.

    In the line each of these is a list with its length.
    """
    raw = [argument for argument in args if isinstance(argument, bytes)]
    json_arguments = [[len(argument)] if isinstance(argument, bytes) else argument for argument in args]
    return [json.dumps([module, name, json_arguments]).encode() + b"\n", *raw]


def unpack(request: bytes | bytearray) -> tuple[str, str, list[Any]]:
    """The module, the name of the function and the arguments of a packed call."""
    start = request.index(b"\n") + 1
    module, name, args = json.loads(request[:start])
    for index, argument in enumerate(args):
        if isinstance(argument, list) and len(argument) == 1 and type(argument[0]) is int:
            args[index], start = request[start : start + argument[0]], start + argument[0]
    return module, name, args


def send_message(connection: socket.socket, *pieces: bytes) -> None:
    """Send one message in parts, so that an archive is not copied."""
    connection.sendall(SIZE.pack(sum(map(len, pieces))) + pieces[0])
    for piece in pieces[1:]:
        connection.sendall(piece)


def receive_message(connection: socket.socket, limit: int) -> bytearray:
    """One message. Raises EOFError, OSError, and ValueError where it is larger than `limit` bytes."""
    (size,) = SIZE.unpack(_receive_exactly(connection, SIZE.size))
    if size > limit:
        raise ValueError(size)
    return _receive_exactly(connection, size)


def _receive_exactly(connection: socket.socket, size: int) -> bytearray:
    data = bytearray()
    while len(data) < size:
        chunk = connection.recv(min(size - len(data), 1 << 20))
        if not chunk:
            raise EOFError
        data += chunk
    return data
