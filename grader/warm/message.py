"""Where a client and the warm process meet, and what they say to each other.

They meet at a name that only one process can have, and the kernel says whose process is at the other end. A client
sends a request. A child answers with its process id and waits for the client's standard streams and working folder, so
that a client that has given up gets nothing printed. At the end it sends the exit code. Each message is a line of JSON.
"""

import json
import os
import resource
import socket
import struct
import sys
from typing import Any

RUN, STATUS = "run", "status"  # what a client wants
GO = b"G"  # comes with the client's streams and folder
DESCRIPTORS = 4  # standard input, output and error, and the working folder
# What is read where Python or a library starts. Other variables are read later, so a child takes the client's.
READ_AT_START = (
    "ATEN_", "CUBLAS_", "CUDA_", "GLIBC_", "GOMP_", "HOME", "KMP_", "LANG", "LC_", "LD_", "MALLOC_", "MKL_", "NVIDIA_",
    "OMP_", "OPENBLAS_", "PYTHON", "PYTORCH_", "TMPDIR", "TORCH", "TRITON_", "VIRTUAL_ENV", "XDG_CACHE_HOME",
)  # fmt: skip
CREDENTIALS = struct.Struct("3i")  # process, user and group


def address(desk: str) -> str:
    """The name at which the warm process of a learner's folder listens. It is no file, and is gone when that ends."""
    facts = os.stat(desk)
    return f"\0attention-kata-{os.geteuid()}-{facts.st_dev:x}-{facts.st_ino:x}"


def settings(desk: str) -> list[str]:
    """What the warm process and a client must have in common, as text. desk: the folder that is worked in."""
    found = [desk, sys.prefix, sys.version, repr(tuple(sys.flags)), *sys.warnoptions, *sorted(sys._xoptions)]
    streams = sys.stdin, sys.stdout, sys.stderr
    found += [f"{stream.encoding} {stream.errors} {getattr(stream, 'write_through', '')}" for stream in streams]
    variables = sorted((name, value) for name, value in os.environ.items() if value and name.startswith(READ_AT_START))
    found += [f"{name}={value}" for name, value in variables]
    programs = (os.path.join(place, "bwrap") for place in os.environ.get("PATH", os.defpath).split(os.pathsep))
    found.append(next((program for program in programs if os.access(program, os.X_OK)), ""))
    limits = [resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")]
    priority, processors = os.getpriority(os.PRIO_PROCESS, 0), sorted(os.sched_getaffinity(0))
    return [*found, f"{limits} {priority} {processors}", os.readlink("/proc/self/ns/mnt")]


def peer(connection: socket.socket) -> int | None:
    """The process at the other end, as the kernel reports it; None where it is another user's."""
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    process, user, _ = CREDENTIALS.unpack(data)
    return int(process) if user == os.geteuid() else None


def send(connection: socket.socket, message: dict[str, Any]) -> None:
    """Send a message. Raises OSError."""
    connection.sendall(json.dumps(message).encode() + b"\n")


def receive(connection: socket.socket) -> dict[str, Any]:
    """The next message; {} where the connection ends. Nobody sends a second one before the first is answered.

    Raises OSError and ValueError.
    """
    data = bytearray()
    while not data.endswith(b"\n"):
        chunk = connection.recv(1 << 16)
        if not chunk:
            return {}
        data += chunk
    message = json.loads(data)
    return message if isinstance(message, dict) else {}
